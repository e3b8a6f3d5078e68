//! One attempt of the engine at a run, as a task of its own: a panic there is an end like others. It shares the
//! runtime's threads with the calls that it makes, so that an answer wakes no second thread.

use crate::config::{BadConfig, run_config};
use crate::host::run_folder::write_now;
use crate::host::{DiskRunFolder, Hosting, Inputs, config_json};
use skillopt_domain::config::RunConfig;
use skillopt_domain::run::RunTransition;
use skillopt_domain::spend::{Role, SpendByRole};
use skillopt_engine::TrainError;
use skillopt_engine::batches::plan;
use skillopt_engine::ctx::RunCtx;
use skillopt_engine::meter::Prior;
use skillopt_engine::ports::Task;
use skillopt_engine::train::{Ports, TrainFailure, TrainInput, TrainReport, train};
use skillopt_store::{RunJournal, RunRow};
use std::path::Path;
use std::sync::Arc;
use tokio::task::{JoinError, JoinSet};

/// A running attempt.
#[derive(Debug)]
pub(super) struct Attempt {
    tasks: JoinSet<Ended>,
}

/// How an attempt ended.
#[derive(Debug)]
pub(super) enum Ended {
    Finished(TrainReport),
    Stopped(TrainFailure),
    /// The engine broke: a fault of ours.
    Broke(String),
}

impl Attempt {
    /// Reads the inputs and starts the engine.
    ///
    /// # Errors
    /// A sentence for people when the run cannot start.
    pub(super) async fn start(
        hosting: &Hosting,
        row: &RunRow,
        ctx: RunCtx,
        journal: Arc<RunJournal>,
    ) -> Result<Self, String> {
        let config = run_config(&row.config).map_err(|err| err.to_string())?;
        let (root, out_root) = (row.out_root.clone(), row.out_root.clone());
        let opening = tokio::task::spawn_blocking(move || DiskRunFolder::open(Path::new(&root)));
        let folder =
            opening.await.map_err(|err| err.to_string())?.map_err(|err| err.to_string())?;
        // Now that nobody else can take the folder.
        hosting.refuse_unresumable(&row.id).await.map_err(|err| err.to_string())?;
        let for_reading = config.clone();
        let kept = kept_skill(hosting, row).await?;
        let read = tokio::task::spawn_blocking(move || {
            let out_root = Path::new(&out_root);
            let inputs = Inputs::load(&for_reading, &out_root.join("_generated_splits"), kept)
                .map_err(|problems| BadConfig(problems).to_string())?;
            write_sizes(out_root, &for_reading, &inputs)?;
            Ok::<_, String>(inputs)
        });
        let inputs = read.await.map_err(|err| err.to_string())??;
        let model =
            |role| hosting.model(&config, role, Some(&row.id)).map_err(|err| err.to_string());
        let ports = Ports {
            target: model(Role::Target)?,
            optimizer: model(Role::Optimizer)?,
            ledger: Arc::new(hosting.shared.store.ledger_of(&row.id)),
            journal,
            folder: Arc::new(folder),
            benchmark: Arc::new(inputs.data.benchmark),
            clock: hosting.clock(),
            flights: hosting.shared.flights.clone(),
        };
        let known = hosting.known(&config).await;
        let input = TrainInput {
            config,
            splits: inputs.data.splits,
            skill: inputs.skill,
            prompts: inputs.prompts,
            fresh: row.fresh.clone(),
            prior: Prior { spend: row.spend, active_ms: row.active_ms },
            known,
        };
        let mut tasks = JoinSet::new();
        tasks.spawn(async move { Ended::of(train(&ctx, &input, &ports).await) });
        Ok(Self { tasks })
    }

    /// Waits for the end. Safe to drop and to call again: the engine goes on meanwhile.
    pub(super) async fn ended(&mut self) -> Ended {
        match self.tasks.join_next().await {
            Some(Ok(ended)) => ended,
            Some(Err(err)) => Ended::Broke(broken(err)),
            None => Ended::Broke("the engine ended without a word".to_owned()),
        }
    }
}

/// Notes in `config.json` what the data decides. A plan that does not work is the engine's to report.
fn write_sizes(out_root: &Path, config: &RunConfig, inputs: &Inputs) -> Result<(), String> {
    let splits = &inputs.data.splits;
    let n = |tasks: &[Task]| u32::try_from(tasks.len()).unwrap_or(u32::MAX);
    let n_train = n(splits.train());
    let Ok(shape) = plan(config, n_train, n(splits.selection()), n(splits.test())) else {
        return Ok(());
    };
    let path = out_root.join("config.json");
    let old = match std::fs::read_to_string(&path) {
        Ok(old) => old,
        Err(err) if err.kind() == std::io::ErrorKind::NotFound => "{}".to_owned(),
        Err(err) => return Err(format!("cannot read {}: {err}", path.display())),
    };
    let new = config_json::with_sizes(&old, config, n_train, shape)
        .map_err(|err| format!("{} is no JSON object ({err}): move it away", path.display()))?;
    write_now(&path, new.as_bytes())
        .map_err(|err| format!("cannot write {}: {err}", path.display()))
}

fn broken(err: JoinError) -> String {
    let Ok(panic) = err.try_into_panic() else { return "the engine was stopped".to_owned() };
    let text = panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_default();
    format!("a fault in SkillOpt ended the run, please report it: {text}")
}

impl Ended {
    fn of(result: Result<TrainReport, TrainFailure>) -> Self {
        result.map_or_else(Self::Stopped, Self::Finished)
    }

    /// Spend and working time of the attempt, where the engine could tell.
    pub(super) fn spent(&self) -> Option<(SpendByRole, u64)> {
        match self {
            Self::Finished(report) => Some((report.spend, report.active_ms)),
            Self::Stopped(failure) => Some((failure.spend, failure.active_ms)),
            Self::Broke(_) => None,
        }
    }

    /// What it does to the state of the run.
    pub(super) fn transition(&self, interrupted: bool) -> (RunTransition, Option<String>) {
        match self {
            Self::Finished(_) => (RunTransition::Finish, None),
            Self::Stopped(failure)
                if interrupted && matches!(failure.error, TrainError::Cancelled) =>
            {
                (RunTransition::LoseOwner, Some("the program was stopped".to_owned()))
            }
            Self::Stopped(failure) => (failure.error.transition(), Some(failure.error.to_string())),
            Self::Broke(message) => (RunTransition::Fail, Some(message.clone())),
        }
    }
}

/// The skill that the run started from; `None` before its plan is noted. A resumed run takes it from the store: the
/// file may have changed since, for one by adopting what this very run found, or be gone.
pub(in crate::host) async fn kept_skill(
    hosting: &Hosting,
    row: &RunRow,
) -> Result<Option<String>, String> {
    let store = &hosting.shared.store;
    let view = store.view(&row.id).await.map_err(|err| err.to_string())?;
    let Some(plan) = view.plan else { return Ok(None) };
    store.skill_text(&plan.initial_skill).await.map_err(|err| err.to_string())
}
