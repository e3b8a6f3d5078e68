//! What a night lays aside: documents, report, diagnostics, tasks, and what earlier nights laid aside of edits that lost.

use crate::adopt::Decisions;
use crate::backend::LostEdit;
use crate::config::Config;
use crate::night::work::Decided;
use crate::night::{NightPlan, is_gated};
use crate::redact::{redact, redact_json};
use crate::reflect::cut;
use crate::report::{ReportHeading, report_md};
use crate::stage::{Night, Pinned, Proposal, ProposedDoc, Published, Role};
use crate::state::{KnownNights, NightRow};
use crate::task::TaskRecord;
use serde_json::{Value, json};
use skillopt_domain::night::edit::{EditRecord, Target};
use skillopt_domain::night::report::SleepReport;
use std::path::Path;

/// Nights whose rejected edits the optimizer is shown.
const NIGHTS_OF_REJECTIONS: usize = 5;
/// How much of a person's reason the optimizer is shown.
const REASON_CHARS: usize = 300;

/// Edits that lost in the last nights of the project, or that a person turned down, the oldest first. Nights that the
/// history does not name were brought by the project: nobody here turned anything down in them.
pub(in crate::night) fn rejected_before(project: &Path, history: &[NightRow]) -> Vec<LostEdit> {
    let known = KnownNights::of(history);
    let nights = crate::stage::nights(project).unwrap_or_default();
    let own = nights.into_iter().filter(|night| known.has(&night.dir));
    let lost = own.take(NIGHTS_OF_REJECTIONS).filter_map(lost_of);
    let mut edits: Vec<Vec<LostEdit>> = lost.collect();
    edits.reverse();
    edits.concat()
}

fn lost_of(night: Night) -> Option<Vec<LostEdit>> {
    let report = night.report?;
    // What cannot be read was decided by nobody.
    let decisions = Decisions::read(&night.dir).unwrap_or_default();
    let turned_down = |edit: EditRecord| {
        let role = match edit.target {
            Target::Skill => Role::ManagedSkill,
            Target::Memory => Role::Memory,
        };
        // A person may type a secret as well, and whatever is shown leaves this machine.
        let reason = cut(&redact(&decisions.rejection(&role)?.reason).text, REASON_CHARS);
        Some(LostEdit { edit, reason })
    };
    let by_gate = report.rejected_edits.into_iter().map(LostEdit::from);
    Some(by_gate.chain(report.edits.into_iter().filter_map(turned_down)).collect())
}

/// `report` has no secrets in it.
pub(super) fn proposal<'a>(
    plan: &NightPlan,
    report: &'a SleepReport,
    decided: &Decided,
) -> Proposal<'a> {
    let config = &plan.config;
    let is_named = config.user_set.contains("replay_mode");
    let heading = ReportHeading {
        backend: config.backend.as_str(),
        replay_mode: if is_named { &config.replay_mode } else { "" },
        gated: is_gated(config),
    };
    Proposal {
        report_md: report_md(report, &heading),
        diagnostics: diagnostics(plan, report, decided),
        report,
        docs: proposed(decided, report),
        skill_roots: plan.skill_roots.clone(),
        live_skill_path: plan.config.managed_skill_path(),
        live_memory_path: plan.config.memory_path(),
    }
}

/// All documents that changed and may be adopted. What was rejected is in the report only.
fn proposed(decided: &Decided, report: &SleepReport) -> Vec<ProposedDoc> {
    let mut docs = Vec::new();
    let mut add = |pinned: &Pinned, text: &Option<String>| {
        if let Some(text) = text {
            docs.push(ProposedDoc { pinned: pinned.clone(), text: text.clone() });
        }
    };
    if report.accepted {
        add(&decided.documents.skill, &decided.outcome.new_skill);
        if let Some(memory) = &decided.documents.memory {
            add(memory, &decided.outcome.new_memory);
        }
    }
    for group in decided.groups.iter().filter(|group| group.report.accepted) {
        let name = &group.report.skill_name;
        let pinned = decided.group_skills.iter().find(|(known, _)| known == name);
        if let (Some((_, pinned)), Some(outcome)) = (pinned, &group.outcome) {
            add(pinned, &outcome.new_skill);
        }
    }
    docs
}

/// Skills of their own that have a proposal.
pub(super) fn own_names(published: &Published) -> Vec<String> {
    let name = |role: &Role| match role {
        Role::Skill(name) => Some(name.as_str().to_owned()),
        Role::ManagedSkill | Role::Memory => None,
    };
    published.manifest.rows.iter().filter_map(|row| name(&row.role)).collect()
}

fn diagnostics(plan: &NightPlan, report: &SleepReport, decided: &Decided) -> Value {
    let Config { backend, opencode_tool_replay, gate_mode, gate_no_regression, .. } = &plan.config;
    let outcome = &decided.outcome;
    json!({
        "night": report.night,
        "backend": backend.as_str(),
        "opencode_tool_replay": opencode_tool_replay,
        "gate_mode": gate_mode,
        "gate_no_regression": gate_no_regression,
        "n_tasks": report.n_tasks,
        "baseline": report.baseline_score,
        "candidate": report.candidate_score,
        "accepted": report.accepted,
        "gate_action": report.gate_action,
        "holdout_leaked": report.holdout_leaked,
        "n_applied_edits": outcome.applied_edits.len(),
        "n_rejected_edits": outcome.rejected_edits.len(),
        "n_unmatched_edits": outcome.unmatched_edits.len(),
        "call_error": outcome.call_error,
        "reflect_raw_head": outcome.reflect_raw.chars().take(1200).collect::<String>(),
        "holdout_detail": outcome.holdout_detail,
        "gate_trials": outcome.gate_trials,
    })
}

pub(super) fn redacted(value: &Value) -> Value {
    let mut value = value.clone();
    redact_json(&mut value);
    value
}

/// The night's tasks beside its proposal, for people who look at them later. Best effort: they are evidence, no part
/// of the proposal.
pub(super) fn write_tasks(dir: &Path, tasks: &[TaskRecord]) {
    let mut value = json!(tasks);
    redact_json(&mut value);
    let bytes = format!("{value:#}\n");
    let mode = crate::adopt::live_file::Mode::Private;
    let _ = crate::adopt::live_file::replace(&dir.join("tasks.json"), bytes.as_bytes(), mode);
}
