//! Writing a proposal into the reserved folder. The manifest comes last: a folder without it is no proposal.

use super::diff_file::unified;
use super::manifest::{ManagedPaths, Manifest, Row};
use super::reserve::{Reserved, staging_root};
use super::target::{Pinned, Role};
use crate::adopt::live_file::{self, Mode};
use serde_json::Value;
use skillopt_domain::night::report::SleepReport;
use std::io;
use std::path::{Path, PathBuf};

/// A document with the text that the night proposes for it.
#[derive(Clone, Debug)]
pub struct ProposedDoc {
    /// The document as the night read it.
    pub pinned: Pinned,
    /// The proposed text.
    pub text: String,
}

/// Everything that a night lays aside.
#[derive(Debug)]
pub struct Proposal<'a> {
    /// The report.
    pub report: &'a SleepReport,
    /// The report for people, as Markdown.
    pub report_md: String,
    /// What helps to find out why; goes through `redact`.
    pub diagnostics: Value,
    /// The proposals; unchanged and empty ones are left out.
    pub docs: Vec<ProposedDoc>,
    /// Folders below which skills of their own lie.
    pub skill_roots: Vec<PathBuf>,
    /// The managed skill's place, whether anything is proposed for it or not.
    pub live_skill_path: PathBuf,
    /// The memory's place, whether anything is proposed for it or not.
    pub live_memory_path: PathBuf,
}

/// A night that can be reviewed.
#[derive(Clone, Debug, PartialEq)]
pub struct Published {
    /// The staging folder.
    pub dir: PathBuf,
    /// What is proposed in it.
    pub manifest: Manifest,
}

/// Why nothing was published. The reserved folder has no manifest then.
#[derive(Debug, thiserror::Error)]
pub enum PublishError {
    /// A live document is not what the night read.
    #[error("{role} at {} changed while the night ran; nothing is proposed", .path.display())]
    Changed {
        /// What it is.
        role: Role,
        /// Where it is.
        path: PathBuf,
    },
    /// Two proposals for one file.
    #[error("two proposals have one place: {0}")]
    Collision(String),
    /// The file system refused.
    #[error("cannot write {}: {reason}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The words of the operating system.
        reason: io::Error,
    },
}

/// Publishes a night. `redact` takes secrets out of the diagnostics.
///
/// # Errors
/// [`PublishError`]; what was written is removed again, evidence stays.
pub fn publish(
    reserved: &Reserved,
    proposal: &Proposal<'_>,
    redact: &dyn Fn(&Value) -> Value,
) -> Result<Published, PublishError> {
    let docs: Vec<&ProposedDoc> = proposal.docs.iter().filter(|doc| says_something(doc)).collect();
    for doc in &docs {
        check_unchanged(&doc.pinned)?;
    }
    let manifest = Manifest {
        accepted: proposal.report.accepted,
        rows: docs.iter().map(|doc| Row::of(&doc.pinned, &doc.text)).collect(),
        skill_roots: proposal.skill_roots.clone(),
    };
    let mut files = Files { dir: reserved.dir(), written: Vec::new() };
    let done = write_all(&mut files, proposal, &docs, &manifest, redact);
    if let Err(err) = done {
        files.take_back();
        return Err(err);
    }
    // A pointer only: a night without it is found by its manifest.
    let _ = point_to(reserved);
    Ok(Published { dir: reserved.dir().to_owned(), manifest })
}

fn says_something(doc: &ProposedDoc) -> bool {
    !doc.text.trim().is_empty() && doc.text != doc.pinned.text
}

fn check_unchanged(pinned: &Pinned) -> Result<(), PublishError> {
    let now = live_file::sha_of(&pinned.path)
        .map_err(|reason| PublishError::Io { path: pinned.path.clone(), reason })?;
    let real = super::names::real_path(&pinned.path).ok();
    if now == pinned.sha && real.as_ref() == Some(&pinned.path) {
        return Ok(());
    }
    Err(PublishError::Changed { role: pinned.role.clone(), path: pinned.path.clone() })
}

fn write_all(
    files: &mut Files<'_>,
    proposal: &Proposal<'_>,
    docs: &[&ProposedDoc],
    manifest: &Manifest,
    redact: &dyn Fn(&Value) -> Value,
) -> Result<(), PublishError> {
    let managed = ManagedPaths {
        skill: proposal.live_skill_path.clone(),
        memory: proposal.live_memory_path.clone(),
    };
    let json = |value: Result<Vec<u8>, serde_json::Error>| {
        value.map_err(|err| PublishError::Collision(err.to_string()))
    };
    let collision = |err: super::ManifestError| PublishError::Collision(err.to_string());
    manifest.check().map_err(collision)?;
    let manifest_bytes = json(manifest.to_bytes(&managed))?;
    // What cannot be read back is not published.
    Manifest::parse(&manifest_bytes).map_err(collision)?;
    for (doc, row) in docs.iter().zip(&manifest.rows) {
        files.write(&row.proposed_file, doc.text.as_bytes())?;
        if doc.pinned.sha.is_some() {
            // For those who look at it when the live document has changed since.
            files.write(&row.baseline_file(), doc.pinned.text.as_bytes())?;
        }
        let diff = unified(&doc.pinned.text, &doc.text, &doc.pinned.path);
        files.write(&row.diff_file(), diff.as_bytes())?;
    }
    files.write("report.json", &json(serde_json::to_vec_pretty(proposal.report))?)?;
    files.write("report.md", proposal.report_md.as_bytes())?;
    let diagnostics = redact(&proposal.diagnostics);
    files.write("diagnostics.json", &json(serde_json::to_vec_pretty(&diagnostics))?)?;
    files.write("manifest.json", &manifest_bytes)
}

fn point_to(reserved: &Reserved) -> io::Result<()> {
    let name = reserved.dir().file_name().unwrap_or_default().to_string_lossy().into_owned();
    let path = staging_root(reserved.project()).join(".latest");
    live_file::replace(&path, name.as_bytes(), Mode::Private)
}

/// Files of the folder, which go again when one of them cannot be written.
struct Files<'a> {
    dir: &'a Path,
    written: Vec<PathBuf>,
}

impl Files<'_> {
    /// All of it quotes a person's sessions and documents.
    fn write(&mut self, name: &str, bytes: &[u8]) -> Result<(), PublishError> {
        let path = self.dir.join(name);
        live_file::replace(&path, bytes, Mode::Private)
            .map_err(|reason| PublishError::Io { path: path.clone(), reason })?;
        self.written.push(path);
        Ok(())
    }

    fn take_back(self) {
        for path in self.written.iter().rev() {
            // Best effort: without a manifest nothing of it counts.
            let _ = live_file::discard(path);
        }
    }
}
