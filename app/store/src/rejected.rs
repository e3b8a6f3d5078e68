//! The table of rejected edits: what the gate turned down and what never applied.

use crate::error::StoreFailure;
use crate::open::Store;
use crate::reading::{event_of, run_no};
use crate::sql::Doing;
use skillopt_domain::api::{Page, RejectedEdit, RejectedPage, RejectedQuery, RejectedWhy};
use skillopt_domain::edit::{Edit, EditReport, EditStatus, normalised_words};
use skillopt_domain::event::EventKind;
use skillopt_domain::ids::RunId;
use skillopt_domain::verdict::{Action, Verdict};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Share of common words from which two edits say the same.
const SIMILAR: f64 = 0.8;

/// Rows of a page unless another number is asked for.
const DEFAULT_LIMIT: u32 = 100;
const MAX_LIMIT: u32 = 500;
/// Steps that a row of a page names as having proposed it again.
const MAX_STEPS: usize = 20;

impl Store {
    /// Edits of rejected candidates and edits that could not be applied, newest first.
    ///
    /// # Errors
    /// [`StoreFailure::NotFound`], or the store cannot be read.
    pub async fn rejected_edits(&self, run: &RunId) -> Result<Vec<RejectedEdit>, StoreFailure> {
        let steps = self.tried(run).await?;
        let alike = Alike::of(&steps);
        Ok(rejected(&steps).into_iter().map(|edit| alike.told(edit)).collect())
    }

    /// One page of the same table, and how many rows there are for each reason.
    ///
    /// # Errors
    /// [`StoreFailure::NotFound`], [`StoreFailure::BadQuery`] for a wrong cursor, or the store cannot be read.
    pub async fn rejected_page(
        &self,
        run: &RunId,
        query: &RejectedQuery,
    ) -> Result<RejectedPage, StoreFailure> {
        let first = match &query.cursor {
            None => 0,
            Some(cursor) => cursor.parse().map_err(|_| StoreFailure::BadQuery {
                message: format!("{cursor:?} is no cursor of this list"),
            })?,
        };
        let (steps, query) = (self.tried(run).await?, query.clone());
        // Words of thousands of edits are compared.
        tokio::task::spawn_blocking(move || page_of(&steps, &query, first))
            .await
            .map_err(|err| StoreFailure::corrupt("rejected edits", err))
    }

    async fn tried(&self, run: &RunId) -> Result<BTreeMap<u32, Tried>, StoreFailure> {
        let mut conn = self.read("read rejected edits").await?;
        let run_no = run_no(&mut conn, run).await?;
        let rows = sqlx::query(
            "SELECT seq, at_ms, key, kind_json FROM events \
             WHERE run_no = ? AND type IN ('updated', 'gated') ORDER BY seq",
        )
        .bind(run_no)
        .fetch_all(&mut *conn)
        .await
        .doing("read rejected edits")?;
        drop(conn);
        let mut steps: BTreeMap<u32, Tried> = BTreeMap::new();
        for row in &rows {
            match event_of(row)?.kind {
                EventKind::Updated { step, edits, .. } => {
                    steps.entry(step).or_default().edits = edits;
                }
                EventKind::Gated { step, verdict, .. } => {
                    steps.entry(step).or_default().verdict = Some(verdict);
                }
                _ => {}
            }
        }
        Ok(steps)
    }
}

fn page_of(steps: &BTreeMap<u32, Tried>, query: &RejectedQuery, first: usize) -> RejectedPage {
    let alike = Alike::of(steps);
    let text = query.q.as_deref().unwrap_or_default().trim().to_lowercase();
    let has_text = |edit: &RejectedEdit| {
        text.is_empty()
            || edit.report.edit.gist().to_lowercase().contains(&text)
            || edit.reason.to_lowercase().contains(&text)
    };
    let only_again = query.again.unwrap_or(false);
    let came_again = |edit: &RejectedEdit| {
        !only_again || !alike.other_steps(edit.step, &edit.report.edit).is_empty()
    };
    let mut rows = rejected(steps);
    rows.retain(|edit| has_text(edit) && came_again(edit));
    let count = |why| to_u64(rows.iter().filter(|edit| why_of(edit) == why).count());
    let (n_gate, n_not_applied) = (count(RejectedWhy::Gate), count(RejectedWhy::NotApplied));
    rows.retain(|edit| query.why.is_none_or(|why| why_of(edit) == why));
    let limit = query.limit.unwrap_or(DEFAULT_LIMIT).clamp(1, MAX_LIMIT);
    let end = first.saturating_add(usize::try_from(limit).unwrap_or(usize::MAX));
    let (total, next) = (to_u64(rows.len()), (end < rows.len()).then(|| end.to_string()));
    // Only what is shown is compared with all others.
    let told = rows.into_iter().take(end).skip(first).map(|edit| alike.told(edit));
    let items = told.map(with_last_steps).collect();
    RejectedPage { page: Page { items, next, total }, n_gate, n_not_applied }
}

/// A row of a page: of thousands of steps the last ones are enough to look at.
fn with_last_steps(mut edit: RejectedEdit) -> RejectedEdit {
    let first = edit.proposed_again_in.len().saturating_sub(MAX_STEPS);
    edit.proposed_again_in.drain(..first);
    edit
}

fn why_of(edit: &RejectedEdit) -> RejectedWhy {
    match edit.report.status {
        EditStatus::Applied => RejectedWhy::Gate,
        _ => RejectedWhy::NotApplied,
    }
}

fn to_u64(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

/// What a step tried.
#[derive(Default)]
struct Tried {
    edits: Vec<EditReport>,
    verdict: Option<Verdict>,
}

/// All rows, without the steps that proposed them again.
fn rejected(steps: &BTreeMap<u32, Tried>) -> Vec<RejectedEdit> {
    let mut rows = Vec::new();
    for (step, tried) in steps.iter().rev() {
        let verdict = tried.verdict.as_ref().filter(|verdict| verdict.action == Action::Reject);
        for (number, report) in (1..).zip(&tried.edits) {
            match (report.status, verdict) {
                (EditStatus::Applied, Some(verdict)) => {
                    rows.push(turned_down((*step, number), report, verdict));
                }
                (EditStatus::Applied, None) => {}
                (_, _) => rows.push(not_applied((*step, number), report)),
            }
        }
    }
    rows
}

fn turned_down((step, number): (u32, u32), report: &EditReport, verdict: &Verdict) -> RejectedEdit {
    let flips = verdict.flips();
    RejectedEdit {
        step,
        number,
        report: report.clone(),
        reason: verdict.reason.clone(),
        before: verdict.current_score,
        after: verdict.candidate_score,
        n: verdict.candidate.map(|score| score.n),
        n_fixed: flips.map(|flips| flips.0),
        n_broke: flips.map(|flips| flips.1),
        n_proposed_again: 0,
        proposed_again_in: Vec::new(),
    }
}

fn not_applied((step, number): (u32, u32), report: &EditReport) -> RejectedEdit {
    let reason =
        if report.detail.is_empty() { report.status.label() } else { report.detail.as_str() };
    RejectedEdit {
        step,
        number,
        report: report.clone(),
        reason: reason.to_owned(),
        before: None,
        after: None,
        n: None,
        n_fixed: None,
        n_broke: None,
        n_proposed_again: 0,
        proposed_again_in: Vec::new(),
    }
}

/// Which steps proposed edits with similar words. Each text is cut into words once, and only texts of
/// about the same length are compared, so that thousands of edits take a moment.
struct Alike {
    /// Sorted numbers of words, with the steps that proposed them; shortest first.
    texts: Vec<(Vec<u32>, BTreeSet<u32>)>,
    numbers: HashMap<String, u32>,
}

impl Alike {
    fn of(steps: &BTreeMap<u32, Tried>) -> Self {
        let mut numbers = HashMap::new();
        let mut by_words: BTreeMap<Vec<u32>, BTreeSet<u32>> = BTreeMap::new();
        for (step, tried) in steps {
            for report in &tried.edits {
                let words = number_words(report.edit.gist(), |word| {
                    let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
                    Some(*numbers.entry(word.to_owned()).or_insert(next))
                });
                by_words.entry(words).or_default().insert(*step);
            }
        }
        let mut texts: Vec<_> = by_words.into_iter().collect();
        texts.sort_by_key(|(words, _)| words.len());
        Self { texts, numbers }
    }

    /// The row with the steps that proposed it again.
    fn told(&self, edit: RejectedEdit) -> RejectedEdit {
        let proposed_again_in = self.other_steps(edit.step, &edit.report.edit);
        let n_proposed_again = u32::try_from(proposed_again_in.len()).unwrap_or(u32::MAX);
        RejectedEdit { n_proposed_again, proposed_again_in, ..edit }
    }

    fn other_steps(&self, step: u32, edit: &Edit) -> Vec<u32> {
        let words = number_words(edit.gist(), |word| self.numbers.get(word).copied());
        // Sets that differ more in size cannot share enough words.
        let shortest = words.len() * 4 / 5;
        let longest = words.len() * 5 / 4 + 1;
        let first = self.texts.partition_point(|(other, _)| other.len() < shortest);
        let mut found = BTreeSet::new();
        for (other, steps) in &self.texts[first..] {
            if other.len() > longest {
                break;
            }
            if common_share(&words, other) >= SIMILAR {
                found.extend(steps.iter().filter(|found| **found != step));
            }
        }
        found.into_iter().collect()
    }
}

fn number_words(text: &str, mut number: impl FnMut(&str) -> Option<u32>) -> Vec<u32> {
    let mut words: Vec<u32> =
        normalised_words(text).split_whitespace().filter_map(&mut number).collect();
    words.sort_unstable();
    words.dedup();
    words
}

/// The same number as `skillopt_domain::edit::similarity`, over words that are cut already.
fn common_share(left: &[u32], right: &[u32]) -> f64 {
    let (mut at, mut common) = (0, 0u32);
    for word in left {
        while right.get(at).is_some_and(|other| other < word) {
            at += 1;
        }
        if right.get(at) == Some(word) {
            common += 1;
        }
    }
    let size = |words: &[u32]| u32::try_from(words.len()).unwrap_or(u32::MAX);
    match size(left) + size(right) - common {
        0 => 0.0,
        all => f64::from(common) / f64::from(all),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use skillopt_domain::edit::{EditOp, similarity};

    #[test]
    fn the_fast_measure_equals_the_domain_s() {
        let texts = [
            "Answer with the shortest phrase.",
            "answer with the shortest phrase, please!",
            "Quote the context",
            "",
        ];
        let edit = |text: &str| EditReport {
            edit: Edit::new(EditOp::Append, None, Some(text)),
            status: EditStatus::Applied,
            detail: String::new(),
            resembles_rejected_step: None,
        };
        let steps: BTreeMap<u32, Tried> = texts
            .iter()
            .zip(1..)
            .map(|(text, step)| (step, Tried { edits: vec![edit(text)], verdict: None }))
            .collect();
        let alike = Alike::of(&steps);
        for (text, step) in texts.iter().zip(1u32..) {
            let slow: Vec<u32> = texts
                .iter()
                .zip(1u32..)
                .filter(|(other, at)| *at != step && similarity(text, other) >= SIMILAR)
                .map(|(_, at)| at)
                .collect();
            assert_eq!(alike.other_steps(step, &edit(text).edit), slow, "{text}");
        }
    }
}
