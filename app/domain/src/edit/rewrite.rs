//! Whole new texts for a skill. Front matter and marked regions stay byte for byte whatever the text says about
//! them; a text that leaves things out is refused.

use super::EditStatus;
use super::apply::{EditRefusal, has_open_fence, refuse, stands_for_left_out_text};
use crate::skill::{SkillDoc, contains_region_marker, from_lf, lines, to_lf};

/// A body of this many characters or more may not shrink to less than half.
const REWRITE_CHARS: usize = 400;
/// The same for lines.
const REWRITE_LINES: usize = 10;

/// A new text that may take the place of a skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rewritten {
    /// The new skill.
    pub doc: SkillDoc,
    /// The text had changed or dropped what is protected, so that it was put back.
    pub restored: bool,
}

/// Makes a skill of a text that a model wrote in place of `before`.
///
/// # Errors
/// [`EditRefusal`] when the text is empty, stands for text that it leaves out, loses most of the body, or
/// breaks its structure.
pub fn rewrite(before: &SkillDoc, text: &str) -> Result<Rewritten, EditRefusal> {
    let text = to_lf(text);
    let text = unfenced(text.trim_start_matches('\u{feff}').trim());
    if text.trim().is_empty() {
        return refuse(EditStatus::Empty, "the new text is empty");
    }
    let proposed =
        SkillDoc::parse(format!("{}{}", from_lf(text, before.eol()), before.eol().as_str()));
    let body = free_body(&proposed);
    if contains_region_marker(&body) {
        return refuse(
            EditStatus::Protected,
            "it holds a marker of a protected region without its pair",
        );
    }
    if body.trim().is_empty() {
        return refuse(EditStatus::Empty, "the new text has no body");
    }
    let old_body = free_body(before);
    let old_lines: Vec<&str> = lines(&old_body).map(|line| &old_body[line.content]).collect();
    let new_lines = lines(&body).map(|line| &body[line.content]);
    if new_lines.filter(|line| !old_lines.contains(line)).any(stands_for_left_out_text) {
        return refuse(EditStatus::LeftOut, "it says \"unchanged\" in place of text");
    }
    refuse_shrinking(&old_body, &body)?;
    if has_open_fence(&body) && !has_open_fence(&old_body) {
        return refuse(EditStatus::BrokenMarkdown, "it would leave a code block open");
    }
    let restored = !proposed.protects_the_same_as(before);
    let doc = if restored { put_back(before, &body) } else { proposed };
    if !doc.protects_the_same_as(before) {
        return refuse(EditStatus::Protected, "it would change front matter or a protected region");
    }
    if doc.text().trim_end() == before.text().trim_end() {
        return refuse(EditStatus::Duplicate, "the text would not change");
    }
    Ok(Rewritten { doc, restored })
}

/// The inside, when the whole text is one fenced block.
fn unfenced(text: &str) -> &str {
    let inside = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    let Some((label, body)) = inside.and_then(|inside| inside.split_once('\n')) else {
        return text;
    };
    let is_wrapper = matches!(label.trim(), "" | "md" | "markdown") && !body.contains("\n```");
    if is_wrapper { body.trim_end() } else { text }
}

/// The body without marked regions.
fn free_body(doc: &SkillDoc) -> String {
    let mut body = String::new();
    let mut at = doc.body_start();
    for region in doc.regions() {
        body.push_str(doc.text().get(at..region.start).unwrap_or_default());
        at = at.max(region.end);
    }
    body.push_str(doc.text().get(at..).unwrap_or_default());
    body
}

fn refuse_shrinking(before: &str, after: &str) -> Result<(), EditRefusal> {
    let n_lines = |text: &str| text.lines().filter(|line| !line.trim().is_empty()).count();
    let n_chars = |text: &str| text.chars().filter(|c| !c.is_whitespace()).count();
    for (unit, least, count) in [
        ("lines", REWRITE_LINES, &n_lines as &dyn Fn(&str) -> usize),
        ("characters", REWRITE_CHARS, &n_chars),
    ] {
        let (n_before, n_after) = (count(before), count(after));
        if n_before >= least && n_after * 2 < n_before {
            let detail = format!(
                "it would shrink the body from {n_before} to {n_after} {unit}; that needs a person"
            );
            return refuse(EditStatus::LeftOut, detail);
        }
    }
    Ok(())
}

/// The front matter of `before`, the new body, and the regions of `before` at the end.
fn put_back(before: &SkillDoc, body: &str) -> SkillDoc {
    let eol = before.eol().as_str();
    let mut text = before.text()[..before.body_start()].to_owned();
    if before.front_matter().is_some() {
        if !text.ends_with(['\n', '\r']) {
            text.push_str(eol);
        }
        text.push_str(eol);
    }
    text.push_str(body.trim_matches(['\n', '\r', ' ']));
    text.push_str(eol);
    for region in before.regions() {
        text.push_str(eol);
        text.push_str(&before.text()[region.clone()]);
        text.push_str(eol);
    }
    SkillDoc::parse(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rstest::rstest;

    const REGION: &str = "<!-- SLOW_UPDATE_START -->\nLook twice.\n<!-- SLOW_UPDATE_END -->";

    fn skill() -> SkillDoc {
        let rules: Vec<String> = (0..12).map(|n| format!("- Rule {n} says something.")).collect();
        SkillDoc::parse(format!(
            "---\nname: x\n---\n\n# Skill\n\n{}\n\n{REGION}\n",
            rules.join("\n")
        ))
    }

    #[test]
    fn a_rewrite_that_drops_front_matter_and_regions_gets_them_back() {
        let body: String = (0..12).map(|n| format!("- Rule {n}, said anew.\n")).collect();
        let done = rewrite(&skill(), &format!("# Skill\n\n{body}")).expect("taken");
        assert!(done.restored);
        assert!(done.doc.text().starts_with("---\nname: x\n---\n\n# Skill\n"));
        assert!(done.doc.text().ends_with(&format!("{REGION}\n")), "{}", done.doc.text());
        assert!(done.doc.protects_the_same_as(&skill()));
    }

    #[test]
    fn a_rewrite_that_keeps_what_is_protected_stays_as_it_is() {
        let text = skill().text().replace("Rule 3 says", "Rule 3 demands");
        let done = rewrite(&skill(), &text).expect("taken");
        assert_eq!((done.doc.text(), done.restored), (text.as_str(), false));
        let fenced = rewrite(&skill(), &format!("```markdown\n{text}```")).expect("taken");
        assert_eq!(fenced.doc.text(), text);
    }

    #[rstest]
    #[case::empty("", EditStatus::Empty)]
    #[case::a_third(
        "# Skill\n\n- Rule 0 says something.\n- Rule 1 says something.\n",
        EditStatus::LeftOut
    )]
    #[case::stray_marker("# Skill\n<!-- SLOW_UPDATE_END -->\n- Rules.\n", EditStatus::Protected)]
    #[case::only_a_region(REGION, EditStatus::Empty)]
    fn c25_a_rewrite_that_loses_text_is_refused(#[case] text: &str, #[case] expect: EditStatus) {
        assert_eq!(rewrite(&skill(), text).expect_err("refused").status, expect);
    }

    #[test]
    fn c25_a_rewrite_that_stands_for_text_is_refused() {
        let text =
            skill().text().replace("- Rule 11 says something.", "(… rest of the rules unchanged)");
        assert_eq!(rewrite(&skill(), &text).expect_err("refused").status, EditStatus::LeftOut);
        assert_eq!(
            rewrite(&skill(), skill().text()).expect_err("refused").status,
            EditStatus::Duplicate
        );
    }

    proptest! {
        #[test]
        fn protected_text_survives_any_rewrite(text in "(?s)([ -~\n]|<!-- SLOW_UPDATE_START -->|<!-- SLOW_UPDATE_END -->|---\n){0,60}") {
            if let Ok(done) = rewrite(&skill(), &text) {
                prop_assert!(done.doc.protects_the_same_as(&skill()));
            }
        }
    }
}
