//! One task a session, by rules alone. Nothing is spent.

use super::{MAX_INTENT_CHARS, MIN_INTENT_CHARS, cut, requests, skill_hint, task_id};
use crate::digest::SessionDigest;
use crate::task::{TaskOutcome, TaskRecord};

const MAX_SOLUTION_CHARS: usize = 600;
const MAX_CONTEXT_CHARS: usize = 600;
const MAX_BULLET_CHARS: usize = 200;
const N_CONTEXT_PROMPTS: usize = 3;
const N_TOOLS: usize = 4;
/// From so many turns of the person on, a task was not simply done.
const MIXED_TURNS: u32 = 3;

/// A task for each session that asks for something, in order. Ids are those of the reference system.
#[must_use]
pub fn mine_heuristically(digests: &[SessionDigest]) -> Vec<TaskRecord> {
    digests.iter().filter_map(mine_one).collect()
}

fn mine_one(digest: &SessionDigest) -> Option<TaskRecord> {
    let first = requests(digest).next()?;
    let intent = cut(first, MAX_INTENT_CHARS);
    if intent.chars().count() < MIN_INTENT_CHARS {
        return None;
    }
    let last_answer = digest.assistant_finals.last().map(String::as_str).unwrap_or_default();
    Some(TaskRecord {
        id: task_id("task_", &format!("{}::{intent}", digest.project)),
        project: digest.project.clone(),
        context_excerpt: context(digest),
        attempted_solution: cut(last_answer, MAX_SOLUTION_CHARS),
        outcome: outcome(digest),
        tags: tags(digest),
        source_sessions: vec![digest.session_id.clone()],
        skill_hint: skill_hint(digest),
        intent,
        ..TaskRecord::default()
    })
}

pub(super) fn outcome(digest: &SessionDigest) -> TaskOutcome {
    let has = |sign: &str| digest.feedback_signals.iter().any(|signal| signal.starts_with(sign));
    if has("neg:") {
        TaskOutcome::Fail
    } else if has("pos:") {
        TaskOutcome::Success
    } else if digest.n_user_turns >= MIXED_TURNS {
        TaskOutcome::Mixed
    } else {
        TaskOutcome::Unknown
    }
}

/// Prompts 2 to 4 as bullets: what the person added.
fn context(digest: &SessionDigest) -> String {
    let bullets: Vec<String> = requests(digest)
        .skip(1)
        .take(N_CONTEXT_PROMPTS)
        .map(|prompt| format!("- {}", cut(prompt, MAX_BULLET_CHARS)))
        .collect();
    if bullets.is_empty() {
        return String::new();
    }
    cut(&format!("Follow-up constraints:\n{}", bullets.join("\n")), MAX_CONTEXT_CHARS)
}

fn tags(digest: &SessionDigest) -> Vec<String> {
    let tools: Vec<&str> = digest.tools_used.iter().take(N_TOOLS).map(String::as_str).collect();
    let mut tags = Vec::new();
    if !tools.is_empty() {
        tags.push(format!("tools:{}", tools.join("+")));
    }
    if !digest.git_branch.is_empty() {
        tags.push(format!("branch:{}", digest.git_branch));
    }
    tags
}
