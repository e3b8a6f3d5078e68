//! `sleep adopt`, `sleep reject`, `sleep reopen` and `sleep revert`, with the JSON shapes and exit codes of the reference system.

use super::args::{AdoptArgs, CommonArgs, OnlyArg, RejectArgs, ReopenArgs, RevertArgs};
use super::{refuse, refuse_order};
use crate::cli::Exit;
use crate::cli::output::Output;
use crate::config::Environment;
use crate::host::Hosting;
use crate::sleep::{
    NightSetup, Rejection, Taking, Wanted, adopt_selection, beside, derived_of, places,
    reject_night, reopen_night, revert_night, staging_of,
};
use serde_json::{Value, json};
use skillopt_sleep::adopt::{AdoptError, Derived, Receipt, Refusal, Reverted, Selection};
use skillopt_sleep::stage::Role;
use std::path::{Path, PathBuf};

/// Who decides, until there are users.
const ACTOR: &str = "local";

/// The host, the night's folder and the settings of a decision.
struct Desk {
    hosting: Hosting,
    setup: NightSetup,
    dir: Result<PathBuf, AdoptError>,
}

async fn desk(
    args: &CommonArgs,
    (staging, wanted): (Option<&Path>, Wanted),
    (data_dir, env): (&Path, Environment),
    output: &Output,
) -> anyhow::Result<Result<Desk, Exit>> {
    let setup = match super::setup(args, &env) {
        Ok(setup) => setup,
        Err(err) => return Ok(Err(refuse_order(output, args.json, &err))),
    };
    let dir = staging_of(&setup, staging, wanted);
    let hosting = Hosting::open(data_dir, env).await?;
    Ok(Ok(Desk { hosting, setup, dir }))
}

pub(super) async fn adopt(
    args: &AdoptArgs,
    machine: (&Path, Environment),
    output: &Output,
) -> anyhow::Result<Exit> {
    let common = &args.common;
    let selection = match selection(args) {
        Ok(selection) => selection,
        Err(message) => return Ok(refuse(output, common.json, "invalid_selection", &message)),
    };
    let Desk { hosting, setup, dir } =
        match desk(common, (args.staging.as_deref(), Wanted::Latest), machine, output).await? {
            Ok(desk) => desk,
            Err(exit) => return Ok(exit),
        };
    let is_skills = matches!(selection, Selection::AllSkills | Selection::Skills(_));
    let done = match dir {
        Ok(dir) => adopt_taken(&hosting, &dir, (selection, taking(args)), &setup)
            .await
            .map(|adopted| (dir, adopted)),
        Err(err) => Err(err),
    };
    hosting.store().close().await;
    let (dir, Adopted { receipts, derived }) = match done {
        Ok(done) => done,
        Err(err) => return Ok(failed(output, common.json, &err)),
    };
    if common.json {
        let value = adopted_json(&dir, &receipts, (is_skills, derived.as_ref()));
        output.line(&value.to_string());
    } else {
        tell_adopted(&receipts, derived.as_ref(), output);
    }
    Ok(Exit::Done)
}

/// What was adopted.
struct Adopted {
    receipts: Vec<Receipt>,
    /// The document that some of its edits made.
    derived: Option<Derived>,
}

fn taking(args: &AdoptArgs) -> Option<Taking> {
    match (args.edits.is_empty(), args.leave_out.is_empty()) {
        (false, _) => Some(Taking::Only(args.edits.clone())),
        (true, false) => Some(Taking::AllBut(args.leave_out.clone())),
        (true, true) => None,
    }
}

async fn adopt_taken(
    hosting: &Hosting,
    dir: &Path,
    (selection, taking): (Selection, Option<Taking>),
    setup: &NightSetup,
) -> Result<Adopted, AdoptError> {
    let derived = match taking {
        None => None,
        Some(taking) => {
            let (folder, selection) = (dir.to_owned(), selection.clone());
            beside(move || derived_of(&folder, &selection, &taking)).await?
        }
    };
    let its: Vec<Derived> = derived.iter().cloned().collect();
    let places = places(setup);
    let receipts = adopt_selection(hosting, dir, (selection, its), &places, ACTOR).await?;
    Ok(Adopted { receipts, derived })
}

fn tell_adopted(receipts: &[Receipt], derived: Option<&Derived>, output: &Output) {
    if receipts.is_empty() {
        output.line("(proposal contained no accepted changes)");
    }
    for receipt in receipts {
        output.line(&format!("adopted: {}", receipt.live_path.display()));
        if let Some(backup) = &receipt.backup {
            output.line(&format!("  what was there: {}", backup.display()));
        }
    }
    if let Some(derived) = derived {
        let n = derived.edits.len();
        let edits = if n == 1 { "one edit".to_owned() } else { format!("{n} edits") };
        output.line(&format!(
            "  with {edits} of it: this combination was not measured, the gate's scores are for all edits together"
        ));
    }
}

fn selection(args: &AdoptArgs) -> Result<Selection, String> {
    let modes = [!args.skills.is_empty(), args.all_skills, args.legacy, args.only.is_some()];
    // `--legacy --only skill` is one choice: of the managed pair, one half.
    let n_modes = modes.iter().filter(|mode| **mode).count();
    if n_modes > 1 && !(n_modes == 2 && args.legacy && args.only.is_some()) {
        return Err("choose one of --skill, --all-skills, --legacy and --only".to_owned());
    }
    Ok(match (args.only, args.all_skills, args.legacy) {
        (Some(OnlyArg::Skill), ..) => Selection::ManagedSkill,
        (Some(OnlyArg::Memory), ..) => Selection::Memory,
        (None, true, _) => Selection::AllSkills,
        (None, false, true) => Selection::Managed,
        (None, false, false) if !args.skills.is_empty() => Selection::Skills(args.skills.clone()),
        (None, false, false) => Selection::Bare,
    })
}

fn adopted_json(
    dir: &Path,
    receipts: &[Receipt],
    (is_skills, derived): (bool, Option<&Derived>),
) -> Value {
    let skills: Vec<Value> = receipts
        .iter()
        .filter(|receipt| matches!(receipt.role, Role::Skill(_)))
        .map(Receipt::to_json)
        .collect();
    let paths: Vec<&Path> = receipts.iter().map(|receipt| receipt.live_path.as_path()).collect();
    let mut value = json!({
        "ok": true,
        "staging_dir": dir,
        "mode": if is_skills { "skills" } else { "legacy" },
        "adopted_skills": skills,
        "updated_paths": paths,
    });
    if let Some(derived) = derived {
        value["edits"] = json!(derived.edits);
        value["is_measured"] = json!(false);
    }
    value
}

fn failed(output: &Output, is_json: bool, err: &AdoptError) -> Exit {
    let kind = err.kind();
    let mut message = err.to_string();
    if matches!(err, AdoptError::Refused(Refusal::Outside(_))) {
        message.push_str(
            "; repeat the flags that the night was run with: --target-skill-path, --claude-home, --skill-root",
        );
    }
    if is_json {
        let mut value = json!({"ok": false, "error": kind.as_str(), "message": message});
        if let AdoptError::SelectionRequired { available } = err {
            value["available_skills"] = json!(available);
        }
        output.line(&value.to_string());
    } else {
        output.error(&message);
    }
    if kind.exit_code() == 2 { Exit::Usage } else { Exit::Failed }
}

pub(super) async fn reject(
    args: &RejectArgs,
    machine: (&Path, Environment),
    output: &Output,
) -> anyhow::Result<Exit> {
    let common = &args.common;
    let Desk { hosting, setup, dir } =
        match desk(common, (args.staging.as_deref(), Wanted::Latest), machine, output).await? {
            Ok(desk) => desk,
            Err(exit) => return Ok(exit),
        };
    let keys = keys_of(args.only, &args.skills);
    let rejection = Rejection { keys: &keys, reason: &args.reason, actor: ACTOR };
    let done = match dir {
        Ok(dir) => reject_night(&hosting, &dir, rejection, &places(&setup)).await.map(|()| dir),
        Err(err) => Err(err),
    };
    hosting.store().close().await;
    match done {
        Ok(dir) if common.json => output.line(&json!({"ok": true, "staging_dir": dir}).to_string()),
        Ok(dir) => output.line(&format!("rejected: {}", dir.display())),
        Err(err) => return Ok(failed(output, common.json, &err)),
    }
    Ok(Exit::Done)
}

pub(super) async fn reopen(
    args: &ReopenArgs,
    machine: (&Path, Environment),
    output: &Output,
) -> anyhow::Result<Exit> {
    let common = &args.common;
    let Desk { hosting, setup, dir } =
        match desk(common, (args.staging.as_deref(), Wanted::Latest), machine, output).await? {
            Ok(desk) => desk,
            Err(exit) => return Ok(exit),
        };
    let keys = keys_of(args.only, &args.skills);
    let reopening = Rejection { keys: &keys, reason: &args.reason, actor: ACTOR };
    let done = match dir {
        Ok(dir) => reopen_night(&hosting, &dir, reopening, &places(&setup))
            .await
            .map(|reopened| (dir, reopened)),
        Err(err) => Err(err),
    };
    hosting.store().close().await;
    match done {
        Ok((dir, reopened)) if common.json => {
            let value = json!({"ok": true, "staging_dir": dir, "reopened": reopened});
            output.line(&value.to_string());
        }
        Ok((_, reopened)) if reopened.is_empty() => {
            output.line("nothing of this night was turned down");
        }
        Ok((dir, reopened)) => {
            output.line(&format!("waits again: {} of {}", reopened.join(", "), dir.display()));
        }
        Err(err) => return Ok(failed(output, common.json, &err)),
    }
    Ok(Exit::Done)
}

/// The documents that are meant, by name; none for all.
fn keys_of(only: Option<OnlyArg>, skills: &[String]) -> Vec<String> {
    let only = only.map(|only| match only {
        OnlyArg::Skill => "skill".to_owned(),
        OnlyArg::Memory => "memory".to_owned(),
    });
    only.into_iter().chain(skills.iter().map(|name| format!("skill:{name}"))).collect()
}

pub(super) async fn revert(
    args: &RevertArgs,
    machine: (&Path, Environment),
    output: &Output,
) -> anyhow::Result<Exit> {
    let common = &args.common;
    let Desk { hosting, setup, dir } =
        match desk(common, (args.staging.as_deref(), Wanted::LatestAdopted), machine, output)
            .await?
        {
            Ok(desk) => desk,
            Err(exit) => return Ok(exit),
        };
    let done = match dir {
        Ok(dir) => {
            revert_night(&hosting, &dir, &places(&setup), ACTOR).await.map(|done| (dir, done))
        }
        Err(err) => Err(err),
    };
    hosting.store().close().await;
    let (dir, reverted) = match done {
        Ok(done) => done,
        Err(err) => return Ok(failed(output, common.json, &err)),
    };
    let paths: Vec<&Path> = reverted.iter().map(|one| one.receipt.live_path.as_path()).collect();
    if common.json {
        let value = json!({"ok": true, "staging_dir": dir, "restored_paths": paths});
        output.line(&value.to_string());
    } else if paths.is_empty() {
        output.line("nothing of this night was adopted");
    } else {
        reverted.iter().for_each(|one| output.line(&reverted_line(one)));
    }
    Ok(Exit::Done)
}

/// What became of one document. One that an earlier call put back is not touched, whatever it is by now.
fn reverted_line(one: &Reverted) -> String {
    let path = one.receipt.live_path.display();
    match one.is_new {
        true => format!("put back: {path}"),
        false => format!("was put back before, and is left as it is now: {path}"),
    }
}
