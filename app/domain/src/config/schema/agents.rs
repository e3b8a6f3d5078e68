//! Keys of coding agents that are run as programs.

use super::Group::Advanced;
use super::KeyKind::{Bool, Choice, Int, Text};
use super::{KeySpec, TIMEOUT, ignored, key, off, unit};

const SANDBOXES: super::KeyKind =
    Choice { options: &["read-only", "workspace-write", "danger-full-access"] };
const APPROVALS: super::KeyKind =
    Choice { options: &["never", "on-request", "on-failure", "untrusted"] };
const EFFORTS: super::KeyKind =
    Choice { options: &["none", "minimal", "low", "medium", "high", "xhigh", "max"] };
const PERMISSION_MODES: super::KeyKind =
    Choice { options: &["dontAsk", "acceptEdits", "bypassPermissions"] };
const ON_OFF: super::KeyKind = Choice { options: &["enabled", "disabled"] };

/// A text of few people's concern.
const fn text(path: &'static str, label: &'static str, help: &'static str) -> KeySpec {
    key(path, label, Text, "", Advanced, help)
}

pub(super) const KEYS: &[KeySpec] = &[
    text(
        "model.codex_exec_path",
        "Codex program",
        "Name or path of the program; `codex` on PATH when empty.",
    ),
    key(
        "model.codex_exec_sandbox",
        "Codex sandbox",
        SANDBOXES,
        "workspace-write",
        Advanced,
        "What Codex may change as the target, where it works in a folder of its own. As a chat it always runs `read-only`. With `read-only`, tasks with tools get no stand-ins: the tools are named in the text.",
    ),
    text(
        "model.codex_exec_profile",
        "Codex profile",
        "Profile of Codex's own configuration to use.",
    ),
    key(
        "model.codex_exec_reasoning_effort",
        "Codex effort",
        EFFORTS,
        "",
        Advanced,
        "How hard Codex thinks where a call does not say; as Codex is set up when empty.",
    ),
    ignored("model.codex_exec_full_auto", "the sandbox and the approval policy say it"),
    off("model.codex_exec_use_sdk", &["", "auto", "cli"]),
    key(
        "model.codex_exec_network_access",
        "Codex network",
        Bool,
        "false",
        Advanced,
        "Commands that Codex runs may use the network.",
    ),
    key(
        "model.codex_exec_web_search",
        "Codex web search",
        Bool,
        "false",
        Advanced,
        "Codex may search the web.",
    ),
    key(
        "model.codex_exec_approval_policy",
        "Codex approvals",
        APPROVALS,
        "never",
        Advanced,
        "When Codex asks before it runs a command. Nobody is there to answer, so that asking ends in refusal.",
    ),
    key(
        "model.codex_trace_to_optimizer",
        "Show the way",
        Bool,
        "true",
        Advanced,
        "The optimizer reads what an agent did before it answered, for every agent that works in a folder.",
    ),
    text(
        "model.claude_code_exec_path",
        "Claude program",
        "Name or path of the program; `claude` on PATH when empty.",
    ),
    ignored("model.claude_code_exec_profile", "the claude program has no profiles"),
    off("model.claude_code_exec_use_sdk", &["", "auto", "cli"]),
    key(
        "model.claude_code_exec_effort",
        "Claude effort",
        EFFORTS,
        "medium",
        Advanced,
        "How hard Claude Code thinks as an agent where a call does not say.",
    ),
    unit(
        key(
            "model.claude_code_exec_max_thinking_tokens",
            "Claude thinking",
            Int { min: 0, max: 1_000_000 },
            "16384",
            Advanced,
            "Most tokens of thought of Claude Code as an agent.",
        ),
        "tokens",
    ),
    key(
        "model.claude_code_exec_permission_mode",
        "Claude permissions",
        PERMISSION_MODES,
        "dontAsk",
        Advanced,
        "What Claude Code may do as an agent beyond its listed tools: nothing with dontAsk, everything with bypassPermissions.",
    ),
    key(
        "model.claude_code_exec_tools",
        "Claude tools",
        Text,
        "Read,Glob,Grep",
        Advanced,
        "Tools of Claude Code as an agent, with commas. Bash runs any command as you, outside of any sandbox.",
    ),
    text(
        "model.claude_setting_sources",
        "Claude settings",
        "Which of your own settings Claude Code reads, such as user,project; none when empty, so that your CLAUDE.md and skills stay out of measurements.",
    ),
    text(
        "model.cursor_exec_path",
        "Cursor program",
        "Name or path of the program; `cursor-agent` on PATH when empty.",
    ),
    key(
        "model.cursor_exec_sandbox",
        "Cursor sandbox",
        ON_OFF,
        "enabled",
        Advanced,
        "Whether Cursor keeps its commands in a sandbox. It is asked to read only, whatever this says.",
    ),
    text(
        "model.copilot_exec_path",
        "Copilot program",
        "Name or path of the program; `copilot` on PATH when empty.",
    ),
    text(
        "model.copilot_exec_home",
        "Copilot home",
        "Folder with Copilot's settings and sessions; its own when empty.",
    ),
    key(
        "model.copilot_exec_allow_all_tools",
        "Copilot tools",
        Bool,
        "false",
        Advanced,
        "Copilot may use every tool without asking, commands included; else it only reads files.",
    ),
    key(
        "model.copilot_exec_stand_in_tools",
        "Copilot tools for stand-ins",
        Text,
        "bash",
        Advanced,
        "Tools by which Copilot runs stand-ins for the tools of a task in a night, with commas. They may call the stand-ins and nothing else.",
    ),
    text(
        "model.copilot_chat_optimizer_model",
        "Copilot model, optimizer",
        "Model of the optimizer where Copilot serves it; model.optimizer when empty.",
    ),
    text(
        "model.copilot_chat_target_model",
        "Copilot model, target",
        "Model of the target where Copilot serves it; model.target when empty.",
    ),
    unit(
        key(
            "model.copilot_chat_timeout",
            "Copilot time limit",
            TIMEOUT,
            "",
            Advanced,
            "Longest time of one attempt of Copilot; the role's own when empty.",
        ),
        "s",
    ),
    text("model.pi_path", "Pi program", "Name or path of the program; `pi` on PATH when empty."),
    text(
        "model.opencode_path",
        "OpenCode program",
        "Name or path of the program; `opencode` on PATH when empty.",
    ),
    key(
        "model.exec_empty_response_retries",
        "Empty answers",
        Int { min: 0, max: 5 },
        "1",
        Advanced,
        "How often a program that answered with nothing is asked again, with a word about it.",
    ),
];
