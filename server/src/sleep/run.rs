//! Runs a night: its row in the store, a sign of life each second, and its end, whichever it is.

use super::models::answerers;
use super::order::{NightOrder, NightSetup, OrderError, harvest_options, places};
use super::view::sources_json;
use crate::config::BadConfig;
use crate::host::Hosting;
use skillopt_domain::config::Setting;
use skillopt_domain::ids::NightId;
use skillopt_domain::night::{NightProgress, NightTransition};
use skillopt_engine::ctx::RunControl;
use skillopt_sleep::handoff::{Handoff, HandoffError};
use skillopt_sleep::night::{
    Answerers, NightFailure, NightPlan, NightResult, TaskSource, Watch, run_night,
};
use skillopt_sleep::split::Fractions;
use skillopt_sleep::split::SplitRule;
use skillopt_sleep::tasks_file::{LoadedTasks, SplitChoice, TasksFileError, read_tasks_file};
use skillopt_store::{BeginNightError, NewNight, NightEnd, StoreFailure};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// How often a running night says that it lives.
const BEAT: Duration = Duration::from_secs(1);
/// Time without a sign of life after which a night counts as gone.
const LEASE_MS: u64 = 15_000;

/// Runs nights of this process. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Nights {
    hosting: Hosting,
    tasks: TaskTracker,
    stop: CancellationToken,
}

/// A night that is to run.
#[derive(Clone, Debug)]
pub(crate) struct NightCommand {
    pub(crate) order: NightOrder,
    pub(crate) is_dry: bool,
    pub(crate) tasks_file: Option<PathBuf>,
    pub(crate) cfg_options: Vec<Setting>,
    pub(crate) fresh: bool,
    pub(crate) actor: String,
}

/// A night that was begun: its row is in the store.
#[derive(Debug)]
pub(crate) struct BegunNight {
    pub(crate) id: NightId,
    pub(crate) watch: Arc<Watch>,
    pub(crate) setup: NightSetup,
    plan: NightPlan,
    answerers: Answerers,
    control: RunControl,
    ctx: skillopt_engine::ctx::RunCtx,
    handoff: Option<Handoff>,
    pub(crate) given: Option<LoadedTasks>,
}

/// Why a night did not begin, or came to nothing.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NightRunError {
    /// Flags, config, environment.
    #[error(transparent)]
    Order(#[from] OrderError),
    /// The models' part of the config.
    #[error("{0}")]
    Models(BadConfig),
    /// The file with tasks.
    #[error(transparent)]
    Tasks(#[from] TasksFileError),
    /// Tasks that nobody looked at would be sent to a model.
    #[error(
        "{} was not reviewed: look at its tasks, set \"reviewed\" to true, and run again", .0.display()
    )]
    NotReviewed(PathBuf),
    /// Another one works on the project.
    #[error(transparent)]
    Begin(#[from] BeginNightError),
    /// The night itself.
    #[error(transparent)]
    Night(#[from] NightFailure),
    /// The files of a handoff.
    #[error(transparent)]
    Handoff(#[from] HandoffError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreFailure),
}

impl Nights {
    /// Starts nothing.
    pub(crate) fn new(hosting: Hosting) -> Self {
        Self { hosting, tasks: TaskTracker::new(), stop: CancellationToken::new() }
    }

    /// Puts a night together and writes its row. Makes no call.
    pub(crate) async fn begin(&self, command: &NightCommand) -> Result<BegunNight, NightRunError> {
        let env = self.hosting.environment();
        let setup = NightSetup::read(&command.order, env)?;
        let now_ms = self.hosting.clock().now_ms();
        let given =
            command.tasks_file.as_deref().map(|path| given_tasks(&setup, path)).transpose()?;
        let fresh = command.fresh.then(|| uuid::Uuid::now_v7().to_string());
        let (answerers, handoff) = answerers(&self.hosting, &setup, &command.cfg_options, fresh)
            .await
            .map_err(NightRunError::Models)?;
        let plan = NightPlan {
            config: setup.config.clone(),
            is_dry: command.is_dry,
            tasks: match &given {
                Some(given) => TaskSource::Given(given.file.tasks.clone()),
                None => TaskSource::Harvest(Box::new(harvest_options(&setup, env, now_ms)?)),
            },
            prompts: setup.prompts.clone(),
            skill_roots: setup.skill_roots.clone(),
            places: places(&setup),
            actor: command.actor.clone(),
        };
        let id = NightId::parse(&uuid::Uuid::now_v7().to_string()).expect("a UUID is a night id");
        let new = NewNight {
            id: id.clone(),
            project: setup.project(),
            is_dry: command.is_dry,
            is_simulated: !setup.config.spends(),
            models: models_words(&setup),
            actor: command.actor.clone(),
            at_ms: now_ms,
            owner: self.hosting.owner().to_owned(),
            ttl_ms: LEASE_MS,
        };
        self.hosting.store().begin_night(&new).await?;
        let (control, ctx) = RunControl::new();
        let watch = Arc::new(Watch::default());
        Ok(BegunNight { id, watch, setup, plan, answerers, control, ctx, handoff, given })
    }

    /// Runs a night to its end, which is in the store then. `cancel` ends it soon.
    pub(crate) async fn run(
        &self,
        night: BegunNight,
        cancel: &CancellationToken,
    ) -> Result<NightResult, NightRunError> {
        let BegunNight { id, watch, plan, answerers, control, ctx, handoff, .. } = night;
        let clock = self.hosting.clock();
        let over = CancellationToken::new();
        let work = async {
            let done = run_night(&plan, answerers, &watch, &clock, &ctx).await;
            over.cancel();
            done
        };
        let stopping = async {
            tokio::select! {
                () = cancel.cancelled() => control.cancel(),
                () = self.stop.cancelled() => control.cancel(),
                () = over.cancelled() => {}
            }
        };
        let (done, (), ()) = tokio::join!(work, self.beat(&id, &watch, &control, &over), stopping);
        if let Some(handoff) = &handoff {
            end_round(handoff, &done, plan.is_dry, clock.now_ms())?;
        }
        let end = end_of(&done, watch.latest(), plan.is_dry, clock.now_ms());
        self.hosting.store().end_night(&id, &end).await?;
        Ok(done?)
    }

    /// Runs a night that was begun as a task of this process.
    pub(crate) fn spawn(&self, night: BegunNight) {
        let nights = self.clone();
        self.tasks.spawn(async move {
            let id = night.id.clone();
            if let Err(err) = nights.run(night, &CancellationToken::new()).await {
                tracing::warn!(night.id = %id, "the night came to nothing: {err}");
            }
        });
    }

    /// Ends all nights of this process and waits for them a while.
    pub(crate) async fn shut_down(&self, patience: Duration) {
        self.stop.cancel();
        self.tasks.close();
        // What is not over in time is closed when its lease has run out.
        let _ = tokio::time::timeout(patience, self.tasks.wait()).await;
    }

    /// Says each second how far it is, and hears whether a person asks for the end.
    async fn beat(
        &self,
        id: &NightId,
        watch: &Watch,
        control: &RunControl,
        over: &CancellationToken,
    ) {
        let store = self.hosting.store();
        let mut harvests = watch.harvests();
        let mut ticks = tokio::time::interval(BEAT);
        // A lost tick is made good by the next one.
        while over.run_until_cancelled(ticks.tick()).await.is_some() {
            if harvests.has_changed().unwrap_or(false) {
                let json = harvests.borrow_and_update().as_ref().map(sources_json);
                if let Some(json) = json
                    && let Err(err) = store.keep_harvest(id, &json).await
                {
                    tracing::warn!("the harvest of a night cannot be stored: {err}");
                }
            }
            let until = self.hosting.clock().now_ms() + LEASE_MS;
            match store.beat_night(id, &watch.latest(), until).await {
                Ok(true) => control.cancel(),
                Ok(false) => {}
                Err(err) => tracing::warn!("how far a night is cannot be stored: {err}"),
            }
        }
        let json = harvests.borrow_and_update().as_ref().map(sources_json);
        if let Some(json) = json
            && let Err(err) = store.keep_harvest(id, &json).await
        {
            tracing::warn!("the harvest of a night cannot be stored: {err}");
        }
    }
}

/// Tasks that a person reviewed. Without that no model may see them.
fn given_tasks(setup: &NightSetup, path: &std::path::Path) -> Result<LoadedTasks, NightRunError> {
    let config = &setup.config;
    let choice = SplitChoice {
        seed: i64::try_from(config.seed).unwrap_or(i64::MAX),
        fractions: Fractions::try_new(config.val_fraction(), config.test_fraction)
            .map_err(|err| NightFailure::Config(err.to_string()))?,
        rule: SplitRule::default(),
    };
    let loaded = read_tasks_file(path, choice)?;
    if !loaded.file.reviewed && config.spends() {
        return Err(NightRunError::NotReviewed(path.to_owned()));
    }
    Ok(loaded)
}

/// What was asked is written down for those who answer; a night that is done puts its files away.
fn end_round(
    handoff: &Handoff,
    done: &Result<NightResult, NightFailure>,
    is_dry: bool,
    at_ms: u64,
) -> Result<(), HandoffError> {
    match done {
        Ok(result) if !is_dry => handoff.finish(result.report.night, at_ms).map(drop),
        _ => handoff.flush().map(drop),
    }
}

fn models_words(setup: &NightSetup) -> String {
    let (target, optimizer) = (setup.config.target(), setup.config.optimizer());
    let words = |role: &skillopt_sleep::config::RoleBackend| match role.model.as_str() {
        "" => role.backend.to_string(),
        model => format!("{} {model}", role.backend),
    };
    match target == optimizer {
        true => words(&target),
        false => format!("{}, edits by {}", words(&target), words(&optimizer)),
    }
}

fn end_of(
    done: &Result<NightResult, NightFailure>,
    progress: NightProgress,
    is_dry: bool,
    at_ms: u64,
) -> NightEnd {
    let mut end = NightEnd {
        transition: NightTransition::Fail,
        detail: String::new(),
        night: None,
        staging: None,
        report_json: None,
        progress,
        at_ms,
    };
    match done {
        Ok(result) => {
            end.transition = match (&result.staging, is_dry) {
                (_, true) => NightTransition::Rehearse,
                (Some(_), false) => NightTransition::Stage,
                (None, false) => NightTransition::FindNothing,
            };
            end.detail = match result.tasks.is_empty() {
                true => result.report.notes.first().cloned().unwrap_or_default(),
                false => result.report.decision.clone(),
            };
            end.night = (!is_dry).then_some(result.report.night);
            end.staging = result.staging.as_ref().map(|dir| dir.display().to_string());
            end.report_json = serde_json::to_string(&result.report).ok();
        }
        Err(failure) => {
            end.transition = match failure {
                failure if failure.is_pending() => NightTransition::AskAnswers,
                failure if failure.is_cancelled() => NightTransition::Cancel,
                failure if failure.is_capped() => NightTransition::Cap,
                _ => NightTransition::Fail,
            };
            end.detail = failure.to_string();
        }
    }
    end
}
