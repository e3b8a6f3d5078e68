//! Claude Code: `<home>/projects/<slug>/<session>.jsonl`. The project is what records call their folder; the slug does
//! not decode to a path.

mod record;

use self::record::{Message, Record};
use super::files::{self, Format, Known, OpenFile};
use super::json::{Shape, record};
use super::listing::{self, Take};
use super::report::{LineReason, SourceReport};
use super::rules::Rules;
use super::session::{Draft, Tokens, Turn};
use super::{HarvestOptions, Source, Yielded};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::Path;

/// Days after which Claude Code deletes transcripts, where its settings do not say.
const CLEANUP_DAYS: u64 = 30;

/// Reads the store of Claude Code.
pub(crate) fn harvest(options: &HarvestOptions, rules: &Rules, known: Known<'_>) -> Yielded {
    let Some(home) = &options.homes.claude else { return Yielded::not_configured(Source::Claude) };
    let root = home.join("projects");
    if !root.is_dir() {
        return Yielded::missing(Source::Claude, &root);
    }
    let mut report = SourceReport::new(Source::Claude, &root);
    let found = listing::list(&root, &mut report, &take);
    report.remarks.extend(cleanup_warning(home, options));
    let format = ClaudeCode { project: options.project.clone() };
    files::harvest(&format, &found, report, rules, known)
}

fn take(path: &Path) -> Take {
    let name = path.file_name().map(OsStr::to_string_lossy).unwrap_or_default();
    let is_jsonl = path.extension() == Some(OsStr::new("jsonl"));
    match name.as_ref() {
        "subagents" => Take::Subagent,
        name if is_jsonl && name.starts_with("agent-") => Take::Subagent,
        _ if is_jsonl => Take::Read,
        _ => Take::Ignore,
    }
}

/// Transcripts are deleted before the look-back ends: what was not harvested by then is lost.
fn cleanup_warning(home: &Path, options: &HarvestOptions) -> Option<String> {
    let settings = fs::read(home.join("settings.json")).ok();
    let settings =
        settings.and_then(|text| serde_json::from_slice::<serde_json::Value>(&text).ok());
    let days = settings
        .and_then(|settings| settings.get("cleanupPeriodDays").and_then(serde_json::Value::as_u64))
        .unwrap_or(CLEANUP_DAYS);
    let since = options.window_start().map_or(0, super::Instant::as_ms);
    let lookback_days = u64::try_from((options.now.as_ms() - since) / 86_400_000).unwrap_or(0);
    if days >= lookback_days {
        return None;
    }
    let lookback = match options.window_start() {
        Some(_) => format!("look-back is {lookback_days}"),
        None => "the look-back has no limit".to_owned(),
    };
    Some(format!(
        "transcripts are deleted after {days} days, {lookback}: raise cleanupPeriodDays in {}",
        home.join("settings.json").display()
    ))
}

/// The format of a session file.
struct ClaudeCode {
    /// The project of the night: the folder of the store is known by the path that it comes from.
    project: String,
}

/// What the store calls the folder of a project.
fn slug_of(path: &str) -> String {
    path.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}

impl Format for ClaudeCode {
    fn read(&self, file: &mut OpenFile<'_>) -> io::Result<Vec<Draft>> {
        let mut draft = Draft::new(&file.stem(), &file.path());
        let rules = file.rules;
        let mut spare = String::new();
        file.each_record(|line, _| {
            let record: Record<'_> = record(line, &mut spare)?;
            take_record(&mut draft, &record, rules)
        })?;
        let folder = file.candidate.path.parent().and_then(Path::file_name);
        if folder.is_some_and(|folder| folder.to_string_lossy() == slug_of(&self.project)) {
            draft.enter_by_default(&self.project);
        }
        Ok(vec![draft])
    }
}

fn take_record(draft: &mut Draft, record: &Record<'_>, rules: &Rules) -> Result<(), LineReason> {
    if record.is_sidechain.is_true() {
        return Ok(());
    }
    match record.kind.text() {
        "user" | "assistant" => take_message(draft, record, rules),
        "file-history-snapshot" => {
            for name in record.snapshot.object().map(|files| files.0.as_slice()).unwrap_or_default()
            {
                draft.file(name);
            }
            Ok(())
        }
        "" => Err(LineReason::WrongShape),
        _ => Ok(()),
    }
}

fn take_message(draft: &mut Draft, record: &Record<'_>, rules: &Rules) -> Result<(), LineReason> {
    let message = record.message.object().ok_or(LineReason::WrongShape)?;
    if matches!(message.content, Shape::Other | Shape::Object(_)) {
        return Err(LineReason::WrongShape);
    }
    draft.enter(record.cwd.text());
    if draft.branch.is_empty() {
        record.git_branch.text().clone_into(&mut draft.branch);
    }
    if record.kind.text() == "user" {
        take_user(draft, record, message, rules);
    } else if !record.is_api_error_message.is_true() && message.model.text() != "<synthetic>" {
        take_assistant(draft, record, message, rules);
    }
    Ok(())
}

fn take_user(draft: &mut Draft, record: &Record<'_>, message: &Message<'_>, rules: &Rules) {
    let at = record.timestamp.time();
    draft.see(at);
    let is_machine =
        [&record.is_meta, &record.is_compact_summary, &record.is_visible_in_transcript_only];
    if is_machine.into_iter().any(super::json::Scalar::is_true) {
        return;
    }
    let words = message.words();
    draft.ask(Turn { text: &words, at, id: record.uuid.text(), ..Turn::default() }, rules);
}

fn take_assistant(draft: &mut Draft, record: &Record<'_>, message: &Message<'_>, rules: &Rules) {
    let at = record.timestamp.time();
    let usage = message.usage.object();
    let tokens = usage.map_or(Tokens::default(), |usage| Tokens {
        input: usage.input_tokens.count(),
        output: usage.output_tokens.count(),
    });
    let id = message.id.text();
    draft.answer(Turn { text: &message.words(), at, id, tokens }, rules);
    for block in message.content.objects().filter(|block| block.kind.text() == "tool_use") {
        draft.tool(block.name.text());
        if block.name.text() == "Skill" {
            draft.skill(block.input.object().map_or("", |input| input.skill.text()));
        }
    }
}
