//! What a night is to do, and who answers in it. Nothing is done here.

use crate::adopt::Places;
use crate::backend::{Asker, SleepModels};
use crate::config::Config;
use crate::handoff::Handoff;
use crate::harvest::HarvestOptions;
use crate::prompts::Prompts;
use crate::task::TaskRecord;
use skillopt_domain::outage::Outage;
use skillopt_engine::calls::Flights;
use skillopt_engine::meter::Meter;
use skillopt_engine::ports::Ledger;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::watch;

/// What a night is to do.
#[derive(Clone, Debug)]
pub struct NightPlan {
    /// The config, checked. Its `invoked_project` is the project.
    pub config: Config,
    /// Keep nothing: no proposal, no state.
    pub is_dry: bool,
    /// Where tasks come from.
    pub tasks: TaskSource,
    /// The prompts.
    pub prompts: Prompts,
    /// Folders with skills, for nights that treat several.
    pub skill_roots: Vec<PathBuf>,
    /// What the machine gives to adoptions.
    pub places: Places,
    /// Who adopts when the config says so, for the record.
    pub actor: String,
    /// The files through which a person answers, for nights that are answered so. What the first round harvested and
    /// mined, or was given, is pinned in them, so that every later round asks the same, whatever sessions, files and
    /// settings are new by then.
    pub handoff: Option<Handoff>,
}

/// Where the tasks of a night come from.
#[derive(Clone, Debug)]
pub enum TaskSource {
    /// Sessions of agents. `since` and what the last harvest knew are filled in by the night.
    Harvest(Box<HarvestOptions>),
    /// A file that a person has reviewed, or a benchmark.
    Given(Vec<TaskRecord>),
}

/// Who answers in a night.
#[derive(Debug)]
pub enum Answerers {
    /// The simulation.
    Mock,
    /// Models, behind ledger and meter.
    Models {
        /// Who they are.
        models: SleepModels,
        /// What was answered before.
        ledger: Arc<dyn Ledger>,
        /// What is being answered.
        flights: Arc<Flights>,
        /// Caps and counts.
        meter: Box<Meter>,
        /// A word that no earlier night used, to draw everything anew.
        fresh: Option<String>,
    },
    /// Somebody else, such as a person with files.
    Other(Arc<dyn Asker>),
}

impl Answerers {
    /// When endpoints of the models stop answering, and answer again.
    pub(super) fn outages(&self) -> Vec<watch::Receiver<Option<Outage>>> {
        match self {
            Self::Mock | Self::Other(_) => Vec::new(),
            Self::Models { models, .. } => {
                let SleepModels { target, optimizer, judge } = models;
                let all = [Some(target), Some(optimizer), judge.as_ref()];
                all.into_iter().flatten().filter_map(|model| model.outages()).collect()
            }
        }
    }
}
