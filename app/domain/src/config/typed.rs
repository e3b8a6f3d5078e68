//! The typed configuration that the engine and its adapters work with.

mod agents;
mod model;
mod provider;

pub use agents::{Agents, Claude, Codex, Copilot, Cursor};
pub use model::{ModelRole, TokenLimitParam};
pub use provider::{AzureAuth, OpenaiApi, Provider, Thinking, is_azure_host};

use super::backend::{BackendKind, Effort};
use super::modes::{
    AppendixSource, Compat, Density, Longitudinal, LrControl, PairPolicy, SkillAware,
    SlowUpdateMode, UpdateMode, leading_words,
};
use super::resolve::{ConfigProblem, Resolved};
use super::value::{Place, Value};
use crate::score::GateMetric;
use crate::spend::Role;
use serde::{Deserialize, Serialize};

/// Everything that shapes a run. Contains no secret.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunConfig {
    /// The model that performs tasks.
    pub target: ModelRole,
    /// The model that proposes edits.
    pub optimizer_model: ModelRole,
    /// Calls in flight to one endpoint.
    pub max_concurrency: u32,
    /// Section `train`.
    pub train: Train,
    /// Section `gradient`.
    pub gradient: Gradient,
    /// Section `optimizer`.
    pub optimizer: Optimizer,
    /// Section `evaluation`.
    pub evaluation: Evaluation,
    /// Section `limits`.
    pub limits: Limits,
    /// Section `env`.
    pub env: SearchQaEnv,
    /// Whose rules the run follows.
    #[serde(default)]
    pub compat: Compat,
    /// Path of the cassette that `replay` answers from; empty for none.
    #[serde(default)]
    pub cassette: String,
    /// How programs that serve as models are run.
    #[serde(default)]
    pub agents: Agents,
}

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

impl RunConfig {
    /// Reads checked values and checks what concerns several keys.
    ///
    /// # Errors
    /// All problems at once.
    pub fn from_resolved(resolved: &Resolved) -> Result<Self, Vec<ConfigProblem>> {
        let reader = Reader { resolved: &resolved.completed() };
        let config = Self {
            target: reader.role(Role::Target),
            optimizer_model: reader.role(Role::Optimizer),
            max_concurrency: reader.count("model.max_concurrency"),
            train: reader.train(),
            gradient: reader.gradient(),
            optimizer: reader.optimizer(),
            evaluation: reader.evaluation(),
            limits: reader.limits(),
            env: reader.env(),
            compat: match reader.text("train.compat").as_str() {
                "python" => Compat::Python,
                _ => Compat::None,
            },
            cassette: reader.text("model.cassette"),
            agents: reader.agents(),
        };
        let problems = config.problems(&reader);
        if problems.is_empty() { Ok(config) } else { Err(problems) }
    }

    /// The model of a role.
    #[must_use]
    pub fn role(&self, role: Role) -> &ModelRole {
        match role {
            Role::Target => &self.target,
            Role::Optimizer => &self.optimizer_model,
        }
    }

    /// The run follows the rules of the Python system.
    #[must_use]
    pub fn is_python(&self) -> bool {
        self.compat == Compat::Python
    }

    fn problems(&self, reader: &Reader<'_>) -> Vec<ConfigProblem> {
        let mut found = Vec::new();
        let mut add = |path: &str, message: String| {
            let place =
                reader.resolved.place(path).filter(|place| **place != Place::default_value());
            found.push(ConfigProblem { path: path.to_owned(), place: place.cloned(), message });
        };
        if self.optimizer.min_learning_rate > self.optimizer.learning_rate {
            let highest = self.optimizer.learning_rate;
            add("optimizer.min_learning_rate", format!("must be at most the highest, {highest}"));
        }
        let replays = Role::ALL.iter().any(|role| self.role(*role).backend == BackendKind::Replay);
        if replays && self.cassette.is_empty() {
            add(
                "model.cassette",
                "needs the file to replay; `skillopt runs cassette RUN --output FILE` writes one"
                    .into(),
            );
        }
        for role in Role::ALL {
            let capped = self.limits.max_cost_usd_micros.is_some();
            for (path, message) in reader.problems_of_role(role, self.role(role), capped) {
                add(&path, message);
            }
        }
        match self.env.split_mode {
            SplitMode::SplitDir if self.env.split_dir.is_empty() => {
                add("env.split_dir", "needs a folder with train, val and test".into());
            }
            SplitMode::Ratio if self.env.data_path.is_empty() => {
                add("env.data_path", "needs a file to split".into());
            }
            SplitMode::SplitDir | SplitMode::Ratio => {}
        }
        if parse_ratio(&reader.text("env.split_ratio")).is_none() {
            add("env.split_ratio", "expected three whole numbers above 0, such as 2:1:7".into());
        }
        found
    }
}

struct Reader<'a> {
    resolved: &'a Resolved,
}

impl Reader<'_> {
    fn text(&self, path: &str) -> String {
        match self.resolved.get(path) {
            Value::Null => String::new(),
            other => other.to_string(),
        }
    }

    fn int(&self, path: &str) -> i64 {
        match self.resolved.get(path) {
            Value::Int(number) => *number,
            _ => 0,
        }
    }

    fn count(&self, path: &str) -> u32 {
        u32::try_from(self.int(path)).unwrap_or(u32::MAX)
    }

    fn seed(&self, path: &str) -> u64 {
        u64::try_from(self.int(path)).unwrap_or_default()
    }

    fn float(&self, path: &str) -> Option<f64> {
        match self.resolved.get(path) {
            Value::Float(number) => Some(*number),
            _ => None,
        }
    }

    fn is_default(&self, path: &str) -> bool {
        self.resolved.place(path).is_none_or(|place| *place == Place::default_value())
    }

    fn flag(&self, path: &str) -> bool {
        matches!(self.resolved.get(path), Value::Bool(true))
    }

    fn json(&self, path: &str) -> Option<serde_json::Value> {
        match self.resolved.get(path) {
            Value::Json(json) => Some(json.clone()),
            _ => None,
        }
    }

    fn train(&self) -> Train {
        Train {
            num_epochs: self.count("train.num_epochs"),
            train_size: self.count("train.train_size"),
            batch_size: self.count("train.batch_size"),
            accumulation: self.count("train.accumulation"),
            seed: self.seed("train.seed"),
        }
    }

    fn gradient(&self) -> Gradient {
        Gradient {
            minibatch_size: self.count("gradient.minibatch_size"),
            merge_batch_size: self.count("gradient.merge_batch_size"),
            analyst_workers: self.count("gradient.analyst_workers"),
            failure_only: self.flag("gradient.failure_only"),
            use_eval_feedback: self.flag("gradient.use_eval_feedback"),
        }
    }

    fn optimizer(&self) -> Optimizer {
        Optimizer {
            learning_rate: self.count("optimizer.learning_rate"),
            min_learning_rate: self.count("optimizer.min_learning_rate"),
            lr_scheduler: match self.text("optimizer.lr_scheduler").as_str() {
                "constant" => LrScheduler::Constant,
                "linear" => LrScheduler::Linear,
                _ => LrScheduler::Cosine,
            },
            lr_control: match self.text("optimizer.lr_control_mode").as_str() {
                "autonomous" => LrControl::Autonomous,
                "none" => LrControl::None,
                _ => LrControl::Fixed,
            },
            update_mode: match self.text("optimizer.skill_update_mode").as_str() {
                "rewrite_from_suggestions" => UpdateMode::RewriteFromSuggestions,
                "full_rewrite_minibatch" => UpdateMode::FullRewriteMinibatch,
                _ => UpdateMode::Patch,
            },
            slow_update: self.slow_update(),
            longitudinal: Longitudinal {
                samples: self.count("optimizer.slow_update_samples").max(1),
                policy: match self.text("optimizer.longitudinal_pair_policy").as_str() {
                    "changed" => PairPolicy::Changed,
                    "unchanged" => PairPolicy::Unchanged,
                    _ => PairPolicy::Mixed,
                },
            },
            meta_skill: self.flag("optimizer.use_meta_skill"),
            skill_aware: self.skill_aware(),
            rewrite_max_tokens: self.count("model.rewrite_max_completion_tokens").max(1),
            rewrite_effort: Effort::parse(&self.text("model.rewrite_reasoning_effort")),
            max_context_tokens: self.count("model.optimizer_max_context_tokens"),
            prompts_dir: self.text("optimizer.prompts_dir"),
        }
    }

    fn slow_update(&self) -> SlowUpdateMode {
        let path = "optimizer.slow_update_gate_with_selection";
        let gated = if self.is_default(path) {
            self.text("train.compat") != "python"
        } else {
            self.flag(path)
        };
        match (self.flag("optimizer.use_slow_update"), gated) {
            (false, _) => SlowUpdateMode::Off,
            (true, true) => SlowUpdateMode::Gated,
            (true, false) => SlowUpdateMode::Forced,
        }
    }

    fn skill_aware(&self) -> Option<SkillAware> {
        let threshold = self.count("optimizer.skill_aware_consolidate_threshold");
        self.flag("optimizer.use_skill_aware_reflection").then(|| SkillAware {
            source: match self.text("optimizer.skill_aware_appendix_source").as_str() {
                "failure_only" => AppendixSource::FailureOnly,
                _ => AppendixSource::Both,
            },
            consolidate_above: (threshold > 0).then_some(threshold),
        })
    }

    fn density(&self) -> Option<Density> {
        self.flag("evaluation.use_semantic_density").then(|| Density {
            weight: self.float("evaluation.semantic_density_weight").unwrap_or(0.05),
            words: leading_words(self.resolved.get("evaluation.leading_words")),
        })
    }

    fn evaluation(&self) -> Evaluation {
        Evaluation {
            gate_metric: match self.text("evaluation.gate_metric").as_str() {
                "soft" => GateMetric::Soft,
                "mixed" => GateMetric::Mixed,
                _ => GateMetric::Hard,
            },
            gate_mixed_weight: self.float("evaluation.gate_mixed_weight").unwrap_or(0.5),
            no_regression: self.flag("evaluation.no_regression"),
            eval_test: self.flag("evaluation.eval_test"),
            use_gate: self.flag("evaluation.use_gate"),
            sel_env_num: self.count("evaluation.sel_env_num"),
            test_env_num: self.count("evaluation.test_env_num"),
            density: self.density(),
        }
    }

    fn limits(&self) -> Limits {
        let above_zero = |number: u64| (number > 0).then_some(number);
        Limits {
            max_calls: above_zero(self.seed("limits.max_calls")),
            max_tokens: above_zero(self.seed("limits.max_tokens")),
            max_cost_usd_micros: above_zero(scaled(self.float("limits.max_cost_usd"), 1e6)),
            max_ms: above_zero(scaled(self.float("limits.max_minutes"), 60_000.0)),
            error_share: self.float("limits.error_share").unwrap_or(0.1),
        }
    }

    fn env(&self) -> SearchQaEnv {
        SearchQaEnv {
            name: self.text("env.name"),
            skill_init: self.text("env.skill_init"),
            split_mode: match self.text("env.split_mode").as_str() {
                "ratio" => SplitMode::Ratio,
                _ => SplitMode::SplitDir,
            },
            split_dir: self.text("env.split_dir"),
            data_path: self.text("env.data_path"),
            split_ratio: parse_ratio(&self.text("env.split_ratio")).unwrap_or([2, 1, 7]),
            split_seed: self.seed("env.split_seed"),
            split_output_dir: self.text("env.split_output_dir"),
            limit: self.count("env.limit"),
            workers: self.count("env.workers"),
            out_root: self.text("env.out_root"),
        }
    }
}

/// A non-negative number times a factor, rounded up to a whole number: a tiny cap is no missing cap.
fn scaled(number: Option<f64>, factor: f64) -> u64 {
    // Products such as 0.1 * 1e6 may lie a hair above the whole number that is meant.
    let product = (number.unwrap_or_default() * factor * 1e3).round() / 1e3;
    format!("{:.0}", product.ceil()).parse().unwrap_or_default()
}

/// The grammar of environment variables; empty means none.
fn is_variable_name(name: &str) -> bool {
    !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn parse_ratio(text: &str) -> Option<[u32; 3]> {
    let parts: Vec<u32> = text
        .split(':')
        .map(|part| part.trim().parse().ok().filter(|number| *number > 0))
        .collect::<Option<_>>()?;
    parts.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Setting, resolve};
    use rstest::rstest;

    fn config(changes: &[(&str, &str)]) -> Result<RunConfig, Vec<ConfigProblem>> {
        let base = [("model.backend", "mock"), ("env.split_dir", "data")];
        let settings: Vec<Setting> = base
            .iter()
            .chain(changes)
            .map(|(path, value)| Setting {
                path: (*path).to_owned(),
                value: Value::Text((*value).to_owned()),
                place: Place::flag(*path),
            })
            .collect();
        RunConfig::from_resolved(&resolve(&settings)?)
    }

    #[rstest]
    #[case("optimizer.min_learning_rate", "9", "must be at most the highest")]
    #[case("model.target_api_key_env", "sk-12345", "name of an environment variable")]
    #[case("model.target_extra_body", "{\"x\": {\"Api-Key\": \"v\"}}", "looks like a secret")]
    #[case("model.target_backend", "openai_compatible", "needs an address")]
    #[case("env.split_ratio", "2:0:1", "three whole numbers")]
    fn what_concerns_several_keys_is_checked(
        #[case] path: &str,
        #[case] value: &str,
        #[case] expect: &str,
    ) {
        let problems = config(&[(path, value)]).expect_err("refused");
        assert!(problems.iter().any(|problem| problem.message.contains(expect)), "{problems:?}");
        assert!(problems.iter().all(|problem| !problem.message.contains("sk-12345")));
    }

    #[rstest]
    #[case(&[("optimizer.use_slow_update", "true")], SlowUpdateMode::Gated)]
    #[case(&[("optimizer.use_slow_update", "true"), ("train.compat", "python")], SlowUpdateMode::Forced)]
    #[case(&[("optimizer.use_slow_update", "true"), ("train.compat", "python"),
             ("optimizer.slow_update_gate_with_selection", "true")], SlowUpdateMode::Gated)]
    #[case(&[("optimizer.slow_update_gate_with_selection", "true")], SlowUpdateMode::Off)]
    fn the_slow_update_is_gated_unless_someone_asks_otherwise(
        #[case] changes: &[(&str, &str)],
        #[case] expect: SlowUpdateMode,
    ) {
        assert_eq!(config(changes).expect("accepted").optimizer.slow_update, expect);
    }

    #[test]
    fn words_of_the_reference_system_mean_the_same_here() {
        let config = config(&[
            ("optimizer.lr_control_mode", "no_lr"),
            ("optimizer.skill_update_mode", "rewrite"),
            ("optimizer.longitudinal_pair_policy", "01_10"),
        ])
        .expect("accepted");
        assert_eq!(config.optimizer.lr_control, LrControl::None);
        assert_eq!(config.optimizer.update_mode, UpdateMode::RewriteFromSuggestions);
        assert_eq!(config.optimizer.longitudinal.policy, PairPolicy::Changed);
    }

    #[test]
    fn emphatic_words_come_from_the_config_or_from_the_reference_system() {
        let on = ("evaluation.use_semantic_density", "true");
        let density = |changes: &[(&str, &str)]| config(changes).expect("ok").evaluation.density;
        assert_eq!(density(&[]), None);
        assert_eq!(density(&[on]).expect("on").words.len(), 11);
        let own = density(&[on, ("evaluation.leading_words", "Must, keep")]).expect("on");
        assert_eq!(own.words, ["must", "keep"]);
    }

    #[test]
    fn a_run_that_is_older_than_a_key_has_its_default() {
        let settings =
            [("model.backend", "mock"), ("env.split_dir", "data")].map(|(path, value)| Setting {
                path: path.into(),
                value: Value::Text(value.into()),
                place: Place::flag(path),
            });
        let whole = resolve(&settings).expect("valid");
        let mut old = whole.clone();
        old.values.retain(|row| settings.iter().any(|setting| setting.path == row.path));
        let config = RunConfig::from_resolved(&old).expect("complete");
        assert_eq!(config, RunConfig::from_resolved(&whole).expect("complete"));
        assert!(config.gradient.use_eval_feedback && config.optimizer.max_context_tokens > 0);
    }

    #[test]
    fn a_tiny_cap_is_no_missing_cap() {
        let limits = config(&[("limits.max_cost_usd", "4e-7"), ("limits.max_minutes", "5e-6")])
            .expect("accepted")
            .limits;
        assert_eq!((limits.max_cost_usd_micros, limits.max_ms), (Some(1), Some(1)));
    }
}
