//! The addresses of resources: one grammar, read here only.
//!
//! `skillopt://nights` is the index; `skillopt://nights/<project>/<night>/<file>` is a file of a night, where `<project>`
//! is 16 hex digits, `<night>` the name of its folder, and `<file>` a name in it, percent-encoded. An address holds no
//! path: each part is looked up in what there is.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use skillopt_domain::hash::Sha256Hex;
use std::path::Path;

/// The index of nights.
pub(super) const INDEX: &str = "skillopt://nights";
/// The grammar for clients, as RFC 6570 writes it.
pub(super) const TEMPLATE: &str = "skillopt://nights/{project}/{night}/{file}";

const KEPT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');
const MOST_BYTES: usize = 1024;

/// A project without its path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ProjectKey(String);

impl ProjectKey {
    /// The key of a project's absolute path.
    pub(super) fn of(path: &Path) -> Self {
        Self(Sha256Hex::of(path.to_string_lossy().as_bytes()).short().to_owned())
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    fn parse(text: &str) -> Option<Self> {
        let is_hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        (text.len() == 16 && text.bytes().all(is_hex)).then(|| Self(text.to_owned()))
    }
}

/// The name of a night's folder: `20261130-031700`, or that with `-2`, `-3` …
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NightName(String);

impl NightName {
    pub(super) fn parse(text: &str) -> Option<Self> {
        let parts: Vec<&str> = text.split('-').collect();
        let is_digits = |part: &&str| part.bytes().all(|byte| byte.is_ascii_digit());
        let fits = match parts.as_slice() {
            [day, time] => day.len() == 8 && time.len() == 6,
            [day, time, nth] => day.len() == 8 && time.len() == 6 && (1..=4).contains(&nth.len()),
            _ => false,
        };
        (fits && parts.iter().all(is_digits)).then(|| Self(text.to_owned()))
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// Later nights have greater keys.
    pub(super) fn order(&self) -> (String, u32) {
        let nth = self.0.get(16..).and_then(|nth| nth.parse().ok()).unwrap_or(1);
        (self.0.get(..15).unwrap_or_default().to_owned(), nth)
    }
}

/// What an address names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Address {
    Index,
    File { project: ProjectKey, night: NightName, name: String },
}

impl Address {
    /// Reads an address; `None` for everything that is not of the grammar.
    pub(super) fn parse(uri: &str) -> Option<Self> {
        if uri == INDEX {
            return Some(Self::Index);
        }
        if uri.len() > MOST_BYTES {
            return None;
        }
        let parts: Vec<&str> = uri.strip_prefix(INDEX)?.strip_prefix('/')?.split('/').collect();
        let &[project, night, name] = parts.as_slice() else { return None };
        let name = percent_decode_str(name).decode_utf8().ok()?.into_owned();
        Some(Self::File {
            project: ProjectKey::parse(project)?,
            night: NightName::parse(night)?,
            name,
        })
    }
}

/// The address of a file of a night.
pub(super) fn address_of(project: &ProjectKey, night: &NightName, name: &str) -> String {
    let name = utf8_percent_encode(name, KEPT);
    format!("{INDEX}/{}/{}/{name}", project.as_str(), night.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("report.md")]
    #[case("proposed_SKILL.my skill.md")]
    #[case("proposed_SKILL.größe%2F.md")]
    fn addresses_read_back(#[case] name: &str) {
        let project = ProjectKey::of(Path::new("/home/me/project"));
        let night = NightName::parse("20261130-031700-2").expect("a night");
        let uri = address_of(&project, &night, name);
        let expect = Address::File { project, night, name: name.to_owned() };
        assert_eq!(Address::parse(&uri), Some(expect), "{uri}");
    }

    #[rstest]
    #[case("skillopt://night")]
    #[case("skillopt://nights/")]
    #[case("file:///etc/passwd")]
    #[case("skillopt://nights/0123456789abcdef/20261130-031700")]
    #[case("skillopt://nights/0123456789abcdef/20261130-031700/a/b")]
    #[case("skillopt://nights/0123456789abcdef/../report.md")]
    #[case("skillopt://nights/0123456789ABCDEF/20261130-031700/report.md")]
    #[case("skillopt://nights/0123456789abcde/20261130-031700/report.md")]
    #[case("skillopt://nights/0123456789abcdef/20261130-03170a/report.md")]
    #[case("skillopt://nights/0123456789abcdef/20261130-031700-/report.md")]
    #[case("skillopt://nights/0123456789abcdef/20261130-031700/%ff")]
    fn everything_else_is_no_address(#[case] uri: &str) {
        assert_eq!(Address::parse(uri), None);
    }

    #[test]
    fn nights_of_one_second_are_in_order() {
        let order = |name| NightName::parse(name).expect("a night").order();
        assert!(order("20261130-031700") < order("20261130-031700-2"));
        assert!(order("20261130-031700-9") < order("20261130-031700-10"));
        assert!(order("20261130-031700-10") < order("20261130-031701"));
    }
}
