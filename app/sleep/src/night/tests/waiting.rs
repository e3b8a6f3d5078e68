//! What a night does not treat comes again, and nothing else does.

use super::*;

fn intents(result: &NightResult) -> Vec<&str> {
    let mut intents: Vec<&str> = result.tasks.iter().map(|task| task.intent.as_str()).collect();
    intents.sort_unstable();
    intents
}

fn has_note(result: &NightResult, part: &str) -> bool {
    result.report.notes.iter().any(|note| note.contains(part))
}

#[tokio::test]
async fn a_session_on_which_the_miner_failed_comes_again() {
    let world = World::new();
    world.session("one", &["Write a letter to one"]);
    world.session("two", &["Write a letter to two"]);
    let voice = Voice::new(|request| match request.messages[0].content.contains("letter to two") {
        true if request.purpose == Purpose::Mine => Err(error(ModelErrorKind::Timeout)),
        _ => Ok(reply(&answer(request))),
    });
    let first = world.run(world.models(&voice)).await.unwrap();
    assert_eq!(intents(&first), ["Write a letter to one"]);
    assert!(has_note(&first, "on 1 sessions"), "{:?}", first.report.notes);
    let voice = willing();
    let second = world.run(world.models(&voice)).await.unwrap();
    assert_eq!(intents(&second), ["Write a letter to two"]);
    assert_eq!(voice.asked(Purpose::Mine).len(), 1, "what was read is not read again");
}

#[tokio::test]
async fn a_session_whose_answer_could_not_be_read_comes_again() {
    let world = World::new();
    world.session("one", &["Write a letter to one"]);
    world.session("two", &["Write a letter to two"]);
    let voice = Voice::new(|request| match request.messages[0].content.contains("letter to two") {
        true if request.purpose == Purpose::Mine => Ok(reply("I would rather not.")),
        _ => Ok(reply(&answer(request))),
    });
    world.run(world.models(&voice)).await.unwrap();
    let second = world.run(world.models(&willing())).await.unwrap();
    assert_eq!(intents(&second), ["Write a letter to two"]);
}

#[tokio::test]
async fn a_night_whose_miner_never_answered_is_no_night_with_tasks_of_rules() {
    let world = World::new();
    world.session("one", &["Write a letter to one"]);
    world.session("two", &["Write a letter to two"]);
    let voice = Voice::new(|_| Err(error(ModelErrorKind::Timeout)));
    let failure = world.run(world.models(&voice)).await.unwrap_err();
    assert!(matches!(failure, NightFailure::Mining { n_sessions: 2, .. }), "{failure}");
    world.left_nothing();
}

#[tokio::test]
async fn tasks_beyond_the_limit_wait_also_those_of_a_session_of_which_one_was_treated() {
    let world = World::new().with("max_tasks_per_night", json!(1));
    world.session("one", &["Write a letter to Ann", "Write a poem on the sea"]);
    let voice = willing();
    let first = world.run(world.models(&voice)).await.unwrap();
    assert!(has_note(&first, "1 task was left for another night"), "{:?}", first.report.notes);
    let second = world.run(world.models(&voice)).await.unwrap();
    assert_eq!(voice.asked(Purpose::Mine).len(), 1, "the session was taken");
    let mut all = [intents(&first), intents(&second)].concat();
    all.sort_unstable();
    assert_eq!(all, ["Write a letter to Ann", "Write a poem on the sea"]);
    let third = world.run(world.models(&voice)).await.unwrap();
    assert!(third.tasks.is_empty(), "{:?}", third.tasks);
}

#[tokio::test]
async fn sessions_of_which_nothing_was_treated_come_again() {
    let world = World::new().with("max_tasks_per_night", json!(1));
    world.session("one", &["Write a letter to Ann"]);
    world.session("two", &["Write a poem on the sea"]);
    let first = world.run(world.models(&willing())).await.unwrap();
    let voice = willing();
    let second = world.run(world.models(&voice)).await.unwrap();
    assert_eq!(voice.asked(Purpose::Mine).len(), 1);
    assert_ne!(intents(&first), intents(&second));
    assert_eq!((first.tasks.len(), second.tasks.len()), (1, 1));
}

#[tokio::test]
async fn tasks_that_a_target_skill_is_not_about_are_told_so_and_not_mined_every_night() {
    let world = World::new().with("target_skill_path", json!("skills/letters/SKILL.md"));
    let skill = world.path("project/skills/letters/SKILL.md");
    fs::create_dir_all(skill.parent().unwrap()).unwrap();
    fs::write(&skill, "---\nname: letters\ndescription: Of letters.\n---\n# Letters\n").unwrap();
    world.session("one", &["Write letters to Ann"]);
    world.session("two", &["Compose a poem on the sea"]);
    let first = world.run(world.models(&willing())).await.unwrap();
    assert_eq!(intents(&first), ["Write letters to Ann"]);
    assert!(has_note(&first, "1 task was left out: not what the target skill is about"));
    assert!(!has_note(&first, "another night"), "{:?}", first.report.notes);
    let voice = willing();
    world.run(world.models(&voice)).await.unwrap();
    assert!(voice.asked(Purpose::Mine).is_empty());
}
