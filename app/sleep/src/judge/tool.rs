//! Names of tools. They come from transcripts and models and may become file names, so only plain ones exist.

use std::fmt;

const MAX_LEN: usize = 128;

/// The name of a tool: starts with a letter or a digit, goes on with those and `_.:/-`, has no `..`, and at most 128
/// characters, all of them ASCII.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ToolName(String);

/// The text is no name of a tool.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is no name of a tool: letters, digits and `_.:/-` only, no `..`, 128 characters at most"
)]
pub struct BadToolName(pub String);

impl ToolName {
    /// Checks a name; blanks around it do not count.
    ///
    /// # Errors
    /// [`BadToolName`] for anything that could be more than a name.
    pub fn parse(text: &str) -> Result<Self, BadToolName> {
        let name = text.trim();
        let is_plain = name.len() <= MAX_LEN
            && name.starts_with(|c: char| c.is_ascii_alphanumeric())
            && !name.contains("..")
            && name.chars().all(|c| c.is_ascii_alphanumeric() || "_.:/-".contains(c));
        if is_plain { Ok(Self(name.to_owned())) } else { Err(BadToolName(text.to_owned())) }
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ToolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

pub(super) fn is_called(name: &ToolName, reply: &str, tools: &[String]) -> bool {
    tools.iter().any(|tool| tool.eq_ignore_ascii_case(name.as_str())) || calls_in_text(name, reply)
}

/// The text says `tool_call: name`, in any case: how a target without tools says that it would call one. The name ends
/// where no letter, digit or `_` follows.
#[must_use]
pub fn calls_in_text(name: &ToolName, text: &str) -> bool {
    let text = text.to_lowercase();
    let name = name.as_str().to_ascii_lowercase();
    text.match_indices("tool_call").any(|(at, mark)| {
        let rest = text[at + mark.len()..].trim_start();
        let Some(rest) = rest.strip_prefix(':') else { return false };
        let Some(rest) = rest.trim_start().strip_prefix(&*name) else { return false };
        !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_')
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("search")]
    #[case("mcp:server/tool-1.2")]
    #[case(" Bash ")]
    fn plain_names_are_taken(#[case] name: &str) {
        assert_eq!(ToolName::parse(name).expect("a name").as_str(), name.trim());
    }

    #[rstest]
    #[case("../x")]
    #[case("a/../../b")]
    #[case("/bin/sh")]
    #[case("x; rm -rf ~")]
    #[case("$(id)")]
    #[case("")]
    #[case("-x")]
    #[case("wörk")]
    fn f05_names_that_could_be_paths_or_commands_are_refused(#[case] name: &str) {
        assert!(ToolName::parse(name).is_err());
    }

    #[test]
    fn f05_a_name_has_an_end() {
        assert!(ToolName::parse(&"a".repeat(128)).is_ok());
        assert!(ToolName::parse(&"a".repeat(129)).is_err());
    }

    #[rstest]
    #[case("TOOL_CALL: search\n", true)]
    #[case("tool_call :  Search(x)", true)]
    #[case("tool_call: searcher", false)]
    #[case("tool_call search", false)]
    #[case("I would search", false)]
    fn a_call_in_the_text_has_a_marker(#[case] text: &str, #[case] expect: bool) {
        let name = ToolName::parse("search").expect("a name");
        assert_eq!(calls_in_text(&name, text), expect);
    }
}
