//! What stands out in a run, in sentences that the numbers at hand prove. Pure, tested.

use crate::charts::scale::to_count;
use crate::fmt;
use skillopt_domain::epoch::{EpochAction, SlowUpdate};
use skillopt_domain::event::StepSummary;
use skillopt_domain::noise::{ALPHA, p_words, sign_test};
use skillopt_domain::run::RunStatus;
use skillopt_domain::verdict::Action;
use skillopt_domain::view::RunView;

/// An error share above this is worth a sentence.
const MANY_ERRORS: f64 = 0.1;
/// So many steps in a row without an accepted one are worth a sentence.
const LONG_DROUGHT: usize = 4;

/// A sentence with its look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Note {
    /// `data-status` and the icon of the same state.
    pub(crate) status: &'static str,
    pub(crate) icon: &'static str,
    /// In bold.
    pub(crate) title: String,
    pub(crate) text: String,
}

/// Three notes at most, the most telling first.
pub(crate) fn notes(view: &RunView, steps: &[StepSummary], metric: &str) -> Vec<Note> {
    let is_whole = steps.len() == usize::try_from(view.n_steps).unwrap_or(usize::MAX);
    let all = [
        errors(steps),
        gain(view, steps, metric, is_whole),
        test(view),
        drought(view, steps),
        used(view, steps, is_whole),
    ];
    all.into_iter().flatten().take(3).collect()
}

/// Best against start, and whether it is more than noise.
fn gain(view: &RunView, steps: &[StepSummary], metric: &str, is_whole: bool) -> Option<Note> {
    let start = view.versions.first()?;
    let best = view.best.as_ref()?;
    let (before, after, n) = (start.score?, best.score?, best.n?);
    let delta = fmt::delta(Some(before), Some(after))?;
    if best.step == 0 {
        let text = format!("{} stays the best on {} tasks.", fmt::score(Some(before)), n);
        let title = "No candidate has beaten the start yet.".to_owned();
        return (view.n_steps > 0).then_some(Note {
            status: "no-gain",
            icon: "noimp",
            title,
            text,
        });
    }
    let path: Vec<&StepSummary> =
        steps.iter().filter(|step| step.action.is_accepted() && step.step <= best.step).collect();
    // The flips of slow updates stand in no step.
    let is_by_steps = !view.slow_updates.iter().any(|update| update.action.is_accepted());
    let is_exact = metric == "hard" && is_whole && is_by_steps && start.n == Some(n);
    let noise = is_exact.then(|| noise_words(&path, before, after, n)).flatten();
    let text = format!(
        "v0 to v{} on the same {n} tasks: {} → {}.",
        best.version,
        fmt::score(Some(before)),
        fmt::score(Some(after))
    );
    let (status, icon, title) = match noise {
        Some((Noise::Larger, _)) => {
            ("accepted", "accepted", format!("The gain of {} is larger than noise.", delta.text))
        }
        Some((Noise::Within, _)) => {
            ("warning", "warning", format!("The gain of {} may be noise.", delta.text))
        }
        Some((Noise::Open, _)) | None => {
            ("accepted", "accepted", format!("Best is {} over the start.", delta.text))
        }
    };
    let words = noise.map_or_else(String::new, |(_, words)| format!(" {words}"));
    Some(Note { status, icon, title, text: text + &words })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Noise {
    Larger,
    Within,
    Open,
}

/// Tasks may flip twice on the way, so the number that differ between start and best is known only within
/// bounds: at least the net gain, at most all flips of the accepted steps. Both ends are tested.
fn noise_words(path: &[&StepSummary], before: f64, after: f64, n: u32) -> Option<(Noise, String)> {
    let fixed: u32 = path.iter().map(|step| step.n_fixed.unwrap_or(0)).sum();
    let broke: u32 = path.iter().map(|step| step.n_broke.unwrap_or(0)).sum();
    let net = to_count((after - before) * f64::from(n));
    // Unequal sums mean that some step compared other tasks: then nothing is proven.
    if fixed < broke || fixed - broke != net {
        return None;
    }
    let (least, most) = (sign_test(net, 0), sign_test(fixed, broke));
    Some(if most < ALPHA {
        (
            Noise::Larger,
            format!(
                "{fixed} fixed, {broke} broke over the accepted steps, paired {}.",
                p_words(most)
            ),
        )
    } else if least >= ALPHA {
        (Noise::Within, format!("{net} tasks more; even if none broke, paired {}.", p_words(least)))
    } else if path.len() == 1 {
        (Noise::Within, format!("{fixed} fixed, {broke} broke, paired {}.", p_words(most)))
    } else {
        (
            Noise::Open,
            format!(
                "{fixed} fixed and {broke} broke step by step; whether that is noise needs the test split."
            ),
        )
    })
}

/// The held-out result, when it is there.
fn test(view: &RunView) -> Option<Note> {
    let (initial, best) = (view.test_initial.as_ref()?, view.test_best.as_ref()?);
    let (before, after) = (initial.gate_score?, best.gate_score?);
    let n = best.score?.n;
    let delta = fmt::delta(Some(before), Some(after))?;
    let same = initial.skill == best.skill;
    let text = if same {
        format!(
            "The initial skill is the best one; it scores {} on {n} tasks.",
            fmt::score(Some(after))
        )
    } else {
        format!(
            "{} → {} ({}) on {n} tasks that training never saw.",
            fmt::score(Some(before)),
            fmt::score(Some(after)),
            delta.text
        )
    };
    let (status, icon) =
        if after > before { ("accepted", "accepted") } else { ("no-gain", "noimp") };
    let title = match delta.sign {
        "up" => "The test split agrees.",
        _ if same => "The test split has one score.",
        "down" => "The test split fell.",
        _ => "The test split shows no gain.",
    };
    Some(Note { status, icon, title: title.to_owned(), text })
}

/// Steps in which many attempts failed for reasons that are not the skill's.
fn errors(steps: &[StepSummary]) -> Option<Note> {
    let share = |step: &StepSummary| f64::from(step.n_errors) / f64::from(step.n_attempts.max(1));
    let bad: Vec<&StepSummary> = steps.iter().filter(|step| share(step) > MANY_ERRORS).collect();
    let worst = bad.iter().copied().max_by(|a, b| share(a).total_cmp(&share(b)))?;
    let count = u64::try_from(bad.len()).unwrap_or(u64::MAX);
    Some(Note {
        status: "error",
        icon: "error",
        title: format!("Many system errors in {}.", fmt::plural(count, "step", "steps")),
        text: format!(
            "Worst is step {}: {} of {} attempts. Errors are never scored, but comparisons rest on fewer tasks.",
            worst.step, worst.n_errors, worst.n_attempts
        ),
    })
}

/// No accepted step for a while.
fn drought(view: &RunView, steps: &[StepSummary]) -> Option<Note> {
    let since = steps.iter().rev().take_while(|step| !step.action.is_accepted()).count();
    let is_going_on = view.status.is_live() || view.status == RunStatus::Done;
    if since < LONG_DROUGHT || !is_going_on {
        return None;
    }
    let last = steps.iter().rev().find(|step| step.action.is_accepted());
    let text = last.map_or_else(
        || "The start was never left.".to_owned(),
        |last| format!("The last one was step {}. The skill may be near what these models and tasks allow.", last.step),
    );
    Some(Note {
        status: "no-gain",
        icon: "noimp",
        title: format!("No step was accepted in the last {since}."),
        text,
    })
}

/// How often the selection split was asked: each time makes it a little less independent.
fn used(view: &RunView, steps: &[StepSummary], is_whole: bool) -> Option<Note> {
    let gated = steps
        .iter()
        .filter(|step| !step.action.is_skip() && step.action != Action::Inconclusive)
        .count();
    if gated == 0 || !is_whole {
        return None;
    }
    let n_test = view.plan.as_ref().map_or(0, |plan| plan.n_test);
    let text = if view.test_best.is_some() || n_test == 0 {
        "The best of many candidates looks better than it is on the split that chose it.".to_owned()
    } else {
        format!("The test split ({n_test} tasks) is scored once, at the end.")
    };
    let steps = fmt::plural(u64::try_from(gated).unwrap_or(0), "step", "steps");
    let is_measured = |update: &&SlowUpdate| {
        update.verdict.is_some() && update.action != EpochAction::Inconclusive
    };
    let title = match view.slow_updates.iter().filter(is_measured).count() {
        0 => format!("The selection split has decided {steps}."),
        slow => {
            let slow = u64::try_from(slow).unwrap_or(0);
            let slow = fmt::plural(slow, "slow update", "slow updates");
            format!("The selection split has decided {steps} and {slow}.")
        }
    };
    Some(Note { status: "idle", icon: "gate", title, text })
}

#[cfg(test)]
mod tests {
    use super::super::charts_data::tests::step;
    use super::*;
    use crate::charts::slow::tests::slow_update;
    use skillopt_domain::hash::Sha256Hex;
    use skillopt_domain::view::{BestSkill, SkillVersion};

    fn run(score: f64, accepted: &[(u32, u32)]) -> (RunView, Vec<StepSummary>) {
        let skill = Sha256Hex::of("x");
        let version = |version, step, score| SkillVersion {
            version,
            step,
            skill: skill.clone(),
            score: Some(score),
            n: Some(40),
            tokens: 1,
        };
        let steps: Vec<StepSummary> = accepted
            .iter()
            .zip(1..)
            .map(|((fixed, broke), number)| StepSummary {
                action: Action::AcceptNewBest,
                n_fixed: Some(*fixed),
                n_broke: Some(*broke),
                ..step(number)
            })
            .collect();
        let n_steps = u32::try_from(steps.len()).expect("few");
        let best = BestSkill {
            step: n_steps,
            version: n_steps,
            skill: skill.clone(),
            score: Some(score),
            n: Some(40),
        };
        let view = RunView {
            versions: vec![version(0, 0, 0.5), version(n_steps, n_steps, score)],
            best: Some(best),
            n_steps,
            ..RunView::default()
        };
        (view, steps)
    }

    fn gain_title(score: f64, accepted: &[(u32, u32)]) -> String {
        let (view, steps) = run(score, accepted);
        gain(&view, &steps, "hard", true).expect("a gain").title
    }

    #[test]
    fn a_gain_that_every_reading_proves_is_larger_than_noise() {
        assert_eq!(
            gain_title(0.775, &[(8, 1), (5, 1)]),
            "The gain of +0.275 is larger than noise."
        );
    }

    #[test]
    fn a_gain_that_no_reading_proves_may_be_noise() {
        assert_eq!(gain_title(0.55, &[(4, 2)]), "The gain of +0.050 may be noise.");
    }

    #[test]
    fn a_gain_in_between_is_told_without_a_claim() {
        assert_eq!(gain_title(0.65, &[(9, 6), (9, 6)]), "Best is +0.150 over the start.");
    }

    #[test]
    fn sums_that_do_not_add_up_prove_nothing() {
        assert_eq!(gain_title(0.9, &[(3, 1)]), "Best is +0.400 over the start.");
    }

    #[test]
    fn flips_of_slow_updates_are_unknown_so_that_nothing_is_claimed() {
        let (mut view, steps) = run(0.775, &[(8, 1), (5, 1)]);
        view.slow_updates = vec![slow_update(1, EpochAction::Accept, 0.6)];
        let note = gain(&view, &steps, "hard", true).expect("a gain");
        assert_eq!(note.title, "Best is +0.275 over the start.");
    }

    #[test]
    fn a_run_without_a_better_candidate_says_so() {
        let (mut view, _) = run(0.5, &[]);
        view.n_steps = 3;
        let note = gain(&view, &[], "hard", false).expect("a note");
        assert_eq!(note.title, "No candidate has beaten the start yet.");
    }

    #[test]
    fn steps_with_many_errors_come_first() {
        let (view, mut steps) = run(0.55, &[(4, 2)]);
        steps[0].n_errors = 30;
        assert_eq!(notes(&view, &steps, "hard")[0].status, "error");
    }
}
