//! Reads a reply of the chat completions. Pure.

use super::completion::{
    Completion, Ending, Parts, completion, error_in_success, is_filled, malformed, tool_call,
};
use crate::http::failure::Failure;
use serde::Deserialize;
use serde_json::Value;
use skillopt_domain::spend::Usage;

#[derive(Deserialize)]
struct Wire {
    #[serde(default)]
    choices: Option<Vec<Choice>>,
    #[serde(default)]
    usage: Value,
    #[serde(default)]
    error: Value,
}

#[derive(Deserialize)]
struct Choice {
    #[serde(default)]
    message: Option<WireMessage>,
    #[serde(default)]
    finish_reason: Value,
    #[serde(default)]
    error: Value,
}

#[derive(Default, Deserialize)]
struct WireMessage {
    #[serde(default)]
    content: Value,
    #[serde(default)]
    refusal: Value,
    #[serde(default)]
    reasoning_content: Value,
    #[serde(default)]
    reasoning: Value,
    #[serde(default)]
    tool_calls: Value,
}

pub(super) fn read(reply: Value) -> Result<Completion, Failure> {
    let wire: Wire = serde_json::from_value(reply)
        .map_err(|_| malformed("the reply is not a chat completion"))?;
    if !wire.error.is_null() {
        return Err(error_in_success(&wire.error));
    }
    let choice = wire.choices.and_then(|choices| choices.into_iter().next());
    let Some(choice) = choice else { return Err(malformed("the reply holds no choices")) };
    if !choice.error.is_null() || choice.finish_reason == "error" {
        return Err(error_in_success(&choice.error));
    }
    let parts = parts(choice.message.unwrap_or_default());
    completion(parts, ending(&choice.finish_reason), usage_of(&wire.usage))
}

fn ending(reason: &Value) -> Ending {
    match reason.as_str().unwrap_or_default().to_ascii_lowercase().as_str() {
        "length" | "max_tokens" => Ending::Cut,
        "content_filter" | "refusal" | "safety" => Ending::Filtered,
        _ => Ending::Done,
    }
}

/// Content is a text or a list of typed parts.
fn parts(message: WireMessage) -> Parts {
    let mut parts = Parts {
        reasoned: [&message.reasoning_content, &message.reasoning].into_iter().any(is_filled),
        ..Parts::default()
    };
    match message.content {
        Value::String(text) => parts.text = text,
        Value::Array(list) => list.iter().for_each(|part| add(&mut parts, part)),
        _ => {}
    }
    let declined = message.refusal.as_str().filter(|words| !words.is_empty());
    parts.refusal = declined.map(str::to_owned).or(parts.refusal);
    parts.tool_calls = tool_calls(&message.tool_calls);
    parts
}

fn add(parts: &mut Parts, part: &Value) {
    let text = |name: &str| part.get(name).and_then(Value::as_str);
    match text("type") {
        Some("refusal") => parts.refusal = text("refusal").map(str::to_owned),
        Some("thinking" | "reasoning") => parts.reasoned = true,
        _ => parts.text.push_str(part.as_str().or(text("text")).unwrap_or_default()),
    }
}

fn tool_calls(calls: &Value) -> Vec<skillopt_engine::ports::ToolCall> {
    let calls = calls.as_array().into_iter().flatten();
    calls
        .filter_map(|call| {
            let function = &call["function"];
            tool_call(&call["id"], &function["name"], &function["arguments"])
        })
        .collect()
}

/// Both counts, or nothing: half a count would pass for a whole one.
fn usage_of(usage: &Value) -> Option<Usage> {
    let count = |name: &str| usage.get(name)?.as_u64();
    let within = |parts: &str, name: &str| usage.get(parts)?.get(name)?.as_u64();
    Some(Usage {
        cached_prompt_tokens: within("prompt_tokens_details", "cached_tokens"),
        reasoning_tokens: within("completion_tokens_details", "reasoning_tokens"),
        ..Usage::new(count("prompt_tokens")?, count("completion_tokens")?)
    })
}

#[cfg(test)]
mod tests;
