//! `skillopt prompts`: which prompts there are, and whether a folder of one's own is sound. Nothing here starts or
//! spends anything.

use super::Exit;
use super::args::{
    CheckPromptsArgs, ExportPromptsArgs, ListPromptsArgs, PromptsCommand, ShowPromptArgs,
};
use super::output::Output;
use crate::host::prompt_set;
use anyhow::Context;
use serde_json::{Value, json};
use skillopt_benchmarks::searchqa::{self, SearchQa};
use skillopt_domain::config::UpdateMode;
use skillopt_domain::hash::Sha256Hex;
use skillopt_engine::prompts::{PLACEHOLDERS, PROMPTS};
use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;

const MODES: [UpdateMode; 3] =
    [UpdateMode::Patch, UpdateMode::RewriteFromSuggestions, UpdateMode::FullRewriteMinibatch];

pub(super) fn run(command: PromptsCommand, output: &Output) -> anyhow::Result<Exit> {
    match command {
        PromptsCommand::List(args) => list(&args, output),
        PromptsCommand::Show(args) => show(&args, output),
        PromptsCommand::Export(args) => export(&args, output),
        PromptsCommand::Check(args) => check(&args, output),
    }
}

/// A prompt as this command tells of it.
#[derive(Debug)]
struct Entry {
    name: &'static str,
    /// `optimizer`, `part` or `target`.
    kind: &'static str,
    /// The benchmark that it belongs to; `None` for the optimizer's.
    benchmark: Option<&'static str>,
    purpose: &'static str,
    placeholders: &'static [&'static str],
    required: &'static [&'static str],
    reply: &'static str,
    text: &'static str,
}

/// The registry, then what benchmarks say to the target.
fn entries() -> Vec<Entry> {
    let own = PROMPTS.iter().map(|spec| Entry {
        name: spec.name,
        kind: if spec.is_part() { "part" } else { "optimizer" },
        benchmark: None,
        purpose: spec.purpose,
        placeholders: spec.placeholders,
        required: spec.required,
        reply: spec.reply,
        text: spec.text,
    });
    let of_benchmarks = searchqa::PROMPTS.iter().map(|prompt| Entry {
        name: prompt.name,
        kind: "target",
        benchmark: Some(SearchQa::NAME),
        purpose: prompt.purpose,
        placeholders: &[],
        required: &[],
        reply: "",
        text: prompt.text,
    });
    own.chain(of_benchmarks).collect()
}

impl Entry {
    fn json(&self) -> Value {
        json!({
            "name": self.name, "kind": self.kind, "benchmark": self.benchmark, "purpose": self.purpose,
            "placeholders": self.placeholders, "required": self.required, "reply": self.reply,
            "sha256": Sha256Hex::of(self.text),
        })
    }
}

fn list(args: &ListPromptsArgs, output: &Output) -> anyhow::Result<Exit> {
    let entries = entries();
    if args.json {
        let rows: Vec<Value> = entries.iter().map(Entry::json).collect();
        output.line(&serde_json::to_string(&rows)?);
        return Ok(Exit::Done);
    }
    let width = entries.iter().map(|entry| entry.name.len()).max().unwrap_or_default();
    for entry in &entries {
        let of =
            entry.benchmark.map_or_else(String::new, |name| format!(" ({name}, not replaceable)"));
        output.line(&format!("{:width$}  {}{of}", entry.name, entry.purpose));
    }
    Ok(Exit::Done)
}

fn show(args: &ShowPromptArgs, output: &Output) -> anyhow::Result<Exit> {
    let entries = entries();
    let Some(entry) = entries.iter().find(|entry| entry.name == args.name) else {
        let names: Vec<&str> = entries.iter().map(|entry| entry.name).collect();
        output.error(&format!(
            "there is no prompt {}; the prompts are {}",
            args.name,
            names.join(", ")
        ));
        return Ok(Exit::Usage);
    };
    if args.json {
        let mut row = entry.json();
        row["text"] = entry.text.into();
        output.line(&row.to_string());
        return Ok(Exit::Done);
    }
    output.line(&format!("{}: {}", entry.name, entry.purpose));
    for name in entry.placeholders {
        let meaning = PLACEHOLDERS.iter().find(|(known, _)| known == name);
        let needed = if entry.required.contains(name) { " (needed)" } else { "" };
        output.line(&format!(
            "  {{{{ {name} }}}}{needed}: {}",
            meaning.map_or("", |(_, meaning)| meaning)
        ));
    }
    if !entry.reply.is_empty() {
        output.line(&format!("reply, one JSON object: {}", entry.reply));
    }
    output.line("");
    output.raw(entry.text.as_bytes());
    Ok(Exit::Done)
}

fn export(args: &ExportPromptsArgs, output: &Output) -> anyhow::Result<Exit> {
    let path = |name: &str| -> PathBuf { args.folder.join(format!("{name}.md")) };
    let taken: Vec<&str> =
        PROMPTS.iter().map(|spec| spec.name).filter(|name| path(name).exists()).collect();
    if !taken.is_empty() {
        output.error(&format!(
            "{} holds {} already; choose an empty folder, nothing is written over",
            args.folder.display(),
            taken.join(", ")
        ));
        return Ok(Exit::Usage);
    }
    let parts = args.folder.join("parts");
    std::fs::create_dir_all(&parts).with_context(|| format!("making {}", parts.display()))?;
    for spec in PROMPTS {
        let path = path(spec.name);
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&path)
            .with_context(|| format!("writing {}", path.display()))?;
        file.write_all(spec.text.as_bytes())
            .with_context(|| format!("writing {}", path.display()))?;
    }
    output.line(&format!("{}: {} prompts", args.folder.display(), PROMPTS.len()));
    output.note(
        "change what you like, remove the rest, check it with `skillopt prompts check`, and name the folder in \
         optimizer.prompts_dir",
    );
    Ok(Exit::Done)
}

/// 0: sound, 1: not, 2: there is no such folder.
fn check(args: &CheckPromptsArgs, output: &Output) -> anyhow::Result<Exit> {
    let folder = args.folder.display().to_string();
    if !args.folder.is_dir() {
        output.error(&format!("{folder} is no folder"));
        return Ok(Exit::Usage);
    }
    let modes = args.mode.map_or_else(|| MODES.to_vec(), |mode| vec![mode.into()]);
    let (own, problems) = match prompt_set(&folder, &[], &modes) {
        Ok(set) => (set.own(), Vec::new()),
        Err(problems) => (Vec::new(), problems),
    };
    if args.json {
        let report = json!({
            "folder": folder, "valid": problems.is_empty(), "own": own, "problems": problems,
        });
        output.line(&serde_json::to_string(&report)?);
    } else {
        for problem in &problems {
            output.error(&problem.to_string());
        }
        output.line(&match (problems.len(), &own[..]) {
            (0, []) => format!(
                "{folder}: no problems, and nothing that differs from the program's own prompts"
            ),
            (0, own) => format!("{folder}: no problems; your own: {}", own.join(", ")),
            (1, _) => format!("{folder}: 1 problem"),
            (n, _) => format!("{folder}: {n} problems"),
        });
    }
    Ok(if problems.is_empty() { Exit::Done } else { Exit::Failed })
}
