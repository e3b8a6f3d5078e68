//! Makes a cassette of a finished run. The loop is a pure function of config, data and recorded calls, so the run is
//! gone through once more with the ledger as its only model: nothing is sent to anyone, and nothing is written.

mod recorder;

use super::drive::kept_skill;
use super::inputs::Inputs;
use super::measure::NoFolder;
use super::models::keyless;
use super::{HostError, Hosting};
use crate::config::{BadConfig, flat_json, run_config};
use recorder::{Kept, NoLedger, Recorder, Tape};
use skillopt_domain::config::Limits;
use skillopt_domain::event::{EventKind, RunPlan};
use skillopt_domain::ids::RunId;
use skillopt_domain::run::RunStatus;
use skillopt_domain::spend::Role;
use skillopt_engine::calls::Flights;
use skillopt_engine::ctx::RunControl;
use skillopt_engine::forecast::Known;
use skillopt_engine::meter::Prior;
use skillopt_engine::ports::Model;
use skillopt_engine::train::{Ports, TrainInput, train};
use skillopt_models::cassette::{Cassette, DataMark, Header};
use skillopt_store::{RunRow, StoreFailure};
use std::collections::HashMap;
use std::sync::Arc;

/// A run of which no cassette can be made.
#[derive(Debug, thiserror::Error)]
pub enum CassetteFailure {
    /// It is not over.
    #[error("the run is {0}; only a run that is done can be made a cassette of")]
    NotDone(RunStatus),
    /// What it was made from is not there any more.
    #[error(transparent)]
    Host(#[from] HostError),
    /// The ledger or the inputs do not give the run again.
    #[error("the run cannot be gone through again: {0}")]
    Differs(String),
}

impl Hosting {
    /// The cassette of a finished run: its config, its skill, and every exchange with a model in the order of the run.
    ///
    /// # Errors
    /// [`CassetteFailure`] when the run is not done, was imported, or cannot be gone through again because its data,
    /// the ledger or the program changed.
    pub async fn cassette(&self, run: &RunId) -> Result<Cassette, CassetteFailure> {
        self.refuse_imported(run).await?;
        let row = self.store().run_row(run).await.map_err(HostError::from)?;
        if row.status != RunStatus::Done {
            return Err(CassetteFailure::NotDone(row.status));
        }
        let kept = self.kept_events(run).await.map_err(HostError::from)?;
        let plan = kept.values().find_map(|kind| match kind {
            EventKind::Planned(plan) => Some(plan.clone()),
            _ => None,
        });
        let tape = Arc::new(Tape::default());
        let skill = self.go_through(&row, kept, &tape).await?;
        let header = header(&row, plan.as_ref(), skill);
        Ok(Cassette::new(header, tape.exchanges()))
    }

    /// Events that say what the run was made on and which calls failed for good.
    async fn kept_events(&self, run: &RunId) -> Result<HashMap<String, EventKind>, StoreFailure> {
        let (mut kept, mut seq) = (HashMap::new(), 0);
        loop {
            let events = self.store().events_after(run, seq, 1000).await?;
            let Some(last) = events.last() else { return Ok(kept) };
            seq = last.seq;
            let is_needed = |kind: &EventKind| {
                matches!(
                    kind,
                    EventKind::Planned(_)
                        | EventKind::PromptsChosen { .. }
                        | EventKind::Warning { .. }
                )
            };
            kept.extend(
                events
                    .into_iter()
                    .filter(|event| is_needed(&event.kind))
                    .map(|event| (event.key, event.kind)),
            );
        }
    }

    /// Goes through the run once more; gives the skill that it started from.
    async fn go_through(
        &self,
        row: &RunRow,
        kept: HashMap<String, EventKind>,
        tape: &Arc<Tape>,
    ) -> Result<String, CassetteFailure> {
        let mut config = run_config(&row.config).map_err(HostError::from)?;
        let bad = |problem| HostError::from(BadConfig(vec![problem]));
        let model = |role| -> Result<Arc<dyn Model>, HostError> {
            let inner = keyless(&config, role, self.environment()).map_err(bad)?;
            let identity = inner.identity().to_string();
            let (store, tape) = (self.store().clone(), tape.clone());
            Ok(Arc::new(Recorder { role, inner, identity, store, tape }))
        };
        let (target, optimizer) = (model(Role::Target)?, model(Role::Optimizer)?);
        let text_kept = kept_skill(self, row).await.map_err(CassetteFailure::Differs)?;
        let for_reading = config.clone();
        let inputs =
            tokio::task::spawn_blocking(move || Inputs::preview(&for_reading, text_kept)).await;
        let inputs = inputs
            .map_err(|err| CassetteFailure::Differs(err.to_string()))?
            .map_err(|problems| HostError::from(BadConfig(problems)))?;
        let skill = inputs.skill;
        let text = skill.text().to_owned();
        // Nothing is paid now, so that no cap can be reached.
        config.limits = Limits {
            max_calls: None,
            max_tokens: None,
            max_cost_usd_micros: None,
            max_ms: None,
            error_share: config.limits.error_share,
        };
        let ports = Ports {
            target,
            optimizer,
            ledger: Arc::new(NoLedger),
            journal: Arc::new(Kept(kept)),
            folder: Arc::new(NoFolder),
            benchmark: Arc::new(inputs.data.benchmark),
            clock: self.clock(),
            flights: Arc::new(Flights::default()),
        };
        let input = TrainInput {
            config,
            splits: inputs.data.splits,
            skill,
            prompts: inputs.prompts,
            fresh: row.fresh.clone(),
            prior: Prior::default(),
            known: Known::default(),
        };
        let (_control, ctx) = RunControl::new();
        train(&ctx, &input, &ports)
            .await
            .map_err(|failure| CassetteFailure::Differs(failure.to_string()))?;
        Ok(text)
    }
}

fn header(row: &RunRow, plan: Option<&RunPlan>, skill: String) -> Header {
    Header {
        format: String::new(),
        program: env!("CARGO_PKG_VERSION").to_owned(),
        about: row.name.clone(),
        run: row.id.to_string(),
        config: flat_json(&row.config),
        data: plan.map(|plan| DataMark {
            sha256: plan.data.clone(),
            n_train: plan.n_train,
            n_selection: plan.n_selection,
            n_test: plan.n_test,
        }),
        skill: Some(skill),
    }
}
