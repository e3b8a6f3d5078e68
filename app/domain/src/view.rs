//! The one fold: a run's events become the view that store, server and browser share.

use crate::cost::{CostPart, FateCost, PartCost};
use crate::epoch::{Comparison, EpochAction, FinalSelection, MetaSkill, SlowUpdate};
use crate::event::{EventKind, Measured, Progress, RunEvent, RunPlan, StepSummary, TestedSkill};
use crate::hash::Sha256Hex;
use crate::json::from_fields;
use crate::outage::Outage;
use crate::run::{Phase, RunStatus};
use crate::spend::{Role, SpendByRole};
use crate::verdict::Action;
use serde::Serialize;

/// A run as far as its journal tells.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RunView {
    /// The state.
    pub status: RunStatus,
    /// Why it is in that state, where there is something to say.
    pub detail: Option<String>,
    /// What it will do; `None` until data and skill are loaded.
    pub plan: Option<RunPlan>,
    /// Where it is.
    pub phase: Option<Phase>,
    /// Live counts of the phase.
    pub progress: Option<Progress>,
    /// The initial skill on the selection split.
    pub baseline: Option<Measured>,
    /// The initial skill on the test split.
    pub test_initial: Option<Measured>,
    /// The best skill on the test split.
    pub test_best: Option<Measured>,
    /// The last skill on the test split, where it is neither the initial nor the best one.
    #[serde(default)]
    pub test_last: Option<Measured>,
    /// Comparisons of the skills of two epochs, in order.
    #[serde(default)]
    pub comparisons: Vec<Comparison>,
    /// Guidance between epochs, in order.
    #[serde(default)]
    pub slow_updates: Vec<SlowUpdate>,
    /// Renewals of the optimizer's memory, in order.
    #[serde(default)]
    pub meta_skills: Vec<MetaSkill>,
    /// The last look at current and best skill.
    #[serde(default)]
    pub final_selection: Option<FinalSelection>,
    /// Finished steps, in order. A server may leave out the oldest; see [`RunView::n_steps`].
    pub steps: Vec<StepSummary>,
    /// Finished steps in all.
    pub n_steps: u32,
    /// Steps that accepted their candidate.
    pub n_accepted: u32,
    /// Steps that rejected it.
    pub n_rejected: u32,
    /// Steps without a candidate.
    pub n_skipped: u32,
    /// Steps that could not decide.
    pub n_inconclusive: u32,
    /// The best skill so far.
    pub best: Option<BestSkill>,
    /// All versions: the initial skill and each accepted candidate.
    pub versions: Vec<SkillVersion>,
    /// Spend so far.
    pub spend: SpendByRole,
    /// What the parts of the run took, as far as they are finished; see [`RunView::cost_rows`].
    #[serde(default)]
    pub costs: Vec<PartCost>,
    /// What finished steps took by what became of them; see [`RunView::fate_rows`].
    #[serde(default)]
    pub fates: Vec<FateCost>,
    /// When the first engine took it, in milliseconds since 1970-01-01 UTC.
    pub started_at_ms: Option<u64>,
    /// When it ended.
    pub ended_at_ms: Option<u64>,
    /// Warnings, in order.
    pub warnings: Vec<String>,
    /// Endpoints of the run that do not answer now.
    #[serde(default)]
    pub outages: Vec<Outage>,
    /// How requests are changed so that the provider takes them, in order.
    #[serde(default)]
    pub adapted: Vec<Adapted>,
    /// Number of the last event folded in; 0 for none.
    pub seq: u64,
}

from_fields! { RunView {
    status, detail, plan, phase, progress, baseline, test_initial, test_best, steps,
    n_steps, n_accepted, n_rejected, n_skipped, n_inconclusive, best, versions, spend,
    started_at_ms, ended_at_ms, warnings, seq;
    or default: test_last, comparisons, slow_updates, meta_skills, final_selection, costs, fates,
    outages, adapted
} }

/// A change to the requests of a role.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Adapted {
    /// The role.
    pub role: Role,
    /// The change, such as "sends `max_tokens`".
    pub change: String,
}

from_fields! { Adapted { role, change } }

/// The best skill of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BestSkill {
    /// The step that made it; 0 for the initial skill.
    pub step: u32,
    /// Its number among the versions.
    pub version: u32,
    /// The text.
    pub skill: Sha256Hex,
    /// Its score in the gate's metric.
    pub score: Option<f64>,
    /// Selection tasks behind the score.
    pub n: Option<u32>,
}

from_fields! { BestSkill { step, version, skill, score, n } }

/// A version of the skill: the initial text or an accepted candidate.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SkillVersion {
    /// 0 for the initial skill.
    pub version: u32,
    /// The step that made it; 0 for the initial skill.
    pub step: u32,
    /// The text.
    pub skill: Sha256Hex,
    /// Score on the selection split in the gate's metric.
    pub score: Option<f64>,
    /// Selection tasks behind the score.
    pub n: Option<u32>,
    /// Size in tokens, estimated.
    pub tokens: u32,
}

from_fields! { SkillVersion { version, step, skill, score, n, tokens } }

impl Default for RunView {
    fn default() -> Self {
        Self {
            status: RunStatus::Queued,
            detail: None,
            plan: None,
            phase: None,
            progress: None,
            baseline: None,
            test_initial: None,
            test_best: None,
            test_last: None,
            comparisons: Vec::new(),
            slow_updates: Vec::new(),
            meta_skills: Vec::new(),
            final_selection: None,
            steps: Vec::new(),
            n_steps: 0,
            n_accepted: 0,
            n_rejected: 0,
            n_skipped: 0,
            n_inconclusive: 0,
            best: None,
            versions: Vec::new(),
            spend: SpendByRole::default(),
            costs: Vec::new(),
            fates: Vec::new(),
            started_at_ms: None,
            ended_at_ms: None,
            warnings: Vec::new(),
            outages: Vec::new(),
            adapted: Vec::new(),
            seq: 0,
        }
    }
}

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
mod tests {
    use super::*;

    fn status(seq: u64, status: RunStatus) -> RunEvent {
        RunEvent {
            seq,
            at_ms: 1000 + seq,
            key: format!("status/{seq}"),
            kind: EventKind::Status { status, detail: None },
        }
    }

    #[test]
    fn an_event_seen_twice_counts_once() {
        let mut view = RunView::default();
        let event = RunEvent {
            seq: 1,
            at_ms: 1,
            key: "warning/x".into(),
            kind: EventKind::Warning { code: "x".into(), message: "look".into() },
        };
        view.apply(&event);
        view.apply(&event);
        assert_eq!(view.warnings, ["look"]);
    }

    #[test]
    fn a_resumed_run_keeps_its_first_start_and_loses_its_end() {
        let view = RunView::of(&[
            status(1, RunStatus::Running),
            status(2, RunStatus::Interrupted),
            status(3, RunStatus::Running),
        ]);
        assert_eq!((view.started_at_ms, view.ended_at_ms), (Some(1001), None));
    }

    fn slow_update(action: EpochAction) -> EventKind {
        EventKind::SlowUpdated(SlowUpdate {
            epoch: 2,
            step: 4,
            action,
            content: "Look twice.".into(),
            reasoning: String::new(),
            candidate: Some(Sha256Hex::of("with guidance")),
            verdict: None,
            set: None,
            version: 3,
            current_score: Some(0.75),
            current_n: Some(8),
            skill_tokens: 9,
            wall_ms: 1,
            spend: SpendByRole::default(),
            reason: "better".into(),
        })
    }

    #[test]
    fn guidance_that_is_kept_is_a_version_and_may_be_the_best() {
        for (action, n_versions, is_best) in [
            (EpochAction::AcceptNewBest, 1, true),
            (EpochAction::ForceAccept, 1, false),
            (EpochAction::Reject, 0, false),
        ] {
            let view = RunView::of(&[RunEvent {
                seq: 1,
                at_ms: 1,
                key: "slow/0002/updated".into(),
                kind: slow_update(action),
            }]);
            assert_eq!((view.versions.len(), view.best.is_some()), (n_versions, is_best));
            assert_eq!(view.slow_updates.len(), 1);
        }
    }

    fn at(seq: u64, kind: EventKind) -> RunEvent {
        RunEvent { seq, at_ms: seq, key: format!("event/{seq}"), kind }
    }

    fn down(seq: u64, model: &str, next_try_ms: u64) -> RunEvent {
        let (endpoint, error) = ("http://x.example/v1".to_owned(), "refused".to_owned());
        let outage = Outage { endpoint, model: model.to_owned(), since_ms: 7, next_try_ms, error };
        at(seq, EventKind::EndpointDown(outage))
    }

    #[test]
    fn an_outage_is_shown_with_its_next_try_until_the_endpoint_answers() {
        let mut view = RunView::of(&[down(1, "a", 10), down(2, "b", 10), down(3, "a", 20)]);
        let shown = |view: &RunView| {
            let pair = |outage: &Outage| (outage.model.clone(), outage.next_try_ms);
            view.outages.iter().map(pair).collect::<Vec<_>>()
        };
        assert_eq!(shown(&view), [("b".to_owned(), 10), ("a".to_owned(), 20)]);
        let (endpoint, model) = ("http://x.example/v1".to_owned(), "b".to_owned());
        let over = at(4, EventKind::EndpointUp { endpoint, model, since_ms: 7 });
        let text = serde_json::to_string(&over).expect("JSON");
        view.apply(&serde_json::from_str(&text).expect("the same event"));
        assert_eq!(shown(&view), [("a".to_owned(), 20)]);
        view.apply(&status(5, RunStatus::Interrupted));
        assert!(view.outages.is_empty(), "nobody waits any more");
    }

    #[test]
    fn rows_and_views_of_older_versions_are_still_read() {
        let row = r#"{"seq": 3, "at_ms": 5, "key": "step/0001/selected", "type": "selected", "step": 1,
            "budget": 2, "ranking": "not_needed", "edits": []}"#;
        let event: RunEvent = serde_json::from_str(row).expect("an old row");
        assert!(matches!(event.kind, EventKind::Selected { budget: 2, .. }));
        let mut view = serde_json::to_value(RunView::default()).expect("JSON");
        for later in [
            "test_last",
            "comparisons",
            "slow_updates",
            "meta_skills",
            "final_selection",
            "costs",
            "outages",
            "adapted",
        ] {
            view.as_object_mut().expect("object").remove(later);
        }
        assert_eq!(
            serde_json::from_value::<RunView>(view).expect("an old view"),
            RunView::default()
        );
    }
}
