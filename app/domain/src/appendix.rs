//! The appendix of a skill: reminders of rules that stand in it and were not followed. One note a line, each
//! once.

use crate::skill::{Region, RegionRefusal, SkillDoc, contains_region_marker};

/// The heading in the region; the same as in skills of the Python system.
pub(crate) const HEADING: &str = "## Execution Notes Appendix";
/// A note is a reminder; what is longer is cut.
const MAX_NOTE_CHARS: usize = 400;

/// The notes of a skill, in order.
#[must_use]
pub fn notes(doc: &SkillDoc) -> Vec<String> {
    let lines = doc.region(Region::Appendix).unwrap_or_default().lines();
    lines.filter_map(|line| line.trim().strip_prefix("- ")).map(str::to_owned).collect()
}

/// All notes, each once: those of `first` and then those of `more` that say something else.
#[must_use]
pub fn merged<'a>(
    first: impl IntoIterator<Item = &'a String>,
    more: impl IntoIterator<Item = &'a String>,
) -> Vec<String> {
    let mut keys: Vec<String> = Vec::new();
    let mut kept = Vec::new();
    for note in first.into_iter().chain(more).filter_map(|note| cleaned(note)) {
        let key = key_of(&note);
        if !key.is_empty() && !keys.contains(&key) {
            keys.push(key);
            kept.push(note);
        }
    }
    kept
}

/// The skill with these notes in its appendix.
///
/// # Errors
/// [`RegionRefusal`] when the region cannot be written.
pub fn with_notes(doc: &SkillDoc, notes: &[String]) -> Result<SkillDoc, RegionRefusal> {
    if notes.is_empty() {
        return Err(RegionRefusal::Empty);
    }
    let lines: Vec<String> = notes.iter().map(|note| format!("- {note}")).collect();
    doc.with_region(Region::Appendix, &format!("{HEADING}\n\n{}", lines.join("\n")))
}

/// A note on one line without its bullet; `None` when nothing is left, or when it holds a marker.
fn cleaned(note: &str) -> Option<String> {
    let line = note.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = line.trim_start_matches(['-', '*', ' ']).trim();
    let is_usable = !line.is_empty() && !contains_region_marker(line);
    is_usable.then(|| line.chars().take(MAX_NOTE_CHARS).collect())
}

/// Notes with the same key say the same: white space, case and closing punctuation do not count.
pub(crate) fn key_of(note: &str) -> String {
    note.trim_end_matches([' ', '.', ';', ':', ',', '_', '-']).to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owned(notes: &[&str]) -> Vec<String> {
        notes.iter().map(|note| (*note).to_owned()).collect()
    }

    #[test]
    fn notes_are_kept_once_and_in_order() {
        let old = owned(&["Give the year alone."]);
        let new = owned(&["- give  the year alone", "Check names;", "", "check names", "--"]);
        assert_eq!(merged(&old, &new), ["Give the year alone.", "Check names;"]);
    }

    #[test]
    fn notes_written_are_the_notes_read() {
        let doc = SkillDoc::parse("# Skill\n\n- Be kind.\n");
        let written = with_notes(&doc, &owned(&["One.", "Two."])).expect("written");
        assert_eq!(notes(&written), ["One.", "Two."]);
        assert!(written.text().starts_with(doc.text()));
        assert_eq!(notes(&with_notes(&written, &owned(&["One."])).expect("written")), ["One."]);
        assert_eq!(with_notes(&doc, &[]), Err(RegionRefusal::Empty));
    }

    #[test]
    fn a_note_cannot_close_the_region() {
        assert!(merged(&[], &owned(&["x <!-- APPENDIX_END --> y"])).is_empty());
    }
}
