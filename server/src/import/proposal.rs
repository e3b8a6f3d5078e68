//! What the optimizer proposed in a step and what became of it: reflection, merged and ranked edits, the candidate.

use super::edits;
use super::json::{self, Fields};
use super::reader::{Reader, unknown_skill};
use super::rows::Row;
use super::step::{key, skill_file};
use serde_json::Value;
use skillopt_domain::config::LrControl;
use skillopt_domain::edit::{Edit, EditReport, EditStatus};
use skillopt_domain::event::{EventKind, FailurePattern, ReflectionSummary};
use skillopt_domain::hash::Sha256Hex;
use skillopt_domain::ids::TaskId;
use skillopt_domain::verdict::Action;

/// Reads what the optimizer said about the groups of trajectories.
pub(super) fn reflected(reader: &mut Reader, row: &Row, dir: &str, batches: &[String]) {
    let mut reflection = ReflectionSummary::default();
    for dir in batches {
        let patches = format!("{dir}/patches");
        for name in reader.folder.names(&patches) {
            let count = match name.get(..15) {
                Some("minibatch_fail_") => &mut reflection.n_failure_minibatches,
                Some("minibatch_succ_") => &mut reflection.n_success_minibatches,
                _ => continue,
            };
            *count += 1;
            let file = format!("{patches}/{name}");
            if let Some(document) = reader.json(&file) {
                edits::add_minibatch(&file, &document, &mut reflection, &mut reader.findings);
            }
        }
    }
    let fields = row.fields();
    let findings = &mut reader.findings;
    reflection.n_failure_patches = fields.count("n_failure_patches", findings).unwrap_or_default();
    reflection.n_success_patches = fields.count("n_success_patches", findings).unwrap_or_default();
    if reader.is_ours
        && let Some(patterns) = digest(reader, dir)
    {
        reflection.patterns = patterns;
    }
    let event = EventKind::Reflected { step: row.step, reflection };
    reader.emit(key(row.step, "reflected"), row.at_ms, event);
}

/// Failure patterns of our own digest, which pairs them with the right tasks.
fn digest(reader: &mut Reader, dir: &str) -> Option<Vec<FailurePattern>> {
    let digest = reader.json(&format!("{dir}/trajectory_digest.json"))?;
    let rows = digest.get("failure_patterns")?.as_array()?;
    let pattern = |row: &Value| {
        let tasks = row.get("task_ids").and_then(Value::as_array).into_iter().flatten();
        Some(FailurePattern {
            pattern: row.get("pattern")?.as_str()?.to_owned(),
            count: row.get("count").and_then(json::whole).unwrap_or_default(),
            tasks: tasks.filter_map(Value::as_str).map(TaskId::from).collect(),
        })
    };
    Some(rows.iter().filter_map(pattern).collect())
}

/// The ranked edits and how many of them could apply.
pub(super) struct Ranked {
    pub(super) edits: Vec<Edit>,
    pub(super) budget: u32,
}

/// Reads the merged and the ranked patch.
pub(super) fn merged_and_ranked(
    reader: &mut Reader,
    row: &Row,
    dir: &str,
    action: Action,
) -> Ranked {
    let fields = row.fields();
    let file = format!("{dir}/merged_patch.json");
    if let Some(Value::Object(patch)) =
        reader.json(&file).filter(|_| action != Action::SkipNoPatches)
    {
        let edits = edits::of_patch(&file, &patch, &mut reader.findings);
        let levels = edits.iter().map(|edit| edit.merge_level).max().unwrap_or_default();
        let reasoning = patch.get("reasoning").and_then(Value::as_str).unwrap_or_default();
        let event = EventKind::Aggregated {
            step: row.step,
            n_edits_in: n_proposed(reader, row.step),
            levels,
            n_fallbacks: u32::from(reasoning.contains("fallback concatenation")),
            edits,
            proposals: Vec::new(),
        };
        reader.emit(key(row.step, "aggregated"), row.at_ms, event);
    }
    let file = format!("{dir}/ranked_edits.json");
    let patch = reader.json(&file).filter(|_| action != Action::SkipNoPatches);
    let (edits, ranking) = match &patch {
        Some(Value::Object(patch)) => {
            (edits::of_patch(&file, patch, &mut reader.findings), Some(edits::ranking(patch)))
        }
        _ => (Vec::new(), None),
    };
    let findings = &mut reader.findings;
    let decided = fields
        .within("lr_decision", findings)
        .and_then(|decision| decision.count("learning_rate", findings));
    // Without a budget all edits could apply.
    let all = u32::try_from(edits.len()).unwrap_or(u32::MAX);
    let budget = fields.count("edit_budget", findings).or(decided).unwrap_or(all);
    if let Some(ranking) = ranking {
        let event = EventKind::Selected {
            step: row.step,
            budget,
            ranking,
            edits: edits.clone(),
            proposals: Vec::new(),
            control: control(fields.text("lr_control_mode", findings)),
        };
        reader.emit(key(row.step, "selected"), row.at_ms, event);
    }
    Ranked { edits, budget }
}

/// Who set the budget. Rows of version 0.1 do not say: there the schedule did.
fn control(word: Option<&str>) -> LrControl {
    match word {
        Some("autonomous") => LrControl::Autonomous,
        Some("none") => LrControl::None,
        _ => LrControl::Fixed,
    }
}

/// Edits that the optimizer proposed in a step, from the event before.
fn n_proposed(reader: &Reader, step: u32) -> u32 {
    let reflected = reader.events.iter().rev().find_map(|event| match &event.kind {
        EventKind::Reflected { step: of, reflection } if *of == step => Some(reflection.n_edits),
        _ => None,
    });
    reflected.unwrap_or_default()
}

/// The candidate's text by the hash of the record. A text that is lost keeps its hash.
pub(super) fn candidate(
    reader: &mut Reader,
    fields: &Fields<'_>,
    step: u32,
    dir: &str,
    action: Action,
) -> Option<Sha256Hex> {
    let file = format!("{dir}/candidate_skill.md");
    let Some(hash) = fields.text("candidate_hash", &mut reader.findings) else {
        return if action.is_skip() { None } else { reader.skill(&file) };
    };
    if let Some(skill) = reader.skill_of_hash(&file, hash) {
        return Some(skill);
    }
    let known = reader.skills.keys().find(|sha| sha.short() == hash).cloned();
    if known.is_some() {
        return known;
    }
    if action.is_accepted()
        && let Some(skill) = reader.skill_of_hash(&skill_file(step), hash)
    {
        return Some(skill);
    }
    let message = format!("missing; the text of step {step}'s candidate is not known");
    reader.findings.add(&file, "", message);
    Some(unknown_skill(Some(hash), &file))
}

/// What became of each edit; `None` when the folder does not tell.
pub(super) fn updated(
    reader: &mut Reader,
    row: &Row,
    dir: &str,
    ranked: &[Edit],
    candidate: Option<&Sha256Hex>,
) -> Option<Vec<EditReport>> {
    let candidate = candidate?.clone();
    let file = format!("{dir}/edit_apply_report.json");
    let reports = match reader.json(&file) {
        Some(Value::Array(rows)) => {
            Some(edits::reports(&file, &rows, ranked, &mut reader.findings))
        }
        Some(_) => {
            reader.findings.add(&file, "", "expected a list; left out");
            None
        }
        None => all_applied(&row.fields(), ranked, reader),
    };
    if reports.is_none() && !ranked.is_empty() {
        let message = "no report of what became of each edit; which ones applied is not known, and none is shown as applied";
        reader.findings.add(&file, "", message);
    }
    let fields = row.fields();
    let known = reader.skills.get(&candidate).map(|text| text.chars().count());
    let chars = known.and_then(|n| u32::try_from(n).ok());
    let event = EventKind::Updated {
        step: row.step,
        edits: reports.clone().unwrap_or_default(),
        candidate_tokens: reader.tokens(&candidate),
        candidate_chars: chars
            .or_else(|| fields.count("candidate_skill_len", &mut reader.findings))
            .unwrap_or_default(),
        candidate,
    };
    reader.emit(key(row.step, "updated"), row.at_ms, event);
    reports
}

/// Without a report the record may still say that every edit applied.
fn all_applied(
    fields: &Fields<'_>,
    ranked: &[Edit],
    reader: &mut Reader,
) -> Option<Vec<EditReport>> {
    let summary = fields.within("edit_apply_summary", &mut reader.findings)?;
    let applied = summary.count("applied", &mut reader.findings)?;
    (usize::try_from(applied) == Ok(ranked.len())).then(|| {
        let report = |edit: &Edit| EditReport {
            edit: edit.clone(),
            status: EditStatus::Applied,
            detail: String::new(),
            resembles_rejected_step: None,
        };
        ranked.iter().map(report).collect()
    })
}
