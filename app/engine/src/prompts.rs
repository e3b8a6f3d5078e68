//! The optimizer's prompts: our own words, in files, which a benchmark or a user may replace one by one.
//!
//! `registry` says what each is for and what it has to hold, `set` holds the texts of a run and renders them,
//! `check` looks at texts that are not ours. Text of tasks and models goes in through `quoted` only, and only
//! into user messages: whoever writes a prompt cannot undo that.

mod check;
mod chosen;
mod quoting;
mod registry;
mod set;

pub use check::PromptProblem;
pub use quoting::{barred, cut_middle, one_line, quoted, quoted_in, section};
pub(crate) use quoting::{push_section, write_barred};
pub use registry::{PLACEHOLDERS, PROMPTS, PromptSpec, find_prompt};
pub use set::{PromptError, PromptSet};

use skillopt_domain::config::UpdateMode;

/// What the loop asks the optimizer for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prompt {
    /// Reads failed trajectories.
    AnalystFailure,
    /// Reads passed trajectories.
    AnalystSuccess,
    /// Merges patches of failures.
    MergeFailure,
    /// Merges patches of successes.
    MergeSuccess,
    /// Merges both sides.
    MergeFinal,
    /// Orders edits or suggestions.
    Ranking,
    /// Sets the budget of a step.
    LrControl,
    /// Works suggestions into a whole text.
    Rewrite,
    /// Writes guidance between epochs.
    SlowUpdate,
    /// Writes the optimizer's memory between epochs.
    MetaSkill,
    /// Condenses the notes of the appendix.
    Appendix,
}

impl Prompt {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::AnalystFailure,
        Self::AnalystSuccess,
        Self::MergeFailure,
        Self::MergeSuccess,
        Self::MergeFinal,
        Self::Ranking,
        Self::LrControl,
        Self::Rewrite,
        Self::SlowUpdate,
        Self::MetaSkill,
        Self::Appendix,
    ];

    /// The name in the registry.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::AnalystFailure => "analyst_failure",
            Self::AnalystSuccess => "analyst_success",
            Self::MergeFailure => "merge_failure",
            Self::MergeSuccess => "merge_success",
            Self::MergeFinal => "merge_final",
            Self::Ranking => "ranking",
            Self::LrControl => "lr_control",
            Self::Rewrite => "rewrite",
            Self::SlowUpdate => "slow_update",
            Self::MetaSkill => "meta_skill",
            Self::Appendix => "appendix",
        }
    }
}

/// What a prompt depends on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PromptVars {
    /// What the reply holds.
    pub mode: UpdateMode,
    /// Most items of the reply; `None` for no limit.
    pub max_items: Option<u32>,
    /// Lapses of the target become notes.
    pub skill_aware: bool,
    /// Notes may come from passed trajectories too.
    pub notes_from_success: bool,
    /// Tasks that were compared.
    pub n_tasks: u32,
}

/// A text that a benchmark ships: one of the registry in its own words, or what it tells the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BenchmarkPrompt {
    /// A name of the registry, or `target` and `target/…`.
    pub name: &'static str,
    /// What it is for, one sentence.
    pub purpose: &'static str,
    /// The text with its placeholders.
    pub text: &'static str,
}

impl BenchmarkPrompt {
    /// The target reads it; the benchmark itself puts it together.
    #[must_use]
    pub fn is_for_target(&self) -> bool {
        self.name == "target" || self.name.starts_with("target/")
    }
}

/// A text that a user wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserPrompt {
    /// Its name: the path below the folder without `.md`.
    pub name: String,
    /// The file, for messages.
    pub file: String,
    /// The text.
    pub text: String,
}
