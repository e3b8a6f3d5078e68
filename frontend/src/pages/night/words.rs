//! What a night found, in words and counts. Pure, tested.

use crate::components::look::Look;
pub(super) use crate::components::night_cells::document_name;
use crate::fmt;
use skillopt_domain::api::NightTask;
use skillopt_domain::night::edit::{EditOp, Target};
use skillopt_domain::night::report::{
    DeltaStatus, GateAction, GateTrial, GroupStatus, SleepReport, TaskDelta,
};
use skillopt_domain::verdict::Change;

/// What became of a task between two measurements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Changed(Change),
    Same,
    /// One of the two measurements is missing.
    Unscored,
}

impl Fate {
    /// From the scores; a whole point is a task that passes.
    pub(super) fn of(before: Option<f64>, after: Option<f64>) -> Self {
        let finite = |score: Option<f64>| score.filter(|score| score.is_finite());
        let (Some(before), Some(after)) = (finite(before), finite(after)) else {
            return Self::Unscored;
        };
        if after > before {
            Self::Changed(if passes(after) { Change::Fixed } else { Change::Rose })
        } else if after < before {
            Self::Changed(if passes(before) { Change::Broke } else { Change::Fell })
        } else {
            Self::Same
        }
    }

    pub(super) fn look(self) -> Option<Look> {
        match self {
            Self::Changed(change) => Some(change.into()),
            Self::Same => None,
            Self::Unscored => Some(Look { status: "warning", icon: "warning", word: "not scored" }),
        }
    }
}

fn passes(score: f64) -> bool {
    score >= 1.0 - 1e-9
}

/// How the gate's own status and the scores together tell a task.
pub(super) fn fate(delta: &TaskDelta) -> Fate {
    match delta.status {
        DeltaStatus::Unchanged => Fate::Same,
        DeltaStatus::Improved | DeltaStatus::Regressed => {
            Fate::of(delta.baseline_score, delta.candidate_score)
        }
    }
}

/// Tasks of a trial by what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    /// Scored with both documents.
    pub(super) n: u32,
    pub(super) fixed: u32,
    pub(super) broke: u32,
    pub(super) rose: u32,
    pub(super) fell: u32,
    pub(super) unscored: u32,
}

pub(super) fn tally(deltas: &[TaskDelta]) -> Tally {
    let mut tally = Tally::default();
    for delta in deltas {
        let fate = fate(delta);
        tally.n += u32::from(fate != Fate::Unscored);
        match fate {
            Fate::Changed(Change::Fixed) => tally.fixed += 1,
            Fate::Changed(Change::Broke) => tally.broke += 1,
            Fate::Changed(Change::Rose) => tally.rose += 1,
            Fate::Changed(Change::Fell) => tally.fell += 1,
            Fate::Changed(Change::Refused) | Fate::Unscored => tally.unscored += 1,
            Fate::Same => {}
        }
    }
    tally
}

impl Tally {
    /// `3 fixed, 1 broke`; kinds that did not happen are left out, but never both sides of it.
    pub(super) fn words(self) -> String {
        let mut parts = vec![format!("{} fixed", self.fixed), format!("{} broke", self.broke)];
        let more = [(self.rose, "rose"), (self.fell, "fell"), (self.unscored, "not scored")];
        parts.extend(
            more.into_iter().filter(|(n, _)| *n > 0).map(|(n, word)| format!("{n} {word}")),
        );
        parts.join(", ")
    }
}

/// The comparison that decided: the last of the kind `final`, else the last of all.
pub(super) fn final_trial(report: &SleepReport) -> Option<&GateTrial> {
    let trials = &report.gate_trials;
    trials.iter().rev().find(|trial| trial.target == "final").or_else(|| trials.last())
}

/// Tasks behind the scores of the verdict: those of its comparison, else those that the live documents were measured
/// on. `None` when neither is known.
pub(super) fn final_n(report: &SleepReport) -> Option<u32> {
    let trial = final_trial(report).filter(|trial| !trial.task_deltas.is_empty());
    let compared = trial.map(|trial| tally(&trial.task_deltas).n);
    compared.or_else(|| Some(report.n_validated).filter(|n| *n > 0))
}

/// The verdict, its numbers in front: `0.571 → 0.786` and ` on 14 tasks: 3 fixed, 1 broke; accepted.`
pub(super) fn verdict_words(report: &SleepReport) -> (String, String) {
    let outcome = Look::from(report.gate_action).word;
    let (Some(before), after) = (report.baseline_score, report.candidate_score) else {
        return (fmt::capital(outcome), ": nothing was measured.".to_owned());
    };
    let scores = match after {
        Some(after) => format!("{} → {}", fmt::score(Some(before)), fmt::score(Some(after))),
        None => fmt::score(Some(before)),
    };
    let n = match final_n(report) {
        Some(n) => format!(" on {}", fmt::plural(n.into(), "task", "tasks")),
        None => " on an unknown number of tasks".to_owned(),
    };
    let flips = final_trial(report)
        .filter(|trial| !trial.task_deltas.is_empty())
        .map(|trial| format!(": {}", tally(&trial.task_deltas).words()))
        .unwrap_or_default();
    (scores, format!("{n}{flips}; {outcome}."))
}

/// What must be known beside the verdict.
pub(super) fn verdict_notes(report: &SleepReport) -> Vec<String> {
    let mut notes = Vec::new();
    match report.gate_action {
        GateAction::GreedyApplied | GateAction::GreedyNoop => {
            notes.push("The gate was off: nothing shows that the edits help.".to_owned());
        }
        GateAction::RejectUnverified => notes.push(
            "It was better, but only on tasks that the edits were made from. That proves nothing."
                .to_owned(),
        ),
        GateAction::AcceptNewBest | GateAction::Accept | GateAction::Reject => {}
    }
    if report.holdout_leaked && report.gate_action != GateAction::RejectUnverified {
        notes.push("The gate measured on tasks that the edits were made from.".to_owned());
    }
    if report.gate_trials.iter().any(|trial| trial.blocked_by_regression) {
        notes.push(
            "A candidate was better on the whole and was dropped, because a task got worse."
                .to_owned(),
        );
    } else if report.gate_no_regression {
        notes.push("The rule that no task may get worse was in force.".to_owned());
    }
    if !report.no_edits_reason.is_empty() {
        notes.push(format!("No edits: {}.", report.no_edits_reason.trim_end_matches('.')));
    }
    notes
}

/// Tasks of the gate and tasks that edits are made from; `None` without any.
pub(super) fn val_and_train(tasks: &[NightTask]) -> Option<(usize, usize)> {
    let count = |split: &str| tasks.iter().filter(|task| task.split == split).count();
    (!tasks.is_empty()).then(|| (count("val"), count("train")))
}

/// What an edit does, in words.
pub(super) fn op_word(op: EditOp) -> &'static str {
    match op {
        EditOp::Add => "add",
        EditOp::Delete => "delete",
        EditOp::Replace => "replace",
    }
}

pub(super) fn target_word(target: Target) -> &'static str {
    match target {
        Target::Skill => "skill",
        Target::Memory => "memory",
    }
}

pub(super) fn trial_name(target: &str) -> String {
    match target {
        "final" => "All edits together".to_owned(),
        "skill" => "Edits of the skill".to_owned(),
        "memory" => "Edits of the memory".to_owned(),
        other => other.to_owned(),
    }
}

pub(super) fn trial_look(trial: &GateTrial) -> Look {
    if trial.accepted {
        Look { status: "accepted", icon: "accepted", word: "went on" }
    } else if trial.blocked_by_regression {
        Look { status: "rejected", icon: "rejected", word: "dropped: a task got worse" }
    } else {
        Look { status: "rejected", icon: "rejected", word: "dropped" }
    }
}

pub(super) fn group_look(status: GroupStatus) -> Look {
    match status {
        GroupStatus::Consolidated => Look { status: "done", icon: "check", word: "measured" },
        GroupStatus::Skipped => Look { status: "skipped", icon: "noimp", word: "skipped" },
        GroupStatus::Failed => Look { status: "error", icon: "error", word: "failed" },
    }
}

/// `3 lines added, 1 line removed`.
pub(super) fn lines_words(n_added: u32, n_removed: u32) -> String {
    let lines = |n: u32| fmt::plural(n.into(), "line", "lines");
    format!("{} added, {} removed", lines(n_added), lines(n_removed))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::components::night_cells::tests::night;
    use skillopt_domain::api::NightDetail;
    use skillopt_domain::night::NightStatus;
    use skillopt_domain::night::edit::EditRecord;

    pub(in crate::pages::night) fn detail(status: NightStatus) -> NightDetail {
        NightDetail {
            night: night(status),
            staging: String::new(),
            sources: Vec::new(),
            report: None,
            tasks: Vec::new(),
            proposals: Vec::new(),
            receipts: Vec::new(),
            refusal: String::new(),
        }
    }

    fn delta(before: Option<f64>, after: Option<f64>) -> TaskDelta {
        let status = match before.zip(after) {
            Some((before, after)) if after > before => DeltaStatus::Improved,
            Some((before, after)) if (after - before).abs() < 1e-12 => DeltaStatus::Unchanged,
            _ => DeltaStatus::Regressed,
        };
        TaskDelta {
            task_id: "t".into(),
            tags: Vec::new(),
            baseline_score: before,
            candidate_score: after,
            status,
            scores_are_finite: before.is_some() && after.is_some(),
        }
    }

    fn edit() -> EditRecord {
        EditRecord {
            target: Target::Skill,
            op: EditOp::Add,
            content: "- Run the unit tests.".into(),
            anchor: String::new(),
            rationale: String::new(),
        }
    }

    /// Four tasks: one fixed, one rose, one broke, one the same; one edit kept, one rejected.
    pub(in crate::pages::night) fn report() -> SleepReport {
        let task_deltas = vec![
            delta(Some(0.0), Some(1.0)),
            delta(Some(0.0), Some(0.5)),
            delta(Some(1.0), Some(0.5)),
            delta(Some(1.0), Some(1.0)),
        ];
        SleepReport {
            baseline_score: Some(0.5),
            candidate_score: Some(0.75),
            accepted: true,
            gate_action: GateAction::Accept,
            edits: vec![edit()],
            rejected_edits: vec![edit()],
            gate_trials: vec![GateTrial {
                target: "final".into(),
                baseline_score: Some(0.5),
                candidate_score: Some(0.75),
                accepted: true,
                blocked_by_regression: false,
                task_deltas,
                n_compared: 4,
                n_fixed: 1,
                n_broke: 1,
                words: String::new(),
            }],
            ..SleepReport::default()
        }
    }

    #[test]
    fn the_verdict_says_the_scores_the_n_and_the_flips() {
        let (scores, rest) = verdict_words(&report());
        assert_eq!(scores, "0.500 → 0.750");
        assert_eq!(rest, " on 4 tasks: 1 fixed, 1 broke, 1 rose; accepted.");
    }

    #[test]
    fn a_night_that_measured_nothing_shows_no_score() {
        let (scores, rest) = verdict_words(&SleepReport::default());
        assert_eq!((scores.as_str(), rest.as_str()), ("Rejected", ": nothing was measured."));
    }

    #[test]
    fn a_missing_score_is_no_regression_and_does_not_count() {
        let tally = tally(&[delta(Some(1.0), None), delta(Some(0.0), Some(1.0))]);
        assert_eq!((tally.n, tally.fixed, tally.broke, tally.unscored), (1, 1, 0, 1));
        assert_eq!(tally.words(), "1 fixed, 0 broke, 1 not scored");
    }

    #[test]
    fn a_leaked_holdout_and_a_gate_that_is_off_are_said() {
        let leaked = SleepReport { holdout_leaked: true, ..report() };
        assert_eq!(verdict_notes(&leaked).len(), 1);
        let greedy = SleepReport { gate_action: GateAction::GreedyApplied, ..report() };
        assert!(verdict_notes(&greedy)[0].starts_with("The gate was off"));
        assert_eq!(verdict_notes(&report()), Vec::<String>::new());
        let none = SleepReport { no_edits_reason: "no task failed.".into(), ..report() };
        assert_eq!(verdict_notes(&none), ["No edits: no task failed."]);
    }

    #[test]
    fn documents_have_names_that_a_person_knows() {
        assert_eq!(document_name("skill:billing"), "Skill billing");
        assert_eq!(document_name("memory"), "Memory");
        assert_eq!(lines_words(3, 1), "3 lines added, 1 line removed");
    }
}
