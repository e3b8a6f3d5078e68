//! The table of rejected edits: what the gate turned down and what never applied.

use crate::error::StoreFailure;
use crate::open::Store;
use crate::reading::{event_of, run_no};
use crate::sql::Doing;
use skillopt_domain::api::RejectedEdit;
use skillopt_domain::edit::{Edit, EditReport, EditStatus, normalised_words};
use skillopt_domain::event::EventKind;
use skillopt_domain::ids::RunId;
use skillopt_domain::verdict::{Action, Verdict};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Share of common words from which two edits say the same.
const SIMILAR: f64 = 0.8;

impl Store {
    /// Edits of rejected candidates and edits that could not be applied, newest first.
    ///
    /// # Errors
    /// [`StoreFailure::NotFound`], or the store cannot be read.
    pub async fn rejected_edits(&self, run: &RunId) -> Result<Vec<RejectedEdit>, StoreFailure> {
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
        Ok(rejected(&steps))
    }
}

/// What a step tried.
#[derive(Default)]
struct Tried {
    edits: Vec<EditReport>,
    verdict: Option<Verdict>,
}

fn rejected(steps: &BTreeMap<u32, Tried>) -> Vec<RejectedEdit> {
    let alike = Alike::of(steps);
    let mut rows = Vec::new();
    for (step, tried) in steps.iter().rev() {
        let verdict = tried.verdict.as_ref().filter(|verdict| verdict.action == Action::Reject);
        for report in &tried.edits {
            let again = || alike.other_steps(*step, &report.edit);
            match (report.status, verdict) {
                (EditStatus::Applied, Some(verdict)) => {
                    rows.push(turned_down(*step, report, verdict, again()));
                }
                (EditStatus::Applied, None) => {}
                (_, _) => rows.push(not_applied(*step, report, again())),
            }
        }
    }
    rows
}

fn turned_down(
    step: u32,
    report: &EditReport,
    verdict: &Verdict,
    proposed_again_in: Vec<u32>,
) -> RejectedEdit {
    RejectedEdit {
        step,
        report: report.clone(),
        reason: verdict.reason.clone(),
        before: verdict.current_score,
        after: verdict.candidate_score,
        n: verdict.candidate.map(|score| score.n),
        n_fixed: u32::try_from(verdict.n_fixed()).unwrap_or(u32::MAX),
        n_broke: u32::try_from(verdict.n_broke()).unwrap_or(u32::MAX),
        proposed_again_in,
    }
}

fn not_applied(step: u32, report: &EditReport, proposed_again_in: Vec<u32>) -> RejectedEdit {
    let reason =
        if report.detail.is_empty() { report.status.label() } else { report.detail.as_str() };
    RejectedEdit {
        step,
        report: report.clone(),
        reason: reason.to_owned(),
        before: None,
        after: None,
        n: None,
        n_fixed: 0,
        n_broke: 0,
        proposed_again_in,
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
