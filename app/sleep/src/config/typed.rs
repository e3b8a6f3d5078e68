//! The config as the night uses it. Every field is a key of the table and has its name.

use super::backend::BackendName;
use super::environment::Environment;
use crate::consolidate::GateMode;
use crate::stage::MemoryFile;
use serde::{Deserialize, Serialize};
use skillopt_domain::score::GateMetric;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Sessions of which projects count.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Projects {
    /// The one that the night is for, with folders above and below.
    Invoked,
    /// All.
    All,
    /// These.
    #[serde(untagged)]
    List(Vec<PathBuf>),
}

/// How tasks are split.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SplitRule {
    /// The tasks of a session stay together.
    Session,
    /// Each task alone, as the reference system does.
    Compat,
}

impl From<SplitRule> for crate::split::SplitRule {
    fn from(rule: SplitRule) -> Self {
        match rule {
            SplitRule::Session => Self::Grouped,
            SplitRule::Compat => Self::Python,
        }
    }
}

/// The whole config.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "the keys of the reference system are what they are"
)]
#[expect(missing_docs, reason = "each field is explained in the table of keys, which has its name")]
pub struct Config {
    pub claude_home: PathBuf,
    pub codex_home: PathBuf,
    pub pi_home: PathBuf,
    pub cursor_home: PathBuf,
    pub vscode_workspace_storage: PathBuf,
    pub copilot_cli_session_store: PathBuf,
    pub opencode_db: PathBuf,
    pub transcript_source: String,
    pub projects: Projects,
    pub invoked_project: PathBuf,
    pub lookback_hours: Option<u64>,
    pub max_tasks_per_night: u64,
    pub max_sessions_per_night: Option<u64>,
    pub max_tokens_per_night: u64,
    pub(super) holdout_fraction: f64,
    pub(super) val_fraction: f64,
    pub test_fraction: f64,
    pub backend: BackendName,
    pub model: String,
    pub optimizer_backend: BackendName,
    pub optimizer_model: String,
    pub target_backend: BackendName,
    pub target_model: String,
    pub azure_endpoint: String,
    pub codex_path: PathBuf,
    pub pi_path: PathBuf,
    pub cursor_path: PathBuf,
    pub opencode_path: PathBuf,
    pub opencode_tool_replay: bool,
    pub state_dir: PathBuf,
    pub edit_budget: u64,
    pub preferences: String,
    pub gate_mode: GateMode,
    pub gate_metric: GateMetric,
    pub gate_mixed_weight: f64,
    pub gate_no_regression: bool,
    pub replay_mode: String,
    pub dream_rollouts: u64,
    pub dream_factor: u64,
    pub recall_k: u64,
    pub evolve_memory: bool,
    pub evolve_skill: bool,
    pub llm_mine: bool,
    pub target_skill_path: PathBuf,
    pub skill_roots: Vec<PathBuf>,
    pub target_task_filter: bool,
    pub progress: bool,
    pub evidence_log: bool,
    pub evidence_max_chars: u64,
    pub(super) multi_skill_fanout: Option<bool>,
    pub(super) multi_skill_report: bool,
    pub auto_adopt: bool,
    pub managed_skill_name: String,
    pub redact_secrets: bool,
    pub seed: u64,
    pub max_cost_usd_per_night: Option<f64>,
    pub max_minutes_per_night: Option<f64>,
    pub judge_backend: BackendName,
    pub judge_model: String,
    pub split_rule: SplitRule,
    pub gate_per_edit: bool,
    pub gate_margin: f64,
    pub gate_min_tasks: u64,
    pub gate_repeats: u64,
    pub reward_tokens_weight: f64,
    pub reward_latency_weight: f64,
    pub slow_update: bool,
    pub attempt_max_tokens: Option<u32>,
    pub judge_max_tokens: Option<u32>,
    pub miner_max_tokens: Option<u32>,
    pub reflect_max_tokens: Option<u32>,
    pub memory_target: MemoryFile,
    pub keep_nights: u64,
    pub keep_days: u64,
    /// Keys that a file or a flag set.
    #[serde(skip)]
    pub user_set: BTreeSet<&'static str>,
    /// What environment variables say.
    #[serde(skip)]
    pub env: Environment,
}

/// A backend with its model, both as asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoleBackend {
    /// The backend.
    pub backend: BackendName,
    /// The model; empty for the backend's own.
    pub model: String,
}

impl Config {
    /// Share of tasks that the gate measures on: `val_fraction` when a person set it, else `holdout_fraction` when a
    /// person set that, else the default.
    #[must_use]
    pub fn val_fraction(&self) -> f64 {
        let by_older_name =
            !self.user_set.contains("val_fraction") && self.user_set.contains("holdout_fraction");
        if by_older_name { self.holdout_fraction } else { self.val_fraction }
    }

    /// Each skill that sessions used gets its own proposal.
    #[must_use]
    pub fn is_fanout(&self) -> bool {
        self.multi_skill_fanout.unwrap_or(self.multi_skill_report)
    }

    /// The most sessions of a night.
    #[must_use]
    pub fn max_sessions(&self) -> u64 {
        let asked = self.max_sessions_per_night.filter(|sessions| *sessions > 0);
        asked.unwrap_or(self.max_tasks_per_night.saturating_mul(3))
    }

    /// How far the first harvest looks back, in hours; `None` is the whole history.
    #[must_use]
    pub fn lookback(&self) -> Option<u64> {
        self.lookback_hours.filter(|hours| *hours > 0)
    }

    /// The managed skill's file.
    #[must_use]
    pub fn managed_skill_path(&self) -> PathBuf {
        if self.target_skill_path.as_os_str().is_empty() {
            return self.claude_home.join("skills").join(&self.managed_skill_name).join("SKILL.md");
        }
        self.invoked_project.join(&self.target_skill_path)
    }

    /// The memory's file.
    #[must_use]
    pub fn memory_path(&self) -> PathBuf {
        self.invoked_project.join(self.memory_target.file_name())
    }

    /// Folders with skills that the config names, relative ones below the project.
    #[must_use]
    pub fn skill_root_paths(&self) -> Vec<PathBuf> {
        self.skill_roots.iter().map(|root| self.invoked_project.join(root)).collect()
    }

    /// Folders below which adoption may write: the project, the agents' homes, the roots, the target skill's folder.
    #[must_use]
    pub fn adoption_roots(&self) -> Vec<PathBuf> {
        let skill = self.managed_skill_path();
        let mut roots = vec![self.invoked_project.clone(), self.claude_home.clone()];
        roots.extend(skill.parent().map(Path::to_owned));
        roots.extend(self.skill_root_paths());
        let others = [&self.codex_home, &self.cursor_home].into_iter();
        let named = others.filter(|home| !home.as_os_str().is_empty());
        roots.extend(named.map(|home| home.join("skills")));
        roots
    }

    /// Addresses of Azure, in the order in which they take turns.
    #[must_use]
    pub fn azure_endpoints(&self) -> Vec<&str> {
        let parts = self.azure_endpoint.split(',').map(str::trim);
        parts.filter(|address| !address.is_empty()).collect()
    }

    /// Who performs tasks.
    #[must_use]
    pub fn target(&self) -> RoleBackend {
        self.role(self.target_backend, &self.target_model, self.backend, &self.model)
    }

    /// Who reflects and mines.
    #[must_use]
    pub fn optimizer(&self) -> RoleBackend {
        self.role(self.optimizer_backend, &self.optimizer_model, self.backend, &self.model)
    }

    /// Who scores by rubric.
    #[must_use]
    pub fn judge(&self) -> RoleBackend {
        let optimizer = self.optimizer();
        self.role(self.judge_backend, &self.judge_model, optimizer.backend, &optimizer.model)
    }

    /// Some role calls a real model.
    #[must_use]
    pub fn spends(&self) -> bool {
        [self.target(), self.optimizer(), self.judge()]
            .iter()
            .any(|role| role.backend != BackendName::MOCK)
    }

    fn role(
        &self,
        backend: BackendName,
        model: &str,
        other: BackendName,
        default: &str,
    ) -> RoleBackend {
        let backend = if backend.is_none() { other } else { backend };
        let model = if model.is_empty() { default } else { model };
        let named = self.env.models.get(backend.as_str()).cloned().unwrap_or_default();
        RoleBackend { backend, model: if model.is_empty() { named } else { model.to_owned() } }
    }
}
