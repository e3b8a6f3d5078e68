//! How each program is asked, and what its output means. One file a program.

mod claude;
mod codex;
mod copilot;
mod cursor;
mod opencode;
mod pi;

use super::folder::Folder;
use super::heard::Heard;
use serde_json::Value;
use skillopt_domain::config::{Agents, BackendKind, Effort};
use skillopt_domain::spend::Role;
use skillopt_engine::ports::ChatRequest;
use std::fmt::Debug;
use std::io;

/// What one attempt is about.
#[derive(Debug)]
pub(super) struct Order<'a> {
    pub(super) request: &'a ChatRequest,
    pub(super) folder: &'a Folder,
    /// Empty for the program's own.
    pub(super) model: &'a str,
    /// The last attempt brought nothing.
    pub(super) again: bool,
    /// How hard to think, by the call or else by the role; they win over what the program's own settings say.
    pub(super) effort: Option<Effort>,
}

/// How the program is started.
#[derive(Debug, Default)]
pub(super) struct Spoken {
    pub(super) arguments: Vec<String>,
    /// The prompt, which never stands in an argument.
    pub(super) input: String,
    /// The reply holds calls of tools in our form.
    pub(super) calls_tools: bool,
    /// Variables of this call alone; they win over those that the program always gets.
    pub(super) env: Vec<(&'static str, String)>,
}

impl Spoken {
    fn new(arguments: &[&str]) -> Self {
        let arguments = arguments.iter().map(|word| (*word).to_owned()).collect();
        Self { arguments, ..Self::default() }
    }

    fn arg(&mut self, name: &str, value: &str) -> &mut Self {
        self.arguments.extend([name.to_owned(), value.to_owned()]);
        self
    }

    fn arg_if_set(&mut self, name: &str, value: &str) -> &mut Self {
        if value.is_empty() { self } else { self.arg(name, value) }
    }
}

/// One program in one way of use.
pub(super) trait Dialect: Send + Sync + Debug {
    /// All settings that shape an answer, for the ledger's key.
    fn settings(&self) -> Value;

    /// It performs tasks that stand in files.
    fn works_in_folder(&self) -> bool {
        false
    }

    /// It can be given tools that only note that they were called.
    fn runs_stand_ins(&self) -> bool {
        false
    }

    /// Variables that it needs beyond what every program gets.
    fn variables(&self) -> &'static [&'static str];

    /// Variables that it always gets.
    fn fixed(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    /// Writes what the arguments name, and says how to start.
    ///
    /// # Errors
    /// A file could not be written.
    fn speak(&self, order: &Order<'_>) -> io::Result<Spoken>;

    /// Takes in one event.
    fn hear(&self, event: &Value, heard: &mut Heard);
}

/// The dialect of a backend in a role; `None` for backends that are no programs.
pub(super) fn dialect_of(
    kind: BackendKind,
    role: Role,
    agents: &Agents,
) -> Option<Box<dyn Dialect>> {
    Some(match kind {
        BackendKind::ClaudeChat => Box::new(claude::ClaudeChat::new(&agents.claude)),
        BackendKind::ClaudeCodeExec => Box::new(claude::ClaudeCode::new(&agents.claude)),
        BackendKind::CodexExec => Box::new(codex::Codex::new(&agents.codex, role)),
        BackendKind::CursorExec => Box::new(cursor::Cursor::new(&agents.cursor)),
        BackendKind::CopilotChat => Box::new(copilot::Copilot::chat(&agents.copilot)),
        BackendKind::CopilotExec => Box::new(copilot::Copilot::exec(&agents.copilot)),
        BackendKind::PiChat => Box::new(pi::Pi),
        BackendKind::OpencodeChat => Box::new(opencode::Opencode),
        BackendKind::OpenaiChat
        | BackendKind::OpenaiCompatible
        | BackendKind::QwenChat
        | BackendKind::MinimaxChat
        | BackendKind::AnthropicMessages
        | BackendKind::Mock
        | BackendKind::Replay => return None,
    })
}

/// The nearest of the words `low`, `medium`, `high`, `xhigh`, `max`.
fn effort_word(effort: Effort) -> &'static str {
    match effort {
        Effort::None | Effort::Minimal => Effort::Low.as_str(),
        other => other.as_str(),
    }
}
