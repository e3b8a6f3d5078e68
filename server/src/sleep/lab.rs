//! Who works in experiments: the simulation, or models behind the ledger, with prices, and with one meter for all that a
//! command asks. Runs nothing itself.

use super::models::{limits, models_of};
use super::order::{NightOrder, NightSetup, OrderError, key};
use crate::config::{BadConfig, Environment};
use crate::host::{HostError, Hosting};
use skillopt_domain::config::Setting;
use skillopt_domain::spend::SpendByRole;
use skillopt_engine::ctx::{RunControl, RunCtx};
use skillopt_engine::meter::{Meter, Prior};
use skillopt_engine::ports::Ledger;
use skillopt_sleep::backend::{Asker, Backend, CallsAsker, Mock, NightSample};
use skillopt_sleep::evidence::Evidence;
use skillopt_sleep::experiment::{Bed, Who};
use skillopt_sleep::night::{Watch, modelled};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::OnceCell;

/// Draws of experiments are none of a night, whose numbers begin with 1.
const NO_NIGHT: u32 = 0;

/// Puts beds together. The store is opened when the first real model is asked for.
#[derive(Debug)]
pub(crate) struct Lab {
    data_dir: PathBuf,
    env: Environment,
    order: NightOrder,
    cfg_options: Vec<Setting>,
    setup: NightSetup,
    opened: OnceCell<Opened>,
    /// How far the work of all beds is.
    watch: Arc<Watch>,
    control: RunControl,
    ctx: RunCtx,
}

#[derive(Debug)]
struct Opened {
    hosting: Hosting,
    meter: Arc<Meter>,
}

/// Why nobody works.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LabError {
    /// Flags, config, environment.
    #[error(transparent)]
    Order(#[from] OrderError),
    /// The models' part of the config.
    #[error("{0}")]
    Models(BadConfig),
    /// A person cannot answer so many questions.
    #[error("a person cannot answer for an experiment: name a model, or mock")]
    Handoff,
    /// The store cannot be opened.
    #[error(transparent)]
    Host(#[from] HostError),
}

impl Lab {
    /// Reads the settings. Opens nothing.
    pub(crate) fn new(
        order: NightOrder,
        cfg_options: Vec<Setting>,
        (data_dir, env): (&Path, Environment),
    ) -> Result<Self, OrderError> {
        let setup = NightSetup::read(&order, &env)?;
        let (control, ctx) = RunControl::new();
        let (data_dir, opened, watch) = (data_dir.to_owned(), OnceCell::new(), Arc::default());
        Ok(Self { data_dir, env, order, cfg_options, setup, opened, watch, control, ctx })
    }

    /// The settings of the command itself.
    pub(crate) fn setup(&self) -> &NightSetup {
        &self.setup
    }

    /// The settings with other models; all else is as in the command.
    pub(crate) fn setup_of(&self, who: &Who) -> Result<NightSetup, OrderError> {
        let (target, optimizer) = (&who.target, &who.optimizer);
        let mut keys = vec![
            ("backend", target.backend.as_str()),
            // A role without a model takes this one: no model of the command may stand in for that of a backend.
            ("model", ""),
            ("target_backend", target.backend.as_str()),
            ("target_model", target.model.as_str()),
            ("optimizer_backend", optimizer.backend.as_str()),
            ("optimizer_model", optimizer.model.as_str()),
        ];
        if who.is_simulated() {
            keys.push(("judge_backend", target.backend.as_str()));
        }
        let mut order = self.order.clone();
        order.keys.extend(keys.into_iter().map(|(name, value)| key("the experiment", name, value)));
        NightSetup::read(&order, &self.env)
    }

    /// What else shapes the answers of real models.
    pub(crate) fn settings(&self) -> String {
        let of = |setting: &Setting| format!("{}={:?}", setting.path, setting.value);
        let mut settings: Vec<String> = self.cfg_options.iter().map(of).collect();
        let config = &self.setup.config;
        let limits = [
            config.attempt_max_tokens,
            config.judge_max_tokens,
            config.miner_max_tokens,
            config.reflect_max_tokens,
        ];
        settings.push(format!("seed={}", config.seed));
        settings.push(format!("limits={limits:?} stand_ins={}", config.opencode_tool_replay));
        settings.push(format!("prompts={}", self.setup.prompts.sha256()));
        settings.join(" ")
    }

    /// Which models target, optimizer and judge are with these settings; empty for the simulation. Makes no call.
    pub(crate) async fn identity(&self, setup: &NightSetup) -> Result<String, LabError> {
        if !setup.config.spends() {
            return Ok(String::new());
        }
        let hosting = &self.opened().await?.hosting;
        let models =
            models_of(hosting, setup, &self.cfg_options).await.map_err(LabError::Models)?;
        let judge = models.judge.as_ref().unwrap_or(&models.optimizer);
        let all = [&models.target, &models.optimizer, judge].map(|model| model.identity());
        Ok(serde_json::Value::from(all.to_vec()).to_string())
    }

    /// A bed with these settings. Makes no call.
    pub(crate) async fn bed(&self, setup: &NightSetup) -> Result<Bed, LabError> {
        let evidence = Arc::new(Evidence::off());
        let backend: Arc<dyn Backend> = match setup.config.spends() {
            true => self.modelled(setup, &evidence).await?,
            false => Arc::new(Mock),
        };
        Ok(Bed { backend, evidence, events: Arc::clone(&self.watch) as _, ctx: self.ctx.clone() })
    }

    async fn modelled(
        &self,
        setup: &NightSetup,
        evidence: &Arc<Evidence>,
    ) -> Result<Arc<dyn Backend>, LabError> {
        let config = &setup.config;
        let roles = [config.target(), config.optimizer(), config.judge()];
        if roles.iter().any(|role| role.backend.as_str() == "handoff") {
            return Err(LabError::Handoff);
        }
        let Opened { hosting, meter } = self.opened().await?;
        let models =
            models_of(hosting, setup, &self.cfg_options).await.map_err(LabError::Models)?;
        let ledger: Arc<dyn Ledger> = Arc::new(hosting.store().clone());
        let sample = NightSample { seed: config.seed, night: NO_NIGHT, fresh: None };
        let memory = (&ledger, &hosting.flights());
        let counted = (Arc::clone(meter), evidence);
        let asker: Arc<dyn Asker> =
            Arc::new(CallsAsker::new(&self.ctx, &models, memory, counted, sample));
        Ok(Arc::new(modelled(asker, config, setup.prompts.clone(), Arc::clone(evidence))))
    }

    async fn opened(&self) -> Result<&Opened, HostError> {
        let open = async || {
            let hosting = Hosting::open(&self.data_dir, self.env.clone()).await?;
            let limits = limits(&self.setup.config);
            let meter = Arc::new(Meter::new(limits, Prior::default(), hosting.clock()));
            Ok(Opened { hosting, meter })
        };
        self.opened.get_or_try_init(open).await
    }

    /// What real models cost so far; `None` when there are none.
    pub(crate) fn spend(&self) -> Option<SpendByRole> {
        self.opened.get().map(|opened| opened.meter.spend())
    }

    /// How far the work is.
    pub(crate) fn watch(&self) -> &Watch {
        &self.watch
    }

    /// Cancel and pause of all beds.
    pub(crate) fn ctx(&self) -> &RunCtx {
        &self.ctx
    }

    /// Ends all beds soon.
    pub(crate) fn cancel(&self) {
        self.control.cancel();
    }

    /// Lets the store come to rest.
    pub(crate) async fn close(&self) {
        if let Some(opened) = self.opened.get() {
            opened.hosting.store().close().await;
        }
    }
}
