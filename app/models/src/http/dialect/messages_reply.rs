//! Reads a reply of Anthropic's Messages API. Pure.

use super::completion::{
    Completion, Ending, Parts, completion, error_in_success, malformed, tool_call,
};
use crate::http::failure::Failure;
use serde_json::Value;
use skillopt_domain::spend::Usage;

pub(super) fn read(reply: &Value) -> Result<Completion, Failure> {
    if !reply["error"].is_null() {
        return Err(error_in_success(&reply["error"]));
    }
    let Some(content) = reply["content"].as_array() else {
        return Err(malformed("the reply holds no content"));
    };
    let mut parts = Parts::default();
    for block in content {
        match block["type"].as_str() {
            Some("text") => parts.text.push_str(block["text"].as_str().unwrap_or_default()),
            Some("thinking" | "redacted_thinking") => parts.reasoned = true,
            Some("tool_use") => {
                let call = tool_call(&block["id"], &block["name"], &block["input"]);
                parts.tool_calls.extend(call);
            }
            _ => {}
        }
    }
    let ending = match reply["stop_reason"].as_str() {
        Some("max_tokens" | "model_context_window_exceeded") => Ending::Cut,
        Some("refusal") => Ending::Filtered,
        _ => Ending::Done,
    };
    completion(parts, ending, usage_of(&reply["usage"]))
}

/// What was read from the cache or written to it is counted apart there; here it is part of the prompt.
fn usage_of(usage: &Value) -> Option<Usage> {
    let count = |name: &str| usage[name].as_u64();
    let read = count("cache_read_input_tokens");
    let created = count("cache_creation_input_tokens");
    let prompt = count("input_tokens")?
        .saturating_add(created.unwrap_or(0))
        .saturating_add(read.unwrap_or(0));
    Some(Usage {
        cached_prompt_tokens: read,
        cache_write_tokens: created,
        ..Usage::new(prompt, count("output_tokens")?)
    })
}
