//! A night as the dashboard and the command line show it: the row of the store, with what its folder says.

use super::decide::key_of;
use super::folder::staging_of_row;
use super::plain::read_plain_text;
use skillopt_domain::api::{
    NightDecision, NightDetail, NightItem, NightProposal, NightReceipt, NightTask, ReasonCount,
    SourceItem,
};
use skillopt_domain::hash::Sha256Hex;
use skillopt_domain::night::edit::EditRecord;
use skillopt_domain::night::report::{SleepReport, TaskDelta};
use skillopt_sleep::adopt::{
    Action, AdoptError, Choice, Decision, Receipt, Review, RowState, decisions, report_edits,
    report_guidance, review, texts,
};
use skillopt_sleep::block::new_risks;
use skillopt_sleep::harvest::{Harvest, SourceReport};
use skillopt_sleep::stage::Role;
use skillopt_sleep::task::{Check, TaskRecord};
use skillopt_store::{NightDocuments, NightRow};
use std::path::{Path, PathBuf};

/// A night in a list, without a look into its folder.
pub(crate) fn night_head(row: &NightRow) -> NightItem {
    item_of(row, NightDecision::None)
}

pub(super) fn item_of(row: &NightRow, decision: NightDecision) -> NightItem {
    NightItem {
        id: row.id.clone(),
        project: row.project.clone(),
        night: row.night,
        is_dry: row.is_dry,
        is_simulated: row.is_simulated,
        models: row.models.clone(),
        actor: row.actor.clone(),
        status: row.status,
        detail: row.detail.clone(),
        decision,
        started_at_ms: row.started_at_ms,
        ended_at_ms: row.ended_at_ms,
        progress: row.progress.clone(),
        baseline_score: row.scores.baseline,
        candidate_score: row.scores.candidate,
        accepted: row.scores.accepted,
    }
}

/// What the folder of a night says.
pub(super) enum Folder {
    /// It laid nothing aside, or the folder was cleared away.
    None,
    /// Its proposals with what became of them.
    Read(PathBuf, Vec<Review>),
    /// Nobody can decide about it as it is.
    Refused(String),
}

impl Folder {
    pub(super) fn read(row: &NightRow) -> Self {
        let reviewed = staging_of_row(row).and_then(|dir| match dir {
            Some(dir) => review(&dir).map(|reviews| Some((dir, reviews))),
            None => Ok(None),
        });
        match reviewed {
            Ok(Some((dir, reviews))) => Self::Read(dir, reviews),
            Ok(None) | Err(AdoptError::NoStaging(_)) => Self::None,
            Err(err) => Self::Refused(err.to_string()),
        }
    }

    fn decision(&self) -> NightDecision {
        match self {
            Self::None => NightDecision::None,
            Self::Read(_, reviews) => decision_of(reviews),
            Self::Refused(_) => NightDecision::Stale,
        }
    }
}

/// What is asked of a person: one open proposal is enough to be asked.
pub(super) fn decision_of(reviews: &[Review]) -> NightDecision {
    let any = |is: fn(&RowState) -> bool| reviews.iter().any(|review| is(&review.state));
    if any(|state| matches!(state, RowState::Pending)) {
        NightDecision::Waiting
    } else if any(|state| matches!(state, RowState::Stale { .. })) {
        NightDecision::Stale
    } else if any(|state| matches!(state, RowState::Adopted { .. })) {
        NightDecision::Adopted
    } else if any(|state| matches!(state, RowState::Reverted { .. })) {
        NightDecision::Reverted
    } else if any(|state| matches!(state, RowState::Rejected(_))) {
        NightDecision::Rejected
    } else {
        NightDecision::None
    }
}

/// One night with everything.
pub(crate) fn night_detail(row: &NightRow, documents: &NightDocuments) -> NightDetail {
    let folder = Folder::read(row);
    let report: Option<SleepReport> =
        documents.report_json.as_deref().and_then(|json| serde_json::from_str(json).ok());
    let night = item_of(row, folder.decision());
    let (dir, reviews, refusal) = match folder {
        Folder::Read(dir, reviews) => {
            let refusal = refusal_of(&reviews);
            (Some(dir), reviews, refusal)
        }
        Folder::Refused(text) => (None, Vec::new(), text),
        Folder::None => (None, Vec::new(), String::new()),
    };
    let closer = dir.as_deref().map(look_closely);
    let tasks = closer.as_ref().map_or(&[][..], |closer| closer.tasks.as_slice());
    let tasks = tasks.iter().map(|task| task_item(task, report.as_ref())).collect();
    let (proposals, receipts) = match &closer {
        Some(closer) => (
            reviews.iter().map(|review| closer.proposal(review)).collect(),
            reviews.iter().flat_map(|review| closer.receipts(review)).collect(),
        ),
        None => (Vec::new(), Vec::new()),
    };
    NightDetail {
        night,
        staging: row.staging.clone().unwrap_or_default(),
        sources: sources_of(documents),
        tasks,
        report,
        proposals,
        receipts,
        refusal,
    }
}

fn refusal_of(reviews: &[Review]) -> String {
    let stale = reviews.iter().find(|review| matches!(review.state, RowState::Stale { .. }));
    stale.map_or_else(String::new, |review| {
        format!(
            "{} changed since the night read it; run another night on what is there now",
            review.row.live_path.display()
        )
    })
}

/// What a folder holds beside its manifest.
pub(super) struct Closer {
    dir: PathBuf,
    pub(super) report: Option<SleepReport>,
    pub(super) tasks: Vec<TaskRecord>,
}

/// Reads a folder. Blocks.
pub(super) fn look_closely(dir: &Path) -> Closer {
    let report = read_plain_text(&dir.join("report.json")).ok();
    Closer {
        dir: dir.to_owned(),
        report: report.and_then(|json| serde_json::from_str(&json).ok()),
        tasks: read_tasks(dir),
    }
}

impl Closer {
    /// What speaks against a text in the place of another without a look.
    pub(super) fn risks(&self, before: &str, after: &str) -> Vec<String> {
        let checks: Vec<Check> = self.tasks.iter().flat_map(TaskRecord::checks).collect();
        new_risks(before, after, &checks).iter().map(ToString::to_string).collect()
    }

    pub(super) fn proposal(&self, review: &Review) -> NightProposal {
        let row = &review.row;
        let texts = texts(&self.dir, row);
        let before = texts.baseline.unwrap_or_default();
        let after = texts.proposed.unwrap_or_default();
        let (edits, needs, whole) = match Choice::of(&self.dir, row) {
            Ok(choice) => (choice.edits().to_vec(), choice.needs(), String::new()),
            Err(whole) => (self.edits(&row.role), Vec::new(), whole.to_string()),
        };
        let report = self.report.as_ref();
        NightProposal {
            guidance: report.and_then(|report| report_guidance(report, &row.role)),
            key: key_of(&row.role),
            live_path: row.live_path.display().to_string(),
            risks: self.risks(&before, &after),
            edits,
            before,
            after,
            needs,
            whole,
        }
    }

    /// The edits as the report tells them, whatever they make.
    fn edits(&self, role: &Role) -> Vec<EditRecord> {
        self.report.as_ref().map_or_else(Vec::new, |report| report_edits(report, role))
    }

    fn receipts(&self, review: &Review) -> Vec<NightReceipt> {
        let key = key_of(&review.row.role);
        let mut receipts = receipts_of(&key, &review.state);
        let adopted = decisions(&self.dir).unwrap_or_default().into_iter().rfind(|decision| {
            decision.action == Action::Adopted && decision.role().as_ref() == Some(&review.row.role)
        });
        let some = adopted.filter(|decision| !decision.edits.is_empty());
        if let Some(decision) = some
            && let Ok(choice) = Choice::of(&self.dir, &review.row)
            && let Some(numbers) = choice.numbers_of(&decision.edits)
            && let Some(receipt) = receipts.iter_mut().find(|receipt| receipt.deed == "adopted")
        {
            let n_left_out = choice.edits().len().saturating_sub(numbers.len());
            receipt.n_left_out = u32::try_from(n_left_out).unwrap_or(u32::MAX);
            receipt.edits = numbers;
        }
        receipts
    }
}

fn receipts_of(key: &str, state: &RowState) -> Vec<NightReceipt> {
    match state {
        RowState::Pending | RowState::Stale { .. } => Vec::new(),
        RowState::Rejected(decision) => vec![rejection(key, decision)],
        RowState::Adopted { receipt, decision } => {
            vec![receipt_item("adopted", key, receipt, decision.as_ref())]
        }
        RowState::Reverted { receipt, decision } => vec![
            receipt_item("adopted", key, receipt, None),
            receipt_item("reverted", key, receipt, Some(decision)),
        ],
    }
}

fn receipt_item(
    deed: &str,
    key: &str,
    receipt: &Receipt,
    decision: Option<&Decision>,
) -> NightReceipt {
    let before = receipt.before.as_ref().map_or("", Sha256Hex::as_str).to_owned();
    let after = receipt.after.as_str().to_owned();
    let (before, after) = if deed == "reverted" { (after, before) } else { (before, after) };
    NightReceipt {
        deed: deed.to_owned(),
        key: key.to_owned(),
        live_path: receipt.live_path.display().to_string(),
        before,
        after,
        backup: receipt.backup.as_deref().map_or(String::new(), |path| path.display().to_string()),
        actor: decision.map_or(String::new(), |decision| decision.actor.clone()),
        at: decision.map_or(String::new(), |decision| decision.at.clone()),
        reason: String::new(),
        edits: Vec::new(),
        n_left_out: 0,
    }
}

fn rejection(key: &str, decision: &Decision) -> NightReceipt {
    NightReceipt {
        deed: "rejected".to_owned(),
        key: key.to_owned(),
        live_path: String::new(),
        before: String::new(),
        after: String::new(),
        backup: String::new(),
        actor: decision.actor.clone(),
        at: decision.at.clone(),
        reason: decision.reason.clone(),
        edits: Vec::new(),
        n_left_out: 0,
    }
}

fn task_item(task: &TaskRecord, report: Option<&SleepReport>) -> NightTask {
    let word = |value: serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let (before, after) = report.map_or((None, None), |report| scores_of(&task.id, report));
    NightTask {
        id: task.id.clone(),
        intent: task.intent.clone(),
        split: word(serde_json::json!(task.split)),
        check: word(serde_json::json!(task.reference_kind)),
        sessions: task.source_sessions.clone(),
        outcome: word(serde_json::json!(task.outcome)),
        before,
        after,
    }
}

/// With the live documents, which the first comparison began with; and with the proposal, which only the comparison at
/// the end measured, and which there is only when that was won.
fn scores_of(task: &str, report: &SleepReport) -> (Option<f64>, Option<f64>) {
    let of_task = |delta: &&TaskDelta| delta.task_id == task;
    let mut trials = report.gate_trials.iter();
    let before = trials.find_map(|trial| trial.task_deltas.iter().find(of_task));
    let end = report.gate_trials.iter().rfind(|trial| trial.target == "final" && trial.accepted);
    let after = end.and_then(|trial| trial.task_deltas.iter().find(of_task));
    (before.and_then(|delta| delta.baseline_score), after.and_then(|delta| delta.candidate_score))
}

/// The tasks in the folder of a night; none where there are none that can be read.
pub(crate) fn read_tasks(dir: &Path) -> Vec<TaskRecord> {
    let text = read_plain_text(&dir.join("tasks.json")).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

/// The sources of a harvest as the store keeps them.
pub(super) fn sources_json(harvest: &Harvest) -> String {
    let items: Vec<SourceItem> = harvest.sources.iter().map(source_item).collect();
    serde_json::to_string(&items).unwrap_or_default()
}

fn sources_of(documents: &NightDocuments) -> Vec<SourceItem> {
    let json = documents.harvest_json.as_deref();
    json.and_then(|json| serde_json::from_str(json).ok()).unwrap_or_default()
}

/// What one source had, for people.
pub(crate) fn source_item(report: &SourceReport) -> SourceItem {
    let words = |remarks: &[String]| match remarks {
        [] if report.kept == 0 => report.explanation(),
        remarks => remarks.join("; "),
    };
    let mut skipped = counts(&report.skipped);
    skipped.extend(
        counts(&report.refused)
            .into_iter()
            .map(|count| ReasonCount { reason: format!("file {}", count.reason), ..count }),
    );
    SourceItem {
        source: report.source.to_string(),
        root: report.root.clone(),
        words: words(&report.remarks),
        n_files: report.files,
        n_sessions: report.sessions,
        n_kept: report.kept,
        skipped,
        dropped: counts(&report.dropped),
        masked: counts(&report.redactions),
    }
}

/// Reasons in words: their stable names without underscores.
fn counts<K: serde::Serialize>(counts: &std::collections::BTreeMap<K, u64>) -> Vec<ReasonCount> {
    let of = |(reason, n): (&K, &u64)| {
        let name = serde_json::to_value(reason).unwrap_or_default();
        ReasonCount { reason: name.as_str().unwrap_or_default().replace('_', " "), n: *n }
    };
    counts.iter().filter(|(_, n)| **n > 0).map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn report(trials: &[&serde_json::Value]) -> SleepReport {
        serde_json::from_value(json!({"night": 1, "gate_trials": trials})).unwrap()
    }

    fn trial(target: &str, accepted: bool, before: f64, after: f64) -> serde_json::Value {
        json!({
            "target": target, "accepted": accepted, "blocked_by_regression": false,
            "baseline_score": before, "candidate_score": after,
            "task_deltas": [{
                "task_id": "t", "baseline_score": before, "candidate_score": after,
                "status": "improved", "scores_are_finite": true,
            }],
        })
    }

    #[test]
    fn a_task_is_shown_with_the_live_documents_and_with_what_was_proven_at_the_end() {
        let trials = [trial("skill", true, 0.0, 0.5), trial("memory", true, 0.5, 0.75)];
        let [skill, memory] = trials;
        let won = report(&[&skill, &memory, &trial("final", true, 0.0, 0.7)]);
        assert_eq!(scores_of("t", &won), (Some(0.0), Some(0.7)));
        let lost = report(&[&skill, &memory, &trial("final", false, 0.0, 0.1)]);
        assert_eq!(scores_of("t", &lost), (Some(0.0), None), "nothing is proposed");
        assert_eq!(scores_of("other", &won), (None, None));
    }
}
