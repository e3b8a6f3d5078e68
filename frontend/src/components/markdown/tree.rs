//! Markdown as a tree of plain values. Pure, no DOM. Raw HTML stays text, links keep only web addresses,
//! images only their words: what a model wrote can never load or run anything.

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag};

/// Deeper nesting is flattened, so that hostile text cannot exhaust the stack.
const MAX_DEPTH: usize = 24;

/// What a node is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Paragraph,
    /// 1 to 6.
    Heading(u8),
    Quote,
    /// A block of code.
    CodeBlock,
    /// `None` is a bulleted list, otherwise the first number.
    List(Option<u64>),
    Item,
    Table,
    TableHead,
    TableRow,
    TableCell,
    Emphasis,
    Strong,
    Strike,
    /// `None` when the address is not one that may be followed.
    Link(Option<String>),
    Image,
    /// Has no look of its own.
    Plain,
}

/// A piece of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Node {
    Branch(Kind, Vec<Node>),
    Text(String),
    Code(String),
    Break,
    Rule,
    Checkbox(bool),
}

/// Parses a text. Every text is Markdown.
pub(crate) fn parse(text: &str) -> Vec<Node> {
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut builder = Builder { open: vec![(Kind::Plain, Vec::new())], flattened: 0 };
    for event in Parser::new_ext(text, options) {
        builder.event(event);
    }
    builder.finish()
}

struct Builder {
    // Invariant: never empty; the first one is the document.
    open: Vec<(Kind, Vec<Node>)>,
    // How many open tags are too deep to be in `open`.
    flattened: usize,
}

impl Builder {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(&tag),
            Event::End(_) => self.end(),
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => {
                self.push(Node::Text(text.into_string()));
            }
            Event::Code(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                self.push(Node::Code(text.into_string()));
            }
            Event::FootnoteReference(name) => self.push(Node::Text(format!("[{name}]"))),
            Event::SoftBreak => self.push(Node::Text("\n".into())),
            Event::HardBreak => self.push(Node::Break),
            Event::Rule => self.push(Node::Rule),
            Event::TaskListMarker(is_done) => self.push(Node::Checkbox(is_done)),
        }
    }

    fn start(&mut self, tag: &Tag<'_>) {
        if self.open.len() > MAX_DEPTH {
            self.flattened += 1;
        } else {
            self.open.push((kind(tag), Vec::new()));
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
            self.push(Node::Branch(kind, children));
        }
    }

    fn push(&mut self, node: Node) {
        if let Some((_, children)) = self.open.last_mut() {
            children.push(node);
        }
    }

    fn finish(mut self) -> Vec<Node> {
        while self.open.len() > 1 {
            self.close();
        }
        self.open.pop().map(|(_, children)| children).unwrap_or_default()
    }
}

fn kind(tag: &Tag<'_>) -> Kind {
    match tag {
        Tag::Paragraph | Tag::HtmlBlock => Kind::Paragraph,
        Tag::Heading { level, .. } => Kind::Heading(level_number(*level)),
        Tag::BlockQuote(_) => Kind::Quote,
        Tag::CodeBlock(_) => Kind::CodeBlock,
        Tag::List(start) => Kind::List(*start),
        Tag::Item => Kind::Item,
        Tag::Table(_) => Kind::Table,
        Tag::TableHead => Kind::TableHead,
        Tag::TableRow => Kind::TableRow,
        Tag::TableCell => Kind::TableCell,
        Tag::Emphasis => Kind::Emphasis,
        Tag::Strong => Kind::Strong,
        Tag::Strikethrough => Kind::Strike,
        Tag::Link { dest_url, .. } => Kind::Link(safe_address(dest_url)),
        Tag::Image { .. } => Kind::Image,
        _ => Kind::Plain,
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

/// Web addresses only: no scripts, no data, no paths of this server.
fn safe_address(address: &str) -> Option<String> {
    let lower = address.trim().to_ascii_lowercase();
    let is_web = lower.starts_with("https://") || lower.starts_with("http://");
    let is_clean = !address.chars().any(|c| c.is_control() || c.is_whitespace());
    (is_web && is_clean).then(|| address.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn links(nodes: &[Node]) -> Vec<Option<String>> {
        nodes
            .iter()
            .flat_map(|node| match node {
                Node::Branch(Kind::Link(address), _) => vec![address.clone()],
                Node::Branch(_, children) => links(children),
                _ => Vec::new(),
            })
            .collect()
    }

    #[test]
    fn raw_html_stays_text() {
        let tree = parse("<script>alert(1)</script>\n\na <b onclick=x>b</b>");
        let debug = format!("{tree:?}");
        assert!(debug.contains("<script>") && debug.contains("onclick"), "{debug}");
    }

    #[test]
    fn only_web_addresses_can_be_followed() {
        let tree = parse(
            "[a](https://x.org) [b](javascript:alert(1)) [c](data:text/html,x) [d](/api/v1/runs) <mailto:x@y.z>",
        );
        assert_eq!(links(&tree), [Some("https://x.org".to_owned()), None, None, None, None]);
    }

    #[test]
    fn an_image_is_its_words() {
        let tree = parse("![a chart](https://tracker.example/x.png)");
        assert!(!format!("{tree:?}").contains("tracker"));
    }

    #[test]
    fn deep_nesting_is_flattened_and_no_word_is_lost() {
        let text = format!("{}deep", "> ".repeat(5000));
        fn depth(nodes: &[Node]) -> usize {
            nodes
                .iter()
                .map(
                    |node| {
                        if let Node::Branch(_, children) = node { 1 + depth(children) } else { 0 }
                    },
                )
                .max()
                .unwrap_or(0)
        }
        let tree = parse(&text);
        assert!(depth(&tree) <= MAX_DEPTH + 1);
        assert!(format!("{tree:?}").contains("deep"));
    }

    #[test]
    fn lists_tables_and_code_have_their_shape() {
        let tree = parse("3. a\n4. b\n\n|x|y|\n|-|-|\n|1|2|\n\n```rust\nlet a;\n```\n\n- [x] done");
        assert!(matches!(&tree[0], Node::Branch(Kind::List(Some(3)), items) if items.len() == 2));
        assert!(matches!(&tree[1], Node::Branch(Kind::Table, rows) if rows.len() == 2));
        assert_eq!(tree[2], Node::Branch(Kind::CodeBlock, vec![Node::Text("let a;\n".into())]));
        assert!(format!("{:?}", tree[3]).contains("Checkbox(true)"));
    }
}
