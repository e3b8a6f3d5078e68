//! What commands print. A closed pipe is no error: paid work goes on, and the exit code stays right.

use std::ffi::OsString;
use std::io::{IsTerminal, Write};

/// Standard output and standard error of a command.
#[derive(Debug)]
pub(super) struct Output {
    is_terminal: bool,
    is_ascii: bool,
}

impl Output {
    pub(super) fn of_process() -> Self {
        let is_terminal = std::io::stdout().is_terminal() && std::io::stderr().is_terminal();
        Self { is_terminal, is_ascii: is_ascii_locale(std::env::var_os) }
    }

    /// People look at it: bars can be drawn.
    pub(super) fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    /// One line on standard output.
    pub(super) fn line(&self, text: &str) {
        self.raw(format!("{}\n", self.shown(text)).as_bytes());
    }

    /// Bytes on standard output, as they are.
    pub(super) fn raw(&self, bytes: &[u8]) {
        let mut out = std::io::stdout().lock();
        // Nobody reads any more: there is no one to tell.
        let _ = out.write_all(bytes).and_then(|()| out.flush());
    }

    /// One line on standard error.
    pub(super) fn note(&self, text: &str) {
        let mut err = std::io::stderr().lock();
        let _ = writeln!(err, "{}", self.shown(text));
    }

    /// An error on standard error.
    pub(super) fn error(&self, text: &str) {
        self.note(&format!("error: {text}"));
    }

    /// The text as this terminal can show it.
    pub(super) fn shown(&self, text: &str) -> String {
        if self.is_ascii { to_ascii(text) } else { text.to_owned() }
    }
}

/// A locale is set, and it is none of UTF-8.
fn is_ascii_locale(variable: impl Fn(&'static str) -> Option<OsString>) -> bool {
    let set = ["LC_ALL", "LC_CTYPE", "LANG"]
        .into_iter()
        .find_map(|name| variable(name).filter(|value| !value.is_empty()));
    set.is_some_and(|locale| {
        let locale = locale.to_string_lossy().to_ascii_lowercase();
        !locale.contains("utf-8") && !locale.contains("utf8")
    })
}

fn to_ascii(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '→' => out.push_str("->"),
            '…' => out.push_str("..."),
            '·' => out.push('-'),
            c if c.is_ascii() => out.push(c),
            _ => out.push('?'),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case(Some("C"), None, true)]
    #[case(Some("en_US.ISO-8859-1"), Some("en_US.UTF-8"), true)]
    #[case(Some("C.UTF-8"), Some("C"), false)]
    #[case(Some(""), Some("de_DE.utf8"), false)]
    #[case(None, None, false)]
    fn c113_a_locale_without_utf8_gets_ascii(
        #[case] all: Option<&str>,
        #[case] lang: Option<&str>,
        #[case] expect: bool,
    ) {
        let variable = |name| match name {
            "LC_ALL" => all.map(OsString::from),
            "LANG" => lang.map(OsString::from),
            _ => None,
        };
        assert_eq!(is_ascii_locale(variable), expect);
    }

    #[test]
    fn c113_text_is_degraded_not_lost() {
        assert_eq!(to_ascii("0.5 → 0.6 · é"), "0.5 -> 0.6 - ?");
    }
}
