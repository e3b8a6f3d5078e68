//! One finished step: its record and its files as the events that this program would have written.

use super::json::Fields;
use super::proposal::{candidate, merged_and_ranked, reflected, updated};
use super::reader::{Reader, mean_of, selection_key};
use super::rows::{Row, step_dir};
use super::spend::{self, StepCost};
use super::verdict::{self, Gated};
use serde_json::Value;
use skillopt_domain::edit::{EditReport, EditStatus};
use skillopt_domain::event::{EventKind, StepSummary};
use skillopt_domain::hash::Sha256Hex;
use skillopt_domain::outcome::{OutcomeCounts, RolloutPurpose};
use skillopt_domain::score::MeanScore;
use skillopt_domain::spend::SpendByRole;
use skillopt_domain::verdict::Action;

/// What is carried from step to step.
#[derive(Debug)]
pub(super) struct Walk {
    pub(super) version: u32,
    pub(super) current: Sha256Hex,
    /// The text whose results stand for the current one: the same but for an empty region.
    pub(super) measured: Sha256Hex,
    pub(super) current_score: Option<f64>,
    pub(super) best: Sha256Hex,
    pub(super) steps_per_epoch: u32,
    pub(super) spend: SpendByRole,
    pub(super) wall_ms: u64,
    /// The text at the end of the epoch before.
    pub(super) epoch_skill: Sha256Hex,
    /// Guidance was put into the text after the step at hand, so that its file holds what came later.
    pub(super) is_guided: bool,
}

/// What a step's files tell, stage by stage.
struct Facts {
    action: Action,
    rollout: Option<MeanScore>,
    counts: OutcomeCounts,
    budget: u32,
    reports: Option<Vec<EditReport>>,
    candidate: Option<Sha256Hex>,
    gated: Option<Gated>,
    cost: StepCost,
}

pub(super) fn key(step: u32, what: &str) -> String {
    format!("step/{step:04}/{what}")
}

/// Reads a step and emits its events.
pub(super) fn read(reader: &mut Reader, walk: &mut Walk, row: &Row) {
    let fields = row.fields();
    let dir = step_dir(row.step);
    let batches = batch_dirs(reader, &dir);
    let (rollout, counts) = rolled_out(reader, walk, row, &batches);
    reflected(reader, row, &dir, &batches);
    let action = action(&fields, row.step, reader);
    let ranked = merged_and_ranked(reader, row, &dir, action);
    let candidate = candidate(reader, &fields, row.step, &dir, action);
    let reports = updated(reader, row, &dir, &ranked.edits, candidate.as_ref());
    let gated = candidate
        .as_ref()
        .filter(|_| !action.is_skip())
        .and_then(|candidate| verdict::read(reader, walk, row, action, candidate));
    if let Some(gated) = &gated {
        let (verdict, set) = (gated.verdict.clone(), gated.set.clone());
        reader.emit(
            key(row.step, "gated"),
            row.at_ms,
            EventKind::Gated { step: row.step, verdict, set },
        );
    }
    let n_rollouts = rollout.map_or(counts.total(), |mean| mean.n);
    let cost = spend::of_row(&fields, reader.is_ours, n_rollouts, &mut reader.findings);
    let facts =
        Facts { action, rollout, counts, budget: ranked.budget, reports, candidate, gated, cost };
    finish(reader, walk, row, &facts);
}

/// Directories of the step's batches: one each with accumulation, else the step's own.
fn batch_dirs(reader: &Reader, dir: &str) -> Vec<String> {
    let names = reader.folder.names(dir);
    let mut batches: Vec<(u32, String)> = names
        .iter()
        .filter_map(|name| Some((name.strip_prefix("batch_")?.parse().ok()?, name)))
        .map(|(number, name)| (number, format!("{dir}/{name}")))
        .collect();
    batches.sort();
    if batches.is_empty() {
        return vec![dir.to_owned()];
    }
    batches.into_iter().map(|(_, dir)| dir).collect()
}

fn rolled_out(
    reader: &mut Reader,
    walk: &Walk,
    row: &Row,
    batches: &[String],
) -> (Option<MeanScore>, OutcomeCounts) {
    let (mut sets, mut outcomes) = (Vec::new(), Vec::new());
    for (at, dir) in batches.iter().enumerate() {
        let (name, dir) = (key(row.step, &format!("batch/{at}")), format!("{dir}/rollout"));
        let purpose = RolloutPurpose::Train;
        if let Some(set) = reader.add_set(&name, purpose, row.step, &walk.current, &dir) {
            outcomes.extend(set.outcomes.iter().cloned());
            sets.push(name);
        }
    }
    let fields = row.fields();
    let findings = &mut reader.findings;
    let n = fields.count("rollout_n", findings).filter(|n| *n > 0);
    let (hard, soft) =
        (fields.share("rollout_hard", findings), fields.share("rollout_soft", findings));
    let found = mean_of(&outcomes);
    let score = match (hard, soft, n.or(found.map(|mean| mean.n))) {
        (Some(hard), Some(soft), Some(n)) => Some(MeanScore { hard, soft, n }),
        _ => found,
    };
    let counts = OutcomeCounts::of(&outcomes);
    let event = EventKind::RolledOut { step: row.step, score, counts, sets };
    reader.emit(key(row.step, "rolled_out"), row.at_ms, event);
    (score, counts)
}

/// The word of the record. Words that this program does not have stand for the nearest that it has.
fn action(fields: &Fields<'_>, step: u32, reader: &mut Reader) -> Action {
    let word = fields.text("action", &mut reader.findings).unwrap_or_default();
    // The Python system has one word for all that it keeps without a gate; the step it names as the best tells them apart.
    if word == "force_accept" && fields.count("best_step", &mut reader.findings) == Some(step) {
        return Action::AcceptNewBest;
    }
    if let Ok(action) = serde_json::from_value(Value::String(word.to_owned())) {
        return action;
    }
    if word.starts_with("skip") {
        return Action::SkipNoPatches;
    }
    let message = format!("`{word}` is no known end of a step; shown as undecided");
    reader.findings.add(fields.file, &format!("{}, action", fields.place), message);
    Action::Inconclusive
}

/// Two texts that differ by an empty region only, which the Python system puts in at the end of the first epoch.
fn says_the_same(reader: &Reader, left: &Sha256Hex, right: &Sha256Hex) -> bool {
    let text = |skill| reader.skills.get(skill).map(|text| without_empty_region(text));
    left == right || text(left).is_some_and(|left| Some(left) == text(right))
}

fn without_empty_region(text: &str) -> &str {
    let head = text.trim_end().strip_suffix("<!-- SLOW_UPDATE_END -->").map(str::trim_end);
    let head = head.and_then(|head| head.strip_suffix("<!-- SLOW_UPDATE_START -->"));
    head.unwrap_or(text).trim_end()
}

/// The file of the current skill after a step.
pub(super) fn skill_file(step: u32) -> String {
    format!("skills/skill_v{step:04}.md")
}

fn finish(reader: &mut Reader, walk: &mut Walk, row: &Row, facts: &Facts) {
    let fields = row.fields();
    let file = skill_file(row.step);
    let after = reader.skill(&file);
    if after.is_none() && !facts.action.is_accepted() {
        reader.findings.add(&file, "", "missing; taken to be the text before the step");
    }
    let skill = if facts.action.is_accepted() {
        // The file may hold what a slow update made of the accepted text; the score is the candidate's.
        facts.candidate.clone().or(after.clone()).unwrap_or_else(|| walk.current.clone())
    } else {
        let before = after.clone().filter(|_| !walk.is_guided);
        before.unwrap_or_else(|| walk.current.clone())
    };
    if facts.action.is_accepted() {
        walk.version += 1;
    }
    if facts.action == Action::AcceptNewBest {
        walk.best = skill.clone();
    }
    let base = if facts.action.is_accepted() { skill.clone() } else { walk.measured.clone() };
    let after = after.filter(|_| !walk.is_guided).unwrap_or_else(|| skill.clone());
    walk.measured = if says_the_same(reader, &base, &after) { base.clone() } else { after.clone() };
    let current_n =
        reader.n_selection_of(if facts.action.is_accepted() { &base } else { &walk.measured });
    let current_score = fields.gate_score("current_score", &mut reader.findings);
    let flips = facts.gated.as_ref().map_or(Some((0, 0)), |gated| gated.verdict.flips());
    let summary = StepSummary {
        step: row.step,
        epoch: epoch(&fields, walk, row.step, reader),
        action: facts.action,
        rollout: facts.rollout,
        candidate_score: facts.gated.as_ref().and_then(|gated| gated.verdict.candidate_score),
        current_score,
        current_n,
        best_score: fields.gate_score("best_score", &mut reader.findings),
        best_n: reader.n_selection_of(&walk.best),
        n_selection: facts
            .gated
            .as_ref()
            .and_then(|gated| gated.verdict.candidate)
            .map(|mean| mean.n),
        n_fixed: flips.map(|flips| flips.0),
        n_broke: flips.map(|flips| flips.1),
        edit_budget: facts.budget,
        n_applied: n_edits(&fields, facts, "applied", reader, |status| {
            status == EditStatus::Applied
        }),
        n_not_applied: n_edits(&fields, facts, "skipped", reader, |status| {
            !matches!(status, EditStatus::Applied | EditStatus::OverBudget)
        }),
        skill_tokens: reader.tokens(&skill),
        skill: skill.clone(),
        candidate: facts.candidate.clone(),
        version: walk.version,
        n_errors: n_errors(reader, facts),
        n_attempts: n_attempts(reader, facts),
        spend: facts.cost.spend,
        stages: facts.cost.stages.clone(),
        reason: reason(&fields, facts, reader),
    };
    walk.spend += facts.cost.spend;
    walk.wall_ms += facts.cost.wall_ms;
    walk.current_score = current_score;
    walk.current = after;
    reader.emit(key(row.step, "finished"), row.at_ms, EventKind::StepFinished(summary));
}

fn epoch(fields: &Fields<'_>, walk: &Walk, step: u32, reader: &mut Reader) -> u32 {
    let told = fields.count("epoch", &mut reader.findings).filter(|epoch| *epoch > 0);
    told.unwrap_or_else(|| (step - 1) / walk.steps_per_epoch.max(1) + 1)
}

fn n_edits(
    fields: &Fields<'_>,
    facts: &Facts,
    word: &str,
    reader: &mut Reader,
    counts: fn(EditStatus) -> bool,
) -> u32 {
    if let Some(reports) = &facts.reports {
        let n = reports.iter().filter(|report| counts(report.status)).count();
        return u32::try_from(n).unwrap_or(u32::MAX);
    }
    let summary = fields.within("edit_apply_summary", &mut reader.findings);
    summary.and_then(|summary| summary.count(word, &mut reader.findings)).unwrap_or_default()
}

/// Errors and attempts are counted for our own folders only: the Python system scores errors as 0, so that how
/// many there were is not known, and 0 of 0 says so.
fn n_errors(reader: &Reader, facts: &Facts) -> u32 {
    if reader.is_ours { facts.counts.errors + selection_counts(reader, facts).errors } else { 0 }
}

fn n_attempts(reader: &Reader, facts: &Facts) -> u32 {
    if reader.is_ours { facts.counts.total() + selection_counts(reader, facts).total() } else { 0 }
}

/// The candidate's attempts, unless its text was measured before.
fn selection_counts(reader: &Reader, facts: &Facts) -> OutcomeCounts {
    let gated = facts.gated.as_ref().filter(|gated| !gated.verdict.reused);
    let candidate = facts.candidate.as_ref().filter(|_| gated.is_some());
    candidate.map_or_else(OutcomeCounts::default, |candidate| {
        debug_assert_eq!(gated.map(|gated| gated.set.clone()), Some(selection_key(candidate)));
        OutcomeCounts::of(reader.selection_of(candidate))
    })
}

fn reason(fields: &Fields<'_>, facts: &Facts, reader: &mut Reader) -> String {
    if let Some(reason) = fields.text("reason", &mut reader.findings) {
        return reason.to_owned();
    }
    match (&facts.gated, facts.action) {
        (Some(gated), _) => gated.verdict.reason.clone(),
        (None, Action::SkipNoPatches) => "no edit was proposed".to_owned(),
        (None, action) => format!(
            "the Python system noted `{}`",
            fields.get("action").and_then(Value::as_str).unwrap_or(action.as_str())
        ),
    }
}
