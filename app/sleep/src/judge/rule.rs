//! A judge of checks: hard when all pass, soft by how many do.

use super::check::Rule;
use super::tool::ToolName;
use super::{Judged, share};
use serde_json::Value;
use skillopt_domain::score::Score;
use std::collections::BTreeSet;

/// Checks, ready to use. Made by [`super::inspect`].
#[derive(Clone, Debug, Default)]
pub struct RuleJudge {
    pub(super) checks: Vec<ReadyCheck>,
}

/// A check and how it is called in rationales.
#[derive(Clone, Debug)]
pub(super) struct ReadyCheck {
    pub(super) rule: Rule,
    pub(super) name: String,
}

impl RuleJudge {
    /// Scores a reply. The rationale has the reference system's form: what reads it counts `op=arg`.
    #[must_use]
    pub fn score(&self, reply: &str, tools: &[String]) -> Judged {
        if self.checks.is_empty() {
            return Judged { hard: Score::ZERO, soft: Score::ZERO, rationale: "no checks".into() };
        }
        let failed: Vec<&str> = self
            .checks
            .iter()
            .filter(|check| !check.rule.passes(reply, tools))
            .map(|check| check.name.as_str())
            .collect();
        let rationale = if failed.is_empty() {
            "all checks passed".to_owned()
        } else {
            format!("failed: {}", failed.join(", "))
        };
        Judged {
            hard: Score::from_bool(failed.is_empty()),
            soft: share(self.checks.len() - failed.len(), self.checks.len()),
            rationale,
        }
    }

    /// For each check whether the reply passes it.
    #[must_use]
    pub fn passed(&self, reply: &str, tools: &[String]) -> Vec<bool> {
        self.checks.iter().map(|check| check.rule.passes(reply, tools)).collect()
    }

    /// Number of checks.
    #[must_use]
    pub fn n_checks(&self) -> usize {
        self.checks.len()
    }

    pub(super) fn required_tools(&self) -> Vec<&ToolName> {
        let names: BTreeSet<&ToolName> = self
            .checks
            .iter()
            .filter_map(
                |check| if let Rule::ToolCalled(name) = &check.rule { Some(name) } else { None },
            )
            .collect();
        names.into_iter().collect()
    }
}

/// An argument as Python prints it.
pub(super) fn python_text(arg: &Value) -> String {
    match arg {
        Value::Null => "None".into(),
        Value::Bool(true) => "True".into(),
        Value::Bool(false) => "False".into(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
