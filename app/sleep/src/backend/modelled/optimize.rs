//! Asking the optimizer for edits and for guidance.

use super::{Modelled, Question};
use crate::backend::{
    AnswerEnd, BackendError, ContrastPair, LostEdit, Material, Proposed, Reflection, Said, Shown,
    SleepRole, SlowQuestion,
};
use crate::prompts::{CONTRAST, PromptSpec, REFLECT, Rendered, SLOW_UPDATE};
use crate::reflect::reading::{ReadEdits, read_edits};
use crate::task::TaskRecord;
use serde_json::Value;
use skillopt_domain::night::edit::Target;
use skillopt_engine::ports::Purpose;
use skillopt_engine::prompts::{barred, one_line};
use skillopt_engine::reply::parse_object;
use std::fmt::Write;

impl Modelled {
    pub(super) async fn propose(&self, order: &Reflection<'_>) -> Result<Proposed, BackendError> {
        let (spec, purpose) = match order.material {
            Material::Failures(_) => (&REFLECT, Purpose::Reflect),
            Material::Pairs(_) => (&CONTRAST, Purpose::Contrast),
        };
        let question = Question {
            kind: spec.name,
            role: SleepRole::Optimizer,
            purpose,
            draw: order.draw,
            max_tokens: self.limits.reflect,
        };
        let read = |text: &str| read_edits(text, order.target);
        match self.ask(question, &self.prompt_of(spec, order), read).await {
            Ok(read) => Ok(within_budget(order.budget, read.value, read.raw, read.tokens)),
            Err(BackendError::Unusable(reason)) => {
                Ok(Proposed { reason, tokens: None, ..Proposed::default() })
            }
            Err(error) => Err(error),
        }
    }

    fn prompt_of(&self, spec: &PromptSpec, order: &Reflection<'_>) -> Rendered {
        let budget = order.budget.to_string();
        let (criteria, rejected) = (listed(order.criteria), rejected(order.rejected));
        let passed = listed(order.passed);
        let mut values = vec![
            ("__EDIT_BUDGET__", budget.as_str()),
            ("__TARGET__", word(order.target)),
            (
                "__CUR_DOC__",
                match order.docs.of(order.target) {
                    "" => "(empty)",
                    text => text,
                },
            ),
            ("__GUARD__", order.guard),
            ("__CRITERIA__", &criteria),
            ("__PREFS__", order.preferences),
            ("__REJECTED__", &rejected),
            ("__PASSED__", &passed),
        ];
        let material = match order.material {
            Material::Failures(failures) => failures_text(failures),
            Material::Pairs(pairs) => pairs_text(pairs),
        };
        values.extend([("__FAILURES__", material.as_str()), ("__PAIRS__", material.as_str())]);
        self.prompts.render(spec, &values)
    }

    pub(super) async fn write_guidance(
        &self,
        asked: &SlowQuestion<'_>,
    ) -> Result<Said, BackendError> {
        let question = Question {
            kind: "slow_update",
            role: SleepRole::Optimizer,
            purpose: Purpose::SlowUpdate,
            draw: asked.draw,
            max_tokens: self.limits.reflect,
        };
        let values = [
            ("__PREVIOUS_SKILL__", asked.previous),
            ("__CURRENT_SKILL__", asked.current),
            ("__GUIDANCE__", asked.guidance),
            ("__COMPARISON__", asked.comparison),
        ];
        let rendered = self.prompts.render(&SLOW_UPDATE, &values);
        let read = self.ask(question, &rendered, read_guidance).await?;
        Ok(Said { text: read.value, end: AnswerEnd::Done, tokens: read.tokens })
    }
}

fn within_budget(budget: u32, read: ReadEdits, raw: String, tokens: Option<u64>) -> Proposed {
    let ReadEdits { mut edits, mut n_dropped } = read;
    let room = usize::try_from(budget).unwrap_or(usize::MAX);
    n_dropped += u32::try_from(edits.len().saturating_sub(room)).unwrap_or(u32::MAX);
    edits.truncate(room);
    let reason = match (edits.is_empty(), n_dropped) {
        (false, _) => String::new(),
        (true, 0) => "the optimizer proposed no edit".to_owned(),
        (true, n) => format!("the optimizer proposed {n} edits without content"),
    };
    Proposed { edits, n_dropped, reason, raw, tokens }
}

fn read_guidance(text: &str) -> Result<String, String> {
    let object = parse_object(text).map_err(|error| error.to_string())?.object;
    let guidance = object.get("guidance").and_then(Value::as_str);
    guidance.map(|text| text.trim().to_owned()).ok_or_else(|| "`guidance` is no text".to_owned())
}

fn word(target: Target) -> &'static str {
    match target {
        Target::Skill => "skill",
        Target::Memory => "memory",
    }
}

fn listed(items: &[String]) -> String {
    items.iter().map(|item| format!("- {}\n", one_line(item))).collect()
}

fn rejected(lost: &[LostEdit]) -> String {
    let mut text = String::new();
    for LostEdit { edit, reason } in lost {
        let what = if edit.content.is_empty() { &edit.anchor } else { &edit.content };
        let _ = writeln!(text, "- {:?} for the {}: {}", edit.op, word(edit.target), one_line(what));
        if !reason.is_empty() {
            let why = barred(&one_line(reason));
            let _ = writeln!(text, "  A person turned it down and gave this reason:\n{why}");
        }
    }
    match text.is_empty() {
        true => text,
        false => format!(
            "These were tried and did not help, or a person turned them down. Do not propose them again:\n{text}"
        ),
    }
}

fn failures_text(failures: &[(&TaskRecord, Shown)]) -> String {
    let mut text = String::new();
    for (at, (_, shown)) in failures.iter().enumerate() {
        let Shown { wanted, got, why } = shown;
        let _ = writeln!(text, "### Failure {}\nWanted:\n{}", at + 1, barred(wanted));
        let _ = writeln!(text, "Got:\n{}\nWhy it failed:\n{}", barred(got), barred(why));
    }
    text
}

fn pairs_text(pairs: &[ContrastPair]) -> String {
    let mut text = String::new();
    for (at, pair) in pairs.iter().enumerate() {
        let _ = writeln!(text, "### Task {}\n{}", at + 1, barred(&pair.wanted));
        let _ = writeln!(text, "Better:\n{}\nWorse:\n{}", barred(&pair.good), barred(&pair.bad));
        let _ = writeln!(text, "What the worse one misses:\n{}", barred(&pair.why));
    }
    text
}
