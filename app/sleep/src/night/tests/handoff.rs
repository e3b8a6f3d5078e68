//! Nights that a person answers, round by round.

use super::*;
use crate::handoff::HandoffModel;
use crate::harvest::{HarvestState, harvest};
use std::collections::BTreeSet;

#[tokio::test]
async fn later_rounds_ask_the_same_whatever_sessions_are_new_by_then() {
    let mut world = World::new().with("max_cost_usd_per_night", json!(1.0));
    let handoff = handoff_of(&world);
    world.handoff = Some(handoff.clone());
    world.session("first", &["Write a letter to Ann", "Write a poem on the sea"]);
    let mut asked = BTreeSet::new();
    let mut n_rounds = 0;
    let result = loop {
        n_rounds += 1;
        assert!(n_rounds < 20, "the night never ends");
        let model = Arc::new(HandoffModel::new(handoff.clone()));
        match world.run(world.capped(model, None)).await {
            Ok(result) => break result,
            Err(failure) => assert!(failure.is_pending(), "{failure}"),
        }
        handoff.flush().unwrap();
        for pending in handoff.pending().unwrap() {
            assert!(asked.insert(pending.id.clone()), "nothing is asked twice");
            assert!(!pending.prompt.contains("zebra"), "{}", pending.prompt);
            handoff.answer(&pending.id, &by_hand(&pending.prompt)).unwrap();
        }
        world.session(&format!("late{n_rounds}"), &[&format!("Write a zebra letter {n_rounds}")]);
    };
    assert!(n_rounds > 2, "{n_rounds}");
    assert!(result.tasks.iter().all(|task| task.source_sessions == ["first"]));
    let report = &result.report;
    assert_eq!((report.cost_usd_micros, report.n_sessions), (None, 1), "nobody knows the price");
    assert!(
        report.notes.iter().any(|note| note.contains("the cap in money")),
        "{:?}",
        report.notes
    );

    let state = StateFile::new(&world.path("home/.skillopt-sleep")).read().unwrap();
    let cursor = state.harvest_cursor(&world.project());
    let known: HarvestState = serde_json::from_value(cursor).unwrap();
    let TaskSource::Harvest(options) = world.plan().tasks else { panic!("it harvests") };
    let next: BTreeSet<String> =
        harvest(&options, &known).digests.into_iter().map(|digest| digest.session_id).collect();
    assert_eq!(next.len(), n_rounds - 1, "{next:?}");
    assert!(!next.contains("first"));
}

#[tokio::test]
async fn pins_that_cannot_be_understood_are_told() {
    let mut world = World::new();
    let handoff = handoff_of(&world);
    handoff.pin(crate::handoff::Pinned::Tasks, &json!([1])).unwrap();
    world.handoff = Some(handoff);
    let failure = world.run(Answerers::Mock).await.unwrap_err();
    assert!(failure.to_string().contains("tasks.json cannot be understood"), "{failure}");
    world.left_nothing();
}

fn handoff_of(world: &World) -> Handoff {
    let folder = world.path("project/.skillopt-sleep-handoff");
    Handoff::new(folder, &world.path("home/.skillopt-sleep"), Arc::new(str::to_owned))
}

/// One round; what it asks lies in the files then.
async fn round(world: &World, handoff: &Handoff) -> Result<NightResult, NightFailure> {
    let model = Arc::new(HandoffModel::new(handoff.clone()));
    let done = world.run(world.capped(model, None)).await;
    if done.as_ref().is_err_and(NightFailure::is_pending) {
        handoff.flush().unwrap();
    }
    done
}

#[tokio::test]
async fn given_tasks_that_change_while_the_night_waits_are_for_the_next_one() {
    let mut world = World::new().given(letters());
    let handoff = handoff_of(&world);
    world.handoff = Some(handoff.clone());
    assert_eq!(tasks_begun_with(&handoff).unwrap(), None);
    let mut n_rounds = 0;
    let result = loop {
        n_rounds += 1;
        assert!(n_rounds < 20, "the night never ends");
        match round(&world, &handoff).await {
            Ok(result) => break result,
            Err(failure) => assert!(failure.is_pending(), "{failure}"),
        }
        let begun = tasks_begun_with(&handoff).unwrap().expect("they are pinned");
        assert!(!have_changed(&begun, &letters()), "{begun:?}");
        for pending in handoff.pending().unwrap() {
            assert!(!pending.prompt.contains("zebra"), "{}", pending.prompt);
            handoff.answer(&pending.id, &by_hand(&pending.prompt)).unwrap();
        }
        world.tasks = Some(vec![letter("zebra", Split::Train), letter("b", Split::Val)]);
    };
    assert!(n_rounds > 1, "{n_rounds}");
    let ids: Vec<&str> = result.tasks.iter().map(|task| task.id.as_str()).collect();
    assert_eq!(ids, ["a", "b", "c"]);
    assert!(result.report.notes.iter().any(|note| note == TASKS_CHANGED), "{:?}", result.report);
}

#[tokio::test]
async fn a_night_that_waits_does_not_go_on_with_tasks_from_elsewhere() {
    for is_given in [true, false] {
        let mut world = World::new();
        let handoff = handoff_of(&world);
        world.handoff = Some(handoff.clone());
        world.session("first", &["Write a letter to Ann"]);
        world.tasks = is_given.then(letters);
        assert!(round(&world, &handoff).await.unwrap_err().is_pending());
        let asked = handoff.pending().unwrap();
        world.tasks = (!is_given).then(letters);
        let failure = round(&world, &handoff).await.unwrap_err().to_string();
        let expect = if is_given { "from a file" } else { "from sessions" };
        assert!(failure.contains(expect) && failure.contains("remove that folder"), "{failure}");
        assert_eq!(handoff.pending().unwrap(), asked, "its prompts wait on");
    }
}

/// Pins as another machine wrote them: a night of a project there that was committed.
fn bring_pins(world: &World, begun: &Handoff) {
    let project = world.path("project/.skillopt-sleep-handoff");
    fs::create_dir(&project).unwrap();
    for name in ["digests.json", "tasks.json"] {
        let pins = begun.dir().join(name);
        if pins.exists() {
            fs::copy(pins, project.join(name)).unwrap();
        }
    }
}

#[tokio::test]
async fn tasks_that_a_cloned_project_pinned_are_not_done_and_that_is_told_once() {
    for is_given in [true, false] {
        let mut theirs = World::new();
        theirs.session("evil", &["Write a zebra letter to Eve"]);
        theirs.tasks =
            is_given.then(|| vec![letter("zebra", Split::Train), letter("b", Split::Val)]);
        let begun = handoff_of(&theirs);
        theirs.handoff = Some(begun.clone());
        assert!(round(&theirs, &begun).await.unwrap_err().is_pending());

        let mut world = World::new();
        world.session("first", &["Write a letter to Ann", "Write a poem on the sea"]);
        world.tasks = is_given.then(letters);
        bring_pins(&world, &begun);
        let handoff = handoff_of(&world);
        world.handoff = Some(handoff.clone());
        assert!(handoff.foreign_pins().unwrap().is_some());
        let mut n_rounds = 0;
        let result = loop {
            n_rounds += 1;
            assert!(n_rounds < 20, "the night never ends");
            match round(&world, &handoff).await {
                Ok(result) => break result,
                Err(failure) => assert!(failure.is_pending(), "{failure}"),
            }
            for pending in handoff.pending().unwrap() {
                assert!(!pending.prompt.contains("zebra"), "{}", pending.prompt);
                handoff.answer(&pending.id, &by_hand(&pending.prompt)).unwrap();
            }
        };
        let told = |note: &&String| note.starts_with("pins that no night of this machine wrote");
        let notes = &result.report.notes;
        assert_eq!(notes.iter().filter(told).count(), 1, "{notes:?}");
    }
}

fn by_hand(prompt: &str) -> String {
    let purpose = match prompt {
        prompt if prompt.lines().any(|line| line.starts_with("| (1) ")) => Purpose::Mine,
        prompt if prompt.contains("\"edits\"") => Purpose::Reflect,
        _ => Purpose::Qa,
    };
    let message = skillopt_engine::ports::Message::user(prompt);
    answer(&ChatRequest::new(purpose, "night", vec![message]))
}
