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
const MACHINE_STARTS: [&str; 6] = [
    "[Request interrupted",
    "Caveat: The messages below",
    "This session is being continued from a previous conversation",
    "API Error",
    "# /",
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
    let mut out = text;
    for name in BLOCKS {
        let open = format!("<{name}");
        while let Some((start, end)) = block(&out, &open, name) {
            out = Cow::Owned(format!("{}{}", &out[..start], &out[end..]));
        }
    }
    out
}

/// Where the block is; one without an end counts only at the start of the text.
fn block(text: &str, open: &str, name: &str) -> Option<(usize, usize)> {
    let start = text.find(open)?;
    let after = &text[start + open.len()..];
    if !after.starts_with(|c: char| c == '>' || c.is_whitespace()) {
        return None;
    }
    let close = format!("</{name}>");
    match after.find(&close) {
        Some(at) => Some((start, start + open.len() + at + close.len())),
        None => text[..start].trim().is_empty().then_some((start, text.len())),
    }
}

fn is_machine(text: &str) -> bool {
    MACHINE_STARTS.iter().any(|start| text.starts_with(start))
        || is_command(text)
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
    let first = rest.split_whitespace().next().unwrap_or_default();
    let is_name = first.starts_with(|c: char| c.is_ascii_alphabetic())
        && first.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':'));
    is_name && text.split_whitespace().count() <= 3
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
    #[case::caveat("Caveat: only on Windows. Fix it.", "Caveat: only on Windows. Fix it.")]
    fn words_of_a_person_stay(#[case] raw: &str, #[case] expected: &str) {
        assert_eq!(intent(raw).as_deref(), Some(expected));
    }
}
