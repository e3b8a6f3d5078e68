//! Config files and the files that they build on, as settings with file and line.

use super::flat::{canonical_path, path_of_flat};
use super::tree::{self, Entry, Node};
use skillopt_domain::config::{ConfigProblem, Origin, Place, Setting, Value};
use std::path::{Component, Path, PathBuf};

const SECTIONS: [&str; 7] =
    ["model", "train", "gradient", "optimizer", "evaluation", "env", "limits"];
const BASE_KEY: &str = "_base_";

/// What a file and its bases say, weakest first, with everything that is wrong with their form.
#[derive(Debug, Default)]
pub(super) struct FileSettings {
    pub(super) settings: Vec<Setting>,
    pub(super) problems: Vec<ConfigProblem>,
}

/// Reads a file and all its bases.
pub(super) fn read(path: &Path) -> FileSettings {
    let mut out = FileSettings::default();
    read_into(&mut out, path, Origin::File, &mut Vec::new(), None);
    out
}

/// Reads text that has no file, so that it can have no base.
pub(super) fn read_text(name: &str, text: &str) -> FileSettings {
    let mut out = FileSettings::default();
    let source = Source { name, origin: Origin::File };
    let Some(entries) = source.entries(text, &mut out.problems) else { return out };
    for entry in entries.iter().filter(|entry| entry.key == BASE_KEY) {
        let message = "text that was pasted cannot build on a file; paste that file's keys too";
        out.problems.push(source.problem(BASE_KEY, entry.line, message));
    }
    source.collect(entries, &mut out);
    out
}

/// `chain` holds the files that led here, to find circles.
fn read_into(
    out: &mut FileSettings,
    path: &Path,
    origin: Origin,
    chain: &mut Vec<PathBuf>,
    asked_by: Option<&Place>,
) {
    let name = path.display().to_string();
    let source = Source { name: &name, origin };
    let identity = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    if chain.contains(&identity) {
        let message = format!("builds on itself: {name} is read already");
        out.problems.push(problem_at(BASE_KEY, asked_by.cloned(), message));
        return;
    }
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) => {
            let place = asked_by.cloned().or_else(|| Some(source.place(None)));
            out.problems.push(problem_at("", place, format!("cannot read {name}: {error}")));
            return;
        }
    };
    let Some(entries) = source.entries(&text, &mut out.problems) else { return };
    chain.push(identity);
    for entry in entries.iter().filter(|entry| entry.key == BASE_KEY) {
        let place = source.place(entry.line);
        match &entry.value {
            Node::Scalar(Value::Null) => {}
            Node::Scalar(Value::Text(base)) if !base.trim().is_empty() => {
                let folder = path.parent().unwrap_or(Path::new(""));
                read_into(out, &tidy(&folder.join(base)), Origin::Base, chain, Some(&place));
            }
            _ => {
                let message = "expected the path of one file, relative to this one";
                out.problems.push(source.problem(BASE_KEY, entry.line, message));
            }
        }
    }
    chain.pop();
    source.collect(entries, out);
}

/// Takes `x/../` out of a path, so that messages stay readable.
fn tidy(path: &Path) -> PathBuf {
    let mut parts: Vec<Component<'_>> = Vec::new();
    for part in path.components() {
        match (part, parts.last()) {
            (Component::ParentDir, Some(Component::Normal(_))) => {
                parts.pop();
            }
            (Component::CurDir, _) => {}
            _ => parts.push(part),
        }
    }
    parts.iter().collect()
}

fn problem_at(path: &str, place: Option<Place>, message: String) -> ConfigProblem {
    ConfigProblem { path: path.to_owned(), place, message }
}

struct Source<'a> {
    name: &'a str,
    origin: Origin,
}

impl Source<'_> {
    fn place(&self, line: Option<u32>) -> Place {
        Place { origin: self.origin, name: self.name.to_owned(), line }
    }

    fn problem(&self, path: &str, line: Option<u32>, message: &str) -> ConfigProblem {
        problem_at(path, Some(self.place(line)), message.to_owned())
    }

    /// The top-level entries; `None` when the text cannot be read at all.
    fn entries(&self, text: &str, problems: &mut Vec<ConfigProblem>) -> Option<Vec<Entry>> {
        match tree::parse(text) {
            Ok(Node::Map(entries)) => Some(entries),
            Ok(Node::Scalar(Value::Null)) => Some(Vec::new()),
            Ok(_) => {
                let message = format!(
                    "expected sections with keys; the sections are {}",
                    SECTIONS.join(", ")
                );
                problems.push(self.problem("", None, &message));
                None
            }
            Err(error) => {
                problems.push(self.problem(
                    "",
                    error.line,
                    &format!("not YAML: {}", error.message),
                ));
                None
            }
        }
    }

    fn collect(&self, entries: Vec<Entry>, out: &mut FileSettings) {
        self.find_repeated("", &entries, out);
        let is_structured = entries.iter().any(|entry| {
            SECTIONS.contains(&entry.key.as_str()) && matches!(entry.value, Node::Map(_))
        });
        for entry in entries.into_iter().filter(|entry| entry.key != BASE_KEY) {
            match entry.value {
                Node::Map(children) => self.collect_section(&entry.key, children, out),
                // An empty section says nothing.
                Node::Scalar(Value::Null) if SECTIONS.contains(&entry.key.as_str()) => {}
                value if !is_structured && path_of_flat(&entry.key).is_some() => {
                    let path = path_of_flat(&entry.key).unwrap_or_default();
                    self.set(path, entry.line, value, out);
                }
                _ if SECTIONS.contains(&entry.key.as_str()) => {
                    let message = "is a section: expected keys with values under it";
                    out.problems.push(self.problem(&entry.key, entry.line, message));
                }
                value => match path_of_flat(&entry.key) {
                    Some(path) => {
                        let message = format!("stands outside the sections; write it as {path}");
                        out.problems.push(self.problem(&entry.key, entry.line, &message));
                    }
                    None => self.set(&entry.key, entry.line, value, out),
                },
            }
        }
    }

    fn collect_section(&self, section: &str, children: Vec<Entry>, out: &mut FileSettings) {
        self.find_repeated(section, &children, out);
        for child in children {
            self.set(&format!("{section}.{}", child.key), child.line, child.value, out);
        }
    }

    fn set(&self, path: &str, line: Option<u32>, value: Node, out: &mut FileSettings) {
        let place = self.place(line);
        let path = canonical_path(path).to_owned();
        out.settings.push(Setting { path, value: value.into_value(), place });
    }

    fn find_repeated(&self, section: &str, entries: &[Entry], out: &mut FileSettings) {
        for (at, entry) in entries.iter().enumerate() {
            let earlier = entries[..at].iter().find(|earlier| earlier.key == entry.key);
            let Some(earlier) = earlier else { continue };
            let path = if section.is_empty() {
                entry.key.clone()
            } else {
                format!("{section}.{}", entry.key)
            };
            let message = match earlier.line {
                Some(line) => format!("is set twice; it stands in line {line} already"),
                None => "is set twice".to_owned(),
            };
            out.problems.push(self.problem(&path, entry.line, &message));
        }
    }
}
