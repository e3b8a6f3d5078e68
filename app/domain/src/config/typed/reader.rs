//! Reads checked values into sections.

use super::sections::{
    Evaluation, Gradient, Limits, LrScheduler, Optimizer, SearchQaEnv, SplitMode, Train,
};
use crate::config::backend::Effort;
use crate::config::modes::{
    AppendixSource, Density, Longitudinal, LrControl, PairPolicy, SkillAware, SlowUpdateMode,
    UpdateMode, leading_words,
};
use crate::config::resolve::Resolved;
use crate::config::value::{Place, Value};
use crate::score::GateMetric;

pub(super) struct Reader<'a> {
    pub(super) resolved: &'a Resolved,
}

impl Reader<'_> {
    pub(super) fn text(&self, path: &str) -> String {
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

    pub(super) fn count(&self, path: &str) -> u32 {
        u32::try_from(self.int(path)).unwrap_or(u32::MAX)
    }

    pub(super) fn seed(&self, path: &str) -> u64 {
        u64::try_from(self.int(path)).unwrap_or_default()
    }

    pub(super) fn float(&self, path: &str) -> Option<f64> {
        match self.resolved.get(path) {
            Value::Float(number) => Some(*number),
            _ => None,
        }
    }

    pub(super) fn is_default(&self, path: &str) -> bool {
        self.resolved.place(path).is_none_or(|place| *place == Place::default_value())
    }

    pub(super) fn flag(&self, path: &str) -> bool {
        matches!(self.resolved.get(path), Value::Bool(true))
    }

    pub(super) fn json(&self, path: &str) -> Option<serde_json::Value> {
        match self.resolved.get(path) {
            Value::Json(json) => Some(json.clone()),
            _ => None,
        }
    }

    pub(super) fn train(&self) -> Train {
        Train {
            num_epochs: self.count("train.num_epochs"),
            train_size: self.count("train.train_size"),
            batch_size: self.count("train.batch_size"),
            accumulation: self.count("train.accumulation"),
            seed: self.seed("train.seed"),
        }
    }

    pub(super) fn gradient(&self) -> Gradient {
        Gradient {
            minibatch_size: self.count("gradient.minibatch_size"),
            merge_batch_size: self.count("gradient.merge_batch_size"),
            analyst_workers: self.count("gradient.analyst_workers"),
            failure_only: self.flag("gradient.failure_only"),
            use_eval_feedback: self.flag("gradient.use_eval_feedback"),
        }
    }

    pub(super) fn optimizer(&self) -> Optimizer {
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

    pub(super) fn evaluation(&self) -> Evaluation {
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

    pub(super) fn limits(&self) -> Limits {
        let above_zero = |number: u64| (number > 0).then_some(number);
        Limits {
            max_calls: above_zero(self.seed("limits.max_calls")),
            max_tokens: above_zero(self.seed("limits.max_tokens")),
            max_cost_usd_micros: above_zero(scaled(self.float("limits.max_cost_usd"), 1e6)),
            max_ms: above_zero(scaled(self.float("limits.max_minutes"), 60_000.0)),
            error_share: self.float("limits.error_share").unwrap_or(0.1),
        }
    }

    pub(super) fn env(&self) -> SearchQaEnv {
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
pub(super) fn is_variable_name(name: &str) -> bool {
    !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

pub(super) fn parse_ratio(text: &str) -> Option<[u32; 3]> {
    let parts: Vec<u32> = text
        .split(':')
        .map(|part| part.trim().parse().ok().filter(|number| *number > 0))
        .collect::<Option<_>>()?;
    parts.try_into().ok()
}
