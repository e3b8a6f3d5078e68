//! The prompts of a run on record: which, from where, with which text. A run goes on with those that it began with.

use crate::artifacts::PROGRAM;
use crate::ports::StoreError;
use crate::run::{Run, TrainError};
use serde_json::json;
use skillopt_domain::event::EventKind;
use skillopt_domain::prompt::{PromptOrigin, PromptUse};

const KEY: &str = "prompts";

/// Keeps the texts and says which they are. A resumed run must have the same ones: the steps that it has finished
/// rest on them.
pub(super) async fn announce_prompts(run: &Run<'_>) -> Result<(), TrainError> {
    let prompts = run.input.prompts.used(&run.input.config);
    if let Some(EventKind::PromptsChosen { prompts: earlier }) = run.ports.journal.find(KEY).await?
    {
        let changes = changes(&earlier, &prompts);
        return if changes.is_empty() {
            Ok(())
        } else {
            Err(TrainError::PromptsChanged { changes })
        };
    }
    let mut rows = Vec::new();
    for prompt in &prompts {
        let text = run.input.prompts.text(&prompt.name).ok_or_else(|| StoreError {
            message: format!("the text of the prompt {} is missing", prompt.name),
        })?;
        run.ports.journal.keep_text(text).await?;
        rows.push(json!({
            "name": prompt.name, "origin": prompt.origin, "sha256": prompt.hash, "text": text,
        }));
    }
    let record = json!({ "version": PROGRAM, "prompts": rows });
    run.write_json("prompts.json", &record).await?;
    run.emit(KEY, EventKind::PromptsChosen { prompts }).await
}

/// What differs, in words; empty for nothing.
fn changes(earlier: &[PromptUse], now: &[PromptUse]) -> String {
    let find =
        |list: &[PromptUse], name: &str| list.iter().find(|prompt| prompt.name == name).cloned();
    let changed = earlier.iter().filter_map(|old| match find(now, &old.name) {
        None => Some(format!("{} is gone", old.name)),
        Some(new) if new.hash != old.hash => Some(format!(
            "{} was {} from {} and is {} from {}",
            old.name,
            old.hash.short(),
            source(old.origin),
            new.hash.short(),
            source(new.origin)
        )),
        Some(_) => None,
    });
    let added = now
        .iter()
        .filter(|new| find(earlier, &new.name).is_none())
        .map(|new| format!("{} is new", new.name));
    changed.chain(added).collect::<Vec<_>>().join(", ")
}

fn source(origin: PromptOrigin) -> &'static str {
    match origin {
        PromptOrigin::Default => "the program",
        PromptOrigin::Benchmark => "the benchmark",
        PromptOrigin::User => "optimizer.prompts_dir",
    }
}
