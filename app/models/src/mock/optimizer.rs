//! The simulated optimizer: answers each kind of question of the training loop with the JSON that it asks for.

use super::analyst::{self, Brief, Side};
use super::between;
use super::dice::sample_word;
use super::forms::{Form, merge_texts, rewrite};
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
    let part = |name: &str| section(&user, name).unwrap_or_default();
    let reply = match request.purpose {
        Purpose::Preflight | Purpose::Qa => return "OK".to_owned(),
        // Nights are simulated without models; a night that asks this one learns nothing from it.
        Purpose::Mine => return "[]".to_owned(),
        Purpose::Judge => serde_json::json!({"score": 0.0, "reason": "simulated"}),
        Purpose::Reflect | Purpose::Contrast => serde_json::json!({"edits": []}),
        Purpose::MergeFailure | Purpose::MergeSuccess | Purpose::MergeFinal
            if Form::of(&system) == Form::Texts =>
        {
            merge_texts(part("patches"), part("current_skill"))
        }
        Purpose::AnalystFailure => reflect(&system, &user, sample, Side::Failures),
        Purpose::AnalystSuccess => reflect(&system, &user, sample, Side::Successes),
        Purpose::MergeFailure | Purpose::MergeSuccess | Purpose::MergeFinal => {
            merge::merge(section(&user, "patches").unwrap_or(&user))
        }
        Purpose::Ranking => merge::rank(&user, wanted(&system, &user)),
        Purpose::LrControl => between::budget(part("proposed_edits"), part("previous_steps")),
        Purpose::Rewrite => rewrite(part("current_skill"), part("suggestions")),
        Purpose::SlowUpdate => {
            between::guidance(part("comparison"), part("current_skill"), &sample_word(sample))
        }
        Purpose::MetaSkill => between::memory(part("comparison"), part("current_skill")),
        Purpose::AppendixConsolidate => between::condensed(part("reminders")),
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
    let mut reply = analyst::reflect(&brief, side);
    if side == Side::Failures && system.contains("\"appendix_notes\"") {
        reply["appendix_notes"] = between::reminders(brief.trajectories, skill).into();
    }
    let edits = reply["patch"]["edits"].as_array().cloned().unwrap_or_default();
    reply["patch"] = Form::of(system).patch(&reply["patch"]["reasoning"], &edits, skill);
    reply
}

fn wanted(system: &str, user: &str) -> usize {
    let words = ["Select the ", "select the ", "L=", "at most "];
    let found = words.iter().find_map(|words| number_after(user, words));
    found
        .or_else(|| words.iter().find_map(|words| number_after(system, words)))
        .unwrap_or(DEFAULT_EDITS)
}
