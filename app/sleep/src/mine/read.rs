//! Reads what the miner model proposed for a session.

use super::clean::clean_checks;
use super::heuristic::outcome;
use super::{MAX_INTENT_CHARS, MIN_INTENT_CHARS, cut, requests, skill_hint, task_id};
use crate::block::new_risks;
use crate::digest::SessionDigest;
use crate::task::{ReferenceKind, TaskOutcome, TaskRecord};
use serde_json::{Map, Value, json};
use skillopt_engine::reply::{ReplyError, parse_array};

/// Objects of a reply that are looked at.
const MAX_CANDIDATES: usize = 3;
const MAX_RUBRIC_CHARS: usize = 2000;

/// What a reply came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MinedReply {
    /// The tasks.
    pub tasks: Vec<TaskRecord>,
    /// What was left out, and why.
    pub dropped: Vec<Dropped>,
}

/// A proposal, or a part of one, that was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dropped {
    /// The intent as far as there is one, shortened.
    pub intent: String,
    /// Why.
    pub reason: DropReason,
}

/// Why a proposal was left out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DropReason {
    /// There is no intent, or a very short one.
    #[error("the intent is shorter than 8 characters")]
    NoIntent,
    /// Neither a rubric nor a check can be used.
    #[error("there is neither a rubric nor a check that can be used")]
    NoJudge,
    /// A check cannot be used; the others are kept.
    #[error("a check cannot be used: {0}")]
    Check(String),
    /// An address, a command or a permission comes from somewhere else than the person.
    #[error("it holds `{0}`, which the person did not write")]
    Foreign(String),
    /// There are more than three.
    #[error("a session gives three tasks at most")]
    TooMany,
}

/// Reads a reply.
///
/// # Errors
/// [`ReplyError`] when it holds no array of objects.
pub fn read_miner_reply(digest: &SessionDigest, reply: &str) -> Result<MinedReply, ReplyError> {
    let mut mined = MinedReply::default();
    for (at, candidate) in parse_array(reply)?.into_iter().enumerate() {
        let intent = candidate.get("intent").and_then(Value::as_str).unwrap_or_default().trim();
        let intent = cut(intent, MAX_INTENT_CHARS);
        let mut drop = |reason| mined.dropped.push(Dropped { intent: cut(&intent, 80), reason });
        if at >= MAX_CANDIDATES {
            drop(DropReason::TooMany);
            continue;
        }
        match read_candidate(digest, &candidate, &intent, &mut drop) {
            Ok(task) => mined.tasks.push(task),
            Err(reason) => drop(reason),
        }
    }
    Ok(mined)
}

fn read_candidate(
    digest: &SessionDigest,
    candidate: &Map<String, Value>,
    intent: &str,
    drop: &mut impl FnMut(DropReason),
) -> Result<TaskRecord, DropReason> {
    if intent.chars().count() < MIN_INTENT_CHARS {
        return Err(DropReason::NoIntent);
    }
    let rubric = candidate.get("rubric").and_then(Value::as_str).unwrap_or_default().trim();
    let rubric = cut(rubric, MAX_RUBRIC_CHARS);
    // A literal check can be passed by a skill that says the words, so a rubric goes before checks.
    let checks = candidate.get("checks").filter(|_| rubric.is_empty()).unwrap_or(&Value::Null);
    refuse_foreign(digest, &[intent, &rubric], checks)?;
    let (checks, unusable) = clean_checks(checks);
    unusable.into_iter().for_each(|problem| drop(DropReason::Check(problem)));
    if rubric.is_empty() && checks.is_empty() {
        return Err(DropReason::NoJudge);
    }
    let is_rule = rubric.is_empty();
    Ok(TaskRecord {
        id: task_id("llm_", &format!("{}{intent}", digest.project)),
        project: digest.project.clone(),
        intent: intent.to_owned(),
        outcome: satisfied(candidate).unwrap_or_else(|| outcome(digest)),
        reference_kind: if is_rule { ReferenceKind::Rule } else { ReferenceKind::Rubric },
        judge: if is_rule { json!({"kind": "rule", "checks": checks}) } else { Value::Null },
        reference: rubric,
        tags: vec!["mined:llm".into()],
        source_sessions: vec![digest.session_id.clone()],
        skill_hint: skill_hint(digest),
        ..TaskRecord::default()
    })
}

/// What the agent read or said must not become something to ask for: an address, a command or a permission has to stand
/// in the person's own words.
fn refuse_foreign(
    digest: &SessionDigest,
    texts: &[&str],
    checks: &Value,
) -> Result<(), DropReason> {
    let asked: Vec<&str> = requests(digest).collect();
    let args =
        checks.as_array().into_iter().flatten().filter_map(|check| check.get("arg")?.as_str());
    let text: Vec<&str> = texts.iter().copied().chain(args).collect();
    match new_risks(&asked.join("\n"), &text.join("\n"), &[]).first() {
        Some(risk) => Err(DropReason::Foreign(risk.found().to_owned())),
        None => Ok(()),
    }
}

fn satisfied(candidate: &Map<String, Value>) -> Option<TaskOutcome> {
    let satisfied = candidate.get("satisfied")?.as_bool()?;
    Some(if satisfied { TaskOutcome::Success } else { TaskOutcome::Fail })
}
