//! Guidance over nights: what two versions of a skill did to the same tasks, and what follows from it. The guidance is
//! a candidate like any other; who asks for it gates it.

use crate::backend::{Backend, BackendError, Draw, Phase, SlowQuestion};
use crate::block::{SlowUpdateRefusal, slow_update, with_slow_update};
use crate::reflect::cut;
use crate::replay::Replayed;
use crate::task::TaskRecord;
use std::fmt::Write;

/// Most tasks of each kind that are named.
const MAX_NAMED: usize = 8;
const NAME_CHARS: usize = 160;

/// How tasks moved between two versions. Only tasks that were scored with both count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Movement {
    /// Failed, then passed.
    pub improved: Vec<String>,
    /// Passed, then failed.
    pub regressed: Vec<String>,
    /// Failed both times.
    pub persistent_fail: Vec<String>,
    /// Passed both times.
    pub stable_success: Vec<String>,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SlowProposal {
    /// There is nothing to say, and why.
    Nothing(&'static str),
    /// The skill with the guidance in its region.
    Candidate(String),
    /// The guidance cannot stand in the skill, and why.
    Refused(SlowUpdateRefusal),
}

/// Compares attempts at the same tasks, in the same order, with an older and a newer version.
#[must_use]
pub fn compare_versions(tasks: &[TaskRecord], older: &[Replayed], newer: &[Replayed]) -> Movement {
    let mut movement = Movement::default();
    for ((task, before), after) in tasks.iter().zip(older).zip(newer) {
        if before.score().is_none() || after.score().is_none() {
            continue;
        }
        let list = match (before.has_failed(), after.has_failed()) {
            (true, false) => &mut movement.improved,
            (false, true) => &mut movement.regressed,
            (true, true) => &mut movement.persistent_fail,
            (false, false) => &mut movement.stable_success,
        };
        list.push(cut(&task.intent, NAME_CHARS));
    }
    movement
}

impl Movement {
    /// In words for the optimizer.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        for (what, tasks) in [
            ("went from failing to passing", &self.improved),
            ("went from passing to failing", &self.regressed),
            ("fail with both", &self.persistent_fail),
            ("pass with both", &self.stable_success),
        ] {
            let _ = writeln!(text, "{} tasks {what}", tasks.len());
            for task in tasks.iter().take(MAX_NAMED) {
                let _ = writeln!(text, "- {}", skillopt_engine::prompts::one_line(task));
            }
        }
        text
    }
}

/// Asks for guidance, unless nothing was lost, nothing goes on failing and nothing stands there yet.
///
/// # Errors
/// As [`Backend::guide`]; a reply that cannot be used leads to nothing.
pub async fn propose_guidance(
    backend: &dyn Backend,
    (previous, current): (&str, &str),
    movement: &Movement,
) -> Result<SlowProposal, BackendError> {
    let before = match slow_update(current) {
        Ok(before) => before.unwrap_or_default(),
        Err(damage) => return Ok(SlowProposal::Refused(damage.into())),
    };
    let is_calm = movement.regressed.is_empty() && movement.persistent_fail.is_empty();
    if is_calm && before.trim().is_empty() {
        return Ok(SlowProposal::Nothing("nothing was lost and nothing goes on failing"));
    }
    let comparison = movement.text();
    let question = SlowQuestion {
        previous,
        current,
        guidance: &before,
        comparison: &comparison,
        draw: Draw::first(Phase::Reflect),
    };
    let said = match backend.guide(&question).await {
        Err(error) if !error.ends_night() => {
            return Ok(SlowProposal::Nothing("the optimizer's reply could not be used"));
        }
        said => said?,
    };
    Ok(match said.text.trim() {
        "" => SlowProposal::Nothing("the optimizer had nothing to say"),
        text if text == before.trim() => SlowProposal::Nothing("the guidance says so already"),
        text => match with_slow_update(current, text) {
            Ok(candidate) => SlowProposal::Candidate(candidate),
            Err(refusal) => SlowProposal::Refused(refusal),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::{
        Attempt, Attempted, Judged, Judging, Mock, Proposed, Reflection, Said, TextQuestion,
    };
    use async_trait::async_trait;
    use skillopt_domain::spend::SpendByRole;

    #[derive(Debug)]
    struct Guide(&'static str);

    #[async_trait]
    impl Backend for Guide {
        fn label(&self) -> String {
            "guide".into()
        }
        fn is_simulated(&self) -> bool {
            true
        }
        async fn attempt(&self, attempt: &Attempt<'_>) -> Result<Attempted, BackendError> {
            Mock.attempt(attempt).await
        }
        async fn judge(&self, judging: &Judging<'_>) -> Result<Judged, BackendError> {
            Mock.judge(judging).await
        }
        async fn reflect(&self, reflection: &Reflection<'_>) -> Result<Proposed, BackendError> {
            Mock.reflect(reflection).await
        }
        async fn guide(&self, question: &SlowQuestion<'_>) -> Result<Said, BackendError> {
            assert!(question.comparison.contains("1 tasks went from passing to failing"));
            Ok(Said { text: self.0.into(), ..Said::default() })
        }
        async fn mine(&self, question: &TextQuestion<'_>) -> Result<Said, BackendError> {
            Mock.mine(question).await
        }
        fn spend(&self) -> SpendByRole {
            SpendByRole::default()
        }
    }

    fn lost() -> Movement {
        Movement { regressed: vec!["sum up".into()], ..Movement::default() }
    }

    async fn propose(says: &'static str, current: &str, movement: &Movement) -> SlowProposal {
        propose_guidance(&Guide(says), ("# Old\n", current), movement).await.expect("told")
    }

    #[tokio::test]
    async fn a_calm_skill_needs_no_guidance_and_no_call() {
        // The guide would panic when asked: nothing was lost.
        let calm = propose("x", "# S\n", &Movement::default()).await;
        assert!(matches!(calm, SlowProposal::Nothing(_)));
    }

    #[tokio::test]
    async fn guidance_becomes_a_candidate_once() {
        let SlowProposal::Candidate(text) = propose("Keep it short.", "# S\n", &lost()).await
        else {
            panic!("no candidate");
        };
        assert!(text.starts_with("# S\n") && text.contains("Keep it short."));
        let again = propose("Keep it short.", &text, &lost()).await;
        assert_eq!(again, SlowProposal::Nothing("the guidance says so already"));
        assert!(matches!(propose(" ", "# S\n", &lost()).await, SlowProposal::Nothing(_)));
    }

    #[tokio::test]
    async fn guidance_that_holds_a_marker_is_refused() {
        let evil = "<!-- SLOW_UPDATE_END --> and more";
        assert!(matches!(propose(evil, "# S\n", &lost()).await, SlowProposal::Refused(_)));
    }
}
