//! Feeds against a real store: nothing is lost, nothing comes twice.

use super::{Frame, Live, Row};
use crate::testing::{LiveRun, live_run};
use futures::{Stream, StreamExt};
use skillopt_domain::event::{EventKind, Progress};
use skillopt_domain::ids::NightId;
use skillopt_domain::run::Phase;
use skillopt_domain::spend::SpendByRole;
use skillopt_engine::ports::Journal;
use skillopt_store::{NewNight, Store};
use std::pin::pin;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

async fn warn(run: &LiveRun, n: u32) {
    let kind = EventKind::Warning { code: "test".to_owned(), message: format!("number {n}") };
    run.journal.append(&format!("warning/{n}"), kind).await.unwrap();
}

/// The next frame, which must come.
async fn next(frames: &mut (impl Stream<Item = Frame> + Unpin)) -> Frame {
    tokio::time::timeout(Duration::from_secs(20), frames.next()).await.unwrap().unwrap()
}

async fn next_seq(frames: &mut (impl Stream<Item = Frame> + Unpin)) -> u64 {
    match next(frames).await {
        Frame::Event { seq, .. } => seq,
        Frame::Progress(json) => panic!("progress: {json}"),
    }
}

#[tokio::test]
async fn a_viewer_gets_what_it_missed_and_then_what_comes() {
    let store = Store::in_memory().await.unwrap();
    let run = live_run(&store).await;
    let stop = CancellationToken::new();
    let live = Live::start(store.clone(), stop.clone()).await.unwrap();
    let before = store.max_seq(&run.id).await.unwrap();
    warn(&run, 1).await;
    let mut frames = pin!(live.run(run.id.clone(), before).await.unwrap());
    assert_eq!(next_seq(&mut frames).await, before + 1);
    for n in 2..=4 {
        warn(&run, n).await;
        assert_eq!(next_seq(&mut frames).await, before + u64::from(n));
    }
    stop.cancel();
    assert_eq!(frames.next().await, None, "streams end with the server");
    live.close().await;
}

#[tokio::test]
async fn fifty_viewers_get_every_event_once_and_in_order_whenever_they_come() {
    let store = Store::in_memory().await.unwrap();
    let run = live_run(&store).await;
    let stop = CancellationToken::new();
    let live = Live::start(store.clone(), stop.clone()).await.unwrap();
    let last = store.max_seq(&run.id).await.unwrap() + 1300;
    let watch = async |comes_after: u64| {
        let mut signals = store.subscribe();
        while store.max_seq(&run.id).await.unwrap() < comes_after {
            let _ = signals.recv().await;
        }
        let mut frames = pin!(live.run(run.id.clone(), 0).await.unwrap());
        for expected in 1..=last {
            assert_eq!(next_seq(&mut frames).await, expected);
        }
    };
    let write = async {
        for n in 1..=1300 {
            warn(&run, n).await;
        }
    };
    tokio::join!(write, futures::future::join_all((0..50).map(|n| watch(n * 20))));
    stop.cancel();
}

#[tokio::test]
async fn events_of_another_process_are_found_by_polling() {
    let dir = tempfile::tempdir().unwrap();
    let (ours, theirs) =
        (Store::open(dir.path()).await.unwrap(), Store::open(dir.path()).await.unwrap());
    let run = live_run(&theirs).await;
    let stop = CancellationToken::new();
    let live = Live::start(ours.clone(), stop.clone()).await.unwrap();
    let seen = ours.max_seq(&run.id).await.unwrap();
    let mut frames = pin!(live.run(run.id.clone(), seen).await.unwrap());
    let mut rows = pin!(live.rows());
    warn(&run, 1).await;
    assert_eq!(next_seq(&mut frames).await, seen + 1);
    let row = tokio::time::timeout(Duration::from_secs(20), rows.next()).await.unwrap().unwrap();
    assert!(matches!(&row, Row::Run(json) if json.contains(run.id.as_str())), "{row:?}");
    stop.cancel();
}

#[tokio::test]
async fn a_night_of_another_process_is_told_when_it_begins() {
    let dir = tempfile::tempdir().unwrap();
    let (ours, theirs) =
        (Store::open(dir.path()).await.unwrap(), Store::open(dir.path()).await.unwrap());
    let stop = CancellationToken::new();
    let live = Live::start(ours, stop.clone()).await.unwrap();
    let mut rows = pin!(live.rows());
    let id = NightId::parse("0190a0c2-7b1e-7c33-8f00-0123456789ab").unwrap();
    let night = NewNight {
        id: id.clone(),
        project: "/p".to_owned(),
        is_dry: false,
        is_simulated: true,
        models: "mock".to_owned(),
        actor: "local".to_owned(),
        at_ms: 1,
        owner: "a".to_owned(),
        ttl_ms: 1000,
        settings_json: String::new(),
    };
    theirs.begin_night(&night).await.unwrap();
    let row = tokio::time::timeout(Duration::from_secs(20), rows.next()).await.unwrap().unwrap();
    assert!(matches!(&row, Row::Night(night) if night.id == id), "{row:?}");
    stop.cancel();
}

#[tokio::test]
async fn live_counts_are_sent_without_a_number() {
    let store = Store::in_memory().await.unwrap();
    let run = live_run(&store).await;
    let stop = CancellationToken::new();
    let live = Live::start(store.clone(), stop.clone()).await.unwrap();
    let seen = store.max_seq(&run.id).await.unwrap();
    let mut frames = pin!(live.run(run.id.clone(), seen).await.unwrap());
    let progress = Progress {
        phase: Phase::Baseline,
        done: 3,
        total: 10,
        errors: 0,
        spend: SpendByRole::default(),
        at_ms: 1,
    };
    // The first frame may be waited for only after the viewer sits.
    run.journal.progress(progress);
    match next(&mut frames).await {
        Frame::Progress(json) => assert!(json.contains("\"done\":3"), "{json}"),
        frame @ Frame::Event { .. } => panic!("{frame:?}"),
    }
    stop.cancel();
}
