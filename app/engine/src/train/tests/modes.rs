//! Every update mode and every way to set the budget.

use super::optimizer::{able, answer, section_of};
use super::*;
use serde_json::json;
use skillopt_domain::config::Effort;
use skillopt_domain::edit::EditStatus;

const PATCH: (&str, &str) = ("optimizer.skill_update_mode", "patch");
const SUGGESTIONS: (&str, &str) = ("optimizer.skill_update_mode", "rewrite_from_suggestions");
const WHOLE_TEXTS: (&str, &str) = ("optimizer.skill_update_mode", "full_rewrite_minibatch");
const FIXED: (&str, &str) = ("optimizer.lr_control_mode", "fixed");
const AUTONOMOUS: (&str, &str) = ("optimizer.lr_control_mode", "autonomous");
const UNLIMITED: (&str, &str) = ("optimizer.lr_control_mode", "none");

fn purposes(world: &World, purpose: Purpose) -> usize {
    world.optimizer.seen().iter().filter(|request| request.purpose == purpose).count()
}

#[rstest]
#[tokio::test]
async fn good_rules_are_kept_and_poison_is_not_in_every_mode(
    #[values(PATCH, SUGGESTIONS, WHOLE_TEXTS)] mode: (&str, &str),
    #[values(FIXED, AUTONOMOUS, UNLIMITED)] control: (&str, &str),
) {
    let world = World::with(target_reply, able);
    let journal = Arc::new(MemoryJournal::default());
    let report = world.run(&input(&[mode, control]), journal.clone()).await.expect("done");
    assert_eq!(
        actions(&journal.events()),
        [Action::AcceptNewBest, Action::Reject, Action::AcceptNewBest, Action::AcceptNewBest]
    );
    assert_eq!(report.best_skill, "# Skill\n\n- Be kind.\n- rule 0\n- rule 1\n- rule 2\n");
    assert_eq!(purposes(&world, Purpose::Rewrite), if mode == SUGGESTIONS { 4 } else { 0 });
    let decides = control == AUTONOMOUS && mode != WHOLE_TEXTS;
    assert_eq!(purposes(&world, Purpose::LrControl), if decides { 4 } else { 0 });
    assert_eq!(world.folder.file("lr_history.jsonl").is_some(), decides);
}

/// Three useful rules at once.
fn three_rules(request: &ChatRequest) -> Result<ChatReply, ModelError> {
    if request.purpose != Purpose::AnalystFailure {
        return able(request);
    }
    let edits: Vec<_> =
        (0..3).map(|n| json!({"op": "append", "content": format!("- rule {n}")})).collect();
    Ok(reply(&json!({"patch": {"reasoning": "r", "edits": edits}}).to_string()))
}

/// The same from a merge, however little each analyst was allowed.
fn three_rules_merged(request: &ChatRequest) -> Result<ChatReply, ModelError> {
    match request.purpose {
        Purpose::MergeFailure => {
            let analysis = ChatRequest { purpose: Purpose::AnalystFailure, ..request.clone() };
            let patch: serde_json::Value =
                serde_json::from_str(&three_rules(&analysis)?.text).expect("JSON");
            Ok(reply(&patch["patch"].to_string()))
        }
        _ => three_rules(request),
    }
}

#[rstest]
#[case::fixed(FIXED, 1, 1)]
#[case::unlimited(UNLIMITED, 3, 0)]
#[tokio::test]
async fn without_a_budget_really_all_edits_apply_and_nothing_is_ranked(
    #[case] control: (&str, &str),
    #[case] n_applied: u32,
    #[case] n_rankings: usize,
) {
    let world = World::with(target_reply, three_rules_merged);
    let journal = Arc::new(MemoryJournal::default());
    let settings = [
        control,
        ("optimizer.learning_rate", "1"),
        ("optimizer.min_learning_rate", "1"),
        ("train.num_epochs", "1"),
        ("train.batch_size", "8"),
        // Two minibatches, so that there is a merge, which may bring more than an analyst was allowed.
        ("gradient.minibatch_size", "4"),
    ];
    world.run(&input(&settings), journal.clone()).await.expect("done");
    let step = &RunView::of(&journal.events()).steps[0];
    assert_eq!(step.n_applied, n_applied);
    let limited = world.optimizer.seen().iter().any(|request| {
        request.purpose == Purpose::AnalystFailure
            && request.messages[1].content.contains("at most 1 edits")
    });
    assert_eq!(limited, control == FIXED, "analysts are told the budget of the step");
    assert_eq!(purposes(&world, Purpose::MergeFailure), 1);
    assert_eq!(purposes(&world, Purpose::Ranking), n_rankings);
    let told = world.optimizer.seen().into_iter().find(|r| r.purpose == Purpose::AnalystFailure);
    let system = told.expect("asked").messages[0].content.clone();
    assert_eq!(system.contains("There is no fixed number of edits"), control == UNLIMITED);
    assert_eq!(system.contains("At most L=1 edits"), control == FIXED);
}

fn wants_nothing(request: &ChatRequest) -> Result<ChatReply, ModelError> {
    match request.purpose {
        Purpose::LrControl => Ok(reply(r#"{"learning_rate": 0, "reasoning": "too noisy"}"#)),
        _ => three_rules(request),
    }
}

fn cannot_decide(request: &ChatRequest) -> Result<ChatReply, ModelError> {
    match request.purpose {
        Purpose::LrControl => Ok(reply(r#"{"learning_rate": true}"#)),
        _ => three_rules(request),
    }
}

#[rstest]
#[case::nothing(wants_nothing, "chose to change nothing: too noisy", 4)]
#[case::unreadable(cannot_decide, "could not be read", 8)]
#[tokio::test]
async fn a_budget_of_nothing_ranks_nothing_applies_nothing_and_measures_nothing(
    #[case] optimizer: fn(&ChatRequest) -> Result<ChatReply, ModelError>,
    #[case] reason: &str,
    #[case] n_decisions: usize,
) {
    let world = World::with(target_reply, optimizer);
    let journal = Arc::new(MemoryJournal::default());
    world.run(&input(&[AUTONOMOUS]), journal.clone()).await.expect("done");
    assert_eq!(actions(&journal.events()), [Action::SkipNoChange; 4]);
    assert_eq!(purposes(&world, Purpose::Ranking), 0);
    assert_eq!(purposes(&world, Purpose::LrControl), n_decisions);
    let steps = RunView::of(&journal.events()).steps;
    assert!(steps[0].reason.contains(reason), "{}", steps[0].reason);
    let measured =
        world.target.seen().iter().filter(|r| r.phase.contains("selection_eval")).count();
    assert_eq!(measured, 8, "only the baseline");
}

#[tokio::test]
async fn the_budget_call_sees_the_evidence_and_its_wish_is_in_the_record() {
    let world = World::with(target_reply, three_rules);
    world.run(&input(&[AUTONOMOUS]), Arc::default()).await.expect("done");
    let seen = world.optimizer.seen();
    let asked = seen.iter().find(|r| r.purpose == Purpose::LrControl).expect("asked");
    let user = &asked.messages[1].content;
    assert!(
        user.contains("4 tasks scored, hard 0.000000") && user.contains("Proposed edits: 3"),
        "{user}"
    );
    assert!(section_of(user, "proposed_edits").contains("[2] op=append"), "{user}");
    let rows = world.history();
    assert_eq!(rows[0]["lr_control_mode"], "autonomous");
    assert_eq!(rows[0]["lr_decision"]["learning_rate"], 1);
    assert_eq!(rows[0]["edit_budget"], 1);
}

/// A writer that leaves out everything that is protected.
fn careless(request: &ChatRequest) -> Result<ChatReply, ModelError> {
    match request.purpose {
        Purpose::Rewrite => {
            let mut written = answer(request);
            let text = written["new_skill"].as_str().expect("text").to_owned();
            let doc = SkillDoc::parse(text);
            let body = doc.body().replace(GUIDANCE, "");
            written["new_skill"] = json!(body);
            Ok(reply(&written.to_string()))
        }
        Purpose::AnalystFailure => {
            let mut analysis = answer(request);
            if let Some(text) = analysis["patch"]["skill_candidates"][0]["new_skill"].as_str() {
                let body = SkillDoc::parse(text).body().replace(GUIDANCE, "");
                analysis["patch"]["skill_candidates"][0]["new_skill"] = json!(body);
            }
            Ok(reply(&analysis.to_string()))
        }
        _ => able(request),
    }
}

const GUIDANCE: &str = "<!-- SLOW_UPDATE_START -->\nLook twice.\n<!-- SLOW_UPDATE_END -->";

#[rstest]
#[case(SUGGESTIONS)]
#[case(WHOLE_TEXTS)]
#[tokio::test]
async fn front_matter_and_marked_regions_survive_a_writer_that_drops_them(
    #[case] mode: (&str, &str),
) {
    let skill =
        SkillDoc::parse(format!("---\nname: kept\n---\n\n# Skill\n\n- Be kind.\n\n{GUIDANCE}\n"));
    let world = World::with(target_reply, careless);
    let input = TrainInput { skill: skill.clone(), ..input(&[mode]) };
    let report = world.run(&input, Arc::default()).await.expect("done");
    let best = SkillDoc::parse(report.best_skill);
    assert!(best.protects_the_same_as(&skill), "{}", best.text());
    assert!(best.text().contains("rule 1"), "{}", best.text());
}

/// A writer that keeps one line of the skill.
fn shrinking(request: &ChatRequest) -> Result<ChatReply, ModelError> {
    match request.purpose {
        Purpose::Rewrite => Ok(reply(r#"{"new_skill": "- rule 0\n", "change_summary": ["less"]}"#)),
        _ => able(request),
    }
}

#[tokio::test]
async fn c25_a_writer_that_loses_the_skill_is_told_why_and_then_not_used() {
    let world = World::with(target_reply, shrinking);
    let journal = Arc::new(MemoryJournal::default());
    let rules: String = (10..30).map(|n| format!("- A line of advice, number {n}.\n")).collect();
    let input = TrainInput {
        skill: SkillDoc::parse(format!("# Skill\n\n{rules}")),
        ..input(&[SUGGESTIONS])
    };
    let report = world.run(&input, journal.clone()).await.expect("done");
    assert_eq!(actions(&journal.events()), [Action::SkipNoRewrite; 4]);
    assert_eq!(report.best_skill, input.skill.text());
    let seen = world.optimizer.seen();
    let reasked = seen.iter().find(|r| r.purpose == Purpose::Rewrite && r.messages.len() == 4);
    let told = &reasked.expect("asked again").messages[3].content;
    assert!(told.contains("shrink the body"), "{told}");
    let later = seen.iter().rfind(|r| r.purpose == Purpose::AnalystFailure).expect("asked");
    assert!(later.messages[1].content.contains("the new text was not taken"));
    let view = RunView::of(&journal.events());
    assert!(view.steps[0].reason.contains("no new text could be used"), "{}", view.steps[0].reason);
    let lost = journal.events().iter().any(|event| {
        matches!(&event.kind, EventKind::Rewritten { report, .. } if report.status == EditStatus::Empty)
    });
    assert!(lost);
}

#[rstest]
#[case(SUGGESTIONS, "revise_suggestions", "rewrite_result.json")]
#[case(WHOLE_TEXTS, "skill_candidates", "full_rewrite_result.json")]
#[tokio::test]
async fn events_and_files_name_what_was_proposed(
    #[case] mode: (&str, &str),
    #[case] key: &str,
    #[case] result: &str,
) {
    let world = World::with(target_reply, able);
    let journal = Arc::new(MemoryJournal::default());
    world.run(&input(&[mode]), journal.clone()).await.expect("done");
    let shown = journal.events().iter().any(|event| {
        matches!(&event.kind, EventKind::Aggregated { proposals, edits, .. }
            if edits.is_empty() && proposals[0].detail.contains("rule 0"))
    });
    assert!(shown);
    let merged = world.folder.file("steps/step_0001/merged_patch.json").expect("written");
    assert!(merged.contains(key), "{merged}");
    let result = world.folder.file(&format!("steps/step_0001/{result}")).expect("written");
    assert!(result.contains("new_skill") && result.contains("- rule 0"), "{result}");
    let reject = world.optimizer.seen().into_iter().any(|request| {
        request.purpose == Purpose::AnalystFailure
            && section_of(&request.messages[1].content, "previous_steps").contains("poison")
    });
    assert!(reject, "what was rejected is told");
}

#[tokio::test]
async fn whole_texts_may_be_as_long_as_the_config_says() {
    let world = World::with(target_reply, able);
    let changes = [WHOLE_TEXTS, ("model.rewrite_max_completion_tokens", "777")];
    world.run(&input(&changes), Arc::default()).await.expect("done");
    let analysts =
        world.optimizer.seen().into_iter().filter(|r| r.purpose == Purpose::AnalystFailure);
    let limits: Vec<_> = analysts.map(|request| request.max_tokens).collect();
    assert!(!limits.is_empty() && limits.iter().all(|limit| *limit == Some(777)));
}

#[tokio::test]
async fn a_whole_skill_is_thought_about_as_hard_as_the_config_says() {
    let world = World::with(target_reply, able);
    let changes = [WHOLE_TEXTS, ("model.rewrite_reasoning_effort", "high")];
    world.run(&input(&changes), Arc::default()).await.expect("done");
    let efforts = |writes: bool| -> Vec<Option<Effort>> {
        let seen = world.optimizer.seen().into_iter();
        seen.filter(|request| {
            let is_text = matches!(
                request.purpose,
                Purpose::AnalystFailure
                    | Purpose::AnalystSuccess
                    | Purpose::MergeFailure
                    | Purpose::MergeSuccess
                    | Purpose::MergeFinal
            );
            is_text == writes
        })
        .map(|request| request.effort)
        .collect()
    };
    assert!(
        !efforts(true).is_empty() && efforts(true).iter().all(|one| *one == Some(Effort::High))
    );
    assert!(efforts(false).iter().all(Option::is_none));
}

#[rstest]
#[case::selection("evaluation.sel_env_num", "3", 3, 8)]
#[case::test("evaluation.test_env_num", "5", 8, 5)]
#[case::both_all("evaluation.sel_env_num", "0", 8, 8)]
#[tokio::test]
async fn the_first_tasks_of_a_split_are_measured_where_the_config_says_so(
    #[case] path: &str,
    #[case] value: &str,
    #[case] n_selection: u32,
    #[case] n_test: u32,
) {
    let world = World::with(target_reply, able);
    let journal = Arc::new(MemoryJournal::default());
    world.run(&input(&[(path, value)]), journal.clone()).await.expect("done");
    let view = RunView::of(&journal.events());
    assert_eq!(view.baseline.and_then(|m| m.score).map(|score| score.n), Some(n_selection));
    assert_eq!(view.test_best.and_then(|m| m.score).map(|score| score.n), Some(n_test));
    let plan = view.plan.expect("planned");
    assert_eq!((plan.n_selection, plan.n_test), (n_selection, n_test));
}

#[tokio::test]
async fn without_a_test_the_test_split_is_never_touched() {
    let world = World::with(target_reply, able);
    let journal = Arc::new(MemoryJournal::default());
    world.run(&input(&[("evaluation.eval_test", "false")]), journal.clone()).await.expect("done");
    let view = RunView::of(&journal.events());
    assert_eq!((view.test_initial, view.test_best, view.test_last), (None, None, None));
    let asked = world.target.seen();
    assert!(asked.iter().all(|request| !request.messages[1].content.starts_with("test-")));
    assert!(world.folder.file("test_eval/summary.json").is_none());
}

#[tokio::test]
async fn without_the_gate_poison_stays_current_but_never_becomes_the_best() {
    let world = World::with(target_reply, able);
    let journal = Arc::new(MemoryJournal::default());
    let changes = [("evaluation.use_gate", "false"), ("train.num_epochs", "1")];
    let report = world.run(&input(&changes), journal.clone()).await.expect("done");
    assert_eq!(actions(&journal.events()), [Action::AcceptNewBest, Action::ForceAccept]);
    assert!(!report.best_skill.contains("poison"));
    let view = RunView::of(&journal.events());
    assert_eq!((view.n_accepted, view.versions.len()), (2, 3));
    let last = view.final_selection.expect("compared at the end");
    assert!(!last.promoted && last.last_score < last.best_score);
    assert_eq!(view.test_last.and_then(|m| m.score).map(|score| score.hard), Some(0.0));
    assert_eq!(world.history()[1]["current_score"], 0.0);
}

#[tokio::test]
async fn rewarding_emphatic_words_comes_with_a_warning_and_is_off_otherwise() {
    for (changes, warned) in [(vec![], 0), (vec![("evaluation.use_semantic_density", "true")], 1)] {
        let world = World::with(target_reply, able);
        let journal = Arc::new(MemoryJournal::default());
        world.run(&input(&changes), journal.clone()).await.expect("done");
        let warnings = RunView::of(&journal.events()).warnings;
        let told = warnings.iter().filter(|text| text.contains("louder wording")).count();
        assert_eq!(told, warned);
    }
}
