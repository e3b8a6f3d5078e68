//! Marked regions: text that belongs to the engine. Edits cannot touch it; it changes here only.

use super::{REGIONS, SkillDoc, contains_region_marker, from_lf, to_lf};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// A marked region.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Region {
    /// Guidance that is written between epochs.
    SlowUpdate,
    /// Reminders of rules that were not followed.
    Appendix,
}

/// Why a region was not written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RegionRefusal {
    /// There is nothing to write.
    #[error("there is no text to write")]
    Empty,
    /// The text would break out of its region.
    #[error("the text holds the marker of a protected region")]
    HoldsMarker,
    /// The skill has a region that never ends.
    #[error("a protected region of the skill is never closed; add its end marker")]
    Unclosed,
}

impl Region {
    /// All regions.
    pub const ALL: [Self; 2] = [Self::SlowUpdate, Self::Appendix];

    /// The region that a text with nothing but a start marker opens.
    #[must_use]
    pub fn opened_by(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|region| region.markers().0 == text.trim())
    }

    /// The text is nothing but the end marker of the region.
    #[must_use]
    pub fn is_closed_by(self, text: &str) -> bool {
        self.markers().1 == text.trim()
    }

    /// The lines that open and close the region.
    #[must_use]
    pub fn markers(self) -> (&'static str, &'static str) {
        match self {
            Self::SlowUpdate => REGIONS[0],
            Self::Appendix => REGIONS[1],
        }
    }
}

impl SkillDoc {
    /// What stands in a region, without markers and line ends around it; `None` when there is no such region.
    #[must_use]
    pub fn region(&self, region: Region) -> Option<&str> {
        let (start, end) = region.markers();
        let range = self.ranges(region).next()?;
        let inner = self.text()[range].strip_prefix(start)?;
        Some(inner.strip_suffix(end).unwrap_or(inner).trim_matches(['\n', '\r']))
    }

    /// The marked regions with their byte ranges, markers included, in order.
    pub fn marked(&self) -> impl Iterator<Item = (Region, Range<usize>)> + '_ {
        self.regions().iter().filter_map(|range| {
            let text = &self.text()[range.clone()];
            let region =
                Region::ALL.into_iter().find(|region| text.starts_with(region.markers().0))?;
            Some((region, range.clone()))
        })
    }

    /// The skill with `content` in a region, in its place or at the end. Further regions of the same kind go,
    /// everything else stays byte for byte.
    ///
    /// # Errors
    /// [`RegionRefusal`] when there is nothing to write or the markers would not fit any more.
    pub fn with_region(&self, region: Region, content: &str) -> Result<Self, RegionRefusal> {
        let content = to_lf(content);
        let content = content.trim_matches('\n').trim_end();
        if content.trim().is_empty() {
            return Err(RegionRefusal::Empty);
        }
        if contains_region_marker(content) {
            return Err(RegionRefusal::HoldsMarker);
        }
        let (start, end) = region.markers();
        let ranges: Vec<Range<usize>> = self.ranges(region).collect();
        let any_open = self.regions().iter().any(|range| !is_closed(&self.text()[range.clone()]));
        if any_open {
            return Err(RegionRefusal::Unclosed);
        }
        let eol = self.eol().as_str();
        let block = format!("{start}{eol}{}{eol}{end}", from_lf(content, self.eol()));
        let Some((first, others)) = ranges.split_first() else {
            return Ok(Self::parse(self.with_block_at_end(&block)));
        };
        let mut text = self.text().to_owned();
        for range in others.iter().rev() {
            text.replace_range(range.clone(), "");
        }
        text.replace_range(first.clone(), &block);
        Ok(Self::parse(text))
    }

    fn with_block_at_end(&self, block: &str) -> String {
        let eol = self.eol().as_str();
        let mut text = self.text().to_owned();
        if !text.is_empty() {
            if !text.ends_with(['\n', '\r']) {
                text.push_str(eol);
            }
            text.push_str(eol);
        }
        text.push_str(block);
        text.push_str(eol);
        text
    }

    fn ranges(&self, region: Region) -> impl Iterator<Item = Range<usize>> + '_ {
        let (start, _) = region.markers();
        self.regions()
            .iter()
            .filter(move |range| self.text()[(*range).clone()].starts_with(start))
            .cloned()
    }
}

fn is_closed(text: &str) -> bool {
    REGIONS.iter().any(|(start, end)| text.starts_with(start) && text.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[test]
    fn a_region_is_made_at_the_end_and_rewritten_in_its_place() {
        let doc = SkillDoc::parse("# Skill\n\n- Be kind.\n");
        let first = doc.with_region(Region::SlowUpdate, "Look twice.\n").expect("written");
        assert_eq!(
            first.text(),
            "# Skill\n\n- Be kind.\n\n<!-- SLOW_UPDATE_START -->\nLook twice.\n<!-- SLOW_UPDATE_END -->\n"
        );
        let longer = SkillDoc::parse(format!("{}\nLast line.\n", first.text()));
        let second = longer.with_region(Region::SlowUpdate, "Once will do.").expect("written");
        assert_eq!(second.region(Region::SlowUpdate), Some("Once will do."));
        assert_eq!(second.text(), longer.text().replace("Look twice.", "Once will do."));
        assert_eq!(second.region(Region::Appendix), None);
    }

    #[test]
    fn regions_are_named_by_their_markers() {
        let doc = SkillDoc::parse("# Skill\n");
        let with = doc.with_region(Region::Appendix, "a").expect("written");
        let with = with.with_region(Region::SlowUpdate, "b").expect("written");
        let named: Vec<_> =
            with.marked().map(|(region, range)| (region, &with.text()[range])).collect();
        assert_eq!(
            named,
            [
                (Region::Appendix, "<!-- APPENDIX_START -->\na\n<!-- APPENDIX_END -->"),
                (Region::SlowUpdate, "<!-- SLOW_UPDATE_START -->\nb\n<!-- SLOW_UPDATE_END -->"),
            ]
        );
        assert_eq!(Region::opened_by("<!-- APPENDIX_START -->\n"), Some(Region::Appendix));
        assert_eq!(Region::opened_by("see <!-- APPENDIX_START -->"), None);
        assert!(Region::SlowUpdate.is_closed_by("<!-- SLOW_UPDATE_END -->"));
    }

    #[test]
    fn line_ends_stay_those_of_the_skill() {
        let doc = SkillDoc::parse("# Skill\r\n- a\r\n");
        let with = doc.with_region(Region::Appendix, "one\ntwo").expect("written");
        assert!(with.text().ends_with("-->\r\none\r\ntwo\r\n<!-- APPENDIX_END -->\r\n"));
        assert!(!with.text().replace("\r\n", "").contains('\n'));
    }

    #[test]
    fn of_two_regions_of_a_kind_one_stays() {
        let pair = "<!-- APPENDIX_START -->\nx\n<!-- APPENDIX_END -->";
        let doc = SkillDoc::parse(format!("a\n{pair}\nb\n{pair}\nc\n"));
        let with = doc.with_region(Region::Appendix, "y").expect("written");
        assert_eq!(with.regions().len(), 1);
        assert_eq!(with.text(), "a\n<!-- APPENDIX_START -->\ny\n<!-- APPENDIX_END -->\nb\n\nc\n");
    }

    #[rstest]
    #[case("x", " \n", RegionRefusal::Empty)]
    #[case("x", "a <!-- APPENDIX_END --> b", RegionRefusal::HoldsMarker)]
    #[case("x <!-- APPENDIX_START --> rest", "a", RegionRefusal::Unclosed)]
    fn what_would_lose_or_leak_text_is_refused(
        #[case] text: &str,
        #[case] content: &str,
        #[case] expect: RegionRefusal,
    ) {
        let doc = SkillDoc::parse(text);
        assert_eq!(doc.with_region(Region::SlowUpdate, content), Err(expect));
    }
}
