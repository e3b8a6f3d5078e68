//! A night as the dashboard and the command line show it: the row of the store, with what its folder says.

use super::decide::key_of;
use skillopt_domain::api::{
    NightDecision, NightDetail, NightItem, NightProposal, NightReceipt, NightTask, ReasonCount,
    SourceItem,
};
use skillopt_domain::hash::Sha256Hex;
use skillopt_domain::night::edit::{EditRecord, Target};
use skillopt_domain::night::report::{DeltaStatus, SleepReport};
use skillopt_sleep::adopt::{Decision, Receipt, Review, RowState, review, texts};
use skillopt_sleep::block::new_risks;
use skillopt_sleep::harvest::{Harvest, SourceReport};
use skillopt_sleep::stage::Role;
use skillopt_sleep::task::{Check, TaskRecord};
use skillopt_store::NightRow;
use std::fs;
use std::path::Path;

/// The largest file of a night's folder that is read into a page, in bytes.
const MOST_BYTES: u64 = 8 << 20;

/// A night in a list. Looks into its folder for what was decided.
pub(crate) fn night_item(row: &NightRow) -> NightItem {
    let reviews = row.staging.as_deref().and_then(|dir| review(Path::new(dir)).ok());
    item_of(row, reviews.as_deref().unwrap_or_default())
}

fn item_of(row: &NightRow, reviews: &[Review]) -> NightItem {
    let report = report_of(row);
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
        decision: decision_of(reviews),
        started_at_ms: row.started_at_ms,
        ended_at_ms: row.ended_at_ms,
        progress: row.progress.clone(),
        baseline_score: report.as_ref().and_then(|report| report.baseline_score),
        candidate_score: report.as_ref().and_then(|report| report.candidate_score),
        accepted: report.is_some_and(|report| report.accepted),
    }
}

fn report_of(row: &NightRow) -> Option<SleepReport> {
    serde_json::from_str(row.report_json.as_deref()?).ok()
}

/// What is asked of a person: one open proposal is enough to be asked.
fn decision_of(reviews: &[Review]) -> NightDecision {
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
pub(crate) fn night_detail(row: &NightRow) -> NightDetail {
    let dir = row.staging.as_deref().map(Path::new);
    let tasks = dir.map(read_tasks).unwrap_or_default();
    let (reviews, refusal) = match dir.map(review) {
        Some(Ok(reviews)) => {
            let refusal = refusal_of(&reviews);
            (reviews, refusal)
        }
        Some(Err(err)) => (Vec::new(), err.to_string()),
        None => (Vec::new(), String::new()),
    };
    let report = report_of(row);
    let checks: Vec<Check> = tasks.iter().flat_map(checks_of).collect();
    let edits = report.as_ref().map(|report| report.edits.clone()).unwrap_or_default();
    let proposals = match dir {
        Some(dir) => reviews.iter().map(|review| proposal(dir, review, &edits, &checks)).collect(),
        None => Vec::new(),
    };
    NightDetail {
        night: item_of(row, &reviews),
        staging: row.staging.clone().unwrap_or_default(),
        sources: sources_of(row),
        tasks: tasks.iter().map(|task| task_item(task, report.as_ref())).collect(),
        report,
        proposals,
        receipts: reviews.iter().flat_map(receipts_of).collect(),
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

fn proposal(dir: &Path, review: &Review, edits: &[EditRecord], checks: &[Check]) -> NightProposal {
    let row = &review.row;
    let texts = texts(dir, row);
    let (before, after) = (texts.baseline.unwrap_or_default(), texts.proposed.unwrap_or_default());
    let target = match row.role {
        Role::Memory => Target::Memory,
        Role::ManagedSkill | Role::Skill(_) => Target::Skill,
    };
    let is_own = matches!(row.role, Role::Skill(_));
    NightProposal {
        key: key_of(&row.role),
        live_path: row.live_path.display().to_string(),
        risks: new_risks(&before, &after, checks).iter().map(ToString::to_string).collect(),
        edits: edits.iter().filter(|edit| !is_own && edit.target == target).cloned().collect(),
        before,
        after,
    }
}

fn receipts_of(review: &Review) -> Vec<NightReceipt> {
    let key = key_of(&review.row.role);
    match &review.state {
        RowState::Pending | RowState::Stale { .. } => Vec::new(),
        RowState::Rejected(decision) => vec![rejection(&key, decision)],
        RowState::Adopted { receipt, decision } => {
            vec![receipt_item("adopted", &key, receipt, decision.as_ref())]
        }
        RowState::Reverted { receipt, decision } => vec![
            receipt_item("adopted", &key, receipt, None),
            receipt_item("reverted", &key, receipt, Some(decision)),
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
    }
}

fn task_item(task: &TaskRecord, report: Option<&SleepReport>) -> NightTask {
    let word = |value: serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let delta = report.and_then(|report| {
        let last = report.gate_trials.iter().rev();
        last.flat_map(|trial| &trial.task_deltas).find(|delta| delta.task_id == task.id)
    });
    NightTask {
        id: task.id.clone(),
        intent: task.intent.clone(),
        split: word(serde_json::json!(task.split)),
        check: word(serde_json::json!(task.reference_kind)),
        sessions: task.source_sessions.clone(),
        outcome: word(serde_json::json!(task.outcome)),
        before: delta.and_then(|delta| delta.baseline_score),
        after: delta
            .filter(|delta| delta.status != DeltaStatus::Regressed || delta.scores_are_finite)
            .and_then(|delta| delta.candidate_score),
    }
}

fn checks_of(task: &TaskRecord) -> Vec<Check> {
    let checks = task.judge.get("checks").cloned().unwrap_or_default();
    serde_json::from_value(checks).unwrap_or_default()
}

fn read_tasks(dir: &Path) -> Vec<TaskRecord> {
    serde_json::from_str(&read_text(&dir.join("tasks.json"))).unwrap_or_default()
}

/// A file's text; nothing when it is missing, too large or none.
fn read_text(path: &Path) -> String {
    let is_fine =
        path.symlink_metadata().is_ok_and(|meta| meta.is_file() && meta.len() <= MOST_BYTES);
    if is_fine { fs::read_to_string(path).unwrap_or_default() } else { String::new() }
}

/// The sources of a harvest as the store keeps them.
pub(super) fn sources_json(harvest: &Harvest) -> String {
    let items: Vec<SourceItem> = harvest.sources.iter().map(source_item).collect();
    serde_json::to_string(&items).unwrap_or_default()
}

fn sources_of(row: &NightRow) -> Vec<SourceItem> {
    row.harvest_json.as_deref().and_then(|json| serde_json::from_str(json).ok()).unwrap_or_default()
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
