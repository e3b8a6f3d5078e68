//! The `claude` program, as a chat without tools and as an agent in a folder. Both speak its stream of JSON lines.

use super::super::ask::{Ask, amended};
use super::super::heard::{Heard, count, gist, text};
use super::super::stand_ins;
use super::super::workspace::lay_out;
use super::{Dialect, Order, Spoken, effort_word};
use serde_json::{Value, json};
use skillopt_domain::config::{Claude, Effort};
use skillopt_domain::spend::Usage;
use std::io;

const VARIABLES: &[&str] = &[
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_BASE_URL",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CONFIG_DIR",
];
/// Where it looks for skills of a project.
const SKILLS: &str = ".claude/skills";
/// What it is without a system message of ours.
const PLAIN_SYSTEM: &str = "Answer the message of the user.";
/// Reading stays in the folder.
const READ_HERE: &str = "Read(./**)";
const READING: [&str; 3] = ["Read", "Glob", "Grep"];

/// What both ways of use start with: nothing is kept, and nothing of the user's is read unless asked for.
fn started(setting_sources: &str) -> Spoken {
    let mut spoken = Spoken::new(&[
        "-p",
        "--output-format",
        "stream-json",
        "--verbose",
        "--no-session-persistence",
        "--strict-mcp-config",
        "--disable-slash-commands",
    ]);
    spoken.arg("--setting-sources", setting_sources);
    spoken
}

/// A version that changed within a run would be another model.
fn fixed() -> Vec<(&'static str, String)> {
    vec![
        ("DISABLE_AUTOUPDATER", "1".to_owned()),
        ("DISABLE_TELEMETRY", "1".to_owned()),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".to_owned()),
    ]
}

/// Without tools.
#[derive(Clone, Debug)]
pub(super) struct ClaudeChat {
    setting_sources: String,
}

impl ClaudeChat {
    pub(super) fn new(settings: &Claude) -> Self {
        Self { setting_sources: settings.setting_sources.clone() }
    }
}

impl Dialect for ClaudeChat {
    fn settings(&self) -> Value {
        json!({"setting_sources": self.setting_sources})
    }

    fn runs_stand_ins(&self) -> bool {
        true
    }

    fn variables(&self) -> &'static [&'static str] {
        VARIABLES
    }

    fn fixed(&self) -> Vec<(&'static str, String)> {
        fixed()
    }

    fn speak(&self, order: &Order<'_>) -> io::Result<Spoken> {
        let ask = Ask::of(order.request, order.folder, order.again)?;
        let mut spoken = started(&self.setting_sources);
        spoken.arg("--permission-mode", "dontAsk");
        // Everything that is not allowed by name is denied: of commands, only the stand-ins.
        let names = &order.request.stand_ins;
        stand_ins::lay_out(order.folder, names)?;
        let commands = stand_ins::safe(names).map(stand_ins::call_of);
        let mut allowed: Vec<String> = commands.map(|call| format!("Bash({call}:*)")).collect();
        let mut tools: Vec<&str> = if allowed.is_empty() { Vec::new() } else { vec!["Bash"] };
        if !ask.images.is_empty() {
            tools.push("Read");
            allowed.push(READ_HERE.to_owned());
        }
        spoken.arg("--tools", &tools.join(","));
        spoken.arg_if_set("--allowedTools", &allowed.join(","));
        let system = if ask.system.is_empty() { PLAIN_SYSTEM } else { &ask.system };
        spoken.arg("--system-prompt-file", &order.folder.beside("system.md", system)?);
        spoken.arg_if_set("--model", order.model);
        spoken.arg_if_set("--effort", order.effort.map(effort_word).unwrap_or_default());
        if let Some(schema) = &ask.schema {
            spoken.arg("--json-schema", &schema.to_string());
        }
        spoken.calls_tools = ask.calls_tools;
        spoken.input = ask.prompt + &stand_ins::hint(names);
        Ok(spoken)
    }

    fn hear(&self, event: &Value, heard: &mut Heard) {
        hear(event, heard);
    }
}

/// At work in a folder.
#[derive(Clone, Debug)]
pub(super) struct ClaudeCode {
    settings: Claude,
}

impl ClaudeCode {
    pub(super) fn new(settings: &Claude) -> Self {
        Self { settings: settings.clone() }
    }

    /// Reading tools are allowed in the folder; others that the config lists, wherever they reach.
    fn allowed(&self) -> String {
        let others = self.settings.tools.iter().filter(|tool| !READING.contains(&tool.as_str()));
        std::iter::once(READ_HERE).chain(others.map(String::as_str)).collect::<Vec<_>>().join(",")
    }

    fn effort(&self, wanted: Option<Effort>) -> &'static str {
        wanted.or(self.settings.effort).map(effort_word).unwrap_or_default()
    }
}

impl Dialect for ClaudeCode {
    fn settings(&self) -> Value {
        json!({
            "setting_sources": self.settings.setting_sources,
            "permission_mode": self.settings.permission_mode,
            "tools": self.settings.tools,
            "effort": self.settings.effort,
            "max_thinking_tokens": self.settings.max_thinking_tokens,
        })
    }

    fn works_in_folder(&self) -> bool {
        true
    }

    fn variables(&self) -> &'static [&'static str] {
        VARIABLES
    }

    fn fixed(&self) -> Vec<(&'static str, String)> {
        let mut fixed = fixed();
        fixed.push(("MAX_THINKING_TOKENS", self.settings.max_thinking_tokens.to_string()));
        fixed
    }

    fn speak(&self, order: &Order<'_>) -> io::Result<Spoken> {
        let ask = Ask::of(order.request, order.folder, order.again)?;
        let mut spoken = started(&self.settings.setting_sources);
        spoken.arg("--permission-mode", &self.settings.permission_mode);
        spoken.arg("--tools", &self.settings.tools.join(","));
        spoken.arg("--allowedTools", &self.allowed());
        spoken.arg_if_set("--model", order.model);
        spoken.arg_if_set("--effort", self.effort(order.effort));
        spoken.input = match &order.request.workspace {
            Some(workspace) => amended(lay_out(order.folder, workspace, &[SKILLS])?, order.again),
            None => ask.in_one(),
        };
        Ok(spoken)
    }

    fn hear(&self, event: &Value, heard: &mut Heard) {
        hear(event, heard);
    }
}

fn hear(event: &Value, heard: &mut Heard) {
    match text(event, "/type") {
        "assistant" => {
            for block in blocks(event) {
                hear_block(block, heard);
            }
        }
        "user" => {
            for block in blocks(event).filter(|block| text(block, "/type") == "tool_result") {
                heard.steps.result(text(block, "/tool_use_id"), &gist(block.get("content")));
            }
        }
        "result" => hear_result(event, heard),
        _ => {}
    }
}

fn blocks(event: &Value) -> impl Iterator<Item = &Value> {
    event.pointer("/message/content").and_then(Value::as_array).into_iter().flatten()
}

fn hear_block(block: &Value, heard: &mut Heard) {
    match text(block, "/type") {
        "text" => heard.say(text(block, "/text")),
        "thinking" => heard.steps.push("thought", text(block, "/thinking")),
        "tool_use" => {
            heard.turn_to_tool();
            let name = text(block, "/name");
            let given = gist(block.get("input"));
            let kind = if name == "Bash" { "command" } else { "tool" };
            let told = if name == "Bash" { given } else { format!("{name} {given}") };
            heard.steps.push_call(kind, &told, text(block, "/id"));
        }
        _ => {}
    }
}

fn hear_result(event: &Value, heard: &mut Heard) {
    heard.is_done = true;
    if let Some(dollars) = event.get("total_cost_usd").and_then(Value::as_f64) {
        heard.add_cost(dollars);
    }
    if let Some(written) = count(event, "/usage/output_tokens") {
        let cached = count(event, "/usage/cache_read_input_tokens");
        let others = ["/usage/input_tokens", "/usage/cache_creation_input_tokens"];
        let read = others.iter().filter_map(|path| count(event, path)).sum::<u64>();
        heard.add_usage(Usage {
            cached_prompt_tokens: cached,
            cache_write_tokens: count(event, "/usage/cache_creation_input_tokens"),
            ..Usage::new(read + cached.unwrap_or_default(), written)
        });
    }
    let result = text(event, "/result");
    match event.get("structured_output") {
        Some(structured) if !structured.is_null() => heard.answer = structured.to_string(),
        _ if !result.is_empty() => heard.answer = result.to_owned(),
        _ => {}
    }
    match text(event, "/stop_reason") {
        "refusal" => heard.is_refused = true,
        "max_tokens" => heard.is_cut = true,
        _ => {}
    }
    let subtype = text(event, "/subtype");
    let has_failed = event.get("is_error").and_then(Value::as_bool).unwrap_or_default();
    if has_failed || !matches!(subtype, "" | "success") {
        let errors = event.get("errors").and_then(Value::as_array).into_iter().flatten();
        let mut words: Vec<&str> = errors.filter_map(Value::as_str).collect();
        words.insert(0, if result.is_empty() { subtype } else { result });
        heard.error = Some(words.join("; "));
    }
}
