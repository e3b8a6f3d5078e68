//! Reads the transcripts of coding agents, strictly read-only, into digests.
//!
//! One file a source; what they share is in `files` (what is read, and by whom), `session` (from turns to a digest),
//! `text`, `feedback` and `own` (what a turn means). No environment, no clock, no network: what comes from there is in
//! [`HarvestOptions`].

mod claude_code;
mod codex;
mod copies;
mod copilot_chat;
mod copilot_cli;
mod cursor;
mod database;
mod devin;
mod feedback;
mod files;
mod instant;
mod json;
mod lines;
mod listing;
mod opencode;
mod options;
mod own;
mod pi;
mod preview;
mod report;
mod rules;
mod session;
mod state;
#[cfg(any(test, feature = "testing"))]
#[allow(clippy::needless_pass_by_value, reason = "records are written as `json!` values")]
pub mod testing;
mod text;

#[cfg(test)]
mod tests;

pub use instant::Instant;
pub use options::{HarvestOptions, Homes, Limits, Scope, Source, UnknownSource};
pub use preview::{SessionPreview, preview};
pub use report::{DropReason, FileNote, FileReason, LineReason, SourceReport, SourceState, Usage};
pub use state::{HarvestState, Outcome, Seen};

use crate::digest::SessionDigest;
use rules::Rules;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// What a harvest found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Harvest {
    /// The sessions, newest first.
    pub digests: Vec<SessionDigest>,
    /// What each source had, in the order that was asked for.
    pub sources: Vec<SourceReport>,
    /// What the next harvest has to know. Keep it once the digests are taken: a session is not handed out again unless
    /// its file changes.
    pub state: HarvestState,
}

impl Harvest {
    /// Why there is nothing, in a sentence a source; none where there is something.
    pub fn nothing_because(&self) -> Option<String> {
        if !self.digests.is_empty() {
            return None;
        }
        let reasons: Vec<String> = self.sources.iter().map(SourceReport::explanation).collect();
        Some(format!("nothing to harvest because {}", reasons.join("; ")))
    }
}

/// Reads all sources that `options` name. What `state` knows and what has not changed since is not read again.
/// Never fails: what cannot be read is in the reports, with its reason.
pub fn harvest(options: &HarvestOptions, state: &HarvestState) -> Harvest {
    let rules = Rules::new(options);
    let mut all = Vec::new();
    let mut sources = Vec::new();
    let mut next = state.clone();
    for &source in &options.sources {
        let mut yielded = read(source, options, &rules, state);
        next.replace(source, yielded.seen.take());
        all.append(&mut yielded.digests);
        sources.push(yielded.report);
    }
    let kept = newest(all, options.limits.max_sessions, &mut sources, &mut next);
    Harvest { digests: kept, sources, state: next }
}

/// What one source yields.
#[derive(Debug)]
pub(crate) struct Yielded {
    digests: Vec<SessionDigest>,
    report: SourceReport,
    /// None where the source was not there: what is known of it stays known.
    seen: Option<BTreeMap<String, Seen>>,
}

impl Yielded {
    fn without(source: Source, root: &Path, state: SourceState, why: String) -> Self {
        let report = SourceReport::without(source, root, state, why);
        Self { digests: Vec::new(), report, seen: None }
    }

    fn not_configured(source: Source) -> Self {
        let why = format!("nobody said where {source} keeps its transcripts");
        Self::without(source, Path::new(""), SourceState::NotConfigured, why)
    }

    fn missing(source: Source, root: &Path) -> Self {
        let why = format!("{source} was never used here: there is no {}", root.display());
        Self::without(source, root, SourceState::Missing, why)
    }
}

fn read(source: Source, options: &HarvestOptions, rules: &Rules, state: &HarvestState) -> Yielded {
    let read = match source {
        Source::Claude => claude_code::harvest,
        Source::Codex => codex::harvest,
        Source::Copilot => copilot_chat::harvest,
        Source::CopilotCli => copilot_cli::harvest,
        Source::Cursor => cursor::harvest,
        Source::Pi => pi::harvest,
        Source::Opencode => opencode::harvest,
        Source::Devin => devin::harvest,
    };
    read(options, rules, state.of(source))
}

/// The newest of all sources, `max` at most; the others wait for the next harvest.
fn newest(
    mut all: Vec<SessionDigest>,
    max: Option<usize>,
    reports: &mut [SourceReport],
    state: &mut HarvestState,
) -> Vec<SessionDigest> {
    all.sort_by(|a, b| {
        let instant = |digest: &SessionDigest| Instant::parse(&digest.ended_at);
        instant(b).cmp(&instant(a)).then_with(|| a.raw_path.cmp(&b.raw_path))
    });
    let Some(max) = max.filter(|max| *max < all.len()) else { return all };
    let mut cut = all.split_off(max);
    // A session of two projects is taken as a whole, or waits as a whole.
    let is_cut = |digest: &SessionDigest| cut.iter().any(|other| other.raw_path == digest.raw_path);
    let (mut torn, kept): (Vec<_>, Vec<_>) = all.into_iter().partition(is_cut);
    cut.append(&mut torn);
    for digest in cut {
        let Some(source) = digest.source else { continue };
        state.wait(source, &digest.raw_path);
        if let Some(report) = reports.iter_mut().find(|report| report.source == source) {
            report.kept -= 1;
            report.count_dropped(DropReason::OverLimit);
        }
    }
    kept
}
