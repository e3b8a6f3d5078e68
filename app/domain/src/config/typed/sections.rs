//! Sections of the configuration, as values that were checked.

use crate::config::backend::Effort;
use crate::config::modes::{
    Density, Longitudinal, LrControl, SkillAware, SlowUpdateMode, UpdateMode,
};
use crate::score::GateMetric;
use serde::{Deserialize, Serialize};

/// Section `train`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Train {
    /// Passes over the train split, at least 1.
    pub num_epochs: u32,
    /// Expected size of the train split; 0 to take it from the data.
    pub train_size: u32,
    /// Tasks of one batch, at least 1.
    pub batch_size: u32,
    /// Batches of one step, at least 1.
    pub accumulation: u32,
    /// The seed.
    pub seed: u64,
}

/// Section `gradient`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gradient {
    /// Trajectories of one optimizer call, at least 1.
    pub minibatch_size: u32,
    /// Patches of one merge call, at least 2.
    pub merge_batch_size: u32,
    /// Optimizer calls at once, at least 1.
    pub analyst_workers: u32,
    /// Successes are not read.
    pub failure_only: bool,
    /// The optimizer sees what the grader said of an attempt.
    #[serde(default = "yes")]
    pub use_eval_feedback: bool,
}

/// Shape of the edit budget over the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LrScheduler {
    /// Always the highest.
    Constant,
    /// A straight line from highest to lowest.
    Linear,
    /// Half a cosine from highest to lowest.
    Cosine,
}

/// Section `optimizer`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Optimizer {
    /// Highest edit budget, at least 1.
    pub learning_rate: u32,
    /// Lowest edit budget, at least 1 and at most the highest.
    pub min_learning_rate: u32,
    /// Between the two.
    pub lr_scheduler: LrScheduler,
    /// Who sets the budget.
    #[serde(default)]
    pub lr_control: LrControl,
    /// What the optimizer hands in.
    #[serde(default)]
    pub update_mode: UpdateMode,
    /// Guidance between epochs.
    #[serde(default)]
    pub slow_update: SlowUpdateMode,
    /// What is compared between epochs.
    #[serde(default)]
    pub longitudinal: Longitudinal,
    /// The optimizer keeps a memory from epoch to epoch.
    #[serde(default)]
    pub meta_skill: bool,
    /// Lapses become notes in an appendix.
    #[serde(default)]
    pub skill_aware: Option<SkillAware>,
    /// Most tokens of a reply that holds a whole skill.
    #[serde(default = "default_rewrite_tokens")]
    pub rewrite_max_tokens: u32,
    /// How hard to think about a reply that holds a whole skill; as for other calls when `None`.
    #[serde(default)]
    pub rewrite_effort: Option<Effort>,
    /// Most tokens that one call reads, at least 1000.
    #[serde(default = "default_context_tokens")]
    pub max_context_tokens: u32,
    /// Folder with prompts of the user's own; empty for none.
    #[serde(default)]
    pub prompts_dir: String,
}

fn default_context_tokens() -> u32 {
    100_000
}

fn default_rewrite_tokens() -> u32 {
    64_000
}

impl Optimizer {
    /// [`Self::max_context_tokens`] in quarters of a token, as texts are weighed.
    #[must_use]
    pub fn max_context_weight(&self) -> usize {
        usize::try_from(self.max_context_tokens).unwrap_or(usize::MAX).saturating_mul(4)
    }

    /// Who sets the budget in the update mode at hand: whole texts have none.
    #[must_use]
    pub fn budget_control(&self) -> LrControl {
        match self.update_mode {
            UpdateMode::FullRewriteMinibatch => LrControl::None,
            UpdateMode::Patch | UpdateMode::RewriteFromSuggestions => self.lr_control,
        }
    }

    /// Lapses are told from defects. Whole new texts leave no room for notes beside them.
    #[must_use]
    pub fn skill_aware(&self) -> Option<SkillAware> {
        self.skill_aware.filter(|_| self.update_mode != UpdateMode::FullRewriteMinibatch)
    }
}

/// Section `evaluation`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// The number that must rise.
    pub gate_metric: GateMetric,
    /// Weight of soft for the mixed metric, `0..=1`.
    pub gate_mixed_weight: f64,
    /// A candidate that breaks any task is rejected.
    pub no_regression: bool,
    /// Measure on the test split at the end.
    pub eval_test: bool,
    /// A candidate must pass the gate to stay.
    #[serde(default = "yes")]
    pub use_gate: bool,
    /// First tasks of the selection split; 0 for all.
    #[serde(default)]
    pub sel_env_num: u32,
    /// First tasks of the test split; 0 for all.
    #[serde(default)]
    pub test_env_num: u32,
    /// A bonus for emphatic words.
    #[serde(default)]
    pub density: Option<Density>,
}

impl Evaluation {
    /// The gate's number of a score, `0..=1`: `hard`, `soft`, or their weighted mean.
    #[must_use]
    pub fn project(&self, hard: f64, soft: f64) -> f64 {
        self.gate_metric.project(hard, soft, self.gate_mixed_weight)
    }
}

fn yes() -> bool {
    true
}

/// Section `limits`: hard caps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// Calls that reach a model.
    pub max_calls: Option<u64>,
    /// Tokens read and written.
    pub max_tokens: Option<u64>,
    /// Money, in millionths of a dollar.
    pub max_cost_usd_micros: Option<u64>,
    /// Working time, in milliseconds.
    pub max_ms: Option<u64>,
    /// Share of failed attempts above which a stage fails the run, `0..=1`.
    pub error_share: f64,
}

/// How the data is split.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SplitMode {
    /// Three folders.
    SplitDir,
    /// One file and a ratio.
    Ratio,
}

/// Section `env` for SearchQA.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SearchQaEnv {
    /// Name of the benchmark.
    pub name: String,
    /// Path of the initial skill; empty for none.
    pub skill_init: String,
    /// Kind of split.
    pub split_mode: SplitMode,
    /// For `split_dir`.
    pub split_dir: String,
    /// For `ratio`.
    pub data_path: String,
    /// For `ratio`: train, val, test.
    pub split_ratio: [u32; 3],
    /// For `ratio`.
    pub split_seed: u64,
    /// For `ratio`: where splits are written; empty for the run folder.
    pub split_output_dir: String,
    /// First tasks of each split; 0 for all.
    pub limit: u32,
    /// Tasks at once, at least 1.
    pub workers: u32,
    /// The run folder; empty for one of its own.
    pub out_root: String,
}
