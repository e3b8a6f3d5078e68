//! Leases between processes.

use crate::support::{Kind, OWNER, TTL_MS, new_run, run_id, started, term};
use skillopt_domain::config::{Resolved, ResolvedValue, Value};
use skillopt_domain::run::RunStatus;
use skillopt_store::{AuditRow, LeaseError, OpenError, Store};

#[tokio::test]
async fn a_live_lease_is_not_taken_and_names_its_owner() {
    let opened = Kind::File.open().await;
    let other = Store::open(opened.path()).await.unwrap();
    opened.store.create_run(&new_run(1)).await.unwrap();
    opened.store.acquire_lease(&run_id(1), &term("host:1"), 1000).await.unwrap();
    opened.store.acquire_lease(&run_id(1), &term("host:1"), 2000).await.unwrap();

    let refused = other.acquire_lease(&run_id(1), &term("host:2"), 2000).await;
    let Err(LeaseError::Held { owner, until_ms }) = refused else { panic!("{refused:?}") };
    assert_eq!((owner.as_str(), until_ms), ("host:1", 2000 + TTL_MS));

    other.acquire_lease(&run_id(1), &term("host:2"), 2001 + TTL_MS).await.unwrap();
    opened.store.release_lease(&run_id(1), "host:1").await.unwrap();
    let lease = other.run_row(&run_id(1)).await.unwrap().lease.unwrap();
    assert_eq!(lease.owner, "host:2", "nobody releases another's lease");
}

#[tokio::test]
async fn a_run_without_a_sign_of_life_is_interrupted_once() {
    let opened = Kind::File.open().await;
    let other = Store::open(opened.path()).await.unwrap();
    let journal = started(&opened.store, 1).await;
    journal.heartbeat(TTL_MS, None).await.unwrap();
    let deadline = 1_000_000 + TTL_MS;
    assert!(other.reap_orphans(deadline).await.unwrap().is_empty());
    assert_eq!(other.reap_orphans(deadline + 1).await.unwrap(), [run_id(1)]);
    assert!(opened.store.reap_orphans(deadline + 2).await.unwrap().is_empty());
    let row = opened.store.run_row(&run_id(1)).await.unwrap();
    assert_eq!((row.status, row.lease), (RunStatus::Interrupted, None));
    assert!(row.status.is_resumable());
    assert!(row.detail.is_some());
}

#[tokio::test]
async fn changes_of_other_processes_are_found_by_token() {
    let opened = Kind::File.open().await;
    let other = Store::open(opened.path()).await.unwrap();
    let start = other.changed_runs_since(u64::MAX).await.unwrap();
    assert!(start.runs.is_empty());
    let first = started(&opened.store, 1).await;
    let _second = started(&opened.store, 2).await;
    let changes = other.changed_runs_since(start.token).await.unwrap();
    assert_eq!(changes.runs, [run_id(1), run_id(2)]);
    assert!(other.changed_runs_since(changes.token).await.unwrap().runs.is_empty());
    first.heartbeat(TTL_MS, None).await.unwrap();
    assert!(other.changed_runs_since(changes.token).await.unwrap().runs.is_empty());
    opened.store.set_totals(&run_id(1), OWNER, &Default::default(), 1).await.unwrap();
    assert_eq!(other.changed_runs_since(changes.token).await.unwrap().runs, [run_id(1)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn processes_that_start_at_once_share_one_schema() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("new/data");
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..6 {
        let path = path.clone();
        tasks.spawn(async move { Store::open(&path).await.map(drop) });
    }
    while let Some(result) = tasks.join_next().await {
        result.unwrap().unwrap();
    }
}

#[cfg(unix)]
#[tokio::test]
async fn only_the_owner_can_read_the_data_directory() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("data");
    let store = Store::open(&path).await.unwrap();
    store.create_run(&new_run(1)).await.unwrap();
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&path), 0o700);
    for entry in std::fs::read_dir(&path).unwrap() {
        let file = entry.unwrap().path();
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
}

#[tokio::test]
async fn a_newer_schema_is_refused_in_words() {
    let opened = Kind::File.open().await;
    opened.store.close().await;
    let file = opened.path().join("skillopt.db");
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(file);
    let pool = sqlx::SqlitePool::connect_with(options).await.unwrap();
    sqlx::query(
        "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
         VALUES (9999, 'later', 1, x'00', 0)",
    )
    .execute(&pool)
    .await
    .unwrap();
    pool.close().await;
    let error = Store::open(opened.path()).await.unwrap_err();
    assert!(matches!(error, OpenError::Newer { version: 9999, .. }), "{error:?}");
    assert!(error.to_string().contains("newer version of skillopt"), "{error}");
}

fn with_workers(config: &Resolved, workers: i64) -> Resolved {
    let mut config = config.clone();
    let row = |row: &&mut ResolvedValue| row.path == "env.workers";
    config.values.iter_mut().find(row).unwrap().value = Value::Int(workers);
    config
}

#[tokio::test]
async fn a_config_is_replaced_by_who_read_it_and_while_nobody_works_on_the_run() {
    let opened = Kind::Memory.open().await;
    let (store, run) = (&opened.store, run_id(1));
    store.create_run(&new_run(1)).await.unwrap();
    let stored = async || store.run_row(&run).await.unwrap().config;
    let first = stored().await;
    let [second, third] = [3, 5].map(|workers| with_workers(&first, workers));
    let audit = AuditRow {
        at_ms: 1000,
        actor: "tester".into(),
        action: "resume".into(),
        subject: run.to_string(),
        detail: String::new(),
    };
    assert!(store.replace_config(&run, (&first, &second), "host:1", &audit).await.unwrap());
    let late = store.replace_config(&run, (&first, &third), "host:1", &audit).await;
    assert!(!late.unwrap(), "it was made from a config that is not there any more");
    assert_eq!(stored().await, second);

    store.acquire_lease(&run, &term("host:2"), 1000).await.unwrap();
    let held = store.replace_config(&run, (&second, &third), "host:1", &audit).await;
    assert!(!held.unwrap(), "another process has it");
    assert!(store.replace_config(&run, (&second, &third), "host:2", &audit).await.unwrap());
    assert_eq!(stored().await, third);
    assert_eq!(
        store.audit_log(10).await.unwrap().iter().filter(|row| row.action == "resume").count(),
        2
    );

    let _live = started(store, 2).await;
    let live = store.run_row(&run_id(2)).await.unwrap().config;
    let other = with_workers(&live, 9);
    let running = store.replace_config(&run_id(2), (&live, &other), OWNER, &audit).await;
    assert!(!running.unwrap(), "it is at work with the one that it has");
}
