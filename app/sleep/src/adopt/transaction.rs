//! The adoption of chosen documents, all or none: what is done in which order, so that a crash at any point leaves
//! either the old or the new documents, entirely.

use super::Places;
use super::again::open_again;
use super::decision::{self, Action, Decision, Decisions};
use super::error::{AdoptError, Refusal};
use super::journal::{Journal, JournalReceipt, JournalTarget, Kind, backup_at, file_id};
use super::live_file::{self, LiveFile, Mode};
use super::locks::{Held, lock_staging, lock_targets};
use super::receipt::{Receipt, Receipts};
use super::recover::{recover_locked, take_back};
use super::select::{Derived, Selection};
use crate::stage::{Manifest, Role, Row, TargetFault, check_file, is_inside, real_path};
use skillopt_domain::hash::Sha256Hex;
use skillopt_domain::night::edit::EditRecord;
use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What a person wants adopted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Adoption {
    /// Which documents.
    pub selection: Selection,
    /// For documents of which only some edits are wanted: what those make. Others are taken as proposed.
    pub derived: Vec<Derived>,
    /// Who decided.
    pub actor: String,
    /// When, in milliseconds since 1970.
    pub at_ms: u64,
}

/// What comes next; a number counts documents from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The decision is noted.
    Intent,
    /// The journal is written.
    Journal,
    /// Missing folders are made.
    Folders,
    /// The bytes from before are kept.
    Backup(usize),
    /// The new bytes are written under a waiting name.
    Stage(usize),
    /// The new bytes become the live document.
    Replace(usize),
    /// The receipts are written.
    Receipt,
    /// The journal is removed: from then on it is adopted.
    Commit,
}

/// Why a watcher stops an adoption.
#[derive(Debug)]
pub enum Stop {
    /// As if the process died: nothing is cleaned up.
    Crash,
    /// As if the operating system refused this step.
    Fails(io::Error),
}

/// Called before each step; stops there when it says so.
pub type Watcher<'a> = &'a dyn Fn(Step) -> Result<(), Stop>;

/// Adopts documents of a staged night. An interrupted adoption of the night is taken back first.
///
/// # Errors
/// [`AdoptError`]; the live documents are as they were then.
pub fn adopt(dir: &Path, adoption: &Adoption, places: &Places) -> Result<Vec<Receipt>, AdoptError> {
    adopt_watched(dir, adoption, places, &|_| Ok(()))
}

/// As [`adopt`], with somebody who can stop it at each step: for tests of what a crash leaves.
///
/// # Errors
/// [`AdoptError`]; [`AdoptError::Interrupted`] after [`Stop::Crash`].
pub fn adopt_watched(
    dir: &Path,
    adoption: &Adoption,
    places: &Places,
    watcher: Watcher<'_>,
) -> Result<Vec<Receipt>, AdoptError> {
    let dir = canonical(dir)?;
    let held = lock_staging(&dir)?;
    recover_locked(&dir, places)?;
    let manifest = Manifest::read(&dir)?;
    let (kind, rows) = adoption.selection.choose(&manifest)?;
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let held = held.and(lock_targets(rows.iter().map(|row| row.live_path.as_path()), places)?);
    let receipts = Receipts::read(&dir, kind)?;
    let plan = plan(&dir, &manifest, &rows, adoption, places, &receipts)?;
    open_again(&dir, rows.iter().map(|row| &row.role), &adoption.actor, adoption.at_ms)?;
    let receipts = Receipts::read(&dir, kind)?;
    let done = Transaction { dir: &dir, kind, plan, receipts, adoption, places, watcher }.run();
    if matches!(done, Err(AdoptError::Interrupted)) {
        Held::die(held);
    }
    done
}

/// The one name of a staging folder.
pub(super) fn canonical(dir: &Path) -> Result<PathBuf, AdoptError> {
    match dir.symlink_metadata() {
        Ok(meta) if meta.is_dir() => dir.canonicalize().map_err(AdoptError::io("look at", dir)),
        Ok(_) => {
            Err(AdoptError::InvalidStaging(format!("{} is no folder of its own", dir.display())))
        }
        Err(_) => Err(AdoptError::NoStaging(dir.to_owned())),
    }
}

/// The document may be written by anybody at all.
pub(super) fn check_place(path: &Path, places: &Places) -> Result<(), AdoptError> {
    if is_inside(path, &places.allowed) {
        Ok(())
    } else {
        Err(Refusal::Outside(path.to_owned()).into())
    }
}

/// One document, with all that was checked about it.
struct Planned<'a> {
    row: &'a Row,
    bytes: Vec<u8>,
    sha: Sha256Hex,
    edits: Vec<EditRecord>,
    live: Option<LiveFile>,
    backup: Option<PathBuf>,
    folders: Vec<PathBuf>,
}

fn plan<'a>(
    dir: &Path,
    manifest: &Manifest,
    rows: &[&'a Row],
    adoption: &Adoption,
    places: &Places,
    receipts: &Receipts,
) -> Result<Vec<Planned<'a>>, AdoptError> {
    for derived in &adoption.derived {
        if !rows.iter().any(|row| row.role == derived.role) {
            return Err(AdoptError::InvalidSelection(format!(
                "{} is not among what is adopted",
                derived.role
            )));
        }
    }
    let decisions = Decisions::read(dir)?;
    let mut planned = Vec::new();
    for row in rows {
        let is_back = decisions.put_back(&row.role).is_some();
        if receipts.of(&row.role).is_some() && !is_back {
            return Err(Refusal::AlreadyAdopted(row.role.clone()).into());
        }
        if decisions.rejection(&row.role).is_some() {
            return Err(Refusal::Rejected(row.role.clone()).into());
        }
        check_place(&row.live_path, places)?;
        if matches!(row.role, Role::Skill(_)) && !is_inside(&row.live_path, &manifest.skill_roots) {
            return Err(Refusal::Outside(row.live_path.clone()).into());
        }
        planned.push(plan_row(dir, row, adoption)?);
    }
    Ok(planned)
}

fn plan_row<'a>(dir: &Path, row: &'a Row, adoption: &Adoption) -> Result<Planned<'a>, AdoptError> {
    let (bytes, edits) = document(dir, row, adoption)?;
    check_target(row)?;
    let live = LiveFile::read(&row.live_path).map_err(AdoptError::io("read", &row.live_path))?;
    expect(row, live.as_ref().map(|live| &live.sha))?;
    Ok(Planned {
        sha: Sha256Hex::of(&bytes),
        backup: live.as_ref().map(|_| backup_at(dir, &row.role, &row.live_path)),
        folders: missing_folders(&row.live_path),
        row,
        bytes,
        edits,
        live,
    })
}

/// The bytes to adopt: the proposal as the night made it, or what was made of some of its edits.
fn document(
    dir: &Path,
    row: &Row,
    adoption: &Adoption,
) -> Result<(Vec<u8>, Vec<EditRecord>), AdoptError> {
    let derived = adoption.derived.iter().find(|derived| derived.role == row.role);
    let (bytes, edits) = match derived {
        Some(derived) => (derived.text.clone().into_bytes(), derived.edits.clone()),
        None => {
            let path = dir.join(&row.proposed_file);
            let changed = || Refusal::ProposalChanged(row.proposed_file.clone());
            check_file(&path).map_err(|_| changed())?;
            let file = LiveFile::read(&path).map_err(AdoptError::io("read", &path))?;
            let file = file.filter(|file| file.sha == row.sha256).ok_or_else(changed)?;
            (file.bytes, Vec::new())
        }
    };
    match std::str::from_utf8(&bytes) {
        Ok(text) if !text.trim().is_empty() => Ok((bytes, edits)),
        Ok(_) => Err(Refusal::Empty(row.role.clone()).into()),
        Err(_) => Err(Refusal::ProposalChanged(row.proposed_file.clone()).into()),
    }
}

fn check_target(row: &Row) -> Result<(), AdoptError> {
    let refused =
        |fault| Refusal::Target { role: row.role.clone(), path: row.live_path.clone(), fault };
    check_file(&row.live_path).map_err(refused)?;
    let real = real_path(&row.live_path).map_err(|err| refused(TargetFault::Unreadable(err)))?;
    if real != row.live_path {
        return Err(refused(TargetFault::Symlink).into());
    }
    let has_folder = row.live_path.parent().is_some_and(Path::is_dir);
    if matches!(row.role, Role::Skill(_)) && !has_folder {
        return Err(refused(TargetFault::NoFolder).into());
    }
    Ok(())
}

fn expect(row: &Row, live: Option<&Sha256Hex>) -> Result<(), AdoptError> {
    if live == row.live_sha256.as_ref() {
        return Ok(());
    }
    let (role, path) = (row.role.clone(), row.live_path.clone());
    Err(Refusal::Changed { role, path, live: live.cloned() }.into())
}

/// Folders of a path that do not exist, outermost first.
fn missing_folders(path: &Path) -> Vec<PathBuf> {
    let missing = path.ancestors().skip(1).take_while(|folder| !folder.exists());
    let mut folders: Vec<PathBuf> = missing.map(Path::to_owned).collect();
    folders.reverse();
    folders
}

struct Transaction<'a> {
    dir: &'a Path,
    kind: Kind,
    plan: Vec<Planned<'a>>,
    receipts: Receipts,
    adoption: &'a Adoption,
    places: &'a Places,
    watcher: Watcher<'a>,
}

impl Transaction<'_> {
    fn run(self) -> Result<Vec<Receipt>, AdoptError> {
        let receipts: Vec<Receipt> = self.plan.iter().map(Planned::receipt).collect();
        let list = self.receipts.with(&receipts)?;
        let receipt =
            JournalReceipt::new(self.receipts.path.clone(), self.receipts.file.as_ref(), &list);
        let targets = self.plan.iter().map(Planned::journaled).collect();
        let mut journal = Journal::new(self.kind, targets, receipt);
        self.reach(Step::Intent)?;
        decision::append(self.dir, self.plan.iter().map(|doc| doc.decision(self.adoption)))?;
        self.reach(Step::Journal)?;
        journal.write(self.dir)?;
        match self.write(&mut journal, &list) {
            Ok(()) => Ok(receipts),
            // As after a crash: whoever comes next takes it back.
            Err(AdoptError::Interrupted) => Err(AdoptError::Interrupted),
            Err(cause) => match take_back(self.dir, &journal, self.places) {
                Ok(_) => Err(cause),
                Err(reason) => Err(AdoptError::NeedsRecovery {
                    cause: cause.to_string(),
                    reason: reason.to_string(),
                }),
            },
        }
    }

    fn write(&self, journal: &mut Journal, list: &[u8]) -> Result<(), AdoptError> {
        self.reach(Step::Folders)?;
        self.make_folders(journal)?;
        for (at, doc) in self.plan.iter().enumerate() {
            self.reach(Step::Backup(at))?;
            doc.back_up()?;
            self.reach(Step::Stage(at))?;
            let (path, staged) = (&doc.row.live_path, doc.staged());
            let mode = Mode::of(doc.live.as_ref());
            live_file::stage(&staged, &doc.bytes, mode)
                .map_err(AdoptError::io("write beside", path))?;
            self.reach(Step::Replace(at))?;
            doc.check_again()?;
            live_file::put_in_place(&staged, path).map_err(AdoptError::io("replace", path))?;
        }
        for doc in &self.plan {
            let path = &doc.row.live_path;
            let sha = live_file::sha_of(path).map_err(AdoptError::io("read", path))?;
            if sha.as_ref() != Some(&doc.sha) {
                let (role, path) = (doc.row.role.clone(), path.clone());
                return Err(Refusal::Changed { role, path, live: sha }.into());
            }
        }
        self.reach(Step::Receipt)?;
        let path = &self.receipts.path;
        let mode = self.receipts.file.as_ref().map_or(Mode::Private, Mode::Like);
        live_file::replace(path, list, mode).map_err(AdoptError::io("write", path))?;
        self.reach(Step::Commit)?;
        Journal::remove(self.dir)
    }

    fn reach(&self, step: Step) -> Result<(), AdoptError> {
        (self.watcher)(step).map_err(|stop| match stop {
            Stop::Crash => AdoptError::Interrupted,
            Stop::Fails(reason) => {
                AdoptError::Failed { action: "write in", path: self.dir.to_owned(), reason }
            }
        })
    }

    /// Makes missing folders and notes which they are, so that only those are removed again.
    fn make_folders(&self, journal: &mut Journal) -> Result<(), AdoptError> {
        if self.plan.iter().all(|doc| doc.folders.is_empty()) {
            return Ok(());
        }
        let mut made = HashSet::new();
        for target in &mut journal.targets {
            for (folder, id) in target.created_dirs.iter().zip(&mut target.created_dir_ids) {
                match fs::create_dir(folder) {
                    Ok(()) => {
                        made.insert(folder.clone());
                    }
                    Err(err) if err.kind() == io::ErrorKind::AlreadyExists => {}
                    Err(err) => return Err(AdoptError::io("make the folder", folder)(err)),
                }
                // One that somebody else made meanwhile is not ours to remove.
                *id = file_id(folder).filter(|_| made.contains(folder));
            }
        }
        journal.write(self.dir)
    }
}

impl Planned<'_> {
    fn staged(&self) -> PathBuf {
        live_file::staged_path(&self.row.live_path, "adopt")
    }

    fn journaled(&self) -> JournalTarget {
        let live = self.live.as_ref();
        JournalTarget::new(
            self.row,
            self.sha.clone(),
            live,
            self.backup.as_deref(),
            self.folders.clone(),
        )
    }

    fn receipt(&self) -> Receipt {
        Receipt {
            role: self.row.role.clone(),
            live_path: self.row.live_path.clone(),
            before: self.row.live_sha256.clone(),
            after: self.sha.clone(),
            backup: self.backup.clone(),
        }
    }

    fn decision(&self, adoption: &Adoption) -> Decision {
        Decision {
            sha256_before: self.row.live_sha256.clone(),
            sha256_after: Some(self.sha.clone()),
            edits: self.edits.clone(),
            ..Decision::new(Action::Adopted, &self.row.role, &adoption.actor, adoption.at_ms)
        }
    }

    /// Keeps the bytes from before under a name that is never written twice.
    fn back_up(&self) -> Result<(), AdoptError> {
        let (Some(live), Some(backup)) = (&self.live, &self.backup) else { return Ok(()) };
        if live_file::sha_of(backup).map_err(AdoptError::io("read", backup))?.as_ref()
            == Some(&live.sha)
        {
            return Ok(());
        }
        let parent = backup.parent().unwrap_or(backup);
        fs::create_dir_all(parent).map_err(AdoptError::io("make the folder", parent))?;
        let staged = live_file::staged_path(backup, "adopt");
        live_file::stage(&staged, &live.bytes, Mode::Private)
            .and_then(|()| live_file::publish_new(&staged, backup))
            .map_err(AdoptError::io("back up to", backup))
    }

    /// Right before the rename: still the bytes, the place and the mode that were seen.
    fn check_again(&self) -> Result<(), AdoptError> {
        check_target(self.row)?;
        let path = &self.row.live_path;
        let live = LiveFile::read(path).map_err(AdoptError::io("read", path))?;
        expect(self.row, live.as_ref().map(|live| &live.sha))?;
        let mode = |live: &Option<LiveFile>| live.as_ref().and_then(LiveFile::mode_bits);
        if mode(&live) == mode(&self.live) {
            return Ok(());
        }
        let (role, sha) = (self.row.role.clone(), live.map(|live| live.sha));
        Err(Refusal::Changed { role, path: path.clone(), live: sha }.into())
    }
}
