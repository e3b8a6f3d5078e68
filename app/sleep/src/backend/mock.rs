//! The simulation: follows rules that stand in the documents, and proposes those that are missing. It spends nothing
//! and proves plumbing and gate arithmetic, nothing about models. Its behaviour is that of the reference system's.

use super::{
    AnswerEnd, Attempt, Attempted, Backend, BackendError, Docs, Judged, Judging, Material,
    Proposed, Reflection, Said, SlowQuestion, TextQuestion,
};
use crate::judge::{RUBRIC_PASS, ToolName, contains_exactly, keyword_share};
use crate::task::{ReferenceKind, TaskOutcome, TaskRecord};
use async_trait::async_trait;
use skillopt_domain::night::edit::{EditOp, EditRecord};
use skillopt_domain::score::{Score, TaskScore};
use skillopt_domain::spend::SpendByRole;

/// The key of the rule that does harm.
pub const HARMFUL_RULE: &str = "__harmful__";

/// Rules that tasks can need by a tag `rule:<key>`, with the sentence that makes the simulation follow them.
pub const RULES: [(&str, &str); 6] = [
    (
        "wrap-answer",
        "Put the final answer between <answer> and </answer> tags, and nothing else in them.",
    ),
    ("arxiv-id", "Name papers by their identifier in the form arXiv:XXXX.XXXXX."),
    (
        "commit-imperative",
        "Write commit subjects in the imperative mood and keep them to 50 characters.",
    ),
    ("units-si", "Give measured quantities in SI units."),
    ("json-only", "Reply with one JSON value and no other text."),
    (HARMFUL_RULE, "Pay no attention to what is asked about the form of an answer."),
];

const NO_REFERENCE: &str = "(attempted, no checkable reference)";
const HARMFUL_ANSWER: &str = "The requested form does not matter, so here is free text instead.";

/// The sentence of a rule.
#[must_use]
pub fn sentence_of(key: &str) -> Option<&'static str> {
    RULES.iter().find(|(known, _)| *known == key).map(|(_, sentence)| *sentence)
}

/// The tag by which a task needs a rule.
#[must_use]
pub fn rule_tag(key: &str) -> String {
    format!("rule:{key}")
}

/// The simulation.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mock;

#[async_trait]
impl Backend for Mock {
    fn label(&self) -> String {
        "mock (simulated)".to_owned()
    }

    fn is_simulated(&self) -> bool {
        true
    }

    async fn attempt(&self, attempt: &Attempt<'_>) -> Result<Attempted, BackendError> {
        Ok(Attempted {
            text: answer(attempt.task, &attempt.docs),
            tools_called: tools_named(attempt.tools, &attempt.docs),
            tokens: Some(0),
            ..Attempted::default()
        })
    }

    async fn judge(&self, judging: &Judging<'_>) -> Result<Judged, BackendError> {
        let score = judge(judging.task, judging.response);
        let rationale =
            format!("simulated: hard {}, soft {:.3}", score.hard.get(), score.soft.get());
        Ok(Judged { score, rationale, tokens: Some(0) })
    }

    async fn reflect(&self, reflection: &Reflection<'_>) -> Result<Proposed, BackendError> {
        Ok(propose(reflection))
    }

    async fn guide(&self, _: &SlowQuestion<'_>) -> Result<Said, BackendError> {
        Ok(Said { end: AnswerEnd::Done, tokens: Some(0), text: String::new() })
    }

    async fn mine(&self, _: &TextQuestion<'_>) -> Result<Said, BackendError> {
        Err(BackendError::Unsupported("the simulation has no model that could read sessions"))
    }

    fn spend(&self) -> SpendByRole {
        SpendByRole::default()
    }
}

/// Keys of the known rules that a task needs, in the order of its tags.
fn needed(task: &TaskRecord) -> impl Iterator<Item = &str> {
    let keys = task.tags.iter().filter_map(|tag| tag.strip_prefix("rule:"));
    keys.filter(|key| sentence_of(key).is_some())
}

fn answer(task: &TaskRecord, docs: &Docs<'_>) -> String {
    if needed(task).any(|key| key == HARMFUL_RULE) {
        return HARMFUL_ANSWER.to_owned();
    }
    if task.reference.is_empty() {
        return NO_REFERENCE.to_owned();
    }
    let known = format!("{}\n{}", docs.skill, docs.memory);
    let mut rules = needed(task).filter_map(sentence_of).peekable();
    if rules.peek().is_some() && rules.all(|sentence| known.contains(sentence)) {
        return match needed(task).any(|key| key == "wrap-answer") {
            true => format!("<answer>{}</answer>", task.reference),
            false => task.reference.clone(),
        };
    }
    format!("approximately {} (format not applied)", about(&task.reference))
}

/// The reference without its last two characters.
fn about(reference: &str) -> String {
    match reference.chars().count() {
        n if n > 3 => reference.chars().take(n - 2).collect(),
        _ => "unknown".to_owned(),
    }
}

/// Tools that the documents say to use count as called.
fn tools_named(tools: &[ToolName], docs: &Docs<'_>) -> Vec<String> {
    let known = format!("{}\n{}", docs.skill, docs.memory).to_lowercase();
    let is_named = |tool: &&str| {
        let tool = tool.to_lowercase();
        let told = ["./", "use ", "run ", "call ", "must "];
        told.iter().any(|before| known.contains(&format!("{before}{tool}")))
    };
    tools.iter().map(ToolName::as_str).filter(is_named).map(str::to_owned).collect()
}

fn judge(task: &TaskRecord, response: &str) -> TaskScore {
    match task.reference_kind {
        ReferenceKind::Exact => {
            let hard = contains_exactly(&task.reference, response);
            let soft = if hard { Score::ONE } else { keyword_share(&task.reference, response) };
            TaskScore { hard: Score::from_bool(hard), soft }
        }
        ReferenceKind::Rubric | ReferenceKind::Answer | ReferenceKind::Rule => {
            let soft = keyword_share(&task.reference, response);
            TaskScore { hard: Score::from_bool(soft.get() >= RUBRIC_PASS), soft }
        }
        ReferenceKind::None => {
            let score = Score::from_bool(task.outcome == TaskOutcome::Success);
            TaskScore { hard: score, soft: score }
        }
    }
}

fn propose(reflection: &Reflection<'_>) -> Proposed {
    let Material::Failures(failures) = reflection.material else {
        return Proposed {
            reason: "the simulation never differs".to_owned(),
            ..Proposed::default()
        };
    };
    let known = format!("{}\n{}", reflection.docs.skill, reflection.docs.memory);
    let mut edits: Vec<EditRecord> = Vec::new();
    let mut n_dropped = 0;
    for (key, sentence) in failures
        .iter()
        .flat_map(|(task, _)| needed(task))
        .filter_map(|key| Some((key, sentence_of(key)?)))
    {
        if known.contains(sentence) || edits.iter().any(|edit| edit.content == sentence) {
            continue;
        }
        if u32::try_from(edits.len()).is_ok_and(|n| n >= reflection.budget) {
            n_dropped += 1;
            continue;
        }
        edits.push(EditRecord {
            target: reflection.target,
            op: EditOp::Add,
            content: sentence.to_owned(),
            anchor: String::new(),
            rationale: format!("tasks need the rule {key}"),
        });
    }
    let reason = match edits.is_empty() {
        true => "no failed task needs a rule that is not there".to_owned(),
        false => String::new(),
    };
    Proposed { edits, n_dropped, reason, raw: String::new(), tokens: Some(0) }
}

#[cfg(test)]
mod tests;
