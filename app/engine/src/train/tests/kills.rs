//! A run that is killed resumes to the same bytes and pays nothing twice: in every mode, at the ends of epochs, and
//! inside a slow update.

use super::optimizer::able;
use super::*;

const EVERYTHING: [(&str, &str); 4] = [
    ("optimizer.use_slow_update", "true"),
    ("optimizer.use_meta_skill", "true"),
    ("optimizer.use_skill_aware_reflection", "true"),
    ("train.num_epochs", "3"),
];

async fn check(changes: &[(&str, &str)], die_at: &str) {
    let whole = World::with(target_reply, able);
    let journal = Arc::new(MemoryJournal::default());
    let expected = whole.run(&input(changes), journal.clone()).await.expect("done");
    let reaches = journal.events().iter().any(|event| event.key.contains(die_at));
    assert!(reaches, "the run never gets to {die_at}");

    let world = World::with(target_reply, able);
    let dying = Arc::new(MemoryJournal::dying_at(die_at));
    world.run(&input(changes), dying.clone()).await.expect_err("killed");
    let reborn = Arc::new(dying.reborn());
    let resumed = world.run(&input(changes), reborn.clone()).await.expect("resumed");

    assert_eq!(resumed.best_skill, expected.best_skill);
    assert_eq!(world.history(), whole.history());
    assert_eq!(world.requests().len(), whole.requests().len(), "a request was paid twice");
    assert_eq!(world.ledger.len(), whole.ledger.len());
    let (after, before) = (RunView::of(&reborn.events()), RunView::of(&journal.events()));
    assert_eq!((after.best, after.versions), (before.best, before.versions));
    assert_eq!(after.comparisons, before.comparisons);
    let contents = |view: &RunView| -> Vec<String> {
        let guidance = view.slow_updates.iter().map(|update| update.content.clone());
        guidance.chain(view.meta_skills.iter().map(|memory| memory.content.clone())).collect()
    };
    assert_eq!(contents(&RunView::of(&reborn.events())), contents(&RunView::of(&journal.events())));
    for path in ["best_skill.md", "skills/skill_v0004.md", "skills/skill_v0006.md"] {
        assert_eq!(world.folder.file(path), whole.folder.file(path), "{path}");
    }
}

#[rstest]
#[tokio::test]
async fn c48_in_every_mode_and_stage(
    #[values("patch", "rewrite_from_suggestions", "full_rewrite_minibatch")] mode: &str,
    #[values("fixed", "autonomous", "none")] control: &str,
    #[values("rolled_out", "reflected", "selected", "updated", "gated", "finished")] stage: &str,
) {
    let changes = [("optimizer.skill_update_mode", mode), ("optimizer.lr_control_mode", control)];
    check(&changes, &format!("step/0002/{stage}")).await;
}

#[rstest]
#[case("step/0002/lr_decided", "autonomous", "patch")]
#[case("step/0002/rewritten", "fixed", "rewrite_from_suggestions")]
#[case("step/0003/rewritten", "none", "full_rewrite_minibatch")]
#[tokio::test]
async fn c48_where_a_mode_has_a_stage_of_its_own(
    #[case] die_at: &str,
    #[case] control: &str,
    #[case] mode: &str,
) {
    let changes = [("optimizer.skill_update_mode", mode), ("optimizer.lr_control_mode", control)];
    check(&changes, die_at).await;
}

#[rstest]
#[tokio::test]
async fn c48_at_the_ends_of_epochs(
    #[values(
        "step/0002/finished",
        "step/0002/noted",
        "step/0003/phase/rollout",
        "epoch/0002/phase/slow_update",
        "epoch/0002/compared",
        "epoch/0002/slow_updated",
        "epoch/0002/phase/meta_skill",
        "epoch/0002/meta_skill",
        "step/0005/phase/rollout",
        "epoch/0003/compared",
        "epoch/0003/slow_updated",
        "phase/final_test",
        "tested/best"
    )]
    die_at: &str,
    #[values("none", "python")] compat: &str,
) {
    let mut changes = EVERYTHING.to_vec();
    changes.push(("train.compat", compat));
    check(&changes, die_at).await;
}

#[rstest]
#[tokio::test]
async fn c48_by_the_rules_of_python(
    #[values("patch", "rewrite_from_suggestions", "full_rewrite_minibatch")] mode: &str,
    #[values("true", "false")] use_gate: &str,
    #[values(
        "step/0001/finished",
        "step/0002/gated",
        "epoch/0001/phase/placeholder",
        "step/0003/selected",
        "epoch/0002/slow_updated",
        "phase/final_test"
    )]
    die_at: &str,
) {
    let mut changes = EVERYTHING.to_vec();
    changes.extend([("train.compat", "python"), ("optimizer.lr_scheduler", "linear")]);
    changes.extend([("optimizer.skill_update_mode", mode), ("evaluation.use_gate", use_gate)]);
    check(&changes, die_at).await;
}

#[rstest]
#[case("step/0003/finished")]
#[case("epoch/0002/compared")]
#[case("step/0005/phase/rollout")]
#[tokio::test]
async fn c48_a_second_stop_on_the_way_back_sets_no_file_back(#[case] second: &str) {
    let mut changes = EVERYTHING.to_vec();
    changes.extend([("train.compat", "python"), ("optimizer.lr_control_mode", "autonomous")]);
    let world = World::with(target_reply, able);
    let first = Arc::new(MemoryJournal::dying_at("step/0006/finished"));
    world.run(&input(&changes), first.clone()).await.expect_err("killed");
    let files = || {
        [
            "best_skill.md",
            "history.json",
            "lr_history.jsonl",
            "runtime_state.json",
            "skills/skill_v0004.md",
            "slow_update/epoch_02/slow_result.json",
            "meta_skill/epoch_02/meta_skill_result.json",
        ]
        .map(|path| (path, world.folder.file(path)))
    };
    let before = files();
    assert!(before.iter().all(|(_, text)| text.is_some()), "{before:?}");
    let again = Arc::new(first.reborn_dying_at(second));
    world.run(&input(&changes), again).await.expect_err("killed again");
    assert_eq!(files(), before);
}

#[tokio::test]
async fn c48_inside_a_slow_update_with_calls_in_flight() {
    let mut changes = EVERYTHING.to_vec();
    // One at a time, so that the request that is never answered is the only one on its way.
    changes.extend([("env.workers", "1"), ("gradient.analyst_workers", "1")]);
    let input = input(&changes);
    let whole = World::with(target_reply, able);
    whole.run(&input, Arc::default()).await.expect("done");
    let inside: Vec<usize> = whole
        .target
        .seen()
        .iter()
        .enumerate()
        .filter(|(_, request)| request.phase.contains("slow_update"))
        .map(|(at, _)| at)
        .collect();
    assert!(inside.len() > 8, "rollouts and evaluations of slow updates");
    for k in inside {
        let world = World::with(target_reply, able);
        world.run_killed_at_call(&input, &world.target, k).await;
        assert_eq!(world.history(), whole.history(), "killed after {k} target calls");
        assert_eq!(
            world.requests().len(),
            whole.requests().len(),
            "paid twice after {k} target calls"
        );
    }
}

#[tokio::test]
async fn c48_optimizer_calls_between_epochs_are_paid_once() {
    let mut changes = EVERYTHING.to_vec();
    changes.push(("gradient.analyst_workers", "1"));
    let input = input(&changes);
    let whole = World::with(target_reply, able);
    whole.run(&input, Arc::default()).await.expect("done");
    for k in 0..whole.optimizer.seen().len() {
        let world = World::with(target_reply, able);
        world.run_killed_at_call(&input, &world.optimizer, k).await;
        assert_eq!(world.history(), whole.history(), "killed after {k} optimizer calls");
        assert_eq!(world.requests().len(), whole.requests().len());
    }
}
