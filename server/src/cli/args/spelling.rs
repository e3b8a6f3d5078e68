//! Spellings of the reference system: its other name, and flags with underscores.

use std::ffi::OsString;
use std::path::Path;

/// The name under which the program is nights alone, as the reference system's is: `skillopt-sleep run` is
/// `skillopt sleep run`.
const SLEEP_NAME: &str = "skillopt-sleep";

/// Puts `sleep` in, when the program was called by its other name.
pub(crate) fn with_sleep_name(args: Vec<OsString>) -> Vec<OsString> {
    let is_sleep = args
        .first()
        .and_then(|name| Path::new(name).file_stem())
        .is_some_and(|name| name == SLEEP_NAME);
    if !is_sleep {
        return args;
    }
    let mut args = args.into_iter();
    let name = args.next();
    name.into_iter().chain([OsString::from("sleep")]).chain(args).collect()
}

/// Takes flags in the underscore spelling of the Python system too: `--out_root` is `--out-root`.
pub(crate) fn with_kebab_flags(args: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut is_flag_area = true;
    args.map(|arg| {
        is_flag_area = is_flag_area && arg != "--";
        match arg.to_str() {
            Some(text) if is_flag_area && text.starts_with("--") => kebab(text).into(),
            _ => arg,
        }
    })
    .collect()
}

fn kebab(flag: &str) -> String {
    match flag.split_once('=') {
        Some((name, value)) => format!("{}={value}", name.replace('_', "-")),
        None => flag.replace('_', "-"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("--out_root", "--out-root")]
    #[case("--skill_init=a_b.md", "--skill-init=a_b.md")]
    #[case("train_it", "train_it")]
    fn underscores_in_flags_are_dashes(#[case] given: &str, #[case] expect: &str) {
        let args = with_kebab_flags([OsString::from(given)].into_iter());
        assert_eq!(args, [OsString::from(expect)]);
    }

    #[rstest]
    #[case("/usr/bin/skillopt-sleep", true)]
    #[case("skillopt-sleep.exe", true)]
    #[case("skillopt", false)]
    fn the_other_name_is_nights_alone(#[case] name: &str, #[case] is_sleep: bool) {
        let args = with_sleep_name([name, "status"].map(OsString::from).to_vec());
        let expect: &[&str] = if is_sleep { &[name, "sleep", "status"] } else { &[name, "status"] };
        assert_eq!(args, expect);
    }
}
