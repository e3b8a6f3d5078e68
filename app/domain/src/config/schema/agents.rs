//! Keys of coding agents that are run as programs.

use super::{KeySpec, OFF_EMPTY, OFF_FALSE, off};

pub(super) const KEYS: &[KeySpec] = &[
    off("model.codex_exec_path", &["", "codex"]),
    off("model.codex_exec_sandbox", &["", "workspace-write"]),
    off("model.codex_exec_profile", OFF_EMPTY),
    off("model.codex_exec_reasoning_effort", &["", "none"]),
    off("model.codex_exec_use_sdk", &["", "auto"]),
    off("model.codex_exec_network_access", OFF_FALSE),
    off("model.codex_exec_web_search", OFF_FALSE),
    off("model.codex_exec_approval_policy", &["", "never"]),
    off("model.codex_trace_to_optimizer", &["", "true", "false"]),
    off("model.claude_code_exec_path", &["", "claude"]),
    off("model.claude_code_exec_profile", OFF_EMPTY),
    off("model.claude_code_exec_use_sdk", &["", "auto"]),
    off("model.claude_code_exec_effort", &["", "medium"]),
    off("model.claude_code_exec_max_thinking_tokens", &["", "16384"]),
    off("model.cursor_exec_path", &["", "cursor-agent"]),
    off("model.cursor_exec_sandbox", OFF_EMPTY),
    off("model.copilot_exec_path", OFF_EMPTY),
    off("model.copilot_exec_home", OFF_EMPTY),
    off("model.copilot_exec_allow_all_tools", OFF_FALSE),
    off("model.copilot_chat_optimizer_model", OFF_EMPTY),
    off("model.copilot_chat_target_model", OFF_EMPTY),
    off("model.copilot_chat_timeout", &["", "600"]),
];
