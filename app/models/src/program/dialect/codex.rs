//! The `codex` program: as the optimizer a chat that may change nothing, as the target an agent in a folder.

use super::super::ask::{Ask, amended};
use super::super::heard::{Heard, count, gist, text};
use super::super::stand_ins;
use super::super::workspace::lay_out;
use super::{Dialect, Order, Spoken};
use serde_json::{Value, json};
use skillopt_domain::config::{Codex as Settings, Effort};
use skillopt_domain::spend::{Role, Usage};
use std::io;

/// Told as an error while a lost connection is made again; the turn goes on.
const RECONNECTING: &str = "Reconnecting";

/// One role's way of use.
#[derive(Clone, Debug)]
pub(super) struct Codex {
    settings: Settings,
    role: Role,
}

impl Codex {
    pub(super) fn new(settings: &Settings, role: Role) -> Self {
        Self { settings: settings.clone(), role }
    }

    /// A chat changes nothing, whatever the config says.
    fn sandbox(&self) -> &str {
        match self.role {
            Role::Target => &self.settings.sandbox,
            Role::Optimizer => "read-only",
        }
    }

    fn network_access(&self) -> bool {
        self.settings.network_access && self.role == Role::Target
    }

    fn overrides(&self, effort: Option<Effort>) -> Vec<String> {
        let search = if self.settings.web_search { "live" } else { "disabled" };
        let mut overrides = vec![
            format!("approval_policy=\"{}\"", self.settings.approval_policy),
            format!("sandbox_workspace_write.network_access={}", self.network_access()),
            format!("web_search=\"{search}\""),
            // The folder of the call is all that it may write into.
            "sandbox_workspace_write.exclude_slash_tmp=true".to_owned(),
            "sandbox_workspace_write.exclude_tmpdir_env_var=true".to_owned(),
            // Instructions of other projects stay out.
            "project_doc_max_bytes=0".to_owned(),
        ];
        if let Some(effort) = effort.or(self.settings.effort) {
            // It knows no `max`.
            let word = if effort == Effort::Max { Effort::Xhigh } else { effort };
            overrides.push(format!("model_reasoning_effort=\"{}\"", word.as_str()));
        }
        if self.role == Role::Optimizer {
            overrides.push("features.shell_tool=false".to_owned());
        }
        overrides
    }
}

impl Dialect for Codex {
    fn settings(&self) -> Value {
        json!({
            "sandbox": self.sandbox(),
            "profile": self.settings.profile,
            "effort": self.settings.effort,
            "network_access": self.network_access(),
            "web_search": self.settings.web_search,
            "approval_policy": self.settings.approval_policy,
        })
    }

    fn works_in_folder(&self) -> bool {
        self.role == Role::Target
    }

    /// Stand-ins note their calls in the folder of the call, which one that only reads cannot.
    fn runs_stand_ins(&self) -> bool {
        self.role == Role::Target && self.sandbox() != "read-only"
    }

    fn variables(&self) -> &'static [&'static str] {
        &["CODEX_HOME", "CODEX_API_KEY"]
    }

    fn speak(&self, order: &Order<'_>) -> io::Result<Spoken> {
        let ask = Ask::of(order.request, order.folder, order.again)?;
        let mut spoken = Spoken::new(&[
            "exec",
            "--json",
            "--ephemeral",
            "--skip-git-repo-check",
            "--color",
            "never",
        ]);
        spoken.arg("--cd", &order.folder.work().to_string_lossy());
        let names: &[String] = if self.runs_stand_ins() { &order.request.stand_ins } else { &[] };
        stand_ins::lay_out(order.folder, names)?;
        spoken.arg("--sandbox", self.sandbox());
        spoken.arg_if_set("--model", order.model).arg_if_set("--profile", &self.settings.profile);
        for setting in self.overrides(order.effort) {
            spoken.arg("-c", &setting);
        }
        if let Some(schema) = &ask.schema {
            let path = order.folder.beside("schema.json", &schema.to_string())?;
            spoken.arg("--output-schema", &path);
        }
        for image in &ask.images {
            spoken.arg("--image", image);
        }
        // The prompt comes from stdin.
        spoken.arguments.push("-".to_owned());
        spoken.calls_tools = ask.calls_tools;
        spoken.input = match (&order.request.workspace, self.role) {
            (Some(workspace), Role::Target) => {
                amended(lay_out(order.folder, workspace, &[])?, order.again)
            }
            _ => ask.in_one(),
        };
        spoken.input.push_str(&stand_ins::hint(names));
        Ok(spoken)
    }

    fn hear(&self, event: &Value, heard: &mut Heard) {
        match text(event, "/type") {
            "item.completed" => hear_item(event, heard),
            "turn.completed" => {
                heard.is_done = true;
                heard.error = None;
                hear_usage(event, heard);
            }
            "turn.failed" => heard.error = Some(text(event, "/error/message").to_owned()),
            "error" if text(event, "/message").starts_with(RECONNECTING) => {}
            "error" => heard.error = Some(text(event, "/message").to_owned()),
            _ => {}
        }
    }
}

fn hear_usage(event: &Value, heard: &mut Heard) {
    let read = count(event, "/usage/input_tokens");
    let written = count(event, "/usage/output_tokens");
    if let Some((read, written)) = read.zip(written) {
        heard.add_usage(Usage {
            cached_prompt_tokens: count(event, "/usage/cached_input_tokens"),
            reasoning_tokens: count(event, "/usage/reasoning_output_tokens"),
            ..Usage::new(read, written)
        });
    }
}

fn hear_item(event: &Value, heard: &mut Heard) {
    let Some(item) = event.get("item") else { return };
    let (call, steps) = (text(item, "/id"), &mut heard.steps);
    match text(item, "/type") {
        "agent_message" => heard.say(text(item, "/text")),
        "reasoning" => steps.push("thought", text(item, "/text")),
        "command_execution" => {
            heard.turn_to_tool();
            heard.steps.push_call("command", text(item, "/command"), call);
            let output = text(item, "/aggregated_output");
            let code = item.get("exit_code").and_then(Value::as_i64).unwrap_or_default();
            let result =
                if code == 0 { output.to_owned() } else { format!("{output}\n[exit {code}]") };
            heard.steps.result(call, &result);
        }
        "file_change" => steps.push("file", &gist(item.get("changes"))),
        "mcp_tool_call" => {
            let name = format!("{} {}", text(item, "/server"), text(item, "/tool"));
            steps.push_call("tool", &format!("{name} {}", gist(item.get("arguments"))), call);
            steps.result(call, &gist(item.get("result")));
        }
        "web_search" => steps.push("search", text(item, "/query")),
        "error" => steps.push("note", text(item, "/message")),
        _ => {}
    }
}
