//! What every part of an import needs: the folder, its settings, and the texts, attempts and events that were
//! found so far.

use super::findings::Findings;
use super::folder::Folder;
use super::json;
use super::rollouts;
use super::settings::Settings;
use serde_json::Value;
use skillopt_domain::config::Evaluation;
use skillopt_domain::event::EventKind;
use skillopt_domain::hash::Sha256Hex;
use skillopt_domain::outcome::{RolloutPurpose, RolloutSet, Sample, TaskOutcome};
use skillopt_domain::score::{GateMetric, MeanScore};
use skillopt_domain::skill::estimate_tokens;
use skillopt_store::{ImportedEvent, ImportedSet};
use std::collections::BTreeMap;

/// An import under way.
#[derive(Debug)]
pub(super) struct Reader {
    pub(super) folder: Folder,
    pub(super) findings: Findings,
    pub(super) settings: Settings,
    /// This program wrote the folder.
    pub(super) is_ours: bool,
    pub(super) skills: BTreeMap<Sha256Hex, String>,
    pub(super) sets: Vec<ImportedSet>,
    pub(super) events: Vec<ImportedEvent>,
    evaluation: Option<Evaluation>,
}

impl Reader {
    pub(super) fn new(folder: Folder) -> Self {
        let mut findings = Findings::default();
        let settings = Settings::read(&folder, &mut findings);
        let evaluation = settings.evaluation();
        Self {
            folder,
            findings,
            settings,
            is_ours: false,
            skills: BTreeMap::new(),
            sets: Vec::new(),
            events: Vec::new(),
            evaluation,
        }
    }

    pub(super) fn emit(&mut self, key: String, at_ms: u64, kind: EventKind) {
        self.events.push(ImportedEvent { key, at_ms, kind });
    }

    pub(super) fn evaluation(&self) -> Option<&Evaluation> {
        self.evaluation.as_ref()
    }

    /// A mean in the gate's metric, without any bonus.
    pub(super) fn project(&self, mean: MeanScore) -> f64 {
        let evaluation = self.evaluation();
        let metric = evaluation.map_or(GateMetric::Hard, |one| one.gate_metric);
        metric.project(mean.hard, mean.soft, evaluation.map_or(0.5, |one| one.gate_mixed_weight))
    }

    /// A JSON file; `None` when it is missing or cannot be read, which is a finding.
    pub(super) fn json(&mut self, file: &str) -> Option<Value> {
        match self.folder.read(file) {
            Ok(Some(text)) => json::document(file, &text.text, &mut self.findings),
            Ok(None) => None,
            Err(problem) => {
                self.findings.add(file, "", problem.to_string());
                None
            }
        }
    }

    /// A skill file; `None` when it is missing or cannot be read, which is a finding.
    pub(super) fn skill(&mut self, file: &str) -> Option<Sha256Hex> {
        let text = self.skill_text(file)?;
        Some(self.keep(text))
    }

    /// A skill file whose text has the hash of a record. A file with other line ends has the same text.
    pub(super) fn skill_of_hash(&mut self, file: &str, hash: &str) -> Option<Sha256Hex> {
        let text = self.skill_text(file)?;
        let with_lf = text.replace("\r\n", "\n");
        let same = [text, with_lf].into_iter().find(|text| Sha256Hex::of(text).short() == hash);
        match same {
            Some(text) => Some(self.keep(text)),
            None => {
                let message =
                    format!("is not the text with the hash {hash} of its record; left out");
                self.findings.add(file, "", message);
                None
            }
        }
    }

    fn skill_text(&mut self, file: &str) -> Option<String> {
        match self.folder.read(file) {
            Ok(found) => found.map(|text| text.text),
            Err(problem) => {
                self.findings.add(file, "", problem.to_string());
                None
            }
        }
    }

    pub(super) fn keep(&mut self, text: String) -> Sha256Hex {
        let sha = Sha256Hex::of(&text);
        self.skills.insert(sha.clone(), text);
        sha
    }

    /// Size of a text in tokens, estimated; 0 when the folder does not have it.
    pub(super) fn tokens(&self, skill: &Sha256Hex) -> u32 {
        self.skills.get(skill).map_or(0, |text| estimate_tokens(text))
    }

    /// Reads a rollout directory as a set; `None` when it has no results. A set that is known is not read again.
    pub(super) fn add_set(
        &mut self,
        key: &str,
        purpose: RolloutPurpose,
        step: u32,
        skill: &Sha256Hex,
        dir: &str,
    ) -> Option<&RolloutSet> {
        if let Some(known) = self.sets.iter().position(|known| known.set.key == key) {
            return self.sets.get(known).map(|known| &known.set);
        }
        let found = rollouts::read(&self.folder, dir, &mut self.findings)?;
        let seed = self.settings.flat.get("seed").and_then(Value::as_u64).unwrap_or_default();
        let epoch = 0;
        let set = RolloutSet {
            key: key.to_owned(),
            purpose,
            step,
            skill: skill.clone(),
            sample: Sample { seed, epoch, repeat: 0, fresh: None },
            outcomes: found.outcomes,
        };
        self.sets.push(ImportedSet { set, conversations: found.conversations });
        self.sets.last().map(|last| &last.set)
    }

    /// What a skill reached on the selection split, task by task; empty when the folder does not tell.
    pub(super) fn selection_of(&self, skill: &Sha256Hex) -> &[TaskOutcome] {
        let key = selection_key(skill);
        let set = self.sets.iter().find(|known| known.set.key == key);
        set.map_or(&[], |known| &known.set.outcomes)
    }

    /// Selection tasks behind the score of a skill.
    pub(super) fn n_selection_of(&self, skill: &Sha256Hex) -> Option<u32> {
        mean_of(self.selection_of(skill)).map(|mean| mean.n)
    }
}

pub(super) fn selection_key(skill: &Sha256Hex) -> String {
    format!("{}/{skill}", RolloutPurpose::Selection.as_str())
}

pub(super) fn mean_of(outcomes: &[TaskOutcome]) -> Option<MeanScore> {
    MeanScore::of(outcomes.iter().filter_map(|outcome| outcome.outcome.score()))
}

/// An address for a text that the folder does not have: it begins with the hash of its record, where there is
/// one, and leads nowhere.
pub(super) fn unknown_skill(hash: Option<&str>, what: &str) -> Sha256Hex {
    let padded = hash.map(|hash| format!("{hash}{}", "0".repeat(64 - hash.len().min(64))));
    let known = padded.and_then(|text| Sha256Hex::parse(&text).ok());
    known.unwrap_or_else(|| {
        Sha256Hex::of(format!("a text that the run folder does not have: {what}"))
    })
}
