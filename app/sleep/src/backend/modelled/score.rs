//! Scoring by a rubric. The judge sees the task beside the rubric, and the answer as material only.

use super::{Modelled, Question};
use crate::backend::{BackendError, Judged, Judging, SleepRole};
use crate::judge::read_rubric;
use crate::prompts::JUDGE;
use crate::task::{ReferenceKind, TaskRecord};
use skillopt_domain::score::TaskScore;
use skillopt_engine::ports::Purpose;

const ONLY_INTENT: &str = "The answer does what the task asks, completely and correctly.";

impl Modelled {
    pub(super) async fn score(&self, judging: &Judging<'_>) -> Result<Judged, BackendError> {
        let Judging { task, response, draw } = *judging;
        let values = [
            ("__RUBRIC__", rubric(task)),
            ("__RESPONSE__", if response.is_empty() { "(nothing)" } else { response }),
            ("__INTENT__", task.intent.as_str()),
            ("__CONTEXT__", task.context_excerpt.as_str()),
        ];
        let rendered = self.prompts.render(&JUDGE, &values);
        let question = Question {
            kind: "judge",
            role: SleepRole::Judge,
            purpose: Purpose::Judge,
            draw,
            max_tokens: self.limits.judge,
        };
        // A judge that counts to 100 is asked again: no scale is guessed.
        let score = |text: &str| read_rubric(text).map_err(|error| error.to_string());
        let read = self.ask(question, &rendered, score).await?;
        let score = TaskScore { hard: read.value.hard, soft: read.value.soft };
        Ok(Judged { score, rationale: read.value.rationale, tokens: read.tokens })
    }
}

fn rubric(task: &TaskRecord) -> &str {
    match task.reference_kind {
        ReferenceKind::None => ONLY_INTENT,
        _ if task.reference.trim().is_empty() => ONLY_INTENT,
        _ => &task.reference,
    }
}
