//! Asks the server about the draft whenever it rests for a moment; only the newest answer counts.

use super::CheckSignal;
use super::draft::Draft;
use crate::api::{self, ApiError};
use leptos::leptos_dom::helpers::debounce;
use leptos::prelude::*;
use leptos::task::spawn_local;
use skillopt_domain::api::{CheckState, ConfigCheck, LaunchRequest};
use std::time::Duration;

/// Typing pauses longer than this ask.
const REST: Duration = Duration::from_millis(350);

/// What is known about the draft.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Checking {
    /// The newest answer; it may be about an older draft.
    pub(super) answer: ConfigCheck,
    /// Why there is no answer about the newest draft.
    pub(super) failed: Option<ApiError>,
    /// The answer is about what the form shows now.
    pub(super) is_current: bool,
}

impl Checking {
    /// The run may start.
    pub(super) fn is_startable(&self) -> bool {
        self.is_current
            && self.failed.is_none()
            && self.answer.problems.is_empty()
            && !self.has_failed_check()
    }

    fn has_failed_check(&self) -> bool {
        self.answer.checks.iter().any(|check| check.state == CheckState::Failed)
    }

    /// What is wrong with a key, if anything.
    pub(super) fn problem(&self, path: &str) -> Option<String> {
        message(&self.answer.problems, path)
    }

    /// What to look at.
    pub(super) fn warning(&self, path: &str) -> Option<String> {
        message(&self.answer.warnings, path)
    }
}

fn message(problems: &[skillopt_domain::config::ConfigProblem], path: &str) -> Option<String> {
    problems.iter().find(|problem| problem.path == path).map(|problem| sentence(&problem.message))
}

/// Messages of the config are fragments in lower case; under a field they are sentences.
pub(super) fn sentence(message: &str) -> String {
    let text = crate::fmt::capital(message.trim());
    if text.ends_with(['.', '!', '?']) || text.is_empty() { text } else { format!("{text}.") }
}

pub(super) fn keep_checking(draft: Draft) -> CheckSignal {
    let checking = RwSignal::new(Checking::default());
    let newest = StoredValue::new(0_u32);
    let mut ask = debounce(REST, move |(number, request): (u32, LaunchRequest)| {
        spawn_local(async move {
            let answer = api::config_check(&request).await;
            if newest.try_get_value() == Some(number) {
                checking.update(|checking| take(checking, answer));
            }
        });
    });
    Effect::new(move || {
        let request = draft.request();
        newest.update_value(|number| *number += 1);
        checking.update(|checking| checking.is_current = false);
        ask((newest.get_value(), request));
    });
    checking.into()
}

fn take(checking: &mut Checking, answer: api::ApiResult<ConfigCheck>) {
    checking.is_current = true;
    match answer {
        Ok(answer) => {
            checking.failed = None;
            checking.answer = answer;
        }
        Err(error) => checking.failed = Some(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use skillopt_domain::api::Check;

    #[test]
    fn a_run_starts_only_on_a_current_answer_without_problems() {
        let mut checking = Checking { is_current: true, ..Checking::default() };
        assert!(checking.is_startable());
        checking.is_current = false;
        assert!(!checking.is_startable());
        checking.is_current = true;
        checking.answer.checks.push(Check {
            label: "Data loads".into(),
            state: CheckState::Failed,
            figure: String::new(),
            detail: String::new(),
        });
        assert!(!checking.is_startable());
    }

    #[test]
    fn fragments_become_sentences() {
        assert_eq!(sentence("must be at most 4"), "Must be at most 4.");
        assert_eq!(sentence("Try 2."), "Try 2.");
    }
}
