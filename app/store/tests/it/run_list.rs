//! The run table: filters, sorts, pages that hold still.

use crate::support::{Kind, change, measured, new_run, planned, run_id, started};
use rstest::rstest;
use skillopt_domain::api::{RunQuery, RunSummary};
use skillopt_domain::event::EventKind;
use skillopt_domain::run::{RunStatus, RunTransition};
use skillopt_engine::ports::Journal;
use skillopt_store::{NewRun, Store, StoreFailure};

async fn all_pages(store: &Store, query: RunQuery) -> Vec<RunSummary> {
    let mut query = RunQuery { limit: Some(3), ..query };
    let mut rows = Vec::new();
    loop {
        let page = store.list_runs(&query).await.unwrap();
        rows.extend(page.items);
        query.cursor = page.next;
        if query.cursor.is_none() {
            return rows;
        }
    }
}

/// Ten runs: every third one is measured, with scores that repeat and one that is zero.
async fn ten_runs(store: &Store) {
    for n in 0..10 {
        let journal = started(store, n).await;
        if n % 3 == 0 {
            journal.append("planned", planned()).await.unwrap();
            let score = f64::from(n % 2) / 3.0;
            journal.append("baseline", EventKind::Baseline(measured(score))).await.unwrap();
        }
    }
}

#[rstest]
#[case(Kind::File)]
#[case(Kind::Memory)]
#[tokio::test]
async fn every_sort_shows_each_run_once_with_missing_values_last(#[case] kind: Kind) {
    let opened = kind.open().await;
    ten_runs(&opened.store).await;
    for sort in ["created", "name", "best", "steps", "status", "cost"] {
        for sort in [sort.to_owned(), format!("-{sort}")] {
            let query = RunQuery { sort: Some(sort.clone()), ..RunQuery::default() };
            let rows = all_pages(&opened.store, query).await;
            let mut ids: Vec<_> = rows.iter().map(|row| row.id.clone()).collect();
            ids.sort();
            ids.dedup();
            assert_eq!(ids.len(), 10, "{sort}");
            if sort.ends_with("best") {
                let scores: Vec<_> = rows.iter().filter_map(|row| row.best_score).collect();
                assert_eq!(scores.len(), 4);
                assert!(rows[..4].iter().all(|row| row.best_score.is_some()), "{sort}");
                let falls = sort.starts_with('-');
                assert!(scores.is_sorted_by(|a, b| if falls { a >= b } else { a <= b }));
            }
        }
    }
}

#[tokio::test]
async fn pages_hold_still_while_runs_are_added() {
    let opened = Kind::File.open().await;
    let store = &opened.store;
    ten_runs(store).await;
    let query = RunQuery { limit: Some(4), ..RunQuery::default() };
    let first = store.list_runs(&query).await.unwrap();
    assert_eq!((first.total, first.items[0].id.clone()), (10, run_id(9)));
    store.create_run(&new_run(50)).await.unwrap();
    let second = store.list_runs(&RunQuery { cursor: first.next, ..query }).await.unwrap();
    let ids: Vec<_> = second.items.iter().map(|row| row.id.clone()).collect();
    assert_eq!(ids, [run_id(5), run_id(4), run_id(3), run_id(2)]);
}

#[tokio::test]
async fn filters_look_at_state_and_at_names_whatever_the_case() {
    let opened = Kind::Memory.open().await;
    let store = &opened.store;
    ten_runs(store).await;
    store.create_run(&NewRun { name: "Äpfel 100%".into(), ..new_run(20) }).await.unwrap();
    store.transition(&run_id(4), change(RunTransition::Fail)).await.unwrap();
    let total = async |status, q: Option<&str>| {
        let query = RunQuery { status, q: q.map(str::to_owned), ..RunQuery::default() };
        let page = store.list_runs(&query).await.unwrap();
        assert_eq!(page.total, u64::try_from(page.items.len()).unwrap());
        page.total
    };
    assert_eq!(total(Some(RunStatus::Failed), None).await, 1);
    assert_eq!(total(Some(RunStatus::Running), None).await, 9);
    assert_eq!(total(None, Some("äPFEL")).await, 1);
    assert_eq!(total(None, Some("100%")).await, 1);
    assert_eq!(total(None, Some("target-7b")).await, 4);
    assert_eq!(total(None, Some("  ")).await, 11);
    assert_eq!(total(Some(RunStatus::Failed), Some("target-7b")).await, 0);
}

#[tokio::test]
async fn unknown_sorts_and_foreign_cursors_are_refused() {
    let opened = Kind::Memory.open().await;
    let store = &opened.store;
    ten_runs(store).await;
    let sort = |sort: &str| Some(sort.to_owned());
    let wrong = RunQuery { sort: sort("id; DROP TABLE runs"), ..RunQuery::default() };
    assert!(matches!(store.list_runs(&wrong).await, Err(StoreFailure::BadQuery { .. })));
    let by_name = RunQuery { sort: sort("name"), limit: Some(1), ..RunQuery::default() };
    let cursor = store.list_runs(&by_name).await.unwrap().next;
    let mixed = RunQuery { sort: sort("best"), cursor, ..RunQuery::default() };
    assert!(matches!(store.list_runs(&mixed).await, Err(StoreFailure::BadQuery { .. })));
}
