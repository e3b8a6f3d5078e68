//! Asks the server about the draft whenever it rests for a moment; only the newest answer counts.

use super::CheckSignal;
use super::draft::Draft;
use crate::api::{self, ApiError};
use crate::order::{as_key, sorted};
use crate::state::effect::effect;
use crate::state::signal::RwSignal;
use leptos::leptos_dom::helpers::debounce;
use leptos::prelude::*;
use leptos::task::spawn_local;
use skillopt_domain::api::{CheckState, ConfigCheck, LaunchRequest};
use skillopt_domain::config::ConfigProblem;
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

fn message(problems: &[ConfigProblem], path: &str) -> Option<String> {
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
            let answer = api::config_check(&request).await.map(|mut answer| {
                bring_home(&mut answer.problems, &request);
                let place = |problem: &ConfigProblem| as_key(draft.place_of(&problem.path));
                answer.problems = sorted(std::mem::take(&mut answer.problems), place);
                answer
            });
            if newest.try_get_value() == Some(number) {
                checking.update(|checking| take(checking, answer));
            }
        });
    });
    effect(move || {
        let request = draft.request();
        newest.update_value(|number| *number += 1);
        checking.update(|checking| checking.is_current = false);
        ask((newest.get_value(), request));
    });
    checking
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

/// A role's address is usually that of both roles: what is wrong with it belongs to the field that sets both, unless
/// the role has its own. One field then tells it once.
fn bring_home(problems: &mut Vec<ConfigProblem>, request: &LaunchRequest) {
    const SHARED: &str = "model.openai_compatible_base_url";
    const OWN: [&str; 2] =
        ["model.target_openai_compatible_base_url", "model.optimizer_openai_compatible_base_url"];
    for problem in problems.iter_mut() {
        let is_own = request.values.contains_key(&problem.path);
        if OWN.contains(&problem.path.as_str()) && !is_own {
            SHARED.clone_into(&mut problem.path);
        }
    }
    let mut is_told = false;
    problems.retain(|problem| problem.path != SHARED || !std::mem::replace(&mut is_told, true));
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
    fn a_missing_address_is_told_once_where_it_is_set_for_both() {
        let problem = |path: &str| ConfigProblem {
            path: path.into(),
            place: None,
            message: "needs an address".into(),
        };
        let missing = [
            problem("model.target_openai_compatible_base_url"),
            problem("model.optimizer_openai_compatible_base_url"),
        ];
        let mut problems = missing.to_vec();
        bring_home(&mut problems, &LaunchRequest::default());
        assert_eq!(problems, [problem("model.openai_compatible_base_url")]);
        let own = [("model.target_openai_compatible_base_url".to_owned(), "x".to_owned())];
        let mut problems = missing.to_vec();
        bring_home(
            &mut problems,
            &LaunchRequest { values: own.into(), ..LaunchRequest::default() },
        );
        assert_eq!(problems[0], missing[0]);
    }

    #[test]
    fn fragments_become_sentences() {
        assert_eq!(sentence("must be at most 4"), "Must be at most 4.");
        assert_eq!(sentence("Try 2."), "Try 2.");
    }
}
