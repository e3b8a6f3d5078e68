//! Marked regions as the Python system writes them: all of a kind go, one comes at the end.

use crate::appendix;
use crate::skill::{REGIONS, SkillDoc};

const SLOW_UPDATE: (&str, &str) = REGIONS[0];
const APPENDIX: (&str, &str) = REGIONS[1];

/// The skill with an empty region for guidance at its end, unless it has one.
#[must_use]
pub fn with_placeholder(doc: &SkillDoc) -> SkillDoc {
    let (start, end) = SLOW_UPDATE;
    if has(doc, SLOW_UPDATE) {
        return doc.clone();
    }
    SkillDoc::parse(format!("{}\n\n{start}\n{end}\n", doc.text().trim_end()))
}

/// The skill with the guidance in a region at its end.
#[must_use]
pub fn with_guidance(doc: &SkillDoc, content: &str) -> SkillDoc {
    let (start, end) = SLOW_UPDATE;
    let body = without(doc.text(), SLOW_UPDATE);
    SkillDoc::parse(format!("{body}\n\n{start}\n{}\n{end}\n", content.trim()))
}

/// The skill with an appendix without notes at its end, unless it has one.
#[must_use]
pub fn with_empty_appendix(doc: &SkillDoc) -> SkillDoc {
    if has(doc, APPENDIX) { doc.clone() } else { with_notes(doc, &[]) }
}

/// The skill with these notes in an appendix at its end, one bullet each.
#[must_use]
pub fn with_notes(doc: &SkillDoc, notes: &[String]) -> SkillDoc {
    let (start, end) = APPENDIX;
    let body = if has(doc, APPENDIX) {
        without(doc.text(), APPENDIX)
    } else {
        doc.text().trim_end().to_owned()
    };
    let lines: String = notes.iter().map(|note| format!("- {note}\n")).collect();
    let heading = appendix::HEADING;
    SkillDoc::parse(format!("{body}\n\n{start}\n{heading}\n{lines}{end}\n"))
}

/// All notes, each once: those of `first` and then those of `more` that say something else. White space, case and
/// closing punctuation do not count.
#[must_use]
pub fn merged_notes(first: &[String], more: &[String]) -> Vec<String> {
    let mut keys = Vec::new();
    let mut kept = Vec::new();
    for note in first.iter().chain(more) {
        let note = note.split_whitespace().collect::<Vec<_>>().join(" ");
        let key = appendix::key_of(&note);
        if !key.is_empty() && !keys.contains(&key) {
            keys.push(key);
            kept.push(note);
        }
    }
    kept
}

fn has(doc: &SkillDoc, (start, end): (&str, &str)) -> bool {
    doc.text().contains(start) && doc.text().contains(end)
}

/// The text without all regions of a kind. Of several blank lines one stays; white space at the end goes.
fn without(text: &str, (start, end): (&str, &str)) -> String {
    let mut text = text.to_owned();
    while let Some(from) = text.find(start) {
        match text[from..].find(end) {
            Some(len) => text.replace_range(from..from + len + end.len(), ""),
            None => text.replace_range(from..from + start.len(), ""),
        }
    }
    text = text.replace(end, "");
    while text.contains("\n\n\n") {
        text = text.replace("\n\n\n", "\n\n");
    }
    text.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owned(notes: &[&str]) -> Vec<String> {
        notes.iter().map(|note| (*note).to_owned()).collect()
    }

    #[test]
    fn a_note_is_kept_once_and_its_bullet_stays() {
        let own = owned(&["Give the year."]);
        let more = owned(&["give  the YEAR", "- Look  twice,", "..", " "]);
        assert_eq!(merged_notes(&own, &more), ["Give the year.", "- Look twice,"]);
    }

    #[test]
    fn a_placeholder_is_made_once() {
        let doc = with_placeholder(&SkillDoc::parse("# Skill\n\n\n"));
        let expect = "# Skill\n\n<!-- SLOW_UPDATE_START -->\n<!-- SLOW_UPDATE_END -->\n";
        assert_eq!(doc.text(), expect);
        assert_eq!(with_placeholder(&doc), doc);
    }

    #[test]
    fn guidance_moves_to_the_end_and_blank_lines_are_merged() {
        let doc = with_placeholder(&SkillDoc::parse("# Skill\n"));
        let more = SkillDoc::parse(format!("{}\n\n- Later.\n", doc.text()));
        assert_eq!(
            with_guidance(&more, " Look twice.\n").text(),
            "# Skill\n\n- Later.\n\n<!-- SLOW_UPDATE_START -->\nLook twice.\n<!-- SLOW_UPDATE_END -->\n"
        );
    }

    #[test]
    fn notes_stand_under_their_heading_after_guidance() {
        let doc = with_placeholder(&with_empty_appendix(&SkillDoc::parse("# Skill\n")));
        let expect = "# Skill\n\n<!-- SLOW_UPDATE_START -->\n<!-- SLOW_UPDATE_END -->\n\n<!-- APPENDIX_START -->\n\
                      ## Execution Notes Appendix\n- One.\n- Two.\n<!-- APPENDIX_END -->\n";
        let noted = with_notes(&doc, &owned(&["One.", "Two."]));
        assert_eq!(noted.text(), expect);
        assert_eq!(with_empty_appendix(&noted), noted);
        assert_eq!(crate::appendix::notes(&noted), ["One.", "Two."]);
    }
}
