//! Cursor: `<home>/projects/<slug>/agent-transcripts/<session>/*.jsonl`. Records have no times and no folder.

use super::files::{self, Format, Known, OpenFile};
use super::json::{Scalar, Shape, record};
use super::listing::{self, Take};
use super::report::{LineReason, SourceReport};
use super::rules::Rules;
use super::session::{Draft, Turn};
use super::{HarvestOptions, Source, Yielded};
use serde::Deserialize;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::Path;

/// Reads the store of Cursor.
pub(crate) fn harvest(options: &HarvestOptions, rules: &Rules, known: Known<'_>) -> Yielded {
    let Some(home) = &options.homes.cursor else { return Yielded::not_configured(Source::Cursor) };
    let root = home.join("projects");
    if !root.is_dir() {
        return Yielded::missing(Source::Cursor, &root);
    }
    let mut report = SourceReport::new(Source::Cursor, &root);
    let found = listing::list(&root, &mut report, &take);
    let format = Cursor { root: root.clone(), project: options.project.clone() };
    files::harvest(&format, &found, report, rules, known)
}

fn take(path: &Path) -> Take {
    let is_transcript = path.extension() == Some(OsStr::new("jsonl"))
        && path.components().any(|part| part.as_os_str() == "agent-transcripts");
    if path.file_name() == Some(OsStr::new("subagents")) {
        Take::Subagent
    } else if is_transcript {
        Take::Read
    } else {
        Take::Ignore
    }
}

struct Cursor {
    root: std::path::PathBuf,
    /// The project of the night: a slug is known by the path that it comes from.
    project: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Record<'a> {
    #[serde(rename = "type", borrow)]
    kind: Scalar<'a>,
    #[serde(borrow)]
    role: Scalar<'a>,
    #[serde(borrow)]
    status: Scalar<'a>,
    #[serde(borrow)]
    message: Shape<'a, Message<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Message<'a> {
    #[serde(borrow)]
    role: Scalar<'a>,
    #[serde(borrow)]
    content: Shape<'a, Block<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Block<'a> {
    #[serde(rename = "type", borrow)]
    kind: Scalar<'a>,
    #[serde(borrow)]
    text: Scalar<'a>,
    #[serde(borrow)]
    name: Scalar<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Trusted<'a> {
    #[serde(borrow)]
    workspace_path: Scalar<'a>,
}

impl Format for Cursor {
    fn read(&self, file: &mut OpenFile<'_>) -> io::Result<Vec<Draft>> {
        let mut draft = Draft::new(&file.stem(), &file.path());
        draft.enter(&self.project_of(&file.candidate.path));
        let rules = file.rules;
        let mut spare = String::new();
        file.each_record(|line, _| {
            let record: Record<'_> = record(line, &mut spare)?;
            take_record(&mut draft, &record, rules)
        })?;
        draft.end(file.candidate.modified);
        Ok(vec![draft])
    }
}

impl Cursor {
    /// What the folder says it is for, or the project of the night or a folder above it when the slug is its.
    fn project_of(&self, path: &Path) -> String {
        let Some(slug) = path.strip_prefix(&self.root).ok().and_then(|path| path.iter().next())
        else {
            return String::new();
        };
        let trusted = fs::read(self.root.join(slug).join(".workspace-trusted")).unwrap_or_default();
        let trusted: Trusted<'_> = serde_json::from_slice(&trusted).unwrap_or_default();
        if !trusted.workspace_path.text().is_empty() {
            return trusted.workspace_path.text().to_owned();
        }
        let slug = slug.to_string_lossy();
        let found = Path::new(&self.project)
            .ancestors()
            .find(|folder| slug_of(&folder.to_string_lossy()) == *slug);
        found.map(|folder| folder.to_string_lossy().into_owned()).unwrap_or_default()
    }
}

/// Runs of what is neither letter nor digit become `-`.
fn slug_of(path: &str) -> String {
    let words = path.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-")
}

fn take_record(draft: &mut Draft, record: &Record<'_>, rules: &Rules) -> Result<(), LineReason> {
    if record.kind.text() == "turn_ended" {
        if record.status.text() == "error" {
            draft.signal("neg:cursor_turn_error");
        }
        return Ok(());
    }
    let message = match record.message.object() {
        Some(message) => message,
        None if record.kind.text().is_empty() => return Err(LineReason::WrongShape),
        None => return Ok(()),
    };
    let words = match &message.content {
        Shape::Text(text) => text.to_string(),
        Shape::List(_) => {
            let texts = message.content.objects().filter(|block| block.kind.text() == "text");
            texts.map(|block| block.text.text()).collect::<Vec<_>>().join("\n\n")
        }
        Shape::Object(_) | Shape::Other => return Err(LineReason::WrongShape),
    };
    let role = if record.role.text().is_empty() { &message.role } else { &record.role };
    match role.text() {
        "user" => {
            draft.ask(Turn { text: query(&words), ..Turn::default() }, rules);
        }
        "assistant" => draft.answer(Turn { text: &words, ..Turn::default() }, rules),
        _ => {}
    }
    for block in message.content.objects().filter(|block| block.kind.text() == "tool_use") {
        draft.tool(block.name.text());
    }
    Ok(())
}

/// The person's words inside of what Cursor adds.
fn query(text: &str) -> &str {
    let inner = text.split_once("<user_query>").map(|(_, rest)| rest);
    inner
        .map_or(text, |rest| rest.rsplit_once("</user_query>").map_or(rest, |(inner, _)| inner))
        .trim()
}

#[cfg(test)]
mod tests {
    use super::{query, slug_of};

    #[test]
    fn a_slug_forgets_what_is_no_letter_and_no_digit() {
        assert_eq!(slug_of("/home/dev/my_app.x"), "home-dev-my-app-x");
    }

    #[test]
    fn the_query_is_unwrapped() {
        assert_eq!(query("<context>x</context>\n<user_query>\nFix it\n</user_query>"), "Fix it");
        assert_eq!(query("Fix it"), "Fix it");
    }
}
