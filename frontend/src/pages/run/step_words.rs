//! The sentences of a step's story. Pure, tested.

use super::update_words::Item;
use crate::fmt;
use skillopt_domain::event::{Ranking, ReflectionSummary, StepSummary};
use skillopt_domain::noise::{ALPHA, p_words, sign_test};
use skillopt_domain::outcome::OutcomeCounts;
use skillopt_domain::score::{GateMetric, MeanScore};
use skillopt_domain::spend::SpendByRole;
use skillopt_domain::verdict::{Action, Change, Verdict};

/// The verdict: in bold, in plain, and the word that ends it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct VerdictWords {
    /// `0.700 → 0.750`; empty when nothing was compared.
    pub(crate) scores: String,
    /// ` on 40 tasks: 4 fixed, 2 broke. `
    pub(crate) middle: String,
    /// `Accepted` `as new best.`
    pub(crate) bold: &'static str,
    pub(crate) end: &'static str,
    /// What it rests on.
    pub(crate) note: String,
}

fn ending(action: Action) -> (&'static str, &'static str) {
    match action {
        Action::AcceptNewBest => ("Accepted", " as new best."),
        Action::Accept => ("Accepted", "."),
        Action::ForceAccept => ("Kept", " because the gate is off."),
        Action::Reject => ("Rejected", "."),
        Action::SkipNoPatches => ("No edit was proposed", ", so there was nothing to test."),
        Action::SkipNoChange => ("No edit applied", ", so there was nothing to test."),
        Action::SkipNoRewrite => ("No new text could be used", ", so there was nothing to test."),
        Action::Inconclusive => ("Not decided", "."),
    }
}

/// The verdict of a finished step; `verdict` is missing when nothing was gated.
pub(crate) fn verdict_words(step: &StepSummary, verdict: Option<&Verdict>) -> VerdictWords {
    let (bold, end) = ending(step.action);
    let compared = verdict.and_then(|verdict| Some((arithmetic(verdict)?, verdict)));
    let Some(((scores, middle), verdict)) = compared else {
        return VerdictWords {
            scores: String::new(),
            middle: String::new(),
            bold,
            end,
            note: step.reason.clone(),
        };
    };
    VerdictWords { scores, middle, bold, end, note: verdict_note(verdict) }
}

/// `0.700 → 0.750` and ` on 40 tasks: 4 fixed, 2 broke. `; `None` when nothing was compared.
pub(crate) fn arithmetic(verdict: &Verdict) -> Option<(String, String)> {
    let (before, after) = (verdict.current_score?, verdict.candidate_score?);
    let n = verdict.candidate.map_or(0, |score| score.n);
    let flips = verdict.flips();
    let scores = format!("{} → {}", fmt::score(Some(before)), fmt::score(Some(after)));
    let middle = format!(
        "{}: {}{}. ",
        if n > 0 {
            format!(" on {}", fmt::plural(u64::from(n), "task", "tasks"))
        } else {
            String::new()
        },
        fmt::flips(flips.map(|one| one.0), flips.map(|one| one.1)),
        refused_words(verdict)
    );
    Some((scores, middle))
}

/// Both metrics of the two skills on the same tasks.
pub(crate) fn means_words(verdict: &Verdict) -> String {
    match (verdict.current, verdict.candidate) {
        (Some(current), Some(candidate)) => format!(
            "Hard {:.3} → {:.3}, soft {:.3} → {:.3} on the same tasks.",
            current.hard, candidate.hard, current.soft, candidate.soft
        ),
        _ if verdict.changes_unknown => {
            "The results of both skills are not there, so that they cannot be compared.".to_owned()
        }
        _ => "No task was scored with both skills.".to_owned(),
    }
}

/// Tasks that were answered before and are declined now; said only where there are some.
fn refused_words(verdict: &Verdict) -> String {
    let count = verdict.changes.iter().filter(|change| change.change == Change::Refused).count();
    if count == 0 { String::new() } else { format!(", {count} refused now") }
}

/// What a verdict rests on.
pub(crate) fn verdict_note(verdict: &Verdict) -> String {
    let mut parts = vec![sentence(why(&verdict.reason))];
    if verdict.n_not_compared > 0 {
        let tasks = fmt::plural(u64::from(verdict.n_not_compared), "task", "tasks");
        parts.push(format!("{tasks} could not be compared."));
    }
    if verdict.reused {
        parts.push("This text was measured earlier in the run, so nothing was spent.".to_owned());
    }
    if verdict.action.is_accepted() {
        parts.extend(alone(verdict));
    }
    parts.join(" ")
}

/// The gate's sentence without the arithmetic, which stands above it already.
fn why(reason: &str) -> &str {
    reason.split_once("; ").filter(|(sums, _)| sums.contains('→')).map_or(reason, |(_, why)| why)
}

/// Whether the change by itself is more than chance.
fn alone(verdict: &Verdict) -> Option<String> {
    let (fixed, broke) = verdict.flips()?;
    if fixed + broke == 0 {
        return None;
    }
    let p = sign_test(fixed, broke);
    let what = if p < ALPHA { "more than noise" } else { "within noise" };
    Some(format!(
        "Taken alone the change is {what} ({fixed} against {broke}, paired {}).",
        p_words(p)
    ))
}

fn sentence(text: &str) -> String {
    let text = fmt::capital(text.trim());
    if text.is_empty() || text.ends_with(['.', '!', '?']) { text } else { text + "." }
}

/// `29 passed, 11 failed`, with what was not scored only where there is some.
pub(crate) fn counts_words(counts: &OutcomeCounts) -> (String, String) {
    let mut rest = vec![format!("{} failed", counts.failed)];
    if counts.refused > 0 {
        rest.push(format!("{} refused", counts.refused));
    }
    if counts.errors > 0 {
        rest.push(fmt::plural(u64::from(counts.errors), "error", "errors"));
    }
    (format!("{} passed", counts.passed), format!(", {}.", rest.join(", ")))
}

/// `Hard 0.725, soft 0.825, n = 40.`
pub(crate) fn mean_words(score: Option<MeanScore>) -> String {
    score.map_or_else(
        || "No task was scored.".to_owned(),
        |score| {
            format!("Hard {:.3}, soft {:.3}, {}.", score.hard, score.soft, fmt::n(Some(score.n)))
        },
    )
}

/// Where the edits (or what stands in their place) came from and what got lost.
pub(crate) fn reflection_words(reflection: &ReflectionSummary, item: Item) -> String {
    let calls = reflection.n_failure_minibatches + reflection.n_success_minibatches;
    let mut words = format!(
        "{} from {} ({} of failures, {} of successes).",
        item.count(usize::try_from(reflection.n_edits).unwrap_or(usize::MAX)),
        fmt::plural(u64::from(calls), "minibatch", "minibatches"),
        reflection.n_failure_minibatches,
        reflection.n_success_minibatches,
    );
    if reflection.n_reasked > 0 {
        let replies = fmt::plural(u64::from(reflection.n_reasked), "reply was", "replies were");
        words += &format!(" {replies} asked for again.");
    }
    if reflection.n_repaired > 0 {
        let replies = fmt::plural(u64::from(reflection.n_repaired), "reply was", "replies were");
        words += &format!(" {replies} no strict JSON and read after repairs.");
    }
    words
}

/// How the order of edits was found.
pub(crate) fn ranking_words(ranking: Ranking) -> &'static str {
    match ranking {
        Ranking::NotNeeded => "all fit the budget, no ranking was needed",
        Ranking::ByOptimizer => "ranked by the optimizer",
        Ranking::FallbackOrder => {
            "the ranking could not be read, so the order of the merge was kept"
        }
    }
}

/// `hard, 40 selection tasks`.
pub(crate) fn gate_words(verdict: &Verdict) -> String {
    let metric = match verdict.metric {
        GateMetric::Mixed => format!("mixed, soft weighs {:.2}", verdict.mixed_weight),
        other => other.as_str().to_owned(),
    };
    let n = verdict.candidate.map_or(0, |score| score.n);
    format!("{metric}, {}", fmt::plural(u64::from(n), "selection task", "selection tasks"))
}

/// What a stage cost, in words: money, else calls, else nothing.
pub(crate) fn cost_words(spend: &SpendByRole) -> String {
    let all = spend.total();
    match (all.calls, all.known_cost_usd_micros()) {
        (0, _) if all.cached > 0 => "reused".to_owned(),
        (0, _) => "no call".to_owned(),
        (_, Some(micros)) if micros > 0 => fmt::usd(Some(micros)),
        (calls, _) => fmt::plural(calls, "call", "calls"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::charts_data::tests::step;
    use super::*;
    use skillopt_domain::spend::Spend;
    use skillopt_domain::verdict::TaskChange;

    fn change(change: Change) -> TaskChange {
        TaskChange { task: "t".into(), title: String::new(), change, before: 0.0, after: 1.0 }
    }

    fn verdict() -> Verdict {
        let mean = |hard| Some(MeanScore { hard, soft: hard, n: 40 });
        Verdict {
            action: Action::AcceptNewBest,
            metric: GateMetric::Hard,
            mixed_weight: 0.5,
            current: mean(0.7),
            candidate: mean(0.75),
            current_score: Some(0.7),
            candidate_score: Some(0.75),
            n_not_compared: 1,
            changes_unknown: false,
            changes: [vec![change(Change::Fixed); 4], vec![change(Change::Broke); 2]].concat(),
            reused: false,
            reason: "strictly better than current".into(),
        }
    }

    #[test]
    fn a_verdict_is_said_in_words() {
        let accepted = StepSummary { action: Action::AcceptNewBest, ..step(14) };
        let words = verdict_words(&accepted, Some(&verdict()));
        assert_eq!(
            words.scores + &words.middle + words.bold + words.end,
            "0.700 → 0.750 on 40 tasks: 4 fixed, 2 broke. Accepted as new best."
        );
        assert_eq!(
            words.note,
            "Strictly better than current. 1 task could not be compared. Taken alone the change is within noise (4 against 2, paired p = 0.69)."
        );
    }

    #[test]
    fn the_arithmetic_is_said_once() {
        let reason = "0.679 → 0.321 on 56 tasks: 0 fixed, 20 broke; rejected, the score fell";
        assert_eq!(why(reason), "rejected, the score fell");
        assert_eq!(
            why("too many errors; nothing was decided"),
            "too many errors; nothing was decided"
        );
    }

    #[test]
    fn a_skipped_step_tells_its_reason() {
        let skipped = StepSummary {
            action: Action::SkipNoPatches,
            reason: "no call proposed an edit".into(),
            ..step(2)
        };
        let words = verdict_words(&skipped, None);
        assert_eq!(
            (words.scores.as_str(), words.bold, words.note.as_str()),
            ("", "No edit was proposed", "no call proposed an edit")
        );
    }

    #[test]
    fn only_what_happened_is_counted_out() {
        let counts = OutcomeCounts { passed: 29, failed: 11, refused: 0, errors: 0 };
        assert_eq!(counts_words(&counts), ("29 passed".into(), ", 11 failed.".into()));
        let counts = OutcomeCounts { passed: 1, failed: 0, refused: 2, errors: 1 };
        assert_eq!(counts_words(&counts).1, ", 0 failed, 2 refused, 1 error.");
    }

    #[test]
    fn a_stage_without_a_price_tells_its_calls() {
        let spend = |spend| SpendByRole { target: spend, optimizer: Spend::default() };
        assert_eq!(
            cost_words(&spend(Spend { calls: 3, unpriced_calls: 3, ..Spend::default() })),
            "3 calls"
        );
        assert_eq!(
            cost_words(&spend(Spend { calls: 3, cost_usd_micros: 82_000, ..Spend::default() })),
            "$0.08"
        );
        assert_eq!(cost_words(&spend(Spend { cached: 3, ..Spend::default() })), "reused");
        assert_eq!(cost_words(&spend(Spend::default())), "no call");
    }
}
