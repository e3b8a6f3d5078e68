//! The three APIs as a server speaks them: what a request says, and how an answer is put, whole or in pieces.

use serde_json::{Value, json};
use skillopt_engine::ports::{Message, Speaker};

/// An API, by the end of its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wire {
    Chat,
    Responses,
    Messages,
}

impl Wire {
    pub(crate) fn of(path: &str) -> Option<Self> {
        match path.rsplit('/').next()? {
            "completions" => Some(Self::Chat),
            "responses" => Some(Self::Responses),
            "messages" => Some(Self::Messages),
            _ => None,
        }
    }

    /// The conversation, the instructions first.
    pub(crate) fn messages(self, body: &Value) -> Vec<Message> {
        let apart = match self {
            Self::Chat => &Value::Null,
            Self::Responses => &body["instructions"],
            Self::Messages => &body["system"],
        };
        let list = if self == Self::Responses { &body["input"] } else { &body["messages"] };
        let apart = (!apart.is_null()).then(|| Message::system(text_of(apart)));
        let rest = list.as_array().into_iter().flatten().map(|message| {
            let role = match message["role"].as_str() {
                Some("system") => Speaker::System,
                Some("assistant") => Speaker::Assistant,
                _ => Speaker::User,
            };
            Message::new(role, text_of(&message["content"]))
        });
        apart.into_iter().chain(rest).collect()
    }

    /// The answer in one piece: 100 tokens read, 40 of them from the cache, and 10 written.
    pub(crate) fn reply(self, text: &str) -> Value {
        match self {
            Self::Chat => json!({
                "object": "chat.completion",
                "choices": [{"index": 0, "finish_reason": "stop",
                    "message": {"role": "assistant", "content": text}}],
                "usage": chat_usage(),
            }),
            Self::Responses => json!({
                "object": "response", "status": "completed", "error": null,
                "output": [{"type": "message", "role": "assistant",
                    "content": [{"type": "output_text", "text": text}]}],
                "usage": {"input_tokens": 100, "output_tokens": 10,
                    "input_tokens_details": {"cached_tokens": 40}},
            }),
            Self::Messages => json!({
                "type": "message", "role": "assistant", "stop_reason": "end_turn",
                "content": [{"type": "text", "text": text}],
                "usage": {"input_tokens": 60, "cache_read_input_tokens": 40, "output_tokens": 10},
            }),
        }
    }

    /// The same in pieces, as a body of events.
    pub(crate) fn events(self, text: &str) -> String {
        let middle = (0..=text.len() / 2).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        let (head, tail) = text.split_at(middle);
        let events = match self {
            Self::Chat => {
                let chunk = |delta: Value, finish: Value| json!({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]});
                vec![
                    chunk(json!({"content": head}), Value::Null),
                    chunk(json!({"content": tail}), Value::Null),
                    chunk(json!({}), json!("stop")),
                    json!({"choices": [], "usage": chat_usage()}),
                ]
            }
            Self::Responses => vec![
                json!({"type": "response.output_text.delta", "delta": text}),
                json!({"type": "response.completed", "response": self.reply(text)}),
            ],
            Self::Messages => {
                let delta = |text: &str| {
                    json!({"type": "content_block_delta", "index": 0,
                        "delta": {"type": "text_delta", "text": text}})
                };
                vec![
                    json!({"type": "message_start", "message": {"usage":
                        {"input_tokens": 60, "cache_read_input_tokens": 40, "output_tokens": 1}}}),
                    json!({"type": "content_block_start", "index": 0,
                        "content_block": {"type": "text", "text": ""}}),
                    delta(head),
                    delta(tail),
                    json!({"type": "content_block_stop", "index": 0}),
                    json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"},
                        "usage": {"output_tokens": 10}}),
                    json!({"type": "message_stop"}),
                ]
            }
        };
        let mut body: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
        if self == Self::Chat {
            body.push_str("data: [DONE]\n\n");
        }
        body
    }
}

fn chat_usage() -> Value {
    json!({
        "prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110,
        "prompt_tokens_details": {"cached_tokens": 40},
    })
}

/// A text, or the texts of a list of parts.
fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
    }
}
