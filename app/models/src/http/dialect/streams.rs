//! Puts the events of a streamed reply together, so that it reads as the same reply in one piece. A stream that ends
//! early is a failure, never an answer. Pure.

use super::completion::{error_in_success, malformed};
use super::{Api, Completion};
use crate::http::failure::{Again, Failure};
use serde_json::{Map, Value, json};
use skillopt_engine::ports::ModelErrorKind;
use std::collections::BTreeMap;

/// A reply that is still coming.
#[derive(Debug)]
pub(crate) struct Assembly {
    api: Api,
    /// Blocks of the Messages API, or calls of tools in the chat completions, by their number.
    blocks: BTreeMap<u64, Value>,
    text: String,
    reasoning: String,
    refusal: String,
    finish: Value,
    usage: Map<String, Value>,
    /// The whole reply, where the API repeats it at the end.
    whole: Option<Value>,
    /// A piece of an answer, or of the reasoning before it, has come.
    has_begun: bool,
    has_ended: bool,
}

impl Assembly {
    pub(crate) fn new(api: Api) -> Self {
        Self {
            api,
            blocks: BTreeMap::new(),
            text: String::new(),
            reasoning: String::new(),
            refusal: String::new(),
            finish: Value::Null,
            usage: Map::new(),
            whole: None,
            has_begun: false,
            has_ended: false,
        }
    }

    /// The model has begun to write.
    pub(crate) fn has_begun(&self) -> bool {
        self.has_begun
    }

    /// Nothing more is expected.
    pub(crate) fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// Takes the data of one event.
    pub(crate) fn push(&mut self, data: &str) -> Result<(), Failure> {
        if data.trim() == "[DONE]" {
            self.has_ended = true;
            return Ok(());
        }
        let event: Value = serde_json::from_str(data)
            .map_err(|_| malformed("the stream holds an event that is no JSON"))?;
        if is_error(&event) {
            return Err(error_in_success(&event));
        }
        match self.api {
            Api::Chat => self.push_chat(&event),
            Api::Responses => self.push_response(event),
            Api::Messages => self.push_message(event),
        }
        Ok(())
    }

    /// The reply, now that the stream has ended.
    pub(crate) fn finish(self) -> Result<Completion, Failure> {
        let api = self.api;
        let is_cut = match api {
            Api::Chat => self.finish.is_null() && !self.has_ended,
            Api::Responses => self.whole.is_none(),
            Api::Messages => self.finish.is_null(),
        };
        if is_cut {
            let message = "the stream broke off before the reply was whole";
            return Err(Failure::new(ModelErrorKind::Connection, Again::Backoff, message));
        }
        api.read_reply(self.reply())
    }

    fn reply(self) -> Value {
        let blocks: Vec<Value> = self.blocks.into_values().collect();
        let usage = Value::Object(self.usage);
        match self.api {
            Api::Responses => self.whole.unwrap_or_default(),
            Api::Messages => {
                json!({"content": blocks, "stop_reason": self.finish, "usage": usage})
            }
            Api::Chat => {
                let message = json!({
                    "content": self.text, "reasoning_content": self.reasoning,
                    "refusal": self.refusal, "tool_calls": blocks,
                });
                let choice = json!({"message": message, "finish_reason": self.finish});
                json!({"choices": [choice], "usage": usage})
            }
        }
    }

    fn push_chat(&mut self, event: &Value) {
        self.add_usage(&event["usage"]);
        let choices = event["choices"].as_array().into_iter().flatten();
        let first = choices.into_iter().find(|choice| choice["index"].as_u64().unwrap_or(0) == 0);
        let Some(choice) = first else { return };
        if !choice["finish_reason"].is_null() {
            self.finish = choice["finish_reason"].clone();
        }
        let delta = &choice["delta"];
        let parts = delta["content"].as_array().into_iter().flatten();
        self.text.push_str(delta["content"].as_str().unwrap_or_default());
        parts.for_each(|part| self.text.push_str(part["text"].as_str().unwrap_or_default()));
        for name in ["reasoning_content", "reasoning"] {
            self.reasoning.push_str(delta[name].as_str().unwrap_or_default());
        }
        self.refusal.push_str(delta["refusal"].as_str().unwrap_or_default());
        for call in delta["tool_calls"].as_array().into_iter().flatten() {
            let number = call["index"].as_u64().unwrap_or(0);
            let known = self
                .blocks
                .entry(number)
                .or_insert_with(|| json!({"id": "", "function": {"name": "", "arguments": ""}}));
            append(&mut known["id"], &call["id"]);
            append(&mut known["function"]["name"], &call["function"]["name"]);
            append(&mut known["function"]["arguments"], &call["function"]["arguments"]);
        }
        let texts = [&self.text, &self.reasoning, &self.refusal];
        self.has_begun = !self.blocks.is_empty() || texts.iter().any(|text| !text.is_empty());
    }

    fn push_response(&mut self, mut event: Value) {
        self.has_begun |= event["type"].as_str().is_some_and(|kind| kind.ends_with(".delta"));
        let ends = ["response.completed", "response.incomplete", "response.failed"];
        if ends.iter().any(|end| event["type"] == *end) {
            self.whole = Some(event["response"].take());
            self.has_ended = true;
        }
    }

    fn push_message(&mut self, mut event: Value) {
        match event["type"].as_str() {
            Some("message_start") => self.add_usage(&event["message"]["usage"]),
            Some("content_block_start") => {
                let mut block = event["content_block"].take();
                // The arguments come as pieces of a text, behind an empty object.
                if block["type"] == "tool_use" {
                    block["input"] = "".into();
                }
                self.blocks.insert(event["index"].as_u64().unwrap_or(0), block);
            }
            Some("content_block_delta") => {
                self.has_begun = true;
                let number = event["index"].as_u64().unwrap_or(0);
                let (delta, block) = (&event["delta"], self.blocks.entry(number).or_default());
                match delta["type"].as_str() {
                    Some("text_delta") => append(&mut block["text"], &delta["text"]),
                    Some("input_json_delta") => {
                        append(&mut block["input"], &delta["partial_json"]);
                    }
                    _ => {}
                }
            }
            Some("message_delta") => {
                self.add_usage(&event["usage"]);
                if !event["delta"]["stop_reason"].is_null() {
                    self.finish = event["delta"]["stop_reason"].take();
                }
            }
            Some("message_stop") => self.has_ended = true,
            _ => {}
        }
    }

    /// The latest count of each kind holds.
    fn add_usage(&mut self, usage: &Value) {
        for (name, count) in usage.as_object().into_iter().flatten() {
            if !count.is_null() {
                self.usage.insert(name.clone(), count.clone());
            }
        }
    }
}

fn is_error(event: &Value) -> bool {
    !event["error"].is_null() || event["type"] == "error"
}

fn append(text: &mut Value, more: &Value) {
    let Some(more) = more.as_str() else { return };
    match text {
        Value::String(text) => text.push_str(more),
        other => *other = more.into(),
    }
}
