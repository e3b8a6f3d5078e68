//! THE table of tools: which command of our program each is, and which arguments belong to it.

use super::arguments::{self as a, Argument};
use super::commands::Length;
use super::policy::{Policy, TimeLimits};
use std::time::Duration;

/// What a tool does to the world, for the host that asks a person first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// It looks.
    Reads,
    /// It adds something, and nothing that was there is touched.
    Adds,
    /// It changes what is there.
    Changes,
}

/// Whether models may be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// Nothing leaves this machine.
    Local,
    /// What stands in sessions goes to whoever asks, which is an agent with a model of its own.
    Sessions,
    /// Models are asked, which may cost money.
    Models,
}

/// Which time limit holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Patience {
    Short,
    Night,
    Run,
}

/// One tool.
#[derive(Debug)]
pub(super) struct Tool {
    /// Its name in calls.
    pub(super) name: &'static str,
    /// For people.
    pub(super) title: &'static str,
    /// For models and people.
    pub(super) about: &'static str,
    /// The subcommand of our program. Empty: the server answers by itself.
    pub(super) command: &'static [&'static str],
    /// All arguments that it has, in groups that tools may share.
    pub(super) arguments: &'static [&'static [&'static Argument]],
    /// Names of those that must be given.
    pub(super) required: &'static [&'static str],
    pub(super) effect: Effect,
    pub(super) reach: Reach,
    pub(super) patience: Patience,
}

/// What shapes a night, kept or not.
static NIGHT: [&Argument; 14] = [
    &a::PROJECT,
    &a::SCOPE,
    &a::SOURCE,
    &a::BACKEND,
    &a::MODEL,
    &a::TARGET_SKILL,
    &a::SKILL_ROOTS,
    &a::TASKS_FILE,
    &a::LOOKBACK,
    &a::MAX_SESSIONS,
    &a::MAX_TASKS,
    &a::EDIT_BUDGET,
    &a::PREFERENCES,
    &a::TOOL_REPLAY,
];

/// All tools.
pub(super) static TOOLS: [Tool; 14] = [
    Tool {
        name: "sleep_status",
        title: "Status of nights",
        about: "The last night, what waits for a decision, and what was adopted.",
        command: &["sleep", "status"],
        arguments: &[&[&a::PROJECT, &a::JSON]],
        required: &[],
        effect: Effect::Reads,
        reach: Reach::Local,
        patience: Patience::Short,
    },
    Tool {
        name: "sleep_dry_run",
        title: "Rehearse a night",
        about: "A night that keeps nothing: no proposal, no state. Models are asked all the same.",
        command: &["sleep", "dry-run"],
        arguments: &[&NIGHT, &[&a::PROGRESS, &a::JSON]],
        required: &[],
        effect: Effect::Reads,
        reach: Reach::Models,
        patience: Patience::Night,
    },
    Tool {
        name: "sleep_run",
        title: "Run a night",
        about: "One night: harvest sessions, mine tasks, replay them, gate edits, and lay a proposal aside. No live \
                file changes before the proposal is adopted.",
        command: &["sleep", "run"],
        arguments: &[&NIGHT, &[&a::AUTO_ADOPT, &a::PROGRESS, &a::JSON]],
        required: &[],
        effect: Effect::Adds,
        reach: Reach::Models,
        patience: Patience::Night,
    },
    Tool {
        name: "sleep_adopt",
        title: "Adopt a proposal",
        about: "Write the proposal of a night into its live files. Only when the person has seen the difference \
                (sleep_diff) and says so.",
        command: &["sleep", "adopt"],
        arguments: &[&[
            &a::PROJECT,
            &a::STAGING,
            &a::SKILLS,
            &a::ALL_SKILLS,
            &a::LEGACY,
            &a::ONLY,
            &a::EDITS,
            &a::TARGET_SKILL,
            &a::SKILL_ROOTS,
            &a::JSON,
        ]],
        required: &[],
        effect: Effect::Changes,
        reach: Reach::Local,
        patience: Patience::Short,
    },
    Tool {
        name: "sleep_reject",
        title: "Reject a proposal",
        about: "Turn the proposal of a night down, with a reason.",
        command: &["sleep", "reject"],
        arguments: &[&[
            &a::PROJECT,
            &a::STAGING,
            &a::REASON,
            &a::TARGET_SKILL,
            &a::SKILL_ROOTS,
            &a::JSON,
        ]],
        required: &["reason"],
        effect: Effect::Adds,
        reach: Reach::Local,
        patience: Patience::Short,
    },
    Tool {
        name: "sleep_revert",
        title: "Revert an adoption",
        about: "Put back what an adoption replaced.",
        command: &["sleep", "revert"],
        arguments: &[&[&a::PROJECT, &a::STAGING, &a::TARGET_SKILL, &a::SKILL_ROOTS, &a::JSON]],
        required: &[],
        effect: Effect::Changes,
        reach: Reach::Local,
        patience: Patience::Short,
    },
    Tool {
        name: "sleep_diff",
        title: "Show a proposal",
        about: "What a night would change, as a unified diff.",
        command: &["sleep", "diff"],
        arguments: &[&[&a::PROJECT, &a::STAGING, &a::JSON]],
        required: &[],
        effect: Effect::Reads,
        reach: Reach::Local,
        patience: Patience::Short,
    },
    Tool {
        name: "sleep_nights",
        title: "List nights",
        about: "Nights of the project that laid a proposal aside, newest first.",
        command: &["sleep", "nights"],
        arguments: &[&[&a::PROJECT, &a::JSON]],
        required: &[],
        effect: Effect::Reads,
        reach: Reach::Local,
        patience: Patience::Short,
    },
    Tool {
        name: "sleep_harvest",
        title: "Look at sessions",
        about: "Sessions and the tasks in them, secrets masked, without any model call.",
        command: &["sleep", "harvest"],
        arguments: &[&[
            &a::PROJECT,
            &a::SCOPE,
            &a::SOURCE,
            &a::TARGET_SKILL,
            &a::SKILL_ROOTS,
            &a::LOOKBACK,
            &a::MAX_SESSIONS,
            &a::MAX_TASKS,
            &a::PREVIEW,
            &a::PROGRESS,
            &a::JSON,
        ]],
        required: &[],
        effect: Effect::Reads,
        reach: Reach::Sessions,
        patience: Patience::Night,
    },
    Tool {
        name: "sleep_schedule",
        title: "Schedule nights",
        about: "Run a night every day, by the scheduler of this system or while `skillopt serve` runs, with the options given here.",
        command: &["sleep", "schedule"],
        arguments: &[&[
            &a::PROJECT,
            &a::SCOPE,
            &a::SOURCE,
            &a::BACKEND,
            &a::MODEL,
            &a::TARGET_SKILL,
            &a::SKILL_ROOTS,
            &a::LOOKBACK,
            &a::MAX_SESSIONS,
            &a::MAX_TASKS,
            &a::EDIT_BUDGET,
            &a::PREFERENCES,
            &a::TOOL_REPLAY,
            &a::AUTO_ADOPT,
            &a::HOUR,
            &a::MINUTE,
            &a::SCHEDULER,
            &a::JSON,
        ]],
        required: &[],
        effect: Effect::Changes,
        reach: Reach::Local,
        patience: Patience::Short,
    },
    Tool {
        name: "sleep_unschedule",
        title: "Unschedule nights",
        about: "Take the schedule of this project away.",
        command: &["sleep", "unschedule"],
        arguments: &[&[&a::PROJECT, &a::SCHEDULER, &a::JSON]],
        required: &[],
        effect: Effect::Changes,
        reach: Reach::Local,
        patience: Patience::Short,
    },
    Tool {
        name: "skillopt_list_configs",
        title: "List configs",
        about: "The YAML configs below the folder `configs` of a project.",
        command: &[],
        arguments: &[&[&a::WORK_FOLDER]],
        required: &[],
        effect: Effect::Reads,
        reach: Reach::Local,
        patience: Patience::Short,
    },
    Tool {
        name: "skillopt_train",
        title: "Train a skill",
        about: "One training run. May ask models many times and take hours; `dry_run` tells the most that it can cost.",
        command: &["train"],
        arguments: &[&[
            &a::WORK_FOLDER,
            &a::CONFIG,
            &a::RUN_NAME,
            &a::EPOCHS,
            &a::BATCH_SIZE,
            &a::SEED,
            &a::USE_GATE,
            &a::OUT_ROOT,
            &a::SKILL_INIT,
            &a::DRY_RUN,
            &a::FRESH,
            &a::JSON,
        ]],
        required: &["config"],
        effect: Effect::Adds,
        reach: Reach::Models,
        patience: Patience::Run,
    },
    Tool {
        name: "skillopt_eval",
        title: "Score a skill",
        about: "Scores a skill on one split; changes nothing.",
        command: &["eval"],
        arguments: &[&[
            &a::WORK_FOLDER,
            &a::CONFIG,
            &a::SKILL,
            &a::SPLIT,
            &a::SEED,
            &a::REPEATS,
            &a::FRESH,
            &a::JSON,
        ]],
        required: &["config", "skill"],
        effect: Effect::Reads,
        reach: Reach::Models,
        patience: Patience::Run,
    },
];

impl Tool {
    /// The tool of this name.
    pub(super) fn find(name: &str) -> Option<&'static Self> {
        TOOLS.iter().find(|tool| tool.name == name)
    }

    /// All arguments that it has.
    pub(super) fn arguments(&self) -> impl Iterator<Item = &'static Argument> {
        self.arguments.iter().copied().flatten().copied()
    }

    /// Its arguments where this policy holds.
    pub(super) fn offered(&self, policy: &Policy) -> impl Iterator<Item = &'static Argument> {
        let auto_adopt = policy.auto_adopt;
        self.arguments().filter(move |argument| auto_adopt || argument.name != a::AUTO_ADOPT.name)
    }

    /// Whether an argument must be given where this policy holds.
    pub(super) fn requires(&self, name: &str, policy: &Policy) -> bool {
        self.required.contains(&name) || (policy.needs_project && name == a::PROJECT.name)
    }

    /// It may take long, so that it waits with others of its kind and holds up no short one.
    pub(super) fn length(&self) -> Length {
        match self.patience {
            Patience::Short => Length::Short,
            Patience::Night | Patience::Run => Length::Long,
        }
    }

    /// How long a call may take.
    pub(super) fn time_limit(&self, limits: TimeLimits) -> Duration {
        match self.patience {
            Patience::Short => limits.short,
            Patience::Night => limits.night,
            Patience::Run => limits.run,
        }
    }
}
