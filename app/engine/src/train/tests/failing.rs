//! Models that fail or are cut short: which failures end a run, and what is made of the others.

use super::*;

fn no_connection(request: &ChatRequest) -> Result<ChatReply, ModelError> {
    if request.purpose == Purpose::Preflight {
        return Ok(reply("OK"));
    }
    let kind = ModelErrorKind::Connection;
    Err(ModelError { kind, message: "refused".into(), attempts: 6, billed: Billed::default() })
}

#[tokio::test]
async fn c37_a_dead_optimizer_is_a_failure_and_never_no_improvement() {
    let world = World::with(target_reply, no_connection);
    let journal = Arc::new(MemoryJournal::default());
    let failure = world.run(&input(&[]), journal.clone()).await.expect_err("failed");
    assert!(
        failure.error.to_string().contains("optimizer: connection: refused"),
        "{}",
        failure.error
    );
    let healed =
        World { optimizer: ScriptedModel::new("optimizer", |r, _| optimizer_reply(r)), ..world };
    healed.run(&input(&[]), journal).await.expect("resumed when it is back");
}

fn authentication(_: &ChatRequest) -> Result<ChatReply, ModelError> {
    let kind = ModelErrorKind::Authentication;
    Err(ModelError {
        kind,
        message: "Incorrect API key provided".into(),
        attempts: 1,
        billed: Billed::default(),
    })
}

#[tokio::test]
async fn c37_a_wrong_key_ends_in_preflight_with_the_providers_words() {
    let world = World::with(authentication, optimizer_reply);
    let failure = world.run(&input(&[]), Arc::default()).await.expect_err("failed");
    assert_eq!(failure.error.transition(), RunTransition::Fail);
    assert!(failure.error.to_string().contains("Incorrect API key"), "{}", failure.error);
    assert_eq!(world.requests().len(), 1, "no rollout was made");
    assert_eq!(failure.spend.total().calls, 0);
}

fn half_broken(request: &ChatRequest) -> Result<ChatReply, ModelError> {
    if request.messages[1].content.ends_with(['1', '3', '5', '7']) {
        let kind = ModelErrorKind::Timeout;
        return Err(ModelError {
            kind,
            message: "no answer in 300 s".into(),
            attempts: 6,
            billed: Billed::default(),
        });
    }
    target_reply(request)
}

#[tokio::test]
async fn c38_a_run_with_too_many_broken_attempts_fails_and_never_says_no_gain() {
    let world = World::with(half_broken, optimizer_reply);
    let failure = world.run(&input(&[]), Arc::default()).await.expect_err("failed");
    assert!(
        failure.error.to_string().contains("4 of 8 attempts ended in errors"),
        "{}",
        failure.error
    );
}

#[tokio::test]
async fn c38_broken_attempts_are_neither_scored_nor_reflected_on() {
    let world = World::with(half_broken, optimizer_reply);
    let journal = Arc::new(MemoryJournal::default());
    world.run(&input(&[("limits.error_share", "0.6")]), journal.clone()).await.expect("done");
    let view = RunView::of(&journal.events());
    assert_eq!(view.baseline.and_then(|measured| measured.score).map(|score| score.n), Some(4));
    for request in world.optimizer.seen() {
        assert!(
            !request.messages[1].content.contains("id train-1\n"),
            "a broken attempt was shown"
        );
    }
}

fn flaky_once(request: &ChatRequest) -> Result<ChatReply, ModelError> {
    use std::sync::atomic::{AtomicBool, Ordering};
    static FAILED: AtomicBool = AtomicBool::new(false);
    if request.messages[1].content == "val-5" && !FAILED.swap(true, Ordering::SeqCst) {
        let kind = ModelErrorKind::Server;
        return Err(ModelError {
            kind,
            message: "503".into(),
            attempts: 6,
            billed: Billed::default(),
        });
    }
    target_reply(request)
}

#[tokio::test]
async fn c39_a_short_outage_in_an_evaluation_is_tried_again_and_nothing_is_lost() {
    let world = World::with(flaky_once, optimizer_reply);
    let journal = Arc::new(MemoryJournal::default());
    world.run(&input(&[]), journal.clone()).await.expect("done");
    let view = RunView::of(&journal.events());
    assert_eq!(view.baseline.and_then(|measured| measured.score).map(|score| score.n), Some(8));
    assert_eq!(world.ledger.failures().len(), 1);
}

fn cut_once(request: &ChatRequest) -> Result<ChatReply, ModelError> {
    if request.purpose == Purpose::AnalystFailure && request.messages.len() == 2 {
        let cut = r#"{"patch": {"edits": [{"op": "append", "content": "- ru"#;
        return Ok(ChatReply { finish: crate::ports::Finish::Length, ..reply(cut) });
    }
    optimizer_reply(request)
}

#[tokio::test]
async fn c28_a_truncated_optimizer_reply_is_asked_for_again_with_more_room_and_never_used() {
    let world = World::with(target_reply, cut_once);
    let journal = Arc::new(MemoryJournal::default());
    world.run(&input(&[]), journal.clone()).await.expect("done");
    let reasked: Vec<_> =
        world.optimizer.seen().into_iter().filter(|request| request.messages.len() == 3).collect();
    assert!(
        !reasked.is_empty() && reasked.iter().all(|request| request.max_tokens == Some(32_768))
    );
    let lost = journal.events().iter().any(
        |event| matches!(&event.kind, EventKind::Reflected { reflection, .. } if !reflection.lost.is_empty()),
    );
    assert!(!lost, "the second reply was usable");
}

fn cut_always(request: &ChatRequest) -> Result<ChatReply, ModelError> {
    if request.purpose == Purpose::Preflight {
        return Ok(reply("OK"));
    }
    Ok(ChatReply { finish: crate::ports::Finish::Length, ..reply(r#"{"patch": {"edits": []}}"#) })
}

#[tokio::test]
async fn c28_a_reply_that_is_always_cut_is_named_and_asked_for_once_more_only() {
    let world = World::with(target_reply, cut_always);
    let journal = Arc::new(MemoryJournal::default());
    world.run(&input(&[]), journal.clone()).await.expect("done");
    assert_eq!(actions(&journal.events()), [Action::SkipNoPatches; 4]);
    let reasons: Vec<String> =
        RunView::of(&journal.events()).steps.into_iter().map(|step| step.reason).collect();
    assert!(reasons[0].contains("truncated"), "{reasons:?}");
    assert_eq!(world.optimizer.seen().len(), 1 + 4 * 2);
}
