//! Figures for the store, by hand: `cargo run --release -p skillopt-store --example measure`.
#![allow(clippy::print_stdout, reason = "a measuring tool prints its figures")]

use skillopt_domain::api::{CurveQuery, RunQuery};
use skillopt_domain::config::Resolved;
use skillopt_domain::hash::Sha256Hex;
use skillopt_domain::ids::RunId;
use skillopt_domain::spend::{Role, Usage};
use skillopt_engine::ports::{ChatReply, Finish, Ledger, Message, Purpose, RecordedCall};
use skillopt_store::{NewRun, Store};
use std::path::Path;
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

const CALLS: u32 = 20_000;
const AT_ONCE: u32 = 64;
const RUNS: u32 = 10_000;
const STEPS: u32 = 1_000_000;

#[tokio::main]
async fn main() -> Outcome<()> {
    let dir = tempfile::tempdir()?;
    let store = Store::open(dir.path()).await?;
    ledger(&store).await?;
    run_table(&store).await?;
    curves(&store, dir.path()).await
}

async fn ledger(store: &Store) -> Outcome<()> {
    let (start, cpu) = (Instant::now(), cpu_time());
    let mut tasks = JoinSet::new();
    for first in 0..AT_ONCE {
        let store = store.clone();
        tasks.spawn(async move {
            for n in (first..CALLS).step_by(64) {
                store.record(call(n)).await?;
            }
            Ok::<_, skillopt_engine::ports::StoreError>(())
        });
    }
    while let Some(result) = tasks.join_next().await {
        result??;
    }
    report("record", CALLS, start.elapsed(), cpu_time() - cpu);
    let (start, cpu) = (Instant::now(), cpu_time());
    for n in 0..CALLS {
        store.find(&call(n).key).await?;
    }
    report("find, one at a time", CALLS, start.elapsed(), cpu_time() - cpu);
    Ok(())
}

async fn run_table(store: &Store) -> Outcome<()> {
    let start = Instant::now();
    for n in 0..RUNS {
        store.create_run(&new_run(n)?).await?;
    }
    println!("create_run: {:?} each", start.elapsed() / RUNS);
    for (sort, q) in [("-created", None), ("name", None), ("-best", None), ("cost", Some("run 77"))]
    {
        let mut times = Vec::new();
        for _ in 0..50 {
            let query =
                RunQuery { sort: Some(sort.into()), q: q.map(Into::into), ..RunQuery::default() };
            let start = Instant::now();
            store.list_runs(&query).await?;
            times.push(start.elapsed());
        }
        times.sort();
        println!("list_runs {sort} q={q:?}: median {:?}, p95 {:?}", times[25], times[47]);
    }
    Ok(())
}

async fn curves(store: &Store, dir: &Path) -> Outcome<()> {
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(dir.join("skillopt.db"));
    let pool = sqlx::SqlitePool::connect_with(options).await?;
    sqlx::query(
        "INSERT INTO steps (run_no, step, action, candidate_score, current_score, best_score, rollout_hard, \
         rollout_soft, skill_tokens, tokens, error_share, summary_json) \
         WITH RECURSIVE n(step) AS (VALUES (1) UNION ALL SELECT step + 1 FROM n WHERE step < ?) \
         SELECT 1, step, 'reject', abs(random() % 1000) / 1000.0, 0.5, 0.5, abs(random() % 1000) / 1000.0, 0.5, \
         step, 100, 0.0, json_object('step', step, 'epoch', 1, 'action', 'reject', 'n_fixed', 0, 'n_broke', 0, \
         'edit_budget', 1, 'n_applied', 1, 'n_not_applied', 0, 'skill', ?2, 'version', 0, 'skill_tokens', 1, \
         'n_errors', 0, 'n_attempts', 1, 'spend', json(?3), 'stages', json('[]'), 'reason', '') FROM n",
    )
    .bind(STEPS)
    .bind(Sha256Hex::of("skill").as_str())
    .bind(serde_json::to_string(&skillopt_domain::spend::SpendByRole::default())?)
    .execute(&pool)
    .await?;
    pool.close().await;
    for _ in 0..3 {
        let start = Instant::now();
        let curves = store.curves(&run_id(0)?, &CurveQuery::default()).await?;
        println!(
            "curves of {} steps: {} points in {:?}",
            curves.n_steps,
            curves.steps.len(),
            start.elapsed()
        );
    }
    Ok(())
}

fn report(what: &str, n: u32, wall: Duration, cpu: Duration) {
    println!("{what}: {:.0}/s, {:?} CPU each", f64::from(n) / wall.as_secs_f64(), cpu / n);
}

/// User and system time of this process, in steps of 10 ms.
fn cpu_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let ticks: u64 = stat
        .rsplit(')')
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .skip(11)
        .take(2)
        .filter_map(|field| field.parse::<u64>().ok())
        .sum();
    Duration::from_millis(ticks * 10)
}

fn run_id(n: u32) -> Outcome<RunId> {
    Ok(RunId::parse(&format!("0190a0c2-7b1e-7c33-8f00-{n:012x}"))?)
}

fn new_run(n: u32) -> Outcome<NewRun> {
    Ok(NewRun {
        id: run_id(n)?,
        name: format!("run {n}"),
        config: Resolved::default(),
        out_root: format!("out/{n}"),
        actor: "local".into(),
        fresh: None,
        created_at_ms: u64::from(n),
        lease: None,
    })
}

fn call(n: u32) -> RecordedCall {
    let context = format!("Paragraph {n} about something else. ").repeat(60);
    RecordedCall {
        key: Sha256Hex::of(format!("key {n}")),
        role: Role::Target,
        purpose: Purpose::Qa,
        model: "model".into(),
        messages: vec![
            Message::system("You answer questions about a text. ".repeat(50)),
            Message::user(format!("{context}\nQuestion {n}?")),
        ],
        reply: ChatReply {
            text: format!("<answer>{n}</answer>"),
            finish: Finish::Stop,
            usage: Some(Usage::new(500, 10)),
            latency_ms: 1,
            attempts: 1,
            ..ChatReply::default()
        },
    }
}
