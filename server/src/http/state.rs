//! What handlers share, and under which names the server may be reached.

use super::assets::Assets;
use super::origin::Authority;
use super::review::WaitingCount;
use crate::adopt::Adopter;
use crate::host::Hosting;
use crate::live::Live;
use crate::mcp::OwnProgram;
use crate::sleep::{NightClock, Nights};
use crate::supervisor::Supervisor;
use skillopt_store::Store;
use std::ops::Deref;
use std::path::PathBuf;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Who did it, until there are users.
pub(crate) const ACTOR: &str = "local";

/// Names besides the loopback ones.
#[derive(Clone, Debug, Default)]
pub struct HostRules {
    configured: Vec<Authority>,
}

impl HostRules {
    /// Reads the values of `--allowed-host`.
    ///
    /// # Errors
    /// The value that is no host.
    pub fn parse(names: &[String]) -> Result<Self, String> {
        let parsed = names.iter().map(|name| Authority::parse(name).ok_or_else(|| name.clone()));
        Ok(Self { configured: parsed.collect::<Result<_, _>>()? })
    }

    pub(crate) fn allows(&self, host: &Authority) -> bool {
        host.is_loopback() || self.is_configured(host)
    }

    pub(crate) fn is_configured(&self, host: &Authority) -> bool {
        self.configured.iter().any(|name| name.covers(host))
    }
}

/// The parts of the server.
#[derive(Debug)]
pub struct Parts {
    /// The store.
    pub store: Store,
    /// Makes and checks runs.
    pub hosting: Hosting,
    /// Works on them.
    pub supervisor: Supervisor,
    /// Runs nights.
    pub(crate) nights: Nights,
    /// Runs them every day.
    pub(crate) clock: NightClock,
    /// Runs commands for agents that call over HTTP.
    pub(crate) commands: Arc<OwnProgram>,
    /// Live updates.
    pub live: Live,
    /// How many nights wait, for all who hear of live updates.
    pub(crate) waiting: WaitingCount,
    /// Adoption.
    pub adopter: Adopter,
    /// Names of this server.
    pub hosts: HostRules,
    /// The dashboard.
    pub assets: Assets,
    /// The data directory.
    pub data_dir: PathBuf,
    /// Fires when the server stops.
    pub stop: CancellationToken,
}

/// The parts, shared by all handlers.
#[derive(Clone, Debug)]
pub struct AppState(Arc<Parts>);

impl AppState {
    /// Shares the parts.
    #[must_use]
    pub fn new(parts: Parts) -> Self {
        Self(Arc::new(parts))
    }
}

impl Deref for AppState {
    type Target = Parts;
    fn deref(&self) -> &Parts {
        &self.0
    }
}
