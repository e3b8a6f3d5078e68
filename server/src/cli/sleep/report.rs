//! What a night came to, for people and as JSON. Text of strangers is shown on one line and without control characters.

use crate::cli::output::Output;
use crate::sleep::NightSetup;
use serde_json::{Value, json};
use skillopt_domain::night::edit::{EditRecord, GuidanceRecord};
use skillopt_sleep::night::NightResult;
use std::fmt::Display;
use std::path::Path;

/// The JSON of `run` and `dry-run`: the reference system's fields, and further ones.
pub(super) fn night_json(result: &NightResult, tasks_file: Option<(&Path, bool)>) -> Value {
    let report = &result.report;
    let adopted: Vec<&Path> = result.adopted.iter().map(|one| one.live_path.as_path()).collect();
    let mut value = json!({
        "night": report.night,
        "accepted": report.accepted,
        "gate_action": report.gate_action,
        "no_edits_reason": report.no_edits_reason,
        "baseline": report.baseline_score,
        "candidate": report.candidate_score,
        "n_validated": report.n_validated,
        "n_tasks": report.n_tasks,
        "n_sessions": report.n_sessions,
        "n_accepted_edits": report.edits.len(),
        "n_rejected_edits": report.rejected_edits.len(),
        "edits": report.edits,
        "rejected_edits": report.rejected_edits,
        "unmatched_edits": report.unmatched_edits,
        "guidance": report.guidance,
        "holdout_leaked": report.holdout_leaked,
        "gate_no_regression": report.gate_no_regression,
        "gate_trials": report.gate_trials,
        "test_score": report.test_score,
        "skill_groups": report.skill_groups,
        "decision": report.decision,
        "notes": report.notes,
        "tokens_used": report.tokens_used,
        "unmetered_calls": report.unmetered_calls,
        "cost_usd_micros": report.cost_usd_micros,
        "staging_dir": result.staging.as_deref().unwrap_or(Path::new("")),
        "staged_skills": result.staged_skills,
        "adopted": adopted,
        "not_adopted": result.not_adopted,
        "state_failure": result.state_failure,
    });
    if let Some(harvest) = &result.harvest {
        value["sources"] = json!(harvest.sources);
        value["digests"] = json!(harvest.digests);
    }
    value["tasks"] = json!(result.tasks);
    if let Some((path, reviewed)) = tasks_file {
        value["tasks_file"] = json!(path);
        value["tasks_reviewed"] = json!(reviewed);
    }
    value
}

pub(super) fn tell_night(result: &NightResult, setup: &NightSetup, output: &Output) {
    let report = &result.report;
    let simulated = if setup.config.spends() { "" } else { " (simulated)" };
    output.line(&format!(
        "night {}{simulated}: {}, {}",
        report.night,
        n_of(&report.n_sessions, "session"),
        n_of(&report.n_tasks, "task")
    ));
    if report.n_tasks > 0 {
        output.line(&format!(
            "held-out {} -> {} (n {}); gate {}, {}",
            score(report.baseline_score),
            score(report.candidate_score),
            report.n_validated,
            word(&json!(report.gate_action)),
            if report.accepted { "accepted" } else { "not accepted" }
        ));
        output.line(&one_line(&report.decision));
    }
    report.edits.iter().for_each(|edit| output.line(&edit_line("+", edit)));
    report.rejected_edits.iter().for_each(|edit| output.line(&edit_line("-", edit)));
    report.guidance.iter().for_each(|guidance| output.line(&guidance_line(guidance)));
    if !report.no_edits_reason.is_empty() {
        output.line(&format!("no edits: {}", one_line(&report.no_edits_reason)));
    }
    report.notes.iter().for_each(|note| output.line(&format!("note: {}", one_line(note))));
    if !result.state_failure.is_empty() {
        output.error(&format!(
            "{}; the history does not know this night: name it with --staging",
            one_line(&result.state_failure)
        ));
    }
    match &result.staging {
        Some(dir) if result.adopted.is_empty() => {
            output.line(&format!("staged: {}", dir.display()));
            if report.accepted || !result.staged_skills.is_empty() {
                output.line(
                    "look: skillopt sleep diff; then: skillopt sleep adopt, or reject --reason",
                );
            }
        }
        Some(dir) => output.line(&format!("staged: {}", dir.display())),
        None => {}
    }
    if !result.staged_skills.is_empty() {
        output.line("skills of their own: skillopt sleep adopt --all-skills, or --skill NAME");
    }
    for receipt in &result.adopted {
        output.line(&format!("adopted: {}", receipt.live_path.display()));
    }
}

fn score(value: Option<f64>) -> String {
    value.map_or_else(|| "not measured".to_owned(), |value| format!("{value:.4}"))
}

fn word(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

pub(super) fn edit_line(mark: &str, edit: &EditRecord) -> String {
    let text = if edit.content.is_empty() { &edit.anchor } else { &edit.content };
    let (target, op) = (word(&json!(edit.target)), word(&json!(edit.op)));
    format!("{mark} [{target}/{op}] {}", one_line(text))
}

/// Guidance is no edit of the optimizer's, and says so.
fn guidance_line(guidance: &GuidanceRecord) -> String {
    let mark = if guidance.accepted { "+" } else { "-" };
    format!("{mark} [{}/guidance] {}", word(&json!(guidance.target)), one_line(&guidance.content))
}

/// A line of strangers as it stands, tabs too: what moves a cursor or turns text around is left out.
pub(super) fn plain(line: &str) -> String {
    line.chars().filter(|c| *c == '\t' || !(c.is_control() || turns_text(*c))).collect()
}

/// Characters that turn the direction of text around: with them a line shows other words than it has.
fn turns_text(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// `1 edit`, `2 edits`.
pub(super) fn n_of(n: &dyn Display, thing: &str) -> String {
    let n = n.to_string();
    let end = if n == "1" { "" } else { "s" };
    format!("{n} {thing}{end}")
}

/// Text of strangers on one line.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().map(plain).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::{guidance_line, n_of, one_line, plain};
    use skillopt_domain::night::edit::{GuidanceRecord, Target};

    #[test]
    fn guidance_stands_on_a_line_that_tells_it_from_edits() {
        let mut guidance = GuidanceRecord {
            target: Target::Skill,
            content: "Keep it\nshort.".into(),
            before: String::new(),
            accepted: true,
        };
        assert_eq!(guidance_line(&guidance), "+ [skill/guidance] Keep it short.");
        guidance.accepted = false;
        assert!(guidance_line(&guidance).starts_with("- "));
    }

    #[test]
    fn one_thing_is_no_plural() {
        assert_eq!([0, 1, 2].map(|n| n_of(&n, "edit")), ["0 edits", "1 edit", "2 edits"]);
    }

    #[test]
    fn text_of_strangers_moves_no_cursor() {
        assert_eq!(one_line("a\u{1b}[31mb\r\n  c\u{8}"), "a[31mb c");
        assert_eq!(plain("+\tx\u{1b}[2J  y\r"), "+\tx[2J  y");
        assert_eq!(plain("rm \u{202e}txt.sh\u{202c} \u{2066}x\u{2069}"), "rm txt.sh x");
        assert_eq!(plain("a\u{200d}b"), "a\u{200d}b", "joined letters and signs stay");
    }
}
