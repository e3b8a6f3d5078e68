//! The backends: what each is called, which roles it can play, and what it can do. Checks of configs, the dashboard's
//! Models page and `docs/backends.md` all read this table.

use crate::spend::Role;
use serde::{Deserialize, Serialize};

/// Which adapter serves a role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum BackendKind {
    /// OpenAI's own API, or Azure's.
    OpenaiChat,
    /// Any server with OpenAI's chat completions.
    OpenaiCompatible,
    /// Qwen models, whose thinking can be switched.
    QwenChat,
    /// `MiniMax`, by region.
    MinimaxChat,
    /// Anthropic's Messages API.
    AnthropicMessages,
    /// The `claude` program without tools.
    ClaudeChat,
    /// The `claude` program at work in a folder.
    ClaudeCodeExec,
    /// The `codex` program.
    CodexExec,
    /// The `cursor-agent` program at work in a folder.
    CursorExec,
    /// The `copilot` program without tools.
    CopilotChat,
    /// The `copilot` program at work in a folder.
    CopilotExec,
    /// The `pi` program without tools.
    PiChat,
    /// The `opencode` program without tools.
    OpencodeChat,
    /// The deterministic simulation.
    Mock,
    /// Recorded replies.
    Replay,
}

/// How a backend is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum BackendFamily {
    /// Over HTTP.
    Http,
    /// As a program on this machine.
    Program,
    /// Inside of SkillOpt: no real model answers.
    Simulated,
}

/// Something that a backend can do beyond answering a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Capability {
    /// Replies can be streamed.
    Streaming,
    /// The model can call tools that we describe.
    Tools,
    /// Messages can carry images.
    Images,
    /// A reply can be held to a JSON schema.
    JsonSchema,
    /// How hard the model thinks can be set, call by call.
    ReasoningEffort,
    /// Tokens are reported.
    Usage,
    /// The token limit of a reply holds.
    TokenLimit,
    /// The skill is a file that the agent reads in its own folder.
    Workspace,
}

impl Capability {
    /// All, in the order of tables.
    pub const ALL: [Self; 8] = [
        Self::Streaming,
        Self::Tools,
        Self::Images,
        Self::JsonSchema,
        Self::ReasoningEffort,
        Self::Usage,
        Self::TokenLimit,
        Self::Workspace,
    ];

    /// The head of its column.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Streaming => "Streaming",
            Self::Tools => "Tools",
            Self::Images => "Images",
            Self::JsonSchema => "JSON schema",
            Self::ReasoningEffort => "Reasoning effort",
            Self::Usage => "Token counts",
            Self::TokenLimit => "Token limit",
            Self::Workspace => "Skill as a file",
        }
    }
}

/// One backend.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BackendSpec {
    /// Which.
    pub kind: BackendKind,
    /// The word in configs.
    pub name: &'static str,
    /// The name for people.
    pub label: &'static str,
    /// How it is reached.
    pub family: BackendFamily,
    /// It can propose edits. Every backend can perform tasks.
    pub optimizes: bool,
    /// Other spellings that are taken.
    pub aliases: &'static [&'static str],
    /// The model when none is named; empty when one must be named, or when the program has its own.
    pub default_model: &'static str,
    /// What it can do.
    pub capabilities: &'static [Capability],
}

use BackendFamily::{Http, Program, Simulated};
use BackendKind as Kind;
use Capability::{
    Images, JsonSchema, ReasoningEffort, Streaming, TokenLimit, Tools, Usage, Workspace,
};

const fn backend(
    kind: BackendKind,
    name: &'static str,
    label: &'static str,
    family: BackendFamily,
    capabilities: &'static [Capability],
) -> BackendSpec {
    BackendSpec {
        kind,
        name,
        label,
        family,
        optimizes: true,
        aliases: &[],
        default_model: "",
        capabilities,
    }
}

impl BackendSpec {
    const fn or(mut self, aliases: &'static [&'static str]) -> Self {
        self.aliases = aliases;
        self
    }

    const fn model(mut self, name: &'static str) -> Self {
        self.default_model = name;
        self
    }

    const fn target_only(mut self) -> Self {
        self.optimizes = false;
        self
    }

    /// It can play the role.
    #[must_use]
    pub fn serves(&self, role: Role) -> bool {
        match role {
            Role::Target => true,
            Role::Optimizer => self.optimizes,
        }
    }

    /// It can do that.
    #[must_use]
    pub fn can(&self, capability: Capability) -> bool {
        self.capabilities.contains(&capability)
    }
}

/// All backends, in the order of tables.
pub const BACKENDS: [BackendSpec; 15] = [
    backend(
        Kind::OpenaiChat,
        "openai_chat",
        "OpenAI, Azure OpenAI",
        Http,
        &[Streaming, Tools, Images, JsonSchema, ReasoningEffort, Usage, TokenLimit],
    )
    .or(&["azure_openai", "azure", "azure-openai"]),
    backend(
        Kind::OpenaiCompatible,
        "openai_compatible",
        "OpenAI-compatible server",
        Http,
        &[Streaming, Tools, Images, JsonSchema, ReasoningEffort, Usage, TokenLimit],
    )
    .or(&["compat", "openai-compatible", "openai_compatible_chat"]),
    backend(
        Kind::QwenChat,
        "qwen_chat",
        "Qwen",
        Http,
        &[Streaming, Tools, Images, JsonSchema, ReasoningEffort, Usage, TokenLimit],
    )
    .or(&["qwen"])
    .model("Qwen/Qwen3.5-4B"),
    backend(
        Kind::MinimaxChat,
        "minimax_chat",
        "MiniMax",
        Http,
        &[Streaming, Tools, Images, JsonSchema, ReasoningEffort, Usage, TokenLimit],
    )
    .or(&["minimax"])
    .model("MiniMax-M3"),
    backend(
        Kind::AnthropicMessages,
        "anthropic_messages",
        "Anthropic",
        Http,
        &[Streaming, Tools, Images, JsonSchema, ReasoningEffort, Usage, TokenLimit],
    ),
    backend(
        Kind::ClaudeChat,
        "claude_chat",
        "Claude Code, chat",
        Program,
        &[Tools, Images, JsonSchema, ReasoningEffort, Usage],
    )
    .or(&["claude", "anthropic"])
    .model("claude-sonnet-4-6"),
    backend(
        Kind::ClaudeCodeExec,
        "claude_code_exec",
        "Claude Code, agent",
        Program,
        &[Images, ReasoningEffort, Usage, Workspace],
    )
    .or(&["claude_code"])
    .model("claude-sonnet-4-6")
    .target_only(),
    backend(
        Kind::CodexExec,
        "codex_exec",
        "Codex",
        Program,
        &[Tools, Images, JsonSchema, ReasoningEffort, Usage, Workspace],
    )
    .or(&["codex"]),
    backend(Kind::CursorExec, "cursor_exec", "Cursor, agent", Program, &[Workspace])
        .or(&["cursor", "cursor_agent"])
        .model("composer-2.5"),
    backend(Kind::CopilotChat, "copilot_chat", "GitHub Copilot, chat", Program, &[ReasoningEffort])
        .or(&["copilot", "copilot_cli", "github_copilot"]),
    backend(
        Kind::CopilotExec,
        "copilot_exec",
        "GitHub Copilot, agent",
        Program,
        &[ReasoningEffort, Workspace],
    )
    .target_only(),
    backend(Kind::PiChat, "pi_chat", "Pi, chat", Program, &[Usage]).or(&[
        "pi",
        "pi_cli",
        "pi_coding_agent",
        "pi-coding-agent",
    ]),
    backend(Kind::OpencodeChat, "opencode_chat", "OpenCode, chat", Program, &[Usage]).or(&[
        "opencode",
        "opencode_cli",
        "opencode-cli",
    ]),
    backend(Kind::Mock, "mock", "Simulation", Simulated, &[Usage, TokenLimit]),
    backend(Kind::Replay, "replay", "Recorded replies", Simulated, &[Usage]),
];

impl BackendKind {
    /// Its row in the table.
    #[must_use]
    pub fn spec(self) -> &'static BackendSpec {
        // Every kind has a row, which a test holds.
        BACKENDS.iter().find(|spec| spec.kind == self).unwrap_or(&BACKENDS[0])
    }

    /// The word in configs.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.spec().name
    }

    /// No real model answers: a simulation does, or a recording.
    #[must_use]
    pub fn is_simulated(self) -> bool {
        self.spec().family == Simulated
    }

    /// The backend with this name or alias.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        BACKENDS
            .iter()
            .find(|spec| spec.name == word || spec.aliases.contains(&word))
            .map(|spec| spec.kind)
    }

    /// What serves a role when this is given for both, as in `model.backend`. As in the Python system backends that
    /// people train for, rather than with, leave the optimizer to `openai_chat`.
    #[must_use]
    pub fn for_role(self, role: Role) -> Self {
        let for_target_only = !self.spec().optimizes
            || matches!(self, Self::QwenChat | Self::MinimaxChat | Self::CursorExec);
        match role {
            Role::Optimizer if for_target_only => Self::OpenaiChat,
            Role::Optimizer | Role::Target => self,
        }
    }
}

/// The names of all backends, for forms and messages.
pub(super) const NAMES: [&str; BACKENDS.len()] = names_of(false);

/// The names of those that can propose edits.
pub(super) const OPTIMIZER_NAMES: [&str; OPTIMIZERS] = names_of(true);

const OPTIMIZERS: usize = {
    let (mut count, mut at) = (0, 0);
    while at < BACKENDS.len() {
        count += BACKENDS[at].optimizes as usize;
        at += 1;
    }
    count
};

const fn names_of<const N: usize>(optimizers_only: bool) -> [&'static str; N] {
    let mut names = [""; N];
    let (mut found, mut at) = (0, 0);
    while at < BACKENDS.len() {
        if BACKENDS[at].optimizes || !optimizers_only {
            names[found] = BACKENDS[at].name;
            found += 1;
        }
        at += 1;
    }
    names
}

/// The words of [`Effort::ALL`], for forms and messages.
pub(super) const EFFORT_WORDS: [&str; 7] =
    ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

/// How hard a model thinks before it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effort {
    /// Not at all.
    None,
    /// As little as it can.
    Minimal,
    /// Little.
    Low,
    /// The usual.
    Medium,
    /// Much.
    High,
    /// More.
    Xhigh,
    /// As much as it can.
    Max,
}

impl Effort {
    /// All, from least to most.
    pub const ALL: [Self; 7] =
        [Self::None, Self::Minimal, Self::Low, Self::Medium, Self::High, Self::Xhigh, Self::Max];

    /// The word in configs and on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Minimal => "minimal",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Xhigh => "xhigh",
            Self::Max => "max",
        }
    }

    /// The effort with this word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|effort| effort.as_str() == word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_backend_has_one_row_and_each_name_one_meaning() {
        let mut words: Vec<&str> = BACKENDS
            .iter()
            .flat_map(|spec| std::iter::once(&spec.name).chain(spec.aliases))
            .copied()
            .collect();
        let all = words.len();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), all, "a name or alias stands twice");
        for spec in &BACKENDS {
            assert_eq!(spec.kind.spec().name, spec.name);
            assert_eq!(BackendKind::parse(spec.name), Some(spec.kind));
            let wire = serde_json::to_value(spec.kind).expect("a word");
            assert_eq!(wire, spec.name, "the stored word is the word in configs");
        }
    }

    #[test]
    fn each_effort_has_its_word() {
        assert_eq!(Effort::ALL.map(Effort::as_str), EFFORT_WORDS);
    }

    #[test]
    fn a_label_for_both_roles_leaves_the_optimizer_to_openai_where_it_is_for_targets() {
        let optimizer = |kind: BackendKind| kind.for_role(Role::Optimizer);
        assert_eq!(optimizer(BackendKind::CursorExec), BackendKind::OpenaiChat);
        assert_eq!(optimizer(BackendKind::QwenChat), BackendKind::OpenaiChat);
        assert_eq!(optimizer(BackendKind::CodexExec), BackendKind::CodexExec);
        assert!(BACKENDS.iter().all(|spec| spec.kind.for_role(Role::Optimizer).spec().optimizes));
    }
}
