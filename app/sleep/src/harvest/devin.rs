//! Devin: transcripts in the ATIF format, one JSON document a session, and what it keeps in mind in
//! `~/.agentmemory/standalone.json`. Records name no project: it is told by a workspace's name in the words.
//! Skills of a project are no sessions and are not read.

use super::files::{self, Format, Known, OpenFile};
use super::json::{Scalar, Shape};
use super::listing::{self, Take};
use super::report::SourceReport;
use super::rules::Rules;
use super::session::{Draft, Turn};
use super::{HarvestOptions, Source, Yielded};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

/// Reads what Devin wrote.
pub(crate) fn harvest(options: &HarvestOptions, rules: &Rules, known: Known<'_>) -> Yielded {
    let homes = &options.homes;
    let Some(first) = homes.devin_transcripts.as_ref().or(homes.agent_memory.as_ref()) else {
        return Yielded::not_configured(Source::Devin);
    };
    let folder = homes.devin_transcripts.as_ref().filter(|folder| folder.is_dir());
    let memory = homes.agent_memory.as_ref().filter(|file| file.is_file());
    if folder.is_none() && memory.is_none() {
        return Yielded::missing(Source::Devin, first);
    }
    let mut report = SourceReport::new(Source::Devin, first);
    let mut found =
        folder.map(|folder| listing::list(folder, &mut report, &take)).unwrap_or_default();
    found.extend(memory.and_then(|file| listing::candidate(file.clone(), &mut report)));
    listing::sort(&mut found);
    let format = Devin { memory: memory.cloned(), workspaces: workspaces(options) };
    files::harvest(&format, &found, report, rules, known)
}

fn take(path: &Path) -> Take {
    if path.extension() == Some(OsStr::new("json")) { Take::Read } else { Take::Ignore }
}

/// The known projects, or else the one of the night.
fn workspaces(options: &HarvestOptions) -> Vec<String> {
    match options.homes.devin_workspaces.as_slice() {
        [] if options.project.is_empty() => Vec::new(),
        [] => vec![options.project.clone()],
        known => known.to_vec(),
    }
}

struct Devin {
    memory: Option<PathBuf>,
    workspaces: Vec<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Atif<'a> {
    #[serde(borrow)]
    schema_version: Scalar<'a>,
    #[serde(borrow)]
    session_id: Scalar<'a>,
    #[serde(borrow)]
    steps: Shape<'a, Step<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Step<'a> {
    #[serde(borrow)]
    source: Scalar<'a>,
    #[serde(borrow)]
    message: Scalar<'a>,
    #[serde(borrow)]
    timestamp: Scalar<'a>,
    #[serde(borrow)]
    tool_calls: Shape<'a, ToolCall<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ToolCall<'a> {
    #[serde(borrow)]
    function_name: Scalar<'a>,
}

#[derive(Default, Deserialize)]
struct Memories<'a> {
    #[serde(rename = "mem:memories", borrow, default)]
    memories: BTreeMap<String, Shape<'a, Memory<'a>>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Memory<'a> {
    #[serde(borrow)]
    title: Scalar<'a>,
    #[serde(borrow)]
    content: Scalar<'a>,
}

impl Format for Devin {
    fn read(&self, file: &mut OpenFile<'_>) -> io::Result<Vec<Draft>> {
        let text = file.whole()?;
        let text = String::from_utf8_lossy(&text);
        if self.memory.as_ref() == Some(&file.candidate.path) {
            return self.read_memories(&text, file);
        }
        let atif: Atif<'_> = serde_json::from_str(&text).map_err(|_| io::ErrorKind::InvalidData)?;
        if !atif.schema_version.text().starts_with("ATIF") {
            return Err(io::ErrorKind::InvalidData.into());
        }
        Ok(vec![self.read_transcript(&atif, file)])
    }
}

impl Devin {
    fn read_transcript(&self, atif: &Atif<'_>, file: &OpenFile<'_>) -> Draft {
        let mut draft = Draft::new(&file.stem(), &file.path());
        if !atif.session_id.text().is_empty() {
            atif.session_id.text().clone_into(&mut draft.id);
        }
        let words = atif.steps.objects().map(|step| step.message.text());
        draft.enter(&self.project_in(words));
        for step in atif.steps.objects() {
            let turn =
                Turn { text: step.message.text(), at: step.timestamp.time(), ..Turn::default() };
            match step.source.text() {
                "user" => {
                    draft.ask(turn, file.rules);
                }
                "agent" => draft.answer(turn, file.rules),
                _ => {}
            }
            for call in step.tool_calls.objects() {
                draft.tool(call.function_name.text());
            }
        }
        draft
    }

    /// What is kept in mind is one session of one turn each.
    fn read_memories(&self, text: &str, file: &OpenFile<'_>) -> io::Result<Vec<Draft>> {
        let memories: Memories<'_> =
            serde_json::from_str(text).map_err(|_| io::ErrorKind::InvalidData)?;
        let known =
            memories.memories.iter().filter_map(|(id, memory)| Some((id, memory.object()?)));
        Ok(known.map(|(id, memory)| self.read_memory(id, memory, file)).collect())
    }

    fn read_memory(&self, id: &str, memory: &Memory<'_>, file: &OpenFile<'_>) -> Draft {
        let mut draft = Draft::new(id, &format!("{}#{id}", file.path()));
        let words = format!("{}\n{}", memory.title.text(), memory.content.text());
        draft.enter(&self.project_in(std::iter::once(words.as_str())));
        draft.ask(Turn { text: words.trim(), ..Turn::default() }, file.rules);
        draft.end(file.candidate.modified);
        draft
    }

    /// The workspace whose name the words have; the longest name, where they have more.
    fn project_in<'t>(&self, words: impl Iterator<Item = &'t str>) -> String {
        let mut found = "";
        for text in words {
            for workspace in &self.workspaces {
                let name = base_name(workspace);
                if name.len() > base_name(found).len() && has_word(text, name) {
                    found = workspace;
                }
            }
        }
        found.to_owned()
    }
}

fn base_name(path: &str) -> &str {
    path.trim_end_matches(['/', '\\']).rsplit(['/', '\\']).next().unwrap_or_default()
}

fn has_word(text: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    text.match_indices(word).any(|(at, _)| {
        !text[..at].ends_with(is_part) && !text[at + word.len()..].starts_with(is_part)
    })
}

#[cfg(test)]
mod tests {
    use super::{base_name, has_word};

    #[test]
    fn a_project_is_known_by_its_whole_name() {
        assert_eq!(base_name("/w/shop/"), "shop");
        assert!(has_word("in /w/shop/src", "shop"));
        assert!(!has_word("in the workshop", "shop"));
        assert!(!has_word("in shop-admin", "shop"));
    }
}
