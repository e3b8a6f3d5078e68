//! Stage 2: the optimizer reads scored trajectories in minibatches and proposes patches.
//!
//! Only scored trajectories are shown. A refusal or a broken system is nothing that a skill did.

use crate::minibatch::{Grouping, Minibatch, Minibatches, has_passed};
use crate::patch::{Patch, read_notes, read_patch, text};
use crate::ports::{Purpose, RolloutRecord};
use crate::prompts::{Prompt, PromptError, PromptSet, PromptVars, section};
use crate::python;
use crate::reply::Parsed;
use crate::run::{Run, TrainError, Work, in_order, room_beside};
use crate::structured::{Asked, Question, ask, remember_failure};
use crate::trajectory::{Feedback, LEAST_WEIGHT};
use serde_json::{Value, json};
use skillopt_domain::config::{AppendixSource, Optimizer, RunConfig, UpdateMode};
use skillopt_domain::edit::SourceType;
use skillopt_domain::event::{EventKind, FailurePattern, ReflectionSummary};
use skillopt_domain::ids::TaskId;
use skillopt_domain::outcome::Sample;
use skillopt_domain::run::{Phase, Stage};
use skillopt_domain::skill::SkillDoc;
use std::fmt::Write;

/// A batch to reflect on.
#[derive(Debug)]
pub(crate) struct ReflectOrder<'a> {
    pub(crate) step: u32,
    pub(crate) briefing: Briefing<'a>,
    pub(crate) batches: &'a [ScoredBatch],
    pub(crate) sample: Sample,
}

/// What every analyst of a step is told beside the trajectories.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Briefing<'a> {
    pub(crate) skill: &'a SkillDoc,
    /// `None` for no limit.
    pub(crate) max_items: Option<u32>,
    pub(crate) previous_steps: &'a str,
    /// The optimizer's memory of earlier epochs; empty for none.
    pub(crate) memory: &'a str,
}

/// Rollouts of one batch with the seed that shuffles them.
#[derive(Clone, Debug)]
pub(crate) struct ScoredBatch {
    pub(crate) seed: u64,
    pub(crate) dir: String,
    pub(crate) records: Vec<RolloutRecord>,
}

/// Patches by source, and what was found.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reflection {
    pub(crate) failure: Vec<Patch>,
    pub(crate) success: Vec<Patch>,
    pub(crate) summary: ReflectionSummary,
}

struct Reading {
    patch: Patch,
    notes: Vec<String>,
    patterns: Vec<FailurePattern>,
    success_patterns: Vec<String>,
    /// Support of items that do not name theirs, by the rules of the Python system.
    claimed: Option<u32>,
}

/// Reads all minibatches of all batches, `gradient.analyst_workers` at once.
pub(crate) async fn reflect(
    run: &Run<'_>,
    order: &ReflectOrder<'_>,
) -> Result<Reflection, TrainError> {
    run.check_cancelled()?;
    let (config, prompts) = (&run.input.config, &run.input.prompts);
    let failure = Frame::of(config, prompts, &order.briefing, SourceType::Failure)?;
    let success = Frame::of(config, prompts, &order.briefing, SourceType::Success)?;
    let grouping = grouping(config, [&failure, &success]);
    let mut minibatches = Minibatches::default();
    for batch in order.batches {
        minibatches.add(batch, &grouping);
    }
    warn_about_room(run, grouping.room).await?;
    let phase = Phase::Step { step: order.step, stage: Stage::Reflect };
    let ticker = run.tick(phase, minibatches.all.len());
    let (ticker, failure, success) = (&ticker, &failure, &success);
    let readings = minibatches.all.iter().map(|minibatch| -> Work<'_, Asked<Reading>> {
        let frame = match minibatch.source {
            SourceType::Failure => failure,
            SourceType::Success => success,
        };
        Box::pin(async move {
            let result = read_minibatch(run, order, frame, minibatch).await;
            ticker.done(matches!(result, Ok(Asked::Lost { .. } | Asked::Failed { .. })));
            result
        })
    });
    let asked = in_order(config.gradient.analyst_workers, readings).await?;
    stop_when_dead(&asked)?;
    let mut reflection = collect(run, &minibatches, asked, order.briefing.max_items).await?;
    if run.is_python() {
        let patterns = std::mem::take(&mut reflection.summary.patterns);
        let described = patterns.into_iter().map(|pattern| pattern.pattern).collect();
        let records = order.batches.iter().flat_map(|batch| &batch.records);
        let outcomes = records.map(|record| &record.outcome);
        reflection.summary.patterns = python::failure_patterns(outcomes, described);
    }
    Ok(reflection)
}

/// How the trajectories of a step are put together.
pub(crate) fn grouping(config: &RunConfig, [failure, success]: [&Frame; 2]) -> Grouping {
    Grouping {
        size: usize::try_from(config.gradient.minibatch_size).unwrap_or(1).max(1),
        failure_only: config.gradient.failure_only,
        feedback: Feedback::of(&config.gradient),
        room: [failure, success].map(|frame| frame.room(&config.optimizer)),
        has_passed: if config.is_python() { passed_in_python } else { has_passed },
    }
}

fn passed_in_python(record: &RolloutRecord) -> Option<bool> {
    python::is_failure(&record.outcome).map(|failed| !failed)
}

/// What all calls over one side have in common: all but the trajectories.
pub(crate) struct Frame {
    purpose: Purpose,
    pub(crate) system: String,
    pub(crate) head: String,
    section: &'static str,
    wants_notes: bool,
}

impl Frame {
    pub(crate) fn of(
        config: &RunConfig,
        prompts: &PromptSet,
        briefing: &Briefing<'_>,
        source: SourceType,
    ) -> Result<Self, PromptError> {
        let skill_aware = config.optimizer.skill_aware();
        let vars = PromptVars {
            mode: config.optimizer.update_mode,
            max_items: briefing.max_items,
            skill_aware: skill_aware.is_some(),
            notes_from_success: skill_aware
                .is_some_and(|settings| settings.source == AppendixSource::Both),
            n_tasks: 0,
        };
        let (prompt, purpose, section, wants_notes) = match source {
            SourceType::Failure => (
                Prompt::AnalystFailure,
                Purpose::AnalystFailure,
                "failed_trajectories",
                vars.skill_aware,
            ),
            SourceType::Success => (
                Prompt::AnalystSuccess,
                Purpose::AnalystSuccess,
                "successful_trajectories",
                vars.notes_from_success,
            ),
        };
        let system = prompts.system_message(prompt, vars)?;
        Ok(Self { purpose, system, head: head(briefing, vars.mode), section, wants_notes })
    }

    /// What is left for trajectories.
    fn room(&self, optimizer: &Optimizer) -> usize {
        room_beside(optimizer, &[&self.system, &self.head])
    }
}

/// Says once a run that skill and prompts leave hardly any room. The calls are made all the same, with trajectories cut
/// to almost nothing: what the model makes of them is better than silence.
async fn warn_about_room(run: &Run<'_>, room: [usize; 2]) -> Result<(), TrainError> {
    if room.into_iter().min().unwrap_or_default() >= LEAST_WEIGHT {
        return Ok(());
    }
    let message = format!(
        "model.optimizer_max_context_tokens is {}, and prompt and skill take nearly all of it: trajectories are cut to \
         almost nothing",
        run.input.config.optimizer.max_context_tokens
    );
    let event = EventKind::Warning { code: "context".into(), message };
    run.emit("warning/context", event).await
}

/// The user message up to the trajectories.
fn head(briefing: &Briefing<'_>, mode: UpdateMode) -> String {
    let mut user = section("current_skill", briefing.skill.text());
    let _ = writeln!(user, "\n{}\n", budget_line(mode, briefing.max_items));
    for (name, text) in
        [("previous_steps", briefing.previous_steps), ("optimizer_memory", briefing.memory)]
    {
        if !text.is_empty() {
            user.push_str(&section(name, text));
            user.push('\n');
        }
    }
    user
}

/// An optimizer that cannot be reached must not look like one that has no idea.
fn stop_when_dead(asked: &[Asked<Reading>]) -> Result<(), TrainError> {
    let failures = || {
        asked.iter().filter_map(|asked| match asked {
            Asked::Failed { error, .. } => Some(error),
            Asked::Answer { .. } | Asked::Lost { .. } => None,
        })
    };
    match failures().next() {
        Some(sample) if failures().count() == asked.len() => Err(TrainError::TooManyErrors {
            errors: count_of(asked),
            attempts: count_of(asked),
            sample: format!("optimizer: {sample}"),
        }),
        _ => Ok(()),
    }
}

async fn read_minibatch(
    run: &Run<'_>,
    order: &ReflectOrder<'_>,
    frame: &Frame,
    minibatch: &Minibatch<'_>,
) -> Result<Asked<Reading>, TrainError> {
    let mode = run.input.config.optimizer.update_mode;
    let question = Question {
        purpose: frame.purpose,
        phase: format!("step_{:04}", order.step),
        system: frame.system.clone(),
        user: format!("{}{}", frame.head, section(frame.section, &minibatch.text)),
        sample: order.sample.clone(),
        max_tokens: reply_limit(run),
    };
    let tasks: Vec<TaskId> =
        minibatch.records.iter().map(|record| record.outcome.task.clone()).collect();
    ask(run, question, |parsed| {
        let patch = match run.is_python() {
            true => python::read_patch(&parsed, mode)?,
            false => read_patch(&parsed, mode)?,
        };
        let mut reading = read_reply(&parsed, &tasks, patch);
        if run.is_python() {
            read_as_python(&mut reading, &parsed, minibatch.source);
        }
        reading.notes.retain(|_| frame.wants_notes);
        Ok(reading)
    })
    .await
}

/// Most tokens of a reply that holds items of the mode at hand; `None` for those of the role.
pub(crate) fn reply_limit(run: &Run<'_>) -> Option<u32> {
    let optimizer = &run.input.config.optimizer;
    (optimizer.update_mode == UpdateMode::FullRewriteMinibatch)
        .then_some(optimizer.rewrite_max_tokens)
}

fn budget_line(mode: UpdateMode, max_items: Option<u32>) -> String {
    match (mode, max_items) {
        (UpdateMode::FullRewriteMinibatch, _) => {
            "Write one complete text that can take the place of the current skill.".to_owned()
        }
        (_, Some(most)) => format!("Propose at most {most} {}s.", mode.item_word()),
        (_, None) => {
            format!(
                "The number of {}s is not limited; propose what the evidence bears.",
                mode.item_word()
            )
        }
    }
}

fn read_reply(parsed: &Parsed, tasks: &[TaskId], patch: Patch) -> Reading {
    let list = |key: &str| parsed.object.get(key).and_then(Value::as_array).into_iter().flatten();
    let patterns = list("failure_summary").filter_map(Value::as_object).map(|pattern| {
        let name = text(pattern, "failure_type");
        let description = text(pattern, "description");
        let count = pattern.get("count").and_then(Value::as_u64).unwrap_or_default();
        FailurePattern {
            pattern: if name.is_empty() { description } else { format!("{name}: {description}") },
            count: u32::try_from(count).unwrap_or(u32::MAX).min(count_of(tasks)),
            tasks: tasks.to_vec(),
        }
    });
    Reading {
        claimed: None,
        patch,
        notes: read_notes(&parsed.object),
        patterns: patterns.collect(),
        success_patterns: list("success_patterns")
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect(),
    }
}

/// What the Python system takes otherwise: patterns of failures only, and the reply's own count of trajectories.
fn read_as_python(reading: &mut Reading, parsed: &Parsed, source: SourceType) {
    reading.claimed = python::claimed_support(&parsed.object);
    if source == SourceType::Success {
        reading.patterns.clear();
    }
    for pattern in &mut reading.patterns {
        if let Some(name) = pattern.pattern.strip_suffix(": ") {
            pattern.pattern = name.to_owned();
        }
    }
}

fn count_of<T>(items: &[T]) -> u32 {
    u32::try_from(items.len()).unwrap_or(u32::MAX)
}

/// Sorts the readings by source. A reply counts with as many items as it was allowed. The support of an item
/// is the size of its minibatch, whatever the model says.
async fn collect(
    run: &Run<'_>,
    minibatches: &Minibatches<'_>,
    asked: Vec<Asked<Reading>>,
    max_items: Option<u32>,
) -> Result<Reflection, TrainError> {
    let mut reflection = Reflection::default();
    reflection.summary.n_split = minibatches.n_split;
    reflection.summary.n_cut = minibatches.n_cut;
    for (minibatch, asked) in minibatches.all.iter().zip(asked) {
        let summary = &mut reflection.summary;
        match minibatch.source {
            SourceType::Failure => summary.n_failure_minibatches += 1,
            SourceType::Success => summary.n_success_minibatches += 1,
        }
        let mut reading = match asked {
            Asked::Answer { value, reasked, repaired } => {
                summary.n_reasked += u32::from(reasked);
                summary.n_repaired += u32::from(repaired);
                value
            }
            Asked::Lost { reason, reasked } => {
                summary.n_reasked += u32::from(reasked);
                summary.lost.push(reason);
                continue;
            }
            Asked::Failed { call, error } => {
                remember_failure(run, &call, &error).await?;
                summary.lost.push(error);
                continue;
            }
        };
        let most = match run.input.config.optimizer.update_mode {
            UpdateMode::FullRewriteMinibatch if !run.is_python() => Some(1),
            _ => max_items,
        };
        if let Some(most) = most {
            reading.patch.items.truncate(usize::try_from(most).unwrap_or(usize::MAX));
        }
        for item in &mut reading.patch.items {
            *item.source_mut() = minibatch.source;
            let support = reading.claimed.unwrap_or_else(|| count_of(&minibatch.records));
            if !run.is_python() || item.support() == 0 {
                *item.support_mut() = support;
            }
        }
        write_patch_file(run, minibatch, &reading).await?;
        add(&mut reflection, minibatch.source, reading);
    }
    if !run.is_python() {
        reflection.summary.patterns.sort_by_key(|pattern| std::cmp::Reverse(pattern.count));
    }
    Ok(reflection)
}

fn add(reflection: &mut Reflection, source: SourceType, reading: Reading) {
    let summary = &mut reflection.summary;
    summary.patterns.extend(reading.patterns);
    for pattern in reading.success_patterns {
        if !summary.success_patterns.contains(&pattern) {
            summary.success_patterns.push(pattern);
        }
    }
    summary.lapse_notes.extend(reading.notes);
    summary.n_edits += count_of(&reading.patch.items);
    if reading.patch.items.is_empty() {
        return;
    }
    match source {
        SourceType::Failure => {
            summary.n_failure_patches += 1;
            reflection.failure.push(reading.patch);
        }
        SourceType::Success => {
            summary.n_success_patches += 1;
            reflection.success.push(reading.patch);
        }
    }
}

async fn write_patch_file(
    run: &Run<'_>,
    minibatch: &Minibatch<'_>,
    reading: &Reading,
) -> Result<(), TrainError> {
    let summary: Vec<Value> = reading
        .patterns
        .iter()
        .map(|pattern| {
            let (kind, description) =
                pattern.pattern.split_once(": ").unwrap_or(("", &pattern.pattern));
            json!({"failure_type": kind, "count": pattern.count, "description": description})
        })
        .collect();
    let mut file = json!({
        "batch_size": minibatch.records.len(),
        "patch": reading.patch.to_json(run.input.config.optimizer.update_mode),
        "source_type": minibatch.source,
    });
    match minibatch.source {
        SourceType::Failure => file["failure_summary"] = Value::Array(summary),
        SourceType::Success => file["success_patterns"] = json!(reading.success_patterns),
    }
    if !reading.notes.is_empty() {
        file["appendix_notes"] = json!(reading.notes);
    }
    run.write_json(&minibatch.file, &file).await
}
