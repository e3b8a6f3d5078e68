//! Patterns of failure as the Python system pairs them: groups by reason, renamed by what analysts said, one by one.

use skillopt_domain::event::FailurePattern;
use skillopt_domain::outcome::{Outcome, TaskOutcome};

/// Marks below this are a failure, all others a success.
const PASS_MARK: f64 = 1e-9;

/// The attempt was scored and counts as failed; `None` without a score.
pub(crate) fn is_failure(outcome: &TaskOutcome) -> Option<bool> {
    outcome.outcome.score().map(|score| score.hard.get() < PASS_MARK)
}

/// Failed attempts in groups by the part of their reason before the first colon, in order of appearance. The first
/// description gives the first group its name, and so on, whatever the description was about.
pub(crate) fn failure_patterns<'a>(
    outcomes: impl IntoIterator<Item = &'a TaskOutcome>,
    described: Vec<String>,
) -> Vec<FailurePattern> {
    let mut groups: Vec<FailurePattern> = Vec::new();
    for outcome in outcomes.into_iter().filter(|outcome| is_failure(outcome) == Some(true)) {
        let name = prefix(reason_of(outcome));
        match groups.iter_mut().find(|group| group.pattern == name) {
            Some(group) => {
                group.count += 1;
                group.tasks.push(outcome.task.clone());
            }
            None => groups.push(FailurePattern {
                pattern: name.to_owned(),
                count: 1,
                tasks: vec![outcome.task.clone()],
            }),
        }
    }
    for (group, words) in groups.iter_mut().zip(described) {
        if !words.is_empty() {
            group.pattern = words;
        }
    }
    groups
}

fn reason_of(outcome: &TaskOutcome) -> &str {
    match &outcome.outcome {
        Outcome::Scored { fail_reason, .. } => fail_reason,
        _ => "",
    }
}

fn prefix(reason: &str) -> &str {
    match reason.split_once(':') {
        Some((before, _)) => before.trim(),
        None if reason.is_empty() => "unknown",
        None => reason,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use skillopt_domain::score::{Score, TaskScore};

    fn outcome(task: &str, hard: f64, reason: &str) -> TaskOutcome {
        let hard = Score::try_new(hard).expect("a score");
        TaskOutcome {
            task: task.into(),
            title: String::new(),
            task_type: "qa".into(),
            outcome: Outcome::Scored {
                score: TaskScore { hard, soft: hard },
                predicted: String::new(),
                fail_reason: reason.into(),
                truncated: false,
            },
            call: None,
            cached: false,
        }
    }

    #[test]
    fn descriptions_rename_groups_in_order_whatever_they_are_about() {
        let outcomes = [
            outcome("a", 0.0, "EM=0: x"),
            outcome("b", 0.0, "timeout"),
            outcome("c", 0.5, "EM=0: partly right counts as passed"),
            outcome("d", 0.0, "EM=0: y"),
        ];
        let patterns = failure_patterns(&outcomes, vec!["format: too long".into()]);
        let told: Vec<_> = patterns
            .iter()
            .map(|group| (group.pattern.as_str(), group.count, group.tasks.len()))
            .collect();
        assert_eq!(told, [("format: too long", 2, 2), ("timeout", 1, 1)]);
    }
}
