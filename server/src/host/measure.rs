//! Measures one skill on one split, outside of any run: nothing of it enters the run table, but paid calls
//! are in the ledger like all others.

use super::inputs::{Inputs, read_skill};
use super::{DiskRunFolder, HostError, Hosting};
use crate::config::{BadConfig, run_config};
use async_trait::async_trait;
use serde_json::json;
use skillopt_domain::config::{ConfigProblem, Resolved};
use skillopt_domain::event::{EventKind, Progress};
use skillopt_domain::outage::Outage;
use skillopt_domain::outcome::RolloutSet;
use skillopt_domain::skill::SkillDoc;
use skillopt_domain::spend::Role;
use skillopt_engine::ctx::RunCtx;
use skillopt_engine::forecast::Known;
use skillopt_engine::meter::Prior;
use skillopt_engine::ports::{Journal, RolloutRecord, RunFolder, StoreError};
use skillopt_engine::splits::SplitName;
use skillopt_engine::train::{MeasureInput, Measurement, Ports, TrainFailure, TrainInput, measure};
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::watch;

/// What is measured.
#[derive(Clone, Debug)]
pub struct MeasureRequest {
    /// The checked config.
    pub resolved: Resolved,
    /// The skill file.
    pub skill: String,
    /// The split.
    pub split: SplitName,
    /// How many times; each draws anew.
    pub repeats: u32,
    /// Draw anew, whatever the ledger holds.
    pub fresh: bool,
    /// Where results are written; nowhere when `None`.
    pub out_root: Option<PathBuf>,
}

/// How far a measurement is. What is missed of it is overtaken by what comes next.
#[derive(Clone, Debug, Default)]
pub struct MeasureState {
    /// The tasks that are done.
    pub progress: Option<Progress>,
    /// The endpoint does not answer.
    pub outage: Option<Outage>,
}

/// All measurements and how they ended.
#[derive(Debug)]
pub struct Measured {
    /// The skill.
    pub skill: SkillDoc,
    /// One a repeat that was finished.
    pub measurements: Vec<Measurement>,
    /// Why it stopped early.
    pub failure: Option<TrainFailure>,
}

impl Hosting {
    /// Measures. `state` is told how far it is.
    ///
    /// # Errors
    /// [`HostError`] when config, skill, data or folder cannot be used.
    pub async fn measure(
        &self,
        request: &MeasureRequest,
        ctx: &RunCtx,
        state: &watch::Sender<MeasureState>,
    ) -> Result<Measured, HostError> {
        let config = run_config(&self.priced(&request.resolved).await)?;
        let skill = read_skill(&request.skill).map_err(|problem| {
            BadConfig(vec![ConfigProblem { path: "--skill".to_owned(), ..problem }])
        })?;
        let inputs = Inputs::preview(&config, None).map_err(BadConfig)?;
        let folder: Arc<dyn RunFolder> = match &request.out_root {
            Some(path) => Arc::new(DiskRunFolder::open(path)?),
            None => Arc::new(NoFolder),
        };
        let model =
            |role| self.model(&config, role, None).map_err(|problem| BadConfig(vec![problem]));
        let ports = Ports {
            target: model(Role::Target)?,
            optimizer: model(Role::Optimizer)?,
            ledger: Arc::new(self.shared.store.clone()),
            journal: Arc::new(OnlyState(state.clone())),
            folder: folder.clone(),
            benchmark: Arc::new(inputs.data.benchmark),
            clock: self.clock(),
            flights: self.shared.flights.clone(),
        };
        let mut input = MeasureInput {
            train: TrainInput {
                config,
                splits: inputs.data.splits,
                skill,
                prompts: inputs.prompts,
                fresh: request.fresh.then(|| uuid::Uuid::now_v7().to_string()),
                prior: Prior::default(),
                known: Known::default(),
            },
            split: request.split,
            repeat: 0,
        };
        let mut measured =
            Measured { skill: input.train.skill.clone(), measurements: Vec::new(), failure: None };
        for repeat in 0..request.repeats.max(1) {
            input.repeat = repeat;
            match measure(ctx, &input, &ports).await {
                Ok(measurement) => {
                    // The caps of section `limits` hold for all repeats together.
                    input.train.prior.spend += measurement.spend;
                    input.train.prior.active_ms += measurement.active_ms;
                    measured.measurements.push(measurement);
                }
                Err(failure) => {
                    measured.failure = Some(failure);
                    break;
                }
            }
        }
        self.write_summary(request, &measured, folder.as_ref()).await?;
        Ok(measured)
    }

    async fn write_summary(
        &self,
        request: &MeasureRequest,
        measured: &Measured,
        folder: &dyn RunFolder,
    ) -> Result<(), HostError> {
        let Some(first) = measured.measurements.first() else { return Ok(()) };
        let text = json!({
            "skill": request.skill,
            "split": request.split.folder(),
            "n_items": first.set.outcomes.len(),
            "n_scored": first.score.map_or(0, |score| score.n),
            "hard": first.score.map(|score| score.hard),
            "soft": first.score.map(|score| score.soft),
        });
        folder.write("eval_summary.json", format!("{text:#}\n")).await.map_err(|err| {
            HostError::Folder {
                path: request.out_root.clone().unwrap_or_default().display().to_string(),
                message: err.message,
            }
        })
    }
}

/// A journal that keeps nothing but how it stands: a measurement is no run.
#[derive(Debug)]
struct OnlyState(watch::Sender<MeasureState>);

#[async_trait]
impl Journal for OnlyState {
    async fn append(&self, _: &str, event: EventKind) -> Result<(), StoreError> {
        match event {
            EventKind::EndpointDown(outage) => {
                self.0.send_modify(|state| state.outage = Some(outage));
            }
            EventKind::EndpointUp { .. } => self.0.send_modify(|state| state.outage = None),
            _ => {}
        }
        Ok(())
    }

    async fn find(&self, _: &str) -> Result<Option<EventKind>, StoreError> {
        Ok(None)
    }

    async fn find_outcomes(&self, _: &str) -> Result<Option<RolloutSet>, StoreError> {
        Ok(None)
    }

    async fn keep_outcomes(&self, _: &RolloutSet) -> Result<(), StoreError> {
        Ok(())
    }

    async fn keep_skill(&self, _: &str) -> Result<(), StoreError> {
        Ok(())
    }

    async fn keep_text(&self, _: &str) -> Result<(), StoreError> {
        Ok(())
    }

    fn progress(&self, progress: Progress) {
        self.0.send_modify(|state| state.progress = Some(progress));
    }
}

/// A folder that nobody asked for.
#[derive(Debug)]
pub(super) struct NoFolder;

#[async_trait]
impl RunFolder for NoFolder {
    async fn write(&self, _: &str, _: String) -> Result<(), StoreError> {
        Ok(())
    }

    async fn write_rollouts(&self, _: &str, _: Vec<RolloutRecord>) -> Result<(), StoreError> {
        Ok(())
    }
}
