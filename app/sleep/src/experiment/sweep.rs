//! Many experiments, one row each: what ran is not run again, and what failed is a row as well. Rows are JSON lines;
//! where they lie is passed in.

use super::{Bed, BenchFolder, BenchOptions, Direct, TestScore, run_bench, run_transfer};
use crate::consolidate::NightError;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::fmt::Write as _;
use std::io::{self, BufRead, Write};

/// Which experiments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SweepPlan {
    /// The first folder, learned directly.
    Quick,
    /// Every folder, learned directly.
    Direct,
    /// Every folder, carried from source to target.
    Transfer,
    /// Both.
    Full,
}

impl SweepPlan {
    /// The plan with this word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Some(match word {
            "quick" => Self::Quick,
            "direct" => Self::Direct,
            "transfer" => Self::Transfer,
            "full" => Self::Full,
            _ => return None,
        })
    }
}

/// What one row is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SweepKind {
    /// Learned and used by the same model.
    Direct,
    /// Learned by one and used by another.
    Transfer,
}

/// One row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SweepRow {
    /// Everything that makes the row what it is, in words; the same words are the same experiment.
    pub cfg_key: String,
    /// What it is about.
    pub kind: SweepKind,
    /// The folder.
    pub name: String,
    /// The model, or both.
    pub backend: String,
    /// It is a simulation.
    pub simulated: bool,
    /// Test score before.
    pub before: Option<TestScore>,
    /// Test score after.
    pub after: Option<TestScore>,
    /// Why there is none; empty when there is.
    #[serde(default)]
    pub error: String,
}

/// Why a sweep ended early. Finished rows are written.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    /// Rows cannot be read or written.
    #[error("the rows of the sweep cannot be read or written")]
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
        known.retain(|other| other.cfg_key != row.cfg_key);
        known.push(row);
    }
    Ok(known)
}

/// Runs what is missing of a plan and writes each row when it is there. Rows that failed before are tried again. Gives
/// back all rows of the plan.
///
/// # Errors
/// [`SweepError`]; an experiment that fails alone is a row.
pub async fn run_sweep(
    plan: SweepPlan,
    folders: &[BenchFolder],
    options: &BenchOptions,
    beds: (&Bed, &Bed),
    (known, out): (&[SweepRow], &mut (dyn Write + Send)),
) -> Result<Vec<SweepRow>, SweepError> {
    let is_done = |row: &&SweepRow| row.error.is_empty();
    let done: HashSet<&str> =
        known.iter().filter(is_done).map(|row| row.cfg_key.as_str()).collect();
    let mut rows = Vec::new();
    for (kind, folder) in cells(plan, folders) {
        let key = cfg_key(kind, folder, options, beds);
        if done.contains(key.as_str()) {
            rows.extend(known.iter().filter(|row| row.cfg_key == key).cloned());
            continue;
        }
        let row = run_cell(kind, folder, options, beds, key).await?;
        let line = serde_json::to_string(&row).map_err(io::Error::from)?;
        writeln!(out, "{line}")?;
        out.flush()?;
        rows.push(row);
    }
    Ok(rows)
}

fn cells(plan: SweepPlan, folders: &[BenchFolder]) -> Vec<(SweepKind, &BenchFolder)> {
    let all = |kind| folders.iter().map(move |folder| (kind, folder));
    match plan {
        SweepPlan::Quick => all(SweepKind::Direct).take(1).collect(),
        SweepPlan::Direct => all(SweepKind::Direct).collect(),
        SweepPlan::Transfer => all(SweepKind::Transfer).collect(),
        SweepPlan::Full => all(SweepKind::Direct).chain(all(SweepKind::Transfer)).collect(),
    }
}

fn cfg_key(
    kind: SweepKind,
    folder: &BenchFolder,
    options: &BenchOptions,
    (source, target): (&Bed, &Bed),
) -> String {
    let content = serde_json::json!([folder.skill, folder.tasks]).to_string();
    let content = skillopt_domain::hash::Sha256Hex::of(content);
    let models = match kind {
        SweepKind::Direct => target.backend.label(),
        SweepKind::Transfer => format!("{} -> {}", source.backend.label(), target.backend.label()),
    };
    let kind = match kind {
        SweepKind::Direct => "direct",
        SweepKind::Transfer => "transfer",
    };
    let options = skillopt_domain::hash::Sha256Hex::of(format!("{options:?}"));
    format!("{kind}|{}|{}|{models}|{}", folder.name, content.short(), options.short())
}

async fn run_cell(
    kind: SweepKind,
    folder: &BenchFolder,
    options: &BenchOptions,
    (source, target): (&Bed, &Bed),
    cfg_key: String,
) -> Result<SweepRow, SweepError> {
    let ran = match kind {
        SweepKind::Direct => run_bench(folder, options, target)
            .await
            .map(|report| (report.backend, report.before, report.after)),
        SweepKind::Transfer => {
            run_transfer(folder, options, (source, target), Direct::Skip).await.map(|report| {
                let models = format!("{} -> {}", report.source, report.target);
                (models, report.baseline_target, report.transferred)
            })
        }
    };
    let (backend, before, after, error) = match ran {
        Ok((backend, before, after)) => (backend, before, after, String::new()),
        Err(NightError::Backend(error)) if error.ends_night() => {
            return Err(SweepError::Night(error.into()));
        }
        Err(error) => (target.backend.label(), None, None, error.to_string()),
    };
    let simulated = target.backend.is_simulated() || source.backend.is_simulated();
    let name = folder.name.clone();
    Ok(SweepRow { cfg_key, kind, name, backend, simulated, before, after, error })
}

/// Rows as a Markdown table for people.
#[must_use]
pub fn scorecard(rows: &[SweepRow]) -> String {
    let mut text =
        "| Folder | Kind | Models | Before | After | Change |\n|---|---|---|---|---|---|\n"
            .to_owned();
    for row in rows {
        let kind = match row.kind {
            SweepKind::Direct => "direct",
            SweepKind::Transfer => "transfer",
        };
        let shown = |score: Option<TestScore>| {
            score.map_or("–".to_owned(), |score| format!("{:.4} (n {})", score.score, score.n))
        };
        let change = match row.before.zip(row.after) {
            Some((before, after)) => format!("{:+.4}", after.score - before.score),
            None if row.error.is_empty() => "–".to_owned(),
            None => format!("failed: {}", crate::report::escaped(&row.error)),
        };
        let (name, models) =
            (crate::report::escaped(&row.name), crate::report::escaped(&row.backend));
        let (before, after) = (shown(row.before), shown(row.after));
        let _ = writeln!(text, "| {name} | {kind} | {models} | {before} | {after} | {change} |");
    }
    if rows.iter().any(|row| row.simulated) {
        text.push_str("\nRows of a simulation prove plumbing, nothing about models.\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::{Mock, rule_tag};
    use crate::consolidate::{NightOptions, Silent};
    use crate::evidence::Evidence;
    use crate::task::{ReferenceKind, Split, TaskRecord};
    use skillopt_engine::ctx::RunControl;
    use std::sync::Arc;

    fn bed() -> Bed {
        let (_control, ctx) = RunControl::new();
        let evidence = Arc::new(Evidence::off());
        Bed { backend: Arc::new(Mock), evidence, events: Arc::new(Silent), ctx }
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

    async fn sweep(plan: SweepPlan, known: &[SweepRow]) -> (Vec<SweepRow>, String) {
        let options = BenchOptions { nights: 1, night: NightOptions::default() };
        let (source, target, mut out) = (bed(), bed(), Vec::new());
        let io = (known, &mut out as &mut (dyn Write + Send));
        let rows =
            run_sweep(plan, &folders(), &options, (&source, &target), io).await.expect("rows");
        (rows, String::from_utf8(out).expect("text"))
    }

    #[tokio::test]
    async fn a_sweep_goes_on_where_it_stood_and_tries_again_what_failed() {
        let (rows, written) = sweep(SweepPlan::Full, &[]).await;
        let failed: Vec<_> = rows.iter().map(|row| !row.error.is_empty()).collect();
        assert_eq!(failed, [false, true, false, true]);
        let known = read_rows(format!("{written}not a row\n").as_bytes()).expect("readable");
        assert_eq!(known, rows);
        let (again, written) = sweep(SweepPlan::Full, &known).await;
        assert_eq!((again, written.lines().count()), (rows, 2));
        assert_eq!(sweep(SweepPlan::Quick, &[]).await.0.len(), 1);
    }

    #[tokio::test]
    async fn a_scorecard_shows_changes_and_failures() {
        let text = scorecard(&sweep(SweepPlan::Direct, &[]).await.0);
        assert!(text.contains("| good | direct | mock \\(simulated\\) |"), "{text}");
        assert!(text.contains("(n 1) | +0."), "{text}");
        assert!(text.contains("| bro\\|ken | direct |") && text.contains("failed: "), "{text}");
        assert!(text.ends_with("nothing about models.\n"));
    }

    #[test]
    fn plans_have_words() {
        assert_eq!(SweepPlan::parse("full"), Some(SweepPlan::Full));
        assert_eq!(SweepPlan::parse("huge"), None);
    }
}
