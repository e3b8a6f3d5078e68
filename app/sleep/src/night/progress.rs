//! What a night tells while it runs: the latest counts, for whoever looks. Keeps no history.

use crate::backend::{Asker, Phase};
use crate::consolidate::{NightEvent, NightSink};
use crate::harvest::Harvest;
use futures::future::join_all;
use skillopt_domain::night::edit::Target;
use skillopt_domain::night::{NightProgress, NightStage};
use skillopt_domain::outage::Outage;
use skillopt_domain::spend::Spend;
use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::watch;

/// The watched side of a night. Receivers see the latest counts.
#[derive(Debug)]
pub struct Watch {
    progress: watch::Sender<NightProgress>,
    harvest: watch::Sender<Option<Harvest>>,
    asker: Mutex<Option<Arc<dyn Asker>>>,
    told: Mutex<Told>,
}

/// What a night does, and what does not answer meanwhile.
#[derive(Debug, Default)]
struct Told {
    doing: String,
    /// By the number of the model.
    down: BTreeMap<usize, String>,
}

impl Told {
    fn words(&self) -> String {
        // Two models may be one endpoint.
        let down: BTreeSet<&str> = self.down.values().map(String::as_str).collect();
        let doing = Some(self.doing.as_str()).filter(|doing| !doing.is_empty());
        down.into_iter().chain(doing).collect::<Vec<_>>().join("; ")
    }
}

impl Default for Watch {
    fn default() -> Self {
        Self {
            progress: watch::Sender::new(NightProgress::start()),
            harvest: watch::Sender::new(None),
            asker: Mutex::default(),
            told: Mutex::default(),
        }
    }
}

impl Watch {
    /// Follows the counts.
    #[must_use]
    pub fn subscribe(&self) -> watch::Receiver<NightProgress> {
        self.progress.subscribe()
    }

    /// Follows the harvest: once it is done, it is there.
    #[must_use]
    pub fn harvests(&self) -> watch::Receiver<Option<Harvest>> {
        self.harvest.subscribe()
    }

    /// The latest counts, with what is spent by now.
    #[must_use]
    pub fn latest(&self) -> NightProgress {
        NightProgress { spend: self.spend(), ..self.progress.borrow().clone() }
    }

    pub(super) fn spends(&self, asker: Arc<dyn Asker>) {
        *self.asker.lock().unwrap_or_else(PoisonError::into_inner) = Some(asker);
    }

    fn spend(&self) -> Spend {
        let asker = self.asker.lock().unwrap_or_else(PoisonError::into_inner).clone();
        asker.map_or_else(Spend::default, |asker| asker.spend().total())
    }

    /// A stage begins.
    pub(super) fn stage(&self, stage: NightStage, doing: &str) {
        let words = self.told(|told| doing.clone_into(&mut told.doing));
        self.change(|now| {
            now.stage = stage;
            now.doing = words;
            (now.done, now.total) = (0, None);
        });
    }

    /// Tells when endpoints do not answer, and when they do again. Ends with the night. Safe to drop.
    pub(super) async fn follow_outages(
        &self,
        models: Vec<watch::Receiver<Option<Outage>>>,
    ) -> Infallible {
        let all = models.into_iter().enumerate();
        join_all(all.map(|(number, outages)| self.follow(number, outages))).await;
        std::future::pending().await
    }

    async fn follow(&self, number: usize, mut outages: watch::Receiver<Option<Outage>>) {
        // What was known before the night has been seen; it may be over, until a call fails.
        while outages.changed().await.is_ok() {
            let outage = outages.borrow_and_update().clone();
            let words = self.told(|told| {
                match outage {
                    Some(outage) => told.down.insert(number, outage_words(&outage)),
                    None => told.down.remove(&number),
                };
            });
            self.change(|now| now.doing = words);
        }
    }

    /// Changes what is told, and says it in words.
    fn told(&self, change: impl FnOnce(&mut Told)) -> String {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut told);
        told.words()
    }

    pub(super) fn counted(&self, done: u32, total: u32) {
        self.change(|now| (now.done, now.total) = (done, Some(total)));
    }

    pub(super) fn harvested(&self, harvest: &Harvest) {
        let masked = harvest.sources.iter().flat_map(|source| source.redactions.values()).sum();
        self.harvest.send_replace(Some(harvest.clone()));
        self.change(|now| {
            now.n_sessions = Some(crate::replay::count(harvest.digests.len()));
            now.n_masked = Some(masked);
        });
    }

    pub(super) fn mined(&self, n_tasks: u32) {
        self.change(|now| now.n_tasks = Some(n_tasks));
    }

    fn change(&self, change: impl FnOnce(&mut NightProgress)) {
        let spend = self.spend();
        self.progress.send_modify(|now| {
            change(now);
            now.spend = spend;
        });
    }
}

impl NightSink for Watch {
    fn tell(&self, event: NightEvent) {
        match event {
            NightEvent::StageBegan { phase, n_tasks } => {
                let (stage, doing) = words(phase);
                self.stage(stage, doing);
                self.counted(0, n_tasks);
            }
            NightEvent::TaskScored { n_done, n_tasks, .. } => self.counted(n_done, n_tasks),
            NightEvent::ReflectBegan { target } => {
                let doing = match target {
                    Target::Skill => "looking for edits of the skill",
                    Target::Memory => "looking for edits of the memory",
                };
                self.stage(NightStage::Reflect, doing);
            }
            NightEvent::GuidanceBegan => self.stage(NightStage::Reflect, "looking for guidance"),
            NightEvent::Reflected { n_edits, .. } => {
                let edits = if n_edits == 1 { "edit" } else { "edits" };
                self.stage(NightStage::Consolidate, &format!("{n_edits} {edits} proposed"));
            }
            NightEvent::GroupBegan { skill, .. } => {
                self.stage(NightStage::Replay, &format!("the skill {skill}"));
            }
            NightEvent::Trial { .. }
            | NightEvent::Decided { .. }
            | NightEvent::Partitioned { .. }
            | NightEvent::StageEnded { .. } => {}
        }
    }
}

fn outage_words(outage: &Outage) -> String {
    let Outage { endpoint, model, error, .. } = outage;
    format!("{model} at {endpoint} does not answer: {error}")
}

fn words(phase: Phase) -> (NightStage, &'static str) {
    match phase {
        Phase::Mine => (NightStage::Mine, "reading sessions"),
        Phase::BaselineVal => (NightStage::Replay, "measuring the live documents"),
        Phase::Train => (NightStage::Replay, "trying the training tasks"),
        Phase::TrainPostSkill => {
            (NightStage::Replay, "trying the training tasks with the new skill")
        }
        Phase::TrialSkill => (NightStage::Consolidate, "measuring the candidate skill"),
        Phase::TrialMemory => (NightStage::Consolidate, "measuring the candidate memory"),
        Phase::FinalVal => (NightStage::Consolidate, "measuring the end anew"),
        Phase::Test => (NightStage::Consolidate, "measuring the test tasks"),
        Phase::Reflect => (NightStage::Reflect, "looking for edits"),
    }
}
