//! `sleep status`, `sleep nights` and `sleep diff`: what there is to look at. Reads only.

use super::args::{CommonArgs, DiffArgs};
use super::report::{edit_line, one_line, plain};
use super::waits::{tell_waits, waits_json};
use super::{refuse, refuse_order};
use crate::cli::Exit;
use crate::cli::output::Output;
use crate::config::Environment;
use crate::sleep::{NightSetup, Wanted, read_plain_text, staging_of, told_edits};
use serde_json::{Value, json};
use skillopt_domain::night::edit::EditRecord;
use skillopt_sleep::adopt::{AdoptError, Refusal, RowState, review};
use skillopt_sleep::stage::{Night, Role, Row, night, nights as staged_nights};
use skillopt_sleep::state::{State, StateFile};

pub(super) fn status(
    args: &CommonArgs,
    env: &Environment,
    output: &Output,
) -> anyhow::Result<Exit> {
    let setup = match super::setup(args, env) {
        Ok(setup) => setup,
        Err(err) => return Ok(refuse_order(output, args.json, &err)),
    };
    let file = StateFile::new(&setup.config.state_dir);
    let state = match file.read() {
        Ok(state) => state,
        Err(err) => return Ok(refuse(output, args.json, "state_unreadable", &err.to_string())),
    };
    let (night, foreign) = own_night(&setup);
    let word = |night: &Night| night.manifest.as_ref().err().map(ToString::to_string);
    let fault = foreign.or_else(|| night.as_ref().and_then(word));
    if args.json {
        let value = status_json(&setup, &state, night.as_ref(), fault.as_deref(), file.path());
        output.line(&value.to_string());
    } else {
        tell(&setup, &state, night.as_ref(), fault.as_deref(), output);
    }
    Ok(if fault.is_some() { Exit::Failed } else { Exit::Done })
}

/// The last night of this machine's history; or, when no history names what is there, a word about that.
fn own_night(setup: &NightSetup) -> (Option<Night>, Option<String>) {
    let project = &setup.config.invoked_project;
    match staging_of(setup, None, Wanted::Latest) {
        Ok(dir) => {
            let id = dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
            (night(project, &id).ok(), None)
        }
        Err(AdoptError::Refused(foreign @ Refusal::Foreign(_))) => {
            (None, Some(foreign.to_string()))
        }
        Err(_) => (None, None),
    }
}

fn status_json(
    setup: &NightSetup,
    state: &State,
    night: Option<&Night>,
    fault: Option<&str>,
    path: &std::path::Path,
) -> Value {
    let history = state.history_of(&setup.project());
    let tail: Vec<_> = history.iter().rev().take(5).rev().collect();
    let rows = night.map(skills_of).unwrap_or_default();
    let has_managed =
        night.and_then(|night| night.manifest.as_ref().ok()).is_some_and(|manifest| {
            manifest.rows.iter().any(|row| matches!(row.role, Role::ManagedSkill | Role::Memory))
        });
    let mut value = json!({
        "night": history.last().map_or(0, |row| row.night),
        "state_path": path,
        "project": setup.project(),
        "history_tail": tail,
        "latest_staging": night.map_or(String::new(), |night| night.dir.display().to_string()),
        "slow_memory_chars": state.slow_memory().chars().count(),
        "staged_skills": rows.0,
        "adopted_skills": rows.1,
        "has_managed_proposal": has_managed,
        "handoffs": waits_json(setup),
    });
    if let Some(fault) = fault {
        value["staging_error"] = json!(fault);
    }
    value
}

/// Skills of their own that wait, and receipts of those that were adopted.
fn skills_of(night: &Night) -> (Vec<String>, Vec<Value>) {
    let mut waiting = Vec::new();
    let mut adopted = Vec::new();
    for review in review(&night.dir).unwrap_or_default() {
        match (&review.row.role, &review.state) {
            (Role::Skill(name), RowState::Pending | RowState::Stale { .. }) => {
                waiting.push(name.as_str().to_owned());
            }
            (Role::Skill(_), RowState::Adopted { receipt, .. }) => adopted.push(receipt.to_json()),
            _ => {}
        }
    }
    (waiting, adopted)
}

fn tell(
    setup: &NightSetup,
    state: &State,
    night: Option<&Night>,
    fault: Option<&str>,
    output: &Output,
) {
    let history = state.history_of(&setup.project());
    output.line(&format!("project: {}", setup.project()));
    output.line(&format!("nights: {}", history.len()));
    tell_waits(setup, output);
    let Some(night) = night else {
        match fault {
            Some(fault) => output.error(fault),
            None => output.line("no night was staged yet; try: skillopt sleep dry-run"),
        }
        return;
    };
    output.line(&format!("latest: {}", night.dir.display()));
    if let Some(fault) = fault {
        output.error(fault);
        return;
    }
    for (role, words) in decisions(night) {
        output.line(&format!("{role}: {words}"));
    }
    if let Ok(text) = read_plain_text(&night.dir.join("report.md")) {
        output.line("");
        text.lines().for_each(|line| output.line(&plain(line)));
    }
}

fn decisions(night: &Night) -> Vec<(String, String)> {
    let words = |state: &RowState| match state {
        RowState::Pending => "waits for a decision".to_owned(),
        RowState::Stale { .. } => "the live file changed since; run another night".to_owned(),
        RowState::Rejected(decision) => format!("rejected: {}", one_line(&decision.reason)),
        RowState::Adopted { .. } => "adopted".to_owned(),
        RowState::Reverted { .. } => "adopted, and put back".to_owned(),
    };
    match review(&night.dir) {
        Ok(reviews) => reviews
            .iter()
            .map(|review| (review.row.role.to_string(), words(&review.state)))
            .collect(),
        Err(err) => vec![("proposals".to_owned(), err.to_string())],
    }
}

pub(super) fn nights(
    args: &CommonArgs,
    env: &Environment,
    output: &Output,
) -> anyhow::Result<Exit> {
    let setup = match super::setup(args, env) {
        Ok(setup) => setup,
        Err(err) => return Ok(refuse_order(output, args.json, &err)),
    };
    let nights = staged_nights(&setup.config.invoked_project)?;
    if args.json {
        let rows: Vec<Value> = nights.iter().map(night_json).collect();
        output.line(&json!(rows).to_string());
        return Ok(Exit::Done);
    }
    if nights.is_empty() {
        output.line("no night was staged yet; try: skillopt sleep dry-run");
    }
    for night in &nights {
        let report = night.report.as_ref();
        let number = report.map_or(0, |report| report.night);
        let score =
            |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.4}"));
        let scores = report.map_or_else(String::new, |report| {
            format!("{} -> {}", score(report.baseline_score), score(report.candidate_score))
        });
        let decided: Vec<String> =
            decisions(night).into_iter().map(|(role, words)| format!("{role}: {words}")).collect();
        output.line(&format!("{}  night {number}  {scores}  {}", night.id, decided.join("; ")));
    }
    Ok(Exit::Done)
}

fn night_json(night: &Night) -> Value {
    let decisions: Vec<Value> = decisions(night)
        .into_iter()
        .map(|(document, state)| json!({"document": document, "state": state}))
        .collect();
    json!({
        "id": night.id,
        "staging_dir": night.dir,
        "report": night.report,
        "decisions": decisions,
    })
}

pub(super) fn diff(args: &DiffArgs, env: &Environment, output: &Output) -> anyhow::Result<Exit> {
    let common = &args.common;
    let setup = match super::setup(common, env) {
        Ok(setup) => setup,
        Err(err) => return Ok(refuse_order(output, common.json, &err)),
    };
    let found = staging_of(&setup, args.staging.as_deref(), Wanted::Latest)
        .and_then(|dir| review(&dir).map(|reviews| (dir, reviews)));
    let (dir, reviews) = match found {
        Ok(found) => found,
        Err(err) => {
            let word = err.kind().as_str();
            refuse(output, common.json, word, &err.to_string());
            return Ok(Exit::Failed);
        }
    };
    let mut rows = Vec::new();
    for review in &reviews {
        let path = dir.join(review.row.diff_file());
        let text = match read_plain_text(&path) {
            Ok(text) => text,
            Err(err) => {
                let message = format!("cannot read {}: {err}", path.display());
                refuse(output, common.json, "invalid_staging", &message);
                return Ok(Exit::Failed);
            }
        };
        rows.push((&review.row, text, told_edits(&dir, &review.row)));
    }
    if common.json {
        let rows: Vec<Value> =
            rows.iter().map(|(row, text, edits)| diff_json(row, text, edits)).collect();
        output.line(&json!({"staging_dir": dir, "documents": rows}).to_string());
    } else if rows.is_empty() {
        output.line("this night proposes no change");
    } else {
        for (_, text, edits) in &rows {
            text.lines().for_each(|line| output.line(&plain(line)));
            tell_edits(edits, output);
        }
    }
    Ok(Exit::Done)
}

fn diff_json(row: &Row, text: &str, edits: &[(EditRecord, Vec<u32>)]) -> Value {
    let edits: Vec<Value> = (1_u32..)
        .zip(edits)
        .map(|(number, (edit, needs))| json!({"number": number, "edit": edit, "needs": needs}))
        .collect();
    json!({
        "document": row.role.to_string(), "live_path": row.live_path, "diff": text, "edits": edits,
    })
}

/// The numbers that `adopt --edits` takes. One edit is no choice.
fn tell_edits(edits: &[(EditRecord, Vec<u32>)], output: &Output) {
    if edits.len() < 2 {
        return;
    }
    output.line("edits, for adopt --edits or --leave-out:");
    for (number, (edit, needs)) in (1_u32..).zip(edits) {
        let needs: Vec<String> = needs.iter().map(ToString::to_string).collect();
        let builds = match needs.is_empty() {
            true => String::new(),
            false => format!(" (builds on {})", needs.join(", ")),
        };
        output.line(&format!("  {}{builds}", edit_line(&number.to_string(), edit)));
    }
}
