//! Runs a night: its row in the store, a sign of life each second, and its end, whichever it is.

mod read;

use super::beside;
use super::decide::note_adoptions;
use super::models::answerers;
use super::order::{NightOrder, NightSetup, OrderError, places};
use super::queue::keep;
use super::view::sources_json;
use crate::config::BadConfig;
use crate::host::Hosting;
use read::{Read, read};
use skillopt_domain::config::Setting;
use skillopt_domain::ids::NightId;
use skillopt_domain::night::forecast::NightForecast;
use skillopt_domain::night::{NightProgress, NightTransition};
use skillopt_engine::ctx::{RunControl, RunCtx};
use skillopt_sleep::backend::BackendError;
use skillopt_sleep::consolidate::NightError;
use skillopt_sleep::handoff::{Handoff, HandoffError};
use skillopt_sleep::harvest::Harvest;
use skillopt_sleep::night::{Answerers, NightFailure, NightPlan, NightResult, Watch, run_night};
use skillopt_sleep::redact::redact;
use skillopt_sleep::tasks_file::{LoadedTasks, TasksFileError};
use skillopt_store::{BeginNightError, NewNight, NightCall, NightEnd, NightScores, StoreFailure};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// How often a running night says that it lives.
const BEAT: Duration = Duration::from_secs(1);
/// Time without a sign of life after which a night counts as gone.
const LEASE_MS: u64 = 15_000;
/// Nights that work at the same time; further ones wait for their turn.
const MOST_AT_WORK: usize = 2;

/// Runs nights of this process. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Nights {
    hosting: Hosting,
    tasks: TaskTracker,
    stop: CancellationToken,
    places: Arc<Semaphore>,
}

/// What the beat of a night and its work tell each other.
#[derive(Debug, Default)]
struct Pulse {
    /// Other nights have to end first.
    waits: AtomicBool,
    /// The row of the night was closed by somebody else.
    is_lost: AtomicBool,
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
    /// What it can come to in calls.
    pub(crate) forecast: NightForecast,
    plan: NightPlan,
    answerers: Answerers,
    control: RunControl,
    ctx: RunCtx,
    /// The files through which a person answers.
    pub(crate) handoff: Option<Handoff>,
    pub(crate) given: Option<LoadedTasks>,
    /// What is to be told while the night waits; its report tells the same when it ends.
    pub(crate) told: Vec<String>,
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
    /// Nothing was heard of it for so long that it was closed.
    #[error(
        "the night gave no sign of life for too long and was closed; run it again, what is paid for is kept"
    )]
    LeaseLost,
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
        let places = Arc::new(Semaphore::new(MOST_AT_WORK));
        Self { hosting, tasks: TaskTracker::new(), stop: CancellationToken::new(), places }
    }

    /// What all that this process runs share.
    pub(crate) fn hosting(&self) -> &Hosting {
        &self.hosting
    }

    /// Puts a night together and writes its row. Makes no call.
    pub(crate) async fn begin(&self, command: &NightCommand) -> Result<BegunNight, NightRunError> {
        let now_ms = self.hosting.clock().now_ms();
        let (asked, env) = (command.clone(), self.hosting.environment().clone());
        let read = beside(move || read(asked, &env, now_ms)).await?;
        let Read { order, setup, given, tasks, forecast, handoff, told } = read;
        let fresh = command.fresh.then(|| uuid::Uuid::now_v7().to_string());
        let options = (command.cfg_options.as_slice(), fresh);
        let answerers = answerers(&self.hosting, &setup, handoff.as_ref(), options)
            .await
            .map_err(NightRunError::Models)?;
        let plan = NightPlan {
            config: setup.config.clone(),
            is_dry: command.is_dry,
            tasks,
            handoff: handoff.clone(),
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
            settings_json: order.kept(command.tasks_file.as_deref(), &command.cfg_options),
        };
        self.hosting.store().begin_night(&new).await?;
        let (control, ctx) = RunControl::new();
        let watch = Arc::new(Watch::default());
        Ok(BegunNight {
            id,
            watch,
            setup,
            forecast,
            plan,
            answerers,
            control,
            ctx,
            handoff,
            given,
            told,
        })
    }

    /// Runs a night to its end, which is in the store then. `cancel` ends it soon.
    pub(crate) async fn run(
        &self,
        night: BegunNight,
        cancel: &CancellationToken,
    ) -> Result<NightResult, NightRunError> {
        let BegunNight { id, watch, plan, answerers, control, ctx, handoff, told: news, .. } =
            night;
        let clock = self.hosting.clock();
        let over = CancellationToken::new();
        let pulse = Pulse::default();
        let work = async {
            let done = match self.place(&pulse, &ctx).await {
                Some(_held) => run_night(&plan, answerers, &watch, &clock, &ctx).await,
                None => Err(NightError::from(BackendError::Cancelled).into()),
            };
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
        let beat = self.beat(&id, &watch, &control, &over, &pulse);
        let (done, (), ()) = tokio::join!(work, beat, stopping);
        let done = end_round(handoff.as_ref(), told(done, &pulse));
        let owner = self.hosting.owner().to_owned();
        let mut end = end_of(&done, watch.latest(), plan.is_dry, (owner, clock.now_ms()));
        tell_beside(&mut end, &news);
        // The row comes first: whatever fails behind it, the night is not left at work for ever.
        match self.hosting.store().end_night(&id, &end).await {
            Ok(true) => {}
            Ok(false) => {
                tracing::warn!(night.id = %id, "the row of the night is not its own any more");
            }
            Err(err) => {
                tracing::error!(night.id = %id, "the end of the night cannot be stored: {err}");
            }
        }
        self.keep_for_lists(&id).await;
        if let Ok(result) = &done {
            self.after(result, handoff.as_ref(), &plan.actor).await;
        }
        done
    }

    /// Lists show of the folder what is kept here. A store that cannot be written is told: whoever opens a list looks
    /// into the folder then.
    async fn keep_for_lists(&self, id: &NightId) {
        let store = self.hosting.store();
        let kept = async {
            match store.night(id).await? {
                Some(mut row) if row.staging.is_some() => keep(store, &mut row).await,
                _ => Ok(()),
            }
        };
        if let Err(err) = kept.await {
            tracing::warn!(night.id = %id, "what the night proposes cannot be kept for lists: {err}");
        }
    }

    /// What is left to do when a night came to its end.
    async fn after(&self, result: &NightResult, handoff: Option<&Handoff>, actor: &str) {
        if let Some(dir) = &result.staging {
            note_adoptions(&self.hosting, dir, &result.adopted, actor).await;
        }
        if let Some(handoff) = handoff {
            let at_ms = self.hosting.clock().now_ms();
            if let Err(err) = handoff.finish(result.report.night, at_ms) {
                tracing::warn!("the files of the handoff cannot be put aside: {err}");
            }
        }
    }

    /// A place among those that work. `None` when the night is cancelled while it waits.
    async fn place(&self, pulse: &Pulse, ctx: &RunCtx) -> Option<OwnedSemaphorePermit> {
        if let Ok(place) = Arc::clone(&self.places).try_acquire_owned() {
            return Some(place);
        }
        pulse.waits.store(true, Ordering::Release);
        let place = Arc::clone(&self.places).acquire_owned();
        let place = ctx.cancel_token().run_until_cancelled(place).await;
        pulse.waits.store(false, Ordering::Release);
        place?.ok()
    }

    /// Runs a night that was begun as a task of this process.
    pub(crate) fn spawn(&self, night: BegunNight) {
        let nights = self.clone();
        self.tasks.spawn(async move {
            let id = night.id.clone();
            match nights.run(night, &CancellationToken::new()).await {
                Ok(_) => {}
                Err(NightRunError::Night(failure)) if failure.is_pending() => {
                    tracing::info!(night.id = %id, "the night waits for answers");
                }
                Err(err) => tracing::warn!(night.id = %id, "the night came to nothing: {err}"),
            }
        });
    }

    /// A deed that began comes to its end with all that belongs to it, also when the one who asked has hung up. A panic
    /// goes on in the one who asked: no error of a deed stands for it.
    pub(crate) async fn to_the_end<T: Send + 'static>(
        &self,
        deed: impl Future<Output = T> + Send + 'static,
    ) -> T {
        match self.tasks.spawn(deed).await {
            Ok(done) => done,
            Err(err) => std::panic::resume_unwind(err.into_panic()),
        }
    }

    /// Ends all nights of this process and waits for them a while.
    pub(crate) async fn shut_down(&self, patience: Duration) {
        self.stop.cancel();
        // What is not over in time is closed when its lease has run out.
        let _ = tokio::time::timeout(patience, self.drained()).await;
    }

    /// Waits for all nights of this process.
    pub(crate) async fn drained(&self) {
        self.tasks.close();
        self.tasks.wait().await;
    }

    /// Says each second how far it is, and hears whether a person asks for the end.
    async fn beat(
        &self,
        id: &NightId,
        watch: &Watch,
        control: &RunControl,
        over: &CancellationToken,
        pulse: &Pulse,
    ) {
        let mut harvests = watch.harvests();
        let mut ticks = tokio::time::interval(BEAT);
        // A lost tick is made good by the next one.
        while over.run_until_cancelled(ticks.tick()).await.is_some() {
            self.keep_harvest(id, &mut harvests).await;
            let until = self.hosting.clock().now_ms() + LEASE_MS;
            match self.hosting.store().beat_night(id, &pulse.progress(watch), until).await {
                Ok(NightCall::GoOn) => {}
                Ok(NightCall::End) => control.cancel(),
                Ok(NightCall::Lost) => {
                    pulse.is_lost.store(true, Ordering::Release);
                    control.cancel();
                }
                Err(err) => tracing::warn!("how far a night is cannot be stored: {err}"),
            }
        }
        self.keep_harvest(id, &mut harvests).await;
    }

    /// Keeps the harvest once it is there.
    async fn keep_harvest(&self, id: &NightId, harvests: &mut watch::Receiver<Option<Harvest>>) {
        if !harvests.has_changed().unwrap_or(false) {
            return;
        }
        let json = harvests.borrow_and_update().as_ref().map(sources_json);
        if let Some(json) = json
            && let Err(err) = self.hosting.store().keep_harvest(id, &json).await
        {
            tracing::warn!("the harvest of a night cannot be stored: {err}");
        }
    }
}

impl Pulse {
    fn progress(&self, watch: &Watch) -> NightProgress {
        let mut now = watch.latest();
        if self.waits.load(Ordering::Acquire) {
            "waits for another night".clone_into(&mut now.doing);
        }
        now
    }
}

/// A night that waits has no report yet that could tell it.
fn tell_beside(end: &mut NightEnd, news: &[String]) {
    if end.transition == NightTransition::AskAnswers {
        for words in news {
            end.detail = format!("{}; {words}", end.detail);
        }
    }
}

/// A night that ended because its row was taken away did not end by a person's word.
fn told(
    done: Result<NightResult, NightFailure>,
    pulse: &Pulse,
) -> Result<NightResult, NightRunError> {
    done.map_err(|failure| match failure.is_cancelled() && pulse.is_lost.load(Ordering::Acquire) {
        true => NightRunError::LeaseLost,
        false => failure.into(),
    })
}

/// What was asked is written down for those who answer. Any other end leaves the files of a handoff as they are: they
/// may wait for answers from an earlier round.
fn end_round(
    handoff: Option<&Handoff>,
    done: Result<NightResult, NightRunError>,
) -> Result<NightResult, NightRunError> {
    match (handoff, done) {
        (Some(handoff), Err(NightRunError::Night(failure))) if failure.is_pending() => {
            handoff.flush()?;
            Err(failure.into())
        }
        (_, done) => done,
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
    done: &Result<NightResult, NightRunError>,
    progress: NightProgress,
    is_dry: bool,
    (owner, at_ms): (String, u64),
) -> NightEnd {
    let mut end = NightEnd {
        transition: NightTransition::Fail,
        detail: String::new(),
        owner,
        night: None,
        staging: None,
        scores: NightScores::default(),
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
            end.scores = NightScores {
                baseline: result.report.baseline_score,
                candidate: result.report.candidate_score,
                accepted: result.report.accepted,
            };
            end.report_json = serde_json::to_string(&result.report).ok();
        }
        Err(failure) => {
            end.transition = match failure {
                NightRunError::Night(failure) if failure.is_pending() => {
                    NightTransition::AskAnswers
                }
                NightRunError::Night(failure) if failure.is_cancelled() => NightTransition::Cancel,
                NightRunError::Night(failure) if failure.is_capped() => NightTransition::Cap,
                _ => NightTransition::Fail,
            };
            // A provider may have quoted what it was sent.
            end.detail = redact(&failure.to_string()).text;
        }
    }
    end
}

#[cfg(test)]
mod tests;
