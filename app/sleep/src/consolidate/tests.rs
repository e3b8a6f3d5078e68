mod resumed;

use super::*;
use crate::backend::{
    Attempt, Attempted, BackendError, Judged, Judging, Mock, Phase, Proposed, Reflection, Said,
    SlowQuestion, TextQuestion, rule_tag, sentence_of,
};
use crate::mine::agreed_hints;
use crate::task::{ReferenceKind, Split, TaskOutcome};
use async_trait::async_trait;
use serde_json::json;
use skillopt_domain::night::edit::{EditOp, EditRecord, GuidanceRecord, Target};
use skillopt_domain::night::report::{GateAction, GroupStatus, SleepReport};
use skillopt_domain::score::{GateMetric, Score, TaskScore};
use skillopt_domain::spend::SpendByRole;
use skillopt_engine::ctx::RunControl;
use std::sync::Mutex;

/// Proposes a list of edits for each turn. An entry of a document is worth what it says: `+0.5` adds to every task's
/// score, `-0.5` takes away. The end can be measured otherwise.
#[derive(Debug, Default)]
struct Scripted {
    proposals: Mutex<Vec<Vec<EditRecord>>>,
    asked: Mutex<Vec<(Target, Vec<EditRecord>)>>,
    phases: Mutex<Vec<Phase>>,
    base: f64,
    end_bonus: f64,
    /// What it says when it is asked for guidance.
    guidance: &'static str,
}

impl Scripted {
    fn proposing(base: f64, proposals: Vec<Vec<EditRecord>>) -> Self {
        Self { proposals: Mutex::new(proposals), base, ..Self::default() }
    }
}

#[async_trait]
impl Backend for Scripted {
    fn label(&self) -> String {
        "scripted".into()
    }
    fn is_simulated(&self) -> bool {
        false
    }
    async fn attempt(&self, attempt: &Attempt<'_>) -> Result<Attempted, BackendError> {
        self.phases.lock().expect("not poisoned").push(attempt.draw.phase);
        let known = format!("{}\n{}", attempt.docs.skill, attempt.docs.memory);
        let numbers = known.split_whitespace().filter(|word| word.starts_with(['+', '-']));
        let worth: f64 = numbers.filter_map(|word| word.parse::<f64>().ok()).sum();
        let bonus = if attempt.draw.phase == Phase::FinalVal { self.end_bonus } else { 0.0 };
        let value = (self.base + worth + bonus).clamp(0.0, 1.0);
        Ok(Attempted { text: value.to_string(), tokens: Some(1), ..Attempted::default() })
    }
    async fn judge(&self, judging: &Judging<'_>) -> Result<Judged, BackendError> {
        let soft = Score::try_new(judging.response.parse().expect("a number")).expect("a score");
        let hard = Score::from_bool(soft.get() >= 0.8);
        Ok(Judged { score: TaskScore { hard, soft }, rationale: "so so".into(), tokens: Some(1) })
    }
    async fn reflect(&self, reflection: &Reflection<'_>) -> Result<Proposed, BackendError> {
        let lost = reflection.rejected.iter().map(|lost| lost.edit.clone()).collect();
        let told = (reflection.target, lost);
        self.asked.lock().expect("not poisoned").push(told);
        let mut proposals = self.proposals.lock().expect("not poisoned");
        let edits = if proposals.is_empty() { Vec::new() } else { proposals.remove(0) };
        let reason = if edits.is_empty() { "nothing comes to mind".into() } else { String::new() };
        Ok(Proposed { edits, reason, ..Proposed::default() })
    }
    async fn guide(&self, _: &SlowQuestion<'_>) -> Result<Said, BackendError> {
        Ok(Said { text: self.guidance.into(), ..Said::default() })
    }
    fn last_error(&self) -> String {
        "timeout: it took too long".into()
    }
    async fn mine(&self, _: &TextQuestion<'_>) -> Result<Said, BackendError> {
        Ok(Said::default())
    }
    fn spend(&self) -> SpendByRole {
        SpendByRole::default()
    }
}

fn edit(target: Target, content: &str) -> EditRecord {
    EditRecord {
        target,
        op: EditOp::Add,
        content: content.into(),
        anchor: String::new(),
        rationale: String::new(),
    }
}

fn skill_edit(content: &str) -> EditRecord {
    edit(Target::Skill, content)
}

fn task(id: &str, split: Split) -> TaskRecord {
    TaskRecord {
        id: id.into(),
        intent: format!("intent of {id}"),
        reference_kind: ReferenceKind::Rubric,
        reference: "r".into(),
        split,
        ..TaskRecord::default()
    }
}

fn both_splits() -> Vec<TaskRecord> {
    vec![task("a", Split::Train), task("b", Split::Val), task("c", Split::Val)]
}

fn input(backend: Arc<dyn Backend>, tasks: Vec<TaskRecord>, options: NightOptions) -> NightInput {
    let (_control, ctx) = RunControl::new();
    NightInput {
        tasks,
        skill: "# Skill\n".into(),
        memory: String::new(),
        options,
        archive: Vec::new(),
        rejected_before: Vec::new(),
        backend,
        evidence: Arc::new(Evidence::off()),
        events: Arc::new(Silent),
        ctx,
    }
}

fn soft() -> NightOptions {
    NightOptions { rule: GateRule::new(GateMetric::Soft, 0.5), ..NightOptions::default() }
}

fn skill_only() -> NightOptions {
    NightOptions { evolve_memory: false, ..soft() }
}

async fn night(backend: Scripted, options: NightOptions) -> NightOutcome {
    consolidate_night(input(Arc::new(backend), both_splits(), options)).await.expect("an outcome")
}

fn contents(edits: &[EditRecord]) -> Vec<&str> {
    edits.iter().map(|edit| edit.content.as_str()).collect()
}

#[tokio::test]
async fn an_edit_that_is_strictly_better_stands_and_the_end_is_drawn_anew() {
    let backend = Arc::new(Scripted::proposing(0.25, vec![vec![skill_edit("+0.25")]]));
    let given = input(Arc::clone(&backend) as _, both_splits(), skill_only());
    let outcome = consolidate_night(given).await.expect("an outcome");
    assert!(outcome.accepted);
    assert_eq!(outcome.gate_action, GateAction::AcceptNewBest);
    assert_eq!(contents(&outcome.applied_edits), ["+0.25"]);
    assert!(outcome.new_skill.as_ref().is_some_and(|skill| skill.contains("- +0.25")));
    let scores = (outcome.baseline, outcome.candidate);
    assert!(
        matches!(scores, (Some(b), Some(c)) if b.score < 0.26 && c.score > 0.49 && c.mean.n == 2)
    );
    assert_eq!(outcome.no_edits_reason, "");
    let targets: Vec<_> = outcome.gate_trials.iter().map(|trial| trial.target.as_str()).collect();
    assert_eq!(targets, ["skill", "final"]);
    assert_eq!(outcome.gate_trials[0].words, "2 of 2 tasks compared: 2 better, 0 worse (p = 0.50)");
    use Phase::{BaselineVal, FinalVal, Train, TrialSkill};
    let phases = backend.phases.lock().expect("not poisoned").clone();
    assert_eq!(
        phases,
        [BaselineVal, BaselineVal, Train, TrialSkill, TrialSkill, FinalVal, FinalVal]
    );
}

#[tokio::test]
async fn f22_a_document_that_did_not_change_is_not_proposed() {
    let backend = Scripted::proposing(0.25, vec![vec![skill_edit("+0.25")], vec![]]);
    let outcome = night(backend, soft()).await;
    assert!(outcome.accepted && outcome.new_skill.is_some());
    assert_eq!(outcome.new_memory, None);
}

#[tokio::test]
async fn a_tie_and_a_loss_are_rejected_and_the_documents_stay() {
    for worth in ["+0.0", "-0.25"] {
        let outcome =
            night(Scripted::proposing(0.5, vec![vec![skill_edit(worth)]]), skill_only()).await;
        assert_eq!((outcome.accepted, outcome.gate_action), (false, GateAction::Reject));
        assert_eq!((outcome.new_skill, contents(&outcome.rejected_edits)), (None, vec![worth]));
        assert!(outcome.no_edits_reason.starts_with("the gate rejected 1 edits: 2 of 2 tasks"));
    }
}

#[tokio::test]
async fn f25_a_gain_that_does_not_hold_when_measured_anew_is_rolled_back() {
    let backend =
        Scripted { end_bonus: -0.5, ..Scripted::proposing(0.25, vec![vec![skill_edit("+0.5")]]) };
    let outcome = night(backend, skill_only()).await;
    assert!(outcome.gate_trials[0].accepted && !outcome.gate_trials[1].accepted);
    assert_eq!((outcome.accepted, outcome.new_skill), (false, None));
    assert_eq!(contents(&outcome.rejected_edits), ["+0.5"]);
    assert!(
        outcome.reason.starts_with("measured anew, the gain did not hold"),
        "{}",
        outcome.reason
    );
}

#[tokio::test]
async fn a_gain_on_the_tasks_that_were_learned_from_is_unverified() {
    let backend = Arc::new(Scripted::proposing(0.25, vec![vec![skill_edit("+0.5")]]));
    let given = input(backend, vec![task("a", Split::Train)], skill_only());
    let outcome = consolidate_night(given).await.expect("an outcome");
    assert!(outcome.holdout_leaked && !outcome.accepted);
    assert_eq!(outcome.gate_action, GateAction::RejectUnverified);
    assert_eq!(contents(&outcome.rejected_edits), ["+0.5"]);
    assert!(outcome.no_edits_reason.contains("not validated"), "{}", outcome.no_edits_reason);
}

#[tokio::test]
async fn without_a_gate_whatever_applies_stands_and_nothing_is_validated() {
    let options = NightOptions { gate: GateMode::Off, ..skill_only() };
    let outcome =
        night(Scripted::proposing(0.5, vec![vec![skill_edit("-0.5")]]), options.clone()).await;
    assert_eq!((outcome.accepted, outcome.gate_action), (true, GateAction::GreedyApplied));
    assert_eq!((outcome.baseline, outcome.gate_trials.len()), (None, 0));
    let idle = night(Scripted::proposing(0.5, vec![]), options).await;
    assert_eq!((idle.accepted, idle.gate_action), (false, GateAction::GreedyNoop));
}

#[tokio::test]
async fn f29_one_bad_edit_does_not_sink_the_rest_when_each_is_tried_alone() {
    let bundle = || vec![vec![skill_edit("+0.25"), skill_edit("-0.5")]];
    let sunk = night(Scripted::proposing(0.5, bundle()), skill_only()).await;
    assert_eq!((sunk.accepted, sunk.rejected_edits.len()), (false, 2));
    let options = NightOptions { gate_per_edit: true, ..skill_only() };
    let saved = night(Scripted::proposing(0.5, bundle()), options).await;
    assert!(saved.accepted);
    assert_eq!(contents(&saved.applied_edits), ["+0.25"]);
    assert_eq!(contents(&saved.rejected_edits), ["-0.5"]);
}

#[tokio::test]
async fn f29_what_lost_tonight_and_before_is_told_to_the_next_reflection() {
    let proposals = vec![vec![skill_edit("-0.5")], vec![]];
    let backend = Arc::new(Scripted::proposing(0.5, proposals));
    let mut given = input(Arc::clone(&backend) as _, both_splits(), soft());
    given.rejected_before = vec![skill_edit("an old one").into()];
    consolidate_night(given).await.expect("an outcome");
    let asked = backend.asked.lock().expect("not poisoned").clone();
    let told: Vec<_> = asked.iter().map(|(target, lost)| (*target, contents(lost))).collect();
    let expected =
        [(Target::Skill, vec!["an old one"]), (Target::Memory, vec!["an old one", "-0.5"])];
    assert_eq!(told, expected);
}

#[tokio::test]
async fn f31_an_edit_for_the_other_document_is_tried_there() {
    let proposals = vec![vec![edit(Target::Memory, "+0.25")], vec![skill_edit("+0.125")]];
    let outcome = night(Scripted::proposing(0.25, proposals), soft()).await;
    assert!(outcome.accepted, "{}", outcome.reason);
    assert!(outcome.new_memory.as_ref().is_some_and(|memory| memory.contains("+0.25")));
    assert!(outcome.new_skill.as_ref().is_some_and(|skill| skill.contains("+0.125")));
}

#[tokio::test]
async fn f32_a_night_without_edits_always_says_why() {
    let none = night(Scripted::proposing(0.5, vec![]), skill_only()).await;
    assert_eq!(none.no_edits_reason, "nothing comes to mind");
    let blank = night(Scripted::proposing(0.5, vec![vec![skill_edit("  ")]]), skill_only()).await;
    assert_eq!(blank.no_edits_reason, "1 edits were proposed and none changes a document");
    assert_eq!(blank.unmatched_edits.len(), 1);
    let passing = night(Scripted::proposing(1.0, vec![]), skill_only()).await;
    assert_eq!(passing.no_edits_reason, "all 1 scored training tasks pass already");
    let idle = NightOptions { evolve_skill: false, evolve_memory: false, ..soft() };
    assert_eq!(
        night(Scripted::proposing(0.5, vec![]), idle).await.no_edits_reason,
        "no edits were looked for"
    );
    let mut report = SleepReport::default();
    none.fill(&mut report);
    assert_eq!(report.no_edits_reason, none.no_edits_reason);
}

#[tokio::test]
async fn a_lone_test_task_is_measured_and_nothing_is_learned_from_it() {
    let backend = Arc::new(Scripted::proposing(0.5, vec![vec![skill_edit("+0.5")]]));
    let given = input(Arc::clone(&backend) as _, vec![task("t", Split::Test)], skill_only());
    let outcome = consolidate_night(given).await.expect("an outcome");
    assert_eq!((outcome.holdout_leaked, outcome.accepted, outcome.baseline), (false, false, None));
    assert!(outcome.test.is_some_and(|test| test.mean.n == 1));
    assert_eq!(*backend.phases.lock().expect("not poisoned"), [Phase::Test]);
    assert_eq!(outcome.no_edits_reason, "there is no training task");
}

#[tokio::test]
async fn repeats_measure_each_validation_task_so_often() {
    let backend = Arc::new(Scripted::proposing(0.25, vec![vec![skill_edit("+0.25")]]));
    let options = NightOptions { gate_repeats: 3, ..skill_only() };
    let given = input(Arc::clone(&backend) as _, both_splits(), options);
    let outcome = consolidate_night(given).await.expect("an outcome");
    assert!(outcome.accepted);
    let phases = backend.phases.lock().expect("not poisoned").clone();
    let n = |phase| phases.iter().filter(|other| **other == phase).count();
    assert_eq!((n(Phase::BaselineVal), n(Phase::TrialSkill), n(Phase::FinalVal)), (6, 6, 6));
    assert!(outcome.baseline.is_some_and(|baseline| baseline.mean.n == 2), "n counts tasks");
}

#[tokio::test]
async fn dreams_and_recalled_tasks_train_and_never_validate() {
    let backend = Arc::new(Scripted::proposing(0.5, vec![]));
    let options = NightOptions { dream_factor: 2, recall_k: 1, ..skill_only() };
    let mut given = input(Arc::clone(&backend) as _, both_splits(), options);
    given.archive =
        vec![TaskRecord { intent: "intent of old".into(), ..task("old", Split::Train) }];
    let outcome = consolidate_night(given).await.expect("an outcome");
    let phases = backend.phases.lock().expect("not poisoned").clone();
    let n = |phase| phases.iter().filter(|other| **other == phase).count();
    assert_eq!(
        (n(Phase::Train), n(Phase::BaselineVal)),
        (6, 2),
        "two tasks and two variants of each"
    );
    assert_eq!(outcome.n_replayed, 8);
}

#[tokio::test]
async fn a_document_whose_markers_do_not_pair_up_is_refused_before_any_call() {
    let backend = Arc::new(Scripted::proposing(0.5, vec![]));
    let mut given = input(Arc::clone(&backend) as _, both_splits(), soft());
    given.memory = format!("{}\nno end", crate::block::START);
    let error = consolidate_night(given).await.expect_err("damaged");
    assert!(matches!(error, NightError::Damaged { document: "memory", .. }), "{error}");
    assert!(backend.phases.lock().expect("not poisoned").is_empty());
}

#[tokio::test]
async fn four_content_sessions_leave_nothing_to_gain() {
    let tasks: Vec<_> = (0..4)
        .map(|at| TaskRecord {
            id: format!("s{at}"),
            intent: "do it".into(),
            outcome: TaskOutcome::Success,
            split: if at == 0 { Split::Val } else { Split::Train },
            ..TaskRecord::default()
        })
        .collect();
    let given = input(Arc::new(Mock), tasks, NightOptions::default());
    let outcome = consolidate_night(given).await.expect("an outcome");
    let score = |measured: Option<Measurement>| measured.map(|measured| measured.score);
    assert_eq!((score(outcome.baseline), score(outcome.candidate)), (Some(1.0), Some(1.0)));
    assert_eq!((outcome.gate_action, outcome.accepted), (GateAction::Reject, false));
    assert_eq!((outcome.new_skill, outcome.new_memory), (None, None));
    assert!(outcome.notes.iter().any(|note| note.starts_with("simulated")));
}

#[tokio::test]
async fn a_slow_update_has_to_win_like_any_edit_and_is_off_unless_asked_for() {
    // Nothing passes yet: below 0.8 every task goes on failing, so that there is something to say.
    let scripted = |guidance| Scripted {
        guidance,
        ..Scripted::proposing(0.2, vec![vec![skill_edit("+0.2")]])
    };
    let asked = NightOptions { slow_update: true, ..skill_only() };
    let won = night(scripted("+0.3 is worth it"), asked.clone()).await;
    let mut report = SleepReport::default();
    won.fill(&mut report);
    let kept = |content: &str, accepted| GuidanceRecord {
        target: Target::Skill,
        content: content.into(),
        before: String::new(),
        accepted,
    };
    assert_eq!(report.guidance, Some(kept("+0.3 is worth it", true)));
    assert_eq!(contents(&report.edits), ["+0.2"], "it is none of the optimizer's edits");
    assert!(won.accepted && won.new_skill.is_some_and(|skill| skill.contains("+0.3 is worth it")));
    assert!(won.notes.contains(&"a slow update of the skill won its trial".to_owned()));
    assert_eq!(won.gate_trials.len(), 3, "the edit, the guidance and the end");

    let undone = Scripted { end_bonus: -0.9, ..scripted("+0.3 is worth it") };
    let undone = night(undone, asked.clone()).await;
    assert!(!undone.accepted && undone.new_skill.is_none());
    assert_eq!(undone.guidance, Some(kept("+0.3 is worth it", false)));

    let lost = night(scripted("-0.1 is not"), asked).await;
    assert_eq!(lost.guidance, Some(kept("-0.1 is not", false)));
    let skill = lost.new_skill.expect("the edit stands");
    assert!(skill.contains("+0.2") && !skill.contains("-0.1"), "{skill}");
    assert!(lost.notes.contains(&"a slow update of the skill lost its trial".to_owned()));

    let off = night(scripted("+0.3 is worth it"), skill_only()).await;
    assert_eq!(off.guidance, None);
    assert!(off.new_skill.is_some_and(|skill| !skill.contains("+0.3")));
    assert_eq!(off.gate_trials.len(), 2);
}

#[tokio::test]
async fn the_last_failure_of_a_call_is_told() {
    let outcome = night(Scripted::proposing(0.5, vec![]), skill_only()).await;
    assert_eq!(outcome.call_error, "timeout: it took too long");
}

fn hinted(id: &str, hint: &str) -> TaskRecord {
    TaskRecord {
        skill_hint: hint.into(),
        reference_kind: ReferenceKind::Exact,
        reference: "a long reference".into(),
        tags: vec![rule_tag("json-only")],
        ..task(id, if id.ends_with('v') { Split::Val } else { Split::Train })
    }
}

#[test]
fn a_task_belongs_to_a_skill_only_when_all_agree() {
    let tasks =
        [hinted("a", "x"), hinted("a", ""), hinted("b", "x"), hinted("c", "y"), hinted("c", "x")];
    let groups = group_tasks(&tasks, &agreed_hints(&tasks));
    let told: Vec<_> = groups
        .iter()
        .map(|group| {
            let ids: Vec<_> = group.tasks.iter().map(|task| task.id.as_str()).collect();
            (group.skill_name.as_str(), ids)
        })
        .collect();
    assert_eq!(told, [("", vec!["a", "a", "c", "c"]), ("x", vec!["b"])]);
}

#[tokio::test]
async fn a_skill_of_its_own_recalls_only_tasks_that_were_about_it() {
    let about =
        |id: &str, skill: &str, split| TaskRecord { skill_hint: skill.into(), ..task(id, split) };
    let backend = Arc::new(Scripted::proposing(0.5, vec![]));
    let options = NightOptions { recall_k: 5, ..soft() };
    let mut given = input(Arc::clone(&backend) as _, Vec::new(), options);
    given.archive = vec![
        about("own", "known", Split::Train),
        about("foreign", "other", Split::Train),
        task("nobodys", Split::Train),
    ];
    let tasks = vec![about("a", "known", Split::Train), about("b", "known", Split::Val)];
    let groups = [Group { skill_name: "known".into(), tasks }];
    let resolve = |_: &str| Ok("# Known\n".to_owned());
    let outcomes = consolidate_groups(&given, &groups, resolve).await.expect("all told");
    let phases = backend.phases.lock().expect("not poisoned").clone();
    let n_trained = phases.iter().filter(|phase| **phase == Phase::Train).count();
    assert_eq!(n_trained, 2, "its training task, and the one of the archive");
    assert_eq!(outcomes[0].outcome.as_ref().map(|outcome| outcome.n_replayed), Some(3));
}

#[tokio::test]
async fn attempts_that_do_not_differ_leave_the_edits_to_failures() {
    let backend = Arc::new(Scripted::proposing(0.25, vec![vec![skill_edit("+0.25")]]));
    let options = NightOptions { rollouts: 2, ..skill_only() };
    let given = input(Arc::clone(&backend) as _, both_splits(), options);
    let outcome = consolidate_night(given).await.expect("an outcome");
    assert_eq!(contents(&outcome.applied_edits), ["+0.25"]);
    assert_eq!(backend.asked.lock().expect("not poisoned").len(), 1, "about failures alone");
}

#[tokio::test]
async fn the_memory_is_learned_under_the_skill_that_won() {
    let proposals = vec![vec![skill_edit("+0.25")], vec![edit(Target::Memory, "+0.125")]];
    let backend = Arc::new(Scripted::proposing(0.25, proposals));
    let given = input(Arc::clone(&backend) as _, both_splits(), soft());
    let outcome = consolidate_night(given).await.expect("an outcome");
    assert_eq!(contents(&outcome.applied_edits), ["+0.25", "+0.125"]);
    let memory = &outcome.gate_trials[1];
    assert_eq!((memory.target.as_str(), memory.baseline_score), ("memory", Some(0.5)));
    use Phase::{BaselineVal, FinalVal, Train, TrainPostSkill, TrialMemory, TrialSkill};
    let mut phases = backend.phases.lock().expect("not poisoned").clone();
    phases.dedup();
    let expected = [BaselineVal, Train, TrialSkill, TrainPostSkill, TrialMemory, FinalVal];
    assert_eq!(phases, expected);
    let words: Vec<&str> = expected.iter().map(|phase| phase.as_str()).collect();
    assert_eq!(json!(expected), json!(words), "in the log stands the word of each");
    assert_eq!(
        words.join(" "),
        "baseline_val train gate_trial:skill train_post_skill gate_trial:memory final_val"
    );
}

#[tokio::test]
async fn each_skill_is_decided_alone_and_what_cannot_be_found_is_skipped() {
    let tasks = [
        hinted("a", "known"),
        hinted("av", "known"),
        hinted("b", "gone"),
        hinted("c", "damaged"),
        hinted("d", ""),
    ];
    let given = input(Arc::new(Mock), Vec::new(), NightOptions::default());
    let resolve = |name: &str| match name {
        "known" => Ok("# Known\n".to_owned()),
        "damaged" => Ok(crate::block::START.to_owned()),
        _ => Err("no such skill".to_owned()),
    };
    let outcomes =
        consolidate_groups(&given, &group_tasks(&tasks, &agreed_hints(&tasks)), resolve).await;
    let outcomes = outcomes.expect("all told");
    let told: Vec<_> = outcomes
        .iter()
        .map(|group| (group.report.skill_name.as_str(), group.report.status, group.report.accepted))
        .collect();
    let expected = [
        ("damaged", GroupStatus::Failed, false),
        ("gone", GroupStatus::Skipped, false),
        ("known", GroupStatus::Consolidated, true),
    ];
    assert_eq!(told, expected);
    assert_eq!(outcomes[1].report.reason, "no such skill");
    let skill = outcomes[2].outcome.as_ref().and_then(|outcome| outcome.new_skill.clone());
    let sentence = sentence_of("json-only").expect("a rule");
    assert!(skill.is_some_and(|skill| skill.starts_with("# Known\n") && skill.contains(sentence)));
}
