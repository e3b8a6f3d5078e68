//! The `cursor-agent` program at work in a folder, in the mode that changes nothing.

use super::super::ask::{Ask, amended};
use super::super::heard::{Heard, count, gist, text};
use super::super::workspace::lay_out;
use super::{Dialect, Order, Spoken};
use serde_json::{Value, json};
use skillopt_domain::config::Cursor as Settings;
use skillopt_domain::spend::Usage;
use std::io;

/// Where it looks for skills of a project.
const SKILLS: &str = ".cursor/skills";

#[derive(Clone, Debug)]
pub(super) struct Cursor {
    settings: Settings,
}

impl Cursor {
    pub(super) fn new(settings: &Settings) -> Self {
        Self { settings: settings.clone() }
    }
}

impl Dialect for Cursor {
    fn settings(&self) -> Value {
        json!({"sandbox": self.settings.sandbox, "mode": "ask"})
    }

    fn works_in_folder(&self) -> bool {
        true
    }

    fn variables(&self) -> &'static [&'static str] {
        &["CURSOR_API_KEY", "CURSOR_CONFIG_DIR", "CURSOR_DATA_DIR"]
    }

    fn speak(&self, order: &Order<'_>) -> io::Result<Spoken> {
        let mut spoken =
            Spoken::new(&["-p", "--output-format", "stream-json", "--trust", "--mode", "ask"]);
        spoken.arg("--workspace", &order.folder.work().to_string_lossy());
        spoken.arg_if_set("--sandbox", &self.settings.sandbox);
        spoken.arg_if_set("--model", order.model);
        spoken.input = match &order.request.workspace {
            Some(workspace) => amended(lay_out(order.folder, workspace, &[SKILLS])?, order.again),
            None => Ask::of(order.request, order.folder, order.again)?.in_one(),
        };
        Ok(spoken)
    }

    fn hear(&self, event: &Value, heard: &mut Heard) {
        match text(event, "/type") {
            "assistant" => {
                let blocks = event.pointer("/message/content").and_then(Value::as_array);
                for block in blocks.into_iter().flatten() {
                    heard.say(text(block, "/text"));
                }
            }
            "tool_call" => hear_call(event, heard),
            "result" => hear_result(event, heard),
            _ => {}
        }
    }
}

/// `{"tool_call": {"readToolCall": {"args": …, "result": …}}}`.
fn hear_call(event: &Value, heard: &mut Heard) {
    let call = text(event, "/call_id");
    let tools = event.get("tool_call").and_then(Value::as_object);
    let Some((name, tool)) = tools.and_then(|tools| tools.iter().next()) else { return };
    if text(event, "/subtype") == "started" {
        heard.turn_to_tool();
        let name = name.trim_end_matches("ToolCall");
        let kind = if name == "shell" { "command" } else { "tool" };
        let given = gist(tool.get("args"));
        let told = if kind == "command" { given } else { format!("{name} {given}") };
        heard.steps.push_call(kind, &told, call);
    } else {
        let result = tool.get("result");
        let inner = result.and_then(|result| result.get("success").or_else(|| result.get("error")));
        heard.steps.result(call, &gist(inner.or(result)));
    }
}

fn hear_result(event: &Value, heard: &mut Heard) {
    heard.is_done = true;
    let result = text(event, "/result");
    // All that it said stands in the result; the last message is its end.
    if heard.answer.is_empty() || !result.ends_with(&heard.answer) {
        heard.answer = result.to_owned();
    }
    if event.get("is_error").and_then(Value::as_bool).unwrap_or_default() {
        heard.error = Some(result.to_owned());
    }
    let read = count(event, "/usage/inputTokens");
    if let Some((read, written)) = read.zip(count(event, "/usage/outputTokens")) {
        let cached = count(event, "/usage/cacheReadTokens");
        heard.add_usage(Usage { cached_prompt_tokens: cached, ..Usage::new(read, written) });
    }
}
