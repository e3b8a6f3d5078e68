//! The arguments of tools: name, type, limits, and the flag of our program that each becomes. One argument means the
//! same in every tool that has it.

/// What an argument takes. Types are exact: `1.0` is no number here, and `true` is none either.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A text of 1 to so many characters, none of them a control character.
    Text(usize),
    /// One of these words.
    Word(&'static [&'static str]),
    /// `true` gives the flag, `false` leaves it out.
    Flag,
    /// A whole number between these, both included.
    Number(i64, i64),
    /// 1 to 100 different texts, each as a flag of its own.
    Texts(usize),
    /// 1 to 100 different whole numbers between these, each as a flag of its own.
    Numbers(i64, i64),
}

/// One argument.
#[derive(Debug)]
pub(super) struct Argument {
    /// Its name in calls.
    pub(super) name: &'static str,
    /// The flag of our program, dashes included. Empty: the tool reads it by itself.
    pub(super) flag: &'static str,
    /// What it takes.
    pub(super) kind: Kind,
    /// One sentence.
    pub(super) about: &'static str,
}

const fn arg(name: &'static str, flag: &'static str, kind: Kind, about: &'static str) -> Argument {
    Argument { name, flag, kind, about }
}

/// Most characters of a path.
const PATH: Kind = Kind::Text(4096);
/// Most characters of a name.
const NAME: Kind = Kind::Text(200);
/// Most characters of a sentence or two.
const WORDS: Kind = Kind::Text(4000);
const COUNT: Kind = Kind::Number(0, 1_000_000);
/// Most members of a list.
pub(super) const MOST_TEXTS: usize = 100;

/// Who may answer in a night.
pub(super) const BACKENDS: [&str; 15] = [
    "mock",
    "claude",
    "codex",
    "copilot",
    "cursor",
    "pi",
    "opencode",
    "handoff",
    "azure_openai",
    "azure_responses",
    "openai_chat",
    "openai_compatible",
    "qwen_chat",
    "minimax_chat",
    "anthropic_messages",
];
/// Whose sessions may be read.
pub(super) const SOURCES: [&str; 9] =
    ["claude", "codex", "copilot", "copilot_cli", "cursor", "pi", "opencode", "devin", "auto"];

pub(super) static PROJECT: Argument = arg(
    "project",
    "--project",
    PATH,
    "The project's folder; the folder that the server was started in when left out.",
);
/// The folder that a training command works in.
pub(super) static WORK_FOLDER: Argument = arg(
    "project",
    "",
    PATH,
    "The folder that relative paths start from; the folder that the server was started in when left out.",
);
pub(super) static JSON: Argument =
    arg("json", "--json", Kind::Flag, "Structured output; on when left out.");
pub(super) static PROGRESS: Argument =
    arg("progress", "--progress", Kind::Flag, "Tell each stage in the diagnostics.");
pub(super) static SCOPE: Argument = arg(
    "scope",
    "--scope",
    Kind::Word(&["invoked", "all"]),
    "Sessions of this project (`invoked`), or of all projects.",
);
pub(super) static SOURCE: Argument =
    arg("source", "--source", Kind::Word(&SOURCES), "Whose sessions are read.");
pub(super) static BACKEND: Argument = arg(
    "backend",
    "--backend",
    Kind::Word(&BACKENDS),
    "Who answers. `mock` costs nothing and proves nothing; `handoff` leaves prompts to be answered in files.",
);
pub(super) static MODEL: Argument = arg("model", "--model", NAME, "The model of the backend.");
pub(super) static TASKS_FILE: Argument =
    arg("tasks_file", "--tasks-file", PATH, "Tasks from this reviewed file, and no harvest.");
pub(super) static TARGET_SKILL: Argument = arg(
    "target_skill_path",
    "--target-skill-path",
    PATH,
    "The SKILL.md to improve; a relative path is one below the project.",
);
pub(super) static SKILL_ROOTS: Argument =
    arg("skill_roots", "--skill-root", Kind::Texts(4096), "Further folders of skills.");
pub(super) static LOOKBACK: Argument = arg(
    "lookback_hours",
    "--lookback-hours",
    COUNT,
    "How far back the first harvest of a project looks; 0 is the whole history.",
);
pub(super) static MAX_SESSIONS: Argument =
    arg("max_sessions", "--max-sessions", COUNT, "Most sessions; 0 takes the config's.");
pub(super) static MAX_TASKS: Argument =
    arg("max_tasks", "--max-tasks", COUNT, "Most tasks; 0 takes the config's.");
pub(super) static EDIT_BUDGET: Argument =
    arg("edit_budget", "--edit-budget", COUNT, "Most edits of the night; 0 takes the config's.");
pub(super) static PREFERENCES: Argument =
    arg("preferences", "--preferences", WORDS, "What the person prefers, for the optimizer.");
pub(super) static TOOL_REPLAY: Argument = arg(
    "opencode_tool_replay",
    "--opencode-tool-replay",
    Kind::Flag,
    "Let OpenCode call stand-ins for tools.",
);
pub(super) static EDITS: Argument = arg(
    "edits",
    "--edits",
    Kind::Numbers(1, 10_000),
    "Only these edits of the one document that is adopted, by the numbers that `sleep_diff` tells.",
);
pub(super) static AUTO_ADOPT: Argument = arg(
    "auto_adopt",
    "--auto-adopt",
    Kind::Flag,
    "Adopt at once what the gate accepts. Only where the operator allows it.",
);
pub(super) static PREVIEW: Argument = arg(
    "preview",
    "--preview",
    Kind::Flag,
    "Show what a model would be sent, secrets masked: all that would leave this machine.",
);
pub(super) static STAGING: Argument =
    arg("staging", "--staging", PATH, "The night's folder; the last one when left out.");
pub(super) static SKILLS: Argument = arg(
    "skills",
    "--skill",
    Kind::Texts(200),
    "Adopt these skills of a night that treats several.",
);
pub(super) static ALL_SKILLS: Argument = arg(
    "all_skills",
    "--all-skills",
    Kind::Flag,
    "Adopt all skills of a night that treats several.",
);
pub(super) static LEGACY: Argument =
    arg("legacy", "--legacy", Kind::Flag, "Adopt the managed skill and the memory.");
pub(super) static ONLY: Argument = arg(
    "only",
    "--only",
    Kind::Word(&["skill", "memory"]),
    "Only one of the managed skill and the memory.",
);
pub(super) static REASON: Argument = arg(
    "reason",
    "--reason",
    WORDS,
    "Why. It is kept; later nights are told which edits were turned down, and why.",
);
pub(super) static HOUR: Argument =
    arg("hour", "--hour", Kind::Number(0, 23), "Hour of the day, local time; 3 when left out.");
pub(super) static MINUTE: Argument =
    arg("minute", "--minute", Kind::Number(0, 59), "Minute of the hour; 17 when left out.");
pub(super) static SCHEDULER: Argument = arg(
    "scheduler",
    "--with",
    Kind::Word(&["cron", "systemd", "launchd", "windows", "server"]),
    "Which scheduler; that of this system when left out, `server` for that of `skillopt serve`.",
);

pub(super) static CONFIG: Argument = arg("config", "--config", PATH, "The YAML config.");
pub(super) static SKILL: Argument = arg("skill", "--skill", PATH, "The skill file to score.");
pub(super) static RUN_NAME: Argument = arg("name", "--name", NAME, "A name for people.");
pub(super) static EPOCHS: Argument =
    arg("num_epochs", "--num-epochs", Kind::Number(1, 1_000_000), "Times through the tasks.");
pub(super) static BATCH_SIZE: Argument =
    arg("batch_size", "--batch-size", Kind::Number(1, 1_000_000), "Tasks in a step.");
pub(super) static SEED: Argument =
    arg("seed", "--seed", COUNT, "What the order of tasks and the samples are drawn from.");
pub(super) static USE_GATE: Argument = arg(
    "use_gate",
    "--use-gate",
    Kind::Word(&["true", "false"]),
    "Keep a candidate only if it scores better.",
);
pub(super) static OUT_ROOT: Argument =
    arg("out_root", "--out-root", PATH, "The run folder; a run that is there goes on.");
pub(super) static SKILL_INIT: Argument =
    arg("skill_init", "--skill-init", PATH, "The skill to start from.");
pub(super) static DRY_RUN: Argument =
    arg("dry_run", "--dry-run", Kind::Flag, "Only tell what would be done and the calls at most.");
pub(super) static FRESH: Argument =
    arg("fresh", "--fresh", Kind::Flag, "Draw anew, whatever the ledger holds.");
pub(super) static SPLIT: Argument = arg(
    "split",
    "--split",
    Kind::Word(&["train", "val", "test"]),
    "The split to score on; `test` when left out.",
);
pub(super) static REPEATS: Argument = arg(
    "repeats",
    "--repeats",
    Kind::Number(1, 1000),
    "Measure this often, to see how much the score varies by itself.",
);
