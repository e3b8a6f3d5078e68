//! The `copilot` program, as a chat without tools and as an agent in a folder. The prompt comes from stdin, which it
//! reads where no `-p` is given.

use super::super::ask::{Ask, amended};
use super::super::heard::{Heard, count, gist, text};
use super::super::stand_ins;
use super::super::workspace::lay_out;
use super::{Dialect, Order, Spoken, effort_word};
use serde_json::{Value, json};
use skillopt_domain::config::{Copilot as Settings, Effort};
use skillopt_domain::spend::Usage;
use std::io;

/// Where it looks for skills of a project.
const SKILLS: &str = ".github/skills";
const READING: &str = "view,glob,grep";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    Chat,
    Exec,
}

#[derive(Clone, Debug)]
pub(super) struct Copilot {
    settings: Settings,
    way: Use,
}

impl Copilot {
    pub(super) fn chat(settings: &Settings) -> Self {
        Self { settings: settings.clone(), way: Use::Chat }
    }

    pub(super) fn exec(settings: &Settings) -> Self {
        Self { settings: settings.clone(), way: Use::Exec }
    }

    fn allows_all(&self) -> bool {
        self.way == Use::Exec && self.settings.allow_all_tools
    }
}

impl Dialect for Copilot {
    fn settings(&self) -> Value {
        json!({"allow_all_tools": self.allows_all()})
    }

    fn works_in_folder(&self) -> bool {
        self.way == Use::Exec
    }

    fn runs_stand_ins(&self) -> bool {
        true
    }

    fn variables(&self) -> &'static [&'static str] {
        &["COPILOT_HOME", "COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN", "GH_HOST"]
    }

    fn fixed(&self) -> Vec<(&'static str, String)> {
        let mut fixed = vec![("COPILOT_AUTO_UPDATE", "false".to_owned())];
        if !self.settings.home.is_empty() {
            fixed.push(("COPILOT_HOME", self.settings.home.clone()));
        }
        fixed
    }

    fn speak(&self, order: &Order<'_>) -> io::Result<Spoken> {
        let mut spoken = Spoken::new(&[
            "--output-format",
            "json",
            "--stream",
            "off",
            "--no-color",
            "--log-level",
            "none",
            "--disable-builtin-mcps",
            "--no-custom-instructions",
        ]);
        let names = &order.request.stand_ins;
        stand_ins::lay_out(order.folder, names)?;
        let calls: Vec<String> = stand_ins::safe(names).map(stand_ins::call_of).collect();
        let shell = match self.settings.stand_in_tools.trim() {
            "" => "bash",
            tools => tools,
        };
        let tools = match (self.way, calls.is_empty()) {
            (Use::Exec, _) if self.allows_all() => "--allow-all-tools".to_owned(),
            (Use::Exec, true) => format!("--available-tools={READING}"),
            (Use::Exec, false) => format!("--available-tools={READING},{shell}"),
            (Use::Chat, true) => "--available-tools=".to_owned(),
            (Use::Chat, false) => format!("--available-tools={shell}"),
        };
        spoken.arguments.push(tools);
        if !self.allows_all() {
            // Of commands, only the stand-ins may be run without a question, and nobody is there to be asked.
            let allowed = calls.iter().map(|call| format!("--allow-tool=shell({call}:*)"));
            spoken.arguments.extend(allowed);
        }
        spoken.arg_if_set("--model", order.model);
        if let Some(effort) = order.effort {
            // It knows no `max`.
            let effort = if effort == Effort::Max { Effort::Xhigh } else { effort };
            spoken.arg("--effort", effort_word(effort));
        }
        spoken.input = match (&order.request.workspace, self.way) {
            (Some(workspace), Use::Exec) => {
                amended(lay_out(order.folder, workspace, &[SKILLS])?, order.again)
            }
            _ => Ask::of(order.request, order.folder, order.again)?.in_one(),
        };
        spoken.input.push_str(&stand_ins::hint(names));
        Ok(spoken)
    }

    fn hear(&self, event: &Value, heard: &mut Heard) {
        match text(event, "/type") {
            "assistant.message" => {
                heard.say(text(event, "/data/content"));
                let requests = event.pointer("/data/toolRequests").and_then(Value::as_array);
                if requests.is_some_and(|requests| !requests.is_empty()) {
                    heard.turn_to_tool();
                }
            }
            "assistant.reasoning" => heard.steps.push("thought", text(event, "/data/content")),
            "assistant.usage" => {
                let read = count(event, "/data/inputTokens");
                if let Some((read, written)) = read.zip(count(event, "/data/outputTokens")) {
                    let cached = count(event, "/data/cacheReadTokens");
                    let usage = Usage::new(read, written);
                    heard.add_usage(Usage { cached_prompt_tokens: cached, ..usage });
                }
            }
            "tool.execution_start" => {
                let name = text(event, "/data/toolName");
                let given = gist(event.pointer("/data/arguments"));
                let kind = if name == "bash" { "command" } else { "tool" };
                let told = if kind == "command" { given } else { format!("{name} {given}") };
                heard.steps.push_call(kind, &told, text(event, "/data/toolCallId"));
            }
            "tool.execution_complete" => {
                let result = event.pointer("/data/result").or_else(|| event.pointer("/data/error"));
                heard.steps.result(text(event, "/data/toolCallId"), &gist(result));
            }
            "session.error" => heard.error = Some(text(event, "/data/message").to_owned()),
            "assistant.turn_end" | "session.idle" | "result" => {
                heard.is_done = true;
                let code = event.get("exitCode").and_then(Value::as_i64).unwrap_or_default();
                if code != 0 && heard.error.is_none() {
                    heard.error = Some(format!("it ended with exit code {code}"));
                }
            }
            _ => {}
        }
    }
}
