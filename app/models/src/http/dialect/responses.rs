//! Writes a request of OpenAI's Responses API. Pure. Nothing is kept at the provider: each request carries the whole
//! conversation.

use crate::http::request::{Draft, EFFORT, SCHEMA, STREAM, Wish};
use serde_json::{Value, json};
use skillopt_engine::ports::{Message, Speaker};

pub(super) fn write(draft: &mut Draft<'_>, wish: &Wish<'_>) {
    let messages = &wish.request.messages;
    let n_system = messages.iter().take_while(|one| one.role == Speaker::System).count();
    let (system, rest) = messages.split_at(n_system);
    if !system.is_empty() {
        let texts: Vec<&str> = system.iter().map(|one| one.content.as_str()).collect();
        draft.set("instructions", texts.join("\n\n").into());
    }
    draft.set("input", rest.iter().flat_map(items).collect());
    draft.set(wish.limit_name.as_str(), wish.limit.into());
    draft.set("store", false.into());
    if let Some(temperature) = wish.temperature {
        draft.set("temperature", temperature.into());
    }
    if let Some(effort) = wish.effort {
        draft.set_part(&EFFORT, "reasoning", || json!({"effort": effort}));
    }
    if let Some(schema) = &wish.request.schema {
        draft.set_part(&SCHEMA, "text", || {
            json!({"format": {
                "type": "json_schema", "name": schema.name, "schema": schema.schema, "strict": true,
            }})
        });
    }
    if !wish.request.tools.is_empty() {
        let tools = wish.request.tools.iter().map(|tool| {
            json!({
                "type": "function", "name": tool.name, "description": tool.description,
                "parameters": tool.parameters, "strict": false,
            })
        });
        draft.set("tools", tools.collect());
    }
    if wish.stream {
        draft.set_part(&STREAM, "stream", || true.into());
    }
}

/// A message becomes one item, and each call of a tool in it a further one.
fn items(message: &Message) -> Vec<Value> {
    let role = match message.role {
        Speaker::Tool => {
            let id = message.tool_call_id.as_deref().unwrap_or_default();
            return vec![json!({
                "type": "function_call_output", "call_id": id, "output": message.content,
            })];
        }
        Speaker::System => "system",
        Speaker::User => "user",
        Speaker::Assistant => "assistant",
    };
    let is_said = !message.content.is_empty() || !message.images.is_empty();
    let said = is_said.then(|| json!({"role": role, "content": content(message)}));
    let calls = message.tool_calls.iter().map(|call| {
        json!({
            "type": "function_call", "call_id": call.id, "name": call.name,
            "arguments": call.arguments,
        })
    });
    said.into_iter().chain(calls).collect()
}

fn content(message: &Message) -> Value {
    if message.images.is_empty() {
        return message.content.as_str().into();
    }
    let text = (!message.content.is_empty())
        .then(|| json!({"type": "input_text", "text": message.content}));
    let images = message
        .images
        .iter()
        .map(|image| json!({"type": "input_image", "image_url": image.data_url()}));
    text.into_iter().chain(images).collect()
}
