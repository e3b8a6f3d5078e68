//! Reads many files on few threads, newest first, and stops when there is enough. What is in them is the source's.

use super::copies::without_copies;
use super::json::BadLine;
use super::lines::{Line, LineReader};
use super::listing::Candidate;
use super::report::{DropReason, FileReason, LineReason, SourceReport};
use super::rules::Rules;
use super::session::{Draft, Finished, Judged};
use super::state::{Outcome, Seen};
use super::{Instant, Source, Yielded};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A file that changed in this many milliseconds before the harvest is being written to.
const LIVE_MS: i64 = 10 * 60 * 1000;

/// Files known of before.
pub(crate) type Known<'a> = Option<&'a BTreeMap<String, Seen>>;

/// How one kind of file is read.
pub(crate) trait Format: Sync {
    /// The sessions of a file.
    ///
    /// # Errors
    /// What the file system says; `InvalidData` when the file is not what it should be.
    fn read(&self, file: &mut OpenFile<'_>) -> io::Result<Vec<Draft>>;
}

/// A file while it is read.
pub(crate) struct OpenFile<'a> {
    pub(crate) candidate: &'a Candidate,
    pub(crate) rules: &'a Rules,
    pub(crate) tally: Tally,
    reader: &'a mut LineReader,
}

/// What was counted in a file.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) skipped: BTreeMap<LineReason, u64>,
    bytes: u64,
}

impl Tally {
    pub(crate) fn skip(&mut self, reason: LineReason) {
        *self.skipped.entry(reason).or_default() += 1;
    }
}

impl From<BadLine> for LineReason {
    fn from(bad: BadLine) -> Self {
        match bad {
            BadLine::NotJson => Self::NotJson,
            BadLine::TooDeep => Self::TooDeep,
            BadLine::WrongShape => Self::WrongShape,
        }
    }
}

impl OpenFile<'_> {
    /// Hands each record to `take`, and counts those that it refuses. Reads as many bytes as the file has now: what a
    /// writer adds meanwhile is for the next harvest.
    ///
    /// # Errors
    /// What the file system says.
    pub(crate) fn each_record(
        &mut self,
        mut take: impl FnMut(&[u8], &mut Tally) -> Result<(), LineReason>,
    ) -> io::Result<()> {
        let file = File::open(&self.candidate.path)?;
        let bytes = file.metadata()?.len();
        let tally = &mut self.tally;
        tally.bytes = bytes;
        self.reader.read(file.take(bytes), |line| {
            let refused = match line {
                Line::Whole(record) => take(record, tally).err(),
                Line::Rest(record) => match take(record, tally) {
                    Err(LineReason::NotJson) => Some(LineReason::Truncated),
                    other => other.err(),
                },
                Line::Oversized => Some(LineReason::Oversized),
            };
            if let Some(reason) = refused {
                tally.skip(reason);
            }
        })
    }

    /// The whole file.
    ///
    /// # Errors
    /// What the file system says; `FileTooLarge` when it is longer than a document may be.
    pub(crate) fn whole(&mut self) -> io::Result<Vec<u8>> {
        let file = File::open(&self.candidate.path)?;
        let bytes = file.metadata()?.len();
        if bytes > self.rules.limits.document_bytes {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.tally.bytes = bytes;
        let mut text = Vec::new();
        file.take(bytes).read_to_end(&mut text)?;
        Ok(text)
    }

    /// The path as text.
    pub(crate) fn path(&self) -> String {
        self.candidate.path.display().to_string()
    }

    /// The file's name without its ending.
    pub(crate) fn stem(&self) -> String {
        let stem = self.candidate.path.file_stem();
        stem.map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
    }
}

/// What one file yields.
#[derive(Debug)]
struct Outcomes {
    tally: Tally,
    judged: Result<Vec<Judged>, FileReason>,
}

impl Outcomes {
    fn n_kept(&self) -> usize {
        let judged = self.judged.as_deref().unwrap_or_default();
        judged.iter().filter_map(|judged| judged.result.as_ref().ok()).map(Vec::len).sum()
    }
}

/// Reads `candidates`, newest first, into digests.
pub(crate) fn harvest(
    format: &dyn Format,
    candidates: &[Candidate],
    mut report: SourceReport,
    rules: &Rules,
    known: Known<'_>,
) -> Yielded {
    let source = report.source;
    let live_from = Instant::from_ms(rules.now.as_ms() - LIVE_MS);
    let (mut fresh, mut seen) = (Vec::new(), BTreeMap::new());
    for candidate in candidates {
        report.live += u64::from(candidate.modified >= live_from);
        let path = candidate.path.display().to_string();
        match known.and_then(|known| known.get(&path)).and_then(|was| still(was, candidate, rules))
        {
            Some((was, reason)) => {
                report.sessions += u64::from(!matches!(was.outcome, Outcome::Refused(_)));
                recount(&mut report, candidate, was, reason);
                seen.insert(path, was.clone());
            }
            None if rules.is_certainly_old(candidate.modified) && !waits(known, &path) => {
                report.sessions += 1;
                report.count_dropped(DropReason::BeforeWindow);
                let outcome = Outcome::Dropped(DropReason::BeforeWindow);
                seen.insert(path, Seen { outcome, ..Seen::new(candidate) });
            }
            None => fresh.push((candidate, waits(known, &path))),
        }
    }
    let outcomes = read_all(source, format, &fresh, rules);
    let mut kept = Vec::new();
    for ((candidate, _), outcome) in fresh.iter().zip(outcomes) {
        let is_full = rules.limits.max_sessions.is_some_and(|max| kept.len() >= max);
        let was = account(&mut report, candidate, outcome.filter(|_| !is_full), &mut kept);
        seen.insert(candidate.path.display().to_string(), was);
    }
    let digests = without_copies(kept, &mut report, &mut seen);
    Yielded { digests, report, seen: Some(seen) }
}

/// Whether it was good before, and had to wait.
pub(crate) fn waits(known: Known<'_>, path: &str) -> bool {
    known.and_then(|known| known.get(path)).is_some_and(|was| was.outcome == Outcome::Waiting)
}

/// What is known of a file that has not changed, where that still decides.
pub(crate) fn still<'s>(
    was: &'s Seen,
    candidate: &Candidate,
    rules: &Rules,
) -> Option<(&'s Seen, Option<DropReason>)> {
    let is_same = (was.bytes, was.modified, was.inode)
        == (candidate.bytes, candidate.modified, candidate.inode);
    if !is_same {
        return None;
    }
    match was.outcome {
        Outcome::Kept => Some((was, Some(DropReason::Unchanged))),
        Outcome::Waiting => None,
        Outcome::Refused(_) => Some((was, None)),
        Outcome::Dropped(reason) => {
            let holds = match reason {
                DropReason::OutOfScope => {
                    !was.projects.iter().any(|project| rules.is_in_scope(project))
                }
                DropReason::BeforeWindow => {
                    was.ended.is_some_and(|ended| rules.is_before_window(ended))
                }
                DropReason::OverLimit => false,
                _ => true,
            };
            holds.then_some((was, Some(reason)))
        }
    }
}

/// Counts a file that was not read again.
pub(crate) fn recount(
    report: &mut SourceReport,
    candidate: &Candidate,
    was: &Seen,
    reason: Option<DropReason>,
) {
    match (reason, was.outcome) {
        (Some(reason), _) => report.count_dropped(reason),
        (None, Outcome::Refused(reason)) => report.refuse(&candidate.path, reason),
        (None, _) => {}
    }
}

/// Reads files until there is enough. A file that no thread came to has none.
fn read_all(
    source: Source,
    format: &dyn Format,
    fresh: &[(&Candidate, bool)],
    rules: &Rules,
) -> Vec<Option<Outcomes>> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Done::new(fresh.len(), rules.limits.max_sessions));
    let work = || {
        let mut reader = LineReader::new(rules.limits.record_bytes);
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some((candidate, waited)) = fresh.get(at) else { break };
            let mut file =
                OpenFile { candidate, rules, tally: Tally::default(), reader: &mut reader };
            let outcome = read_one(source, format, &mut file, *waited);
            let Ok(mut done) = done.lock() else { break };
            if done.put(at, outcome) {
                next.store(fresh.len(), Ordering::Relaxed);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..rules.limits.threads.min(fresh.len()).max(1) {
            scope.spawn(work);
        }
        work();
    });
    done.into_inner().map(|done| done.outcomes).unwrap_or_default()
}

/// What is done, and whether the newest of it is enough.
struct Done {
    outcomes: Vec<Option<Outcomes>>,
    /// All before this one are done.
    prefix: usize,
    kept: usize,
    max: Option<usize>,
}

impl Done {
    fn new(n: usize, max: Option<usize>) -> Self {
        Self {
            outcomes: std::iter::repeat_with(|| None).take(n).collect(),
            prefix: 0,
            kept: 0,
            max,
        }
    }

    /// Whether there is enough: in the files before the first that is not done, so that it never depends on threads.
    fn put(&mut self, at: usize, outcome: Outcomes) -> bool {
        self.outcomes[at] = Some(outcome);
        while let Some(Some(outcome)) = self.outcomes.get(self.prefix) {
            self.kept += outcome.n_kept();
            self.prefix += 1;
        }
        self.max.is_some_and(|max| self.kept >= max)
    }
}

fn read_one(
    source: Source,
    format: &dyn Format,
    file: &mut OpenFile<'_>,
    waited: bool,
) -> Outcomes {
    let drafts = format.read(file);
    let judged = drafts.map_err(|error| match error.kind() {
        io::ErrorKind::FileTooLarge => FileReason::TooLarge,
        io::ErrorKind::InvalidData => FileReason::WrongShape,
        _ => FileReason::Unreadable,
    });
    let judge =
        |draft: Draft| draft.waiting(waited).judge(source, file.candidate.modified, file.rules);
    let judged = judged.map(|drafts| drafts.into_iter().map(judge).collect());
    Outcomes { tally: std::mem::take(&mut file.tally), judged }
}

/// Counts what a file yielded, and says what the next harvest has to know of it.
fn account(
    report: &mut SourceReport,
    candidate: &Candidate,
    outcome: Option<Outcomes>,
    kept: &mut Vec<Finished>,
) -> Seen {
    let mut was = Seen::new(candidate);
    let Some(Outcomes { tally, judged }) = outcome else {
        report.sessions += 1;
        report.count_dropped(DropReason::OverLimit);
        return was;
    };
    report.bytes += tally.bytes;
    for (reason, n) in tally.skipped {
        *report.skipped.entry(reason).or_default() += n;
    }
    match judged {
        Err(reason) => {
            report.refuse(&candidate.path, reason);
            was.outcome = Outcome::Refused(reason);
        }
        Ok(judged) => {
            was.outcome = Outcome::Dropped(DropReason::NoUserTurn);
            for session in judged {
                note(report, session, &mut was, kept);
            }
        }
    }
    was
}

/// Counts one session.
pub(crate) fn note(
    report: &mut SourceReport,
    session: Judged,
    was: &mut Seen,
    kept: &mut Vec<Finished>,
) {
    report.sessions += 1;
    was.projects.extend(session.projects);
    was.ended = was.ended.max(session.ended);
    if let Some(ended) = session.ended {
        report.oldest = Some(report.oldest.map_or(ended, |oldest| oldest.min(ended)));
    }
    match session.result {
        Ok(mut finished) => {
            was.outcome = Outcome::Kept;
            kept.append(&mut finished);
        }
        Err(reason) => {
            report.count_dropped(reason);
            if was.outcome != Outcome::Kept {
                was.outcome = Outcome::Dropped(reason);
            }
        }
    }
}
