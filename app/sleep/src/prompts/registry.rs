//! What each prompt is for and what has to stand in it.

use crate::backend::SleepRole;

/// A prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PromptSpec {
    /// Its name in the file of a user's texts.
    pub name: &'static str,
    /// The stage that uses it.
    pub stage: &'static str,
    /// Who reads it.
    pub role: SleepRole,
    /// What it is for, one sentence.
    pub description: &'static str,
    /// What may stand in it.
    pub placeholders: &'static [Placeholder],
    /// Our text.
    pub default: &'static str,
}

/// A place in a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placeholder {
    /// As it stands in the text, such as `__SKILL__`.
    pub name: &'static str,
    /// How the value goes in.
    pub slot: Slot,
    /// The stage makes no sense without it.
    pub required: bool,
}

/// How a value goes in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// A word or number of ours.
    Plain,
    /// Text of others, between tags of this name.
    Quoted(&'static str),
}

const fn plain(name: &'static str) -> Placeholder {
    Placeholder { name, slot: Slot::Plain, required: false }
}

const fn needs(name: &'static str, tag: &'static str) -> Placeholder {
    Placeholder { name, slot: Slot::Quoted(tag), required: true }
}

const fn takes(name: &'static str, tag: &'static str) -> Placeholder {
    Placeholder { name, slot: Slot::Quoted(tag), required: false }
}

/// Finds tasks in a session. Its values are put in where sessions are read.
pub const MINER: PromptSpec = PromptSpec {
    name: "miner",
    stage: "mine",
    role: SleepRole::Optimizer,
    description: "Finds recurring tasks in a session.",
    placeholders: &[
        takes("__PROJECT__", "project"),
        needs("__PROMPTS__", "prompts"),
        takes("__FINAL__", "final"),
        takes("__FEEDBACK__", "feedback"),
    ],
    default: crate::mine::MINER_PROMPT,
};

/// Performs a task.
pub const ATTEMPT: PromptSpec = PromptSpec {
    name: "attempt",
    stage: "replay",
    role: SleepRole::Target,
    description: "Puts a task to the target, with both documents.",
    placeholders: &[
        needs("__SKILL__", "skill"),
        needs("__MEMORY__", "memory"),
        needs("__INTENT__", "task"),
        takes("__CONTEXT__", "context"),
    ],
    default: include_str!("../../prompts/attempt.md"),
};

/// Scores an answer.
pub const JUDGE: PromptSpec = PromptSpec {
    name: "judge",
    stage: "replay",
    role: SleepRole::Judge,
    description: "Scores an answer by a rubric.",
    placeholders: &[
        needs("__RUBRIC__", "rubric"),
        needs("__RESPONSE__", "response"),
        takes("__INTENT__", "task"),
        takes("__CONTEXT__", "context"),
    ],
    default: include_str!("../../prompts/judge.md"),
};

/// Reads failures.
pub const REFLECT: PromptSpec = PromptSpec {
    name: "reflect",
    stage: "reflect",
    role: SleepRole::Optimizer,
    description: "Turns failures into edits of a document.",
    placeholders: &[
        plain("__EDIT_BUDGET__"),
        plain("__TARGET__"),
        needs("__CUR_DOC__", "current_document"),
        takes("__GUARD__", "output_contract"),
        takes("__CRITERIA__", "criteria"),
        takes("__PREFS__", "preferences"),
        takes("__REJECTED__", "rejected_edits"),
        takes("__PASSED__", "passed_tasks"),
        needs("__FAILURES__", "failures"),
    ],
    default: include_str!("../../prompts/reflect.md"),
};

/// Compares good and bad attempts.
pub const CONTRAST: PromptSpec = PromptSpec {
    name: "contrast",
    stage: "reflect",
    role: SleepRole::Optimizer,
    description: "Turns differences between attempts at one task into edits of a document.",
    placeholders: &[
        plain("__EDIT_BUDGET__"),
        plain("__TARGET__"),
        needs("__CUR_DOC__", "current_document"),
        takes("__GUARD__", "output_contract"),
        takes("__CRITERIA__", "criteria"),
        takes("__PREFS__", "preferences"),
        takes("__REJECTED__", "rejected_edits"),
        needs("__PAIRS__", "pairs"),
    ],
    default: include_str!("../../prompts/contrast.md"),
};

/// Writes guidance over nights.
pub const SLOW_UPDATE: PromptSpec = PromptSpec {
    name: "slow_update",
    stage: "slow_update",
    role: SleepRole::Optimizer,
    description: "Turns a comparison of two versions of a skill into guidance.",
    placeholders: &[
        takes("__PREVIOUS_SKILL__", "previous_skill"),
        needs("__CURRENT_SKILL__", "current_skill"),
        takes("__GUIDANCE__", "previous_guidance"),
        needs("__COMPARISON__", "comparison"),
    ],
    default: include_str!("../../prompts/slow_update.md"),
};

/// All prompts.
pub const PROMPTS: &[PromptSpec] = &[MINER, ATTEMPT, JUDGE, REFLECT, CONTRAST, SLOW_UPDATE];
