//! One night from the sessions to the proposal: what is done in which order, and what is kept of it. Each stage lives in
//! its own module; nothing is decided about edits here. Blocking work on files runs beside the calls.

mod beside;
mod clean;
mod documents;
mod gather;
mod keep;
mod mining;
mod options;
mod place;
mod plan;
mod progress;
mod result;
mod work;

pub use gather::{TASKS_CHANGED, have_changed, tasks_begun_with};
pub use options::night_options;
pub use plan::{Answerers, NightPlan, TaskSource};
pub use progress::Watch;
pub use result::{NightFailure, NightResult};

use crate::backend::{Asker, Backend, CallsAsker, Mock, Modelled, NightSample};
use crate::config::{Config, GateMode};
use crate::evidence::Evidence;
use crate::lock::Lock;
use crate::prompts::Prompts;
use crate::stage::lock_project;
use crate::state::{State, StateFile};
use beside::beside;
use documents::Documents;
use place::Place;
use skillopt_engine::ctx::RunCtx;
use skillopt_engine::ports::Clock;
use std::sync::Arc;
use work::Work;

/// Runs a night. Another one of the same project is refused while it runs. A cancelled night makes no further call; calls
/// in flight, the miner's among them, have some time to be answered and kept.
///
/// # Errors
/// [`NightFailure`]; nothing is kept then but what the ledger knows.
pub async fn run_night(
    plan: &NightPlan,
    answerers: Answerers,
    watch: &Arc<Watch>,
    clock: &Arc<dyn Clock>,
    ctx: &RunCtx,
) -> Result<NightResult, NightFailure> {
    let for_opening = (plan.clone(), Arc::clone(clock));
    let begun = beside("begin the night", move || Begun::open(&for_opening.0, &for_opening.1));
    let Begun { lock, state_file, state, number, documents, place, evidence } = begun.await??;
    let outages = answerers.outages();
    let backend = backend_of(answerers, plan, number, (&evidence, watch), ctx);
    let work =
        Work { plan, state: &state, backend: &backend, evidence: &evidence, watch, clock, ctx };
    // Dropping the work is safe: it holds nothing but what the ledger knows already.
    let done = tokio::select! {
        done = work.run(documents, number) => done,
        never = ctx.abort_after_grace() => match never {},
        never = watch.follow_outages(outages) => match never {},
    };
    let for_keeping = (plan.clone(), Arc::clone(clock));
    beside("keep the night", move || {
        // Held to the end; it goes with its process.
        let _lock = lock;
        match done {
            Ok(finished) => {
                keep::keep(&for_keeping.0, &state_file, place, finished, &for_keeping.1)
            }
            Err(failure) => {
                place.give_up();
                Err(failure)
            }
        }
    })
    .await?
}

/// A night before its first call.
struct Begun {
    /// `None` for dry runs, which write nothing that two could write.
    lock: Option<Lock>,
    state_file: StateFile,
    state: State,
    number: u32,
    documents: Documents,
    place: Place,
    evidence: Arc<Evidence>,
}

impl Begun {
    fn open(plan: &NightPlan, clock: &Arc<dyn Clock>) -> Result<Self, NightFailure> {
        let project = &plan.config.invoked_project;
        let lock = (!plan.is_dry).then(|| lock_project(project)).transpose()?;
        let state_file = StateFile::new(&plan.config.state_dir);
        let state = state_file.read()?;
        let number = state.clone().begin_night(&project.display().to_string());
        // Whatever an adoption would refuse is refused before a model is called.
        let documents = Documents::read(plan)?;
        let (place, evidence) = Place::make(plan, clock.now_ms())?.with_evidence(plan, clock)?;
        Ok(Self { lock, state_file, state, number, documents, place, evidence })
    }
}

fn backend_of(
    answerers: Answerers,
    plan: &NightPlan,
    night: u32,
    (evidence, watch): (&Arc<Evidence>, &Arc<Watch>),
    ctx: &RunCtx,
) -> Arc<dyn Backend> {
    let asker: Arc<dyn Asker> = match answerers {
        Answerers::Mock => return Arc::new(Mock),
        Answerers::Other(asker) => asker,
        Answerers::Models { models, ledger, flights, meter, fresh } => {
            let sample = NightSample { seed: plan.config.seed, night, fresh };
            let memory = (&ledger, &flights);
            Arc::new(CallsAsker::new(ctx, &models, memory, (*meter, evidence), sample))
        }
    };
    watch.spends(Arc::clone(&asker));
    Arc::new(modelled(asker, &plan.config, plan.prompts.clone(), Arc::clone(evidence)))
}

/// Models behind an asker as a config wants them called: with its limits of tokens, and with stand-ins or without.
#[must_use]
pub fn modelled(
    asker: Arc<dyn Asker>,
    config: &Config,
    prompts: Prompts,
    evidence: Arc<Evidence>,
) -> Modelled {
    let modelled =
        Modelled::new(asker, prompts, evidence).with_limits(options::token_limits(config));
    // OpenCode gets its stand-ins only where a person asked for them, as in the reference system.
    let is_opencode = config.target().backend.as_str() == "opencode";
    match is_opencode && !config.opencode_tool_replay {
        true => modelled.without_stand_ins(),
        false => modelled,
    }
}

/// Edits have to win.
fn is_gated(config: &Config) -> bool {
    config.gate_mode == GateMode::On
}

#[cfg(test)]
mod tests;
