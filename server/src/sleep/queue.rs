//! What lists show of the folder of a night: read once, and again after each decision, and kept in the store. Lists only
//! compare the live files of what waits.

use super::beside;
use super::view::{Folder, decision_of, item_of, look_closely};
use crate::host::Hosting;
use serde::{Deserialize, Serialize};
use skillopt_domain::api::{NightDecision, NightItem, ReviewDocument, ReviewItem};
use skillopt_domain::diff::diff;
use skillopt_domain::hash::Sha256Hex;
use skillopt_domain::night::report::SleepReport;
use skillopt_sleep::adopt::{RowState, is_interrupted, live_file::sha_of};
use skillopt_store::{NightRow, ReviewKept, Store, StoreFailure};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Looks into a folder that others decide about at the same time.
const MOST_LOOKS: u32 = 3;

/// What is kept of a folder.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Kept {
    /// Tasks behind the scores.
    n_tasks: Option<u32>,
    /// Why nobody can decide about it as it is; empty when one can.
    refusal: String,
    /// Documents that nobody decided about.
    open: Vec<OpenDocument>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct OpenDocument {
    document: ReviewDocument,
    /// What the night read; `None` when there was no file.
    live: Option<Sha256Hex>,
}

/// Looks into the folder of a night and keeps what lists show of it. When somebody decided meanwhile, it looks again;
/// what is overtaken each time is left to the next look.
///
/// # Errors
/// [`StoreFailure`] when the store cannot be written.
pub(crate) async fn keep(store: &Store, row: &mut NightRow) -> Result<(), StoreFailure> {
    for _ in 0..MOST_LOOKS {
        let looked_at = row.clone();
        let (decision, kept) = beside(move || look(&looked_at)).await;
        let json = serde_json::to_string(&kept).unwrap_or_default();
        let became = store.keep_review(row, decision, &json).await?;
        row.decision = Some(decision);
        row.review_json = json;
        if became != ReviewKept::Overtaken {
            break;
        }
        let Some(now) = store.night(&row.id).await? else { break };
        *row = now;
    }
    Ok(())
}

/// As [`keep`], after a decision about a folder. What is decided is decided: a store that cannot be written is told, and
/// lists are behind until somebody opens the night.
pub(crate) async fn keep_folder(hosting: &Hosting, dir: &Path) {
    let store = hosting.store();
    let real = dir.canonicalize().unwrap_or_else(|_| dir.to_owned());
    let kept = async {
        for mut row in store.nights_of_folder(&real.display().to_string()).await? {
            keep(store, &mut row).await?;
        }
        Ok::<(), StoreFailure>(())
    };
    if let Err(err) = kept.await {
        tracing::warn!("what became of {} cannot be kept for lists: {err}", real.display());
    }
}

/// Blocks.
fn look(row: &NightRow) -> (NightDecision, Kept) {
    match Folder::read(row) {
        Folder::None => (NightDecision::None, Kept::default()),
        Folder::Refused(refusal) => (NightDecision::Stale, Kept { refusal, ..Kept::default() }),
        Folder::Read(dir, reviews) => {
            let is_open =
                |state: &RowState| matches!(state, RowState::Pending | RowState::Stale { .. });
            let decision = match reviews.iter().any(|review| is_open(&review.state)) {
                true => NightDecision::Waiting,
                false => decision_of(&reviews),
            };
            let closer = look_closely(&dir);
            let open = reviews.iter().filter(|review| is_open(&review.state));
            let open = open.map(|review| {
                let proposal = closer.proposal(review);
                let change = diff(&proposal.before, &proposal.after);
                let document = ReviewDocument {
                    key: proposal.key,
                    live_path: proposal.live_path,
                    n_added: change.n_added,
                    n_removed: change.n_removed,
                    n_edits: count(proposal.edits.len()),
                    n_risks: count(proposal.risks.len()),
                };
                OpenDocument { document, live: review.row.live_sha256.clone() }
            });
            let kept = Kept {
                n_tasks: closer.report.as_ref().and_then(n_tasks),
                refusal: String::new(),
                open: open.collect(),
            };
            (decision, kept)
        }
    }
}

fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// Tasks behind the scores of a report: those of the comparison that decided, else those that the live documents were
/// measured on.
fn n_tasks(report: &SleepReport) -> Option<u32> {
    let end = report.gate_trials.iter().rfind(|trial| trial.target == "final");
    let compared = end.map(|trial| trial.n_compared).filter(|n| *n > 0);
    compared.or_else(|| Some(report.n_validated).filter(|n| *n > 0))
}

/// Live files as they are now, each read once.
#[derive(Debug, Default)]
pub(crate) struct LiveFiles(HashMap<PathBuf, Option<Sha256Hex>>);

impl LiveFiles {
    /// The file is what a night read. One that cannot be read is left to the adoption.
    fn is_still(&mut self, path: &Path, sha: Option<&Sha256Hex>) -> bool {
        if let Some(known) = self.0.get(path) {
            return known.as_ref() == sha;
        }
        let Ok(now) = sha_of(path) else { return true };
        let is_same = now.as_ref() == sha;
        self.0.insert(path.to_owned(), now);
        is_same
    }
}

/// A night as lists show it. Blocks, but reads no folder: only live files of a night that waits.
pub(crate) fn seen(row: &NightRow, live: &mut LiveFiles) -> ReviewItem {
    let kept: Kept = serde_json::from_str(&row.review_json).unwrap_or_default();
    let Kept { n_tasks, refusal, open } = kept;
    let stored = row.decision.unwrap_or(NightDecision::None);
    let (decision, why) = match (stored, row.staging.as_deref().map(Path::new)) {
        (NightDecision::Waiting | NightDecision::Stale, Some(dir)) if !dir.is_dir() => {
            (NightDecision::None, String::new())
        }
        (NightDecision::Stale, _) => (NightDecision::Stale, refusal),
        (NightDecision::Waiting, Some(dir)) if is_interrupted(dir) => {
            let why = "an adoption of it was interrupted; the next one takes it back first";
            (NightDecision::Stale, why.to_owned())
        }
        (NightDecision::Waiting, _) => {
            let mut changed = Vec::new();
            for OpenDocument { document, live: sha } in &open {
                if !live.is_still(Path::new(&document.live_path), sha.as_ref()) {
                    changed.push(document.live_path.as_str());
                }
            }
            match changed.len() == open.len() {
                true => (NightDecision::Stale, changed_words(&changed)),
                false => (NightDecision::Waiting, String::new()),
            }
        }
        (decided, _) => (decided, String::new()),
    };
    let is_open = matches!(decision, NightDecision::Waiting | NightDecision::Stale);
    let night: NightItem = item_of(row, decision);
    let documents = open.into_iter().filter(|_| is_open).map(|open| open.document).collect();
    ReviewItem { night, documents, n_tasks, why }
}

fn changed_words(paths: &[&str]) -> String {
    format!(
        "{} changed since the night read {}; run another night on what is there now",
        paths.join(" and "),
        if paths.len() == 1 { "it" } else { "them" }
    )
}
