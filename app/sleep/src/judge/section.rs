//! Sections in a reply, by the looks of its lines.

use super::check::fold;

/// A heading that ends with the name, a bold line that contains it, or a line that starts with `name:`.
pub(super) fn is_present(name: &str, reply: &str) -> bool {
    let name = name.trim().to_lowercase();
    reply.lines().map(str::to_lowercase).any(|line| {
        heading(&line).is_some_and(|text| text.ends_with(&name))
            || bold_contains(&line, &name)
            || line.strip_prefix(&*name).is_some_and(|rest| rest.trim_start().starts_with(':'))
    })
}

/// A heading that contains the name.
pub(super) fn heading_contains(name: &str, reply: &str) -> bool {
    let name = fold(name.trim());
    reply.lines().filter_map(heading).any(|text| fold(text).contains(&name))
}

/// The text of an ATX heading: at most 3 spaces, 1 to 6 `#`, and a blank or nothing.
fn heading(line: &str) -> Option<&str> {
    let text = line.trim_start_matches(' ');
    let rest = text.trim_start_matches('#');
    let n_marks = text.len() - rest.len();
    let is_heading = line.len() - text.len() <= 3
        && (1..=6).contains(&n_marks)
        && (rest.is_empty() || rest.starts_with([' ', '\t']));
    is_heading.then(|| rest.trim())
}

fn bold_contains(line: &str, name: &str) -> bool {
    let Some(rest) = line.trim_start().strip_prefix("**") else { return false };
    rest.split_once("**").is_some_and(|(bold, _)| bold.contains(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("## Key Risks", true)]
    #[case("### 3. The key risks  ", true)]
    #[case("## Key Risks and more", false)]
    #[case("**Key risks** in short", true)]
    #[case("Key Risks: none", true)]
    #[case("key risks : none", true)]
    #[case("the key risks are many", false)]
    #[case("#Key Risks", false)]
    fn a_section_is_a_heading_a_bold_line_or_a_label(#[case] reply: &str, #[case] expect: bool) {
        assert_eq!(is_present("Key Risks", reply), expect);
    }

    #[rstest]
    #[case("   ## On key RISKS today", true)]
    #[case("    ## Key risks", false)]
    #[case("####### Key risks", false)]
    #[case("key risks: none", false)]
    fn a_heading_may_say_more(#[case] reply: &str, #[case] expect: bool) {
        assert_eq!(heading_contains("Key Risks", reply), expect);
    }
}
