//! What a person typed, out of what an agent's client wrote down as a turn of the person. Machine text ends here.

use regex::Regex;
use std::borrow::Cow;
use std::sync::LazyLock;

/// Blocks that clients add to a turn: they are cut out, what is around them stays.
const BLOCKS: [&str; 15] = [
    "system-reminder",
    "local-command-caveat",
    "local-command-stdout",
    "local-command-stderr",
    "bash-input",
    "bash-stdout",
    "bash-stderr",
    "ide_opened_file",
    "ide_selection",
    "ide_diagnostics",
    "user-prompt-submit-hook",
    "session-start-hook",
    "task-notification",
    "environment_context",
    "user_instructions",
];

/// How texts begin that clients write in the person's place.
const MACHINE_STARTS: [&str; 4] = [
    "[Request interrupted",
    "Caveat: The messages below",
    "This session is being continued from a previous conversation",
    "Base directory for this skill:",
];

static ANSI: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
        .expect("a fixed pattern compiles")
});

static WRAPPED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\A<([A-Za-z][\w.:-]*)(?:\s[^<>]*)?>").expect("a fixed pattern compiles")
});

static PASTED: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\A\[Pasted text[^\]]*\]\s*").expect("a fixed pattern compiles"));

/// The person's words in a turn; none where a machine wrote it all.
pub(crate) fn intent(raw: &str) -> Option<Cow<'_, str>> {
    let plain = if raw.contains('\u{1b}') { ANSI.replace_all(raw, "") } else { Cow::Borrowed(raw) };
    let cut = without_blocks(plain);
    let kept = PASTED.replace(cut.trim(), "");
    let kept = kept.trim();
    if kept.is_empty() || is_machine(kept) {
        return None;
    }
    Some(if kept.len() == raw.len() { Cow::Borrowed(raw) } else { Cow::Owned(kept.to_owned()) })
}

/// Without escape sequences of terminals.
pub(crate) fn without_ansi(raw: &str) -> Cow<'_, str> {
    if raw.contains('\u{1b}') { ANSI.replace_all(raw, "") } else { Cow::Borrowed(raw) }
}

fn without_blocks(text: Cow<'_, str>) -> Cow<'_, str> {
    if !text.contains('<') {
        return text;
    }
    BLOCKS.iter().fold(text, |text, name| without_block(text, name))
}

/// Without all blocks of this name. One without an end counts only at the start of the text.
fn without_block<'t>(text: Cow<'t, str>, name: &str) -> Cow<'t, str> {
    let (open, close) = (format!("<{name}"), format!("</{name}>"));
    let mut kept = String::new();
    let mut from = 0;
    let mut at = 0;
    while let Some(start) = text[at..].find(&open).map(|found| at + found) {
        at = start + open.len();
        if !text[at..].starts_with(|c: char| c == '>' || c.is_whitespace()) {
            continue;
        }
        let end = match text[at..].find(&close) {
            Some(found) => at + found + close.len(),
            None if text[..start].trim().is_empty() => text.len(),
            None => break,
        };
        kept.push_str(&text[from..start]);
        (from, at) = (end, end);
    }
    if from == 0 {
        return text;
    }
    kept.push_str(&text[from..]);
    Cow::Owned(kept)
}

fn is_machine(text: &str) -> bool {
    MACHINE_STARTS.iter().any(|start| text.starts_with(start))
        || is_command(text)
        || text.strip_prefix("# /").is_some_and(starts_with_name)
        || is_wrapped(text)
        || head(text).contains("<command-message>")
        || head(text).contains("<command-name>")
}

/// The first 200 bytes, to a border of characters.
fn head(text: &str) -> &str {
    &text[..text.floor_char_boundary(200)]
}

/// `/name` and at most two words more. A path is not a command.
fn is_command(text: &str) -> bool {
    let Some(rest) = text.strip_prefix('/') else { return false };
    starts_with_name(rest) && text.split_whitespace().count() <= 3
}

/// The first word is a command's name and no path.
fn starts_with_name(text: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or_default();
    first.starts_with(|c: char| c.is_ascii_alphabetic())
        && first.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':'))
}

/// The whole text is one element, `<x>…</x>` or `<x/>`.
fn is_wrapped(text: &str) -> bool {
    let Some(captures) = WRAPPED.captures(text) else { return false };
    let (whole, name) = (&captures[0], &captures[1]);
    text.ends_with(&format!("</{name}>")) || (whole.ends_with("/>") && whole.len() == text.len())
}

#[cfg(test)]
mod tests {
    use super::intent;
    use rstest::rstest;

    #[rstest]
    #[case::blank(" \n")]
    #[case::interruption("[Request interrupted by user for tool use]")]
    #[case::command("/clear")]
    #[case::command_with_words("/model opus now")]
    #[case::plugin_command("/plugin:review")]
    #[case::command_body(
        "<command-message>review</command-message>\n<command-name>/review</command-name> the parser"
    )]
    #[case::output("<local-command-stdout>\u{1b}[1mbold\u{1b}[22m</local-command-stdout>")]
    #[case::reminder("<system-reminder>be careful</system-reminder>")]
    #[case::open_reminder("<system-reminder>cut off")]
    #[case::summary(
        "This session is being continued from a previous conversation that ran out of context."
    )]
    #[case::caveat(
        "Caveat: The messages below were generated by the user while running local commands."
    )]
    #[case::wrapped("<some-hook>text</some-hook>")]
    #[case::pasted("[Pasted text #1 +20 lines]")]
    #[case::heading("# /review\ndo the review")]
    fn c05_machine_text_is_no_intent(#[case] raw: &str) {
        assert_eq!(intent(raw), None);
    }

    #[rstest]
    #[case::plain("Fix the parser", "Fix the parser")]
    #[case::beside_a_reminder("Fix it <system-reminder>x</system-reminder> now", "Fix it  now")]
    #[case::colours("\u{1b}[31mWhy red?\u{1b}[0m", "Why red?")]
    #[case::f57_path("/src/main.rs explain", "/src/main.rs explain")]
    #[case::long_command("/review the parser and the lexer", "/review the parser and the lexer")]
    #[case::markup("<div> is broken in <span>", "<div> is broken in <span>")]
    #[case::asked_about("What does <system-reminder> mean?", "What does <system-reminder> mean?")]
    #[case::pasted("[Pasted text #1] explain this", "explain this")]
    #[case::heading("# /etc/hosts is wrong", "# /etc/hosts is wrong")]
    #[case::two_blocks("<bash-input>a</bash-input>x<bash-input>b</bash-input>y", "xy")]
    #[case::caveat("Caveat: only on Windows. Fix it.", "Caveat: only on Windows. Fix it.")]
    fn words_of_a_person_stay(#[case] raw: &str, #[case] expected: &str) {
        assert_eq!(intent(raw).as_deref(), Some(expected));
    }
}
