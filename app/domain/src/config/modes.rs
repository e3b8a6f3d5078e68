//! How a run takes its steps: who sets the budget, what the optimizer hands in, and what happens between epochs.

use super::backend::BackendKind;
use super::value::Value;
use serde::{Deserialize, Serialize};

/// Who sets the edit budget of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum LrControl {
    /// The schedule.
    #[default]
    Fixed,
    /// The optimizer, once it knows what was proposed.
    Autonomous,
    /// Nobody: all that is proposed is tried.
    None,
}

impl LrControl {
    /// The schedule sets the budget.
    #[must_use]
    pub fn is_fixed(&self) -> bool {
        *self == Self::Fixed
    }

    /// The word in configs and in `history.json`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Fixed => "fixed",
            Self::Autonomous => "autonomous",
            Self::None => "none",
        }
    }
}

/// What the optimizer hands in, and how it becomes a candidate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum UpdateMode {
    /// Edits, which are applied one after the other.
    #[default]
    Patch,
    /// Suggestions, which one more call works into a new text.
    RewriteFromSuggestions,
    /// Whole new texts, one a minibatch, which are merged into one.
    FullRewriteMinibatch,
}

impl UpdateMode {
    /// The word in configs and in `config.json`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Patch => "patch",
            Self::RewriteFromSuggestions => "rewrite_from_suggestions",
            Self::FullRewriteMinibatch => "full_rewrite_minibatch",
        }
    }

    /// The name of the list in replies and files.
    #[must_use]
    pub fn items_key(self) -> &'static str {
        match self {
            Self::Patch => "edits",
            Self::RewriteFromSuggestions => "revise_suggestions",
            Self::FullRewriteMinibatch => "skill_candidates",
        }
    }

    /// What one item of the list is called.
    #[must_use]
    pub fn item_word(self) -> &'static str {
        match self {
            Self::Patch => "edit",
            Self::RewriteFromSuggestions => "suggestion",
            Self::FullRewriteMinibatch => "skill candidate",
        }
    }
}

/// What happens to the guidance that is written between epochs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum SlowUpdateMode {
    /// None is written.
    #[default]
    Off,
    /// It stays only if the gate accepts it.
    Gated,
    /// It stays whatever its score. It is measured all the same.
    Forced,
}

/// Which pairs of attempts the optimizer is shown between epochs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum PairPolicy {
    /// All.
    #[default]
    Mixed,
    /// Improved and regressed tasks; more tasks are tried until there are enough.
    Changed,
    /// The others; more tasks are tried until there are enough.
    Unchanged,
}

impl PairPolicy {
    /// The word in configs.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Mixed => "mixed",
            Self::Changed => "changed",
            Self::Unchanged => "unchanged",
        }
    }
}

/// Whose rules a run follows where ours and those of the Python system differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Compat {
    /// Ours.
    #[default]
    None,
    /// The Python system's, faults that shape a result included.
    Python,
}

/// Tasks that are tried with the skills of two epochs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Longitudinal {
    /// How many, at least 1.
    pub samples: u32,
    /// Which of them are shown.
    pub policy: PairPolicy,
}

impl Default for Longitudinal {
    fn default() -> Self {
        Self { samples: 20, policy: PairPolicy::Mixed }
    }
}

/// Where notes for the appendix may come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AppendixSource {
    /// Failed and passed trajectories.
    #[default]
    Both,
    /// Failed trajectories.
    FailureOnly,
}

/// Reflection that tells defects of the skill from lapses of the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkillAware {
    /// Where notes may come from.
    pub source: AppendixSource,
    /// More notes than this are condensed by a call; `None` for never.
    pub consolidate_above: Option<u32>,
}

/// A bonus for emphatic words.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Density {
    /// The bonus of a skill that is made of such words only, `0..=1`.
    pub weight: f64,
    /// The words, in lower case.
    pub words: Vec<String>,
}

/// The words of the reference system.
pub const LEADING_WORDS: [&str; 11] = [
    "must",
    "always",
    "never",
    "only",
    "critical",
    "important",
    "resolve",
    "prefer",
    "ensure",
    "strict",
    "verify",
];

/// Other spellings of a choice that the reference system takes.
const ALIASES: [(&str, &str, &[&str]); 9] = [
    ("optimizer.lr_control_mode", "fixed", &["manual", "scheduler", "scheduled"]),
    ("optimizer.lr_control_mode", "autonomous", &["auto", "optimizer"]),
    ("optimizer.lr_control_mode", "none", &["off", "no_lr"]),
    ("optimizer.skill_update_mode", "patch", &["edits"]),
    (
        "optimizer.skill_update_mode",
        "rewrite_from_suggestions",
        &["rewrite", "suggestions", "rewrite_suggestions"],
    ),
    (
        "optimizer.skill_update_mode",
        "full_rewrite_minibatch",
        &["full_rewrite", "minibatch_full_rewrite", "skill_rewrite_minibatch"],
    ),
    ("optimizer.longitudinal_pair_policy", "mixed", &["default", "random", "all"]),
    ("optimizer.longitudinal_pair_policy", "changed", &["change", "delta", "10_01", "01_10"]),
    ("optimizer.longitudinal_pair_policy", "unchanged", &["stable", "same", "00_11"]),
];

/// The one spelling of a choice.
pub(super) fn canonical<'a>(path: &str, word: &'a str) -> &'a str {
    if path.ends_with("backend") {
        return BackendKind::parse(word).map_or(word, |kind| kind.as_str());
    }
    if path.ends_with("azure_openai_auth_mode") {
        return match word {
            "key" => "api_key",
            "openai_compatible" | "compat" => "openai",
            "aad" | "azure_ad" => "managed_identity",
            other => other,
        };
    }
    ALIASES
        .iter()
        .find(|(key, _, others)| *key == path && others.contains(&word))
        .map_or(word, |(_, own, _)| own)
}

/// Words from a list or from text with commas; those of the reference system when there are none.
pub(super) fn leading_words(value: &Value) -> Vec<String> {
    let words: Vec<String> = match value {
        Value::Text(text) => text
            .split(',')
            .map(|word| word.trim().to_lowercase())
            .filter(|word| !word.is_empty())
            .collect(),
        _ => Vec::new(),
    };
    if words.is_empty() { LEADING_WORDS.map(str::to_owned).to_vec() } else { words }
}
