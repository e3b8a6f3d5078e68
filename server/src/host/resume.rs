//! Going on with a run whose config, data or initial skill may have changed since it began: what differs, which of it
//! is safe, and the config that it goes on with.

use super::inputs::{Inputs, read_skill, short, with_absolute_paths};
use super::prompt_change::prompt_difference;
use super::{HostError, Hosting};
use crate::config::run_config;
use skillopt_domain::config::{
    ChangeEffect, ConfigDifference, Contents, DATA, Resolved, Sameness, Value, differences,
    needs_fork,
};
use skillopt_domain::event::RunPlan;
use skillopt_domain::hash::Sha256Hex;
use skillopt_domain::prompt::PromptUse;
use skillopt_engine::splits::Splits;
use skillopt_engine::train::data_hash;
use skillopt_store::{AuditRow, RunRow};

/// What a run would go on with.
#[derive(Clone, Debug)]
pub struct ResumePlan {
    /// What differs from what the run was made with.
    pub differences: Vec<ConfigDifference>,
    /// The wanted config, with absolute paths.
    resolved: Resolved,
}

impl ResumePlan {
    /// Something changes results: the run cannot go on with it.
    #[must_use]
    pub fn needs_fork(&self) -> bool {
        needs_fork(&self.differences)
    }
}

impl Hosting {
    /// Compares a wanted config, and the files that it names, with what a run was made with. Makes no call, writes
    /// nothing.
    ///
    /// # Errors
    /// [`HostError::BadConfig`] when the config cannot run; [`HostError::Store`] when the store cannot be read.
    pub async fn plan_resume(
        &self,
        row: &RunRow,
        wanted: &Resolved,
    ) -> Result<ResumePlan, HostError> {
        let resolved = with_absolute_paths(&self.priced(wanted).await.with_prices_of(&row.config));
        run_config(&resolved)?;
        let plan = self.shared.store.view(&row.id).await?.plan;
        let (before, after, begun) = (row.config.clone(), resolved.clone(), plan.clone());
        let looked = tokio::task::spawn_blocking(move || look(&before, &after, begun.as_ref()));
        let unknown = Looked {
            data: Sameness::Unknown,
            skill: Sameness::Unknown,
            now: None,
            prompts: Vec::new(),
        };
        let looked = looked.await.unwrap_or(unknown);
        let contents = Contents { data: looked.data, skill: looked.skill };
        let mut differences = differences(&row.config, &resolved, contents);
        if let (Sameness::Other, Some(plan), Some(now)) = (looked.data, &plan, &looked.now) {
            differences.push(data_difference(plan, now));
        }
        if !looked.prompts.is_empty() {
            let earlier = self.shared.store.prompts(&row.id).await?;
            differences.extend(prompt_difference(&earlier, &looked.prompts));
        }
        Ok(ResumePlan { differences, resolved })
    }

    /// Takes over what is safe, and notes who goes on with the run.
    ///
    /// # Errors
    /// [`HostError::NeedsFork`] when something changes results, [`HostError::Changed`] when somebody else took the run
    /// up or changed its config since `row` was read; nothing is written then.
    pub async fn prepare_resume(
        &self,
        row: &RunRow,
        plan: &ResumePlan,
        actor: &str,
    ) -> Result<(), HostError> {
        if plan.needs_fork() {
            let (run, differences) = (row.id.clone(), plan.differences.clone());
            return Err(HostError::NeedsFork { run, differences });
        }
        let told: Vec<String> = plan.differences.iter().map(ToString::to_string).collect();
        let audit = AuditRow {
            at_ms: self.now_ms(),
            actor: actor.to_owned(),
            action: "resume".into(),
            subject: row.id.to_string(),
            detail: told.join("; "),
        };
        let config = with_changes(&row.config, plan);
        if config == row.config {
            self.shared.store.audit(&audit).await?;
        } else {
            let (store, owner) = (&self.shared.store, self.owner());
            if !store.replace_config(&row.id, (&row.config, &config), owner, &audit).await? {
                return Err(HostError::Changed { run: row.id.clone() });
            }
        }
        Ok(())
    }
}

/// The config of the run with the keys that differ; all else keeps its value and its place.
fn with_changes(config: &Resolved, plan: &ResumePlan) -> Resolved {
    let mut config = config.clone();
    for one in plan.differences.iter().filter(|one| one.effect == ChangeEffect::Safe) {
        let new = plan.resolved.values.iter().find(|row| row.path == one.path);
        match (new, config.values.iter_mut().find(|row| row.path == one.path)) {
            (Some(new), Some(row)) => *row = new.clone(),
            (Some(new), None) => config.values.push(new.clone()),
            (None, _) => {}
        }
    }
    config
}

struct Looked {
    data: Sameness,
    skill: Sameness,
    /// The data as it is now.
    now: Option<Tasks>,
    /// The prompts as they are now; empty where they could not be read.
    prompts: Vec<PromptUse>,
}

/// Which tasks there are.
pub(super) struct Tasks {
    pub(super) hash: Sha256Hex,
    pub(super) sizes: [usize; 3],
}

impl Tasks {
    fn of(splits: &Splits) -> Self {
        let sizes = [splits.train().len(), splits.selection().len(), splits.test().len()];
        Self { hash: data_hash(splits), sizes }
    }
}

/// Reads what the wanted config names, where it matters. Before the plan is noted nothing was begun.
fn look(before: &Resolved, wanted: &Resolved, plan: Option<&RunPlan>) -> Looked {
    let Some(plan) = plan else {
        return Looked {
            data: Sameness::Same,
            skill: Sameness::Same,
            now: None,
            prompts: Vec::new(),
        };
    };
    // The run keeps the text that it began with, whatever its file holds now.
    let skill = match (before.get("env.skill_init"), wanted.get("env.skill_init")) {
        (old, new) if old == new => Sameness::Same,
        (_, Value::Text(path)) => match read_skill(path) {
            Ok(doc) if doc.sha() == plan.initial_skill => Sameness::Same,
            Ok(_) => Sameness::Other,
            Err(_) => Sameness::Unknown,
        },
        _ if plan.initial_skill == Sha256Hex::of("") => Sameness::Same,
        _ => Sameness::Other,
    };
    let read = run_config(wanted).ok().and_then(|config| {
        let inputs = Inputs::preview(&config, Some(String::new())).ok()?;
        Some((Tasks::of(&inputs.data.splits), inputs.prompts.used(&config)))
    });
    let (now, prompts) = read.map_or((None, Vec::new()), |(now, prompts)| (Some(now), prompts));
    let data = match &now {
        Some(now) if now.hash == plan.data => Sameness::Same,
        Some(_) => Sameness::Other,
        // The start says what is wrong with it.
        None => Sameness::Unknown,
    };
    Looked { data, skill, now, prompts }
}

/// The tasks are others than those of a run.
fn data_difference(plan: &RunPlan, now: &Tasks) -> ConfigDifference {
    let [train, selection, test] = now.sizes;
    ConfigDifference {
        path: DATA.to_owned(),
        before: Some(format!("{} train tasks, hash {}", plan.n_train, short(&plan.data))),
        after: Some(format!(
            "{train} train, {selection} selection, {test} test tasks, hash {}",
            short(&now.hash)
        )),
        effect: ChangeEffect::Results,
        why: "the files hold other tasks than when the run began".to_owned(),
    }
}
