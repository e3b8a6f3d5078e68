//! From sessions to tasks with their splits: harvest, mining, choice. Calls the optimizer where the config says so.

use super::{Documents, NightFailure, TaskSource, Work, options};
use crate::backend::{BackendError, BackendMiner};
use crate::consolidate::NightError;
use crate::digest::SessionDigest;
use crate::harvest::{Harvest, HarvestOptions, HarvestState, Instant, harvest};
use crate::mine::{
    ChosenTasks, ModelMined, TargetTerms, choose_tasks, merge_tasks, mine_heuristically,
    mine_with_model,
};
use crate::prompts;
use crate::split::{Fractions, assign_splits, overlaps};
use crate::task::TaskRecord;
use jiff::tz::TimeZone;
use serde_json::json;
use skillopt_domain::night::NightStage;
use skillopt_engine::ports::Clock;
use std::num::NonZeroUsize;
use std::sync::Arc;

/// The tasks of a night, and where they came from.
pub(super) struct Gathered {
    pub(super) tasks: Vec<TaskRecord>,
    pub(super) harvest: Option<Harvest>,
    pub(super) n_sessions: u32,
    pub(super) notes: Vec<String>,
}

impl Work<'_> {
    pub(super) async fn gather(
        &self,
        documents: &Documents,
        clock: &Arc<dyn Clock>,
    ) -> Result<Gathered, NightFailure> {
        let asked = match &self.plan.tasks {
            TaskSource::Given(tasks) => {
                self.watch.mined(crate::replay::count(tasks.len()));
                let (tasks, notes) = (tasks.clone(), Vec::new());
                return Ok(Gathered { tasks, harvest: None, n_sessions: 0, notes });
            }
            TaskSource::Harvest(options) => options,
        };
        let mut found = self.harvest(asked, clock).await?;
        let mut notes: Vec<String> = found.nothing_because().into_iter().collect();
        let mined = self.mine(&found.digests, &mut notes).await?;
        let chosen = self.choose(mined, documents);
        if !chosen.left_out.is_empty() {
            let n = chosen.left_out.len();
            notes.push(format!(
                "{n} tasks were left for another night: there are more than a night takes"
            ));
            wait_for_untreated(&mut found, &chosen);
        }
        let mut tasks = chosen.tasks;
        let config = &self.plan.config;
        let fractions = Fractions::try_new(config.val_fraction(), config.test_fraction)
            .map_err(|err| NightFailure::Config(err.to_string()))?;
        let seed = i64::try_from(config.seed).unwrap_or(i64::MAX);
        assign_splits(&mut tasks, seed, fractions, options::split_rule(config));
        notes.extend(overlaps(&tasks).iter().map(ToString::to_string));
        for task in &tasks {
            let fields = json!({
                "id": task.id, "intent": task.intent, "split": task.split, "judge": task.judge,
                "reference_kind": task.reference_kind, "sessions": task.source_sessions,
            });
            self.evidence.record("mine", "task_ready", fields);
        }
        self.watch.mined(crate::replay::count(tasks.len()));
        let n_sessions = crate::replay::count(found.digests.len());
        Ok(Gathered { tasks, harvest: Some(found), n_sessions, notes })
    }

    async fn harvest(
        &self,
        asked: &HarvestOptions,
        clock: &Arc<dyn Clock>,
    ) -> Result<Harvest, NightFailure> {
        self.watch.stage(NightStage::Harvest, "reading transcripts");
        let project = self.plan.config.invoked_project.display().to_string();
        let known: HarvestState =
            serde_json::from_value(self.state.harvest_cursor(&project)).unwrap_or_default();
        let last = self.state.last_harvest_ms(&project, &TimeZone::system());
        let options = windowed(asked, last, clock.now_ms());
        let read = tokio::task::spawn_blocking(move || harvest(&options, &known)).await;
        let found = read.map_err(|err| NightFailure::Io {
            action: "read the transcripts".to_owned(),
            reason: std::io::Error::other(err),
        })?;
        for digest in &found.digests {
            let fields = json!({
                "session": digest.session_id, "project": digest.project, "path": digest.raw_path,
                "n_user_turns": digest.n_user_turns, "ended_at": digest.ended_at,
            });
            self.evidence.record("harvest", "session", fields);
        }
        self.watch.harvested(&found);
        Ok(found)
    }

    async fn mine(
        &self,
        digests: &[SessionDigest],
        notes: &mut Vec<String>,
    ) -> Result<Vec<TaskRecord>, NightFailure> {
        self.watch.stage(NightStage::Mine, "looking for tasks");
        if self.backend.is_simulated() || !self.plan.config.llm_mine {
            return Ok(merge_tasks(mine_heuristically(digests)));
        }
        let mut tasks = Vec::new();
        let at_once = NonZeroUsize::new(usize::from(self.plan.config.env.workers));
        let at_once = at_once.unwrap_or(NonZeroUsize::MIN);
        let template = self.plan.prompts.text(&prompts::MINER);
        let miner = BackendMiner { backend: self.backend.as_ref() };
        let mut n_failed = 0_u32;
        for (digest, mined) in mine_with_model(&miner, template, digests, at_once).await {
            match mined {
                ModelMined::Read(read) => {
                    let fields = json!({
                        "session": digest.session_id, "n_tasks": read.tasks.len(),
                        "dropped": read.dropped.iter().map(|dropped| format!("{:?}", dropped.reason))
                            .collect::<Vec<_>>(),
                    });
                    self.evidence.record("mine", "task_mined", fields);
                    tasks.extend(read.tasks);
                }
                ModelMined::Unreadable { reply, error } => {
                    n_failed += 1;
                    let fields = json!({
                        "session": digest.session_id, "reply": reply, "error": error.to_string(),
                    });
                    self.evidence.record("mine", "miner_exchange", fields);
                }
                ModelMined::Failed(error) if ends_night(&error) => {
                    return Err(NightError::Backend(error).into());
                }
                ModelMined::Failed(error) => {
                    n_failed += 1;
                    let fields = json!({"session": digest.session_id, "error": error.to_string()});
                    self.evidence.record("mine", "miner_exchange", fields);
                }
            }
        }
        if n_failed > 0 {
            notes.push(format!("the miner's answers on {n_failed} sessions could not be used"));
        }
        if tasks.is_empty() && !digests.is_empty() {
            notes.push(
                "the miner found no task that can be scored; tasks were found by rules".to_owned(),
            );
            tasks = mine_heuristically(digests);
        }
        Ok(merge_tasks(tasks))
    }

    fn choose(&self, tasks: Vec<TaskRecord>, documents: &Documents) -> ChosenTasks {
        let config = &self.plan.config;
        let is_aimed = !config.target_skill_path.as_os_str().is_empty()
            && config.target_task_filter
            && !documents.skill.text.is_empty();
        let terms = is_aimed.then(|| TargetTerms::of(&documents.skill.path, &documents.skill.text));
        let most = usize::try_from(config.max_tasks_per_night).unwrap_or(usize::MAX);
        choose_tasks(tasks, terms.as_ref(), most)
    }
}

/// Sessions none of whose tasks are treated tonight come again with the next harvest.
fn wait_for_untreated(found: &mut Harvest, chosen: &ChosenTasks) {
    let is_treated = |digest: &SessionDigest| {
        chosen.tasks.iter().any(|task| task.source_sessions.contains(&digest.session_id))
    };
    let is_left = |digest: &SessionDigest| {
        chosen.left_out.iter().any(|task| task.source_sessions.contains(&digest.session_id))
    };
    for digest in found.digests.iter().filter(|digest| is_left(digest) && !is_treated(digest)) {
        if let Some(source) = digest.source {
            found.state.wait(source, &digest.raw_path);
        }
    }
}

/// The first harvest looks back as far as asked. Later ones look back as far from the last one, since the state knows
/// what was taken already: a night that was missed loses nothing, and a longer look-back counts at once.
fn windowed(asked: &HarvestOptions, last_ms: Option<u64>, now_ms: u64) -> HarvestOptions {
    let mut options = asked.clone();
    if let Some(last) = last_ms.filter(|last| *last < now_ms && asked.lookback_hours > 0) {
        let last = Instant::from_whole(last).unwrap_or(asked.now);
        options.since = Some(last.hours_before(asked.lookback_hours));
    }
    options
}

fn ends_night(error: &BackendError) -> bool {
    !matches!(
        error,
        BackendError::Failed { .. } | BackendError::Unusable(_) | BackendError::Unsupported(_)
    )
}
