//! The simulated optimizer: answers each kind of question of the training loop with the JSON that it asks for.

use super::analyst::{self, Brief, Side};
use super::dice::sample_word;
use super::merge;
use super::sections::{number_after, said_by, section};
use super::simulation::Simulation;
use async_trait::async_trait;
use skillopt_domain::config::ModelRole;
use skillopt_domain::outcome::Sample;
use skillopt_domain::spend::Role;
use skillopt_engine::ports::{
    ChatReply, ChatRequest, Model, ModelError, Purpose, Speaker, WorstCase,
};
use tokio_util::sync::CancellationToken;

/// Edits when the request names no limit.
const DEFAULT_EDITS: usize = 4;

/// An optimizer that needs no key and no network.
#[derive(Clone, Debug)]
pub struct MockOptimizer {
    simulation: Simulation,
}

impl MockOptimizer {
    /// An optimizer with the name, limits and latency of a role.
    #[must_use]
    pub fn new(role: &ModelRole) -> Self {
        Self { simulation: Simulation::new(Role::Optimizer, role) }
    }
}

#[async_trait]
impl Model for MockOptimizer {
    fn identity(&self) -> serde_json::Value {
        self.simulation.identity()
    }

    fn name(&self) -> &str {
        self.simulation.name()
    }

    fn is_simulated(&self) -> bool {
        true
    }

    fn worst_case(&self, request: &ChatRequest) -> WorstCase {
        self.simulation.worst_case(request)
    }

    async fn chat(
        &self,
        request: &ChatRequest,
        sample: &Sample,
        cancel: &CancellationToken,
    ) -> Result<ChatReply, ModelError> {
        let text = answer(request, sample);
        self.simulation.reply(request, sample, cancel, text).await
    }
}

fn answer(request: &ChatRequest, sample: &Sample) -> String {
    let system = said_by(&request.messages, Speaker::System);
    let user = said_by(&request.messages, Speaker::User);
    let reply = match request.purpose {
        Purpose::Preflight | Purpose::Qa => return "OK".to_owned(),
        Purpose::AnalystFailure => reflect(&system, &user, sample, Side::Failures),
        Purpose::AnalystSuccess => reflect(&system, &user, sample, Side::Successes),
        Purpose::MergeFailure | Purpose::MergeSuccess | Purpose::MergeFinal => {
            merge::merge(section(&user, "patches").unwrap_or(&user))
        }
        Purpose::Ranking => merge::rank(&user, wanted(&system, &user)),
    };
    format!("{reply:#}")
}

fn reflect(system: &str, user: &str, sample: &Sample, side: Side) -> serde_json::Value {
    let tag = match side {
        Side::Failures => "failed_trajectories",
        Side::Successes => "successful_trajectories",
    };
    let skill = section(user, "current_skill").unwrap_or_default();
    let previous = section(user, "previous_steps").unwrap_or_default();
    let sample = sample_word(sample);
    let brief = Brief {
        skill,
        previous,
        trajectories: section(user, tag).unwrap_or_default(),
        max_edits: wanted(system, user),
        sample: &sample,
    };
    analyst::reflect(&brief, side)
}

fn wanted(system: &str, user: &str) -> usize {
    let words = ["Select the ", "select the ", "L=", "at most "];
    let found = words.iter().find_map(|words| number_after(user, words));
    found
        .or_else(|| words.iter().find_map(|words| number_after(system, words)))
        .unwrap_or(DEFAULT_EDITS)
}
