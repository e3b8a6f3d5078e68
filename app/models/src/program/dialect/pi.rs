//! The `pi` program as a chat: no tools, no session, nothing of the user's.

use super::super::ask::Ask;
use super::super::heard::{Heard, count, gist, text};
use super::{Dialect, Order, Spoken};
use serde_json::{Value, json};
use skillopt_domain::spend::Usage;
use std::io;

/// Takes the place of its own prompt, which is about code.
const SYSTEM: &str = "Follow the instructions in the message of the user.";

#[derive(Clone, Copy, Debug)]
pub(super) struct Pi;

impl Dialect for Pi {
    fn settings(&self) -> Value {
        json!({"system": SYSTEM})
    }

    fn variables(&self) -> &'static [&'static str] {
        &["PI_CODING_AGENT_DIR"]
    }

    fn fixed(&self) -> Vec<(&'static str, String)> {
        [("PI_OFFLINE", "1"), ("PI_SKIP_VERSION_CHECK", "1"), ("PI_TELEMETRY", "0")]
            .map(|(name, value)| (name, value.to_owned()))
            .to_vec()
    }

    fn speak(&self, order: &Order<'_>) -> io::Result<Spoken> {
        let mut spoken = Spoken::new(&[
            "-p",
            "--mode",
            "json",
            "--no-session",
            "--no-tools",
            "--no-skills",
            "--no-context-files",
            "--no-extensions",
            "--no-prompt-templates",
            "--no-themes",
        ]);
        spoken.arg("--system-prompt", SYSTEM).arg_if_set("--model", order.model);
        spoken.input = Ask::of(order.request, order.folder, order.again)?.in_one();
        Ok(spoken)
    }

    fn hear(&self, event: &Value, heard: &mut Heard) {
        match text(event, "/type") {
            "message_end" if text(event, "/message/role") == "assistant" => {
                hear_message(event, heard);
            }
            "tool_execution_start" => {
                let given = gist(event.get("args"));
                let told = format!("{} {given}", text(event, "/toolName"));
                heard.steps.push_call("tool", &told, text(event, "/toolCallId"));
            }
            "tool_execution_end" => {
                let result = event.pointer("/result/content").or_else(|| event.get("result"));
                heard.steps.result(text(event, "/toolCallId"), &gist(result));
            }
            "auto_retry_end" => {
                let reason = text(event, "/finalError");
                heard.error = (!reason.is_empty()).then(|| reason.to_owned());
            }
            "agent_end" => heard.is_done = true,
            _ => {}
        }
    }
}

fn hear_message(event: &Value, heard: &mut Heard) {
    let blocks = event.pointer("/message/content").and_then(Value::as_array);
    let mut said = Vec::new();
    for block in blocks.into_iter().flatten() {
        match text(block, "/type") {
            "text" => said.push(text(block, "/text")),
            "thinking" => heard.steps.push("thought", text(block, "/thinking")),
            _ => {}
        }
    }
    heard.say(&said.join("\n"));
    let read = count(event, "/message/usage/input");
    if let Some((read, written)) = read.zip(count(event, "/message/usage/output")) {
        let cached = count(event, "/message/usage/cacheRead");
        let created = count(event, "/message/usage/cacheWrite");
        heard.add_usage(Usage {
            cached_prompt_tokens: cached,
            cache_write_tokens: created,
            ..Usage::new(read + created.unwrap_or_default() + cached.unwrap_or_default(), written)
        });
    }
    let dollars = event.pointer("/message/usage/cost/total").and_then(Value::as_f64);
    // A subscription is told as no cost.
    if let Some(dollars) = dollars.filter(|dollars| *dollars > 0.0) {
        heard.add_cost(dollars);
    }
    heard.error = None;
    match text(event, "/message/stopReason") {
        "length" => heard.is_cut = true,
        "toolUse" => heard.turn_to_tool(),
        "error" | "aborted" => {
            let reason = text(event, "/message/errorMessage");
            heard.error =
                Some(if reason.is_empty() { "it was aborted" } else { reason }.to_owned());
        }
        _ => {}
    }
}
