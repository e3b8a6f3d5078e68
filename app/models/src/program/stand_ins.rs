//! Tools that only note that they were called: small programs in the folder of a call. None does anything, none is told
//! anything else than its own name, and all vanish with the folder.

use super::folder::Folder;
use std::io::{self, Read};
use std::path::Path;

/// The folder of the programs, below the one that the call works in.
const PLACE: &str = "tools";
const LOG: &str = "calls.log";
/// More of the log is not read: the model can write into it.
const MOST_BYTES: u64 = 1 << 20;

/// The name of the file stands in no text of the script: it tells its own.
#[cfg(unix)]
const SCRIPT: &str = "#!/bin/sh\nprintf '%s\\n' \"${0##*/}\" >> \"${0%/*}/calls.log\"\n\
                      echo 'The call was noted. This is a rehearsal: no live result exists. Go on with the task.'\n";
#[cfg(not(unix))]
const SCRIPT: &str = "@echo off\r\necho %~n0>>\"%~dp0calls.log\"\r\n\
                      echo The call was noted. This is a rehearsal: no live result exists. Go on with the task.\r\n";

/// A name that is a file name on every system and a word in every shell.
pub(super) fn is_safe(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    (1..=64).contains(&name.len())
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.chars().all(is_plain)
}

/// The safe ones of the names.
pub(super) fn safe(names: &[String]) -> impl Iterator<Item = &str> {
    names.iter().map(String::as_str).filter(|name| is_safe(name))
}

/// How a program is called in the folder of the call.
pub(super) fn call_of(name: &str) -> String {
    format!("./{PLACE}/{name}")
}

/// Writes the programs.
///
/// # Errors
/// A file could not be written.
pub(super) fn lay_out(folder: &Folder, names: &[String]) -> io::Result<()> {
    for name in safe(names) {
        let end = if cfg!(unix) { "" } else { ".cmd" };
        let path = folder.place(&format!("{PLACE}/{name}{end}"), SCRIPT.as_bytes())?;
        #[cfg(unix)]
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o700))?;
        #[cfg(not(unix))]
        let _ = path;
    }
    Ok(())
}

/// What the model is told of them; empty without any.
pub(super) fn hint(names: &[String]) -> String {
    let calls: Vec<String> = safe(names).map(|name| format!("`{}`", call_of(name))).collect();
    if calls.is_empty() {
        return String::new();
    }
    format!(
        "\n\nTools: {}. Each is a program in the folder that you work in; call it there by that very line, with what you \
         ask it behind it. You have no other tools.",
        calls.join(", ")
    )
}

/// Those of the names that were called, each once, in the order of the first calls.
pub(super) fn called(folder: &Folder, names: &[String]) -> Vec<String> {
    let bytes = read_plain(&folder.work().join(PLACE).join(LOG)).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let mut called: Vec<String> = Vec::new();
    for line in text.lines().map(str::trim) {
        if safe(names).any(|name| name == line) && !called.iter().any(|known| known == line) {
            called.push(line.to_owned());
        }
    }
    called
}

/// The beginning of a file that is one: what the model put in its place, such as a pipe or a link, is not opened.
fn read_plain(path: &Path) -> io::Result<Vec<u8>> {
    if !path.symlink_metadata()?.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.take(MOST_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &[&str]) -> Vec<String> {
        list.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn f05_a_name_that_is_more_than_a_word_becomes_no_program() {
        let folder = Folder::new().unwrap();
        let odd = names(&["../out", "a b", "$(x)", "-rf", "", "a/b", "x;y", "search"]);
        lay_out(&folder, &odd).unwrap();
        let tools: Vec<String> = std::fs::read_dir(folder.work().join(PLACE))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        assert_eq!(tools.len(), 1, "{tools:?}");
        assert!(tools[0].starts_with("search"));
        assert!(!folder.work().with_file_name("out").exists());
        assert_eq!(hint(&names(&["a b"])), "");
        assert!(hint(&odd).contains("Tools: `./tools/search`."));
    }

    #[cfg(unix)]
    #[test]
    fn a_program_notes_its_call_and_does_nothing_else() {
        let folder = Folder::new().unwrap();
        let all = names(&["search", "db", "never"]);
        lay_out(&folder, &all).unwrap();
        for name in ["search", "db", "search"] {
            let output = std::process::Command::new(call_of(name))
                .arg("; touch x")
                .current_dir(folder.work())
                .output()
                .unwrap();
            assert!(output.status.success());
            assert!(String::from_utf8_lossy(&output.stdout).contains("The call was noted"));
        }
        assert_eq!(called(&folder, &all), ["search", "db"]);
        let log = folder.work().join(PLACE).join(LOG);
        std::fs::write(&log, "never-heard-of\nnever\n").unwrap();
        assert_eq!(called(&folder, &all), ["never"], "only names that were offered count");
        std::fs::rename(&log, folder.work().join("elsewhere")).unwrap();
        std::os::unix::fs::symlink(folder.work().join("elsewhere"), &log).unwrap();
        assert!(called(&folder, &all).is_empty(), "a link is not followed");
    }
}
