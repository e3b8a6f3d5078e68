//! The events of each program, as its documentation shows them.

use crate::{complain, say};
use serde_json::{Value, json};
use std::process::ExitCode;

/// Whose events are spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Speech {
    Claude,
    Codex,
    Cursor,
    Copilot,
    Pi,
    Opencode,
}

impl Speech {
    pub(crate) fn of(program: &str) -> Self {
        match program {
            "claude" => Self::Claude,
            "codex" => Self::Codex,
            "cursor-agent" => Self::Cursor,
            "copilot" => Self::Copilot,
            "pi" => Self::Pi,
            _ => Self::Opencode,
        }
    }

    /// A thought and a file that is read, in which `text` stands.
    pub(crate) fn say_steps(self, text: &str) {
        let path = "task.md";
        let events = match self {
            Self::Claude => vec![
                json!({"type": "system", "subtype": "init", "session_id": "s", "tools": ["Read"]}),
                of_claude("assistant", &json!({"type": "thinking", "thinking": "I look first."})),
                of_claude(
                    "assistant",
                    &json!({"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": path}}),
                ),
                of_claude(
                    "user",
                    &json!({"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": text}]}),
                ),
            ],
            Self::Codex => vec![
                json!({"type": "thread.started", "thread_id": "t"}),
                json!({"type": "turn.started"}),
                json!({"type": "error", "message": "Reconnecting... 1/5"}),
                of_codex(&json!({"id": "i0", "type": "reasoning", "text": "I look first."})),
                of_codex(
                    &json!({"id": "i1", "type": "command_execution", "command": "cat task.md",
                    "aggregated_output": text, "exit_code": 0, "status": "completed"}),
                ),
            ],
            Self::Cursor => vec![
                json!({"type": "system", "subtype": "init", "model": "m"}),
                json!({"type": "user", "message": {"role": "user", "content": [{"type": "text", "text": "q"}]}}),
                json!({"type": "assistant", "message": {"content": [{"type": "text", "text": "I look first."}]}}),
                json!({"type": "tool_call", "subtype": "started", "call_id": "c1",
                    "tool_call": {"readToolCall": {"args": {"path": path}}}}),
                json!({"type": "tool_call", "subtype": "completed", "call_id": "c1",
                    "tool_call": {"readToolCall": {"args": {"path": path}, "result": {"success": {"content": text}}}}}),
            ],
            Self::Copilot => vec![
                json!({"type": "assistant.turn_start", "data": {"turnId": "0"}}),
                json!({"type": "assistant.message", "data": {"content": "I look first.",
                    "toolRequests": [{"toolCallId": "c1", "name": "view"}]}}),
                json!({"type": "tool.execution_start", "data": {"toolCallId": "c1", "toolName": "view",
                    "arguments": {"path": path}}}),
                json!({"type": "tool.execution_complete", "data": {"toolCallId": "c1", "success": true,
                    "result": {"content": text}}}),
            ],
            Self::Pi => vec![
                json!({"type": "session", "id": "s", "version": 3}),
                json!({"type": "agent_start"}),
                json!({"type": "message_end", "message": {"role": "user", "content": [{"type": "text", "text": "q"}]}}),
            ],
            Self::Opencode => {
                vec![
                    json!({"type": "step_start", "sessionID": "s", "part": {"type": "step-start"}}),
                ]
            }
        };
        for event in events {
            say(&event.to_string());
        }
    }

    /// A call of a tool of its own, which only OpenCode has.
    pub(crate) fn say_call(self, tool: &str) {
        if self == Self::Opencode {
            let state = json!({"status": "completed", "input": {}, "output": "noted"});
            let part = json!({"type": "tool", "callID": "c1", "tool": tool, "state": state});
            say(&json!({"type": "tool_use", "sessionID": "s", "part": part}).to_string());
        }
    }

    /// The answer with its tokens: 120 read, 40 of them from a cache, and 15 written.
    pub(crate) fn say_answer(self, answer: &str) {
        let events = match self {
            Self::Claude => vec![
                of_claude("assistant", &json!({"type": "text", "text": answer})),
                json!({"type": "result", "subtype": "success", "is_error": false, "result": answer,
                    "total_cost_usd": 0.0125, "stop_reason": "end_turn", "usage": {"input_tokens": 70,
                    "cache_creation_input_tokens": 10, "cache_read_input_tokens": 40, "output_tokens": 15}}),
            ],
            Self::Codex => vec![
                of_codex(&json!({"id": "i2", "type": "agent_message", "text": answer})),
                json!({"type": "turn.completed", "usage": {"input_tokens": 120, "cached_input_tokens": 40,
                    "output_tokens": 15}}),
            ],
            Self::Cursor => vec![
                json!({"type": "assistant", "message": {"content": [{"type": "text", "text": answer}]}}),
                json!({"type": "result", "subtype": "success", "is_error": false,
                    "result": if answer.is_empty() { String::new() } else { format!("I look first.{answer}") }}),
            ],
            Self::Copilot => vec![
                json!({"type": "assistant.message", "data": {"content": answer, "toolRequests": []}}),
                json!({"type": "assistant.turn_end", "data": {"turnId": "0"}}),
                json!({"type": "result", "sessionId": "s", "exitCode": 0, "usage": {"premiumRequests": 1}}),
            ],
            Self::Pi => vec![
                json!({"type": "message_end", "message": {"role": "assistant", "stopReason": "stop",
                    "content": [{"type": "text", "text": answer}], "usage": {"input": 80, "output": 15,
                    "cacheRead": 40, "cacheWrite": 0, "cost": {"total": 0.0125}}}}),
                json!({"type": "agent_end", "messages": []}),
            ],
            Self::Opencode => vec![
                json!({"type": "text", "part": {"type": "text", "text": answer}}),
                json!({"type": "step_finish", "part": {"reason": "stop", "cost": 0.0125, "tokens": {"input": 80,
                    "output": 15, "reasoning": 0, "cache": {"read": 40, "write": 0}}}}),
            ],
        };
        for event in events {
            say(&event.to_string());
        }
    }

    /// The way in which each tells that it failed.
    pub(crate) fn fail(self, words: &str) -> ExitCode {
        let event = match self {
            Self::Claude => {
                json!({"type": "result", "subtype": "success", "is_error": true, "result": words,
                "total_cost_usd": 0, "usage": {"input_tokens": 0, "output_tokens": 0}})
            }
            Self::Codex => json!({"type": "turn.failed", "error": {"message": words}}),
            Self::Copilot => {
                json!({"type": "session.error", "data": {"errorType": "query", "message": words}})
            }
            Self::Pi => {
                json!({"type": "message_end", "message": {"role": "assistant", "content": [],
                "stopReason": "error", "errorMessage": words}})
            }
            Self::Opencode => {
                json!({"type": "error", "error": {"name": "APIError", "data": {"message": words}}})
            }
            Self::Cursor => {
                complain(words);
                return ExitCode::from(1);
            }
        };
        say(&event.to_string());
        ExitCode::from(1)
    }
}

fn of_claude(kind: &str, block: &Value) -> Value {
    json!({"type": kind, "session_id": "s", "message": {"role": kind, "content": [block]}})
}

fn of_codex(item: &Value) -> Value {
    json!({"type": "item.completed", "item": item})
}
