//! The plan of a sweep: which benchmarks, and who learns and who uses in each cell. Reads a text; the file that it came
//! from, and the folder that it names, are the caller's.

use crate::config::BackendName;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::PathBuf;

/// Nights of a cell that names none.
const NIGHTS: u32 = 2;
const MOST_NIGHTS: u32 = 100;

/// A plan, checked.
#[derive(Clone, Debug, PartialEq)]
pub struct SweepPlan {
    /// Where the benchmarks are, as the plan says it.
    pub bench: PathBuf,
    /// What all cells have in common.
    pub common: SweepKeys,
    /// The experiments.
    pub cells: Vec<Cell>,
}

/// Settings that hold for all cells; what is `None` is as the config of nights says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SweepKeys {
    /// Most edits of one reflection.
    pub edit_budget: Option<u32>,
    /// Whether edits have to win, and by which number.
    pub gate: Option<GateWord>,
    /// Attempts at each training task.
    pub rollouts_k: Option<u32>,
    /// Most tasks that train.
    pub limit_replay: Option<u32>,
    /// Most tasks that validate, and as many that test.
    pub limit_holdout: Option<u32>,
}

/// Whether edits have to win, in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GateWord {
    /// They must.
    On,
    /// All that apply are taken.
    Off,
    /// They must, by passed tasks alone.
    Hard,
    /// They must, by how much of each task passes.
    Soft,
}

/// What a cell is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SweepKind {
    /// One model performs, reflects and uses.
    Direct,
    /// One model performs and uses, another one reflects.
    Dual,
    /// Learned by one and used by another.
    Transfer,
}

impl SweepKind {
    /// The stable word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::Dual => "dual",
            Self::Transfer => "transfer",
        }
    }
}

/// A backend with its model, both as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoleWords {
    /// The backend.
    pub backend: BackendName,
    /// The model; empty for the backend's own.
    pub model: String,
}

impl RoleWords {
    /// Reads `BACKEND` or `BACKEND:MODEL`.
    ///
    /// # Errors
    /// Why there is no such backend, or none that an experiment can have.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (backend, model) = text.split_once(':').unwrap_or((text, ""));
        Self::of(backend, model)
    }

    fn of(backend: &str, model: &str) -> Result<Self, String> {
        let backend = BackendName::parse(backend).map_err(|err| err.to_string())?;
        match backend.as_str() {
            "" => Err("a backend has to be named".to_owned()),
            "handoff" => Err("a person cannot answer for an experiment: name a model".to_owned()),
            _ => Ok(Self { backend, model: model.trim().to_owned() }),
        }
    }
}

impl fmt::Display for RoleWords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.model.as_str() {
            "" => write!(f, "{}", self.backend),
            model => write!(f, "{} {model}", self.backend),
        }
    }
}

/// Who performs and who reflects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Who {
    /// Performs tasks.
    pub target: RoleWords,
    /// Reflects and judges.
    pub optimizer: RoleWords,
}

impl Who {
    /// One for both.
    #[must_use]
    pub fn alone(who: RoleWords) -> Self {
        Self { target: who.clone(), optimizer: who }
    }

    /// No real model is among them.
    #[must_use]
    pub fn is_simulated(&self) -> bool {
        [&self.target, &self.optimizer].iter().all(|role| role.backend == BackendName::MOCK)
    }
}

impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.target == self.optimizer {
            true => write!(f, "{}", self.target),
            false => write!(f, "{}, edits by {}", self.target, self.optimizer),
        }
    }
}

/// One experiment, with one benchmark or with each of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// What it is about.
    pub kind: SweepKind,
    /// The benchmark; all of them when `None`.
    pub seed: Option<String>,
    /// Nights.
    pub nights: u32,
    /// Who learns.
    pub learner: Who,
    /// Who uses what was learned, where that is somebody else.
    pub user: Option<Who>,
}

impl Cell {
    /// Who works in it, in words.
    #[must_use]
    pub fn models(&self) -> String {
        match &self.user {
            Some(user) => format!("{} to {user}", self.learner),
            None => self.learner.to_string(),
        }
    }
}

/// Why a plan cannot be used, with its field or line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct PlanError(String);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PlanText {
    bench: PathBuf,
    nights: Option<u32>,
    edit_budget: Option<u32>,
    gate: Option<GateWord>,
    rollouts_k: Option<u32>,
    limit_replay: Option<u32>,
    limit_holdout: Option<u32>,
    cells: Vec<CellText>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CellText {
    kind: SweepKind,
    seed: Option<String>,
    nights: Option<u32>,
    backend: Option<String>,
    model: Option<String>,
    optimizer_backend: Option<String>,
    optimizer_model: Option<String>,
    target_backend: Option<String>,
    target_model: Option<String>,
    source_backend: Option<String>,
    source_model: Option<String>,
}

impl SweepPlan {
    /// Reads a plan of YAML, which JSON is too.
    ///
    /// # Errors
    /// [`PlanError`] with the line or the field.
    pub fn parse(text: &str) -> Result<Self, PlanError> {
        let options = serde_saphyr::options! { with_snippet: false, strict_booleans: true };
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let plan: PlanText = serde_saphyr::from_str_with_options(text, options)
            .map_err(|err| PlanError(err.without_snippet().to_string().trim().to_owned()))?;
        if plan.cells.is_empty() {
            return Err(PlanError("cells: there is none".to_owned()));
        }
        for (field, count) in [("edit_budget", plan.edit_budget), ("rollouts_k", plan.rollouts_k)] {
            if count == Some(0) {
                return Err(PlanError(format!("{field}: expected 1 or more, got 0")));
            }
        }
        let cell = |(at, cell): (usize, CellText)| {
            let failed = |(field, why): Fault| PlanError(format!("cells[{at}].{field}: {why}"));
            cell.checked(plan.nights).map_err(failed)
        };
        let cells = plan.cells.into_iter().enumerate().map(cell).collect::<Result<_, _>>()?;
        let common = SweepKeys {
            edit_budget: plan.edit_budget,
            gate: plan.gate,
            rollouts_k: plan.rollouts_k,
            limit_replay: plan.limit_replay,
            limit_holdout: plan.limit_holdout,
        };
        Ok(Self { bench: plan.bench, common, cells })
    }

    /// The benchmarks that are needed; none stands for all.
    #[must_use]
    pub fn seeds(&self) -> Vec<String> {
        let mut seeds = Vec::new();
        for cell in &self.cells {
            match &cell.seed {
                None => return Vec::new(),
                Some(seed) if seeds.contains(seed) => {}
                Some(seed) => seeds.push(seed.clone()),
            }
        }
        seeds
    }
}

/// A field, and what is wrong with it.
type Fault = (String, String);

impl CellText {
    fn checked(self, nights: Option<u32>) -> Result<Cell, Fault> {
        let nights = self.nights.or(nights).unwrap_or(NIGHTS);
        if !(1..=MOST_NIGHTS).contains(&nights) {
            return Err((
                "nights".to_owned(),
                format!("expected 1 to {MOST_NIGHTS}, got {nights}"),
            ));
        }
        let (learner, user) = match self.kind {
            SweepKind::Direct => (Who::alone(self.role("")?), None),
            SweepKind::Dual => {
                let target = self.role("target_")?;
                (Who { target, optimizer: self.role("optimizer_")? }, None)
            }
            SweepKind::Transfer => {
                let source = self.role("source_")?;
                (Who::alone(source), Some(Who::alone(self.role("target_")?)))
            }
        };
        self.refuse_others()?;
        Ok(Cell { kind: self.kind, seed: self.seed, nights, learner, user })
    }

    /// Fields that name somebody.
    fn roles(&self) -> [RoleText<'_>; 4] {
        let role = |name, backend, model| RoleText { name, backend, model };
        [
            role("", &self.backend, &self.model),
            role("optimizer_", &self.optimizer_backend, &self.optimizer_model),
            role("target_", &self.target_backend, &self.target_model),
            role("source_", &self.source_backend, &self.source_model),
        ]
    }

    fn role(&self, name: &str) -> Result<RoleWords, Fault> {
        let field = format!("{name}backend");
        let role = self.roles().into_iter().find(|role| role.name == name);
        let named = role.and_then(|role| Some((role.backend.as_deref()?, role.model)));
        let Some((backend, model)) = named else {
            return Err((field, format!("a {} cell needs it", self.kind.as_str())));
        };
        let model = model.as_deref().unwrap_or_default();
        RoleWords::of(backend, model).map_err(|why| (field, why))
    }

    /// A field that means nothing in this kind of cell is a mistake.
    fn refuse_others(&self) -> Result<(), Fault> {
        let used: &[&str] = match self.kind {
            SweepKind::Direct => &[""],
            SweepKind::Dual => &["target_", "optimizer_"],
            SweepKind::Transfer => &["source_", "target_"],
        };
        let why = || format!("a {} cell has no such field", self.kind.as_str());
        for role in self.roles().into_iter().filter(|role| !used.contains(&role.name)) {
            for (field, value) in [("backend", role.backend), ("model", role.model)] {
                if value.is_some() {
                    return Err((format!("{}{field}", role.name), why()));
                }
            }
        }
        Ok(())
    }
}

/// A backend and its model as they stand in a cell, with how their fields begin.
struct RoleText<'a> {
    name: &'static str,
    backend: &'a Option<String>,
    model: &'a Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    const PLAN: &str = "\
bench: bench
nights: 3
gate: off
cells:
  - {kind: direct, backend: mock, nights: 1}
  - {kind: dual, target_backend: claude, target_model: small, optimizer_backend: codex, seed: a}
  - {kind: transfer, source_backend: mock, target_backend: claude, seed: a}
";

    #[test]
    fn a_plan_says_who_learns_and_who_uses() {
        let plan = SweepPlan::parse(PLAN).expect("a plan");
        let told: Vec<_> = plan.cells.iter().map(|cell| (cell.nights, cell.models())).collect();
        let words = ["mock", "claude small, edits by codex", "mock to claude"].map(str::to_owned);
        let [direct, dual, transfer] = words;
        assert_eq!(told, [(1, direct), (3, dual), (3, transfer)]);
        assert_eq!(plan.common.gate, Some(GateWord::Off));
        assert!(plan.seeds().is_empty(), "the first cell is about all of them");
        let mut named = plan;
        named.cells.remove(0);
        assert_eq!(named.seeds(), ["a"]);
        let json = r#"{"bench": "b", "cells": [{"kind": "direct", "backend": "mock"}]}"#;
        assert_eq!(SweepPlan::parse(json).expect("JSON is YAML").cells[0].nights, 2);
    }

    #[rstest]
    #[case("cells: []\n", "missing field `bench`")]
    #[case("bench: b\ncells: []\n", "cells: there is none")]
    #[case("bench: b\nnight: 2\ncells: []\n", "night")]
    #[case("bench: b\ncells: [{kind: quick, backend: mock}]\n", "quick")]
    #[case("bench: b\ncells: [{kind: direct}]\n", "cells[0].backend: a direct cell needs it")]
    #[case(
        "bench: b\ncells: [{kind: direct, backend: claud}]\n",
        "cells[0].backend: there is no backend `claud`; do you mean `claude`?"
    )]
    #[case("bench: b\ncells: [{kind: direct, backend: handoff}]\n", "cells[0].backend: a person")]
    #[case(
        "bench: b\ncells: [{kind: direct, backend: mock, source_model: x}]\n",
        "cells[0].source_model: a direct cell has no such field"
    )]
    #[case(
        "bench: b\ncells: [{kind: direct, backend: mock, nights: 0}]\n",
        "cells[0].nights: expected 1 to 100, got 0"
    )]
    #[case(
        "bench: b\nrollouts_k: 0\ncells: [{kind: direct, backend: mock}]\n",
        "rollouts_k: expected"
    )]
    fn what_is_wrong_is_told_with_its_field(#[case] text: &str, #[case] words: &str) {
        let told = SweepPlan::parse(text).expect_err("it is refused").to_string();
        assert!(told.contains(words), "{told}");
    }

    #[test]
    fn a_backend_may_bring_its_model() {
        let words = RoleWords::parse("openai_compatible:org/model:free").expect("a backend");
        assert_eq!(words.model, "org/model:free");
        assert_eq!(RoleWords::parse("mock").expect("a backend").to_string(), "mock");
        assert!(RoleWords::parse(":x").is_err());
    }
}
