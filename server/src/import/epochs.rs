//! What the Python system does between epochs: slow updates and the optimizer's memory, as the events that this
//! program would have written.

use super::json::Fields;
use super::pairs;
use super::reader::{Reader, mean_of, selection_key};
use super::rows::Row;
use super::spend;
use super::step::{Walk, skill_file};
use super::verdict;
use serde_json::Value;
use skillopt_domain::epoch::{EpochAction, MetaSkill, SlowUpdate};
use skillopt_domain::event::EventKind;
use skillopt_domain::hash::Sha256Hex;
use skillopt_domain::outcome::RolloutPurpose;
use skillopt_domain::score::MeanScore;
use skillopt_domain::spend::SpendByRole;
use skillopt_domain::verdict::{Action, Verdict};

/// Ends of a first epoch, which has nothing to compare with.
const NOTHING: [&str; 2] = ["inject_placeholder", "skip_first_epoch"];

/// The directory of what was done at the end of an epoch.
pub(super) fn slow_dir(epoch: u32) -> String {
    format!("slow_update/epoch_{epoch:02}")
}

/// The folder says that guidance was put into the skill at the end of this epoch.
pub(super) fn is_guided(reader: &mut Reader, epoch: u32) -> bool {
    let document = reader.json(&format!("{}/slow_result.json", slow_dir(epoch)));
    let word = document.as_ref().and_then(|document| document.get("action")?.as_str());
    word.and_then(known_action).is_some_and(EpochAction::is_accepted)
}

fn known_action(word: &str) -> Option<EpochAction> {
    serde_json::from_value(Value::String(word.to_owned())).ok()
}

/// Reads what happened at the end of an epoch, after its last step.
pub(super) fn read(reader: &mut Reader, walk: &mut Walk, epoch: u32, last: &Row) {
    pairs::read(reader, walk, (epoch, last.step), last.at_ms);
    let file = format!("{}/slow_result.json", slow_dir(epoch));
    if let Some((object, action)) = result(reader, &file) {
        let fields = Fields { file: &file, place: String::new(), object: &object };
        slow_update(reader, walk, (epoch, last), action, &fields);
    }
    let file = format!("meta_skill/epoch_{epoch:02}/meta_skill_result.json");
    if let Some((object, action)) = result(reader, &file) {
        let fields = Fields { file: &file, place: String::new(), object: &object };
        let findings = &mut reader.findings;
        let memory = MetaSkill {
            epoch,
            action,
            content: text(fields.text("meta_skill_content", findings)),
            reasoning: text(fields.text("reasoning", findings)),
            wall_ms: spend::milliseconds(&fields, "time_s", findings).unwrap_or_default(),
            spend: SpendByRole::default(),
            reason: text(fields.text("reason", findings)),
        };
        let kind = EventKind::MetaSkillWritten(memory);
        reader.emit(format!("epoch/{epoch:04}/meta_skill"), last.at_ms, kind);
    }
    walk.epoch_skill = walk.current.clone();
}

/// A result file with the action that it names; `None` where nothing happened.
fn result(
    reader: &mut Reader,
    file: &str,
) -> Option<(serde_json::Map<String, Value>, EpochAction)> {
    let Value::Object(object) = reader.json(file)? else {
        reader.findings.add(file, "", "expected an object; left out");
        return None;
    };
    let word = object.get("action").and_then(Value::as_str).unwrap_or_default().to_owned();
    if NOTHING.contains(&word.as_str()) {
        return None;
    }
    let action = known_action(&word);
    if action.is_none() {
        let message = format!("`{word}` is no known end of an epoch; left out");
        reader.findings.add(file, "action", message);
    }
    Some((object, action?))
}

fn slow_update(
    reader: &mut Reader,
    walk: &mut Walk,
    (epoch, last): (u32, &Row),
    action: EpochAction,
    fields: &Fields<'_>,
) {
    let candidate = candidate(reader, walk, (epoch, last.step), action, fields);
    let set =
        candidate.as_ref().and_then(|candidate| measured(reader, candidate, epoch, last.step));
    let verdict = candidate
        .as_ref()
        .and_then(|candidate| told_verdict(reader, walk, candidate, action, fields));
    let score = verdict.as_ref().and_then(|verdict| verdict.candidate_score);
    let n = verdict.as_ref().and_then(|verdict| verdict.candidate).map(|mean| mean.n);
    let is_kept = action.is_accepted() && candidate.is_some();
    if let Some(candidate) = candidate.as_ref().filter(|_| is_kept) {
        walk.version += 1;
        walk.current = candidate.clone();
        walk.measured = candidate.clone();
        if action == EpochAction::AcceptNewBest {
            walk.best = candidate.clone();
        }
        // Forced guidance is not measured by the Python system, which goes on with the score of the text before.
        walk.current_score = score.or(walk.current_score);
    }
    let findings = &mut reader.findings;
    let word = action.as_str();
    let update = SlowUpdate {
        epoch,
        step: last.step,
        action,
        content: text(fields.text("slow_update_content", findings)),
        reasoning: text(fields.text("reasoning", findings)),
        verdict,
        set,
        version: walk.version,
        current_score: if is_kept { score } else { walk.current_score },
        current_n: if is_kept { n } else { reader.n_selection_of(&walk.measured) },
        skill_tokens: reader.tokens(&walk.current),
        wall_ms: spend::milliseconds(fields, "time_s", &mut reader.findings).unwrap_or_default(),
        spend: SpendByRole::default(),
        reason: match fields.text("reason", &mut reader.findings) {
            Some(reason) => reason.to_owned(),
            None => format!("the Python system noted `{word}`"),
        },
        candidate,
    };
    let kind = EventKind::SlowUpdated(update);
    reader.emit(format!("epoch/{epoch:04}/slow_update"), last.at_ms, kind);
}

/// The text with the guidance: the candidate's file, else what stands after the step when it was kept.
fn candidate(
    reader: &mut Reader,
    walk: &Walk,
    (epoch, step): (u32, u32),
    action: EpochAction,
    fields: &Fields<'_>,
) -> Option<Sha256Hex> {
    let file = format!("{}/candidate_skill.md", slow_dir(epoch));
    let hash = fields.text("candidate_hash", &mut reader.findings);
    let found = match hash {
        Some(hash) => reader.skill_of_hash(&file, hash),
        None => reader.skill(&file),
    };
    let kept = action.is_accepted().then(|| reader.skill(&skill_file(step))).flatten();
    if let (Some(found), Some(kept)) = (&found, &kept)
        && found != kept
    {
        let message = "is not the text that stands after the epoch; that one counts";
        reader.findings.add(&file, "", message);
    }
    let text = kept.or(found);
    if action.is_accepted() && text.as_ref().is_none_or(|text| *text == walk.current) {
        let message =
            "guidance was kept, and no text with it is in the folder; no version is shown";
        reader.findings.add(&file, "", message);
        return None;
    }
    text
}

/// Reads the candidate's attempts; `None` when it was not measured, or was measured before.
fn measured(reader: &mut Reader, candidate: &Sha256Hex, epoch: u32, step: u32) -> Option<String> {
    let set = selection_key(candidate);
    let dir = format!("{}/selection_eval", slow_dir(epoch));
    reader.add_set(&set, RolloutPurpose::Selection, step, candidate, &dir)?;
    Some(set)
}

/// The numbers of the candidate, and the tasks that changed where both texts' results are there.
fn told_verdict(
    reader: &mut Reader,
    walk: &Walk,
    candidate: &Sha256Hex,
    action: EpochAction,
    fields: &Fields<'_>,
) -> Option<Verdict> {
    let found = mean_of(reader.selection_of(candidate));
    let findings = &mut reader.findings;
    let n = fields.count("selection_n", findings).or(found.map(|mean| mean.n)).filter(|n| *n > 0);
    let told = [fields.share("selection_hard", findings), fields.share("selection_soft", findings)];
    let mean = match (told, n) {
        ([Some(hard), Some(soft)], Some(n)) => MeanScore { hard, soft, n },
        _ => found?,
    };
    let action = match action {
        EpochAction::AcceptNewBest => Action::AcceptNewBest,
        EpochAction::Accept => Action::Accept,
        EpochAction::ForceAccept => Action::ForceAccept,
        EpochAction::Reject => Action::Reject,
        EpochAction::Inconclusive
        | EpochAction::NoContent
        | EpochAction::NoChange
        | EpochAction::WriteMetaSkill => Action::Inconclusive,
    };
    let compared = verdict::compare(reader, walk, candidate);
    let current = mean_of(reader.selection_of(&walk.measured));
    let candidate_score = reader.project(mean);
    Some(Verdict {
        action,
        metric: reader.evaluation().map(|one| one.gate_metric).unwrap_or_default(),
        mixed_weight: reader.evaluation().map_or(0.5, |one| one.gate_mixed_weight),
        current,
        candidate: Some(mean),
        current_score: walk.current_score.or_else(|| current.map(|mean| reader.project(mean))),
        candidate_score: Some(candidate_score),
        n_not_compared: compared.as_ref().map_or(0, |verdict| verdict.n_not_compared),
        changes_unknown: compared.is_none(),
        changes: compared.map(|verdict| verdict.changes).unwrap_or_default(),
        reused: false,
        reason: format!("the folder notes `{}`", action.as_str()),
    })
}

fn text(text: Option<&str>) -> String {
    text.unwrap_or_default().to_owned()
}
