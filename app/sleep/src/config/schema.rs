//! The table of keys: the reference system's names and defaults, and our own additions. Documentation is made of it.

use serde::Serialize;

/// What a key takes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Kind {
    /// `true` or `false`.
    Bool,
    /// `true`, `false` or `null` for neither.
    BoolOrNull,
    /// A whole number within bounds.
    Int {
        /// Lowest allowed.
        min: u64,
        /// Highest allowed.
        max: u64,
    },
    /// A whole number within bounds, or `null` for none.
    IntOrNull {
        /// Lowest allowed.
        min: u64,
        /// Highest allowed.
        max: u64,
    },
    /// A number within bounds.
    Float {
        /// Lowest allowed.
        min: f64,
        /// Highest allowed.
        max: f64,
    },
    /// A number within bounds, or `null` for none.
    FloatOrNull {
        /// Lowest allowed.
        min: f64,
        /// Highest allowed.
        max: f64,
    },
    /// Free text.
    Text,
    /// A path; `~` is the home folder.
    Path,
    /// A list of paths.
    Paths,
    /// One of a few words.
    Choice {
        /// The words.
        options: &'static [&'static str],
    },
    /// The name of a backend; empty for none.
    Backend,
    /// `invoked`, `all`, or a list of absolute paths.
    Projects,
}

/// One key.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// What it takes.
    pub kind: Kind,
    /// The default, as JSON.
    pub default: &'static str,
    /// One sentence.
    pub help: &'static str,
    /// The reference system does not have it.
    pub is_addition: bool,
}

use Kind::{
    Backend, Bool, BoolOrNull, Choice, Float, FloatOrNull, Int, IntOrNull, Path, Paths, Text,
};

const COUNT: Kind = Int { min: 0, max: 1_000_000 };
const SHARE: Kind = Float { min: 0.0, max: 1.0 };
const WEIGHT: Kind = Float { min: 0.0, max: 1000.0 };
const TOKENS: Kind = IntOrNull { min: 1, max: 10_000_000 };
pub(super) const SOURCES: &[&str] =
    &["claude", "codex", "copilot", "copilot_cli", "cursor", "pi", "opencode", "devin", "auto"];
const GATE_MODES: &[&str] = &["on", "off", "none", "false", "greedy"];

const fn key(name: &'static str, kind: Kind, default: &'static str, help: &'static str) -> Key {
    Key { name, kind, default, help, is_addition: false }
}

const fn ours(name: &'static str, kind: Kind, default: &'static str, help: &'static str) -> Key {
    Key { name, kind, default, help, is_addition: true }
}

/// All keys.
pub const KEYS: &[Key] = &[
    key("claude_home", Path, "\"~/.claude\"", "Home of Claude Code."),
    key("codex_home", Path, "\"~/.codex\"", "Home of Codex."),
    key("pi_home", Path, "\"~/.pi\"", "Home of Pi."),
    key("cursor_home", Path, "\"~/.cursor\"", "Home of Cursor."),
    key(
        "vscode_workspace_storage",
        Path,
        "\"\"",
        "`workspaceStorage` of VS Code; empty looks in the usual places.",
    ),
    key(
        "copilot_cli_session_store",
        Path,
        "\"\"",
        "Database of Copilot CLI; empty looks in the usual place.",
    ),
    key(
        "opencode_db",
        Path,
        "\"\"",
        "Database of OpenCode; empty looks in the usual places, `:memory:` is none.",
    ),
    key(
        "transcript_source",
        Choice { options: SOURCES },
        "\"claude\"",
        "Whose transcripts are read; `auto` looks at all.",
    ),
    key("projects", Kind::Projects, "\"invoked\"", "Sessions of which projects count."),
    key("invoked_project", Path, "\"\"", "The project; empty is the working directory."),
    key(
        "lookback_hours",
        IntOrNull { min: 0, max: 1_000_000 },
        "72",
        "How far the first harvest of a project looks back, in hours; 0 or null is the whole history.",
    ),
    key("max_tasks_per_night", Int { min: 1, max: 100_000 }, "40", "The most tasks of a night."),
    key(
        "max_sessions_per_night",
        IntOrNull { min: 0, max: 1_000_000 },
        "null",
        "The most sessions of a night; null is three times the tasks.",
    ),
    key(
        "max_tokens_per_night",
        Int { min: 0, max: 1_000_000_000_000 },
        "400000",
        "The most tokens of a night; it holds. 0 is no limit.",
    ),
    key(
        "holdout_fraction",
        SHARE,
        "0.34",
        "Older name of `val_fraction`, which wins when both are set.",
    ),
    key("val_fraction", SHARE, "0.34", "Share of tasks that the gate measures on."),
    key(
        "test_fraction",
        SHARE,
        "0.0",
        "Share of tasks that are measured at the end and fed to nobody.",
    ),
    key("backend", Backend, "\"mock\"", "The backend of both roles."),
    key("model", Text, "\"\"", "The model of both roles; empty is the backend's own."),
    key(
        "optimizer_backend",
        Backend,
        "\"\"",
        "The backend that reflects, mines and judges; empty is `backend`.",
    ),
    key("optimizer_model", Text, "\"\"", "Its model; empty is `model`."),
    key("target_backend", Backend, "\"\"", "The backend that performs tasks; empty is `backend`."),
    key("target_model", Text, "\"\"", "Its model; empty is `model`."),
    key("azure_endpoint", Text, "\"\"", "Address of Azure OpenAI; several with commas."),
    key("codex_path", Path, "\"\"", "The `codex` program; empty searches for it."),
    key("pi_path", Path, "\"\"", "The `pi` program; empty searches for it."),
    key("cursor_path", Path, "\"\"", "The `cursor-agent` program; empty searches for it."),
    key("opencode_path", Path, "\"\"", "The `opencode` program; empty searches for it."),
    key(
        "opencode_tool_replay",
        Bool,
        "false",
        "OpenCode calls made-up tools of its own for tasks with tools; otherwise it names them in its text.",
    ),
    key("state_dir", Path, "\"~/.skillopt-sleep\"", "Where nights keep what they remember."),
    key("edit_budget", COUNT, "4", "The most edits of a night and document."),
    key("preferences", Text, "\"\"", "What the optimizer is told about your taste."),
    key(
        "gate_mode",
        Choice { options: GATE_MODES },
        "\"on\"",
        "Whether edits must prove themselves; `off`, `none`, `false` and `greedy` take all of them.",
    ),
    key(
        "gate_metric",
        Choice { options: &["hard", "soft", "mixed"] },
        "\"mixed\"",
        "What the gate compares.",
    ),
    key("gate_mixed_weight", SHARE, "0.5", "Share of the soft score in `mixed`."),
    key("gate_no_regression", Bool, "false", "No single task may get worse."),
    key(
        "replay_mode",
        Text,
        "\"mock\"",
        "A word that the report shows beside the backend when you set it; it changes nothing.",
    ),
    key(
        "dream_rollouts",
        Int { min: 1, max: 100 },
        "1",
        "Attempts a task; more of them are contrasted.",
    ),
    key("dream_factor", Int { min: 0, max: 100 }, "0", "Variants a task."),
    key("recall_k", COUNT, "0", "Older tasks that join the training tasks."),
    key("evolve_memory", Bool, "true", "The memory may change."),
    key("evolve_skill", Bool, "true", "The managed skill may change."),
    key("llm_mine", Bool, "true", "A model finds tasks; without it, or with `mock`, rules do."),
    key(
        "target_skill_path",
        Path,
        "\"\"",
        "The managed skill's file, a `SKILL.md`; empty is below `claude_home`.",
    ),
    key("skill_roots", Paths, "[]", "More folders in which skills are found by name."),
    key("target_task_filter", Bool, "true", "Only tasks that fit `target_skill_path`."),
    key("progress", Bool, "false", "Tell on standard error how the night goes."),
    key("evidence_log", Bool, "true", "Keep what led to the decision."),
    key(
        "evidence_max_chars",
        Int { min: 200, max: 10_000_000 },
        "4000",
        "The most characters of a text in it.",
    ),
    key(
        "multi_skill_fanout",
        BoolOrNull,
        "null",
        "Each skill that sessions used gets its own proposal; null asks `multi_skill_report`.",
    ),
    key("multi_skill_report", Bool, "false", "Older name of `multi_skill_fanout`."),
    key(
        "auto_adopt",
        Bool,
        "false",
        "Adopt an accepted proposal for the managed pair at once; risky and unverified ones never.",
    ),
    key("managed_skill_name", Text, "\"skillopt-sleep-learned\"", "Name of the managed skill."),
    key(
        "redact_secrets",
        Bool,
        "true",
        "Kept for older files: secrets are masked whatever it says, and a report of `false` says so.",
    ),
    key(
        "seed",
        Int { min: 0, max: 9_007_199_254_740_991 },
        "42",
        "Which tasks train and which validate.",
    ),
    ours(
        "max_cost_usd_per_night",
        FloatOrNull { min: 0.0, max: 1_000_000.0 },
        "null",
        "The most money of a night, in US dollars; it holds. Null is no limit.",
    ),
    ours(
        "max_minutes_per_night",
        FloatOrNull { min: 0.0, max: 10_000.0 },
        "null",
        "The most minutes of a night; it holds. Null is no limit.",
    ),
    ours(
        "judge_backend",
        Backend,
        "\"\"",
        "The backend that scores by rubric; empty is the optimizer's.",
    ),
    ours("judge_model", Text, "\"\"", "Its model; empty is the optimizer's."),
    ours(
        "split_rule",
        Choice { options: &["session", "compat"] },
        "\"session\"",
        "`session` keeps the tasks of a session together; `compat` splits each alone, as the reference system does.",
    ),
    ours(
        "gate_per_edit",
        Bool,
        "true",
        "Each edit is measured alone; otherwise all of a document stand or fall together.",
    ),
    ours(
        "gate_margin",
        SHARE,
        "0.0",
        "How much higher than the live documents a candidate has to score; 0 is any gain.",
    ),
    ours(
        "gate_min_tasks",
        Int { min: 1, max: 100_000 },
        "1",
        "The fewest validation tasks, scored with both, that a gain may rest on.",
    ),
    ours(
        "gate_repeats",
        Int { min: 1, max: 100 },
        "1",
        "How often each validation task is measured; more is less noise and costs as much more.",
    ),
    ours(
        "reward_tokens_weight",
        WEIGHT,
        "0.0",
        "What few tokens weigh beside a good answer, which weighs 1, in what the gate compares.",
    ),
    ours(
        "reward_latency_weight",
        WEIGHT,
        "0.0",
        "What a quick answer weighs beside a good one, which weighs 1, in what the gate compares; needs a `gate_margin`.",
    ),
    ours(
        "slow_update",
        Bool,
        "false",
        "When edits of the skill won, a note on what they lost is written and has to win as well.",
    ),
    ours(
        "attempt_max_tokens",
        TOKENS,
        "null",
        "The most tokens of an attempt; null is as the role is configured. Programs take it for advice.",
    ),
    ours("judge_max_tokens", TOKENS, "null", "The most tokens of a judgement; null as above."),
    ours("miner_max_tokens", TOKENS, "null", "The most tokens of a miner's answer; null as above."),
    ours("reflect_max_tokens", TOKENS, "null", "The most tokens of proposed edits; null as above."),
    ours(
        "memory_target",
        Choice { options: &["CLAUDE.md", "AGENTS.md"] },
        "\"CLAUDE.md\"",
        "Which file is the project's memory.",
    ),
    ours("keep_nights", COUNT, "30", "The newest nights that are never thrown away."),
    ours("keep_days", COUNT, "90", "Nights that are younger are never thrown away, in days."),
];

/// The key with this name.
#[must_use]
pub(super) fn find(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.name == name)
}

/// The key that looks most like a misspelt one.
pub(super) fn suggest(name: &str) -> Option<&'static str> {
    most_like(name, KEYS.iter().map(|key| key.name))
}

/// The word that is most like another, if any is.
pub(super) fn most_like(
    word: &str,
    words: impl Iterator<Item = &'static str>,
) -> Option<&'static str> {
    words
        .map(|known| (strsim::jaro_winkler(known, word), known))
        .max_by(|one, other| one.0.total_cmp(&other.0))
        .filter(|(likeness, _)| *likeness > 0.8)
        .map(|(_, known)| known)
}

impl Kind {
    /// What it takes, for people.
    #[must_use]
    pub fn expected(self) -> String {
        match self {
            Self::Bool => "true or false".to_owned(),
            Self::BoolOrNull => "true, false or null".to_owned(),
            Self::Int { min, max } => format!("a whole number from {min} to {max}"),
            Self::IntOrNull { min, max } => format!("a whole number from {min} to {max}, or null"),
            Self::Float { min, max } => format!("a number from {min} to {max}"),
            Self::FloatOrNull { min, max } => format!("a number from {min} to {max}, or null"),
            Self::Text => "a text".to_owned(),
            Self::Path => "a path".to_owned(),
            Self::Paths => "a list of paths".to_owned(),
            Self::Choice { options } => format!("one of {}", options.join(", ")),
            Self::Backend => {
                format!("one of {}", super::BackendName::all().collect::<Vec<_>>().join(", "))
            }
            Self::Projects => "invoked, all, or a list of absolute paths".to_owned(),
        }
    }
}
