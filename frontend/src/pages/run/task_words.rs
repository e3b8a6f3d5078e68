//! Tasks and skills in words: columns, cells, filters. Pure, tested.

use crate::fmt;
use skillopt_domain::api::{MatrixCell, MatrixColumn, MatrixEnds};
use skillopt_domain::matrix::{CellState, TaskFilter, TaskOrder};
use skillopt_domain::outcome::RolloutPurpose;

pub(super) fn filter_label(filter: TaskFilter) -> &'static str {
    match filter {
        TaskFilter::All => "All",
        TaskFilter::Changed => "Changed",
        TaskFilter::AlwaysPassed => "Always passed",
        TaskFilter::NeverPassed => "Never passed",
        TaskFilter::Unscored => "Not scored",
    }
}

pub(super) fn order_label(order: TaskOrder) -> &'static str {
    match order {
        TaskOrder::Changes => "Changes",
        TaskOrder::LastChange => "Last change",
        TaskOrder::Task => "Task",
    }
}

pub(super) fn purpose_label(purpose: RolloutPurpose) -> &'static str {
    match purpose {
        RolloutPurpose::Train => "Train",
        RolloutPurpose::Longitudinal => "Between epochs",
        RolloutPurpose::Selection => "Selection",
        RolloutPurpose::Test => "Test",
    }
}

/// A skill in short: `v3`, or `s15` for a candidate of step 15 that was not kept.
pub(super) fn skill_name(version: Option<u32>, step: u32) -> String {
    version.map_or_else(|| format!("s{step}"), |version| format!("v{version}"))
}

/// The head of a column. Batches are named by their step, since many have the same skill.
pub(super) fn column_name(purpose_is_train: bool, column: &MatrixColumn) -> String {
    let name = if purpose_is_train {
        format!("s{}", column.step)
    } else {
        skill_name(column.version, column.step)
    };
    if column.repeat == 0 { name } else { format!("{name}·{}", column.repeat + 1) }
}

/// What a column is, in a sentence.
pub(super) fn column_title(column: &MatrixColumn) -> String {
    let skill = match column.version {
        Some(version) => format!("v{version}"),
        None => format!("candidate of step {}, not kept", column.step),
    };
    let when =
        if column.step == 0 { "before step 1".to_owned() } else { format!("step {}", column.step) };
    let best = if column.is_best { ", the best skill" } else { "" };
    let draw =
        if column.repeat == 0 { String::new() } else { format!(", draw {}", column.repeat + 1) };
    format!(
        "{skill}{best}, {when}{draw}: {} of {} passed, {} fixed, {} broke",
        column.n_passed, column.n, column.n_fixed, column.n_broke
    )
}

/// Word for `data-cell`, and the sign that stands in the cell.
pub(super) fn cell_look(state: CellState) -> (&'static str, &'static str) {
    match state {
        CellState::Pass => ("pass", ""),
        CellState::Fail => ("fail", ""),
        CellState::Fixed => ("fixed", "▲"),
        CellState::Broke => ("broke", "▼"),
        CellState::Refused => ("refused", "–"),
        CellState::Error => ("error", "!"),
        CellState::Missing => ("none", ""),
    }
}

pub(super) fn state_word(state: CellState) -> &'static str {
    match state {
        CellState::Pass => "passed",
        CellState::Fail => "failed",
        CellState::Fixed => "fixed",
        CellState::Broke => "broke",
        CellState::Refused => "refused, not scored",
        CellState::Error => "error, not scored",
        CellState::Missing => "not tried",
    }
}

pub(super) fn cell_title(task: &str, column: &str, cell: &MatrixCell) -> String {
    let soft = cell.soft.map_or_else(String::new, |soft| format!(", soft {soft:.2}"));
    format!("{task} {column}: {}{soft}", state_word(cell.state))
}

/// First and last kept skill, task by task: what is said first, and the rest.
pub(super) fn ends_words(ends: &MatrixEnds) -> (String, String) {
    let names = match ends.versions {
        Some((first, last)) if first != last => format!("v{first} → v{last}"),
        _ => "First → last".to_owned(),
    };
    let n = ends.n_fixed + ends.n_broke + ends.n_passed + ends.n_failed;
    (
        format!("{names}: {} fixed, {} broke.", ends.n_fixed, ends.n_broke),
        format!(
            "{} pass with both, {} fail with both; {}.",
            ends.n_passed,
            ends.n_failed,
            fmt::n(Some(n))
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use skillopt_domain::hash::Sha256Hex;

    fn column(step: u32, version: Option<u32>) -> MatrixColumn {
        MatrixColumn {
            place: 0,
            step,
            version,
            is_best: true,
            skill: Sha256Hex::of("x"),
            repeat: 0,
            n_passed: 3,
            n: 4,
            n_fixed: 1,
            n_broke: 0,
            base: None,
        }
    }

    #[test]
    fn a_candidate_that_was_not_kept_has_the_name_of_its_step() {
        assert_eq!(column_name(false, &column(7, Some(3))), "v3");
        assert_eq!(column_name(false, &column(7, None)), "s7");
        assert_eq!(column_name(true, &column(7, Some(3))), "s7");
        assert_eq!(column_name(false, &MatrixColumn { repeat: 1, ..column(7, None) }), "s7·2");
        assert_eq!(
            column_title(&column(7, None)),
            "candidate of step 7, not kept, the best skill, step 7: 3 of 4 passed, 1 fixed, 0 broke"
        );
    }

    #[test]
    fn the_sum_of_a_comparison_is_its_n() {
        let ends = MatrixEnds {
            versions: Some((0, 4)),
            n_fixed: 14,
            n_broke: 3,
            n_passed: 16,
            n_failed: 7,
        };
        let (bold, rest) = ends_words(&ends);
        assert_eq!(bold, "v0 → v4: 14 fixed, 3 broke.");
        assert_eq!(rest, "16 pass with both, 7 fail with both; n = 40.");
    }

    #[test]
    fn a_cell_without_a_score_says_so() {
        let cell = MatrixCell { state: CellState::Error, ..MatrixCell::default() };
        assert_eq!(cell_title("t1", "v2", &cell), "t1 v2: error, not scored");
        let cell = MatrixCell { state: CellState::Broke, soft: Some(0.25), ..cell };
        assert_eq!(cell_title("t1", "v2", &cell), "t1 v2: broke, soft 0.25");
    }
}
