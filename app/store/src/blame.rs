//! What brought each line of a version: the texts and updates of the versions before it are read, the domain follows
//! the lines.

use crate::error::StoreFailure;
use crate::fold;
use crate::open::Store;
use crate::reading::{event_of, run_no};
use crate::sql::{Doing, hash, small, to_json};
use crate::versions::{Version, read_versions};
use skillopt_domain::api::{BlamedLine, OriginNote, SkillBlame};
use skillopt_domain::blame::{Blame, BlameWalk, MadeBy, NextVersion, Origin, lines_of};
use skillopt_domain::edit::{EditReport, EditStatus, SourceType};
use skillopt_domain::epoch::SlowUpdate;
use skillopt_domain::event::EventKind;
use skillopt_domain::hash::Sha256Hex;
use skillopt_domain::ids::RunId;
use skillopt_domain::outcome::OutcomeCounts;
use sqlx::SqliteConnection;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use tokio::sync::Semaphore;

/// One question at a time: each applies thousands of edits again.
static ONE_AT_A_TIME: Semaphore = Semaphore::const_new(1);
/// Versions whose texts are in memory at once.
const CHUNK: usize = 32;

impl Store {
    /// The origin of each line of a version. What cannot be told is said to be unknown.
    ///
    /// # Errors
    /// [`StoreFailure::NotFound`] for an unknown run or version, or one whose text is not kept; or the store cannot be
    /// read.
    pub async fn blame(&self, run: &RunId, version: u32) -> Result<SkillBlame, StoreFailure> {
        let _turn = ONE_AT_A_TIME.acquire().await.map_err(|_| StoreFailure::Closed)?;
        let mut conn = self.read("read versions").await?;
        let run_no = run_no(&mut conn, run).await?;
        let versions = read_versions(&mut conn, run_no, version).await?;
        let missing = || StoreFailure::NotFound { what: "version", id: version.to_string() };
        let skill = match versions.last() {
            Some(last) if last.number == version => last.skill.clone(),
            _ => return Err(missing()),
        };
        let slow = fold::stored_view(&mut conn, run_no).await?.slow_updates;
        // A journal of an older program may have given the number of an update to a step.
        let is_version = |update: &SlowUpdate| {
            let at = versions.binary_search_by_key(&update.version, |one| one.number);
            at.is_ok_and(|at| Some(&versions[at].skill) == update.candidate.as_ref())
        };
        let kept = slow.into_iter().filter(|one| one.action.is_accepted() && is_version(one));
        let slow: HashMap<u32, SlowUpdate> = kept.map(|one| (one.version, one)).collect();
        let steps = read_steps(&mut conn, run_no, &versions).await?;
        let before = read_before(&mut conn, run_no, &versions).await?;
        drop(conn);
        let history = Arc::new(History { versions, slow, steps, before });
        let Some((first, later)) = history.versions.split_first() else { return Err(missing()) };
        let mut walk = BlameWalk::start(self.skill_text(&first.skill).await?.as_deref());
        let mut earlier = first;
        for chunk in later.chunks(CHUNK) {
            let mut next = Vec::with_capacity(chunk.len());
            for version in chunk {
                // A folder of the Python system may have guidance that is no version of its own.
                if let Some(skill) = history.text_between(earlier, version) {
                    let text = self.skill_text(skill).await?;
                    next.push(NextVersion { text, made_by: MadeBy::Unknown });
                }
                let text = self.skill_text(&version.skill).await?;
                next.push(NextVersion { text, made_by: history.made_by(version) });
                earlier = version;
            }
            walk = worked(move || {
                next.iter().for_each(|version| walk.follow(version));
                walk
            })
            .await?;
        }
        let teller = history.clone();
        let told = worked(move || walk.end().map(|blame| teller.tell(&blame))).await?;
        let (lines, origins) = told.ok_or_else(missing)?;
        Ok(SkillBlame { version, skill, lines, origins })
    }
}

/// What takes too long for a thread that others wait for.
async fn worked<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, StoreFailure> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|err| StoreFailure::corrupt("the history of a skill", err))
}

/// What a step says about its update.
#[derive(Default)]
struct StepNews {
    edits: Vec<EditReport>,
    is_rewrite: bool,
    counts: Option<OutcomeCounts>,
    reason: String,
}

struct History {
    versions: Vec<Version>,
    /// Slow updates that were kept, by the number of their version.
    slow: HashMap<u32, SlowUpdate>,
    steps: HashMap<u32, StepNews>,
    /// Skills after the step before, by the step of a version.
    before: HashMap<u32, Sha256Hex>,
}

impl History {
    /// The text before the step of a version, where that is not the version before.
    fn text_between(&self, earlier: &Version, version: &Version) -> Option<&Sha256Hex> {
        let is_other = |skill: &&Sha256Hex| {
            earlier.skill != **skill && !self.slow.contains_key(&earlier.number)
        };
        self.before.get(&version.step).filter(is_other)
    }

    fn tell(&self, blame: &Blame) -> (Vec<BlamedLine>, Vec<OriginNote>) {
        let mut notes: BTreeMap<Origin, u32> = BTreeMap::new();
        for line in blame.origins() {
            *notes.entry(line.origin).or_default() += 1;
            if let Some(before) = line.before {
                notes.entry(before).or_default();
            }
        }
        let mut origins: Vec<Origin> = notes.keys().copied().collect();
        origins.sort_by_key(|origin| (self.version_of(*origin).unwrap_or_default(), *origin));
        let place = |origin: Origin| {
            let at = origins.iter().position(|one| *one == origin).unwrap_or_default();
            u32::try_from(at).unwrap_or(u32::MAX)
        };
        let lines = lines_of(blame.text())
            .into_iter()
            .zip(blame.origins())
            .map(|(text, line)| BlamedLine {
                text,
                origin: place(line.origin),
                before: line.before.map(place),
            })
            .collect();
        let note = |origin: &Origin| self.note(*origin, notes.get(origin).copied().unwrap_or(0));
        let origins = origins.iter().map(note).collect();
        (lines, origins)
    }

    /// A slow update has the step after which it came, and that step may have made a version too.
    fn made_by(&self, version: &Version) -> MadeBy {
        if let Some(update) = self.slow.get(&version.number) {
            return MadeBy::SlowUpdate { epoch: update.epoch };
        }
        let news = self.steps.get(&version.step);
        MadeBy::Step {
            step: version.step,
            edits: news.map(|news| news.edits.clone()).unwrap_or_default(),
            is_rewrite: news.is_some_and(|news| news.is_rewrite),
        }
    }

    fn version_of(&self, origin: Origin) -> Option<u32> {
        let is_it = |version: &&Version| match (origin, self.slow.get(&version.number)) {
            (Origin::SlowUpdate { epoch }, Some(update)) => epoch == update.epoch,
            (
                Origin::Edit { step, .. }
                | Origin::Rewrite { step }
                | Origin::Notes { step }
                | Origin::Step { step },
                None,
            ) => step == version.step && version.number > 0,
            _ => origin == Origin::Initial && version.number == 0,
        };
        self.versions.iter().find(is_it).map(|version| version.number)
    }

    fn note(&self, origin: Origin, n_lines: u32) -> OriginNote {
        let step = match origin {
            Origin::Edit { step, .. }
            | Origin::Rewrite { step }
            | Origin::Notes { step }
            | Origin::Step { step } => self.steps.get(&step),
            Origin::Initial | Origin::SlowUpdate { .. } | Origin::Unknown => None,
        };
        let edit = match origin {
            Origin::Edit { number, .. } => step.and_then(|news| {
                let at = usize::try_from(number).ok()?.checked_sub(1)?;
                news.edits.get(at).map(|report| report.edit.clone())
            }),
            _ => None,
        };
        let of_kind = |counts: OutcomeCounts| match edit.as_ref().map(|edit| edit.source_type) {
            Some(SourceType::Failure) => counts.failed,
            Some(SourceType::Success) => counts.passed,
            None => counts.passed + counts.failed,
        };
        let reason = match origin {
            Origin::SlowUpdate { epoch } => self
                .slow
                .values()
                .find(|update| update.epoch == epoch)
                .map(|one| one.reason.clone()),
            _ => step.map(|news| news.reason.clone()),
        };
        OriginNote {
            origin,
            version: self.version_of(origin),
            n_lines,
            n_trajectories: step.and_then(|news| news.counts).map(of_kind),
            reason: reason.unwrap_or_default(),
            edit,
        }
    }
}

/// The skill after the step before each of these versions, by the version's step.
async fn read_before(
    conn: &mut SqliteConnection,
    run_no: i64,
    versions: &[Version],
) -> Result<HashMap<u32, Sha256Hex>, StoreFailure> {
    let earlier: Vec<u32> =
        versions.iter().filter_map(|version| version.step.checked_sub(1)).collect();
    let rows: Vec<(i64, String)> = sqlx::query_as(
        "SELECT step, json_extract(summary_json, '$.skill') FROM steps WHERE run_no = ? \
         AND step IN (SELECT value FROM json_each(?))",
    )
    .bind(run_no)
    .bind(to_json(&earlier)?)
    .fetch_all(conn)
    .await
    .doing("read steps")?;
    rows.into_iter().map(|(step, skill)| Ok((small(step) + 1, hash(&skill)?))).collect()
}

/// The updates of the steps that made these versions.
async fn read_steps(
    conn: &mut SqliteConnection,
    run_no: i64,
    versions: &[Version],
) -> Result<HashMap<u32, StepNews>, StoreFailure> {
    let steps: Vec<u32> = versions.iter().map(|version| version.step).collect();
    let rows = sqlx::query(
        "SELECT seq, at_ms, key, kind_json FROM events WHERE run_no = ? AND step IN (SELECT value FROM json_each(?)) \
         AND type IN ('rolled_out', 'updated', 'rewritten', 'step_finished') ORDER BY seq",
    )
    .bind(run_no)
    .bind(to_json(&steps)?)
    .fetch_all(conn)
    .await
    .doing("read the updates of a skill")?;
    let mut news: HashMap<u32, StepNews> = HashMap::new();
    for row in &rows {
        match event_of(row)?.kind {
            EventKind::RolledOut { step, counts, .. } => {
                news.entry(step).or_default().counts = Some(counts);
            }
            EventKind::Updated { step, edits, .. } => news.entry(step).or_default().edits = edits,
            EventKind::Rewritten { step, report } => {
                news.entry(step).or_default().is_rewrite = report.status == EditStatus::Applied;
            }
            EventKind::StepFinished(step) => {
                news.entry(step.step).or_default().reason = step.reason;
            }
            _ => {}
        }
    }
    Ok(news)
}
