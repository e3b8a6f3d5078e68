//! What the Python system's rules make of the text of a skill, for `train.compat: python`. Our own rules are in
//! `edit` and `skill`; nothing here is used unless a config asks for it.

mod edits;
mod regions;

pub use edits::apply_edits;
pub use regions::{merged_notes, with_empty_appendix, with_guidance, with_notes, with_placeholder};

use crate::skill::SkillDoc;

/// A whole new text: without white space at its end, closed by one line end. `None` when it says nothing.
/// Nothing is protected and nothing is checked.
#[must_use]
pub fn whole_text(text: &str) -> Option<SkillDoc> {
    let text = text.trim_end();
    (!text.trim().is_empty()).then(|| SkillDoc::parse(format!("{text}\n")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_text_ends_in_one_line_end_and_may_say_anything() {
        let text =
            whole_text("# New\n\n- (rest unchanged)\n\n \n").map(|doc| doc.text().to_owned());
        assert_eq!(text.as_deref(), Some("# New\n\n- (rest unchanged)\n"));
        assert_eq!(whole_text(" \n"), None);
    }
}
