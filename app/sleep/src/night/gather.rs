//! From sessions to tasks with their splits: harvest, mining, choice. What is not treated tonight waits. In a night that
//! a person answers, both are taken from its first round.

mod pins;

pub use pins::{TASKS_CHANGED, have_changed, tasks_begun_with};

use super::documents::Documents;
use super::work::Work;
use super::{NightFailure, TaskSource, beside};
use crate::digest::SessionDigest;
use crate::handoff::Pinned;
use crate::harvest::{Harvest, HarvestOptions, HarvestState, Instant, harvest};
use crate::mine::{
    ChosenTasks, Recurrence, TargetTerms, agreed_hints, choose_tasks, merge_tasks, recurrences,
};
use crate::split::{Fractions, assign_splits, overlaps};
use crate::task::TaskRecord;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};
use serde_json::json;
use skillopt_domain::night::NightStage;
use std::collections::{BTreeMap, BTreeSet};

/// Longest list of what is asked again and again, and how much of each is shown.
const MOST_OFTEN: usize = 3;
const OFTEN_CHARS: usize = 120;

/// The tasks of a night, and where they came from.
#[derive(Serialize, Deserialize)]
pub(super) struct Gathered {
    pub(super) tasks: Vec<TaskRecord>,
    /// `None` when the tasks were given.
    pub(super) harvest: Option<Harvested>,
    /// Tasks for the next night whose session does not come again.
    pub(super) waiting: Vec<TaskRecord>,
    pub(super) n_sessions: u32,
    pub(super) notes: Vec<String>,
    /// The skill of each task for which every session agrees on one, by the task's id.
    #[serde(default)]
    pub(super) hints: BTreeMap<String, String>,
}

/// What was read, and when: both are that of the first round in a night that has several.
#[derive(Serialize, Deserialize)]
pub(super) struct Harvested {
    /// With the state that the next harvest goes on from.
    pub(super) found: Harvest,
    /// Milliseconds since 1970.
    pub(super) at_ms: u64,
    /// What is told of pins that were not used.
    #[serde(default)]
    pub(super) anew: Option<String>,
}

impl Work<'_> {
    pub(super) async fn gather(&self, documents: &Documents) -> Result<Gathered, NightFailure> {
        let anew = self.foreign_pins().await?;
        let pinned = self.pinned_tasks().await?;
        let gathered = match (&self.plan.tasks, pinned) {
            (TaskSource::Given(tasks), pinned) => self.given(tasks, pinned, anew).await?,
            (TaskSource::Harvest(_), Some(pinned)) => pinned,
            (TaskSource::Harvest(asked), None) => self.look(asked, documents, anew).await?,
        };
        if let Some(harvested) = &gathered.harvest {
            self.watch.harvested(&harvested.found);
        }
        for task in &gathered.tasks {
            let fields = json!({
                "id": task.id, "intent": task.intent, "split": task.split, "judge": task.judge,
                "reference_kind": task.reference_kind, "sessions": task.source_sessions,
            });
            self.evidence.record("mine", "task_ready", fields);
        }
        self.watch.mined(crate::replay::count(gathered.tasks.len()));
        Ok(gathered)
    }

    async fn look(
        &self,
        asked: &HarvestOptions,
        documents: &Documents,
        anew: Option<String>,
    ) -> Result<Gathered, NightFailure> {
        let harvested = match self.pinned(Pinned::Digests).await? {
            // What an earlier round told of the pins that it found is not told again.
            Some(Harvested { found, at_ms, anew: told }) => {
                Harvested { found, at_ms, anew: told.or(anew) }
            }
            None => self.harvest(asked, anew).await?,
        };
        let Harvested { mut found, at_ms, anew } = harvested;
        self.tell_harvest(&found);
        let mut notes: Vec<String> = anew.into_iter().chain(found.nothing_because()).collect();
        let mined = self.mine(&found.digests).await?;
        notes.extend(mined.notes);
        let unread: Vec<SessionDigest> = mined.unread.into_iter().cloned().collect();
        // Those of earlier nights first: they have waited the longest.
        let mut tasks = self.state.waiting_tasks(&self.project());
        tasks.extend(mined.tasks);
        let hints = agreed_hints(&tasks);
        let (tasks, often) = beside("compare the tasks", move || {
            let tasks = merge_tasks(tasks);
            let often = recurrences(&tasks);
            (tasks, often)
        })
        .await?;
        notes.extend(often_words(&often, &tasks));
        let chosen = self.choose(often_first(tasks, &often), documents);
        notes.extend(left_words(&chosen));
        for digest in &unread {
            wait(&mut found, digest);
        }
        let mut waiting = wait_for_untreated(&mut found, &chosen);
        for task in &mut waiting {
            // What not all sessions say of a task is not to be taken for what they agree on in the next night.
            task.skill_hint = hints.get(&task.id).cloned().unwrap_or_default();
        }
        let mut tasks = chosen.tasks;
        self.split(&mut tasks)?;
        notes.extend(overlaps(&tasks).iter().map(ToString::to_string));
        let n_sessions = crate::replay::count(found.digests.len());
        let harvest = Some(Harvested { found, at_ms, anew: None });
        let gathered = Gathered { tasks, harvest, waiting, n_sessions, notes, hints };
        if !gathered.tasks.is_empty() {
            self.pin(Pinned::Tasks, &gathered).await?;
        }
        Ok(gathered)
    }

    fn split(&self, tasks: &mut [TaskRecord]) -> Result<(), NightFailure> {
        let config = &self.plan.config;
        let fractions = Fractions::try_new(config.val_fraction(), config.test_fraction)
            .map_err(|err| NightFailure::Config(err.to_string()))?;
        let seed = i64::try_from(config.seed).unwrap_or(i64::MAX);
        assign_splits(tasks, seed, fractions, config.split_rule.into());
        Ok(())
    }

    async fn harvest(
        &self,
        asked: &HarvestOptions,
        anew: Option<String>,
    ) -> Result<Harvested, NightFailure> {
        self.watch.stage(NightStage::Harvest, "reading transcripts");
        let project = self.project();
        let known: HarvestState =
            serde_json::from_value(self.state.harvest_cursor(&project)).unwrap_or_default();
        let last = self.state.last_harvest_ms(&project, &TimeZone::system());
        let at_ms = self.clock.now_ms();
        let options = windowed(asked, last, at_ms);
        let found = beside("read the transcripts", move || harvest(&options, &known)).await?;
        let harvested = Harvested { found, at_ms, anew };
        if !harvested.found.digests.is_empty() {
            self.pin(Pinned::Digests, &harvested).await?;
        }
        Ok(harvested)
    }

    fn tell_harvest(&self, found: &Harvest) {
        for digest in &found.digests {
            let fields = json!({
                "session": digest.session_id, "project": digest.project, "path": digest.raw_path,
                "n_user_turns": digest.n_user_turns, "ended_at": digest.ended_at,
            });
            self.evidence.record("harvest", "session", fields);
        }
        self.watch.harvested(found);
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

/// Tasks of a file go to models and into logs as sessions do.
fn given(tasks: &[TaskRecord]) -> Gathered {
    let clean: Vec<TaskRecord> = tasks.iter().map(TaskRecord::redacted).collect();
    let n_masked = tasks.iter().zip(&clean).filter(|(given, clean)| given != clean).count();
    let note = format!("secrets in {n_masked} given tasks were masked");
    let notes = Some(note).filter(|_| n_masked > 0).into_iter().collect();
    let hints = agreed_hints(&clean);
    Gathered { tasks: clean, harvest: None, waiting: Vec::new(), n_sessions: 0, notes, hints }
}

/// What was asked in more than one session goes before what was asked in one: where there is more than a night takes, the
/// rest waits. Otherwise the order stays.
fn often_first(tasks: Vec<TaskRecord>, often: &[Recurrence]) -> Vec<TaskRecord> {
    let recurring = often.iter().filter(|group| group.is_recurring());
    let ids: BTreeSet<&String> = recurring.flat_map(|group| &group.task_ids).collect();
    let (mut first, rest): (Vec<_>, Vec<_>) =
        tasks.into_iter().partition(|task| ids.contains(&task.id));
    first.extend(rest);
    first
}

/// What is asked most often, for people.
fn often_words(often: &[Recurrence], tasks: &[TaskRecord]) -> Vec<String> {
    let recurring = often.iter().filter(|group| group.is_recurring());
    let words = |group: &Recurrence| {
        let id = group.task_ids.first()?;
        let task = tasks.iter().find(|task| task.id == *id)?;
        let intent = skillopt_engine::prompts::one_line(&task.intent);
        let intent = crate::reflect::cut(&intent, OFTEN_CHARS);
        Some(format!("asked in {} sessions: {intent}", group.n_sessions))
    };
    recurring.filter_map(words).take(MOST_OFTEN).collect()
}

fn left_words(chosen: &ChosenTasks) -> Vec<String> {
    let mut words = Vec::new();
    if !chosen.over_limit.is_empty() {
        let were = tasks_were(chosen.over_limit.len());
        words.push(format!("{were} left for another night: there are more than a night takes"));
    }
    if !chosen.off_target.is_empty() {
        let were = tasks_were(chosen.off_target.len());
        words.push(format!("{were} left out: not what the target skill is about"));
    }
    words
}

fn tasks_were(n: usize) -> String {
    if n == 1 { "1 task was".to_owned() } else { format!("{n} tasks were") }
}

/// Sessions of which only tasks beyond the limit are left come again with the next harvest. Tasks of other sessions are
/// given back: they wait by themselves, since a session that came again would bring its treated tasks as well.
fn wait_for_untreated(found: &mut Harvest, chosen: &ChosenTasks) -> Vec<TaskRecord> {
    let has = |tasks: &[TaskRecord], digest: &SessionDigest| {
        tasks.iter().any(|task| task.source_sessions.contains(&digest.session_id))
    };
    let again: Vec<SessionDigest> = found
        .digests
        .iter()
        .filter(|digest| has(&chosen.over_limit, digest) && !has(&chosen.tasks, digest))
        .filter(|digest| digest.source.is_some())
        .cloned()
        .collect();
    for digest in &again {
        wait(found, digest);
    }
    let comes_again = |task: &&TaskRecord| {
        again.iter().any(|digest| task.source_sessions.contains(&digest.session_id))
    };
    chosen.over_limit.iter().filter(|task| !comes_again(task)).cloned().collect()
}

fn wait(found: &mut Harvest, digest: &SessionDigest) {
    if let Some(source) = digest.source {
        found.state.wait(source, &digest.raw_path);
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

#[cfg(test)]
mod tests {
    use super::*;

    fn task(id: &str, intent: &str, session: &str) -> TaskRecord {
        TaskRecord {
            id: id.to_owned(),
            intent: intent.to_owned(),
            source_sessions: vec![session.to_owned()],
            ..TaskRecord::default()
        }
    }

    #[test]
    fn later_harvests_look_back_from_the_last_one_and_as_far_as_is_asked() {
        let at = |hour: u64| 1_700_000_000_000 + hour * 3_600_000;
        let moment = |hour| Instant::from_whole(at(hour));
        let now = moment(1000).expect("a moment");
        let since = |lookback_hours, last: Option<u64>| {
            let asked = HarvestOptions { lookback_hours, ..HarvestOptions::new(now) };
            windowed(&asked, last.map(at), at(1000)).since
        };
        assert_eq!(since(72, None), None, "the first one looks back from now");
        assert_eq!(since(72, Some(900)), moment(828));
        assert_eq!(since(100, Some(900)), moment(800), "further back counts at once");
        assert_eq!(since(0, Some(900)), None, "all there is stays all there is");
        assert_eq!(since(72, Some(1001)), None, "a moment that is still to come is none");
    }

    #[test]
    fn f27_what_is_asked_again_and_again_goes_first_and_is_told() {
        let tasks = vec![
            task("once", "name the capital of france", "s1"),
            task("a", "write the release notes for this week", "s2"),
            task("b", "write the release notes for this month", "s3"),
        ];
        let often = recurrences(&tasks);
        let words = often_words(&often, &tasks);
        assert_eq!(words, ["asked in 2 sessions: write the release notes for this week"]);
        let order: Vec<String> =
            often_first(tasks.clone(), &often).into_iter().map(|task| task.id).collect();
        assert_eq!(order, ["a", "b", "once"]);
        let alone = [tasks[0].clone()];
        assert!(often_words(&recurrences(&alone), &alone).is_empty());
    }
}
