//! A whole folder as a run: plan, baseline, steps, epochs, end. Reads files, touches no store.

use super::epochs;
use super::finals;
use super::folder::Folder;
use super::identity::Identity;
use super::json::Fields;
use super::reader::{Reader, unknown_skill};
use super::rows::Rows;
use super::spend;
use super::step::{self, Walk};
use serde_json::{Map, Value};
use skillopt_domain::event::{EventKind, RunPlan};
use skillopt_domain::hash::Sha256Hex;
use skillopt_domain::outcome::RolloutPurpose;
use skillopt_domain::run::RunStatus;
use skillopt_domain::spend::{Role, SpendByRole};
use std::collections::BTreeMap;

/// What a folder says.
#[derive(Debug)]
pub(super) struct FolderRun {
    pub(super) reader: Reader,
    pub(super) identity: Identity,
    pub(super) system: String,
    pub(super) status: RunStatus,
    /// Why it is in that state, for people; without the folder's name.
    pub(super) detail: String,
    pub(super) n_steps: u32,
    pub(super) spend: SpendByRole,
    pub(super) active_ms: u64,
    /// Last change of a file that was read.
    pub(super) ended_at_ms: u64,
}

/// Reads a folder; `None` when it is no run folder.
pub(super) fn read(folder: Folder) -> Option<FolderRun> {
    let mut reader = Reader::new(folder);
    let rows = Rows::read(&mut reader);
    let summary = finals::summary(&mut reader);
    let empty = Map::new();
    let of_summary = summary.as_ref().unwrap_or(&empty);
    let fields = Fields { file: finals::SUMMARY, place: String::new(), object: of_summary };
    reader.is_ours = is_ours(&rows, &fields);
    let initial_text = reader.skill("skills/skill_v0000.md");
    let first_row = rows.finished.first().filter(|row| row.step == 1).map(|row| &row.object);
    let has_steps = !rows.finished.is_empty() || !rows.begun.is_empty();
    if !has_steps && initial_text.is_none() && !reader.settings.has_known_key() {
        return None;
    }
    let identity = Identity::of(&reader.settings.flat, initial_text.as_ref(), first_row)?;
    let initial = initial_text.unwrap_or_else(|| missing_initial(&mut reader));
    let has_summary = reader.folder.changed_at(finals::SUMMARY).is_some();
    // What is measured is written as it comes in: it is whole only where something stands after it.
    let is_measured = has_steps || has_summary;
    let baseline = match is_measured {
        true => finals::baseline(&mut reader, &initial, &fields),
        false => None,
    };
    let at_ms = reader.settings.at_ms;
    let mut walk = Walk {
        version: 0,
        current: initial.clone(),
        measured: initial.clone(),
        current_score: baseline.as_ref().and_then(|measured| measured.gate_score),
        best: initial.clone(),
        steps_per_epoch: reader.settings.count("steps_per_epoch").unwrap_or(1),
        spend: SpendByRole::default(),
        wall_ms: 0,
        epoch_skill: initial.clone(),
        is_guided: false,
    };
    match baseline {
        Some(measured) => {
            reader.emit("baseline".to_owned(), at_ms, EventKind::Baseline(measured));
        }
        None if is_measured => {
            reader.findings.add("selection_eval_baseline", "", "the baseline is not known");
        }
        None => reader.findings.add(
            "selection_eval_baseline",
            "",
            "nothing stands after it, so that it may still be measured; baseline and plan are left out until then",
        ),
    }
    walk_steps(&mut reader, &mut walk, &rows);
    compare_state(&mut reader, &rows);
    let best = finals::best_skill(&mut reader, &walk, rows.finished.len());
    let last_step = rows.finished.last().map_or(0, |row| row.step);
    if has_summary {
        finals::tests(&mut reader, (&initial, &best, &walk.current), last_step, &fields);
    } else {
        finals::name_unproven_tests(&mut reader);
    }
    let plan = plan(&mut reader, &rows, &initial);
    let (status, detail) = end(&rows, summary.is_some(), plan.total_steps);
    // The plan is known last and told first.
    if is_measured {
        reader.emit("planned".to_owned(), at_ms, EventKind::Planned(plan));
        reader.events.rotate_right(1);
    }
    let told = spend::of_summary(&fields, &mut reader.findings);
    let wall = spend::milliseconds(&fields, "total_wall_time_s", &mut reader.findings);
    let ended_at_ms = [Some(at_ms), reader.folder.changed_at(finals::SUMMARY)]
        .into_iter()
        .flatten()
        .chain(rows.finished.iter().map(|row| row.at_ms))
        .max();
    Some(FolderRun {
        system: system(&reader, &rows, &fields),
        identity,
        status,
        detail,
        n_steps: u32::try_from(rows.finished.len()).unwrap_or(u32::MAX),
        spend: spend::larger(walk.spend, told),
        active_ms: walk.wall_ms.max(wall.unwrap_or_default()),
        ended_at_ms: ended_at_ms.unwrap_or_default(),
        reader,
    })
}

fn walk_steps(reader: &mut Reader, walk: &mut Walk, rows: &Rows) {
    let epochs: Vec<u32> = rows.finished.iter().map(|row| epoch_of(walk, row)).collect();
    let mut ended: BTreeMap<u32, u32> = BTreeMap::new();
    for (at, row) in rows.finished.iter().enumerate() {
        let is_last = epochs.get(at + 1) != epochs.get(at);
        // The folder has one end of an epoch, whatever its rows say.
        let ends_epoch = match ended.get(&epochs[at]) {
            Some(_) if at.checked_sub(1).is_some_and(|before| epochs[before] == epochs[at]) => {
                false
            }
            Some(step) => {
                let message = format!(
                    "is {} again, an epoch that ended after step {step}; its end is told there only",
                    epochs[at]
                );
                let fields = row.fields();
                reader.findings.add(
                    fields.file,
                    format!("{} epoch", fields.place).trim_start(),
                    message,
                );
                false
            }
            None => is_last,
        };
        if ends_epoch {
            ended.insert(epochs[at], row.step);
        }
        walk.is_guided = ends_epoch && epochs::is_guided(reader, epochs[at]);
        step::read(reader, walk, row);
        if ends_epoch {
            epochs::read(reader, walk, epochs[at], row);
        }
    }
    for step in &rows.begun {
        let dir = super::rows::step_dir(*step);
        let message = format!(
            "step {step} had begun and not ended when {} steps were finished; it is not shown",
            rows.finished.len()
        );
        reader.findings.add(&dir, "", message);
    }
}

fn epoch_of(walk: &Walk, row: &super::rows::Row) -> u32 {
    let told = row.object.get("epoch").and_then(super::json::whole).filter(|epoch| *epoch > 0);
    told.unwrap_or_else(|| (row.step - 1) / walk.steps_per_epoch.max(1) + 1)
}

/// Only this program gives reasons in its history, and its name in its summary.
fn is_ours(rows: &Rows, summary: &Fields<'_>) -> bool {
    let named = summary.get("version").and_then(Value::as_str);
    named.is_some_and(|version| version.starts_with("skillopt-rust"))
        || rows.finished.iter().any(|row| row.object.contains_key("reason"))
}

/// The version is known by what its rows have: the tag in `summary.json` is the same in all of them.
fn system(reader: &Reader, rows: &Rows, summary: &Fields<'_>) -> String {
    if reader.is_ours {
        let version = summary.get("version").and_then(Value::as_str).unwrap_or_default();
        return format!("SkillOpt {}", version.trim_start_matches("skillopt-rust-"))
            .trim()
            .to_owned();
    }
    let has = |key: &str| rows.finished.iter().any(|row| row.object.contains_key(key));
    let version = match () {
        () if rows.finished.is_empty() => "",
        () if has("gate_metric") || has("candidate_gate_score") || has("current_origin") => " 0.2",
        () => " 0.1",
    };
    format!("Python SkillOpt{version}")
}

fn missing_initial(reader: &mut Reader) -> Sha256Hex {
    let file = "skills/skill_v0000.md";
    reader.findings.add(file, "", "missing; the initial skill is not known");
    unknown_skill(None, file)
}

fn plan(reader: &mut Reader, rows: &Rows, initial: &Sha256Hex) -> RunPlan {
    let settings = &reader.settings;
    let name = |key: &str| settings.text(key).unwrap_or("unknown").to_owned();
    let is_simulated =
        |role: Role| matches!(settings.text(&format!("{role}_backend")), Some("mock" | "replay"));
    let last = rows.finished.last();
    let epochs = settings.count("num_epochs");
    let steps_per_epoch = settings.count("steps_per_epoch");
    let planned = epochs.zip(steps_per_epoch).map(|(epochs, steps)| epochs.saturating_mul(steps));
    let n_of = |purpose: RolloutPurpose| {
        let sizes = reader.sets.iter().filter(|known| known.set.purpose == purpose);
        sizes.map(|known| known.set.outcomes.len()).max().and_then(|n| u32::try_from(n).ok())
    };
    let sizes = split_sizes(reader);
    let n_test = n_of(RolloutPurpose::Test).or(sizes[2]);
    let plan = RunPlan {
        benchmark: name("env"),
        n_train: settings.count("train_size").or(sizes[0]).unwrap_or_default(),
        n_selection: n_of(RolloutPurpose::Selection).or(sizes[1]).unwrap_or_default(),
        n_test: n_test.unwrap_or_default(),
        epochs: epochs.or(last.map(epoch_count)).unwrap_or_default(),
        steps_per_epoch: steps_per_epoch.unwrap_or_default(),
        total_steps: planned.or(last.map(|row| row.step)).unwrap_or_default(),
        // The tasks are not in the folder, and no run is resumed from this.
        data: unknown_skill(None, "the data"),
        initial_skill: initial.clone(),
        initial_tokens: reader.tokens(initial),
        target_model: name("target_model"),
        optimizer_model: name("optimizer_model"),
        target_simulated: is_simulated(Role::Target),
        optimizer_simulated: is_simulated(Role::Optimizer),
        seed: settings.flat.get("seed").and_then(Value::as_u64).unwrap_or_default(),
        forecast: None,
    };
    let unknown = [
        ("train tasks", plan.n_train == 0),
        ("selection tasks", plan.n_selection == 0),
        ("test tasks", n_test.is_none()),
    ];
    for (what, _) in unknown.into_iter().filter(|(_, is_unknown)| *is_unknown) {
        let message =
            format!("the number of {what} is not in the folder; the 0 in the plan stands for that");
        reader.findings.add("config.json", "", message);
    }
    plan
}

/// Tasks of train, selection and test split, by the manifest of a ratio split in the folder.
fn split_sizes(reader: &Reader) -> [Option<u32>; 3] {
    const SPLITS: &str = "_generated_splits";
    let manifest = reader.folder.names(SPLITS).into_iter().find_map(|name| {
        let file = format!("{SPLITS}/{name}/split_manifest.json");
        let text = reader.folder.read(&file).ok().flatten()?;
        serde_json::from_str::<Value>(&text.text).ok()
    });
    ["train", "val", "test"]
        .map(|name| manifest.as_ref()?.get("counts")?.get(name).and_then(super::json::whole))
}

/// Says when the state file knows of more steps than the history.
fn compare_state(reader: &mut Reader, rows: &Rows) {
    const STATE: &str = "runtime_state.json";
    let state = reader.json(STATE);
    let told = state.as_ref().and_then(|state| state.get("last_completed_step"));
    let last = rows.finished.last().map_or(0, |row| row.step);
    if let Some(told) = told.and_then(super::json::whole).filter(|told| *told > last) {
        let message =
            format!("says that step {told} was finished, and the last record is of step {last}");
        reader.findings.add(STATE, "last_completed_step", message);
    }
}

fn epoch_count(row: &super::rows::Row) -> u32 {
    row.object.get("epoch").and_then(super::json::whole).unwrap_or_default()
}

fn end(rows: &Rows, has_summary: bool, total_steps: u32) -> (RunStatus, String) {
    if has_summary {
        return (RunStatus::Done, String::new());
    }
    let detail = format!("{} of {total_steps} steps were finished", rows.finished.len());
    (RunStatus::Interrupted, detail)
}
