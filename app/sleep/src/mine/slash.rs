//! Commands of an agent's interface, which are no requests.

/// Words of the longest command.
const MAX_WORDS: usize = 3;

/// The prompt is a command such as `/compact` or `/model opus`: at most three words, the first of them a slash and a
/// name. A path is no name, so `/etc/hosts check` is a request.
#[must_use]
pub fn is_slash_command(prompt: &str) -> bool {
    let mut words = prompt.split_whitespace();
    let Some(name) = words.next().and_then(|word| word.strip_prefix('/')) else { return false };
    words.count() < MAX_WORDS
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("/compact", true)]
    #[case("/model opus", true)]
    #[case("/plugin:review the diff", true)]
    #[case("/review this whole folder please", false)]
    #[case("/src/main.rs fix", false)]
    #[case("/etc/hosts check", false)]
    #[case("/README.md translate", false)]
    #[case("/", false)]
    #[case("fix /tmp", false)]
    fn f57_a_path_with_a_verb_is_no_command(#[case] prompt: &str, #[case] expect: bool) {
        assert_eq!(is_slash_command(prompt), expect);
    }
}
