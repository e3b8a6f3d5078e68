//! Codex: `<home>/sessions/YYYY/MM/DD/rollout-*.jsonl` and `<home>/archived_sessions/*.jsonl`. Newer versions write each
//! turn twice, as an event and as an item of the response: one of the two streams is taken.

mod record;

use self::record::Record;
use super::files::{self, Format, Known, OpenFile};
use super::json::{Shape, record};
use super::listing::{self, Take};
use super::report::{DropReason, LineReason, SourceReport};
use super::rules::Rules;
use super::session::{Draft, LONG, Turn, clip};
use super::{HarvestOptions, Instant, Source, Yielded, text};
use crate::redact::redact;
use std::collections::VecDeque;
use std::io;
use std::path::Path;

/// Prompts of a session that are held while its file is read.
const PROMPTS: usize = 1_000;

/// Types of records and events that hold no turn and no tool, and are known.
const SILENT: &[&str] = &[
    "reasoning",
    "agent_reasoning",
    "agent_reasoning_raw_content",
    "agent_reasoning_section_break",
    "token_count",
    "task_started",
    "task_complete",
    "turn_aborted",
    "function_call_output",
    "custom_tool_call_output",
    "local_shell_call_output",
    "compacted",
    "context_compacted",
    "exec_command_begin",
    "exec_command_output_delta",
    "patch_apply_begin",
    "ghost_snapshot",
    "web_search_begin",
    "turn_started",
    "turn_complete",
    "thread_rolled_back",
    "background_event",
    "stream_error",
    "error",
    "warning",
    "plan_update",
    "turn_diff",
    "entered_review_mode",
    "exited_review_mode",
    "item_started",
    "item_completed",
    "agent_message_delta",
    "session_configured",
    "compaction",
    "view_image_tool_call",
    "mcp_tool_call_begin",
];

/// Reads both stores of Codex.
pub(crate) fn harvest(options: &HarvestOptions, rules: &Rules, known: Known<'_>) -> Yielded {
    let Some(home) = &options.homes.codex else { return Yielded::not_configured(Source::Codex) };
    let stores: Vec<_> = ["sessions", "archived_sessions"]
        .iter()
        .map(|name| home.join(name))
        .filter(|store| store.is_dir())
        .collect();
    if stores.is_empty() {
        return Yielded::missing(Source::Codex, &home.join("sessions"));
    }
    let mut report = SourceReport::new(Source::Codex, home);
    let mut found = Vec::new();
    for store in stores {
        found.append(&mut listing::list(&store, &mut report, &take));
    }
    listing::sort(&mut found);
    files::harvest(&Codex, &found, report, rules, known)
}

fn take(path: &Path) -> Take {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    if name.ends_with(".jsonl") {
        Take::Read
    } else if name.ends_with(".jsonl.zst") || name.ends_with(".jsonl.gz") {
        Take::Compressed
    } else {
        Take::Ignore
    }
}

/// The format of a session file.
struct Codex;

/// A turn of one of the streams.
struct Said {
    text: String,
    at: Option<Instant>,
    folder: String,
}

/// One of the two ways in which turns are written down.
#[derive(Default)]
struct Stream {
    /// The first prompts; all are counted.
    prompts: Vec<Said>,
    n_prompts: usize,
    /// The last answers; all are counted.
    answers: VecDeque<Said>,
    n_answers: usize,
}

/// Both, while a file is read.
struct Reading {
    draft: Draft,
    events: Stream,
    items: Stream,
    folder: String,
}

impl Format for Codex {
    fn read(&self, file: &mut OpenFile<'_>) -> io::Result<Vec<Draft>> {
        let mut reading = Reading {
            draft: Draft::new(&file.stem(), &file.path()),
            events: Stream::default(),
            items: Stream::default(),
            folder: String::new(),
        };
        let mut spare = String::new();
        file.each_record(|line, _| {
            let record: Record<'_> = record(line, &mut spare)?;
            reading.take(&record)
        })?;
        Ok(vec![reading.finish(file.rules)])
    }
}

impl Reading {
    fn take(&mut self, record: &Record<'_>) -> Result<(), LineReason> {
        let payload = match &record.payload {
            Shape::Object(payload) => payload.as_ref(),
            Shape::Other if is_old_line(record) => record,
            _ => return Err(LineReason::WrongShape),
        };
        let at = record.at();
        self.draft.see(at);
        self.enter(record, payload);
        match payload.kind.text() {
            "user_message" => self.events.ask(payload.message.text(), at, &self.folder),
            "agent_message" => self.events.answer(payload.message.text(), at, &self.folder),
            "message" => self.take_item(payload, at),
            kind => {
                if let Some(tool) = payload.tool() {
                    self.draft.tool(tool);
                } else if !is_known(kind, record.kind.text()) {
                    return Err(LineReason::UnknownType);
                }
            }
        }
        Ok(())
    }

    /// What a record says about the session.
    fn enter(&mut self, record: &Record<'_>, payload: &Record<'_>) {
        if !payload.cwd.text().is_empty() {
            payload.cwd.text().clone_into(&mut self.folder);
            self.draft.enter(payload.cwd.text());
        }
        if let Some(git) = payload.git.object()
            && self.draft.branch.is_empty()
        {
            git.branch.text().clone_into(&mut self.draft.branch);
        }
        let is_head = payload.kind.text().is_empty() && !payload.id.text().is_empty();
        if is_head && (record.kind.text() == "session_meta" || std::ptr::eq(record, payload)) {
            payload.id.text().clone_into(&mut self.draft.id);
        }
        let origin = payload.source.object();
        if origin.is_some_and(|source| !matches!(source.subagent, Shape::Other)) {
            self.draft.dropped = Some(DropReason::Subagent);
        }
    }

    fn take_item(&mut self, payload: &Record<'_>, at: Option<Instant>) {
        let words = payload.words();
        match payload.role.text() {
            "user" => self.items.ask(without_dump(&words), at, &self.folder),
            "assistant" => self.items.answer(&words, at, &self.folder),
            _ => {}
        }
    }

    /// The stream that has more is the whole one; of the same size, the events, which hold no text of machines.
    fn finish(mut self, rules: &Rules) -> Draft {
        let (events, items) = (self.events, self.items);
        let (n_events, n_items) = (events.n_answers, items.n_answers);
        let is_events = events.n_prompts >= items.n_prompts;
        let (prompts, n_prompts) = if is_events {
            (events.prompts, events.n_prompts)
        } else {
            (items.prompts, items.n_prompts)
        };
        let n_uncounted = n_prompts - prompts.len();
        let answers = if n_events >= n_items { events.answers } else { items.answers };
        for said in prompts {
            self.draft.enter(&said.folder);
            self.draft.ask(said.turn(), rules);
        }
        self.draft.count_prompts(n_uncounted);
        for _ in answers.len()..n_events.max(n_items) {
            self.draft.answer(Turn::default(), rules);
        }
        for said in answers {
            self.draft.enter(&said.folder);
            self.draft.answer(said.turn(), rules);
        }
        self.draft
    }
}

impl Said {
    /// A giant is masked and clipped at once, so that few are held whole.
    fn new(text: &str, at: Option<Instant>, folder: &str) -> Self {
        let text = if text.len() > LONG { redact(text).text } else { text.to_owned() };
        Self { text: clip(text, LONG), at, folder: folder.to_owned() }
    }

    fn turn(&self) -> Turn<'_> {
        Turn { text: &self.text, at: self.at, ..Turn::default() }
    }
}

impl Stream {
    fn ask(&mut self, text: &str, at: Option<Instant>, folder: &str) {
        let Some(words) = text::intent(text) else { return };
        self.n_prompts += 1;
        if self.prompts.len() < PROMPTS {
            self.prompts.push(Said::new(&words, at, folder));
        }
    }

    fn answer(&mut self, text: &str, at: Option<Instant>, folder: &str) {
        if text.trim().is_empty() {
            return;
        }
        self.n_answers += 1;
        self.answers.push_back(Said::new(text, at, folder));
        if self.answers.len() > 5 {
            self.answers.pop_front();
        }
    }
}

/// Versions before `payload` put everything into the line.
fn is_old_line(record: &Record<'_>) -> bool {
    !record.kind.text().is_empty() || !record.id.text().is_empty()
}

/// Whether a record without turn and tool is one that there should be: by its own type, or by that of its line.
fn is_known(kind: &str, line: &str) -> bool {
    let is_frame = matches!(line, "session_meta" | "turn_context" | "compacted" | "");
    SILENT.contains(&kind) || (kind.is_empty() && is_frame)
}

/// What stands behind instructions and surroundings that Codex puts before the person's words.
fn without_dump(text: &str) -> &str {
    let start = text.trim_start();
    if start.starts_with("<codex_internal_context") {
        return "";
    }
    let is_dump = start.starts_with("<environment_context")
        || start.starts_with("<user_instructions")
        || start.starts_with("<INSTRUCTIONS")
        || start.starts_with("# AGENTS.md instructions");
    if !is_dump {
        return text;
    }
    ["</environment_context>", "</INSTRUCTIONS>", "</user_instructions>"]
        .iter()
        .filter_map(|close| start.rfind(close).map(|at| at + close.len()))
        .max()
        .map_or("", |end| start[end..].trim())
}

#[cfg(test)]
mod tests {
    use super::without_dump;

    #[test]
    fn only_what_stands_behind_a_dump_is_a_persons() {
        assert_eq!(without_dump("<environment_context>x</environment_context>\nFix it"), "Fix it");
        assert_eq!(
            without_dump("# AGENTS.md instructions for /w\n<INSTRUCTIONS>\nx\n</INSTRUCTIONS>"),
            ""
        );
        assert_eq!(without_dump("<codex_internal_context>x</codex_internal_context> y"), "");
        assert_eq!(without_dump("Fix <environment_context>"), "Fix <environment_context>");
    }
}
