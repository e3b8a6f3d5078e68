//! How each event changes the view.

use super::{Adapted, BestSkill, RunView, SkillVersion};
use crate::cost::CostPart;
use crate::epoch::{EpochAction, FinalSelection, SlowUpdate};
use crate::event::{EventKind, Measured, Progress, RunEvent, RunPlan, StepSummary, TestedSkill};
use crate::run::RunStatus;
use crate::verdict::Action;

impl RunView {
    /// Folds a whole journal.
    #[must_use]
    pub fn of<'a>(events: impl IntoIterator<Item = &'a RunEvent>) -> Self {
        let mut view = Self::default();
        for event in events {
            view.apply(event);
        }
        view
    }

    /// Folds one event in. Events that were seen already are ignored.
    pub fn apply(&mut self, event: &RunEvent) {
        if event.seq <= self.seq {
            return;
        }
        self.seq = event.seq;
        match &event.kind {
            EventKind::Status { status, detail } => {
                self.set_status(*status, detail.clone(), event.at_ms);
            }
            EventKind::Planned(plan) => self.set_plan(plan),
            EventKind::PhaseStarted(phase) => {
                self.phase = Some(*phase);
                self.progress = None;
            }
            EventKind::Baseline(measured) => self.set_baseline(measured),
            EventKind::StepFinished(step) => self.finish_step(step),
            EventKind::Tested { which, measured } => self.set_tested(*which, measured),
            EventKind::Compared(comparison) => self.comparisons.push(comparison.clone()),
            EventKind::SlowUpdated(update) => self.update_slowly(update),
            EventKind::MetaSkillWritten(memory) => {
                self.add_cost(CostPart::MetaSkill, memory.wall_ms, memory.spend);
                self.meta_skills.push(memory.clone());
            }
            EventKind::FinalSelected(selection) => self.select_finally(selection),
            EventKind::Warning { message, .. } => self.warnings.push(message.clone()),
            EventKind::Adapted { role, change } => {
                self.adapted.push(Adapted { role: *role, change: change.clone() });
            }
            EventKind::EndpointDown(outage) => {
                self.end_outage(&outage.endpoint, &outage.model);
                self.outages.push(outage.clone());
            }
            EventKind::EndpointUp { endpoint, model, .. } => self.end_outage(endpoint, model),
            EventKind::PromptsChosen { .. }
            | EventKind::PreflightPassed { .. }
            | EventKind::RolledOut { .. }
            | EventKind::Reflected { .. }
            | EventKind::Aggregated { .. }
            | EventKind::LrDecided { .. }
            | EventKind::Selected { .. }
            | EventKind::Rewritten { .. }
            | EventKind::Noted { .. }
            | EventKind::Updated { .. }
            | EventKind::Gated { .. } => {}
        }
    }

    /// Takes over live counts.
    pub fn apply_progress(&mut self, progress: Progress) {
        if self.status.is_live() {
            self.phase = Some(progress.phase);
            self.spend = progress.spend;
            self.progress = Some(progress);
        }
    }

    fn set_status(&mut self, status: RunStatus, detail: Option<String>, at_ms: u64) {
        self.status = status;
        self.detail = detail;
        if status == RunStatus::Running {
            self.started_at_ms.get_or_insert(at_ms);
        }
        self.ended_at_ms = status.is_over().then_some(at_ms);
        if status.is_over() {
            self.progress = None;
            self.phase = None;
            self.outages.clear();
        }
    }

    fn end_outage(&mut self, endpoint: &str, model: &str) {
        self.outages.retain(|outage| !outage.concerns(endpoint, model));
    }

    fn set_plan(&mut self, plan: &RunPlan) {
        self.versions = vec![SkillVersion {
            version: 0,
            step: 0,
            skill: plan.initial_skill.clone(),
            score: None,
            n: None,
            tokens: plan.initial_tokens,
        }];
        self.best = Some(BestSkill {
            step: 0,
            version: 0,
            skill: plan.initial_skill.clone(),
            score: None,
            n: None,
        });
        self.plan = Some(plan.clone());
    }

    fn set_tested(&mut self, which: TestedSkill, measured: &Measured) {
        if let Some(cost) = measured.cost {
            self.add_cost(CostPart::FinalTest, cost.wall_ms, cost.spend);
        }
        let place = match which {
            TestedSkill::Initial => &mut self.test_initial,
            TestedSkill::Best => &mut self.test_best,
            TestedSkill::Last => &mut self.test_last,
        };
        *place = Some(measured.clone());
    }

    fn set_baseline(&mut self, measured: &Measured) {
        if let Some(cost) = measured.cost {
            self.add_cost(CostPart::Baseline, cost.wall_ms, cost.spend);
        }
        let n = measured.score.map(|score| score.n);
        if let Some(first) = self.versions.first_mut() {
            first.score = measured.gate_score;
            first.n = n;
        }
        if let Some(best) = self.best.as_mut().filter(|best| best.step == 0) {
            best.score = measured.gate_score;
            best.n = n;
        }
        self.baseline = Some(measured.clone());
    }

    fn finish_step(&mut self, step: &StepSummary) {
        match step.action {
            Action::Accept | Action::AcceptNewBest | Action::ForceAccept => self.accept_step(step),
            Action::Reject => self.n_rejected += 1,
            Action::SkipNoPatches | Action::SkipNoChange | Action::SkipNoRewrite => {
                self.n_skipped += 1;
            }
            Action::Inconclusive => self.n_inconclusive += 1,
        }
        self.n_steps += 1;
        for cost in &step.stages {
            self.add_cost(cost.stage.into(), cost.wall_ms, cost.spend);
        }
        let wall_ms = step.stages.iter().map(|cost| cost.wall_ms).sum();
        self.add_fate(step.action.into(), wall_ms, step.spend);
        self.steps.push(step.clone());
    }

    fn accept_step(&mut self, step: &StepSummary) {
        self.n_accepted += 1;
        self.versions.push(SkillVersion {
            version: step.version,
            step: step.step,
            skill: step.skill.clone(),
            score: step.current_score,
            n: step.current_n,
            tokens: step.skill_tokens,
        });
        if self.is_new_best(step) {
            self.best = Some(BestSkill {
                step: step.step,
                version: step.version,
                // Notes that the Python system writes after the gate are in the current skill only.
                skill: step.candidate.clone().unwrap_or_else(|| step.skill.clone()),
                score: step.best_score,
                n: step.best_n,
            });
        }
    }

    /// By its word, or because the best score rose: with the gate off the Python system has one word for all.
    fn is_new_best(&self, step: &StepSummary) -> bool {
        let before = self.best.as_ref().and_then(|best| best.score);
        match step.action {
            Action::AcceptNewBest => true,
            Action::ForceAccept => step.best_score > before && before.is_some(),
            _ => false,
        }
    }

    fn update_slowly(&mut self, update: &SlowUpdate) {
        self.add_cost(CostPart::SlowUpdate, update.wall_ms, update.spend);
        if let Some(skill) = update.candidate.clone().filter(|_| update.action.is_accepted()) {
            let (score, n) = (update.current_score, update.current_n);
            self.versions.push(SkillVersion {
                version: update.version,
                step: update.step,
                skill: skill.clone(),
                score,
                n,
                tokens: update.skill_tokens,
            });
            if update.action == EpochAction::AcceptNewBest {
                let (step, version) = (update.step, update.version);
                self.best = Some(BestSkill { step, version, skill, score, n });
            }
        }
        self.slow_updates.push(update.clone());
    }

    fn select_finally(&mut self, selection: &FinalSelection) {
        if let Some(cost) = selection.cost {
            self.add_cost(CostPart::FinalTest, cost.wall_ms, cost.spend);
        }
        if selection.promoted {
            self.best = Some(BestSkill {
                step: selection.best_step,
                version: selection.version,
                skill: selection.best.clone(),
                score: selection.last_score,
                n: self.best.as_ref().and_then(|best| best.n),
            });
        }
        self.final_selection = Some(selection.clone());
    }
}

#[cfg(test)]
mod tests;
