//! What the gate decided: the numbers of the record, and the tasks that changed where both skills' results are in
//! the folder.

use super::json::Fields;
use super::reader::{Reader, mean_of, selection_key};
use super::rows::{Row, step_dir};
use super::step::Walk;
use skillopt_domain::hash::Sha256Hex;
use skillopt_domain::outcome::RolloutPurpose;
use skillopt_domain::score::{GateMetric, MeanScore};
use skillopt_domain::verdict::{Action, Verdict};
use skillopt_engine::gate::{Bonus, GateInput, gate};

/// A verdict with the set that it rests on.
#[derive(Debug)]
pub(super) struct Gated {
    pub(super) verdict: Verdict,
    pub(super) set: String,
}

/// Reads the decision about a candidate; `None` when the record has none.
pub(super) fn read(
    reader: &mut Reader,
    walk: &Walk,
    row: &Row,
    action: Action,
    candidate: &Sha256Hex,
) -> Option<Gated> {
    let fields = row.fields();
    let set = selection_key(candidate);
    let dir = format!("{}/selection_eval", step_dir(row.step));
    let was_known = !reader.selection_of(candidate).is_empty();
    let reused = was_known || !reader.folder.has_dir(&dir);
    reader.add_set(&set, RolloutPurpose::Selection, row.step, candidate, &dir);
    let scores = Scores::of(&fields, reader, candidate);
    let compared = compare(reader, walk, candidate);
    if compared.is_none() {
        let message = format!(
            "the results of both skills are not in the folder; which tasks step {} fixed or broke is not known",
            row.step
        );
        reader.findings.add(&dir, "", message);
    }
    let reason = match fields.text("reason", &mut reader.findings) {
        Some(reason) => reason.to_owned(),
        None => reason(&fields, action, walk.current_score, &scores),
    };
    let current = mean_of(reader.selection_of(&walk.measured));
    let verdict = Verdict {
        action,
        metric: scores.metric,
        mixed_weight: reader.evaluation().map_or(0.5, |one| one.gate_mixed_weight),
        current,
        candidate: scores.mean,
        current_score: walk.current_score.or_else(|| current.map(|mean| reader.project(mean))),
        candidate_score: scores.gate,
        n_not_compared: compared.as_ref().map_or(0, |verdict| verdict.n_not_compared),
        changes_unknown: compared.is_none(),
        changes: compared.map(|verdict| verdict.changes).unwrap_or_default(),
        reused,
        reason,
    };
    Some(Gated { verdict, set })
}

/// The candidate's numbers.
struct Scores {
    metric: GateMetric,
    mean: Option<MeanScore>,
    gate: Option<f64>,
}

impl Scores {
    fn of(fields: &Fields<'_>, reader: &mut Reader, candidate: &Sha256Hex) -> Self {
        let found = mean_of(reader.selection_of(candidate));
        let configured = reader.evaluation().map_or(GateMetric::Hard, |one| one.gate_metric);
        let findings = &mut reader.findings;
        let metric = match fields.text("gate_metric", findings) {
            Some("soft") => GateMetric::Soft,
            Some("mixed") => GateMetric::Mixed,
            Some("hard") => GateMetric::Hard,
            _ => configured,
        };
        let n = fields.count("selection_n", findings).or(found.map(|mean| mean.n));
        let hard = fields.share("selection_hard", findings);
        let soft = fields.share("selection_soft", findings);
        let mean = match (hard, soft, n.filter(|n| *n > 0)) {
            (Some(hard), Some(soft), Some(n)) => Some(MeanScore { hard, soft, n }),
            _ => found,
        };
        let told = fields.gate_score("candidate_gate_score", findings);
        // Rows of version 0.1 have no gate score: its gate compared `hard`.
        let gate = told.or(hard).or_else(|| mean.map(|mean| reader.project(mean)));
        Self { metric, mean, gate }
    }
}

/// The tasks that changed, by our own gate's arithmetic; `None` without the results of both skills.
pub(super) fn compare(reader: &Reader, walk: &Walk, candidate: &Sha256Hex) -> Option<Verdict> {
    let (current, candidate) =
        (reader.selection_of(&walk.measured), reader.selection_of(candidate));
    let best = reader.selection_of(&walk.best);
    let evaluation = reader.evaluation()?;
    if current.is_empty() || candidate.is_empty() {
        return None;
    }
    let input = GateInput {
        current,
        best,
        candidate,
        evaluation,
        error_share: 1.0,
        reused: false,
        bonus: Bonus::default(),
    };
    Some(gate(&input))
}

fn reason(fields: &Fields<'_>, action: Action, before: Option<f64>, scores: &Scores) -> String {
    let number =
        |score: Option<f64>| score.map_or_else(|| "?".to_owned(), |score| format!("{score:.3}"));
    let word = fields.get("action").and_then(serde_json::Value::as_str).unwrap_or(action.as_str());
    let n = scores.mean.map_or_else(String::new, |mean| format!(" on {} tasks", mean.n));
    format!(
        "{} → {}{n} ({}); the Python system noted `{word}`",
        number(before),
        number(scores.gate),
        scores.metric
    )
}
