//! The one place where an untrusted id becomes part of a path.

use crate::hash::Sha256Hex;

const MAX_LEN: usize = 80;
const RESERVED: [&str; 6] = ["con", "prn", "aux", "nul", "com1", "lpt1"];

/// Turns any id into one safe, unique path component of at most 97 characters.
///
/// Kept as it is when it consists of `A-Z a-z 0-9 _ . -`, is not too long, does not start or end with a
/// dot and is no reserved device name. Otherwise other characters become `_`, and 16 hex digits of the
/// id's hash are added, so that two ids never share a name.
#[must_use]
pub fn safe_file_name(id: &str) -> String {
    if is_safe(id) {
        return id.to_owned();
    }
    let cleaned: String = id
        .chars()
        .take(MAX_LEN)
        .map(|c| if c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-') { c } else { '_' })
        .collect();
    format!("{}-{}", cleaned.trim_matches('.'), Sha256Hex::of(id).short())
}

fn is_safe(id: &str) -> bool {
    let stem = id.split('.').next().unwrap_or_default().to_ascii_lowercase();
    !id.is_empty()
        && id.len() <= MAX_LEN
        && !id.starts_with(['.', '-'])
        && !id.ends_with('.')
        && !RESERVED.contains(&stem.as_str())
        && id.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rstest::rstest;

    #[rstest]
    #[case("train_00012", "train_00012")]
    #[case("v1.2-b", "v1.2-b")]
    fn plain_ids_stay(#[case] id: &str, #[case] expect: &str) {
        assert_eq!(safe_file_name(id), expect);
    }

    #[rstest]
    #[case("../../etc/passwd")]
    #[case("train:0000")]
    #[case("a\\b")]
    #[case("..")]
    #[case("con")]
    #[case("x.")]
    #[case("nul\0byte")]
    #[case("")]
    fn c71_ids_that_could_be_paths_are_rewritten(#[case] id: &str) {
        let name = safe_file_name(id);
        assert_ne!(name, id);
        assert!(!name.contains(['/', '\\', ':', '\0']) && !name.starts_with('.'), "{name}");
    }

    #[test]
    fn two_ids_never_share_a_name() {
        assert_ne!(safe_file_name("a/b"), safe_file_name("a:b"));
    }

    proptest! {
        #[test]
        fn every_name_is_one_short_component(id in "\\PC{0,200}") {
            let name = safe_file_name(&id);
            prop_assert!(!name.is_empty() && name.len() <= 97);
            prop_assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || "_.-".contains(c)));
        }
    }
}
