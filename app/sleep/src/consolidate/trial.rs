//! Trying edits: as a bundle, and one by one where the bundle loses and the options say so.

use super::gate::compare;
use super::night::Night;
use super::outcome::NightError;
use crate::backend::{Docs, Phase};
use crate::block::apply_edits;
use serde_json::json;
use skillopt_domain::night::edit::{EditRecord, Target};

impl Night<'_> {
    /// Tries edits on one document. What changes nothing is set apart; what loses is kept as a warning.
    pub(super) async fn try_edits(
        &mut self,
        target: Target,
        edits: Vec<EditRecord>,
    ) -> Result<(), NightError> {
        let Some((text, applied)) = self.apply(target, &edits)? else { return Ok(()) };
        if self.wins(target, &text).await? {
            self.take(target, text, applied);
        } else if self.input.options.gate_per_edit && applied.len() > 1 {
            for edit in applied {
                self.try_alone(target, edit).await?;
            }
        } else {
            self.outcome.rejected_edits.extend(applied);
        }
        Ok(())
    }

    async fn try_alone(&mut self, target: Target, edit: EditRecord) -> Result<(), NightError> {
        let Some((text, applied)) = self.apply(target, &[edit])? else { return Ok(()) };
        match self.wins(target, &text).await? {
            true => self.take(target, text, applied),
            false => self.outcome.rejected_edits.extend(applied),
        }
        Ok(())
    }

    /// The document with the edits that change it; `None` when none does.
    fn apply(
        &mut self,
        target: Target,
        edits: &[EditRecord],
    ) -> Result<Option<(String, Vec<EditRecord>)>, NightError> {
        let result = apply_edits(self.document(target), edits).map_err(|damage| {
            let document = word(target);
            NightError::Damaged { document, damage }
        })?;
        let owned = |edits: Vec<&EditRecord>| edits.into_iter().cloned().collect::<Vec<_>>();
        let unmatched = owned(result.unmatched(edits));
        if !unmatched.is_empty() {
            let statuses = &result.statuses;
            let fields = json!({"target": target, "edits": unmatched, "statuses": statuses});
            self.tools.evidence.record("reflect", "edits_unmatched", fields);
        }
        self.outcome.unmatched_edits.extend(unmatched);
        let applied = owned(result.applied(edits));
        Ok((!applied.is_empty()).then_some((result.text, applied)))
    }

    /// Measures a candidate against what stands. Without a gate everything wins.
    pub(super) async fn wins(&mut self, target: Target, text: &str) -> Result<bool, NightError> {
        if !self.is_gated() {
            return Ok(true);
        }
        let (docs, phase) = match target {
            Target::Skill => (Docs { skill: text, memory: &self.memory }, Phase::TrialSkill),
            Target::Memory => (Docs { skill: &self.skill, memory: text }, Phase::TrialMemory),
        };
        let (measured, _) = self.measure(docs, phase, 0).await?;
        let rule = &self.input.options.rule;
        let comparison = compare(word(target), &self.standing, &measured, rule);
        self.tell_trial(&comparison);
        let accepted = comparison.trial.accepted;
        self.outcome.gate_trials.push(comparison.trial);
        if accepted {
            self.standing = measured;
        }
        Ok(accepted)
    }

    fn take(&mut self, target: Target, text: String, applied: Vec<EditRecord>) {
        match target {
            Target::Skill => self.skill = text,
            Target::Memory => self.memory = text,
        }
        self.outcome.applied_edits.extend(applied);
    }

    fn document(&self, target: Target) -> &str {
        match target {
            Target::Skill => &self.skill,
            Target::Memory => &self.memory,
        }
    }
}

fn word(target: Target) -> &'static str {
    match target {
        Target::Skill => "skill",
        Target::Memory => "memory",
    }
}
