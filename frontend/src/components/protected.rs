//! Protected parts of a skill: which lines and which blocks they are, and what to call them. Pure, tested.

use skillopt_domain::markdown::{GroupKind, MarkdownNode};
use skillopt_domain::skill::{Region, SkillDoc};

/// What no edit can change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protected {
    FrontMatter,
    Region(Region),
}

impl Protected {
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::FrontMatter => "Front matter, protected",
            Self::Region(Region::SlowUpdate) => "Guidance between epochs, protected",
            Self::Region(Region::Appendix) => "Appendix, protected",
        }
    }
}

/// Lines from the first to the last one, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Band {
    pub(crate) part: Protected,
    pub(crate) first: u32,
    pub(crate) last: u32,
}

/// The protected lines of a text, in order.
pub(crate) fn bands(text: &str) -> Vec<Band> {
    let doc = SkillDoc::parse(text);
    let front = doc.front_matter().map(|_| (Protected::FrontMatter, 0..doc.body_start()));
    let regions = doc.marked().map(|(region, range)| (Protected::Region(region), range));
    let band = |(part, range): (Protected, std::ops::Range<usize>)| Band {
        part,
        first: doc.line_of(range.start),
        last: doc.line_of(range.end.saturating_sub(1)),
    };
    front.into_iter().chain(regions).map(band).collect()
}

/// A run of blocks of a rendered skill.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Blocks<'a> {
    /// The region that they stand in.
    pub(crate) region: Option<Region>,
    pub(crate) nodes: &'a [MarkdownNode],
}

/// The blocks of a skill, cut at the markers of its regions, which are left out. A region that is never closed goes on
/// to the end, as it does in the text.
pub(crate) fn cut(nodes: &[MarkdownNode]) -> Vec<Blocks<'_>> {
    let mut parts = Vec::new();
    let (mut start, mut region) = (0, None);
    for (at, node) in nodes.iter().enumerate() {
        let Some(text) = only_text(node) else { continue };
        let next = match region {
            None => Region::opened_by(text),
            Some(open) if Region::is_closed_by(open, text) => None,
            Some(open) => Some(open),
        };
        if next != region {
            parts.push(Blocks { region, nodes: &nodes[start..at] });
            (start, region) = (at + 1, next);
        }
    }
    parts.push(Blocks { region, nodes: &nodes[start..] });
    parts.retain(|part| part.region.is_some() || !part.nodes.is_empty());
    parts
}

/// The words of a paragraph that is nothing but words.
fn only_text(node: &MarkdownNode) -> Option<&str> {
    match node {
        MarkdownNode::Group { kind: GroupKind::Paragraph, children } => match children.as_slice() {
            [MarkdownNode::Text { text }] => Some(text),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paragraph(text: &str) -> MarkdownNode {
        let words = MarkdownNode::Text { text: text.into() };
        MarkdownNode::Group { kind: GroupKind::Paragraph, children: vec![words] }
    }

    #[test]
    fn protected_lines_are_counted_with_their_markers() {
        let text = "---\nname: x\n---\n# Skill\n<!-- SLOW_UPDATE_START -->\na\nb\n<!-- SLOW_UPDATE_END -->\nc\n";
        let found: Vec<_> =
            bands(text).iter().map(|band| (band.part, band.first, band.last)).collect();
        assert_eq!(
            found,
            [(Protected::FrontMatter, 1, 3), (Protected::Region(Region::SlowUpdate), 5, 8)]
        );
        assert_eq!(bands("# Skill\n"), []);
    }

    #[test]
    fn blocks_are_cut_at_the_markers_of_regions() {
        let nodes = [
            paragraph("a"),
            paragraph("<!-- APPENDIX_START -->\n"),
            paragraph("b"),
            paragraph("<!-- SLOW_UPDATE_START -->"),
            paragraph("<!-- APPENDIX_END -->\n"),
            paragraph("c"),
        ];
        let shape: Vec<_> =
            cut(&nodes).iter().map(|part| (part.region, part.nodes.len())).collect();
        assert_eq!(shape, [(None, 1), (Some(Region::Appendix), 2), (None, 1)]);
        let open = [paragraph("<!-- APPENDIX_START -->"), paragraph("b")];
        assert_eq!(cut(&open), [Blocks { region: Some(Region::Appendix), nodes: &open[1..] }]);
        assert!(cut(&[]).is_empty());
    }
}
