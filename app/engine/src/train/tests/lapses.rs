//! Lapses become notes in the candidate's appendix, and are gated with it.

use super::optimizer::{able, answer};
use super::*;
use serde_json::json;
use skillopt_domain::appendix::notes;

const AWARE: (&str, &str) = ("optimizer.use_skill_aware_reflection", "true");

#[tokio::test]
async fn notes_are_part_of_the_candidate_and_so_of_the_best_skill() {
    let world = World::with(target_reply, able);
    let journal = Arc::new(MemoryJournal::default());
    let report = world.run(&input(&[AWARE]), journal.clone()).await.expect("done");
    let best = SkillDoc::parse(report.best_skill.clone());
    assert_eq!(notes(&best), ["Follow the first rule."]);
    assert!(report.best_skill.starts_with("# Skill\n\n- Be kind.\n"));
    let view = RunView::of(&journal.events());
    assert_eq!(view.best.expect("best").skill, best.sha(), "the score belongs to this text");
    let row = &world.history()[0];
    assert_eq!(
        (&row["n_appendix_notes_added"], &row["n_appendix_notes_total"]),
        (&json!(1), &json!(1))
    );
    assert!(world.folder.file("steps/step_0001/appendix_notes.json").is_some());
}

/// Notes only, and each time another one.
fn only_notes(request: &ChatRequest) -> Result<ChatReply, ModelError> {
    if request.purpose != Purpose::AnalystFailure {
        return able(request);
    }
    let n = request.messages[1].content.len();
    Ok(reply(&json!({"appendix_notes": [format!("Mind rule {n}."), "poison "]}).to_string()))
}

#[tokio::test]
async fn notes_that_lose_the_gate_do_not_stay() {
    let world = World::with(target_reply, only_notes);
    let journal = Arc::new(MemoryJournal::default());
    let report = world.run(&input(&[AWARE]), journal.clone()).await.expect("done");
    assert_eq!(actions(&journal.events()), [Action::Reject; 4]);
    assert_eq!(report.best_skill, "# Skill\n\n- Be kind.\n");
    let told = world
        .optimizer
        .seen()
        .into_iter()
        .any(|request| request.messages[1].content.contains("[reminder] `poison`"));
    assert!(told, "the rejected notes are told");
}

/// Notes for passed trajectories too.
fn notes_from_everywhere(request: &ChatRequest) -> Result<ChatReply, ModelError> {
    let mut analysis = answer(request);
    if request.purpose == Purpose::AnalystSuccess {
        analysis["appendix_notes"] = json!(["Stay on course."]);
    }
    Ok(reply(&analysis.to_string()))
}

#[rstest]
#[case("both", true)]
#[case("failure_only", false)]
#[tokio::test]
async fn the_source_of_notes_is_respected_whatever_the_model_says(
    #[case] source: &str,
    #[case] expect: bool,
) {
    let world = World::with(target_reply, notes_from_everywhere);
    let changes = [AWARE, ("optimizer.skill_aware_appendix_source", source)];
    let report = world.run(&input(&changes), Arc::default()).await.expect("done");
    let found = notes(&SkillDoc::parse(report.best_skill)).contains(&"Stay on course.".to_owned());
    assert_eq!(found, expect);
    let asked = world.optimizer.seen().into_iter().any(|request| {
        request.purpose == Purpose::AnalystSuccess
            && request.messages[0].content.contains("appendix_notes")
    });
    assert_eq!(asked, expect);
}

/// Two notes a reply, and rules that help.
fn many_notes(request: &ChatRequest) -> Result<ChatReply, ModelError> {
    let mut analysis = answer(request);
    if request.purpose == Purpose::AnalystFailure {
        analysis["appendix_notes"] = json!(["One thing.", "Another thing."]);
    }
    Ok(reply(&analysis.to_string()))
}

#[tokio::test]
async fn too_many_notes_are_condensed() {
    let world = World::with(target_reply, many_notes);
    let changes = [AWARE, ("optimizer.skill_aware_consolidate_threshold", "1")];
    let report = world.run(&input(&changes), Arc::default()).await.expect("done");
    let kept = notes(&SkillDoc::parse(report.best_skill));
    assert_eq!(kept, ["Follow every rule."]);
    assert_eq!(world.history()[0]["n_appendix_notes_consolidated"], 1);
}

/// A condenser that condenses nothing.
fn no_condenser(request: &ChatRequest) -> Result<ChatReply, ModelError> {
    match request.purpose {
        Purpose::AppendixConsolidate => {
            Ok(reply(r#"{"appendix_notes": ["One thing.", "Another thing.", "A third."]}"#))
        }
        _ => many_notes(request),
    }
}

#[tokio::test]
async fn a_condensed_list_that_is_no_shorter_is_not_used() {
    let world = World::with(target_reply, no_condenser);
    let changes = [AWARE, ("optimizer.skill_aware_consolidate_threshold", "1")];
    let report = world.run(&input(&changes), Arc::default()).await.expect("done");
    assert_eq!(notes(&SkillDoc::parse(report.best_skill)), ["One thing.", "Another thing."]);
}

#[tokio::test]
async fn whole_texts_leave_no_room_for_notes() {
    let world = World::with(target_reply, able);
    let changes = [AWARE, ("optimizer.skill_update_mode", "full_rewrite_minibatch")];
    let report = world.run(&input(&changes), Arc::default()).await.expect("done");
    assert!(notes(&SkillDoc::parse(report.best_skill)).is_empty());
    let asked = world
        .optimizer
        .seen()
        .into_iter()
        .any(|r| r.messages[0].content.contains("appendix_notes"));
    assert!(!asked);
}
