//! Preparing what the optimizer reads: failures, criteria in plain words, what passes, what lost before. The source of a
//! check never goes in. Asks, and decides nothing about edits.

pub mod criteria;
pub mod reading;

use crate::backend::{
    Backend, BackendError, ContrastPair, Docs, Draw, LostEdit, Material, Phase, Proposed,
    Reflection, Shown,
};
use crate::dream::RolloutSet;
use crate::replay::Replayed;
use crate::task::{ReferenceKind, TaskRecord};
use criteria::{counted, in_words};
use skillopt_domain::night::edit::Target;
use skillopt_domain::outcome::Outcome;

/// Most failures of a question.
const MAX_FAILURES: usize = 8;
/// Most pairs of a question.
const MAX_PAIRS: usize = 6;
/// Most passed tasks that are named.
const MAX_PASSED: usize = 6;
/// Most lost edits that are told; the latest count.
const MAX_REJECTED: usize = 20;
const SHOWN_CHARS: usize = 160;
const PAIR_CHARS: usize = 200;
const WHY_CHARS: usize = 100;
const GUARD_CHARS: usize = 900;

/// What a reflection is about.
#[derive(Clone, Copy, Debug)]
pub struct ReflectOrder<'a> {
    /// The document that edits are wanted for.
    pub target: Target,
    /// Both documents.
    pub docs: Docs<'a>,
    /// The training tasks.
    pub tasks: &'a [TaskRecord],
    /// Their attempts, in the same order.
    pub replayed: &'a [Replayed],
    /// Most edits.
    pub budget: u32,
    /// What the person prefers.
    pub preferences: &'a str,
    /// Edits that lost, the oldest first.
    pub rejected: &'a [LostEdit],
}

/// Asks for edits from failures. No failures, no call.
///
/// # Errors
/// As [`Backend::reflect`].
pub async fn reflect(
    backend: &dyn Backend,
    order: &ReflectOrder<'_>,
) -> Result<Proposed, BackendError> {
    let failed: Vec<(&TaskRecord, &Replayed)> = order
        .tasks
        .iter()
        .zip(order.replayed)
        .filter(|(_, replayed)| replayed.has_failed())
        .collect();
    if failed.is_empty() {
        return Ok(without_edits(why_nothing_failed(order.replayed)));
    }
    let criteria = counted(failed.iter().map(|(_, replayed)| replayed.rationale.as_str()));
    let shown: Vec<(&TaskRecord, Shown)> = failed
        .iter()
        .take(MAX_FAILURES)
        .map(|(task, replayed)| (*task, shown(task, replayed)))
        .collect();
    ask(backend, order, Material::Failures(&shown), &criteria).await
}

/// Asks for edits from tasks that went well once and badly another time. No such tasks, no call.
///
/// # Errors
/// As [`Backend::reflect`].
pub async fn contrast(
    backend: &dyn Backend,
    order: &ReflectOrder<'_>,
    sets: &[RolloutSet<'_>],
) -> Result<Proposed, BackendError> {
    let mut sets: Vec<&RolloutSet<'_>> = sets.iter().filter(|set| set.spread() > 0.0).collect();
    sets.sort_by(|left, right| right.spread().total_cmp(&left.spread()));
    sets.truncate(MAX_PAIRS);
    let pairs: Vec<ContrastPair> = sets.iter().filter_map(|set| pair(set)).collect();
    if pairs.is_empty() {
        return Ok(without_edits("no task went well once and badly another time".to_owned()));
    }
    let rationales = sets.iter().filter_map(|set| Some(set.worst()?.rationale.as_str()));
    let criteria = counted(rationales);
    ask(backend, order, Material::Pairs(&pairs), &criteria).await
}

async fn ask(
    backend: &dyn Backend,
    order: &ReflectOrder<'_>,
    material: Material<'_>,
    criteria: &[String],
) -> Result<Proposed, BackendError> {
    let passed: Vec<String> = order
        .tasks
        .iter()
        .zip(order.replayed)
        .filter(|(_, replayed)| replayed.score().is_some_and(|score| score.hard.get() >= 1.0))
        .take(MAX_PASSED)
        .map(|(task, _)| cut(&task.intent, WHY_CHARS))
        .collect();
    let guard = guard(order.tasks);
    let rejected = &order.rejected[order.rejected.len().saturating_sub(MAX_REJECTED)..];
    let reflection = Reflection {
        target: order.target,
        docs: order.docs,
        budget: order.budget,
        material,
        passed: &passed,
        criteria,
        preferences: order.preferences,
        guard: &guard,
        rejected,
        draw: Draw::first(Phase::Reflect),
    };
    backend.reflect(&reflection).await
}

fn without_edits(reason: String) -> Proposed {
    Proposed { reason, tokens: Some(0), ..Proposed::default() }
}

fn why_nothing_failed(replayed: &[Replayed]) -> String {
    let n_scored = replayed.iter().filter(|replayed| replayed.score().is_some()).count();
    match (replayed.len(), n_scored) {
        (0, _) => "there is no training task".to_owned(),
        (_, 0) => "no training task could be scored".to_owned(),
        (_, n) => format!("all {n} scored training tasks pass already"),
    }
}

fn shown(task: &TaskRecord, replayed: &Replayed) -> Shown {
    let wanted = match task.reference_kind {
        // The answer of a training task is evidence; a rubric or a check is the judge's own.
        ReferenceKind::Exact if !task.reference.is_empty() => format!(
            "{}\n(expected: {})",
            cut(&task.intent, SHOWN_CHARS),
            cut(&task.reference, SHOWN_CHARS)
        ),
        _ => cut(&task.intent, SHOWN_CHARS),
    };
    let got = cut(&replayed.response, SHOWN_CHARS);
    Shown { wanted, got, why: why(replayed, SHOWN_CHARS) }
}

fn why(replayed: &Replayed, max_chars: usize) -> String {
    let truncated = matches!(replayed.outcome, Outcome::Scored { truncated: true, .. });
    let words = cut(&in_words(&replayed.rationale), max_chars);
    if truncated { format!("{words} (the answer was cut at the token limit)") } else { words }
}

fn pair(set: &RolloutSet<'_>) -> Option<ContrastPair> {
    let (good, bad) = (set.best()?, set.worst()?);
    Some(ContrastPair {
        wanted: cut(&set.task.intent, SHOWN_CHARS),
        good: cut(&good.response, PAIR_CHARS),
        bad: cut(&bad.response, PAIR_CHARS),
        why: why(bad, WHY_CHARS),
    })
}

/// What a benchmark says about answers, so that edits do not work against it.
fn guard(tasks: &[TaskRecord]) -> String {
    match tasks.first().map(|task| task.system.trim()) {
        None | Some("") => String::new(),
        Some(system) => format!(
            "Answers have to keep to what follows. No edit may change the form or language of answers, or have the \
             assistant ask the user back:\n{}",
            cut(system, GUARD_CHARS)
        ),
    }
}

/// The first characters of a text.
pub(crate) fn cut(text: &str, max_chars: usize) -> String {
    text.chars().take(max_chars).collect()
}

#[cfg(test)]
mod tests;
