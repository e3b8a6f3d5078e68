//! Imports run folders of the Python system, and our own from another data directory: what a folder says becomes
//! a run of the store, and what it cannot say is named. Never writes into the folder.

mod conversation;
mod edits;
mod epochs;
mod finals;
mod findings;
mod folder;
mod identity;
mod json;
mod pairs;
mod proposal;
mod reader;
mod rollouts;
mod rows;
mod run;
mod settings;
mod spend;
mod step;
#[cfg(test)]
mod tests;
mod verdict;

use crate::host::Hosting;
use folder::Folder;
use run::FolderRun;
use skillopt_domain::event::{EventKind, Measured, StepSummary};
use skillopt_domain::ids::RunId;
use skillopt_domain::import::{Finding, ImportChange, ImportOrigin, ImportReport};
use skillopt_domain::view::RunView;
use skillopt_store::{Imported, ImportedRun, NewRun, Store, StoreFailure};
use std::io;
use std::path::{Path, PathBuf};
use tokio::sync::Semaphore;

/// One folder at a time: each may fill 1 GiB of memory.
static ONE_AT_A_TIME: Semaphore = Semaphore::const_new(1);

const WHY_NOT_RESUMABLE: &str = "an imported run cannot be resumed: the recorded replies and the journal that resume \
     needs are not in its folder, so that it would pay for everything again and could not end the same; a fork can \
     start from any of its versions";

/// Why a folder was not imported. The texts are for people.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// It cannot be opened.
    #[error("cannot open {path}: {source}")]
    Open {
        /// The folder.
        path: PathBuf,
        /// The words of the operating system.
        source: io::Error,
    },
    /// There is no run in it.
    #[error(
        "{} is no run folder: it has no config.json with a setting of a run, no history.json, no step and no \
         skills/skill_v0000.md that can be read (evaluations, with eval_summary.json, are not imported)", .0.display()
    )]
    NoRun(PathBuf),
    /// The store failed.
    #[error("the store failed: {0}")]
    Store(#[from] StoreFailure),
    /// A task of ours died.
    #[error("the import was interrupted")]
    Interrupted,
}

/// Whether an import writes into the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImportMode {
    /// It does.
    Write,
    /// It only says what it would write.
    DryRun,
}

impl Hosting {
    /// Imports a run folder, or brings its run up to date.
    ///
    /// # Errors
    /// [`ImportError`] when there is no run in the folder; nothing was written then. Files that are broken or
    /// missing are no errors: they are named in the report.
    pub async fn import(
        &self,
        path: &Path,
        actor: &str,
        mode: ImportMode,
    ) -> Result<ImportReport, ImportError> {
        let given = path.to_owned();
        let turn = ONE_AT_A_TIME.acquire().await.map_err(|_| ImportError::Interrupted)?;
        // The turn goes with the reading, which goes on when nobody waits for it any more.
        let read = tokio::task::spawn_blocking(move || (read_folder(&given), turn));
        let (read, _turn) = read.await.map_err(|_| ImportError::Interrupted)?;
        let (root, found) = read?;
        let folder = root.display().to_string();
        let store = self.store();
        if let Some(own) = own_run(store, &folder).await? {
            let report = self.report_own(own, folder, found).await?;
            return Ok(ImportReport { is_dry_run: mode == ImportMode::DryRun, ..report });
        }
        let found = found.ok_or_else(|| ImportError::NoRun(root.clone()))?;
        let id = run_id(store, &found).await?;
        self.write(id, folder, found, (actor, mode)).await
    }

    async fn write(
        &self,
        id: RunId,
        folder: String,
        mut found: FolderRun,
        (actor, mode): (&str, ImportMode),
    ) -> Result<ImportReport, ImportError> {
        let now_ms = self.clock().now_ms();
        name_changed_steps(self.store(), &id, &mut found).await?;
        let at_ms = found.ended_at_ms.min(now_ms);
        let mut report = report_of(&id, &folder, &mut found, ImportChange::Unchanged);
        let status =
            EventKind::Status { status: found.status, detail: Some(detail(&folder, &found)) };
        let key = format!("import/{}/{}", found.status, found.n_steps);
        found.reader.emit(key, at_ms, status);
        let mut imported = imported_run(id, folder, found, actor, now_ms);
        imported.origin.findings.clone_from(&report.findings);
        imported.origin.n_findings_more = report.n_findings_more;
        let Imported { is_new, n_new_events } = match mode {
            ImportMode::Write => self.store().import_run(&imported).await?,
            ImportMode::DryRun => would_import(self.store(), &imported).await?,
        };
        report.is_dry_run = mode == ImportMode::DryRun;
        report.change = match (is_new, n_new_events) {
            (true, _) => ImportChange::New,
            (false, 0) => ImportChange::Unchanged,
            (false, _) => ImportChange::Updated,
        };
        Ok(report)
    }

    async fn report_own(
        &self,
        run: RunId,
        folder: String,
        found: Option<FolderRun>,
    ) -> Result<ImportReport, ImportError> {
        let status = self.store().run_row(&run).await?.status;
        let mut found = found.ok_or_else(|| ImportError::NoRun(PathBuf::from(&folder)))?;
        let mut report = report_of(&run, &folder, &mut found, ImportChange::Own);
        report.status = status;
        report.why_not_resumable = String::new();
        Ok(report)
    }
}

/// What the import of a run would change.
async fn would_import(store: &Store, run: &ImportedRun) -> Result<Imported, StoreFailure> {
    let keys: Vec<&str> = run.events.iter().map(|event| event.key.as_str()).collect();
    let n_new_events = store.n_unknown_events(&run.run.id, &keys).await?;
    let is_new = match store.max_seq(&run.run.id).await {
        Ok(seq) => seq == 0,
        Err(StoreFailure::NotFound { .. }) => true,
        Err(err) => return Err(err),
    };
    Ok(Imported { is_new, n_new_events })
}

fn read_folder(path: &Path) -> Result<(PathBuf, Option<FolderRun>), ImportError> {
    let open = Folder::open(path);
    let folder = open.map_err(|source| ImportError::Open { path: path.to_owned(), source })?;
    let root = folder.root().to_owned();
    Ok((root, run::read(folder)))
}

/// The run of this data directory that writes to the folder.
async fn own_run(store: &Store, folder: &str) -> Result<Option<RunId>, StoreFailure> {
    let Some(id) = store.find_run_by_out_root(folder).await? else { return Ok(None) };
    Ok(store.import_origin(&id).await?.is_none().then_some(id))
}

/// A folder that was imported before its first step ended is known by its bare id as long as it tells the same.
async fn run_id(store: &Store, found: &FolderRun) -> Result<RunId, StoreFailure> {
    let bare = &found.identity.bare;
    if *bare == found.identity.full || store.import_origin(bare).await?.is_none() {
        return Ok(found.identity.full.clone());
    }
    let view = store.view(bare).await?;
    let continues = view.n_steps == 0 || changed_steps(&view, found).is_empty();
    Ok(if continues { bare.clone() } else { found.identity.full.clone() })
}

/// Steps that the store knows with another end.
fn changed_steps(view: &RunView, found: &FolderRun) -> Vec<u32> {
    let differs = |now: &StepSummary| {
        let known = view.steps.iter().find(|known| known.step == now.step);
        known.is_some_and(|known| (known.action, &known.candidate) != (now.action, &now.candidate))
    };
    let steps = found.reader.events.iter().filter_map(|event| match &event.kind {
        EventKind::StepFinished(step) => Some(step),
        _ => None,
    });
    steps.filter(|step| differs(step)).map(|step| step.step).collect()
}

async fn name_changed_steps(
    store: &Store,
    id: &RunId,
    found: &mut FolderRun,
) -> Result<(), StoreFailure> {
    if store.import_origin(id).await?.is_none() {
        return Ok(());
    }
    let view = store.view(id).await?;
    for step in changed_steps(&view, found) {
        let message =
            "ends in another way than when it was imported before; what was imported stays";
        found.reader.findings.add(&rows::step_dir(step), "", message);
    }
    for (file, message) in changed_measurements(&view, found) {
        found.reader.findings.add(file, "", message);
    }
    leave_out_passed_guidance(&view, found);
    Ok(())
}

/// Guidance of an epoch that the journal went past without it cannot be told any more: a program that did not know of
/// slow updates gave the number of its version to a later step.
fn leave_out_passed_guidance(view: &RunView, found: &mut FolderRun) {
    let last = view.steps.last().map_or(0, |step| step.step);
    let is_known = |epoch: u32| view.slow_updates.iter().any(|known| known.epoch == epoch);
    let missed = |kind: &EventKind| match kind {
        EventKind::SlowUpdated(one) if one.step <= last && !is_known(one.epoch) => {
            Some((one.epoch, one.step))
        }
        _ => None,
    };
    let events = &mut found.reader.events;
    let missed_all: Vec<(u32, u32)> =
        events.iter().filter_map(|event| missed(&event.kind)).collect();
    // What only came after the last import is told as ever.
    if missed_all.iter().all(|(_, step)| *step == last) {
        return;
    }
    events.retain(|event| missed(&event.kind).is_none());
    for (epoch, step) in missed_all {
        let message = format!(
            "the slow update after step {step} is left out: an earlier import went past it, and its version would \
             have the number of another one; import the folder into a new data directory (--data-dir) to see it"
        );
        found.reader.findings.add(&epochs::slow_dir(epoch), "", message);
    }
}

/// Baseline and sizes of splits that the store knows with other numbers.
fn changed_measurements(view: &RunView, found: &FolderRun) -> Vec<(&'static str, String)> {
    let mut messages = Vec::new();
    let mut compare = |file: &'static str, what: &str, known: u32, now: u32| {
        if known != now {
            let message = format!(
                "{what}: {known} when it was imported before, {now} now; what was imported stays"
            );
            messages.push((file, message));
        }
    };
    let n = |measured: &Measured| measured.score.map_or(0, |mean| mean.n);
    for event in &found.reader.events {
        match &event.kind {
            EventKind::Baseline(now) => {
                if let Some(known) = &view.baseline {
                    compare("selection_eval_baseline", "tasks of the baseline", n(known), n(now));
                }
            }
            EventKind::Planned(now) => {
                if let Some(known) = &view.plan {
                    compare("config.json", "train tasks of the plan", known.n_train, now.n_train);
                    compare(
                        "config.json",
                        "selection tasks of the plan",
                        known.n_selection,
                        now.n_selection,
                    );
                    compare("config.json", "test tasks of the plan", known.n_test, now.n_test);
                }
            }
            _ => {}
        }
    }
    messages
}

fn detail(folder: &str, found: &FolderRun) -> String {
    let head = format!("imported from {folder} ({})", found.system);
    if found.detail.is_empty() { head } else { format!("{head}; {}", found.detail) }
}

fn report_of(
    id: &RunId,
    folder: &str,
    found: &mut FolderRun,
    change: ImportChange,
) -> ImportReport {
    let (findings, n_findings_more): (Vec<Finding>, u64) =
        std::mem::take(&mut found.reader.findings).into_rows();
    let sets = &found.reader.sets;
    let count = |n: usize| u64::try_from(n).unwrap_or(u64::MAX);
    let said = sets.iter().flat_map(|set| &set.conversations).filter(|said| !said.is_empty());
    ImportReport {
        run: id.clone(),
        folder: folder.to_owned(),
        system: found.system.clone(),
        change,
        status: found.status,
        n_steps: found.n_steps,
        n_attempts: count(sets.iter().map(|set| set.set.outcomes.len()).sum()),
        n_conversations: count(said.count()),
        n_skills: u32::try_from(found.reader.skills.len()).unwrap_or(u32::MAX),
        findings,
        n_findings_more,
        why_not_resumable: WHY_NOT_RESUMABLE.to_owned(),
        is_dry_run: false,
    }
}

fn imported_run(
    id: RunId,
    folder: String,
    found: FolderRun,
    actor: &str,
    now_ms: u64,
) -> ImportedRun {
    let reader = found.reader;
    let made_at_ms = Some(reader.settings.at_ms).filter(|at_ms| (1..=now_ms).contains(at_ms));
    let name = Path::new(&folder).file_name().map(|name| name.to_string_lossy().into_owned());
    let mut events = reader.events;
    for event in &mut events {
        if event.at_ms == 0 || event.at_ms > now_ms {
            event.at_ms = now_ms;
        }
    }
    ImportedRun {
        run: NewRun {
            id,
            name: name.unwrap_or_else(|| "imported run".to_owned()),
            config: reader.settings.resolved,
            out_root: folder.clone(),
            actor: actor.to_owned(),
            fresh: None,
            created_at_ms: made_at_ms.unwrap_or(now_ms),
            lease: None,
        },
        origin: ImportOrigin {
            folder,
            system: found.system,
            imported_at_ms: now_ms,
            why_not_resumable: WHY_NOT_RESUMABLE.to_owned(),
            findings: Vec::new(),
            n_findings_more: 0,
        },
        skills: reader.skills.into_values().collect(),
        sets: reader.sets,
        events,
        spend: found.spend,
        active_ms: found.active_ms,
    }
}
