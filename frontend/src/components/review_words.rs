//! What a waiting proposal is said to be, the same in the queue and on the overview. Pure.

use super::night_cells::{document_name, night_href};
use crate::fmt;
use skillopt_domain::api::{ReviewDocument, ReviewItem};

/// The proposal on the page of its night.
pub(crate) fn proposal_href(item: &ReviewItem) -> String {
    format!("{}#proposal-title", night_href(&item.night.id))
}

/// `Skill, Memory`; what is said when the night cannot be read.
pub(crate) fn documents_words(documents: &[ReviewDocument]) -> String {
    match documents {
        [] => fmt::MISSING.to_owned(),
        all => {
            let names: Vec<String> = all.iter().map(|one| document_name(&one.key)).collect();
            names.join(", ")
        }
    }
}

/// Lines that would be added and removed, over all documents.
pub(crate) fn lines(documents: &[ReviewDocument]) -> (u32, u32) {
    let sum = |of: fn(&ReviewDocument) -> u32| documents.iter().map(of).sum();
    (sum(|one| one.n_added), sum(|one| one.n_removed))
}

/// `3 edits`; nothing when the night does not tell.
pub(crate) fn edits_words(documents: &[ReviewDocument]) -> Option<String> {
    let n: u32 = documents.iter().map(|one| one.n_edits).sum();
    (n > 0).then(|| fmt::plural(n.into(), "edit", "edits"))
}

/// `2 risk flags`.
pub(crate) fn risks_words(documents: &[ReviewDocument]) -> String {
    match n_risks(documents) {
        0 => "no risk flags".to_owned(),
        n => fmt::plural(n.into(), "risk flag", "risk flags"),
    }
}

pub(crate) fn n_risks(documents: &[ReviewDocument]) -> u32 {
    documents.iter().map(|one| one.n_risks).sum()
}

/// `0.571 → 0.786`.
pub(crate) fn scores_words(before: Option<f64>, after: Option<f64>) -> String {
    format!("{} → {}", fmt::score(before), fmt::score(after))
}

/// How long it waits by now: `8 min`, `10 h`, `3 d`.
pub(crate) fn age_words(at_ms: u64, now_ms: u64) -> String {
    let minutes = now_ms.saturating_sub(at_ms) / 60_000;
    match minutes {
        0 => "just now".to_owned(),
        1..60 => format!("{minutes} min"),
        60..1440 => format!("{} h", minutes / 60),
        _ => format!("{} d", minutes / 1440),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::components::night_cells::tests::night;
    use rstest::rstest;
    use skillopt_domain::api::{NightDecision, NightItem};
    use skillopt_domain::night::NightStatus;

    /// A document with these numbers of lines added, edits and flags.
    pub(crate) fn document(key: &str, n_added: u32, n_edits: u32, n_risks: u32) -> ReviewDocument {
        let live_path = "/w/CLAUDE.md".to_owned();
        ReviewDocument { key: key.into(), live_path, n_added, n_removed: 1, n_edits, n_risks }
    }

    /// A night that waits, or cannot be adopted.
    pub(crate) fn item(decision: NightDecision) -> ReviewItem {
        ReviewItem {
            night: NightItem { decision, ..night(NightStatus::Staged) },
            documents: vec![document("memory", 3, 2, 0)],
            n_tasks: Some(14),
            why: String::new(),
        }
    }

    #[test]
    fn a_proposal_is_counted_over_all_its_documents() {
        let all = [document("skill", 3, 2, 0), document("memory", 1, 0, 2)];
        assert_eq!(documents_words(&all), "Skill, Memory");
        assert_eq!(lines(&all), (4, 2));
        assert_eq!(edits_words(&all).as_deref(), Some("2 edits"));
        assert_eq!(risks_words(&all), "2 risk flags");
        assert_eq!((documents_words(&[]), edits_words(&[])), ("—".to_owned(), None));
        assert_eq!(risks_words(&all[..1]), "no risk flags");
    }

    #[test]
    fn scores_that_are_missing_are_no_zero() {
        assert_eq!(scores_words(Some(0.571), Some(0.786)), "0.571 → 0.786");
        assert_eq!(scores_words(None, None), "— → —");
    }

    #[rstest]
    #[case(0, "just now")]
    #[case(59, "59 min")]
    #[case(60, "1 h")]
    #[case(1439, "23 h")]
    #[case(4400, "3 d")]
    fn an_age_is_told_in_one_unit(#[case] minutes: u64, #[case] expect: &str) {
        assert_eq!(age_words(1_000_000, 1_000_000 + minutes * 60_000), expect);
    }
}
