//! The ledger: durable when `record` returns, once a key, errors never served.

use crate::support::{Kind, call, run_id, sha, started};
use rstest::rstest;
use skillopt_domain::spend::Role;
use skillopt_engine::ports::{Billed, Finish, Journal, Ledger, ModelError, ModelErrorKind};
use skillopt_store::Store;

#[rstest]
#[case(Kind::File)]
#[case(Kind::Memory)]
#[tokio::test]
async fn a_recorded_call_comes_back_whole(#[case] kind: Kind) {
    let opened = kind.open().await;
    let store = &opened.store;
    let recorded = call(1, &"A long reply. ".repeat(100));
    assert_eq!(store.find(&recorded.key).await.unwrap(), None);
    store.record(recorded.clone()).await.unwrap();
    assert_eq!(store.find(&recorded.key).await.unwrap(), Some(recorded.reply.clone()));
    assert_eq!(store.find_call(&recorded.key).await.unwrap(), Some(recorded));
    assert_eq!(store.counts().await.unwrap().calls, 1);
}

#[tokio::test]
async fn unknown_tokens_and_costs_stay_unknown_and_zero_stays_zero() {
    let opened = Kind::Memory.open().await;
    let store = &opened.store;
    let mut unmetered = call(1, "");
    unmetered.reply.usage = None;
    unmetered.reply.finish = Finish::Refused;
    let mut free = call(2, "x");
    free.reply.cost_usd_micros = Some(0);
    for recorded in [unmetered, free] {
        store.record(recorded.clone()).await.unwrap();
        assert_eq!(store.find_call(&recorded.key).await.unwrap(), Some(recorded));
    }
}

#[rstest]
#[case(Kind::File)]
#[case(Kind::Memory)]
#[tokio::test]
async fn the_first_record_of_a_key_wins(#[case] kind: Kind) {
    let opened = kind.open().await;
    let store = &opened.store;
    let first = store.record(call(1, "first")).await.unwrap();
    let second = store.record(call(1, "second")).await.unwrap();
    assert_eq!((first.text.as_str(), second.text.as_str()), ("first", "first"));
    assert_eq!(store.find(&call(1, "").key).await.unwrap().unwrap().text, "first");
    assert_eq!(store.counts().await.unwrap().calls, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_processes_that_make_one_call_see_one_answer() {
    let opened = Kind::File.open().await;
    let other = Store::open(opened.path()).await.unwrap();
    let mut tasks = tokio::task::JoinSet::new();
    for n in 0..200u32 {
        let store = if n % 2 == 0 { opened.store.clone() } else { other.clone() };
        tasks.spawn(async move {
            (n / 2, store.record(call(n / 2, &format!("reply {n}"))).await.unwrap())
        });
    }
    while let Some(result) = tasks.join_next().await {
        let (key, seen) = result.unwrap();
        assert_eq!(other.find(&call(key, "").key).await.unwrap(), Some(seen));
    }
}

#[rstest]
#[case(Kind::File)]
#[case(Kind::Memory)]
#[tokio::test]
async fn c52_errors_are_logged_never_served(#[case] kind: Kind) {
    let opened = kind.open().await;
    let store = &opened.store;
    let key = call(1, "").key;
    let error = ModelError {
        kind: ModelErrorKind::Timeout,
        message: "no answer in 5 s".into(),
        attempts: 3,
        billed: Billed::default(),
    };
    store.record_failure(&key, Role::Target, &error).await.unwrap();
    store.record_failure(&key, Role::Target, &error).await.unwrap();
    assert_eq!(store.find(&key).await.unwrap(), None);
    let told = (ModelErrorKind::Timeout, "no answer in 5 s".to_owned());
    assert_eq!(store.find_failed_call(&key).await.unwrap(), Some(told));
    assert_eq!(store.find_failed_call(&call(2, "").key).await.unwrap(), None);
    store.record(call(1, "an answer")).await.unwrap();
    assert_eq!(store.find(&key).await.unwrap().unwrap().text, "an answer");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_recorded_is_there_after_a_crash() {
    let opened = Kind::File.open().await;
    let mut tasks = tokio::task::JoinSet::new();
    for n in 0..200 {
        let store = opened.store.clone();
        tasks.spawn(async move { store.record(call(n, &format!("reply {n}"))).await });
    }
    while let Some(result) = tasks.join_next().await {
        result.unwrap().unwrap();
    }
    // No close: a second handle sees what a new process would see.
    let later = Store::open(opened.path()).await.unwrap();
    for n in 0..200 {
        let found = later.find_call(&call(n, "").key).await.unwrap();
        assert_eq!(found, Some(call(n, &format!("reply {n}"))));
    }
}

#[tokio::test]
async fn a_caller_that_goes_away_does_not_take_its_call_with_it() {
    let opened = Kind::File.open().await;
    let store = &opened.store;
    {
        let recording = store.record(call(1, "paid"));
        // Polled once, then dropped.
        tokio::select! {
            biased;
            _ = recording => {}
            () = std::future::ready(()) => {}
        }
    }
    store.record(call(2, "later")).await.unwrap();
    assert_eq!(store.find(&call(1, "").key).await.unwrap().unwrap().text, "paid");
}

#[tokio::test]
async fn a_closed_store_has_written_everything_and_refuses_more() {
    let opened = Kind::File.open().await;
    let store = opened.store.clone();
    store.record(call(1, "kept")).await.unwrap();
    store.close().await;
    let refused = store.record(call(2, "late")).await.unwrap_err();
    assert_eq!(refused.message, "the store is closed");
    let later = Store::open(opened.path()).await.unwrap();
    assert!(later.find(&call(1, "").key).await.unwrap().is_some());
}

#[tokio::test]
async fn each_text_is_stored_once_whoever_uses_it() {
    let opened = Kind::File.open().await;
    let other = Store::open(opened.path()).await.unwrap();
    let journal = started(&opened.store, 1).await;
    for n in 0..10 {
        opened.store.record(call(n, "same reply")).await.unwrap();
        other.record(call(100 + n, "same reply")).await.unwrap();
    }
    journal.keep_skill("same reply").await.unwrap();
    let file = opened.path().join("skillopt.db");
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(file);
    let pool = sqlx::SqlitePool::connect_with(options).await.unwrap();
    let (n, distinct): (i64, i64) =
        sqlx::query_as("SELECT count(*), count(DISTINCT hash) FROM blobs")
            .fetch_one(&pool)
            .await
            .unwrap();
    // One system message, one reply, and twenty questions.
    assert_eq!((n, distinct), (22, 22));
    assert!(other.skill_belongs_to_run(&run_id(1), &sha("same reply")).await.unwrap());
}
