//! What differs between two configs, key by key, and what each difference means for a run that has begun.
//! Compares values; what lies behind a path was looked at by the caller.

use super::resolve::Resolved;
use super::schema::{Availability, KEYS};
use super::value::Value;
use crate::json::from_fields;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What a change of a key means for a run that has begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum ChangeEffect {
    /// It shapes no answer and no decision: a run may go on with it.
    Safe,
    /// It can change results: it needs a run of its own.
    Results,
}

/// A key, or the data or the initial skill, with two values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ConfigDifference {
    /// `section.key`; [`DATA`] or [`SKILL`] for what is read from files.
    pub path: String,
    /// The value of the earlier run as text; `None` when it is not set.
    pub before: Option<String>,
    /// The wanted value as text; `None` when it is not set.
    pub after: Option<String>,
    /// What the change means.
    pub effect: ChangeEffect,
    /// Why, as a phrase in lower case without a full stop.
    pub why: String,
}

impl fmt::Display for ConfigDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |value: &Option<String>| value.clone().unwrap_or_else(|| "not set".to_owned());
        let effect = match self.effect {
            ChangeEffect::Safe => "safe",
            ChangeEffect::Results => "changes results",
        };
        let (before, after) = (shown(&self.before), shown(&self.after));
        write!(f, "{}: {before} → {after} ({effect}: {})", self.path, self.why)
    }
}

from_fields! { ConfigDifference { path, before, after, effect, why } }

/// The path of a difference of the tasks themselves.
pub const DATA: &str = "data";
/// The path of a difference of the initial skill's text.
pub const SKILL: &str = "skill";

/// Whether two things are the same, as far as somebody looked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sameness {
    /// They were compared and are the same.
    Same,
    /// They were compared and differ.
    Other,
    /// One of them could not be read.
    Unknown,
}

/// What lies behind the paths of two configs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contents {
    /// All tasks of all splits, in order.
    pub data: Sameness,
    /// The text of the initial skill.
    pub skill: Sameness,
}

/// How a key takes effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bearing {
    Safe,
    Results,
    /// It says where the tasks are: only the tasks count.
    Data,
    /// It says where the initial skill is: only the text counts.
    Skill,
    /// The folder of the run itself, which no other run shares.
    Folder,
}

struct Row {
    bearing: Bearing,
    why: &'static str,
    paths: &'static [&'static str],
}

const fn row(bearing: Bearing, why: &'static str, paths: &'static [&'static str]) -> Row {
    Row { bearing, why, paths }
}

use Bearing::{Data, Folder, Results, Safe, Skill};

/// Every key that has an effect, once.
const BEARINGS: &[Row] = &[
    row(
        Safe,
        "a cap stops a run and shapes no answer",
        &["limits.max_calls", "limits.max_tokens", "limits.max_cost_usd", "limits.max_minutes"],
    ),
    row(
        Results,
        "it says with how many broken attempts a gate still decides",
        &["limits.error_share"],
    ),
    row(
        Safe,
        "speed only; results stand in the order of tasks",
        &[
            "env.workers",
            "gradient.analyst_workers",
            "model.max_concurrency",
            "model.mock_latency_ms",
        ],
    ),
    row(
        Safe,
        "patience only; an answer that comes is the same",
        &[
            "model.target_timeout_seconds",
            "model.optimizer_timeout_seconds",
            "model.qwen_chat_timeout_seconds",
            "model.target_qwen_chat_timeout_seconds",
            "model.optimizer_qwen_chat_timeout_seconds",
            "model.total_timeout_seconds",
            "model.max_retries",
            "model.max_retry_after_seconds",
            "model.copilot_chat_timeout",
            "model.exec_empty_response_retries",
        ],
    ),
    row(
        Safe,
        "the same model under another key",
        &["model.target_api_key_env", "model.optimizer_api_key_env"],
    ),
    row(
        Safe,
        "it counts money and shapes no answer; what was spent keeps its price",
        &[
            "model.target_price_in",
            "model.target_price_cached_in",
            "model.target_price_cache_write",
            "model.target_price_out",
            "model.optimizer_price_in",
            "model.optimizer_price_cached_in",
            "model.optimizer_price_cache_write",
            "model.optimizer_price_out",
        ],
    ),
    row(
        Safe,
        "it changes how a request is labelled and no answer",
        &["model.send_skillopt_headers", "model.token_limit_param"],
    ),
    row(Safe, "it changes how a reply comes and not what it says", &["model.stream"]),
    row(
        Safe,
        "it changes how a call signs in and not what is asked",
        &[
            "model.azure_openai_auth_mode",
            "model.target_azure_openai_auth_mode",
            "model.optimizer_azure_openai_auth_mode",
            "model.azure_openai_ad_scope",
            "model.target_azure_openai_ad_scope",
            "model.optimizer_azure_openai_ad_scope",
            "model.azure_openai_managed_identity_client_id",
            "model.target_azure_openai_managed_identity_client_id",
            "model.optimizer_azure_openai_managed_identity_client_id",
        ],
    ),
    row(Safe, "it is only checked against the data", &["train.train_size"]),
    row(
        Results,
        "another model answers",
        &[
            "model.backend",
            "model.target_backend",
            "model.target",
            "model.optimizer_backend",
            "model.optimizer",
            "model.minimax_model",
            "model.cassette",
        ],
    ),
    row(
        Results,
        "a program that is run in another way may answer in another way",
        &[
            "model.codex_exec_path",
            "model.codex_exec_sandbox",
            "model.codex_exec_profile",
            "model.codex_exec_reasoning_effort",
            "model.codex_exec_network_access",
            "model.codex_exec_web_search",
            "model.codex_exec_approval_policy",
            "model.claude_code_exec_path",
            "model.claude_code_exec_effort",
            "model.claude_code_exec_max_thinking_tokens",
            "model.claude_code_exec_permission_mode",
            "model.claude_code_exec_tools",
            "model.claude_setting_sources",
            "model.cursor_exec_path",
            "model.cursor_exec_sandbox",
            "model.copilot_exec_path",
            "model.copilot_exec_home",
            "model.copilot_exec_allow_all_tools",
            "model.copilot_exec_stand_in_tools",
            "model.copilot_chat_optimizer_model",
            "model.copilot_chat_target_model",
            "model.pi_path",
            "model.opencode_path",
        ],
    ),
    row(
        Results,
        "it says what the optimizer reads of an attempt",
        &["model.codex_trace_to_optimizer"],
    ),
    row(
        Results,
        "another address may serve another model under the same name",
        &[
            "model.openai_compatible_base_url",
            "model.target_openai_compatible_base_url",
            "model.optimizer_openai_compatible_base_url",
            "model.azure_openai_endpoint",
            "model.target_azure_openai_endpoint",
            "model.optimizer_azure_openai_endpoint",
            "model.qwen_chat_base_url",
            "model.target_qwen_chat_base_url",
            "model.optimizer_qwen_chat_base_url",
            "model.minimax_region",
            "model.minimax_base_url",
            "model.anthropic_base_url",
        ],
    ),
    row(
        Results,
        "it goes to the model and shapes its answers",
        &[
            "model.target_temperature",
            "model.optimizer_temperature",
            "env.max_completion_tokens",
            "model.optimizer_max_completion_tokens",
            "model.rewrite_max_completion_tokens",
            "model.target_extra_body",
            "model.optimizer_extra_body",
            "model.rewrite_reasoning_effort",
            "model.reasoning_effort",
            "model.target_reasoning_effort",
            "model.optimizer_reasoning_effort",
            "model.openai_api",
            "model.target_openai_api",
            "model.optimizer_openai_api",
            "model.azure_openai_api_version",
            "model.target_azure_openai_api_version",
            "model.optimizer_azure_openai_api_version",
            "model.qwen_chat_thinking_mode",
            "model.target_qwen_chat_thinking_mode",
            "model.optimizer_qwen_chat_thinking_mode",
            "model.qwen_chat_enable_thinking",
            "model.target_qwen_chat_enable_thinking",
            "model.optimizer_qwen_chat_enable_thinking",
            "model.qwen_chat_temperature",
            "model.target_qwen_chat_temperature",
            "model.optimizer_qwen_chat_temperature",
            "model.qwen_chat_max_tokens",
            "model.target_qwen_chat_max_tokens",
            "model.optimizer_qwen_chat_max_tokens",
            "model.minimax_temperature",
            "model.minimax_max_tokens",
            "model.minimax_enable_thinking",
        ],
    ),
    row(Results, "other tasks and another way to score them", &["env.name"]),
    row(
        Data,
        "it says where the tasks are",
        &[
            "env.split_mode",
            "env.split_dir",
            "env.data_path",
            "env.split_ratio",
            "env.split_seed",
            "env.split_output_dir",
            "env.limit",
        ],
    ),
    row(Skill, "it says where the initial skill is", &["env.skill_init"]),
    row(
        Results,
        "other batches: the optimizer reads other attempts",
        &["train.batch_size", "train.accumulation", "train.seed"],
    ),
    row(Results, "another number of steps, and with it another schedule", &["train.num_epochs"]),
    row(
        Results,
        "it shapes what the optimizer reads and proposes",
        &[
            "gradient.minibatch_size",
            "gradient.merge_batch_size",
            "gradient.failure_only",
            "gradient.use_eval_feedback",
            "model.optimizer_max_context_tokens",
            "optimizer.skill_update_mode",
            "optimizer.use_skill_aware_reflection",
            "optimizer.skill_aware_appendix_source",
            "optimizer.skill_aware_consolidate_threshold",
            "optimizer.use_meta_skill",
        ],
    ),
    row(Results, "other words for optimizer and target", &["optimizer.prompts_dir"]),
    row(
        Results,
        "another edit budget",
        &[
            "optimizer.learning_rate",
            "optimizer.min_learning_rate",
            "optimizer.lr_scheduler",
            "optimizer.lr_control_mode",
        ],
    ),
    row(
        Results,
        "other guidance between epochs",
        &[
            "optimizer.use_slow_update",
            "optimizer.slow_update_gate_with_selection",
            "optimizer.slow_update_samples",
            "optimizer.longitudinal_pair_policy",
            "train.compat",
        ],
    ),
    row(
        Results,
        "the gate decides in another way",
        &[
            "evaluation.gate_metric",
            "evaluation.gate_mixed_weight",
            "evaluation.no_regression",
            "evaluation.use_gate",
            "evaluation.sel_env_num",
            "evaluation.use_semantic_density",
            "evaluation.semantic_density_weight",
            "evaluation.leading_words",
        ],
    ),
    row(
        Results,
        "another measurement at the end",
        &["evaluation.test_env_num", "evaluation.eval_test"],
    ),
    row(Folder, "the folder of the run", &["env.out_root"]),
];

/// What differs, in the order of the schema. The folder of a run is its own and never listed.
#[must_use]
pub fn differences(
    before: &Resolved,
    after: &Resolved,
    contents: Contents,
) -> Vec<ConfigDifference> {
    let built = KEYS.iter().filter(|spec| spec.availability == Availability::Built);
    built
        .filter_map(|spec| {
            let (old, new) =
                (before.value_or_default(spec.path), after.value_or_default(spec.path));
            let (bearing, why) = bearing_of(spec.path);
            if old == new || bearing == Folder {
                return None;
            }
            let (effect, why) = effect(bearing, why, contents);
            let path = spec.path.to_owned();
            Some(ConfigDifference { path, before: text(&old), after: text(&new), effect, why })
        })
        .collect()
}

/// A key that the table does not know yet counts as one that changes results.
fn bearing_of(path: &str) -> (Bearing, &'static str) {
    let found = BEARINGS.iter().find(|row| row.paths.contains(&path));
    found.map_or((Results, "it may shape answers"), |row| (row.bearing, row.why))
}

fn effect(bearing: Bearing, why: &str, contents: Contents) -> (ChangeEffect, String) {
    let by_content = |sameness, what: &str| match sameness {
        Sameness::Same => (ChangeEffect::Safe, format!("{why}, and {what} the same")),
        Sameness::Other => (ChangeEffect::Results, format!("{why}, and {what} others")),
        Sameness::Unknown => {
            (ChangeEffect::Results, format!("{why}; whether {what} the same is not known"))
        }
    };
    match bearing {
        Safe | Folder => (ChangeEffect::Safe, why.to_owned()),
        Results => (ChangeEffect::Results, why.to_owned()),
        Data => by_content(contents.data, "they are"),
        Skill => match contents.skill {
            Sameness::Same => (ChangeEffect::Safe, format!("{why}, and its text is the same")),
            Sameness::Other => (ChangeEffect::Results, format!("{why}, and its text is another")),
            Sameness::Unknown => {
                (ChangeEffect::Results, format!("{why}; whether its text is the same is not known"))
            }
        },
    }
}

fn text(value: &Value) -> Option<String> {
    (*value != Value::Null).then(|| value.to_string())
}

/// Something of these changes results.
#[must_use]
pub fn needs_fork(differences: &[ConfigDifference]) -> bool {
    differences.iter().any(|one| one.effect == ChangeEffect::Results)
}

/// The command that starts a fork of a run (named by its short id) with these differences.
#[must_use]
pub fn fork_command(run: &str, differences: &[ConfigDifference]) -> String {
    let mut command = format!("skillopt runs fork {run}");
    let keys = differences.iter().filter(|one| one.path.contains('.'));
    for (at, one) in keys.enumerate() {
        command += if at == 0 { " --cfg-options " } else { " " };
        command += &quoted(&format!("{}={}", one.path, one.after.as_deref().unwrap_or_default()));
    }
    command
}

/// A word that a POSIX shell takes as it is.
fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_-./=:,+@".contains(letter);
    if word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::super::{Place, Setting, resolve};
    use super::*;
    use rstest::rstest;

    const SAME: Contents = Contents { data: Sameness::Same, skill: Sameness::Same };

    fn config(words: &[(&str, &str)]) -> Resolved {
        let settings: Vec<Setting> = words
            .iter()
            .map(|(path, value)| Setting {
                path: (*path).to_owned(),
                value: Value::Text((*value).to_owned()),
                place: Place::flag("test"),
            })
            .collect();
        resolve(&settings).expect("a config")
    }

    #[test]
    fn every_key_of_the_schema_stands_in_the_table_once_and_no_other() {
        let listed: Vec<&str> = BEARINGS.iter().flat_map(|row| row.paths.iter().copied()).collect();
        for spec in KEYS.iter().filter(|spec| spec.availability == Availability::Built) {
            let n = listed.iter().filter(|path| **path == spec.path).count();
            assert_eq!(n, 1, "{}", spec.path);
        }
        for path in listed {
            let spec = KEYS.iter().find(|spec| spec.path == path);
            assert!(spec.is_some_and(|spec| spec.availability == Availability::Built), "{path}");
        }
    }

    #[rstest]
    #[case("limits.max_calls", "5", ChangeEffect::Safe)]
    #[case("env.workers", "3", ChangeEffect::Safe)]
    #[case("model.target_timeout_seconds", "9", ChangeEffect::Safe)]
    #[case("env.split_dir", "elsewhere", ChangeEffect::Safe)]
    #[case("limits.error_share", "0.5", ChangeEffect::Results)]
    #[case("train.seed", "7", ChangeEffect::Results)]
    #[case("train.batch_size", "7", ChangeEffect::Results)]
    #[case("model.target", "another", ChangeEffect::Results)]
    #[case("optimizer.learning_rate", "9", ChangeEffect::Results)]
    fn one_change_is_one_row_with_its_effect(
        #[case] path: &str,
        #[case] value: &str,
        #[case] effect: ChangeEffect,
    ) {
        let found = differences(&config(&[]), &config(&[(path, value)]), SAME);
        let [one] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!(
            (one.path.as_str(), one.after.as_deref(), one.effect),
            (path, Some(value), effect)
        );
        assert_eq!(needs_fork(&found), effect == ChangeEffect::Results);
    }

    #[rstest]
    #[case(Sameness::Same, ChangeEffect::Safe)]
    #[case(Sameness::Other, ChangeEffect::Results)]
    #[case(Sameness::Unknown, ChangeEffect::Results)]
    fn a_path_counts_by_what_lies_behind_it(#[case] found: Sameness, #[case] effect: ChangeEffect) {
        let contents = Contents { data: found, skill: found };
        for path in ["env.data_path", "env.skill_init"] {
            let rows = differences(&config(&[]), &config(&[(path, "x")]), contents);
            assert_eq!(rows[0].effect, effect, "{rows:?}");
        }
    }

    #[test]
    fn the_fork_command_carries_every_key_and_is_safe_in_a_shell() {
        let wanted = [("train.seed", "7"), ("model.target", "a b'c")];
        let mut rows = differences(&config(&[]), &config(&wanted), SAME);
        rows.push(ConfigDifference {
            path: DATA.into(),
            before: None,
            after: None,
            effect: ChangeEffect::Results,
            why: "others".into(),
        });
        let command = fork_command("01234567", &rows);
        let expect =
            r"skillopt runs fork 01234567 --cfg-options 'model.target=a b'\''c' train.seed=7";
        assert_eq!(command, expect);
        assert_eq!(
            rows[1].to_string(),
            "train.seed: 42 → 7 (changes results: other batches: the optimizer reads other attempts)"
        );
        assert_eq!(fork_command("01234567", &[]), "skillopt runs fork 01234567");
    }

    #[test]
    fn the_folder_is_never_listed_and_a_key_that_an_old_run_does_not_know_has_its_default() {
        let mut old = config(&[("env.out_root", "a")]);
        assert_eq!(differences(&old, &config(&[("env.out_root", "b")]), SAME), []);
        old.values.retain(|row| row.path != "optimizer.slow_update_samples");
        assert_eq!(differences(&old, &config(&[]), SAME), []);
        let rows = differences(&old, &config(&[("optimizer.slow_update_samples", "3")]), SAME);
        assert_eq!(rows[0].before.as_deref(), Some("20"));
    }
}
