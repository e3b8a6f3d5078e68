//! The table of keys: the reference system's sections and names, and our own additions.

use serde::{Deserialize, Serialize};

/// What values a key takes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum KeyKind {
    /// `true` or `false`.
    Bool,
    /// A whole number within bounds.
    Int {
        /// Lowest allowed.
        min: i64,
        /// Highest allowed.
        max: i64,
    },
    /// A number within bounds.
    Float {
        /// Lowest allowed.
        min: f64,
        /// Highest allowed.
        max: f64,
    },
    /// Free text.
    Text,
    /// A path; relative ones start at the working directory.
    Path,
    /// One of a few words.
    Choice {
        /// The words.
        options: &'static [&'static str],
    },
    /// A JSON object.
    Json,
}

/// Whether a key can be used today.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Availability {
    /// It has an effect.
    Built,
    /// Part of the reference system, not built yet: accepted at these values only, which mean "off".
    NotBuilt {
        /// Values that ask for nothing.
        off: &'static [&'static str],
    },
    /// Computed or retired: accepted with a warning that says why it has no effect.
    Ignored {
        /// The reason.
        reason: &'static str,
    },
    /// A secret: refused, with the right way shown.
    Secret,
}

/// Where a key stands in the launch form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Group {
    /// Skill and data.
    Data,
    /// Target and optimizer.
    Models,
    /// How long and how bold.
    Training,
    /// When an edit may stay.
    Gate,
    /// When the run must stop.
    Limits,
    /// For few.
    Advanced,
}

/// One key.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct KeySpec {
    /// `section.key`.
    pub path: &'static str,
    /// Label in the form.
    pub label: &'static str,
    /// What it takes.
    pub kind: KeyKind,
    /// The default as text; empty for "not set".
    pub default: &'static str,
    /// Unit shown inside the field; empty for none.
    pub unit: &'static str,
    /// One sentence.
    pub help: &'static str,
    /// Where it stands.
    pub group: Group,
    /// Whether it works.
    pub availability: Availability,
}

use Availability::{Built, Ignored, NotBuilt, Secret};
use Group::{Advanced, Data, Gate, Limits, Models, Training};
use KeyKind::{Bool, Choice, Float, Int, Json, Path, Text};

const COUNT: KeyKind = Int { min: 0, max: 1_000_000_000 };
const POSITIVE: KeyKind = Int { min: 1, max: 1_000_000 };
const BACKENDS: KeyKind = Choice { options: &["openai_compatible", "mock", "replay"] };
const TOKEN_PARAM: KeyKind = Choice { options: &["auto", "max_tokens", "max_completion_tokens"] };
const TEMPERATURE: KeyKind = Float { min: 0.0, max: 2.0 };
const TIMEOUT: KeyKind = Float { min: 0.1, max: 86_400.0 };
const PRICE: KeyKind = Float { min: 0.0, max: 100_000.0 };

const fn key(
    path: &'static str,
    label: &'static str,
    kind: KeyKind,
    default: &'static str,
    group: Group,
    help: &'static str,
) -> KeySpec {
    KeySpec { path, label, kind, default, unit: "", help, group, availability: Built }
}

const fn unit(mut spec: KeySpec, unit: &'static str) -> KeySpec {
    spec.unit = unit;
    spec
}

const fn off(path: &'static str, off: &'static [&'static str]) -> KeySpec {
    KeySpec {
        path,
        label: "",
        kind: Text,
        default: "",
        unit: "",
        help: "",
        group: Advanced,
        availability: NotBuilt { off },
    }
}

const fn ignored(path: &'static str, reason: &'static str) -> KeySpec {
    KeySpec { availability: Ignored { reason }, ..off(path, &[]) }
}

const fn secret(path: &'static str) -> KeySpec {
    KeySpec { availability: Secret, ..off(path, &[]) }
}

const LR_CONTROL: KeyKind = Choice { options: &["fixed", "autonomous", "none"] };
const UPDATE_MODES: KeyKind =
    Choice { options: &["patch", "rewrite_from_suggestions", "full_rewrite_minibatch"] };
const PAIR_POLICIES: KeyKind = Choice { options: &["mixed", "changed", "unchanged"] };
const OFF_FALSE: &[&str] = &["", "false"];
const OFF_EMPTY: &[&str] = &[""];
const AZURE_SCOPE: &[&str] = &["", "https://cognitiveservices.azure.com/.default"];

/// All keys, in the order of the form.
pub const KEYS: &[KeySpec] = &[
    // Skill and data.
    key(
        "env.name",
        "Benchmark",
        Choice { options: &["searchqa"] },
        "searchqa",
        Data,
        "Which tasks are performed and how they are scored.",
    ),
    key(
        "env.skill_init",
        "Skill",
        Path,
        "",
        Data,
        "The SKILL.md to start from. Leave empty to start from no skill.",
    ),
    key(
        "env.split_mode",
        "Splits",
        Choice { options: &["split_dir", "ratio"] },
        "split_dir",
        Data,
        "Folders that are split already, or one file that is split by a ratio.",
    ),
    key(
        "env.split_dir",
        "Split folder",
        Path,
        "",
        Data,
        "A folder with train, val and test, each with one JSON file.",
    ),
    key(
        "env.data_path",
        "Data file",
        Path,
        "",
        Data,
        "For ratio splits: one .json or .jsonl file, or a folder with exactly one.",
    ),
    key(
        "env.split_ratio",
        "Split, train : val : test",
        Text,
        "2:1:7",
        Data,
        "Three whole numbers above 0.",
    ),
    key("env.split_seed", "Split seed", COUNT, "42", Data, "The same seed gives the same split."),
    key(
        "env.split_output_dir",
        "Write splits to",
        Path,
        "",
        Advanced,
        "Where ratio splits are written; empty for the run folder.",
    ),
    unit(
        key(
            "env.limit",
            "Limit",
            COUNT,
            "0",
            Advanced,
            "Use only the first tasks of each split; 0 for all.",
        ),
        "tasks",
    ),
    // Models.
    key(
        "model.backend",
        "Backend",
        BACKENDS,
        "",
        Models,
        "Sets both roles at once; a role's own backend wins.",
    ),
    key(
        "model.target_backend",
        "Target backend",
        BACKENDS,
        "",
        Models,
        "Performs the tasks; openai_compatible when empty. `mock` is a simulation that needs no key; `replay` answers from model.cassette.",
    ),
    key("model.target", "Target model", Text, "", Models, "The model's name at its endpoint."),
    key(
        "model.optimizer_backend",
        "Optimizer backend",
        BACKENDS,
        "",
        Models,
        "Reads the results and proposes edits; openai_compatible when empty.",
    ),
    key(
        "model.optimizer",
        "Optimizer model",
        Text,
        "",
        Models,
        "The model's name at its endpoint.",
    ),
    key(
        "model.cassette",
        "Cassette",
        Path,
        "",
        Models,
        "For the backend `replay`: the file with recorded replies. Nothing is sent to any model.",
    ),
    key(
        "model.openai_compatible_base_url",
        "Base URL",
        Text,
        "",
        Models,
        "Address of the API, such as http://127.0.0.1:8000/v1; used by both roles.",
    ),
    key(
        "model.target_openai_compatible_base_url",
        "Base URL, target",
        Text,
        "",
        Advanced,
        "Address for the target only.",
    ),
    key(
        "model.optimizer_openai_compatible_base_url",
        "Base URL, optimizer",
        Text,
        "",
        Advanced,
        "Address for the optimizer only.",
    ),
    key(
        "model.target_api_key_env",
        "Key of the target",
        Text,
        "",
        Models,
        "Name of the environment variable that holds the key; the key itself is never stored.",
    ),
    key(
        "model.optimizer_api_key_env",
        "Key of the optimizer",
        Text,
        "",
        Models,
        "Name of the environment variable that holds the key.",
    ),
    unit(
        key(
            "env.workers",
            "Workers",
            Int { min: 1, max: 1024 },
            "24",
            Models,
            "Tasks rolled out at once.",
        ),
        "at once",
    ),
    unit(
        key(
            "gradient.analyst_workers",
            "Optimizer workers",
            Int { min: 1, max: 256 },
            "16",
            Models,
            "Optimizer calls at once.",
        ),
        "at once",
    ),
    unit(
        key(
            "model.max_concurrency",
            "Calls at once",
            Int { min: 1, max: 4096 },
            "64",
            Models,
            "Calls in flight to one endpoint, shared by all runs of this server.",
        ),
        "calls",
    ),
    key(
        "model.target_temperature",
        "Temperature, target",
        TEMPERATURE,
        "",
        Advanced,
        "Not sent when empty.",
    ),
    key(
        "model.optimizer_temperature",
        "Temperature, optimizer",
        TEMPERATURE,
        "",
        Advanced,
        "Not sent when empty.",
    ),
    unit(
        key(
            "env.max_completion_tokens",
            "Longest answer",
            Int { min: 1, max: 1_000_000 },
            "16384",
            Advanced,
            "Most tokens of one answer of the target.",
        ),
        "tokens",
    ),
    unit(
        key(
            "model.optimizer_max_completion_tokens",
            "Longest reflection",
            Int { min: 1, max: 1_000_000 },
            "16384",
            Advanced,
            "Most tokens of one optimizer reply.",
        ),
        "tokens",
    ),
    unit(
        key(
            "model.rewrite_max_completion_tokens",
            "Longest rewrite",
            Int { min: 1, max: 1_000_000 },
            "64000",
            Advanced,
            "Most tokens of one optimizer reply that holds a whole skill.",
        ),
        "tokens",
    ),
    unit(
        key(
            "model.optimizer_max_context_tokens",
            "Longest question",
            Int { min: 1000, max: 10_000_000 },
            "100000",
            Advanced,
            "Most tokens that one reflection or comparison may read: what the model takes, less the longest reply. Minibatches that do not fit are split.",
        ),
        "tokens",
    ),
    key(
        "model.token_limit_param",
        "Token limit field",
        TOKEN_PARAM,
        "auto",
        Advanced,
        "Name of the field on the wire; `auto` tries max_completion_tokens and learns from a refusal.",
    ),
    unit(
        key(
            "model.target_timeout_seconds",
            "Time-out, target",
            TIMEOUT,
            "300",
            Advanced,
            "Longest time for one attempt.",
        ),
        "s",
    ),
    unit(
        key(
            "model.optimizer_timeout_seconds",
            "Time-out, optimizer",
            TIMEOUT,
            "300",
            Advanced,
            "Longest time for one attempt.",
        ),
        "s",
    ),
    unit(
        key(
            "model.total_timeout_seconds",
            "Time-out of a call",
            TIMEOUT,
            "900",
            Advanced,
            "Longest time for one call with all its attempts and waits, so also the longest outage that loses nothing. Waiting for a free place does not count.",
        ),
        "s",
    ),
    key(
        "model.max_retries",
        "Retries",
        Int { min: 0, max: 20 },
        "5",
        Advanced,
        "Further attempts after a failure that may pass.",
    ),
    unit(
        key(
            "model.max_retry_after_seconds",
            "Longest wait",
            TIMEOUT,
            "300",
            Advanced,
            "A provider that asks for a longer wait counts as out of quota, and the run stops resumably.",
        ),
        "s",
    ),
    key(
        "model.target_extra_body",
        "Extra fields, target",
        Json,
        "",
        Advanced,
        "JSON object merged into each request.",
    ),
    key(
        "model.optimizer_extra_body",
        "Extra fields, optimizer",
        Json,
        "",
        Advanced,
        "JSON object merged into each request.",
    ),
    key(
        "model.send_skillopt_headers",
        "Send X-SkillOpt headers",
        Bool,
        "false",
        Advanced,
        "Adds run, role, phase and purpose to each request, for gateways.",
    ),
    unit(
        key(
            "model.target_price_in",
            "Price in, target",
            PRICE,
            "",
            Advanced,
            "Dollars for a million tokens read; unknown when empty.",
        ),
        "$/M",
    ),
    unit(
        key(
            "model.target_price_out",
            "Price out, target",
            PRICE,
            "",
            Advanced,
            "Dollars for a million tokens written.",
        ),
        "$/M",
    ),
    unit(
        key(
            "model.optimizer_price_in",
            "Price in, optimizer",
            PRICE,
            "",
            Advanced,
            "Dollars for a million tokens read; unknown when empty.",
        ),
        "$/M",
    ),
    unit(
        key(
            "model.optimizer_price_out",
            "Price out, optimizer",
            PRICE,
            "",
            Advanced,
            "Dollars for a million tokens written.",
        ),
        "$/M",
    ),
    unit(
        key(
            "model.mock_latency_ms",
            "Simulated latency",
            Int { min: 0, max: 60_000 },
            "0",
            Advanced,
            "Time that a simulated model takes to answer.",
        ),
        "ms",
    ),
    // Training.
    key(
        "train.num_epochs",
        "Epochs",
        Int { min: 1, max: 10_000 },
        "4",
        Training,
        "Passes over the train split.",
    ),
    unit(
        key(
            "train.batch_size",
            "Batch size",
            POSITIVE,
            "40",
            Training,
            "Tasks rolled out before one reflection.",
        ),
        "tasks",
    ),
    key(
        "train.accumulation",
        "Accumulation",
        Int { min: 1, max: 1000 },
        "1",
        Training,
        "Batches pooled into one step.",
    ),
    key(
        "train.seed",
        "Seed",
        COUNT,
        "42",
        Training,
        "Same seed and same ledger give the same run.",
    ),
    unit(
        key(
            "optimizer.learning_rate",
            "Budget, highest",
            Int { min: 1, max: 1000 },
            "4",
            Training,
            "Edits that may apply in a step at the start: the textual learning rate.",
        ),
        "edits a step",
    ),
    unit(
        key(
            "optimizer.min_learning_rate",
            "Budget, lowest",
            Int { min: 1, max: 1000 },
            "2",
            Training,
            "Edits that may apply in a step at the end.",
        ),
        "edits a step",
    ),
    key(
        "optimizer.lr_scheduler",
        "Schedule",
        Choice { options: &["constant", "linear", "cosine"] },
        "cosine",
        Training,
        "From highest to lowest over all steps.",
    ),
    key(
        "optimizer.lr_control_mode",
        "Budget set by",
        LR_CONTROL,
        "fixed",
        Training,
        "The schedule, the optimizer in each step, or nobody: then all that is proposed is tried.",
    ),
    key(
        "optimizer.skill_update_mode",
        "Update mode",
        UPDATE_MODES,
        "patch",
        Training,
        "Edits, suggestions that a call works into a new text, or whole new texts.",
    ),
    unit(
        key(
            "gradient.minibatch_size",
            "Minibatch",
            Int { min: 1, max: 1000 },
            "8",
            Training,
            "Trajectories read by one optimizer call.",
        ),
        "trajectories",
    ),
    unit(
        key(
            "gradient.merge_batch_size",
            "Merge group",
            Int { min: 2, max: 1000 },
            "8",
            Training,
            "Patches merged by one optimizer call.",
        ),
        "patches",
    ),
    key(
        "gradient.failure_only",
        "Failures only",
        Bool,
        "false",
        Training,
        "Do not reflect on passed tasks.",
    ),
    key(
        "gradient.use_eval_feedback",
        "Show the grading",
        Bool,
        "true",
        Advanced,
        "The optimizer reads why an attempt failed and what was expected. Off: it sees only that it failed. The target never sees it.",
    ),
    key(
        "optimizer.prompts_dir",
        "Own prompts",
        Path,
        "",
        Advanced,
        "A folder with prompts of your own, by name; `skillopt prompts export` writes those there are. Empty for none.",
    ),
    // Between epochs, and what reflection may write.
    key(
        "optimizer.use_slow_update",
        "Slow update",
        Bool,
        "false",
        Training,
        "From the second epoch on, compare the skills of two epochs on the same tasks and write guidance.",
    ),
    key(
        "optimizer.slow_update_gate_with_selection",
        "Gate the slow update",
        Bool,
        "true",
        Advanced,
        "Keep the guidance only if it passes the gate. When nobody sets it, train.compat: python turns it off.",
    ),
    unit(
        key(
            "optimizer.slow_update_samples",
            "Compared tasks",
            Int { min: 1, max: 100_000 },
            "20",
            Advanced,
            "Train tasks that are tried with the skills of two epochs.",
        ),
        "tasks",
    ),
    key(
        "optimizer.longitudinal_pair_policy",
        "Compared pairs",
        PAIR_POLICIES,
        "mixed",
        Advanced,
        "Which pairs the optimizer is shown; changed and unchanged try further tasks until there are enough.",
    ),
    key(
        "optimizer.use_meta_skill",
        "Meta skill",
        Bool,
        "false",
        Training,
        "The optimizer keeps a memory of what worked from epoch to epoch. The target never sees it.",
    ),
    key(
        "optimizer.use_skill_aware_reflection",
        "Tell lapses from defects",
        Bool,
        "false",
        Training,
        "A rule that stands in the skill and was not followed becomes a note in an appendix, no new rule.",
    ),
    key(
        "optimizer.skill_aware_appendix_source",
        "Notes from",
        Choice { options: &["both", "failure_only"] },
        "both",
        Advanced,
        "Failed and passed trajectories, or failed ones only.",
    ),
    unit(
        key(
            "optimizer.skill_aware_consolidate_threshold",
            "Condense notes above",
            COUNT,
            "0",
            Advanced,
            "With more notes than this a call condenses them; 0 for never.",
        ),
        "notes",
    ),
    key(
        "train.compat",
        "Compatibility",
        Choice { options: &["none", "python"] },
        "none",
        Advanced,
        "`python` follows the Python system's rules for edits, budgets, gate, memory and regions; see docs/replay.md.",
    ),
    unit(
        key(
            "train.train_size",
            "Train size",
            COUNT,
            "0",
            Advanced,
            "Must equal the size of the train split; 0 takes it from the data.",
        ),
        "tasks",
    ),
    // Gate.
    key(
        "evaluation.gate_metric",
        "Metric",
        Choice { options: &["hard", "soft", "mixed"] },
        "hard",
        Gate,
        "The number that must strictly rise for an edit to stay.",
    ),
    key(
        "evaluation.gate_mixed_weight",
        "Weight of soft",
        Float { min: 0.0, max: 1.0 },
        "0.5",
        Gate,
        "For the mixed metric: 0 is hard, 1 is soft.",
    ),
    key(
        "evaluation.no_regression",
        "No task may regress",
        Bool,
        "false",
        Gate,
        "Stricter: a candidate that breaks any task is rejected.",
    ),
    key(
        "evaluation.use_gate",
        "Use the gate",
        Bool,
        "true",
        Gate,
        "Off: every candidate stays, whatever its score. The best skill is still the one that measured best.",
    ),
    unit(
        key(
            "evaluation.sel_env_num",
            "Selection tasks",
            COUNT,
            "0",
            Advanced,
            "Gate on the first tasks of the val split only; 0 for all.",
        ),
        "tasks",
    ),
    unit(
        key(
            "evaluation.test_env_num",
            "Test tasks",
            COUNT,
            "0",
            Advanced,
            "Measure on the first tasks of the test split only; 0 for all.",
        ),
        "tasks",
    ),
    key(
        "evaluation.use_semantic_density",
        "Reward emphatic words",
        Bool,
        "false",
        Advanced,
        "Adds a bonus for words such as must and never. It rewards shouting, not results; meant for comparisons.",
    ),
    key(
        "evaluation.semantic_density_weight",
        "Weight of emphatic words",
        Float { min: 0.0, max: 1.0 },
        "0.05",
        Advanced,
        "The bonus of a skill that is made of such words only.",
    ),
    key(
        "evaluation.leading_words",
        "Emphatic words",
        Text,
        "",
        Advanced,
        "Separated by commas, or a list; those of the Python system when empty.",
    ),
    key(
        "evaluation.eval_test",
        "Measure on the test split",
        Bool,
        "true",
        Gate,
        "Initial and best skill, once, at the end. Never fed back.",
    ),
    // Limits.
    unit(
        key(
            "limits.max_calls",
            "Call cap",
            COUNT,
            "0",
            Limits,
            "Stops before the call that would pass it; 0 for none.",
        ),
        "calls",
    ),
    unit(
        key(
            "limits.max_tokens",
            "Token cap",
            COUNT,
            "0",
            Limits,
            "Stops before the call that could pass it; 0 for none.",
        ),
        "tokens",
    ),
    unit(
        key(
            "limits.max_cost_usd",
            "Spend cap",
            Float { min: 0.0, max: 1_000_000.0 },
            "0",
            Limits,
            "Needs prices. Stops before the call that could pass it; 0 for none.",
        ),
        "USD",
    ),
    unit(
        key(
            "limits.max_minutes",
            "Time cap",
            Float { min: 0.0, max: 1_000_000.0 },
            "0",
            Limits,
            "Working time over all resumes; 0 for none.",
        ),
        "min",
    ),
    unit(
        key(
            "limits.error_share",
            "Error limit",
            Float { min: 0.0, max: 1.0 },
            "0.1",
            Limits,
            "Above this share of failed attempts a stage ends the run as failed, never as \"no gain\".",
        ),
        "share",
    ),
    key(
        "env.out_root",
        "Run folder",
        Path,
        "",
        Advanced,
        "Where the run folder is written; empty for a folder of its own under the data directory.",
    ),
    // Computed or retired.
    ignored(
        "train.steps_per_epoch",
        "it is computed from the data, the batch size and the accumulation",
    ),
    ignored("gradient.max_analyst_rounds", "it was retired: one call reads each minibatch"),
    ignored("optimizer.meta_learning_rate", "no version of the system has used it"),
    // Parts of the reference system that are not built yet.
    off("env.max_turns", &["", "1"]),
    ignored("env.exec_timeout", "only agents that run programs use it"),
    off("model.reasoning_effort", OFF_EMPTY),
    off("model.rewrite_reasoning_effort", OFF_EMPTY),
    off("model.codex_exec_path", &["", "codex"]),
    off("model.codex_exec_sandbox", &["", "workspace-write"]),
    off("model.codex_exec_profile", OFF_EMPTY),
    off("model.codex_exec_reasoning_effort", &["", "none"]),
    off("model.codex_exec_use_sdk", &["", "auto"]),
    off("model.codex_exec_network_access", OFF_FALSE),
    off("model.codex_exec_web_search", OFF_FALSE),
    off("model.codex_exec_approval_policy", &["", "never"]),
    off("model.codex_trace_to_optimizer", &["", "true", "false"]),
    off("model.claude_code_exec_path", &["", "claude"]),
    off("model.claude_code_exec_profile", OFF_EMPTY),
    off("model.claude_code_exec_use_sdk", &["", "auto"]),
    off("model.claude_code_exec_effort", &["", "medium"]),
    off("model.claude_code_exec_max_thinking_tokens", &["", "16384"]),
    off("model.cursor_exec_path", &["", "cursor-agent"]),
    off("model.cursor_exec_sandbox", OFF_EMPTY),
    off("model.copilot_exec_path", OFF_EMPTY),
    off("model.copilot_exec_home", OFF_EMPTY),
    off("model.copilot_exec_allow_all_tools", OFF_FALSE),
    off("model.copilot_chat_optimizer_model", OFF_EMPTY),
    off("model.copilot_chat_target_model", OFF_EMPTY),
    off("model.copilot_chat_timeout", &["", "600"]),
    off("model.azure_openai_endpoint", OFF_EMPTY),
    off("model.azure_openai_api_version", &["", "2024-12-01-preview"]),
    off("model.azure_openai_auth_mode", OFF_EMPTY),
    off("model.azure_openai_ad_scope", AZURE_SCOPE),
    off("model.azure_openai_managed_identity_client_id", OFF_EMPTY),
    off("model.optimizer_azure_openai_endpoint", OFF_EMPTY),
    off("model.optimizer_azure_openai_api_version", &["", "2024-12-01-preview"]),
    off("model.optimizer_azure_openai_auth_mode", OFF_EMPTY),
    off("model.optimizer_azure_openai_ad_scope", AZURE_SCOPE),
    off("model.optimizer_azure_openai_managed_identity_client_id", OFF_EMPTY),
    off("model.target_azure_openai_endpoint", OFF_EMPTY),
    off("model.target_azure_openai_api_version", &["", "2024-12-01-preview"]),
    off("model.target_azure_openai_auth_mode", OFF_EMPTY),
    off("model.target_azure_openai_ad_scope", AZURE_SCOPE),
    off("model.target_azure_openai_managed_identity_client_id", OFF_EMPTY),
    off("model.qwen_chat_thinking_mode", OFF_EMPTY),
    off("model.optimizer_qwen_chat_thinking_mode", OFF_EMPTY),
    off("model.target_qwen_chat_thinking_mode", OFF_EMPTY),
    off("model.minimax_region", OFF_EMPTY),
    off("model.minimax_base_url", OFF_EMPTY),
    off("model.minimax_model", &["", "MiniMax-M3"]),
    off("model.minimax_temperature", &["", "0.7"]),
    off("model.minimax_max_tokens", &["", "8000"]),
    off("model.minimax_enable_thinking", OFF_FALSE),
    // Secrets.
    secret("model.api_key"),
    secret("model.openai_api_key"),
    secret("model.openai_compatible_api_key"),
    secret("model.target_openai_compatible_api_key"),
    secret("model.optimizer_openai_compatible_api_key"),
    secret("model.azure_api_key"),
    secret("model.azure_openai_api_key"),
    secret("model.optimizer_azure_openai_api_key"),
    secret("model.target_azure_openai_api_key"),
    secret("model.qwen_chat_api_key"),
    secret("model.minimax_api_key"),
];

/// The key with this path.
#[must_use]
pub fn find_key(path: &str) -> Option<&'static KeySpec> {
    KEYS.iter().find(|spec| spec.path == path)
}

/// The known key that looks most like a misspelt one.
#[must_use]
pub fn suggest_key(path: &str) -> Option<&'static str> {
    let name = path.rsplit('.').next().unwrap_or(path);
    let likeness = |spec: &&KeySpec| {
        let own = spec.path.rsplit('.').next().unwrap_or(spec.path);
        strsim::jaro_winkler(spec.path, path).max(strsim::jaro_winkler(own, name) - 0.02)
    };
    KEYS.iter()
        .filter(|spec| spec.availability == Built)
        .map(|spec| (likeness(&spec), spec.path))
        .max_by(|left, right| left.0.total_cmp(&right.0))
        .filter(|(ratio, _)| *ratio > 0.8)
        .map(|(_, path)| path)
}
