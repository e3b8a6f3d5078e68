//! Nights that fail: no folder, no state, or a proposal that is there and says what is missing.

use super::*;

#[tokio::test]
async fn a_night_whose_model_cannot_be_called_leaves_nothing() {
    let world = World::new().given(letters());
    let voice = Voice::new(|_| Err(error(ModelErrorKind::Authentication)));
    let failure = world.run(world.models(&voice)).await.unwrap_err();
    assert!(!failure.is_refusal() && !failure.is_capped(), "{failure}");
    world.left_nothing();
}

#[tokio::test]
async fn a_night_that_ran_into_a_cap_leaves_nothing() {
    let world = World::new().given(letters());
    let failure = world.run(world.capped(willing(), Some(3))).await.unwrap_err();
    assert!(failure.is_capped(), "{failure}");
    world.left_nothing();
}

#[tokio::test]
async fn a_night_that_was_cancelled_before_its_first_call_makes_none() {
    let world = World::new().given(letters());
    let (control, ctx) = RunControl::new();
    control.cancel();
    let voice = willing();
    let failure = world.run_on(world.models(&voice), &ctx).await.unwrap_err();
    assert!(failure.is_cancelled(), "{failure}");
    assert_eq!(voice.n_calls(), 0);
    world.left_nothing();
}

#[tokio::test(start_paused = true)]
async fn a_miner_that_never_answers_is_given_up_some_time_after_the_cancel() {
    let world = World::new();
    world.session("one", &["Write a letter to one"]);
    let voice = Arc::new(Voice {
        script: Box::new(|_| Err(error(ModelErrorKind::Timeout))),
        seen: Mutex::default(),
        hangs: true,
    });
    let (control, ctx) = RunControl::new();
    let watch = Arc::new(Watch::default());
    let plan = world.plan();
    let night = run_night(&plan, world.models(&voice), &watch, &world.clock, &ctx);
    let cancel = async {
        // Once there are sessions, the miner is asked.
        watch.harvests().wait_for(Option::is_some).await.unwrap();
        control.cancel();
    };
    let (done, ()) = tokio::join!(night, cancel);
    assert!(done.unwrap_err().is_cancelled());
    world.left_nothing();
}

#[tokio::test]
async fn a_document_that_changed_meanwhile_ends_the_night_and_leaves_no_folder() {
    let world = World::new().given(letters());
    let skill = world.skill();
    let voice = Voice::new(move |request| {
        if request.purpose == Purpose::Reflect {
            fs::create_dir_all(skill.parent().unwrap()).unwrap();
            fs::write(&skill, "# Of a person\n").unwrap();
        }
        Ok(reply(&answer(request)))
    });
    let failure = world.run(world.models(&voice)).await.unwrap_err();
    assert!(matches!(failure, NightFailure::Publish(_)), "{failure}");
    world.left_nothing();
    assert_eq!(fs::read_to_string(world.skill()).unwrap(), "# Of a person\n");
}

#[tokio::test]
async fn a_proposal_stays_when_the_state_cannot_be_written() {
    let world = World::new().given(exacts());
    // The lock cannot be opened.
    fs::create_dir_all(world.path("home/.skillopt-sleep/state.json.lock")).unwrap();
    let result = world.run(Answerers::Mock).await.unwrap();
    assert!(result.state_failure.contains("state.json"), "{}", result.state_failure);
    assert!(result.report.notes.iter().any(|note| note.contains(&result.state_failure)));
    let nights = world.nights();
    assert_eq!(nights[0].manifest.as_ref().unwrap().rows.len(), 1);
}

#[test]
fn a_night_that_cannot_write_its_log_leaves_no_folder() {
    let world = World::new();
    let plan = world.plan();
    let place = Place::make(&plan, 0).unwrap();
    let Place::Staging(reserved) = &place else { panic!("a night has a folder") };
    // The log's name is taken.
    fs::create_dir_all(reserved.dir().join("evidence.jsonl")).unwrap();
    assert!(place.with_evidence(&plan, &world.clock).is_err());
    assert!(world.nights().is_empty());
}

#[tokio::test]
async fn signs_of_life_go_on_while_a_night_waits_for_the_state() {
    let world = World::new().given(exacts());
    let lock = world.state_file().with_added_extension("lock");
    fs::create_dir_all(lock.parent().unwrap()).unwrap();
    let held = fs::File::create(&lock).unwrap();
    held.lock().unwrap();
    let life = async {
        while world.nights().iter().all(|night| night.published_ms.is_none()) {
            tokio::task::yield_now().await;
        }
        drop(held);
    };
    let (done, ()) = tokio::join!(world.run(Answerers::Mock), life);
    assert_eq!(done.unwrap().state_failure, "", "the night waited, and this thread did not");
}

#[tokio::test]
async fn two_nights_of_a_project_do_not_run_at_once() {
    let world = World::new().given(exacts());
    let held = lock_project(&world.path("project")).unwrap();
    let failure = world.run(Answerers::Mock).await.unwrap_err();
    assert!(matches!(failure, NightFailure::Busy(_)), "{failure}");
    drop(held);
    world.run(Answerers::Mock).await.unwrap();
}
