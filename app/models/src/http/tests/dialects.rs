//! The dialects as their providers speak them: how each spells a reply, a stream, and an error. Written from what the
//! providers document, not from our own writers.

use super::*;
use skillopt_domain::config::{AzureAuth, OpenaiApi, Thinking};

/// The form of replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wire {
    Chat,
    Responses,
    Messages,
}

/// A backend in the form in which it is called.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dialect {
    pub(super) name: &'static str,
    pub(super) wire: Wire,
    pub(super) path: &'static str,
    /// The header that carries the key, and what it holds.
    pub(super) key: (&'static str, &'static str),
    pub(super) tune: fn(&mut ModelRole),
}

const BEARER: (&str, &str) = ("authorization", "Bearer sk-geheim-123");
const API_KEY: (&str, &str) = ("api-key", "sk-geheim-123");

pub(super) static DIALECTS: [Dialect; 9] = [
    Dialect {
        name: "openai_compatible",
        wire: Wire::Chat,
        path: "/v1/chat/completions",
        key: BEARER,
        tune: |_| {},
    },
    Dialect {
        name: "openai_chat at OpenAI",
        wire: Wire::Chat,
        path: "/v1/chat/completions",
        key: BEARER,
        tune: |config| config.backend = BackendKind::OpenaiChat,
    },
    Dialect {
        name: "openai_chat at OpenAI, Responses",
        wire: Wire::Responses,
        path: "/v1/responses",
        key: BEARER,
        tune: |config| {
            config.backend = BackendKind::OpenaiChat;
            config.model = "gpt-5.3-codex".to_owned();
        },
    },
    Dialect {
        name: "openai_chat at Azure",
        wire: Wire::Chat,
        path: "/openai/deployments/small/chat/completions",
        key: API_KEY,
        tune: |config| at_azure(config, "small"),
    },
    Dialect {
        name: "openai_chat at Azure, Responses by choice",
        wire: Wire::Responses,
        path: "/openai/v1/responses",
        key: API_KEY,
        tune: |config| {
            at_azure(config, "small");
            config.provider.openai_api = OpenaiApi::Responses;
        },
    },
    Dialect {
        name: "openai_chat at Azure, Responses",
        wire: Wire::Responses,
        path: "/openai/v1/responses",
        key: API_KEY,
        tune: |config| at_azure(config, "codex-mini"),
    },
    Dialect {
        name: "qwen_chat",
        wire: Wire::Chat,
        path: "/v1/chat/completions",
        key: BEARER,
        tune: |config| {
            config.backend = BackendKind::QwenChat;
            config.provider.thinking = Thinking::Disabled;
        },
    },
    Dialect {
        name: "minimax_chat",
        wire: Wire::Chat,
        path: "/v1/chat/completions",
        key: BEARER,
        tune: |config| config.backend = BackendKind::MinimaxChat,
    },
    Dialect {
        name: "anthropic_messages",
        wire: Wire::Messages,
        path: "/v1/messages",
        key: ("x-api-key", "sk-geheim-123"),
        tune: |config| config.backend = BackendKind::AnthropicMessages,
    },
];

fn at_azure(config: &mut ModelRole, deployment: &str) {
    config.backend = BackendKind::OpenaiChat;
    config.base_url = config.base_url.trim_end_matches("/v1").to_owned();
    config.model = deployment.to_owned();
    config.provider.azure_auth = AzureAuth::ApiKey;
    config.provider.api_version = "2024-12-01-preview".to_owned();
}

/// What a model says.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Says {
    pub(super) text: &'static str,
    pub(super) reasons: bool,
    pub(super) refuses: bool,
    pub(super) is_cut: bool,
    pub(super) calls_tool: bool,
}

impl Says {
    pub(super) fn text(text: &'static str) -> Self {
        Self { text, ..Self::default() }
    }
}

const ARGUMENTS: &str = r#"{"city":"Paris"}"#;

impl Dialect {
    pub(super) fn says(&self, says: Says) -> ResponseTemplate {
        let body = match self.wire {
            Wire::Chat => chat(says),
            Wire::Responses => response(says),
            Wire::Messages => message(says),
        };
        ResponseTemplate::new(200).set_body_json(body)
    }

    pub(super) fn streams(&self, says: Says) -> ResponseTemplate {
        stream(&self.events(says))
    }

    /// The data of the events of a reply.
    pub(super) fn events(&self, says: Says) -> Vec<String> {
        match self.wire {
            Wire::Chat => chat_events(says),
            Wire::Responses => response_events(says),
            Wire::Messages => message_events(says),
        }
    }

    pub(super) fn fails(&self, status: u16, kind: &str, words: &str) -> ResponseTemplate {
        let error = json!({"type": kind, "code": kind, "message": words});
        ResponseTemplate::new(status).set_body_json(json!({"type": "error", "error": error}))
    }
}

/// Events with what a stream may hold beside them.
pub(super) fn stream(events: &[String]) -> ResponseTemplate {
    let events = events.iter().map(|data| {
        // The data may stand in several lines, behind a name.
        format!(
            "event: x\r\ndata: {}\r\n\r\n: keep-alive\r\n\r\n",
            data.replace('\n', "\r\ndata: ")
        )
    });
    let body = format!(": begin\n\n{}", events.collect::<String>());
    ResponseTemplate::new(200).set_body_raw(body, "text/event-stream; charset=utf-8")
}

fn finish(says: Says) -> &'static str {
    match says {
        Says { calls_tool: true, .. } => "tool_calls",
        Says { is_cut: true, .. } => "length",
        _ => "stop",
    }
}

fn chat_usage() -> Value {
    json!({
        "prompt_tokens": 1000, "completion_tokens": 10, "total_tokens": 1010,
        "prompt_tokens_details": {"cached_tokens": 800},
        "completion_tokens_details": {"reasoning_tokens": 4},
    })
}

fn chat(says: Says) -> Value {
    let mut message = json!({"role": "assistant", "content": says.text});
    if says.reasons {
        message["reasoning_content"] = "hm".into();
    }
    if says.refuses {
        message["refusal"] = "Not this.".into();
    }
    if says.calls_tool {
        let function = json!({"name": "weather", "arguments": ARGUMENTS});
        message["tool_calls"] = json!([{"id": "call_1", "type": "function", "function": function}]);
    }
    let choice = json!({"index": 0, "message": message, "finish_reason": finish(says)});
    json!({"object": "chat.completion", "choices": [choice], "usage": chat_usage()})
}

fn chat_events(says: Says) -> Vec<String> {
    let chunk = |delta: Value, finish: Value| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
        json!({"object": "chat.completion.chunk", "choices": [choice], "usage": null})
    };
    let mut events = vec![chunk(json!({"role": "assistant", "content": ""}), Value::Null)];
    if says.reasons {
        events.push(chunk(json!({"reasoning_content": "hm"}), Value::Null));
    }
    let (head, tail) = says.text.split_at(says.text.len() / 2);
    for piece in [head, tail] {
        events.push(chunk(json!({"content": piece}), Value::Null));
    }
    if says.refuses {
        events.push(chunk(json!({"refusal": "Not this."}), Value::Null));
    }
    if says.calls_tool {
        let (head, tail) = ARGUMENTS.split_at(5);
        let begin = json!({"name": "weather", "arguments": head});
        let begin = json!({"index": 0, "id": "call_1", "type": "function", "function": begin});
        events.push(chunk(json!({"tool_calls": [begin]}), Value::Null));
        let more = json!({"index": 0, "function": {"arguments": tail}});
        events.push(chunk(json!({"tool_calls": [more]}), Value::Null));
    }
    events.push(chunk(json!({}), finish(says).into()));
    events.push(json!({"object": "chat.completion.chunk", "choices": [], "usage": chat_usage()}));
    let mut events: Vec<String> =
        events.iter().map(|event| serde_json::to_string_pretty(event).unwrap()).collect();
    events.push("[DONE]".to_owned());
    events
}

fn response(says: Says) -> Value {
    let mut output = Vec::new();
    if says.reasons {
        output.push(json!({"type": "reasoning", "id": "rs_1", "summary": []}));
    }
    if says.refuses {
        let part = json!({"type": "refusal", "refusal": "Not this."});
        output.push(json!({"type": "message", "role": "assistant", "content": [part]}));
    } else if !says.text.is_empty() {
        let part = json!({"type": "output_text", "text": says.text, "annotations": []});
        output.push(json!({"type": "message", "role": "assistant", "content": [part]}));
    }
    if says.calls_tool {
        output.push(json!({
            "type": "function_call", "call_id": "call_1", "name": "weather", "arguments": ARGUMENTS,
        }));
    }
    let cut = json!({"reason": "max_output_tokens"});
    json!({
        "object": "response", "error": null, "output": output,
        "status": if says.is_cut { "incomplete" } else { "completed" },
        "incomplete_details": if says.is_cut { cut } else { Value::Null },
        "usage": {
            "input_tokens": 1000, "input_tokens_details": {"cached_tokens": 800},
            "output_tokens": 10, "output_tokens_details": {"reasoning_tokens": 4},
        },
    })
}

fn response_events(says: Says) -> Vec<String> {
    let end = if says.is_cut { "response.incomplete" } else { "response.completed" };
    let events = [
        json!({"type": "response.created", "response": {"status": "in_progress", "error": null}}),
        json!({"type": "response.output_text.delta", "delta": says.text}),
        json!({"type": end, "response": response(says)}),
    ];
    events.iter().map(ToString::to_string).collect()
}

fn message_usage() -> Value {
    json!({
        "input_tokens": 150, "cache_creation_input_tokens": 50, "cache_read_input_tokens": 800,
        "output_tokens": 10,
    })
}

fn message_blocks(says: Says) -> Vec<Value> {
    let mut content = Vec::new();
    if says.reasons {
        content.push(json!({"type": "thinking", "thinking": "hm", "signature": "x"}));
    }
    if !says.text.is_empty() {
        content.push(json!({"type": "text", "text": says.text}));
    }
    if says.calls_tool {
        content.push(json!({
            "type": "tool_use", "id": "call_1", "name": "weather", "input": {"city": "Paris"},
        }));
    }
    content
}

fn stop_reason(says: Says) -> &'static str {
    match says {
        Says { refuses: true, .. } => "refusal",
        Says { calls_tool: true, .. } => "tool_use",
        Says { is_cut: true, .. } => "max_tokens",
        _ => "end_turn",
    }
}

fn message(says: Says) -> Value {
    json!({
        "type": "message", "role": "assistant", "content": message_blocks(says),
        "stop_reason": stop_reason(says), "stop_sequence": null, "usage": message_usage(),
    })
}

fn message_events(says: Says) -> Vec<String> {
    let mut usage = message_usage();
    usage["output_tokens"] = 1.into();
    let mut events = vec![
        json!({"type": "message_start", "message": {"content": [], "usage": usage}}),
        json!({"type": "ping"}),
    ];
    for (index, block) in message_blocks(says).into_iter().enumerate() {
        let (start, delta) = match block["type"].as_str().unwrap() {
            "text" => (
                json!({"type": "text", "text": ""}),
                json!({"type": "text_delta", "text": block["text"]}),
            ),
            "thinking" => (
                json!({"type": "thinking", "thinking": ""}),
                json!({"type": "thinking_delta", "thinking": "hm"}),
            ),
            _ => (
                json!({"type": "tool_use", "id": "call_1", "name": "weather", "input": {}}),
                json!({"type": "input_json_delta", "partial_json": ARGUMENTS}),
            ),
        };
        events.push(json!({"type": "content_block_start", "index": index, "content_block": start}));
        events.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        events.push(json!({"type": "content_block_stop", "index": index}));
    }
    let delta = json!({"stop_reason": stop_reason(says), "stop_sequence": null});
    events.push(json!({"type": "message_delta", "delta": delta, "usage": {"output_tokens": 10}}));
    events.push(json!({"type": "message_stop"}));
    events.iter().map(ToString::to_string).collect()
}
