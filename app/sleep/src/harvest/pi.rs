//! Pi: `<home>/agent/sessions/**/*.jsonl`. From version 2 on a file is a tree: only the branch that ends with the last
//! entry happened. A tree that is broken anywhere is not trusted at all.

use super::files::{self, Format, Known, OpenFile};
use super::json::{Scalar, Shape, record};
use super::listing::{self, Take};
use super::report::{DropReason, LineReason, SourceReport};
use super::rules::Rules;
use super::session::{Draft, Turn};
use super::{HarvestOptions, Instant, Source, Yielded};
use serde::Deserialize;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::io;
use std::path::Path;

/// Reads the store of Pi.
pub(crate) fn harvest(options: &HarvestOptions, rules: &Rules, known: Known<'_>) -> Yielded {
    let Some(home) = &options.homes.pi else { return Yielded::not_configured(Source::Pi) };
    let root = home.join("agent").join("sessions");
    if !root.is_dir() {
        return Yielded::missing(Source::Pi, &root);
    }
    let mut report = SourceReport::new(Source::Pi, &root);
    let found = listing::list(&root, &mut report, &take);
    files::harvest(&Pi, &found, report, rules, known)
}

fn take(path: &Path) -> Take {
    if path.extension() == Some(OsStr::new("jsonl")) { Take::Read } else { Take::Ignore }
}

struct Pi;

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Record<'a> {
    #[serde(rename = "type", borrow)]
    kind: Scalar<'a>,
    #[serde(borrow)]
    id: Scalar<'a>,
    #[serde(borrow)]
    parent_id: Scalar<'a>,
    #[serde(borrow)]
    cwd: Scalar<'a>,
    #[serde(borrow)]
    version: Scalar<'a>,
    #[serde(borrow)]
    timestamp: Scalar<'a>,
    #[serde(borrow)]
    message: Shape<'a, Message<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Message<'a> {
    #[serde(borrow)]
    role: Scalar<'a>,
    #[serde(borrow)]
    content: Shape<'a, Block<'a>>,
    #[serde(borrow)]
    tool_name: Scalar<'a>,
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

/// An entry of the tree, with what is needed of it.
#[derive(Default)]
struct Entry {
    parent: Option<usize>,
    role: String,
    words: String,
    tools: Vec<String>,
    at: Option<Instant>,
    id: String,
}

/// A file while it is read.
#[derive(Default)]
struct Reading {
    head: Option<Head>,
    entries: Vec<Entry>,
    by_id: HashMap<String, usize>,
    is_broken: bool,
}

struct Head {
    id: String,
    cwd: String,
    at: Option<Instant>,
    is_tree: bool,
}

impl Format for Pi {
    fn read(&self, file: &mut OpenFile<'_>) -> io::Result<Vec<Draft>> {
        let mut reading = Reading::default();
        let mut spare = String::new();
        file.each_record(|line, _| {
            let record: Record<'_> = record(line, &mut spare)?;
            reading.take(&record)
        })?;
        let is_broken = file.tally.skipped.keys().any(|reason| *reason != LineReason::Truncated);
        let mut draft = Draft::new(&file.stem(), &file.path());
        let Some(head) = reading.head.take() else { return Err(io::ErrorKind::InvalidData.into()) };
        draft.id.clone_from(&head.id);
        draft.enter(&head.cwd);
        draft.see(head.at);
        if reading.is_broken || (is_broken && head.is_tree) {
            draft.dropped = draft.dropped.or(Some(DropReason::Broken));
        } else {
            reading.play(head.is_tree, &mut draft, file.rules);
        }
        Ok(vec![draft])
    }
}

impl Reading {
    fn take(&mut self, record: &Record<'_>) -> Result<(), LineReason> {
        if record.kind.text() == "session" {
            // A second head means that two sessions are mixed.
            self.is_broken |= self.head.is_some() || !self.entries.is_empty();
            self.head = Some(Head {
                id: record.id.text().to_owned(),
                cwd: record.cwd.text().to_owned(),
                at: record.timestamp.time(),
                is_tree: record.version.count() >= 2,
            });
            return Ok(());
        }
        let Some(head) = &self.head else { return Err(LineReason::WrongShape) };
        if record.kind.text().is_empty() {
            return Err(LineReason::WrongShape);
        }
        let mut entry = entry(record);
        if head.is_tree {
            self.is_broken |= !self.hang(record, &mut entry);
        }
        self.entries.push(entry);
        Ok(())
    }

    /// Finds the entry's parent, which has to be before it. Whether it could.
    fn hang(&mut self, record: &Record<'_>, entry: &mut Entry) -> bool {
        let parent = record.parent_id.text();
        entry.parent = self.by_id.get(parent).copied();
        let is_hung = parent.is_empty() || entry.parent.is_some();
        let id = record.id.text();
        let is_new =
            !id.is_empty() && self.by_id.insert(id.to_owned(), self.entries.len()).is_none();
        is_hung && is_new
    }

    fn play(self, is_tree: bool, draft: &mut Draft, rules: &Rules) {
        let mut on_branch = vec![!is_tree; self.entries.len()];
        let mut at = if is_tree { self.entries.len().checked_sub(1) } else { None };
        while let Some(index) = at {
            on_branch[index] = true;
            at = self.entries[index].parent;
        }
        let entries = self.entries.iter().zip(on_branch).filter(|(_, on_branch)| *on_branch);
        for (entry, _) in entries {
            let turn = Turn { text: &entry.words, at: entry.at, ..Turn::default() };
            match entry.role.as_str() {
                "user" => {
                    draft.ask(turn, rules);
                }
                "assistant" => draft.answer(Turn { id: &entry.id, ..turn }, rules),
                _ => {}
            }
            for tool in &entry.tools {
                draft.tool(tool);
            }
        }
    }
}

fn entry(record: &Record<'_>) -> Entry {
    let Some(message) = record.message.object() else { return Entry::default() };
    let words = match &message.content {
        Shape::Text(text) => text.to_string(),
        content => {
            let texts = content.objects().filter(|block| block.kind.text() == "text");
            texts.map(|block| block.text.text()).collect::<Vec<_>>().join("\n\n")
        }
    };
    let calls = message.content.objects().filter(|block| block.kind.text() == "toolCall");
    let mut tools: Vec<String> = calls.map(|block| block.name.text().to_owned()).collect();
    let role = message.role.text();
    let is_result = role == "toolResult";
    if is_result {
        tools.push(message.tool_name.text().to_owned());
    }
    Entry {
        parent: None,
        role: role.to_owned(),
        words: if is_result { String::new() } else { words },
        tools,
        at: record.timestamp.time(),
        id: record.id.text().to_owned(),
    }
}
