//! Writes a request of Anthropic's Messages API. Pure.

use crate::http::request::{ADAPTIVE, BUDGET, CACHE, Draft, SCHEMA, STREAM, Wish};
use serde_json::{Map, Value, json};
use skillopt_domain::config::Effort;
use skillopt_engine::ports::{Message, Speaker};

/// The API takes no smaller budget for thinking.
const LEAST_BUDGET: u32 = 1024;

pub(super) fn write(draft: &mut Draft<'_>, wish: &Wish<'_>) {
    let messages = &wish.request.messages;
    let n_system = messages.iter().take_while(|one| one.role == Speaker::System).count();
    let (system, rest) = messages.split_at(n_system);
    write_system(draft, system);
    draft.set("messages", conversation(rest));
    draft.set(wish.limit_name.as_str(), wish.limit.into());
    let mut output = Map::new();
    let thinks = write_thinking(draft, &mut output, wish);
    // A model that thinks takes no temperature.
    if let Some(temperature) = wish.temperature.filter(|_| !thinks) {
        draft.set("temperature", temperature.into());
    }
    if let Some(schema) = &wish.request.schema
        && draft.sends(&SCHEMA)
    {
        let format = json!({"type": "json_schema", "schema": schema.schema});
        output.insert("format".to_owned(), format);
    }
    if !output.is_empty() {
        draft.set("output_config", output.into());
    }
    if !wish.request.tools.is_empty() {
        let tools = wish.request.tools.iter().map(|tool| {
            let (name, description) = (&tool.name, &tool.description);
            json!({"name": name, "description": description, "input_schema": tool.parameters})
        });
        draft.set("tools", tools.collect());
    }
    if wish.stream {
        draft.set_part(&STREAM, "stream", || true.into());
    }
}

/// The skill stands in the system message, which is the same from task to task: it is marked for the provider's cache.
fn write_system(draft: &mut Draft<'_>, system: &[Message]) {
    let texts = system.iter().filter(|one| !one.content.is_empty());
    let mut blocks: Vec<Value> =
        texts.map(|one| json!({"type": "text", "text": one.content})).collect();
    let Some(last) = blocks.last_mut() else { return };
    if draft.sends(&CACHE) {
        last["cache_control"] = json!({"type": "ephemeral"});
    }
    draft.set("system", blocks.into());
}

/// Newer models set their thinking by effort; older ones take a number of tokens, which must leave room for the answer.
fn write_thinking(draft: &mut Draft<'_>, output: &mut Map<String, Value>, wish: &Wish<'_>) -> bool {
    let Some(effort) = wish.effort_level.filter(|effort| *effort != Effort::None) else {
        return false;
    };
    if draft.sends(&ADAPTIVE) {
        draft.set("thinking", json!({"type": "adaptive"}));
        let word = if effort == Effort::Minimal { Effort::Low } else { effort }.as_str();
        output.insert("effort".to_owned(), word.into());
        return true;
    }
    let budget = budget_of(effort).min(wish.limit / 2);
    budget >= LEAST_BUDGET
        && draft.set_part(
            &BUDGET,
            "thinking",
            || json!({"type": "enabled", "budget_tokens": budget}),
        )
}

fn budget_of(effort: Effort) -> u32 {
    match effort {
        Effort::None | Effort::Minimal => LEAST_BUDGET,
        Effort::Low => 4_096,
        Effort::Medium => 8_192,
        Effort::High => 16_384,
        Effort::Xhigh => 32_768,
        Effort::Max => 65_536,
    }
}

/// Answers of tools are what the user says; those of one turn stand in one message.
fn conversation(messages: &[Message]) -> Value {
    let mut turns: Vec<(&str, Vec<Value>)> = Vec::new();
    for message in messages {
        let role = match message.role {
            Speaker::Assistant => "assistant",
            Speaker::System | Speaker::User | Speaker::Tool => "user",
        };
        let joins = message.role == Speaker::Tool;
        match turns.last_mut() {
            Some((last, blocks)) if joins && *last == role => blocks.extend(content(message)),
            _ => turns.push((role, content(message))),
        }
    }
    let turns = turns.into_iter().map(|(role, blocks)| json!({"role": role, "content": blocks}));
    turns.collect()
}

fn content(message: &Message) -> Vec<Value> {
    if message.role == Speaker::Tool {
        let id = message.tool_call_id.as_deref().unwrap_or_default();
        return vec![json!({"type": "tool_result", "tool_use_id": id, "content": message.content})];
    }
    // Blocks without text are refused.
    let text =
        (!message.content.is_empty()).then(|| json!({"type": "text", "text": message.content}));
    let images = message.images.iter().map(|image| {
        let (media_type, data) = (&image.media_type, &image.base64);
        let source = json!({"type": "base64", "media_type": media_type, "data": data});
        json!({"type": "image", "source": source})
    });
    let calls = message.tool_calls.iter().map(|call| {
        let input: Value = serde_json::from_str(&call.arguments).unwrap_or_default();
        let input = if input.is_object() { input } else { json!({}) };
        json!({"type": "tool_use", "id": call.id, "name": call.name, "input": input})
    });
    text.into_iter().chain(images).chain(calls).collect()
}
