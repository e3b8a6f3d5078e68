//! Before the first step: the plan, one call a role, and the initial skill's score.

use super::epoch_end::Stopwatch;
use super::prompts::announce_prompts;
use super::python::{PythonState, start};
use super::{Standing, TrainState};
use crate::artifacts::Artifacts;
use crate::batches::RunShape;
use crate::buffer::StepBuffer;
use crate::evaluate::{MeasureOrder, SelectionCache, measure as measure_skill, measured};
use crate::forecast::forecast;
use crate::ports::{ChatRequest, Message, ModelErrorKind, Purpose, Task};
use crate::rollout::WhenBroken;
use crate::run::{Run, TrainError};
use crate::splits::Splits;
use skillopt_domain::event::{EventKind, Measured, RunPlan};
use skillopt_domain::hash::Sha256Hex;
use skillopt_domain::outcome::RolloutPurpose;
use skillopt_domain::run::Phase;
use skillopt_domain::spend::Role;

pub(super) async fn announce(run: &Run<'_>, shape: RunShape) -> Result<(), TrainError> {
    let (config, splits) = (&run.input.config, &run.input.splits);
    let n = |tasks: &[Task]| u32::try_from(tasks.len()).unwrap_or(u32::MAX);
    run.ports.journal.keep_skill(run.input.skill.text()).await?;
    let plan = RunPlan {
        benchmark: run.ports.benchmark.name().to_owned(),
        n_train: n(splits.train()),
        n_selection: n(run.selection()),
        n_test: n(run.test()),
        epochs: config.train.num_epochs,
        steps_per_epoch: shape.steps_per_epoch,
        total_steps: shape.total_steps,
        data: data_hash(splits),
        initial_skill: run.input.skill.sha(),
        initial_tokens: run.input.skill.estimated_tokens(),
        target_model: run.ports.target.name().to_owned(),
        optimizer_model: run.ports.optimizer.name().to_owned(),
        target_simulated: run.ports.target.is_simulated(),
        optimizer_simulated: run.ports.optimizer.is_simulated(),
        seed: config.train.seed,
        forecast: forecast(run.input.into(), run.ports.benchmark.as_ref()).ok(),
    };
    if let Some(EventKind::Planned(earlier)) = run.ports.journal.find("planned").await? {
        if earlier.initial_skill != plan.initial_skill {
            return Err(TrainError::InputChanged { what: "the initial skill" });
        }
        if earlier.data != plan.data {
            return Err(TrainError::InputChanged { what: "the data" });
        }
    }
    run.emit("planned", EventKind::Planned(plan)).await?;
    announce_prompts(run).await?;
    for warning in run.input.skill.lint() {
        let message = format!("skill, line {}: {}", warning.line, warning.message);
        let key = format!("warning/skill/{}", Sha256Hex::of(&message).short());
        run.emit(&key, EventKind::Warning { code: "skill".into(), message }).await?;
    }
    if config.evaluation.density.is_some() {
        let message =
            "evaluation.use_semantic_density is on: it rewards skills for words such as must and \
                       never, so that a gain may be louder wording and no better result"
                .to_owned();
        let event = EventKind::Warning { code: "semantic_density".into(), message };
        run.emit("warning/semantic_density", event).await?;
    }
    run.write("skills/skill_v0000.md", run.input.skill.text().to_owned()).await
}

/// Hash of all tasks of all splits, in order: what a run's plan names as its data.
#[must_use]
pub fn data_hash(splits: &Splits) -> Sha256Hex {
    let mut text = String::new();
    for tasks in [splits.train(), splits.selection(), splits.test()] {
        for task in tasks {
            text.push_str(&format!("{}:{}{}", task.id.as_str().len(), task.id, task.content));
        }
        text.push('/');
    }
    Sha256Hex::of(text)
}

/// One cheap call a role before anything is spent. Any answer will do: it proves that address, key and
/// model fit.
pub(super) async fn preflight(run: &Run<'_>) -> Result<(), TrainError> {
    run.emit("phase/preflight", EventKind::PhaseStarted(Phase::Preflight)).await?;
    for role in Role::ALL {
        let latency_ms = preflight_role(run, role).await?;
        run.emit(&format!("preflight/{role}"), EventKind::PreflightPassed { role, latency_ms })
            .await?;
    }
    Ok(())
}

/// The preflight request: tiny, the same for every role.
#[must_use]
pub fn preflight_request() -> ChatRequest {
    ChatRequest {
        max_tokens: Some(64),
        ..ChatRequest::new(
            Purpose::Preflight,
            "preflight",
            vec![
                Message::system("You are asked whether you can be reached."),
                Message::user("Reply with the single word OK."),
            ],
        )
    }
}

pub(super) async fn preflight_role(run: &Run<'_>, role: Role) -> Result<u64, TrainError> {
    match run.calls.ask(role, &preflight_request(), &run.sample(0, 0)).await {
        Ok(answer) if answer.cached => Ok(0),
        Ok(answer) => Ok(answer.reply.latency_ms),
        Err(error) => {
            let error = TrainError::of_call(error)?;
            // The model was reached and thought until the small limit: that is an answer here.
            match error.kind {
                ModelErrorKind::Empty | ModelErrorKind::ReasoningOnly => Ok(0),
                _ => Err(TrainError::Model { role, error }),
            }
        }
    }
}

pub(super) async fn baseline(run: &Run<'_>, shape: RunShape) -> Result<TrainState, TrainError> {
    run.emit("phase/baseline", EventKind::PhaseStarted(Phase::Baseline)).await?;
    let (skill, stopwatch) = (run.input.skill.clone(), Stopwatch::start(run));
    let rollouts = measure_skill(
        run,
        MeasureOrder {
            skill: &skill,
            tasks: run.selection(),
            purpose: RolloutPurpose::Selection,
            phase: Phase::Baseline,
            step: 0,
            dir: "selection_eval_baseline".to_owned(),
            repeat: 0,
            when_broken: WhenBroken::FailRun,
        },
    )
    .await?;
    let cost = Some(stopwatch.spent(run));
    let baseline = Measured { cost, ..measured(run, &skill, &rollouts.set) };
    run.emit("baseline", EventKind::Baseline(baseline.clone())).await?;
    let mut cache = SelectionCache::default();
    cache.insert(rollouts.set, [&skill.sha(); 2]);
    let is_python = run.is_python();
    let mut state = TrainState {
        python: is_python.then(|| PythonState::new(&baseline)),
        step: 0,
        skills: Standing::initial(&skill),
        epoch_skill: skill,
        memory: String::new(),
        buffer: StepBuffer::new(is_python),
        measured: cache,
        last_was_inconclusive: false,
        artifacts: Artifacts::new(baseline, shape.steps_per_epoch),
    };
    if is_python {
        start(run, &mut state).await?;
    }
    Ok(state)
}
