//! Replies that only say no.

/// A longer reply does something, whatever it starts with. In characters.
const MAX_REFUSAL_CHARS: usize = 600;

const OPENINGS: [&str; 9] = [
    "cannot complete",
    "i cannot",
    "i can't",
    "i'm unable",
    "i am unable",
    "unable to complete",
    "sorry i can't",
    "sorry i cannot",
    "no can do",
];

/// The reply is empty, or short and starts with a refusal.
#[must_use]
pub fn is_refusal(reply: &str) -> bool {
    let head = reply.trim().trim_start_matches(|c: char| {
        c.is_whitespace() || matches!(c, '#' | '*' | '_' | '>' | '`' | '-' | '~')
    });
    if head.is_empty() {
        return true;
    }
    let head = head.replace('\u{2019}', "'").replace(',', "").to_lowercase();
    let is_short = reply.chars().count() < MAX_REFUSAL_CHARS;
    is_short && OPENINGS.iter().any(|opening| head.starts_with(opening))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("", true)]
    #[case(" \n", true)]
    #[case("I cannot do that.", true)]
    #[case("**I can\u{2019}t** help", true)]
    #[case("Sorry, I can't do that", true)]
    #[case("> Unable to complete the task", true)]
    #[case("Done. I cannot think of more.", false)]
    #[case("Here it is", false)]
    fn a_refusal_is_told_by_its_first_words(#[case] reply: &str, #[case] expect: bool) {
        assert_eq!(is_refusal(reply), expect);
    }

    #[test]
    fn a_long_reply_is_no_refusal() {
        assert!(!is_refusal(&format!("I cannot be brief. {}", "x".repeat(600))));
    }
}
