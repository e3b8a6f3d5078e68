//! Skills as trees for those who show them. Pure; the tree is bounded in depth and size, whatever the text is.

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag};
use skillopt_domain::markdown::{GroupKind, MarkdownNode, RenderedSkill, WebAddress};
use skillopt_domain::skill::SkillDoc;

/// Deeper nesting is flattened, so that hostile text cannot exhaust a reader's stack.
const MAX_DEPTH: usize = 24;

/// Nodes of one tree, and bytes of the body that is read for it: several times what a large skill has.
const MAX_NODES: usize = 10_000;
const MAX_BYTES: usize = 200_000;

/// A skill as it is read.
pub(super) fn render(doc: &SkillDoc) -> RenderedSkill {
    let facts = doc.front_matter().map(|matter| matter.entries).unwrap_or_default();
    let (nodes, is_cut) = parse(doc.body());
    RenderedSkill { facts, nodes, is_cut }
}

/// Parses a text, and says whether its end was left out. Every text is Markdown.
fn parse(text: &str) -> (Vec<MarkdownNode>, bool) {
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let head = &text[..text.floor_char_boundary(MAX_BYTES)];
    let mut builder =
        Builder { open: vec![(Kind::Group(GroupKind::Plain), Vec::new())], ..Builder::default() };
    let mut is_cut = head.len() < text.len();
    for event in Parser::new_ext(head, options) {
        if builder.n_nodes >= MAX_NODES {
            is_cut = true;
            break;
        }
        builder.event(event);
    }
    (builder.finish(), is_cut)
}

/// What an open tag will become.
enum Kind {
    Heading(u8),
    List(Option<u64>),
    Link(Option<WebAddress>),
    Group(GroupKind),
}

impl Kind {
    fn of(tag: &Tag<'_>) -> Self {
        Self::Group(match tag {
            Tag::Heading { level, .. } => return Self::Heading(level_number(*level)),
            Tag::List(first) => return Self::List(*first),
            Tag::Link { dest_url, .. } => return Self::Link(WebAddress::parse(dest_url).ok()),
            Tag::Paragraph | Tag::HtmlBlock => GroupKind::Paragraph,
            Tag::BlockQuote(_) => GroupKind::Quote,
            Tag::CodeBlock(_) => GroupKind::CodeBlock,
            Tag::Item => GroupKind::Item,
            Tag::Table(_) => GroupKind::Table,
            Tag::TableHead => GroupKind::TableHead,
            Tag::TableRow => GroupKind::TableRow,
            Tag::TableCell => GroupKind::TableCell,
            Tag::Emphasis => GroupKind::Emphasis,
            Tag::Strong => GroupKind::Strong,
            Tag::Strikethrough => GroupKind::Strike,
            Tag::Image { .. } => GroupKind::Image,
            _ => GroupKind::Plain,
        })
    }

    fn around(self, children: Vec<MarkdownNode>) -> MarkdownNode {
        match self {
            Self::Heading(level) => MarkdownNode::Heading { level, children },
            Self::List(first) => MarkdownNode::List { first, children },
            Self::Link(address) => MarkdownNode::Link { address, children },
            Self::Group(kind) => MarkdownNode::Group { kind, children },
        }
    }
}

fn level_number(level: HeadingLevel) -> u8 {
    match level {
        HeadingLevel::H1 => 1,
        HeadingLevel::H2 => 2,
        HeadingLevel::H3 => 3,
        HeadingLevel::H4 => 4,
        HeadingLevel::H5 => 5,
        HeadingLevel::H6 => 6,
    }
}

#[derive(Default)]
struct Builder {
    // Invariant: never empty; the first one is the document.
    open: Vec<(Kind, Vec<MarkdownNode>)>,
    // How many open tags are too deep to be in `open`.
    flattened: usize,
    n_nodes: usize,
}

impl Builder {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(&tag),
            Event::End(_) => self.end(),
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => self.text(&text),
            Event::Code(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                self.push(MarkdownNode::Code { text: text.into_string() });
            }
            Event::FootnoteReference(name) => self.text(&format!("[{name}]")),
            Event::SoftBreak => self.text("\n"),
            Event::HardBreak => self.push(MarkdownNode::Break),
            Event::Rule => self.push(MarkdownNode::Rule),
            Event::TaskListMarker(is_done) => self.push(MarkdownNode::Checkbox { is_done }),
        }
    }

    fn start(&mut self, tag: &Tag<'_>) {
        if self.open.len() > MAX_DEPTH {
            self.flattened += 1;
        } else {
            self.open.push((Kind::of(tag), Vec::new()));
        }
    }

    fn end(&mut self) {
        if self.flattened > 0 {
            self.flattened -= 1;
        } else if self.open.len() > 1 {
            self.close();
        }
    }

    fn close(&mut self) {
        if let Some((kind, children)) = self.open.pop() {
            self.push(kind.around(children));
        }
    }

    /// The parser gives words in pieces; they become one node.
    fn text(&mut self, text: &str) {
        let last = self.open.last_mut().and_then(|(_, children)| children.last_mut());
        match last {
            Some(MarkdownNode::Text { text: before }) => before.push_str(text),
            _ => self.push(MarkdownNode::Text { text: text.to_owned() }),
        }
    }

    fn push(&mut self, node: MarkdownNode) {
        self.n_nodes += 1;
        if let Some((_, children)) = self.open.last_mut() {
            children.push(node);
        }
    }

    fn finish(mut self) -> Vec<MarkdownNode> {
        while self.open.len() > 1 {
            self.close();
        }
        self.open.pop().map(|(_, children)| children).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn children(node: &MarkdownNode) -> &[MarkdownNode] {
        match node {
            MarkdownNode::Heading { children, .. }
            | MarkdownNode::List { children, .. }
            | MarkdownNode::Link { children, .. }
            | MarkdownNode::Group { children, .. } => children,
            _ => &[],
        }
    }

    fn links(nodes: &[MarkdownNode]) -> Vec<Option<&str>> {
        nodes
            .iter()
            .flat_map(|node| match node {
                MarkdownNode::Link { address, .. } => {
                    vec![address.as_ref().map(WebAddress::as_str)]
                }
                other => links(children(other)),
            })
            .collect()
    }

    fn depth(nodes: &[MarkdownNode]) -> usize {
        nodes.iter().map(|node| 1 + depth(children(node))).max().unwrap_or(0)
    }

    fn count(nodes: &[MarkdownNode]) -> usize {
        nodes.iter().map(|node| 1 + count(children(node))).sum()
    }

    fn whole(text: &str) -> Vec<MarkdownNode> {
        let (nodes, is_cut) = parse(text);
        assert!(!is_cut);
        nodes
    }

    fn words(text: &str) -> MarkdownNode {
        MarkdownNode::Text { text: text.to_owned() }
    }

    #[test]
    fn raw_html_stays_text() {
        let tree = whole("<script>alert(1)</script>\n\na <b onclick=x>b</b>");
        assert_eq!(children(&tree[0]), [words("<script>alert(1)</script>\n")]);
        assert_eq!(children(&tree[1]), [words("a <b onclick=x>b</b>")]);
    }

    #[test]
    fn only_web_addresses_can_be_followed() {
        let tree = whole(
            "[a](https://x.org) [b](javascript:alert(1)) [c](data:text/html,x) [d](/api/v1/runs) <mailto:x@y.z>",
        );
        assert_eq!(links(&tree), [Some("https://x.org"), None, None, None, None]);
    }

    #[test]
    fn an_image_is_its_words() {
        let tree = whole("![a chart](https://tracker.example/x.png)");
        let text = format!("{tree:?}");
        assert!(text.contains("a chart") && !text.contains("tracker"), "{text}");
    }

    #[test]
    fn deep_nesting_is_flattened_and_no_word_is_lost() {
        let tree = whole(&format!("{}deep", "> ".repeat(5000)));
        assert!(depth(&tree) <= MAX_DEPTH + 1);
        assert!(format!("{tree:?}").contains("deep"));
        let json = serde_json::to_string(&tree).unwrap();
        assert_eq!(skillopt_domain::json::from_str::<Vec<MarkdownNode>>(&json), Ok(tree));
    }

    #[test]
    fn a_tree_has_a_largest_size_and_says_when_it_is_cut() {
        let (many, is_cut) = parse(&"`a`\n\n".repeat(MAX_NODES));
        assert!(is_cut);
        assert!(count(&many) <= MAX_NODES + MAX_DEPTH, "{}", count(&many));
        let (long, is_cut) = parse(&"ä".repeat(MAX_BYTES));
        assert!(is_cut && count(&long) == 2);
    }

    #[test]
    fn lists_tables_and_code_have_their_shape() {
        let tree = whole("3. a\n4. b\n\n|x|y|\n|-|-|\n|1|2|\n\n```rust\nlet a;\n```\n\n- [x] done");
        assert!(
            matches!(&tree[0], MarkdownNode::List { first: Some(3), children } if children.len() == 2)
        );
        assert!(
            matches!(&tree[1], MarkdownNode::Group { kind: GroupKind::Table, children } if children.len() == 2)
        );
        let code =
            MarkdownNode::Group { kind: GroupKind::CodeBlock, children: vec![words("let a;\n")] };
        assert_eq!(tree[2], code);
        let item = &children(&tree[3])[0];
        assert_eq!(children(item), [MarkdownNode::Checkbox { is_done: true }, words("done")]);
    }

    #[test]
    fn the_front_matter_is_facts_and_no_part_of_the_body() {
        let rendered = render(&SkillDoc::parse("---\nname: x\n---\n# Title\n".to_owned()));
        let facts: Vec<_> = rendered.facts.iter().map(|fact| (&*fact.key, &*fact.value)).collect();
        assert_eq!(facts, [("name", "x")]);
        assert_eq!(
            rendered.nodes,
            [MarkdownNode::Heading { level: 1, children: vec![words("Title")] }]
        );
    }
}
