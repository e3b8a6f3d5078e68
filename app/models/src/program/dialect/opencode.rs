//! The `opencode` program as a chat: an agent of our own without tools, by a configuration that is no file. Stand-ins for
//! tools are scripts in a folder of settings that belongs to the call.

use super::super::ask::Ask;
use super::super::heard::{Heard, count, gist, text};
use super::super::stand_ins;
use super::{Dialect, Order, Spoken};
use serde_json::{Value, json};
use skillopt_domain::spend::Usage;
use std::io;

const AGENT: &str = "skillopt-chat";
/// Takes the place of its own prompt, which is about code.
const SYSTEM: &str = "Follow the instructions in the message of the user.";

/// How the names of stand-ins begin: none may be that of a tool that really does something.
const STAND_IN: &str = "skillopt_stand_in_";
/// A tool that does nothing. It takes whatever it is given.
const SCRIPT: &str = "export default {\n  description: \"A stand-in: it notes that it was called.\",\n  args: {},\n  \
                      async execute() {\n    return \"The call was noted. This is a rehearsal: no live result exists. \
                      Go on with the task.\"\n  },\n}\n";

#[derive(Clone, Copy, Debug)]
pub(super) struct Opencode;

/// Variables that deny everything but these tools.
fn settings(tools: &[String]) -> Vec<(&'static str, String)> {
    let (mut permission, mut switches) = (json!({"*": "deny"}), json!({"*": false}));
    for tool in tools {
        permission[tool] = "allow".into();
        switches[tool] = true.into();
    }
    let agent = json!({
        "mode": "primary", "prompt": SYSTEM, "tools": switches, "permission": permission
    });
    let config = json!({
        "snapshot": false, "share": "disabled", "autoupdate": false,
        "permission": permission, "agent": {AGENT: agent}
    });
    vec![
        ("OPENCODE_PERMISSION", permission.to_string()),
        ("OPENCODE_CONFIG_CONTENT", config.to_string()),
    ]
}

impl Dialect for Opencode {
    fn settings(&self) -> Value {
        json!({"system": SYSTEM})
    }

    fn variables(&self) -> &'static [&'static str] {
        &["OPENCODE_CONFIG_DIR"]
    }

    fn fixed(&self) -> Vec<(&'static str, String)> {
        let switches = [
            "OPENCODE_DISABLE_AUTOUPDATE",
            "OPENCODE_DISABLE_EXTERNAL_SKILLS",
            "OPENCODE_DISABLE_PROJECT_CONFIG",
            "OPENCODE_DISABLE_SHARE",
            "OPENCODE_DISABLE_TERMINAL_TITLE",
        ];
        let mut fixed: Vec<_> = switches.map(|name| (name, "1".to_owned())).to_vec();
        fixed.extend(settings(&[]));
        fixed
    }

    fn runs_stand_ins(&self) -> bool {
        true
    }

    fn speak(&self, order: &Order<'_>) -> io::Result<Spoken> {
        let mut spoken = Spoken::new(&["run", "--pure", "--format", "json", "--agent", AGENT]);
        spoken.arg("--title", "skillopt").arg("--dir", &order.folder.work().to_string_lossy());
        spoken.arg_if_set("--model", order.model);
        spoken.input = Ask::of(order.request, order.folder, order.again)?.in_one();
        let names: Vec<&str> = stand_ins::safe(&order.request.stand_ins).collect();
        if !names.is_empty() {
            let own: Vec<String> = names.iter().map(|name| format!("{STAND_IN}{name}")).collect();
            for name in &own {
                order.folder.beside_in("opencode/tools", &format!("{name}.js"), SCRIPT)?;
            }
            spoken.env = settings(&own);
            spoken.env.push(("OPENCODE_CONFIG_DIR", order.folder.path_beside("opencode")));
            spoken.input.push_str(&format!(
                "\n\nTools: {}. They stand for {}, in this order. You have no others.",
                own.join(", "),
                names.join(", ")
            ));
        }
        Ok(spoken)
    }

    fn hear(&self, event: &Value, heard: &mut Heard) {
        match text(event, "/type") {
            "text" => heard.say(text(event, "/part/text")),
            "reasoning" => heard.steps.push("thought", text(event, "/part/text")),
            "tool_use" => {
                let call = text(event, "/part/callID");
                let given = gist(event.pointer("/part/state/input"));
                heard.turn_to_tool();
                let name = text(event, "/part/tool").strip_prefix(STAND_IN);
                let is_done = text(event, "/part/state/status") == "completed";
                if let Some(name) = name.filter(|_| is_done) {
                    heard.called.push(name.to_owned());
                }
                let told = format!("{} {given}", text(event, "/part/tool"));
                heard.steps.push_call("tool", &told, call);
                heard.steps.result(call, &gist(event.pointer("/part/state/output")));
            }
            "step_finish" => hear_finish(event, heard),
            "error" => {
                let told = text(event, "/error/data/message");
                let told = if told.is_empty() { text(event, "/error/name") } else { told };
                heard.error = Some(told.to_owned());
            }
            _ => {}
        }
    }
}

fn hear_finish(event: &Value, heard: &mut Heard) {
    let read = count(event, "/part/tokens/input");
    if let Some((read, written)) = read.zip(count(event, "/part/tokens/output")) {
        let cached = count(event, "/part/tokens/cache/read");
        let created = count(event, "/part/tokens/cache/write");
        let reasoning = count(event, "/part/tokens/reasoning");
        heard.add_usage(Usage {
            cached_prompt_tokens: cached,
            cache_write_tokens: created,
            reasoning_tokens: reasoning,
            ..Usage::new(
                read + created.unwrap_or_default() + cached.unwrap_or_default(),
                written + reasoning.unwrap_or_default(),
            )
        });
    }
    // A subscription is told as no cost.
    let dollars = event.pointer("/part/cost").and_then(Value::as_f64);
    if let Some(dollars) = dollars.filter(|dollars| *dollars > 0.0) {
        heard.add_cost(dollars);
    }
    match text(event, "/part/reason") {
        "tool-calls" => {}
        "length" => (heard.is_done, heard.is_cut) = (true, true),
        _ => heard.is_done = true,
    }
}
