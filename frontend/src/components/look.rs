//! How states look: word, shape and colour of each, decided in one place. Pure.

use skillopt_domain::api::{CheckState, NightDecision};
use skillopt_domain::edit::EditStatus;
use skillopt_domain::epoch::EpochAction;
use skillopt_domain::night::report::GateAction;
use skillopt_domain::night::{NightStage, NightStatus};
use skillopt_domain::outcome::OutcomeKind;
use skillopt_domain::run::{RunStatus, Stage};
use skillopt_domain::verdict::{Action, Change};

/// Word, shape and colour of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Look {
    /// For `data-status`: decides the colour.
    pub(crate) status: &'static str,
    /// Name of the icon.
    pub(crate) icon: &'static str,
    /// The word beside it.
    pub(crate) word: &'static str,
}

const fn look(status: &'static str, icon: &'static str, word: &'static str) -> Look {
    Look { status, icon, word }
}

impl From<RunStatus> for Look {
    fn from(status: RunStatus) -> Self {
        match status {
            RunStatus::Queued => look("queued", "queued", "queued"),
            RunStatus::Running => look("running", "running", "running"),
            RunStatus::Pausing => look("running", "pause", "pausing"),
            RunStatus::Paused => look("paused", "paused", "paused"),
            RunStatus::Cancelling => look("running", "stop", "cancelling"),
            RunStatus::Done => look("done", "accepted", "finished"),
            RunStatus::Failed => look("failed", "error", "failed"),
            RunStatus::Cancelled => look("cancelled", "stop", "cancelled"),
            RunStatus::Capped => look("warning", "warning", "cap reached"),
            RunStatus::Interrupted => look("interrupted", "warning", "interrupted"),
        }
    }
}

impl From<Action> for Look {
    fn from(action: Action) -> Self {
        match action {
            Action::AcceptNewBest => look("accepted", "accepted", "accepted, new best"),
            Action::Accept => look("accepted", "accepted", "accepted"),
            Action::ForceAccept => look("warning", "accepted", "kept without the gate"),
            Action::Reject => look("rejected", "rejected", "rejected"),
            Action::SkipNoPatches => look("skipped", "noimp", "no edits proposed"),
            Action::SkipNoChange => look("skipped", "noimp", "no edit applied"),
            Action::SkipNoRewrite => look("skipped", "noimp", "no usable rewrite"),
            Action::Inconclusive => look("unverified", "unverified", "not decided"),
        }
    }
}

impl From<EpochAction> for Look {
    fn from(action: EpochAction) -> Self {
        match action {
            EpochAction::AcceptNewBest => look("accepted", "accepted", "kept, new best"),
            EpochAction::Accept => look("accepted", "accepted", "kept"),
            EpochAction::ForceAccept => look("warning", "accepted", "kept without the gate"),
            EpochAction::Reject => look("rejected", "rejected", "dropped"),
            EpochAction::Inconclusive => look("unverified", "unverified", "not decided"),
            EpochAction::NoContent => look("skipped", "noimp", "no text"),
            EpochAction::NoChange => look("skipped", "noimp", "no change"),
            EpochAction::WriteMetaSkill => look("done", "check", "memory renewed"),
        }
    }
}

impl From<OutcomeKind> for Look {
    fn from(kind: OutcomeKind) -> Self {
        match kind {
            OutcomeKind::Passed => look("done", "accepted", "passed"),
            OutcomeKind::Failed => look("rejected", "rejected", "failed"),
            OutcomeKind::Refused => look("warning", "warning", "refused"),
            OutcomeKind::InfraError => look("error", "error", "system error"),
            OutcomeKind::JudgeError => look("error", "error", "judge error"),
        }
    }
}

impl From<EditStatus> for Look {
    fn from(status: EditStatus) -> Self {
        let (status_word, icon) = match status {
            EditStatus::Applied => ("applied", "check"),
            EditStatus::NotFound => ("not_found", "search"),
            EditStatus::Ambiguous => ("ambiguous", "swap"),
            EditStatus::Protected => ("protected", "lock"),
            EditStatus::Duplicate => ("duplicate", "copy"),
            EditStatus::Empty | EditStatus::OverBudget => ("over", "minus"),
            EditStatus::Conflict => ("conflict", "x"),
            EditStatus::BrokenMarkdown | EditStatus::LeftOut => ("conflict", "warning"),
            EditStatus::UnknownOp => ("conflict", "help"),
        };
        look(status_word, icon, status.label())
    }
}

impl From<Change> for Look {
    fn from(change: Change) -> Self {
        match change {
            Change::Fixed => look("fixed", "triup", "fixed"),
            Change::Refused => look("warning", "warning", "refused"),
            Change::Broke => look("broke", "tridown", "broke"),
            Change::Rose => look("accepted", "up", "rose"),
            Change::Fell => look("rejected", "down", "fell"),
        }
    }
}

impl From<CheckState> for Look {
    fn from(state: CheckState) -> Self {
        match state {
            CheckState::Ok => look("done", "accepted", "fine"),
            CheckState::Warning => look("warning", "warning", "look"),
            CheckState::Failed => look("error", "error", "failed"),
        }
    }
}

impl From<NightStatus> for Look {
    fn from(status: NightStatus) -> Self {
        match status {
            NightStatus::Running => look("running", "running", "running"),
            NightStatus::Staged => look("done", "archive", "staged"),
            NightStatus::Empty => look("skipped", "noimp", "no tasks"),
            NightStatus::Rehearsed => look("done", "check", "dry run done"),
            NightStatus::Pending => look("paused", "paused", "waits for answers"),
            NightStatus::Failed => look("failed", "error", "failed"),
            NightStatus::Cancelled => look("cancelled", "stop", "cancelled"),
            NightStatus::Capped => look("warning", "warning", "cap reached"),
            NightStatus::Interrupted => look("interrupted", "warning", "interrupted"),
        }
    }
}

impl From<NightDecision> for Look {
    fn from(decision: NightDecision) -> Self {
        match decision {
            NightDecision::None => look("skipped", "minus", "nothing to decide"),
            NightDecision::Waiting => look("warning", "review", "waits for review"),
            NightDecision::Adopted => look("accepted", "accepted", "adopted"),
            NightDecision::Rejected => look("rejected", "rejected", "turned down"),
            NightDecision::Reverted => look("skipped", "history", "reverted"),
            NightDecision::Stale => look("warning", "warning", "live file changed"),
        }
    }
}

impl From<GateAction> for Look {
    fn from(action: GateAction) -> Self {
        match action {
            GateAction::AcceptNewBest => look("accepted", "accepted", "accepted, new best"),
            GateAction::Accept => look("accepted", "accepted", "accepted"),
            GateAction::Reject => look("rejected", "rejected", "rejected"),
            GateAction::RejectUnverified => look("unverified", "unverified", "not verified"),
            GateAction::GreedyApplied => look("forced", "forced", "kept without the gate"),
            GateAction::GreedyNoop => look("skipped", "noimp", "nothing applied"),
        }
    }
}

/// Name of a stage of a night.
pub(crate) fn night_stage_name(stage: NightStage) -> &'static str {
    match stage {
        NightStage::Harvest => "Harvest",
        NightStage::Mine => "Mine",
        NightStage::Replay => "Replay",
        NightStage::Reflect => "Reflect",
        NightStage::Consolidate => "Consolidate",
        NightStage::Stage => "Stage",
    }
}

/// Name of a stage and the icon that stands for it.
pub(crate) fn stage_look(stage: Stage) -> (&'static str, &'static str) {
    match stage {
        Stage::Rollout => ("Rollout", "batch"),
        Stage::Reflect => ("Reflect", "search"),
        Stage::Aggregate => ("Aggregate", "merge"),
        Stage::Select => ("Select", "filter"),
        Stage::Update => ("Update", "pencil"),
        Stage::Evaluate => ("Evaluate", "gate"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rejection_is_no_alarm() {
        assert_eq!(Look::from(Action::Reject).status, "rejected");
        assert_eq!(Look::from(RunStatus::Failed).status, "failed");
    }

    #[test]
    fn each_state_of_a_night_has_its_own_word() {
        let mut words: Vec<_> = NightStatus::ALL.map(|status| Look::from(status).word).into();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), NightStatus::ALL.len());
    }

    #[test]
    fn each_run_state_has_its_own_word() {
        let mut words: Vec<_> = RunStatus::ALL.map(|status| Look::from(status).word).into();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), RunStatus::ALL.len());
    }
}
