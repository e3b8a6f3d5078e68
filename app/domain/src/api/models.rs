//! Models on the wire: what runs use, where their keys are, and what a test call said. Never a key.

use super::CheckState;
use crate::ids::RunId;
use crate::json::from_fields;
use serde::{Deserialize, Serialize};

/// `GET /models`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Models {
    /// The models of new runs, of the latest runs, and the simulated ones; each once a role.
    pub uses: Vec<ModelUse>,
    /// Places of keys that were not read, and why.
    pub notes: Vec<String>,
    /// All backends, in the order of their table.
    pub backends: Vec<BackendReady>,
}

from_fields! { Models {
    uses, notes, backends
} }

/// Whether a backend can be used on this machine as it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BackendReady {
    /// The word in configs.
    pub name: String,
    /// `ok`: it can; `warning`: something is missing that it usually needs.
    pub state: CheckState,
    /// What was found, or what is missing.
    pub words: String,
}

from_fields! { BackendReady { name, state, words } }

/// A model in a role, as some config has it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ModelUse {
    /// Names it in a test call.
    pub id: String,
    /// `target` or `optimizer`.
    pub role: String,
    /// The adapter, as configs name it.
    pub backend: String,
    /// The model's name; empty when none is set.
    pub model: String,
    /// Where it is called; empty for simulations.
    pub base_url: String,
    /// No real model answers.
    pub is_simulated: bool,
    /// The latest run that uses it; `None` for those of the environment and the simulated ones.
    pub run: Option<RunId>,
    /// That run's name; for others what they are.
    pub used_by: String,
    /// Of the latest runs, how many use it.
    pub n_runs: u32,
    /// The variable of the key that is sent; empty for none.
    pub key: String,
    /// Where that key was found, or why none is sent.
    pub key_place: String,
    /// What goes on the wire with each call.
    pub wire: Vec<WireField>,
    /// Why it cannot be called; empty when it can.
    pub problem: String,
    /// The last test call since the server started.
    pub last_test: Option<ModelTest>,
}

from_fields! { ModelUse {
    id, role, backend, model, base_url, is_simulated, run, used_by, n_runs, key, key_place, wire, problem, last_test
} }

/// A part of what shapes an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WireField {
    /// Its name.
    pub name: String,
    /// Its value as text; empty when it is not sent.
    pub value: String,
}

from_fields! { WireField {
    name, value
} }

/// Body of `POST /models/test`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ModelTestRequest {
    /// Id of a [`ModelUse`].
    pub id: String,
    /// Also asks what the endpoint accepts: a further call for each thing.
    #[serde(default)]
    pub probe: bool,
}

/// What a test call said.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ModelTest {
    /// When, in milliseconds since 1970-01-01 UTC.
    pub at_ms: u64,
    /// It answered.
    pub ok: bool,
    /// Why not, in the provider's words. Untrusted text.
    pub error: String,
    /// The beginning of the reply. Untrusted text.
    pub reply: String,
    /// Time of the attempt that was answered, in milliseconds; `None` without an answer.
    pub latency_ms: Option<u64>,
    /// Attempts, failed ones included.
    pub attempts: u32,
    /// Tokens read; `None` when the provider did not say.
    pub prompt_tokens: Option<u64>,
    /// Tokens written.
    pub completion_tokens: Option<u64>,
    /// Money in millionths of a dollar; `None` when no price is known.
    pub cost_usd_micros: Option<u64>,
    /// What had to be changed about the request to be understood.
    pub adaptations: Vec<String>,
    /// What the endpoint accepts, where it was asked.
    pub probes: Vec<Probe>,
}

from_fields! { ModelTest {
    at_ms, ok, error, reply, latency_ms, attempts, prompt_tokens, completion_tokens, cost_usd_micros, adaptations, probes
} }

/// One thing that an endpoint accepts or not, by a call of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Probe {
    /// What was asked for, such as `reasoning effort`.
    pub name: String,
    /// `ok`: accepted; `warning`: refused; `failed`: the call failed for another reason.
    pub state: CheckState,
    /// One sentence. Untrusted text.
    pub words: String,
    /// Attempts that it took.
    pub attempts: u32,
}

from_fields! { Probe {
    name, state, words, attempts
} }
