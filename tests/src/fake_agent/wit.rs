//! What a fake answers: as the simulated models do, from what it finds in its folder or in its prompt, so that a whole
//! training run makes sense.

use crate::flags::Flags;
use serde_json::json;
use skillopt_domain::config::{Place, RunConfig, Setting, Value, resolve};
use skillopt_domain::outcome::Sample;
use skillopt_engine::ports::{ChatRequest, Message, Model, Purpose};
use skillopt_models::mock::{MockOptimizer, MockTarget};
use tokio_util::sync::CancellationToken;

const SKILL: &str = ".agents/skills/skillopt-target/SKILL.md";

/// The answer to the prompt; empty when there is none.
pub(crate) fn answer(flags: &Flags, prompt: &str) -> String {
    let (system, user) = conversation(flags, prompt);
    let call = std::env::var("SKILLOPT_CALL").unwrap_or_default();
    let purpose = call.rsplit('/').next().unwrap_or_default();
    let purpose: Purpose = serde_json::from_value(json!(purpose)).unwrap_or(Purpose::Qa);
    let request = ChatRequest::new(purpose, "", vec![Message::system(system), Message::user(user)]);
    let Some(config) = config() else { return String::new() };
    let sample = Sample { seed: 0, epoch: 0, repeat: 0, fresh: None };
    let cancel = CancellationToken::new();
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else {
        return String::new();
    };
    let reply = runtime.block_on(async {
        match request.purpose {
            Purpose::Qa | Purpose::Preflight => {
                MockTarget::new(&config.target).chat(&request, &sample, &cancel).await
            }
            _ => MockOptimizer::new(&config.target).chat(&request, &sample, &cancel).await,
        }
    });
    reply.map(|reply| reply.text).unwrap_or_default()
}

/// Instructions and question, from files where there are any.
fn conversation(flags: &Flags, prompt: &str) -> (String, String) {
    if let Ok(task) = std::fs::read_to_string("task.md") {
        // Only a skill that the prompt points at is read.
        let skill = std::fs::read_to_string(SKILL).ok().filter(|_| prompt.contains(SKILL));
        return (format!("<skill>\n{}\n</skill>", skill.unwrap_or_default()), task);
    }
    if let Some(path) = flags.get("--system-prompt-file") {
        return (std::fs::read_to_string(path).unwrap_or_default(), prompt.to_owned());
    }
    let parts = prompt
        .strip_prefix("<instructions>\n")
        .and_then(|rest| rest.split_once("\n</instructions>\n\n"));
    let (system, user) = parts.unwrap_or(("", prompt));
    (system.to_owned(), user.to_owned())
}

fn config() -> Option<RunConfig> {
    let set = |path: &str, value: &str| Setting {
        path: path.to_owned(),
        value: Value::Text(value.to_owned()),
        place: Place::flag(path),
    };
    let settings = [
        set("model.backend", "mock"),
        set("model.mock_latency_ms", "0"),
        set("env.split_dir", "unused"),
    ];
    RunConfig::from_resolved(&resolve(&settings).ok()?).ok()
}
