//! Sweeps with the simulation.

use super::cell::{Failure, Till};
use super::*;
use crate::backend::{Asker, BackendError, Draw, Mock, Modelled, Reply, SleepRole, rule_tag};
use crate::consolidate::Silent;
use crate::evidence::Evidence;
use crate::experiment::{BenchOptions, SweepPlan, run_bench};
use crate::prompts::Prompts;
use crate::task::{ReferenceKind, Split, TaskRecord};
use skillopt_domain::spend::{Spend, SpendByRole};
use skillopt_engine::ctx::RunControl;
use skillopt_engine::ports::ChatRequest;
use std::sync::{Arc, Mutex};

/// Takes money for answers that never come.
#[derive(Debug, Default)]
struct Greedy {
    n_asked: Mutex<u64>,
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
        Err(BackendError::Fatal { role: SleepRole::Target, message: "gone".to_owned() })
    }
    fn spend(&self) -> SpendByRole {
        let calls = *self.n_asked.lock().expect("not poisoned");
        let target = Spend { calls, prompt_tokens: 10 * calls, ..Spend::default() };
        SpendByRole { target, ..SpendByRole::default() }
    }
}

#[tokio::test]
async fn an_experiment_that_failed_on_the_way_tells_what_it_cost() {
    let evidence = Arc::new(Evidence::off());
    let asker: Arc<dyn Asker> = Arc::new(Greedy::default());
    let backend = Modelled::new(asker, Prompts::default(), Arc::clone(&evidence));
    let (_control, ctx) = RunControl::new();
    let bed = Bed { backend: Arc::new(backend), evidence, events: Arc::new(Silent), ctx };
    let till = Till::open(&[&bed]);
    let options = BenchOptions { nights: 1, night: NightOptions::default() };
    let error = run_bench(&folders()[0], &options, &bed).await.expect_err("nobody answers");
    let Failure::Night(_, spend) = till.failure(error) else { panic!("a night") };
    assert!(spend.calls > 0 && spend.tokens() == 10 * spend.calls, "{spend:?}");
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
