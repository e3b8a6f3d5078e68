//! Reads a reply of OpenAI's Responses API. Pure.

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
    if matches!(reply["status"].as_str(), Some("failed" | "cancelled")) {
        return Err(error_in_success(reply));
    }
    let Some(output) = reply["output"].as_array() else {
        return Err(malformed("the reply holds no output"));
    };
    let mut parts = Parts::default();
    output.iter().for_each(|item| add(&mut parts, item));
    completion(parts, ending(reply), usage_of(&reply["usage"]))
}

fn ending(reply: &Value) -> Ending {
    if reply["status"] != "incomplete" {
        return Ending::Done;
    }
    match reply["incomplete_details"]["reason"].as_str() {
        Some("content_filter") => Ending::Filtered,
        _ => Ending::Cut,
    }
}

fn add(parts: &mut Parts, item: &Value) {
    match item["type"].as_str() {
        Some("reasoning") => parts.reasoned = true,
        Some("function_call") => {
            let call = tool_call(&item["call_id"], &item["name"], &item["arguments"]);
            parts.tool_calls.extend(call);
        }
        Some("message") => {
            for part in item["content"].as_array().into_iter().flatten() {
                match part["type"].as_str() {
                    Some("refusal") => {
                        parts.refusal = part["refusal"].as_str().map(str::to_owned);
                    }
                    _ => parts.text.push_str(part["text"].as_str().unwrap_or_default()),
                }
            }
        }
        _ => {}
    }
}

/// Both counts, or nothing: half a count would pass for a whole one.
fn usage_of(usage: &Value) -> Option<Usage> {
    let within = |parts: &str, name: &str| usage.get(parts)?.get(name)?.as_u64();
    Some(Usage {
        cached_prompt_tokens: within("input_tokens_details", "cached_tokens"),
        reasoning_tokens: within("output_tokens_details", "reasoning_tokens"),
        ..Usage::new(usage["input_tokens"].as_u64()?, usage["output_tokens"].as_u64()?)
    })
}
