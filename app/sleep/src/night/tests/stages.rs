//! What a night says that it does while it does it.

use super::*;
use skillopt_domain::night::NightStage;

#[tokio::test]
async fn a_night_reflects_while_the_optimizer_is_asked_for_edits() {
    let world = World::new().given(letters());
    let watch = Arc::new(Watch::default());
    let told: Arc<Mutex<Vec<(bool, NightStage)>>> = Arc::default();
    let (ear, stages) = (Arc::clone(&watch), Arc::clone(&told));
    let voice = Voice::new(move |request| {
        let now = (request.purpose == Purpose::Reflect, ear.latest().stage);
        stages.lock().unwrap().push(now);
        Ok(reply(&answer(request)))
    });
    let (_control, ctx) = RunControl::new();
    let plan = world.plan();
    let night = run_night(&plan, world.models(&voice), &watch, &world.clock, &ctx);
    assert!(night.await.unwrap().report.accepted);
    let mut stages = told.lock().unwrap().clone();
    stages.dedup();
    let expected = [
        (false, NightStage::Replay),
        (true, NightStage::Reflect),
        (false, NightStage::Consolidate),
    ];
    assert_eq!(stages, expected);
    assert_eq!(watch.latest().stage, NightStage::Stage);
}
