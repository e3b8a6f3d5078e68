//! The stages of a night that make calls, in order. Keeps nothing.

use super::documents::{Documents, skills_of};
use super::gather::Gathered;
use super::keep::{model_key, rejected_before};
use super::{NightFailure, NightPlan, Watch, beside, options};
use crate::backend::{Backend, BackendError};
use crate::config::Config;
use crate::consolidate::{
    GroupOutcome, NightError, NightInput, NightOutcome, consolidate_groups, consolidate_night,
    group_tasks,
};
use crate::evidence::Evidence;
use crate::stage::Pinned;
use crate::state::State;
use serde_json::json;
use skillopt_domain::night::NightStage;
use skillopt_domain::night::report::SleepReport;
use skillopt_engine::ctx::RunCtx;
use skillopt_engine::ports::Clock;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The parts that all stages share.
pub(super) struct Work<'a> {
    pub(super) plan: &'a NightPlan,
    pub(super) state: &'a State,
    pub(super) backend: &'a Arc<dyn Backend>,
    pub(super) evidence: &'a Arc<Evidence>,
    pub(super) watch: &'a Arc<Watch>,
    pub(super) clock: &'a Arc<dyn Clock>,
    pub(super) ctx: &'a RunCtx,
}

/// A night whose decision is made, before anything of it is kept.
pub(super) struct Finished {
    pub(super) report: SleepReport,
    pub(super) gathered: Gathered,
    /// `None` for a night without tasks.
    pub(super) decided: Option<Decided>,
    pub(super) evidence: Arc<Evidence>,
}

pub(super) struct Decided {
    pub(super) documents: Documents,
    pub(super) outcome: NightOutcome,
    pub(super) groups: Vec<GroupOutcome>,
    /// The live bytes of skills of their own, by the name that sessions have for them.
    pub(super) group_skills: Vec<(String, Pinned)>,
}

impl Work<'_> {
    pub(super) async fn run(
        &self,
        documents: Documents,
        number: u32,
    ) -> Result<Finished, NightFailure> {
        let config = &self.plan.config;
        let mut report = SleepReport {
            night: number,
            project: self.project(),
            started_at: crate::instant::utc_text(self.clock.now_ms()),
            gate_no_regression: config.gate_no_regression,
            ..SleepReport::default()
        };
        let fields = json!({"night": number, "project": report.project, "config": config});
        self.evidence.record("cycle", "start", fields);
        let gathered = self.gather(&documents).await?;
        if self.ctx.is_cancelled() {
            return Err(NightError::Backend(BackendError::Cancelled).into());
        }
        report.n_sessions = gathered.n_sessions;
        report.n_tasks = crate::replay::count(gathered.tasks.len());
        let notes = gathered.notes.iter().cloned();
        report.notes.extend(notes.chain(self.model_change()).chain(masked_all_the_same(config)));
        let decided = match gathered.tasks.is_empty() {
            true => {
                "no tasks were found".clone_into(&mut report.no_edits_reason);
                None
            }
            false => Some(self.decide(documents, &gathered, &mut report).await?),
        };
        self.tell_cost(&mut report);
        report.ended_at = crate::instant::utc_text(self.clock.now_ms());
        super::clean::clean(&mut report);
        let evidence = Arc::clone(self.evidence);
        Ok(Finished { report, gathered, decided, evidence })
    }

    pub(super) fn project(&self) -> String {
        self.plan.config.invoked_project.display().to_string()
    }

    fn model_change(&self) -> Option<String> {
        let key = model_key(&self.plan.config);
        let change = self.state.clone().note_model(&self.project(), &key)?;
        let (before, now) = (change.before, change.now);
        Some(format!(
            "the models are others than the night before ({before} then, {now} now): learned text may not hold for the \
             new ones"
        ))
    }

    /// All calls of the night count, whichever stage made them.
    fn tell_cost(&self, report: &mut SleepReport) {
        let total = self.backend.spend().total();
        report.tokens_used = total.tokens();
        report.unmetered_calls = total.unmetered_calls;
        report.cost_usd_micros = total.known_cost_usd_micros();
        if report.cost_usd_micros.is_none() && self.plan.config.max_cost_usd_per_night.is_some() {
            report.notes.push(
                "the cap in money cannot be held for calls whose price nobody knows".to_owned(),
            );
        }
    }

    async fn decide(
        &self,
        documents: Documents,
        gathered: &Gathered,
        report: &mut SleepReport,
    ) -> Result<Decided, NightFailure> {
        let input = self.input(&documents, gathered).await?;
        let outcome = consolidate_night(input.clone()).await?;
        outcome.fill(report);
        let (groups, group_skills) = match self.plan.config.is_fanout() {
            true => self.fan_out(&input, &gathered.hints).await?,
            false => (Vec::new(), Vec::new()),
        };
        report.skill_groups = groups.iter().map(|group| group.report.clone()).collect();
        self.watch.stage(NightStage::Stage, "laying the proposal aside");
        Ok(Decided { documents, outcome, groups, group_skills })
    }

    async fn input(
        &self,
        documents: &Documents,
        gathered: &Gathered,
    ) -> Result<NightInput, NightFailure> {
        let project = self.plan.config.invoked_project.clone();
        let history = self.state.history_of(&self.project());
        let rejected = beside("read earlier nights", move || rejected_before(&project, &history));
        Ok(NightInput {
            tasks: gathered.tasks.clone(),
            skill: documents.skill_text(self.plan),
            memory: documents.memory_text().to_owned(),
            options: options::night_options(&self.plan.config),
            archive: self.state.archive(),
            rejected_before: rejected.await?,
            backend: Arc::clone(self.backend),
            evidence: Arc::clone(self.evidence),
            events: Arc::clone(self.watch) as _,
            ctx: self.ctx.clone(),
        })
    }

    async fn fan_out(
        &self,
        input: &NightInput,
        hints: &BTreeMap<String, String>,
    ) -> Result<(Vec<GroupOutcome>, Vec<(String, Pinned)>), NightFailure> {
        let groups = group_tasks(&input.tasks, hints);
        let named = groups.iter().filter(|group| !group.skill_name.is_empty());
        let names: Vec<String> = named.map(|group| group.skill_name.clone()).collect();
        let plan = self.plan.clone();
        let pinned = beside("read the skills", move || skills_of(&plan, names)).await?;
        let text = |name: &str| match pinned.iter().find(|(known, _)| known == name) {
            Some((_, Ok(pinned))) => Ok(pinned.text.clone()),
            Some((_, Err(reason))) => Err(reason.clone()),
            None => Err("the skill was not looked for".to_owned()),
        };
        let outcomes = consolidate_groups(input, &groups, text).await?;
        let read = pinned.into_iter().filter_map(|(name, pinned)| Some((name, pinned.ok()?)));
        Ok((outcomes, read.collect()))
    }
}

/// Nobody is to believe that secrets stay as they are, or that they do not.
fn masked_all_the_same(config: &Config) -> Option<String> {
    (!config.redact_secrets).then(|| {
        "`redact_secrets` is false, and secrets were masked all the same: what is stored and sent is always without them"
            .to_owned()
    })
}
