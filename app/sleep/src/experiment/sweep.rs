//! Many experiments, one row each: what ran is not run again, and what failed is a row as well. Where rows lie, and how
//! models are put together, is the host's.

use super::plan::{Cell, SweepKind, Who};
use super::{Bed, BenchFolder, BenchOptions, Direct, TestScore, run_bench, run_transfer};
use crate::backend::BackendError;
use crate::consolidate::{NightError, NightOptions};
use crate::redact::redact;
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use skillopt_domain::hash::Sha256Hex;
use skillopt_domain::spend::{Spend, SpendByRole};
use std::fmt::Write as _;
use std::io::{self, BufRead};

/// One row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SweepRow {
    /// Everything that makes the row what it is, in words; the same words are the same experiment.
    pub cfg_key: String,
    /// What it is about.
    pub kind: SweepKind,
    /// The benchmark.
    pub seed: String,
    /// The model, or both.
    pub backend: String,
    /// It is a simulation.
    pub simulated: bool,
    /// Nights.
    pub nights: u32,
    /// Test score before.
    pub before: Option<TestScore>,
    /// Test score after.
    pub after: Option<TestScore>,
    /// Answered calls that were paid for.
    #[serde(default)]
    pub calls: u64,
    /// Tokens, where reported.
    #[serde(default)]
    pub tokens: u64,
    /// Calls whose tokens nobody reported.
    #[serde(default)]
    pub unmetered_calls: u64,
    /// Millionths of a dollar; `None` while any call has no known price.
    #[serde(default)]
    pub cost_usd_micros: Option<u64>,
    /// The final skill.
    #[serde(default)]
    pub skill: String,
    /// Why there is no score; empty when the experiment came to its end.
    #[serde(default)]
    pub error: String,
}

impl SweepRow {
    /// It came to its end.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.error.is_empty()
    }
}

/// What a sweep is about.
#[derive(Clone, Copy, Debug)]
pub struct SweepOrder<'a> {
    /// The experiments.
    pub cells: &'a [Cell],
    /// The benchmarks.
    pub folders: &'a [BenchFolder],
    /// How each night goes.
    pub night: &'a NightOptions,
    /// What else shapes answers, such as a temperature: other settings are other experiments.
    pub settings: &'a str,
}

/// What happens in a sweep.
#[derive(Clone, Copy, Debug)]
pub enum SweepStep<'a> {
    /// This row is there already.
    Known(&'a SweepRow),
    /// An experiment begins: its benchmark, kind and models.
    Begins(&'a str, SweepKind, &'a str),
    /// It came to its end, whichever.
    Ended(&'a SweepRow),
}

/// What a sweep needs from where it runs.
#[async_trait]
pub trait SweepHost: Send + Sync {
    /// Puts models together. Makes no call.
    ///
    /// # Errors
    /// Why they cannot be.
    async fn bed(&self, who: &Who) -> Result<Bed, String>;

    /// Which models these are, to the last setting that shapes their answers, the judge among them. Makes no call.
    async fn identity(&self, who: &Who) -> String;

    /// Keeps all rows in one step, those of before among them.
    ///
    /// # Errors
    /// What the operating system says.
    fn keep(&self, rows: &[SweepRow]) -> io::Result<()>;

    /// Hears how far it is.
    fn tell(&self, step: SweepStep<'_>);
}

/// Why a sweep ended early. Finished rows are kept.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    /// Rows cannot be kept.
    #[error("the rows of the sweep cannot be kept: {0}")]
    Rows(#[from] io::Error),
    /// No further experiment can run.
    #[error(transparent)]
    Night(NightError),
}

/// Rows of an earlier sweep; lines that are none are passed over, and of rows with the same key the last one counts.
///
/// # Errors
/// When the rows cannot be read at all.
pub fn read_rows(rows: impl BufRead) -> io::Result<Vec<SweepRow>> {
    let mut known: Vec<SweepRow> = Vec::new();
    for line in rows.split(b'\n') {
        let Ok(row) = serde_json::from_slice::<SweepRow>(&line?) else { continue };
        put(&mut known, row);
    }
    Ok(known)
}

/// Rows as the lines that [`read_rows`] reads.
#[must_use]
pub fn write_rows(rows: &[SweepRow]) -> String {
    let lines = rows.iter().filter_map(|row| serde_json::to_string(row).ok());
    lines.map(|line| format!("{line}\n")).collect()
}

fn put(rows: &mut Vec<SweepRow>, row: SweepRow) {
    match rows.iter_mut().find(|other| other.cfg_key == row.cfg_key) {
        Some(other) => *other = row,
        None => rows.push(row),
    }
}

/// Runs what is missing of a plan and keeps each row when it is there. Rows that failed before are tried again. Gives
/// back all rows of the plan.
///
/// # Errors
/// [`SweepError`]; an experiment that fails alone is a row.
pub async fn run_sweep(
    order: &SweepOrder<'_>,
    mut known: Vec<SweepRow>,
    host: &dyn SweepHost,
) -> Result<Vec<SweepRow>, SweepError> {
    let mut rows: Vec<SweepRow> = Vec::new();
    for (cell, folder) in experiments(order) {
        let key = cfg_key((cell, &identities(cell, host).await), folder, order);
        if rows.iter().any(|row| row.cfg_key == key) {
            // A plan may say the same twice.
            continue;
        }
        if let Some(row) = known.iter().find(|row| row.cfg_key == key && row.is_done()) {
            host.tell(SweepStep::Known(row));
            rows.push(row.clone());
            continue;
        }
        host.tell(SweepStep::Begins(&folder.name, cell.kind, &cell.models()));
        let row = run_cell(cell, folder, order.night, host).await?;
        let row = SweepRow { cfg_key: key, ..row };
        put(&mut known, row.clone());
        host.keep(&known)?;
        host.tell(SweepStep::Ended(&row));
        rows.push(row);
    }
    Ok(rows)
}

/// Each cell with each of its benchmarks, in the order of the plan.
fn experiments<'a>(order: &SweepOrder<'a>) -> Vec<(&'a Cell, &'a BenchFolder)> {
    let of = |cell: &'a Cell| {
        let is_wanted =
            move |folder: &&BenchFolder| cell.seed.as_ref().is_none_or(|seed| *seed == folder.name);
        order.folders.iter().filter(is_wanted).map(move |folder| (cell, folder))
    };
    order.cells.iter().flat_map(of).collect()
}

/// Number of experiments of a plan.
#[must_use]
pub fn n_experiments(order: &SweepOrder<'_>) -> usize {
    experiments(order).len()
}

/// Which models a cell asks.
async fn identities(cell: &Cell, host: &dyn SweepHost) -> String {
    let learner = host.identity(&cell.learner).await;
    match &cell.user {
        Some(user) => format!("{learner}|{}", host.identity(user).await),
        None => learner,
    }
}

fn cfg_key(
    (cell, identities): (&Cell, &str),
    folder: &BenchFolder,
    order: &SweepOrder<'_>,
) -> String {
    let content = Sha256Hex::of(serde_json::json!([folder.skill, folder.tasks]).to_string());
    // How many attempts are made at the same time changes no result.
    let night = NightOptions { workers: 1, ..order.night.clone() };
    let options = Sha256Hex::of(format!("{night:?}|{}|{identities}", order.settings));
    let (kind, nights, models) = (cell.kind.as_str(), cell.nights, cell.models());
    let (content, options) = (content.short(), options.short());
    format!("{kind}|{}|{nights} nights|{models}|{content}|{options}", folder.name)
}

/// What an experiment came to.
struct Came {
    backend: String,
    simulated: bool,
    before: Option<TestScore>,
    after: Option<TestScore>,
    spend: SpendByRole,
    skill: String,
}

async fn run_cell(
    cell: &Cell,
    folder: &BenchFolder,
    night: &NightOptions,
    host: &dyn SweepHost,
) -> Result<SweepRow, SweepError> {
    let row = SweepRow {
        cfg_key: String::new(),
        kind: cell.kind,
        seed: folder.name.clone(),
        backend: cell.models(),
        simulated: [Some(&cell.learner), cell.user.as_ref()]
            .into_iter()
            .flatten()
            .any(Who::is_simulated),
        nights: cell.nights,
        before: None,
        after: None,
        calls: 0,
        tokens: 0,
        unmetered_calls: 0,
        cost_usd_micros: None,
        skill: String::new(),
        error: String::new(),
    };
    let options = BenchOptions { nights: cell.nights, night: night.clone() };
    match come_to(cell, folder, &options, host).await {
        Ok(came) => {
            let spend = came.spend.total();
            Ok(SweepRow {
                backend: came.backend,
                simulated: came.simulated,
                before: came.before,
                after: came.after,
                calls: spend.calls,
                tokens: spend.tokens(),
                unmetered_calls: spend.unmetered_calls,
                cost_usd_micros: spend.known_cost_usd_micros(),
                skill: came.skill,
                ..row
            })
        }
        Err(Failure::Night(NightError::Backend(error), _)) if ends_sweep(&error) => {
            Err(SweepError::Night(error.into()))
        }
        // A provider may have quoted what it was sent.
        Err(failure) => {
            let row = SweepRow { error: redact(&failure.to_string()).text, ..row };
            let Failure::Night(_, spend) = failure else { return Ok(row) };
            Ok(SweepRow {
                calls: spend.calls,
                tokens: spend.tokens(),
                unmetered_calls: spend.unmetered_calls,
                cost_usd_micros: spend.known_cost_usd_micros(),
                ..row
            })
        }
    }
}

#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("{0}")]
    Bed(String),
    /// It failed on the way, after this was spent.
    #[error("{0}")]
    Night(NightError, Box<Spend>),
}

/// What beds spend from here on.
struct Till<'a> {
    beds: Vec<(&'a Bed, SpendByRole)>,
}

impl<'a> Till<'a> {
    fn open(beds: &[&'a Bed]) -> Self {
        Self { beds: beds.iter().map(|bed| (*bed, bed.backend.spend())).collect() }
    }

    fn failure(&self, error: NightError) -> Failure {
        // One meter tells both the same; a simulation beside it tells nothing.
        let spent = self.beds.iter().map(|(bed, before)| bed.backend.spend().since(before));
        let spent = spent.fold(SpendByRole::default(), SpendByRole::at_least);
        Failure::Night(error, Box::new(spent.total()))
    }
}

async fn come_to(
    cell: &Cell,
    folder: &BenchFolder,
    options: &BenchOptions,
    host: &dyn SweepHost,
) -> Result<Came, Failure> {
    let learner = host.bed(&cell.learner).await.map_err(Failure::Bed)?;
    let Some(user) = &cell.user else {
        let till = Till::open(&[&learner]);
        let report =
            run_bench(folder, options, &learner).await.map_err(|error| till.failure(error))?;
        return Ok(Came {
            backend: report.backend,
            simulated: report.simulated,
            before: report.before,
            after: report.after,
            spend: report.spend,
            skill: report.skill,
        });
    };
    let user = host.bed(user).await.map_err(Failure::Bed)?;
    let till = Till::open(&[&learner, &user]);
    let report = run_transfer(folder, options, (&learner, &user), Direct::Skip)
        .await
        .map_err(|error| till.failure(error))?;
    Ok(Came {
        backend: format!("{} to {}", report.source, report.target),
        simulated: report.simulated,
        before: report.baseline_target,
        after: report.transferred,
        spend: report.spend,
        skill: report.skill,
    })
}

/// No further experiment can run either. A model that cannot be called is the matter of its own cells.
fn ends_sweep(error: &BackendError) -> bool {
    match error {
        BackendError::Cancelled
        | BackendError::Budget(_)
        | BackendError::Pending
        | BackendError::Ledger(_) => true,
        BackendError::Fatal { .. }
        | BackendError::Failed { .. }
        | BackendError::Unusable(_)
        | BackendError::Unsupported(_) => false,
    }
}

/// Rows as a Markdown table for people.
#[must_use]
pub fn scorecard(rows: &[SweepRow]) -> String {
    let mut text =
        "| Benchmark | Kind | Models | Nights | Before | After | Change |\n|---|---|---|---|---|---|---|\n"
            .to_owned();
    for row in rows {
        let shown = |score: Option<TestScore>| {
            score.map_or("–".to_owned(), |score| format!("{:.4} (n {})", score.score, score.n))
        };
        let change = match row.before.zip(row.after) {
            Some((before, after)) => format!("{:+.4}", after.score - before.score),
            None if row.is_done() => "–".to_owned(),
            None => format!("failed: {}", crate::report::escaped(&row.error)),
        };
        let (name, models) =
            (crate::report::escaped(&row.seed), crate::report::escaped(&row.backend));
        let (kind, before, after) = (row.kind.as_str(), shown(row.before), shown(row.after));
        let nights = row.nights;
        let _ = writeln!(
            text,
            "| {name} | {kind} | {models} | {nights} | {before} | {after} | {change} |"
        );
    }
    if rows.iter().any(|row| row.simulated) {
        text.push_str("\nRows of a simulation prove plumbing, nothing about models.\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::{Asker, Draw, Mock, Modelled, Reply, SleepRole, rule_tag};
    use crate::consolidate::Silent;
    use crate::evidence::Evidence;
    use crate::experiment::SweepPlan;
    use crate::prompts::Prompts;
    use crate::task::{ReferenceKind, Split, TaskRecord};
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
}
