//! Writes a request of the chat completions. Pure.

use crate::http::request::{Draft, EFFORT, SCHEMA, STREAM, STREAM_USAGE, Wish};
use serde_json::{Value, json};
use skillopt_engine::ports::{Message, Speaker};

pub(super) fn write(draft: &mut Draft<'_>, wish: &Wish<'_>) {
    draft.set("messages", wish.request.messages.iter().map(message).collect());
    draft.set(wish.limit_name.as_str(), wish.limit.into());
    if let Some(temperature) = wish.temperature {
        draft.set("temperature", temperature.into());
    }
    if let Some(effort) = wish.effort {
        draft.set_part(&EFFORT, "reasoning_effort", || effort.into());
    }
    if let Some(schema) = &wish.request.schema {
        draft.set_part(&SCHEMA, "response_format", || {
            let held = json!({"name": schema.name, "schema": schema.schema, "strict": true});
            json!({"type": "json_schema", "json_schema": held})
        });
    }
    if !wish.request.tools.is_empty() {
        let tools = wish.request.tools.iter().map(|tool| {
            let (name, description) = (&tool.name, &tool.description);
            let function =
                json!({"name": name, "description": description, "parameters": tool.parameters});
            json!({"type": "function", "function": function})
        });
        draft.set("tools", tools.collect());
    }
    if wish.stream && draft.set_part(&STREAM, "stream", || true.into()) {
        draft.set_part(&STREAM_USAGE, "stream_options", || json!({"include_usage": true}));
    }
}

fn message(message: &Message) -> Value {
    let role = match message.role {
        Speaker::System => "system",
        Speaker::User => "user",
        Speaker::Assistant => "assistant",
        Speaker::Tool => "tool",
    };
    let mut fields = json!({"role": role});
    if let Some(id) = &message.tool_call_id {
        fields["tool_call_id"] = id.as_str().into();
    }
    fields["content"] = content(message);
    if !message.tool_calls.is_empty() {
        let calls = message.tool_calls.iter().map(|call| {
            let function = json!({"name": call.name, "arguments": call.arguments});
            json!({"id": call.id, "type": "function", "function": function})
        });
        fields["tool_calls"] = calls.collect();
    }
    fields
}

fn content(message: &Message) -> Value {
    if message.images.is_empty() {
        return message.content.as_str().into();
    }
    let text =
        (!message.content.is_empty()).then(|| json!({"type": "text", "text": message.content}));
    let images = message
        .images
        .iter()
        .map(|image| json!({"type": "image_url", "image_url": {"url": image.data_url()}}));
    text.into_iter().chain(images).collect()
}
