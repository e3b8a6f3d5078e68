//! `.env` files: keys, and what says where they may go. Everything else in them is left alone: settings belong in a config,
//! and a file that lies in somebody's repository must not choose programs or paths.

use skillopt_domain::config::is_secret_name;
use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

/// Far beyond any list of keys.
const MOST_BYTES: u64 = 256 << 10;
/// Ends of the names that tell where a key may go, or which of a provider's doors it opens.
const BESIDE: [&str; 4] = ["_BASE_URL", "_ENDPOINT", "_REGION", "_API_VERSION"];

/// A file that was found. Its `Debug` shows no value.
#[derive(Clone)]
pub struct EnvFile {
    /// Where it lies.
    path: PathBuf,
    rows: BTreeMap<String, Row>,
    refused: Option<String>,
}

#[derive(Clone)]
struct Row {
    line: u32,
    value: String,
}

/// True for names of keys, as they end: `_KEY`, `_TOKEN`, `_SECRET` and the like.
#[must_use]
pub fn is_key_name(name: &str) -> bool {
    is_variable_name(name) && (is_secret_name(name) || name.to_ascii_uppercase().ends_with("_KEY"))
}

/// Letters, digits and underlines, no digit first.
pub(crate) fn is_variable_name(name: &str) -> bool {
    let is_first = |c: char| c.is_ascii_alphabetic() || c == '_';
    name.starts_with(is_first) && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn is_taken(name: &str) -> bool {
    is_key_name(name) || BESIDE.iter().any(|end| name.ends_with(end))
}

impl EnvFile {
    /// Reads a file; `None` where there is none. One that is refused holds no values.
    #[must_use]
    pub fn read(path: &Path) -> Option<Self> {
        let mut file = Self { path: path.to_owned(), rows: BTreeMap::new(), refused: None };
        match open(path) {
            Ok(None) => return None,
            Ok(Some(opened)) => file.take(opened),
            Err(reason) => file.refused = Some(reason),
        }
        Some(file)
    }

    /// Where it lies.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Why its keys are not taken, and what to do; `None` when they are.
    #[must_use]
    pub fn refused(&self) -> Option<&str> {
        self.refused.as_deref()
    }

    /// A value, and the line where it stands. Empty is not set.
    pub(crate) fn get(&self, name: &str) -> Option<(&str, u32)> {
        let row = self.rows.get(name).filter(|_| self.refused.is_none())?;
        (!row.value.is_empty()).then_some((row.value.as_str(), row.line))
    }

    /// The addresses that stand in it.
    pub(crate) fn addresses(&self) -> impl Iterator<Item = &str> {
        let is_address = |name: &str| name.ends_with("_BASE_URL") || name.ends_with("_ENDPOINT");
        let rows = self.rows.iter().filter(move |(name, _)| is_address(name));
        rows.map(|(_, row)| row.value.as_str())
    }

    /// Names of keys, also of those that are refused.
    pub(crate) fn key_names(&self) -> impl Iterator<Item = &str> {
        self.rows.keys().map(String::as_str).filter(|name| is_key_name(name))
    }

    /// The name may stand in there, but was not taken.
    pub(crate) fn withholds(&self, name: &str) -> bool {
        self.refused.is_some() && (self.rows.is_empty() || self.rows.contains_key(name))
    }

    fn take(&mut self, opened: File) {
        let mut bytes = Vec::new();
        let open_to_others = others_can_read(&opened);
        let read = opened.take(MOST_BYTES + 1).read_to_end(&mut bytes);
        self.refused = match (read, String::from_utf8(bytes)) {
            (Err(err), _) => Some(err.to_string()),
            (Ok(length), _) if u64::try_from(length).is_ok_and(|length| length > MOST_BYTES) => {
                Some(format!("it is longer than {} KiB", MOST_BYTES >> 10))
            }
            (Ok(_), Err(_)) => Some("it is no UTF-8 text".to_owned()),
            (Ok(_), Ok(text)) => match parse(&text) {
                Ok(rows) => {
                    self.rows = rows;
                    None
                }
                Err(fault) => Some(fault.to_string()),
            },
        };
        if self.refused.is_none() && open_to_others && self.key_names().next().is_some() {
            self.refused = Some(format!(
                "other users of this machine can read it; run: chmod 600 {}",
                quoted(&self.path)
            ));
        }
    }
}

impl fmt::Debug for EnvFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EnvFile").field("path", &self.path).finish_non_exhaustive()
    }
}

/// What cannot be read of a file. Says nothing of what stands there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
enum Fault {
    #[error("line {0} is not NAME=value")]
    NoPair(u32),
    #[error("line {0} has a quote that does not end on that line, or text behind it")]
    OpenQuote(u32),
    #[error("line {0} names a variable that stands there already")]
    Twice(u32),
}

fn parse(text: &str) -> Result<BTreeMap<String, Row>, Fault> {
    let mut rows = BTreeMap::new();
    for (line, text) in (1..).zip(text.trim_start_matches('\u{feff}').lines()) {
        let text = text.trim();
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        let (name, value) = pair(text).ok_or(Fault::NoPair(line))?;
        let value = unquoted(value).ok_or(Fault::OpenQuote(line))?;
        if is_taken(name) && rows.insert(name.to_owned(), Row { line, value }).is_some() {
            return Err(Fault::Twice(line));
        }
    }
    Ok(rows)
}

fn pair(line: &str) -> Option<(&str, &str)> {
    let line = line.strip_prefix("export ").unwrap_or(line);
    let (name, value) = line.split_once('=')?;
    let name = name.trim();
    is_variable_name(name).then_some((name, value.trim()))
}

/// The value as it is meant: quotes taken off, a comment cut off. Nothing is put in for `$NAME`: a key may hold a `$`.
fn unquoted(value: &str) -> Option<String> {
    match value.chars().next() {
        Some('\'') => {
            let (inner, rest) = value[1..].split_once('\'')?;
            is_end(rest).then(|| inner.to_owned())
        }
        Some('"') => {
            let mut inner = String::new();
            let mut chars = value[1..].chars();
            loop {
                match chars.next()? {
                    '"' => break,
                    '\\' => inner.push(chars.next().filter(|c| matches!(c, '"' | '\\' | '$'))?),
                    other => inner.push(other),
                }
            }
            is_end(chars.as_str()).then_some(inner)
        }
        _ if value.starts_with('#') => Some(String::new()),
        _ => Some(value.split(" #").next().unwrap_or_default().trim_end().to_owned()),
    }
}

fn is_end(rest: &str) -> bool {
    let rest = rest.trim_start();
    rest.is_empty() || rest.starts_with('#')
}

/// Sets a variable in a file that only the user can read, or takes it out; all other lines stay. True when it stood there.
///
/// # Errors
/// What is wrong with the file that is there, or what the file system says.
pub(crate) fn write_row(path: &Path, name: &str, value: Option<&str>) -> Result<bool, String> {
    let text = match open(path)? {
        None => String::new(),
        Some(mut file) => {
            let mut text = String::new();
            file.read_to_string(&mut text).map_err(|err| err.to_string())?;
            parse(&text).map_err(|fault| fault.to_string())?;
            text
        }
    };
    let is_row = |line: &str| pair(line.trim()).is_some_and(|(found, _)| found == name);
    let was_there = text.lines().any(is_row);
    let kept = text.lines().filter(|line| !is_row(line)).map(str::to_owned);
    let lines: Vec<String> =
        kept.chain(value.map(|value| format!("{name}={}", in_quotes(value)))).collect();
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // A new file of this kind is readable by its owner alone.
    let write = || {
        let mut file = tempfile::NamedTempFile::new_in(dir)?;
        lines.iter().try_for_each(|line| writeln!(file, "{line}"))?;
        file.as_file().sync_all()?;
        file.persist(path).map(|_| ()).map_err(std::io::Error::from)
    };
    write().map_err(|err| err.to_string())?;
    Ok(was_there)
}

fn in_quotes(value: &str) -> String {
    if value.contains('\'') {
        let escaped = value.replace('\\', "\\\\").replace('"', "\\\"").replace('$', "\\$");
        format!("\"{escaped}\"")
    } else {
        format!("'{value}'")
    }
}

/// The opened file; `None` where there is none. What is checked is what was opened, so that nothing can be exchanged
/// in between.
fn open(path: &Path) -> Result<Option<File>, String> {
    let file = match open_no_link(path) {
        Ok(file) => file,
        Err(err) if err.kind() == ErrorKind::NotFound => return Ok(None),
        Err(_) if std::fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink()) => {
            return Err("it is a symbolic link; put the file itself there".to_owned());
        }
        Err(err) => return Err(err.to_string()),
    };
    match file.metadata() {
        Ok(found) if found.is_file() => Ok(Some(file)),
        Ok(_) => Err("it is no ordinary file".to_owned()),
        Err(err) => Err(err.to_string()),
    }
}

#[cfg(unix)]
fn open_no_link(path: &Path) -> std::io::Result<File> {
    use rustix::fs::{Mode, OFlags};
    // Without waiting: a pipe would hold the reader until somebody writes.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?.into())
}

#[cfg(not(unix))]
fn open_no_link(path: &Path) -> std::io::Result<File> {
    match std::fs::symlink_metadata(path)?.is_symlink() {
        true => Err(ErrorKind::InvalidInput.into()),
        false => File::open(path),
    }
}

#[cfg(unix)]
fn others_can_read(file: &File) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata().is_ok_and(|found| found.permissions().mode() & 0o077 != 0)
}

#[cfg(not(unix))]
fn others_can_read(_: &File) -> bool {
    false
}

/// A path as a shell takes it.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+,".contains(c);
    if text.chars().all(is_plain) { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use tempfile::TempDir;

    fn written(text: &str) -> (TempDir, PathBuf) {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join(".env");
        std::fs::write(&path, text).expect("written");
        set_mode(&path, 0o600);
        (dir, path)
    }

    #[cfg(unix)]
    fn set_mode(path: &Path, mode: u32) {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("a mode");
    }

    #[cfg(not(unix))]
    fn set_mode(_: &Path, _: u32) {}

    #[rstest]
    #[case("A_KEY=sk-1", Some("sk-1"))]
    #[case("  export A_KEY = sk-1  # mine", Some("sk-1"))]
    #[case("A_KEY='sk#1 $HOME \\n'", Some("sk#1 $HOME \\n"))]
    #[case(r#"A_KEY="s\"k\\1 \$x" # mine"#, Some(r#"s"k\1 $x"#))]
    #[case("A_KEY=sk$HOME#1", Some("sk$HOME#1"))]
    #[case("A_KEY=", None)]
    #[case("A_KEY=''", None)]
    #[case("A_KEY= # none yet", None)]
    #[case("\u{feff}# keys\r\n\r\nA_KEY=sk-1\r\n", Some("sk-1"))]
    fn a_value_is_read_as_it_is_meant(#[case] text: &str, #[case] expect: Option<&str>) {
        let (_dir, path) = written(text);
        let file = EnvFile::read(&path).expect("a file");
        assert_eq!((file.get("A_KEY").map(|(value, _)| value), file.refused()), (expect, None));
    }

    #[rstest]
    #[case("A_KEY=sk-1\nsk-secret\n", "line 2 is not NAME=value")]
    #[case("1_KEY=sk-secret\n", "line 1 is not NAME=value")]
    #[case("A_KEY='sk-secret\n", "line 1 has a quote that does not end")]
    #[case("A_KEY=\"sk-secret\" x\n", "line 1 has a quote")]
    #[case("A_KEY=\"\\n\"\n", "line 1 has a quote")]
    #[case(
        "A_KEY=sk-1\nexport A_KEY=sk-secret\n",
        "line 2 names a variable that stands there already"
    )]
    fn what_cannot_be_read_is_named_by_its_line_and_not_repeated(
        #[case] text: &str,
        #[case] expect: &str,
    ) {
        let (_dir, path) = written(text);
        let file = EnvFile::read(&path).expect("a file");
        let reason = file.refused().expect("refused");
        assert!(reason.contains(expect) && !reason.contains("secret"), "{reason}");
        assert!(file.get("A_KEY").is_none() && file.withholds("A_KEY"));
    }

    #[test]
    fn keys_and_what_stands_beside_them_are_taken_and_nothing_else() {
        let (_dir, path) = written(
            "OPENAI_COMPATIBLE_API_KEY=1\nHF_TOKEN=2\nOPENAI_COMPATIBLE_BASE_URL=3\nPATH=4\n\
             CODEX_EXEC_PATH=5\nTARGET_BACKEND=6\nHTTPS_PROXY=7\nLD_PRELOAD=8\n",
        );
        let file = EnvFile::read(&path).expect("a file");
        let taken: Vec<&str> = file.rows.keys().map(String::as_str).collect();
        assert_eq!(taken, ["HF_TOKEN", "OPENAI_COMPATIBLE_API_KEY", "OPENAI_COMPATIBLE_BASE_URL"]);
        assert_eq!(file.get("HF_TOKEN"), Some(("2", 2)));
        assert!(!format!("{file:?}").contains("\"1\""));
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_others_can_read_is_refused_with_the_command_to_run() {
        let (_dir, path) = written("A_KEY=sk-1\n");
        for mode in [0o644, 0o640, 0o604, 0o660] {
            set_mode(&path, mode);
            let file = EnvFile::read(&path).expect("a file");
            let reason = file.refused().expect("refused");
            assert!(reason.ends_with(&format!("run: chmod 600 {}", path.display())), "{reason}");
            assert_eq!(file.get("A_KEY"), None);
            assert!(file.withholds("A_KEY") && !file.withholds("B_KEY"));
        }
        std::fs::write(&path, "OPENAI_COMPATIBLE_BASE_URL=http://127.0.0.1:1\n").expect("written");
        assert_eq!(EnvFile::read(&path).expect("a file").refused(), None, "it holds no key");
    }

    #[cfg(unix)]
    #[test]
    fn links_folders_and_pipes_are_refused() {
        let (dir, path) = written("A_KEY=sk-1\n");
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(&path, &link).expect("a link");
        let said = |path: &Path| {
            let file = EnvFile::read(path).expect("something");
            assert!(file.withholds("A_KEY"));
            file.refused().expect("refused").to_owned()
        };
        assert_eq!(said(&link), "it is a symbolic link; put the file itself there");
        assert_eq!(said(dir.path()), "it is no ordinary file");
        assert_eq!(said(Path::new("/dev/zero")), "it is no ordinary file");
        assert!(EnvFile::read(&dir.path().join("none")).is_none());
    }

    #[rstest]
    #[case("sk-1")]
    #[case("it's $5 \"\\")]
    #[case("#x y")]
    fn a_written_row_reads_back_and_other_lines_stay(#[case] value: &str) {
        let (_dir, path) = written("# mine\nA_KEY=old\nOTHER=1 # kept\n");
        set_mode(&path, 0o644);
        assert_eq!(write_row(&path, "A_KEY", Some(value)), Ok(true));
        let file = EnvFile::read(&path).expect("a file");
        assert_eq!((file.get("A_KEY"), file.refused()), (Some((value, 3)), None));
        let text = std::fs::read_to_string(&path).expect("read");
        assert!(text.starts_with("# mine\nOTHER=1 # kept\n") && !text.contains("old"), "{text}");
        assert_eq!(write_row(&path, "A_KEY", None), Ok(true));
        assert_eq!(write_row(&path, "A_KEY", None), Ok(false));
        assert_eq!(std::fs::read_to_string(&path).expect("read"), "# mine\nOTHER=1 # kept\n");
    }
}
