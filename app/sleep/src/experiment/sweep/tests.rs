//! Sweeps with the simulation.

use super::*;
use crate::backend::{Asker, BackendError, Draw, Mock, Modelled, Reply, SleepRole, rule_tag};
use crate::consolidate::Silent;
use crate::evidence::Evidence;
use crate::experiment::SweepPlan;
use crate::prompts::Prompts;
use crate::task::{ReferenceKind, Split, TaskRecord};
use skillopt_domain::spend::{Spend, SpendByRole};
use skillopt_engine::ctx::RunControl;
use skillopt_engine::meter::{Cap, CapReached};
use skillopt_engine::ports::ChatRequest;
use std::sync::{Arc, Mutex};

/// Takes money for answers that never come.
#[derive(Debug)]
struct Greedy {
    n_asked: Mutex<u64>,
    error: BackendError,
}

#[async_trait]
impl Asker for Greedy {
    fn name(&self, _: SleepRole) -> String {
        "greedy".to_owned()
    }
    fn is_simulated(&self) -> bool {
        false
    }
    async fn ask(&self, _: SleepRole, _: &ChatRequest, _: Draw) -> Result<Reply, BackendError> {
        *self.n_asked.lock().expect("not poisoned") += 1;
        Err(self.error.clone())
    }
    fn spend(&self) -> SpendByRole {
        let calls = *self.n_asked.lock().expect("not poisoned");
        let (prompt_tokens, cost_usd_micros) = (10 * calls, 3 * calls);
        let target = Spend { calls, prompt_tokens, cost_usd_micros, ..Spend::default() };
        SpendByRole { target, ..SpendByRole::default() }
    }
}

/// Has nobody but the greedy one.
struct Shop {
    asker: Arc<Greedy>,
    kept: Mutex<String>,
}

#[async_trait]
impl SweepHost for Shop {
    async fn bed(&self, _: &Who) -> Result<Bed, String> {
        let evidence = Arc::new(Evidence::off());
        let asker: Arc<dyn Asker> = Arc::clone(&self.asker) as _;
        let backend = Modelled::new(asker, Prompts::default(), Arc::clone(&evidence));
        let (_control, ctx) = RunControl::new();
        Ok(Bed { backend: Arc::new(backend), evidence, events: Arc::new(Silent), ctx })
    }
    async fn identity(&self, _: &Who) -> String {
        String::new()
    }
    fn keep(&self, rows: &[SweepRow]) -> io::Result<()> {
        *self.kept.lock().expect("not poisoned") = write_rows(rows);
        Ok(())
    }
    fn tell(&self, _: SweepStep<'_>) {}
}

/// Two experiments that the greedy one spoils.
async fn spoiled(
    error: BackendError,
    known: Vec<SweepRow>,
) -> (Result<Vec<SweepRow>, SweepError>, Vec<SweepRow>) {
    let cells = "\
bench: b
cells:
  - {kind: direct, backend: mock, seed: good, nights: 1}
  - {kind: direct, backend: mock, seed: good, nights: 2}
";
    let shop = Shop {
        asker: Arc::new(Greedy { n_asked: Mutex::default(), error }),
        kept: Mutex::default(),
    };
    let (plan, folders, night) =
        (SweepPlan::parse(cells).expect("a plan"), folders(), NightOptions::default());
    let order = SweepOrder { cells: &plan.cells, folders: &folders, night: &night, settings: "" };
    let rows = run_sweep(&order, known, &shop).await;
    let kept = shop.kept.lock().expect("not poisoned").clone();
    (rows, read_rows(kept.as_bytes()).expect("readable"))
}

fn capped() -> BackendError {
    let reached = CapReached { cap: Cap::Tokens, limit: 1000, spent: 900, next_call: 200 };
    BackendError::Budget(reached)
}

fn gone() -> BackendError {
    BackendError::Fatal { role: SleepRole::Target, message: "gone".to_owned() }
}

#[tokio::test]
async fn an_experiment_that_failed_on_the_way_tells_what_it_cost() {
    let (rows, kept) = spoiled(gone(), Vec::new()).await;
    let rows = rows.expect("rows");
    assert_eq!((rows.len(), &rows), (2, &kept));
    for row in &rows {
        assert_eq!((row.status, row.is_done()), (RowStatus::Failed, false), "{row:?}");
        assert!(row.calls > 0 && row.tokens == 10 * row.calls, "{row:?}");
    }
}

#[tokio::test]
async fn what_a_cap_stopped_is_a_row_with_its_cost_and_another_try_adds_to_it() {
    let (ended, kept) = spoiled(capped(), Vec::new()).await;
    let Err(SweepError::Night { error, rows }) = ended else { panic!("a cap ends it") };
    assert!(matches!(error, NightError::Backend(BackendError::Budget(_))), "{error}");
    assert_eq!((rows.len(), &rows), (1, &kept), "the second experiment did not begin");
    let stopped = &rows[0];
    assert_eq!((stopped.status, stopped.is_done()), (RowStatus::Stopped, false));
    assert!(stopped.calls > 0 && stopped.tokens == 10 * stopped.calls, "{stopped:?}");
    assert_eq!(stopped.cost_usd_micros, Some(3 * stopped.calls));
    let card = scorecard(&rows);
    assert!(card.contains("| stopped: a budget of the night is used up"), "{card}");
    let calls = stopped.calls;
    let total = format!("All rows together: {calls} calls, $0.{:06}.\n", 3 * calls);
    assert!(card.contains(&total), "{card}");

    let (rows, _) = spoiled(gone(), kept).await;
    let rows = rows.expect("rows");
    let again = &rows[0];
    assert_eq!(again.status, RowStatus::Failed);
    assert_eq!((again.calls, again.tokens), (2 * calls, 20 * calls));
    assert_eq!(again.cost_usd_micros, Some(6 * calls));
}

#[tokio::test]
async fn rows_behind_the_one_that_a_cap_stopped_stay_in_the_table_as_they_were() {
    let (_, failed) = spoiled(gone(), Vec::new()).await;
    let (ended, kept) = spoiled(capped(), failed.clone()).await;
    let Err(SweepError::Night { rows, .. }) = ended else { panic!("a cap ends it") };
    assert_eq!(rows, kept);
    assert_eq!((rows[0].status, &rows[1]), (RowStatus::Stopped, &failed[1]));
}

#[test]
fn a_row_that_has_an_error_and_no_status_has_failed() {
    let line = r#"{"cfg_key": "k", "kind": "direct", "seed": "s", "backend": "b", "simulated": false, "nights": 1,
        "before": null, "after": null, "error": "gone"}"#;
    let line = line.replace('\n', " ");
    let rows = read_rows(line.as_bytes()).expect("readable");
    assert_eq!(rows[0].status, RowStatus::Failed);
}

/// The simulation for everybody but one backend, which is not there.
#[derive(Debug, Default)]
struct Desk {
    kept: Mutex<String>,
    told: Mutex<Vec<&'static str>>,
    identity: &'static str,
}

#[async_trait]
impl SweepHost for Desk {
    async fn bed(&self, who: &Who) -> Result<Bed, String> {
        if !who.is_simulated() {
            return Err("there is no key".to_owned());
        }
        let (_control, ctx) = RunControl::new();
        let evidence = Arc::new(Evidence::off());
        Ok(Bed { backend: Arc::new(Mock), evidence, events: Arc::new(Silent), ctx })
    }
    async fn identity(&self, _: &Who) -> String {
        self.identity.to_owned()
    }
    fn keep(&self, rows: &[SweepRow]) -> io::Result<()> {
        *self.kept.lock().expect("not poisoned") = write_rows(rows);
        Ok(())
    }
    fn tell(&self, step: SweepStep<'_>) {
        let word = match step {
            SweepStep::Known(_) => "known",
            SweepStep::Begins(..) => "begins",
            SweepStep::Ended(row) if row.is_done() => "done",
            SweepStep::Ended(_) => "failed",
        };
        self.told.lock().expect("not poisoned").push(word);
    }
}

fn folders() -> Vec<BenchFolder> {
    let task = |id: &str, split| TaskRecord {
        id: id.into(),
        reference_kind: ReferenceKind::Exact,
        reference: "one long reference".into(),
        tags: vec![rule_tag("json-only")],
        split,
        ..TaskRecord::default()
    };
    let tasks = vec![task("a", Split::Train), task("b", Split::Val), task("c", Split::Test)];
    let good = BenchFolder { name: "good".into(), skill: "# G\n".into(), tasks };
    let broken = BenchFolder {
        name: "bro|ken".into(),
        skill: crate::block::START.into(),
        tasks: good.tasks.clone(),
    };
    vec![good, broken]
}

const CELLS: &str = "\
bench: b
nights: 1
cells:
  - {kind: direct, backend: mock}
  - {kind: transfer, source_backend: mock, target_backend: mock, seed: good}
  - {kind: direct, backend: claude, seed: good}
";

async fn sweep(known: Vec<SweepRow>, settings: &str) -> (Vec<SweepRow>, Desk) {
    sweep_at(Desk::default(), known, settings).await
}

async fn sweep_at(desk: Desk, known: Vec<SweepRow>, settings: &str) -> (Vec<SweepRow>, Desk) {
    let (plan, folders, night) =
        (SweepPlan::parse(CELLS).expect("a plan"), folders(), NightOptions::default());
    let order = SweepOrder { cells: &plan.cells, folders: &folders, night: &night, settings };
    assert_eq!(n_experiments(&order), 4);
    let rows = run_sweep(&order, known, &desk).await.expect("rows");
    (rows, desk)
}

#[tokio::test]
async fn a_sweep_goes_on_where_it_stood_and_tries_again_what_failed() {
    let (rows, desk) = sweep(Vec::new(), "").await;
    let failed: Vec<_> = rows.iter().map(|row| !row.is_done()).collect();
    assert_eq!(failed, [false, true, false, true]);
    assert_eq!(rows[3].error, "there is no key");
    let kept = desk.kept.lock().expect("not poisoned").clone();
    let known = read_rows(format!("{kept}{{\"cfg_key\": \"torn").as_bytes()).expect("readable");
    assert_eq!(known, rows);
    let (again, desk) = sweep(known, "").await;
    assert_eq!(again, rows);
    let told = desk.told.lock().expect("not poisoned").clone();
    assert_eq!(told, ["known", "begins", "failed", "known", "begins", "failed"]);
    let kept = desk.kept.lock().expect("not poisoned").clone();
    assert_eq!(kept.lines().count(), 4, "a row that failed again stands once");
}

#[tokio::test]
async fn other_settings_are_other_experiments() {
    let (rows, _) = sweep(Vec::new(), "").await;
    let (others, desk) = sweep(rows.clone(), "temperature 1").await;
    assert!(others.iter().all(|row| rows.iter().all(|known| known.cfg_key != row.cfg_key)));
    let kept = desk.kept.lock().expect("not poisoned").clone();
    assert_eq!(kept.lines().count(), 8, "rows of before stay");
}

#[tokio::test]
async fn other_models_behind_the_same_names_are_other_experiments() {
    let (rows, _) = sweep(Vec::new(), "").await;
    let desk = Desk { identity: "another judge", ..Desk::default() };
    let (others, _) = sweep_at(desk, rows.clone(), "").await;
    assert!(others.iter().all(|row| rows.iter().all(|known| known.cfg_key != row.cfg_key)));
}

#[tokio::test]
async fn a_scorecard_shows_changes_and_failures() {
    let text = scorecard(&sweep(Vec::new(), "").await.0);
    assert!(text.contains("| good | direct | mock \\(simulated\\) | 1 |"), "{text}");
    assert!(text.contains("(n 1) | +0."), "{text}");
    assert!(text.contains("| bro\\|ken | direct |") && text.contains("failed: "), "{text}");
    assert!(text.ends_with("nothing about models.\n"));
}
