//! What is kept of a night: the staging folder, the state, and an adoption at once where the config says so.

use super::{
    Decided, Finished, NightFailure, NightPlan, NightResult, Place, adopt_at_once, is_gated,
};
use crate::block::new_risks;
use crate::config::Config;
use crate::redact::redact_json;
use crate::report::{ReportHeading, report_md};
use crate::stage::{Pinned, Proposal, ProposedDoc, Retention, publish, purge};
use crate::state::{NightRow, StateFile};
use crate::task::TaskRecord;
use serde_json::{Value, json};
use skillopt_domain::night::edit::EditRecord;
use skillopt_domain::night::report::SleepReport;
use skillopt_engine::ports::Clock;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Nights whose rejected edits the optimizer is shown.
const NIGHTS_OF_REJECTIONS: usize = 5;

/// Edits that lost in the last nights of the project, the oldest first.
pub(super) fn rejected_before(project: &Path) -> Vec<EditRecord> {
    let nights = crate::stage::nights(project).unwrap_or_default();
    let reports = nights.into_iter().take(NIGHTS_OF_REJECTIONS).filter_map(|night| night.report);
    let mut edits: Vec<Vec<EditRecord>> = reports.map(|report| report.rejected_edits).collect();
    edits.reverse();
    edits.concat()
}

pub(super) fn keep(
    plan: &NightPlan,
    state: &StateFile,
    place: Place,
    finished: Finished,
    clock: &Arc<dyn Clock>,
) -> Result<NightResult, NightFailure> {
    let Finished { number, mut report, gathered, decided, evidence } = finished;
    let mut result = NightResult {
        report: SleepReport::default(),
        tasks: gathered.tasks,
        harvest: gathered.harvest,
        staging: None,
        staged_skills: Vec::new(),
        adopted: Vec::new(),
        not_adopted: String::new(),
    };
    let fields = json!({"accepted": report.accepted, "gate_action": report.gate_action, "n_tasks": report.n_tasks});
    match (place, decided) {
        (Place::Staging(reserved), Some(decided)) => {
            let risks = risks_of(&decided, &result.tasks);
            let docs = proposed(&decided, &report);
            result.staged_skills = docs.iter().filter_map(own_name).collect();
            let proposal = Proposal {
                report_md: report_md(&report, &heading(plan, &decided)),
                diagnostics: diagnostics(plan, &report, &decided),
                report: &report,
                docs,
                skill_roots: plan.skill_roots.clone(),
                live_skill_path: plan.config.managed_skill_path(),
                live_memory_path: plan.config.memory_path(),
            };
            let published = publish(&reserved, &proposal, &|value| redacted(value))?;
            evidence.record("stage", "staged", json!({"dir": published.dir}));
            write_tasks(&published.dir, &result.tasks);
            result.staging = Some(published.dir);
            remember(plan, state, &report, &result, number, clock)?;
            adopt_if_asked(plan, &mut report, &mut result, &risks, clock);
        }
        (Place::Staging(reserved), None) => {
            // A folder without a proposal is nobody's: the history row tells of the night.
            let _ = reserved.give_up();
            remember(plan, state, &report, &result, number, clock)?;
        }
        (Place::Log(_), _) => {}
    }
    evidence.record("cycle", "end", fields);
    result.report = report;
    Ok(result)
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
        let pinned = decided.group_skills.iter().find(|pinned| is_skill(pinned, name));
        if let (Some(pinned), Some(outcome)) = (pinned, &group.outcome) {
            add(pinned, &outcome.new_skill);
        }
    }
    docs
}

fn is_skill(pinned: &Pinned, name: &str) -> bool {
    matches!(&pinned.role, crate::stage::Role::Skill(skill) if skill.as_str() == name)
}

fn own_name(doc: &ProposedDoc) -> Option<String> {
    match &doc.pinned.role {
        crate::stage::Role::Skill(name) => Some(name.as_str().to_owned()),
        _ => None,
    }
}

fn heading<'a>(plan: &'a NightPlan, decided: &Decided) -> ReportHeading<'a> {
    let _ = decided;
    ReportHeading { backend: plan.config.backend.as_str(), gated: is_gated(&plan.config) }
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
        "reflect_raw_head": outcome.reflect_raw.chars().take(1200).collect::<String>(),
        "holdout_detail": outcome.holdout_detail,
        "gate_trials": outcome.gate_trials,
    })
}

fn redacted(value: &Value) -> Value {
    let mut value = value.clone();
    redact_json(&mut value);
    value
}

/// The night's tasks beside its proposal, for people who look at them later. Best effort: they are evidence, no part
/// of the proposal.
fn write_tasks(dir: &Path, tasks: &[TaskRecord]) {
    let mut value = json!(tasks);
    redact_json(&mut value);
    let bytes = format!("{value:#}\n");
    let mode = crate::adopt::live_file::Mode::Private;
    let _ = crate::adopt::live_file::replace(&dir.join("tasks.json"), bytes.as_bytes(), mode);
}

/// The history, the tasks for recall, and where the next harvest goes on.
fn remember(
    plan: &NightPlan,
    state: &StateFile,
    report: &SleepReport,
    result: &NightResult,
    number: u32,
    clock: &Arc<dyn Clock>,
) -> Result<(), NightFailure> {
    let project = report.project.clone();
    let now_ms = clock.now_ms();
    state.update(|state| {
        while state.begin_night(&project) < number {}
        // Tasks from a file say nothing about what was harvested.
        if let Some(harvest) = &result.harvest {
            state.set_last_harvest(&project, now_ms);
            state.set_harvest_cursor(&project, json!(harvest.state));
        }
        let real: Vec<TaskRecord> =
            result.tasks.iter().filter(|task| task.is_real()).cloned().collect();
        state.archive_tasks(&real);
        state.note_model(&project, &model_key(&plan.config));
        state.add_night(&NightRow {
            night: number,
            project: project.clone(),
            at: report.ended_at.clone(),
            accepted: report.accepted,
            baseline: report.baseline_score,
            candidate: report.candidate_score,
            n_tasks: report.n_tasks,
            staging: result.staging.as_ref().map_or(String::new(), |dir| dir.display().to_string()),
        });
    })?;
    tidy(plan, now_ms);
    Ok(())
}

/// What is older than the config keeps goes. Best effort: an old folder that stays harms nobody.
fn tidy(plan: &NightPlan, now_ms: u64) {
    let small = |count| u32::try_from(count).unwrap_or(u32::MAX);
    let keep = Retention {
        keep_nights: small(plan.config.keep_nights),
        keep_days: small(plan.config.keep_days),
    };
    if keep.keep_nights > 0 {
        let _ = purge(&plan.config.invoked_project, keep, now_ms);
    }
}

/// Who answers, as the state notes it: learned text may not hold for another model.
fn model_key(config: &Config) -> String {
    let (target, optimizer) = (config.target(), config.optimizer());
    let of = |role: &crate::config::RoleBackend| format!("{}::{}", role.backend, role.model);
    match target == optimizer {
        true => of(&target),
        false => format!("optimizer={};target={}", of(&optimizer), of(&target)),
    }
}

/// What speaks against adopting without a look.
fn risks_of(decided: &Decided, tasks: &[TaskRecord]) -> Vec<String> {
    let checks: Vec<crate::task::Check> = tasks.iter().flat_map(checks_of).collect();
    let of = |live: &str, text: &Option<String>| match text {
        Some(text) => new_risks(live, text, &checks).iter().map(ToString::to_string).collect(),
        None => Vec::new(),
    };
    let memory = decided.documents.memory.as_ref().map_or("", |memory| &memory.text);
    let mut risks = of(&decided.documents.skill.text, &decided.outcome.new_skill);
    risks.extend(of(memory, &decided.outcome.new_memory));
    risks
}

/// The checks of a task's judge; none for other judges.
pub(crate) fn checks_of(task: &TaskRecord) -> Vec<crate::task::Check> {
    let checks = task.judge.get("checks").cloned().unwrap_or_default();
    serde_json::from_value(checks).unwrap_or_default()
}

fn adopt_if_asked(
    plan: &NightPlan,
    report: &mut SleepReport,
    result: &mut NightResult,
    risks: &[String],
    clock: &Arc<dyn Clock>,
) {
    let Some(dir) = result.staging.clone() else { return };
    if !plan.config.auto_adopt || !report.accepted {
        return;
    }
    if !is_gated(&plan.config) {
        "the gate is off: what nothing was validated on is not adopted at once"
            .clone_into(&mut result.not_adopted);
    } else if !risks.is_empty() {
        result.not_adopted = format!("a person has to look first: {}", risks.join("; "));
    } else {
        match adopt_at_once(plan, &PathBuf::from(&dir), clock.now_ms()) {
            Ok(receipts) => result.adopted = receipts,
            Err(err) => result.not_adopted = err.to_string(),
        }
    }
    if !result.not_adopted.is_empty() {
        report.notes.push(format!("not adopted at once: {}", result.not_adopted));
    }
}
