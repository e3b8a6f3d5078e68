//! Runs a benchmark folder over nights, and carries a skill from one model to another.

use super::{BenchFolder, NightTrace};
use crate::backend::{Backend, Docs, LostEdit, Phase};
use crate::block::slow_update;
use crate::consolidate::{
    Measurement, NightError, NightEvent, NightInput, NightOptions, NightSink, compare,
    consolidate_night, measure_sets,
};
use crate::dream::{SlowProposal, compare_versions, propose_guidance};
use crate::evidence::Evidence;
use crate::replay::{Draws, NightTools, Replayed, replay_sets};
use crate::task::{Split, TaskRecord};
use serde::{Deserialize, Serialize};
use skillopt_domain::spend::SpendByRole;
use skillopt_engine::ctx::RunCtx;
use std::sync::Arc;

/// What an experiment runs with.
#[derive(Clone, Debug)]
pub struct Bed {
    /// Who performs, judges and reflects.
    pub backend: Arc<dyn Backend>,
    /// The log.
    pub evidence: Arc<Evidence>,
    /// Who watches.
    pub events: Arc<dyn NightSink>,
    /// Cancel and pause.
    pub ctx: RunCtx,
}

/// How a folder is run.
#[derive(Clone, Debug, PartialEq)]
pub struct BenchOptions {
    /// Nights.
    pub nights: u32,
    /// How each night goes.
    pub night: NightOptions,
}

/// A score on the test tasks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TestScore {
    /// Gate number, 0 to 1.
    pub score: f64,
    /// Share of tasks that pass, 0 to 1.
    pub hard: f64,
    /// Mean of how much of each task passes, 0 to 1.
    pub soft: f64,
    /// Tasks that it rests on.
    pub n: u32,
}

/// What a run of a folder came to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BenchReport {
    /// The folder.
    pub name: String,
    /// Name of the backend.
    pub backend: String,
    /// It is a simulation.
    pub simulated: bool,
    /// The skill to begin with on the test tasks.
    pub before: Option<TestScore>,
    /// The final skill on the test tasks.
    pub after: Option<TestScore>,
    /// Night by night.
    pub trace: Vec<NightTrace>,
    /// The guidance over nights, where it stood.
    pub slow_update: Option<String>,
    /// What it cost.
    pub spend: SpendByRole,
    /// The final skill.
    pub skill: String,
}

/// What carrying a skill to another model came to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TransferReport {
    /// The folder.
    pub name: String,
    /// The model that learned.
    pub source: String,
    /// The model that only uses.
    pub target: String,
    /// The target with the skill to begin with.
    pub baseline_target: Option<TestScore>,
    /// The target with what it learned itself; `None` when that was not asked for.
    pub direct_target: Option<TestScore>,
    /// The target with what the source learned.
    pub transferred: Option<TestScore>,
    /// What the carried skill is worth to the target.
    pub transfer_gain: Option<f64>,
    /// One of the two is a simulation.
    pub simulated: bool,
    /// The source's nights.
    pub trace: Vec<NightTrace>,
    /// What both cost.
    pub spend: SpendByRole,
    /// The skill that was carried.
    pub skill: String,
}

impl BenchReport {
    /// The final skill is better on the test tasks; `None` when they were not scored.
    #[must_use]
    pub fn change(&self) -> Option<f64> {
        self.before.zip(self.after).map(|(before, after)| after.score - before.score)
    }
}

/// Runs a folder: tests, learns over nights, writes guidance when there were several, and tests again.
///
/// # Errors
/// As [`consolidate_night`].
pub async fn run_bench(
    folder: &BenchFolder,
    options: &BenchOptions,
    bed: &Bed,
) -> Result<BenchReport, NightError> {
    let spent_before = bed.backend.spend();
    let before = test(folder, &folder.skill, options, bed).await?;
    let learned = learn(folder, options, bed).await?;
    let after = test(folder, &learned.skill, options, bed).await?;
    Ok(BenchReport {
        name: folder.name.clone(),
        backend: bed.backend.label(),
        simulated: bed.backend.is_simulated(),
        before,
        after,
        trace: learned.trace,
        slow_update: learned.slow_update,
        spend: since(bed, &spent_before),
        skill: learned.skill,
    })
}

/// Lets the source learn and the target use it; `direct` lets the target learn as well, for comparison. Real models
/// in both beds are behind one meter.
///
/// # Errors
/// As [`consolidate_night`].
pub async fn run_transfer(
    folder: &BenchFolder,
    options: &BenchOptions,
    (source, target): (&Bed, &Bed),
    direct: Direct,
) -> Result<TransferReport, NightError> {
    let spent_before = [source, target].map(|bed| bed.backend.spend());
    let learned = learn(folder, options, source).await?;
    let baseline_target = test(folder, &folder.skill, options, target).await?;
    let transferred = test(folder, &learned.skill, options, target).await?;
    let direct_target = match direct {
        Direct::Skip => None,
        Direct::Measure => {
            let own = learn(folder, options, target).await?;
            test(folder, &own.skill, options, target).await?
        }
    };
    let gain = baseline_target.zip(transferred).map(|(before, after)| after.score - before.score);
    Ok(TransferReport {
        name: folder.name.clone(),
        source: source.backend.label(),
        target: target.backend.label(),
        baseline_target,
        direct_target,
        transferred,
        transfer_gain: gain,
        simulated: source.backend.is_simulated() || target.backend.is_simulated(),
        trace: learned.trace,
        // One meter tells both the same; a simulation beside it tells nothing.
        spend: since(source, &spent_before[0]).at_least(since(target, &spent_before[1])),
        skill: learned.skill,
    })
}

fn since(bed: &Bed, before: &SpendByRole) -> SpendByRole {
    bed.backend.spend().since(before)
}

/// Whether a transfer lets the target learn itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direct {
    /// It does.
    Measure,
    /// It does not.
    Skip,
}

struct Learned {
    skill: String,
    trace: Vec<NightTrace>,
    slow_update: Option<String>,
}

async fn learn(
    folder: &BenchFolder,
    options: &BenchOptions,
    bed: &Bed,
) -> Result<Learned, NightError> {
    // The test tasks are measured by who asks for it, and never in the middle.
    let is_known = |task: &&TaskRecord| task.split != Split::Test;
    let tasks: Vec<TaskRecord> = folder.tasks.iter().filter(is_known).cloned().collect();
    let mut skill = folder.skill.clone();
    let mut rejected: Vec<LostEdit> = Vec::new();
    let mut trace = Vec::new();
    for night in 1..=options.nights {
        let input = NightInput {
            tasks: tasks.clone(),
            skill: skill.clone(),
            memory: String::new(),
            options: NightOptions { evolve_memory: false, ..options.night.clone() },
            archive: Vec::new(),
            rejected_before: rejected.clone(),
            backend: Arc::clone(&bed.backend),
            evidence: Arc::clone(&bed.evidence),
            events: Arc::clone(&bed.events),
            ctx: bed.ctx.clone(),
        };
        let outcome = consolidate_night(input).await?;
        trace.push(NightTrace::of(night, &outcome));
        rejected.extend(outcome.rejected_edits.into_iter().map(LostEdit::from));
        skill = outcome.new_skill.unwrap_or(skill);
    }
    let mut guidance = None;
    if trace.len() >= 2
        && let Some(better) = guide(&tasks, (&folder.skill, &skill), options, bed).await?
    {
        skill = better;
        guidance = slow_update(&skill).ok().flatten();
    }
    Ok(Learned { skill, trace, slow_update: guidance })
}

/// The skill with guidance over all nights, when that is better on the validation tasks.
async fn guide(
    tasks: &[TaskRecord],
    (first, last): (&str, &str),
    options: &BenchOptions,
    bed: &Bed,
) -> Result<Option<String>, NightError> {
    let is_val = |task: &&TaskRecord| task.split == Split::Val;
    let val: Vec<TaskRecord> = tasks.iter().filter(is_val).cloned().collect();
    let repeats = options.night.gate_repeats;
    let drawn = |n| Draws::up_to(Phase::BaselineVal, n);
    let older = attempts(&val, first, drawn(1), options, bed).await?;
    let newer = attempts(&val, last, drawn(repeats), options, bed).await?;
    let movement = compare_versions(&val, &firsts(&older), &firsts(&newer));
    bed.events.tell(NightEvent::GuidanceBegan);
    let proposal = propose_guidance(bed.backend.as_ref(), (first, last), &movement).await?;
    let SlowProposal::Candidate(candidate) = proposal else { return Ok(None) };
    let draws = Draws::up_to(Phase::TrialSkill, repeats);
    let with = attempts(&val, &candidate, draws, options, bed).await?;
    let (newer, with) = (measure_sets(&val, &newer), measure_sets(&val, &with));
    let comparison = compare("slow_update", &newer, &with, &options.night.rule);
    bed.evidence.record("gate", "trial", serde_json::json!(comparison.trial));
    Ok(comparison.trial.accepted.then_some(candidate))
}

/// The first attempt at each task.
fn firsts(sets: &[Vec<Replayed>]) -> Vec<Replayed> {
    sets.iter().filter_map(|set| set.first().cloned()).collect()
}

async fn attempts(
    tasks: &[TaskRecord],
    skill: &str,
    draws: Draws,
    options: &BenchOptions,
    bed: &Bed,
) -> Result<Vec<Vec<Replayed>>, NightError> {
    let tools = NightTools {
        backend: bed.backend.as_ref(),
        evidence: &bed.evidence,
        events: bed.events.as_ref(),
        workers: options.night.workers,
        error_share: options.night.error_share,
    };
    replay_sets(&tools, tasks, Docs { skill, memory: "" }, draws).await
}

async fn test(
    folder: &BenchFolder,
    skill: &str,
    options: &BenchOptions,
    bed: &Bed,
) -> Result<Option<TestScore>, NightError> {
    let is_test = |task: &&TaskRecord| task.split == Split::Test;
    let tasks: Vec<TaskRecord> = folder.tasks.iter().filter(is_test).cloned().collect();
    let sets = attempts(&tasks, skill, Draws::up_to(Phase::Test, 1), options, bed).await?;
    let measured = Measurement::of(&measure_sets(&tasks, &sets), &options.night.rule);
    let score = |Measurement { score, mean }: Measurement| TestScore {
        score,
        hard: mean.hard,
        soft: mean.soft,
        n: mean.n,
    };
    Ok(measured.map(score))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::{
        Attempt, Attempted, BackendError, Judged, Judging, Mock, Proposed, Reflection, Said,
        SlowQuestion, TextQuestion, rule_tag,
    };
    use crate::consolidate::Silent;
    use crate::task::ReferenceKind;
    use async_trait::async_trait;
    use skillopt_engine::ctx::RunControl;
    use std::sync::Mutex;

    fn bed() -> Bed {
        let (_control, ctx) = RunControl::new();
        let evidence = Arc::new(Evidence::off());
        Bed { backend: Arc::new(Mock), evidence, events: Arc::new(Silent), ctx }
    }

    fn folder() -> BenchFolder {
        let task = |id: &str, split| TaskRecord {
            id: id.into(),
            intent: format!("do {id}"),
            reference_kind: ReferenceKind::Exact,
            reference: "one long reference".into(),
            tags: vec![rule_tag("json-only")],
            split,
            ..TaskRecord::default()
        };
        let tasks = vec![task("a", Split::Train), task("b", Split::Val), task("c", Split::Test)];
        BenchFolder { name: "f".into(), skill: "# F\n".into(), tasks }
    }

    fn options() -> BenchOptions {
        BenchOptions { nights: 2, night: NightOptions::default() }
    }

    #[tokio::test]
    async fn a_folder_gets_better_on_tasks_that_it_never_learned_from() {
        let report = run_bench(&folder(), &options(), &bed()).await.expect("a report");
        let (before, after) = report.before.zip(report.after).expect("tested");
        assert!(before.score < 0.5 && after.score > 0.999 && after.n == 1, "{report:?}");
        let stood: Vec<_> = report.trace.iter().map(|night| night.accepted).collect();
        assert_eq!(stood, [true, false], "there is nothing left to learn");
        assert!(report.simulated && report.slow_update.is_none());
        assert!(report.change().is_some_and(|change| change > 0.5));
        assert_eq!(report.trace[0].n_validated, 1);
    }

    #[tokio::test]
    async fn a_skill_is_carried_to_another_model() {
        let (source, target) = (bed(), bed());
        let beds = (&source, &target);
        let report =
            run_transfer(&folder(), &options(), beds, Direct::Measure).await.expect("told");
        assert!(report.transfer_gain.is_some_and(|gain| gain > 0.5));
        assert_eq!(report.direct_target, report.transferred);
        let report = run_transfer(&folder(), &options(), beds, Direct::Skip).await.expect("told");
        assert_eq!(report.direct_target, None);
    }

    const GUIDANCE: &str = "Say it whole.";

    /// Knows the answers once guidance tells it to say them, and notes which draws it is asked for.
    #[derive(Debug, Default)]
    struct Guided {
        draws: Mutex<Vec<(Phase, u32)>>,
    }

    #[async_trait]
    impl Backend for Guided {
        fn label(&self) -> String {
            "guided".into()
        }
        fn is_simulated(&self) -> bool {
            false
        }
        async fn attempt(&self, attempt: &Attempt<'_>) -> Result<Attempted, BackendError> {
            let draw = (attempt.draw.phase, attempt.draw.repeat);
            self.draws.lock().expect("not poisoned").push(draw);
            let text = match attempt.docs.skill.contains(GUIDANCE) {
                true => attempt.task.reference.clone(),
                false => "no".to_owned(),
            };
            Ok(Attempted { text, tokens: Some(10), ..Attempted::default() })
        }
        async fn judge(&self, judging: &Judging<'_>) -> Result<Judged, BackendError> {
            Mock.judge(judging).await
        }
        async fn reflect(&self, reflection: &Reflection<'_>) -> Result<Proposed, BackendError> {
            Mock.reflect(reflection).await
        }
        async fn guide(&self, _: &SlowQuestion<'_>) -> Result<Said, BackendError> {
            Ok(Said { text: GUIDANCE.into(), ..Said::default() })
        }
        async fn mine(&self, question: &TextQuestion<'_>) -> Result<Said, BackendError> {
            Mock.mine(question).await
        }
        fn spend(&self) -> SpendByRole {
            SpendByRole::default()
        }
    }

    #[tokio::test]
    async fn guidance_over_nights_is_measured_as_a_night_measures() {
        let backend = Arc::new(Guided::default());
        let bed = Bed { backend: Arc::clone(&backend) as _, ..bed() };
        let mut options = options();
        options.night.gate_repeats = 3;
        // With a part that counts tokens nothing has a number unless their tokens are told.
        options.night.rule.weights.tokens = 0.5;
        let tasks = folder().tasks;
        let better = guide(&tasks, ("# A\n", "# B\n"), &options, &bed).await.expect("measured");
        assert!(better.is_some_and(|skill| skill.contains(GUIDANCE)));
        let draws = backend.draws.lock().expect("not poisoned").clone();
        let of = |phase| -> Vec<u32> {
            draws.iter().filter(|draw| draw.0 == phase).map(|draw| draw.1).collect()
        };
        assert_eq!(of(Phase::TrialSkill), [0, 1, 2]);
        assert_eq!(of(Phase::BaselineVal), [0, 0, 1, 2], "the first skill is drawn once");
    }

    #[tokio::test]
    async fn a_test_score_counts_what_the_gate_counts() {
        let bed = Bed { backend: Arc::new(Guided::default()), ..bed() };
        let mut options = options();
        options.night.rule.weights.tokens = 1.0;
        let score = test(&folder(), GUIDANCE, &options, &bed).await.expect("tested");
        let score = score.expect("a score");
        // Ten of two thousand tokens: half of the number is a little below one.
        assert!((score.score - 0.9975).abs() < 1e-9 && score.n == 1, "{score:?}");
        assert!((score.hard - 1.0).abs() < 1e-9);
    }
}
