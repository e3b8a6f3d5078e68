//! Prompts of a handoff that wait for a person: how many, where, and the command that goes on. Reads only.

use super::report::one_line;
use crate::cli::output::Output;
use crate::sleep::{NightSetup, handoff};
use serde_json::{Value, json};
use skillopt_sleep::handoff::{Handoff, HandoffError, NightKind};
use skillopt_sleep::schedule::shell_quoted;

/// What a round asked, answered or not.
struct Round {
    n_asked: usize,
    n_waiting: usize,
}

/// The rounds of a project that are not over, as values for scripts.
pub(super) fn waits_json(setup: &NightSetup) -> Vec<Value> {
    let told = rounds(setup).into_iter().map(|(kind, handoff, round)| {
        let mut value = json!({
            "kind": verb(kind),
            "prompts": handoff.dir().join("PROMPTS.md"),
            "answers_dir": handoff.dir().join("answers"),
            "command": command(setup, kind),
        });
        match round {
            Ok(Round { n_asked, n_waiting }) => {
                value["pending"] = json!(n_waiting);
                value["answered"] = json!(n_asked - n_waiting);
            }
            Err(err) => value["error"] = json!(err.to_string()),
        }
        value
    });
    told.collect()
}

pub(super) fn tell_waits(setup: &NightSetup, output: &Output) {
    for (kind, handoff, round) in rounds(setup) {
        match round {
            Ok(Round { n_waiting: 0, .. }) => output.line(&format!(
                "handoff: all prompts are answered; go on with: {}",
                one_line(&command(setup, kind))
            )),
            Ok(Round { n_waiting, .. }) => output.line(&format!(
                "handoff: {} for answers in {}; then go on with: {}",
                prompts_wait(n_waiting),
                one_line(&handoff.dir().join("PROMPTS.md").display().to_string()),
                one_line(&command(setup, kind))
            )),
            Err(err) => output.error(&one_line(&err.to_string())),
        }
    }
}

/// `1 prompt waits`, `2 prompts wait`.
pub(super) fn prompts_wait(n: usize) -> String {
    if n == 1 { "1 prompt waits".to_owned() } else { format!("{n} prompts wait") }
}

fn rounds(setup: &NightSetup) -> Vec<(NightKind, Handoff, Result<Round, HandoffError>)> {
    let kinds = [NightKind::Real, NightKind::Dry].into_iter();
    let all = kinds.map(|kind| {
        let handoff = handoff(setup, kind);
        let round = round(&handoff);
        (kind, handoff, round)
    });
    all.filter(|(_, _, round)| !matches!(round, Ok(Round { n_asked: 0, .. }))).collect()
}

fn round(handoff: &Handoff) -> Result<Round, HandoffError> {
    Ok(Round { n_asked: handoff.asked()?.len(), n_waiting: handoff.pending()?.len() })
}

fn verb(kind: NightKind) -> &'static str {
    match kind {
        NightKind::Real => "run",
        NightKind::Dry => "dry-run",
    }
}

/// Other flags of the first round are the person's to repeat; what that round pinned counts without them.
fn command(setup: &NightSetup, kind: NightKind) -> String {
    let project = shell_quoted(&setup.project());
    format!("skillopt sleep {} --backend handoff --project {project}", verb(kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_prompt_waits_and_two_wait() {
        assert_eq!([1, 2].map(prompts_wait), ["1 prompt waits", "2 prompts wait"]);
    }
}
