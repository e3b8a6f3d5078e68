//! Hosts runs: puts config, data, models, store and run folder together and drives the engine.
//!
//! Decides nothing about training. One [`Hosting`] a process, shared by all its runs.

mod backends;
mod cassette;
mod check;
mod claim;
mod clock;
mod config_json;
mod create;
mod drive;
mod error;
mod existing;
mod inputs;
mod lineage;
mod measure;
mod model_test;
mod model_uses;
mod models;
mod plain_file;
mod preflight;
mod prices;
mod prompt_change;
mod prompts;
mod resume;
pub(crate) mod run_folder;
mod sign_in;
mod takeover;

pub use cassette::CassetteFailure;
pub use clock::SystemClock;
pub use create::{LeaseWish, NewRunRequest};
pub use error::HostError;
pub use existing::Existing;
pub use lineage::{DeriveRequest, Derived, Lineage};
pub use measure::{MeasureRequest, MeasureState, Measured};
pub use model_test::{PROBES, TestFailure, TestScope};
pub use resume::ResumePlan;
pub use run_folder::DiskRunFolder;

pub(crate) use inputs::{Inputs, absolute};
pub(crate) use model_uses::wire_fields;
pub(crate) use prompts::{prompt_set, purpose_of};

use crate::config::Environment;
use skillopt_domain::api::ModelTest;
use skillopt_domain::hash::Sha256Hex;
use skillopt_engine::calls::Flights;
use skillopt_engine::ports::Clock;
use skillopt_models::Endpoints;
use skillopt_store::{LeaseTerm, Store};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// Time without a sign of life after which a run counts as orphaned.
pub(crate) const LEASE_MS: u64 = 10_000;

/// What all runs of a process share. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Hosting {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    store: Store,
    endpoints: Arc<Endpoints>,
    flights: Arc<Flights>,
    clock: Arc<dyn Clock>,
    env: Environment,
    data_dir: PathBuf,
    owner: String,
    /// What each model said in its last test call.
    tests: Mutex<HashMap<Sha256Hex, ModelTest>>,
}

impl Hosting {
    /// Opens the store of a data directory. Makes no call and starts nothing.
    ///
    /// # Errors
    /// [`HostError::Open`] when the store cannot be opened.
    pub async fn open(data_dir: &Path, env: Environment) -> Result<Self, HostError> {
        let data_dir = absolute(data_dir);
        let store = Store::open(&data_dir).await?;
        Ok(Self::with_store(store, &data_dir, env))
    }

    /// Hosts the runs of a store that is open already.
    #[must_use]
    pub fn with_store(store: Store, data_dir: &Path, env: Environment) -> Self {
        Self::with_clock(store, data_dir, env, Arc::new(SystemClock::new()))
    }

    /// As [`Hosting::with_store`], by another clock.
    pub(crate) fn with_clock(
        store: Store,
        data_dir: &Path,
        env: Environment,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let owner = format!("{}:{}", std::process::id(), uuid::Uuid::now_v7());
        let shared = Shared {
            store,
            endpoints: Endpoints::new(),
            flights: Arc::new(Flights::default()),
            clock,
            env,
            data_dir: data_dir.to_owned(),
            owner,
            tests: Mutex::default(),
        };
        Self { shared: Arc::new(shared) }
    }

    /// The store.
    #[must_use]
    pub fn store(&self) -> &Store {
        &self.shared.store
    }

    /// The time.
    #[must_use]
    pub fn clock(&self) -> Arc<dyn Clock> {
        self.shared.clock.clone()
    }

    /// The data directory.
    #[must_use]
    pub fn data_dir(&self) -> &Path {
        &self.shared.data_dir
    }

    /// Identical calls in flight, shared by all that this process runs.
    pub(crate) fn flights(&self) -> Arc<Flights> {
        Arc::clone(&self.shared.flights)
    }

    /// The environment that this process started with.
    #[must_use]
    pub fn environment(&self) -> &Environment {
        &self.shared.env
    }

    /// Names this process in leases.
    #[must_use]
    pub fn owner(&self) -> &str {
        &self.shared.owner
    }

    fn lease_term(&self) -> LeaseTerm {
        LeaseTerm { owner: self.shared.owner.clone(), ttl_ms: LEASE_MS }
    }

    fn now_ms(&self) -> u64 {
        self.shared.clock.now_ms()
    }
}

#[cfg(test)]
mod tests;
