//! The typed configuration of programs that serve as models, and what of it is dangerous.

use super::RunConfig;
use super::reader::Reader;
use crate::config::backend::{BackendKind, Effort};
use crate::config::resolve::ConfigProblem;
use crate::spend::Role;
use serde::{Deserialize, Serialize};

/// How each program is run. One set for both roles.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Agents {
    /// The `codex` program.
    pub codex: Codex,
    /// The `claude` program.
    pub claude: Claude,
    /// The `cursor-agent` program.
    pub cursor: Cursor,
    /// The `copilot` program.
    pub copilot: Copilot,
    /// Name or path of the `pi` program; empty for PATH.
    pub pi_path: String,
    /// Name or path of the `opencode` program; empty for PATH.
    pub opencode_path: String,
    /// How often an empty answer is asked for again.
    pub empty_retries: u32,
    /// The optimizer reads what an agent did.
    pub trace_to_optimizer: bool,
}

/// Settings of `codex`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Codex {
    /// Name or path of the program; empty for PATH.
    pub path: String,
    /// `read-only`, `workspace-write` or `danger-full-access`, as the target.
    pub sandbox: String,
    /// A profile of its own configuration; empty for none.
    pub profile: String,
    /// Where a call does not say.
    pub effort: Option<Effort>,
    /// Commands may use the network.
    pub network_access: bool,
    /// It may search the web.
    pub web_search: bool,
    /// When it asks.
    pub approval_policy: String,
}

/// Settings of `claude`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Claude {
    /// Name or path of the program; empty for PATH.
    pub path: String,
    /// As an agent, where a call does not say.
    pub effort: Option<Effort>,
    /// Most tokens of thought, as an agent.
    pub max_thinking_tokens: u32,
    /// `dontAsk`, `acceptEdits` or `bypassPermissions`, as an agent.
    pub permission_mode: String,
    /// Tools, as an agent.
    pub tools: Vec<String>,
    /// Which settings of the user it reads; empty for none.
    pub setting_sources: String,
}

/// Settings of `cursor-agent`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cursor {
    /// Name or path of the program; empty for PATH.
    pub path: String,
    /// `enabled` or `disabled`.
    pub sandbox: String,
}

/// Settings of `copilot`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Copilot {
    /// Name or path of the program; empty for PATH.
    pub path: String,
    /// Its folder; empty for its own.
    pub home: String,
    /// It may use every tool, as an agent.
    pub allow_all_tools: bool,
    /// Tools by which it runs stand-ins for the tools of a task, with commas.
    pub stand_in_tools: String,
}

impl RunConfig {
    /// Settings that let a program of this run do more than it needs to, with what that means.
    #[must_use]
    pub fn dangers(&self) -> Vec<ConfigProblem> {
        let target = self.target.backend;
        let (claude, codex) = (&self.agents.claude, &self.agents.codex);
        let uses = |kind| Role::ALL.iter().any(|role| self.role(*role).backend == kind);
        let rows = [
            (
                target == BackendKind::CodexExec && codex.sandbox == "danger-full-access",
                "model.codex_exec_sandbox",
                "Codex runs without a sandbox: commands that a skill or a task suggests can change anything that you can change",
            ),
            (
                target == BackendKind::CodexExec && codex.network_access,
                "model.codex_exec_network_access",
                "commands of Codex reach the network, so that what it reads can leave this machine",
            ),
            (
                target == BackendKind::ClaudeCodeExec
                    && claude.permission_mode == "bypassPermissions",
                "model.claude_code_exec_permission_mode",
                "Claude Code asks for no permission: commands that a skill or a task suggests can change anything that you can change",
            ),
            (
                target == BackendKind::ClaudeCodeExec
                    && claude.tools.iter().any(|tool| tool == "Bash"),
                "model.claude_code_exec_tools",
                "Bash runs any command as you, outside of any sandbox",
            ),
            (
                uses(BackendKind::ClaudeChat) && !claude.setting_sources.is_empty()
                    || target == BackendKind::ClaudeCodeExec && !claude.setting_sources.is_empty(),
                "model.claude_setting_sources",
                "your own CLAUDE.md, skills and hooks take part in what is measured",
            ),
            (
                target == BackendKind::CursorExec && self.agents.cursor.sandbox == "disabled",
                "model.cursor_exec_sandbox",
                "Cursor runs without a sandbox; only its read-only mode holds it back",
            ),
            (
                target == BackendKind::CopilotExec && self.agents.copilot.allow_all_tools,
                "model.copilot_exec_allow_all_tools",
                "Copilot uses every tool without asking: commands that a skill or a task suggests can change anything that you can change",
            ),
        ];
        rows.into_iter()
            .filter(|(is_on, ..)| *is_on)
            .map(|(_, path, message)| ConfigProblem {
                path: path.to_owned(),
                place: None,
                message: message.to_owned(),
            })
            .collect()
    }
}

impl Reader<'_> {
    pub(super) fn agents(&self) -> Agents {
        let effort = |path: &str| Effort::parse(&self.text(path));
        let list = |path: &str| -> Vec<String> {
            let text = self.text(path);
            let words = text.split([',', ' ']).map(str::trim).filter(|word| !word.is_empty());
            words.map(str::to_owned).collect()
        };
        Agents {
            codex: Codex {
                path: self.text("model.codex_exec_path"),
                sandbox: self.text("model.codex_exec_sandbox"),
                profile: self.text("model.codex_exec_profile"),
                effort: effort("model.codex_exec_reasoning_effort"),
                network_access: self.flag("model.codex_exec_network_access"),
                web_search: self.flag("model.codex_exec_web_search"),
                approval_policy: self.text("model.codex_exec_approval_policy"),
            },
            claude: Claude {
                path: self.text("model.claude_code_exec_path"),
                effort: effort("model.claude_code_exec_effort"),
                max_thinking_tokens: self.count("model.claude_code_exec_max_thinking_tokens"),
                permission_mode: self.text("model.claude_code_exec_permission_mode"),
                tools: list("model.claude_code_exec_tools"),
                setting_sources: self.text("model.claude_setting_sources"),
            },
            cursor: Cursor {
                path: self.text("model.cursor_exec_path"),
                sandbox: self.text("model.cursor_exec_sandbox"),
            },
            copilot: Copilot {
                path: self.text("model.copilot_exec_path"),
                home: self.text("model.copilot_exec_home"),
                allow_all_tools: self.flag("model.copilot_exec_allow_all_tools"),
                stand_in_tools: self.text("model.copilot_exec_stand_in_tools"),
            },
            pi_path: self.text("model.pi_path"),
            opencode_path: self.text("model.opencode_path"),
            empty_retries: self.count("model.exec_empty_response_retries"),
            trace_to_optimizer: self.flag("model.codex_trace_to_optimizer"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::resolve::{Setting, resolve};
    use crate::config::value::{Place, Value};

    fn dangers(rows: &[(&str, &str)]) -> Vec<String> {
        let set = |(path, value): &(&str, &str)| Setting {
            path: (*path).to_owned(),
            value: Value::Text((*value).to_owned()),
            place: Place::flag("test"),
        };
        let base = [("env.split_dir", "x"), ("model.optimizer_backend", "mock")];
        let settings: Vec<Setting> = base.iter().chain(rows).map(set).collect();
        let config = RunConfig::from_resolved(&resolve(&settings).expect("valid")).expect("valid");
        config.dangers().into_iter().map(|danger| danger.path).collect()
    }

    #[test]
    fn nothing_is_dangerous_unless_it_is_set_and_used() {
        let targets = ["codex_exec", "claude_code_exec", "cursor_exec", "copilot_exec", "mock"];
        for target in targets {
            assert_eq!(dangers(&[("model.target_backend", target)]), Vec::<String>::new());
        }
        let wide = [
            ("codex_exec", "model.codex_exec_sandbox", "danger-full-access"),
            ("codex_exec", "model.codex_exec_network_access", "true"),
            ("claude_code_exec", "model.claude_code_exec_permission_mode", "bypassPermissions"),
            ("claude_code_exec", "model.claude_code_exec_tools", "Read, Bash"),
            ("claude_chat", "model.claude_setting_sources", "user"),
            ("cursor_exec", "model.cursor_exec_sandbox", "disabled"),
            ("copilot_exec", "model.copilot_exec_allow_all_tools", "true"),
        ];
        for (target, path, value) in wide {
            assert_eq!(dangers(&[("model.target_backend", target), (path, value)]), [path]);
            assert!(dangers(&[("model.target_backend", "mock"), (path, value)]).is_empty());
        }
    }
}
