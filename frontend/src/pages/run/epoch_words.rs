//! What happened between epochs, put together by epoch and said in words. Pure, tested.

use super::step_words::{VerdictWords, arithmetic, verdict_note};
use super::update_words::Said;
use crate::components::look::Look;
use crate::fmt;
use skillopt_domain::config::PairPolicy;
use skillopt_domain::epoch::{
    Comparison, EpochAction, FinalSelection, MetaSkill, PairCategory, SlowUpdate,
};
use skillopt_domain::view::RunView;

/// The end of an epoch.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct EpochEnd {
    pub(crate) epoch: u32,
    /// Its last step, where that is known.
    pub(crate) step: Option<u32>,
    pub(crate) comparison: Option<Comparison>,
    pub(crate) update: Option<SlowUpdate>,
    pub(crate) memory: Option<MetaSkill>,
    /// The optimizer's memory before.
    pub(crate) memory_before: String,
}

/// Something happened between epochs, or last and best skill were compared.
pub(crate) fn has_epochs(view: &RunView) -> bool {
    view.final_selection.is_some()
        || !(view.comparisons.is_empty()
            && view.slow_updates.is_empty()
            && view.meta_skills.is_empty())
}

/// The ends of epochs with something to tell, newest first.
pub(crate) fn epoch_ends(view: &RunView) -> Vec<EpochEnd> {
    let mut numbers: Vec<u32> = view.comparisons.iter().map(|one| one.epoch).collect();
    numbers.extend(view.slow_updates.iter().map(|one| one.epoch));
    numbers.extend(view.meta_skills.iter().map(|one| one.epoch));
    numbers.sort_unstable();
    numbers.dedup();
    let mut memory = String::new();
    let mut ends = Vec::with_capacity(numbers.len());
    for epoch in numbers {
        let end = epoch_end(view, epoch, memory.clone());
        if let Some(renewed) = &end.memory {
            memory.clone_from(&renewed.content);
        }
        ends.push(end);
    }
    ends.reverse();
    ends
}

fn epoch_end(view: &RunView, epoch: u32, memory_before: String) -> EpochEnd {
    let update = view.slow_updates.iter().find(|one| one.epoch == epoch).cloned();
    let planned = || {
        let per_epoch = view.plan.as_ref()?.steps_per_epoch;
        Some(epoch.saturating_mul(per_epoch)).filter(|step| *step > 0)
    };
    EpochEnd {
        epoch,
        step: update.as_ref().map(|update| update.step).or_else(planned),
        comparison: view.comparisons.iter().find(|one| one.epoch == epoch).cloned(),
        memory: view.meta_skills.iter().find(|one| one.epoch == epoch).cloned(),
        update,
        memory_before,
    }
}

/// The verdict on the guidance of an epoch.
pub(crate) fn update_words(update: &SlowUpdate) -> VerdictWords {
    let (bold, end) = ending(update.action);
    let verdict = update.verdict.as_ref();
    let (scores, middle) = verdict.and_then(arithmetic).unwrap_or_default();
    let note = verdict.filter(|_| !scores.is_empty()).map(verdict_note);
    VerdictWords {
        scores,
        middle,
        bold,
        end,
        note: note.unwrap_or_else(|| sentence(&update.reason)),
    }
}

fn ending(action: EpochAction) -> (&'static str, &'static str) {
    match action {
        EpochAction::AcceptNewBest => ("Guidance kept", " as new best."),
        EpochAction::Accept => ("Guidance kept", "."),
        EpochAction::ForceAccept => ("Guidance kept", ", for slow updates are not gated here."),
        EpochAction::Reject => ("Guidance dropped", "."),
        EpochAction::Inconclusive => ("Not decided", "."),
        EpochAction::NoContent => ("No guidance", "."),
        EpochAction::NoChange => ("Nothing changed", "."),
        EpochAction::WriteMetaSkill => ("Memory renewed", "."),
    }
}

fn sentence(text: &str) -> String {
    let text = fmt::capital(text.trim());
    if text.is_empty() || text.ends_with(['.', '!', '?']) { text } else { text + "." }
}

/// Word, shape and colour of a category.
pub(crate) fn category_look(category: PairCategory) -> Look {
    let (status, icon, word) = match category {
        PairCategory::Improved => ("fixed", "triup", "improved"),
        PairCategory::Regressed => ("broke", "tridown", "regressed"),
        PairCategory::PersistentFail => ("rejected", "rejected", "failed with both"),
        PairCategory::StableSuccess => ("done", "accepted", "passed with both"),
    };
    Look { status, icon, word }
}

/// The comparison in a sentence, with the names of the two skills.
pub(crate) fn compared_words(comparison: &Comparison, previous: &str, current: &str) -> Said {
    let tasks = fmt::plural(u64::from(comparison.n_tried), "train task", "train tasks");
    if comparison.previous == comparison.current {
        return Said {
            bold: format!("The skill did not change in epoch {}.", comparison.epoch),
            rest: format!(
                " {tasks} were tried with {current}, so that nothing but noise can differ."
            ),
        };
    }
    Said {
        bold: format!(
            "{} improved, {} regressed",
            comparison.count(PairCategory::Improved),
            comparison.count(PairCategory::Regressed)
        ),
        rest: format!(
            " of {tasks} that were tried with {previous} and {current}, the skills at the end of epochs {} and {}.",
            comparison.epoch.saturating_sub(1),
            comparison.epoch
        ),
    }
}

/// Which pairs the optimizer was shown.
pub(crate) fn policy_words(policy: PairPolicy) -> &'static str {
    match policy {
        PairPolicy::Mixed => "all pairs are shown to the optimizer",
        PairPolicy::Changed => "changed pairs are shown to the optimizer",
        PairPolicy::Unchanged => "unchanged pairs are shown to the optimizer",
    }
}

/// A count of tasks that stand in no category, and what it means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Aside {
    pub(crate) word: &'static str,
    pub(crate) n: u32,
    pub(crate) text: &'static str,
}

/// Tasks beside the categories, where there are any.
pub(crate) fn asides(comparison: &Comparison) -> Vec<Aside> {
    let all = [
        Aside {
            word: "unsteady",
            n: comparison.n_unsteady,
            text: "The change did not show again in a second draw: noise, which the optimizer is not told.",
        },
        Aside {
            word: "unscored",
            n: comparison.n_unscored,
            text: "There is no score with one of the skills.",
        },
        Aside {
            word: "topped up",
            n: comparison.n_topped_up,
            text: "Tried as well because there were too few pairs of the wanted kind.",
        },
    ];
    all.into_iter().filter(|aside| aside.n > 0).collect()
}

/// What became of the memory.
pub(crate) fn memory_words(memory: &MetaSkill) -> Said {
    let next = memory.epoch + 1;
    if memory.action == EpochAction::WriteMetaSkill {
        return Said {
            bold: "The memory was renewed.".to_owned(),
            rest: format!(" The optimizer reads it from epoch {next} on; the target never does."),
        };
    }
    let stays = if memory.content.is_empty() {
        "There is no memory."
    } else {
        "The memory stays as it was."
    };
    Said { bold: stays.to_owned(), rest: format!(" {}", sentence(&memory.reason)) }
}

/// The last look at last and best skill.
pub(crate) fn final_words(selection: &FinalSelection) -> VerdictWords {
    let (bold, end) = if selection.promoted {
        ("The last skill becomes the best one", ".")
    } else {
        ("The best skill stays", ".")
    };
    let scores = selection.best_score.zip(selection.last_score);
    let (scores, middle) = scores.map_or_else(Default::default, |(best, last)| {
        let scores = format!("{} → {}", fmt::score(Some(best)), fmt::score(Some(last)));
        (scores, " from the best to the last skill. ".to_owned())
    });
    let why = selection.reason.split_once("; ").filter(|(sums, _)| sums.contains('→'));
    let why = why.map_or(selection.reason.as_str(), |(_, why)| why);
    VerdictWords { scores, middle, bold, end, note: sentence(why) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::charts::slow::tests::slow_update;
    use skillopt_domain::epoch::PairGroup;
    use skillopt_domain::hash::Sha256Hex;
    use skillopt_domain::spend::SpendByRole;

    fn comparison(epoch: u32) -> Comparison {
        let group = |category, tasks: &[&str]| PairGroup {
            category,
            tasks: tasks.iter().map(|task| (*task).into()).collect(),
        };
        Comparison {
            epoch,
            previous: Sha256Hex::of("a"),
            current: Sha256Hex::of("b"),
            policy: PairPolicy::Mixed,
            groups: vec![
                group(PairCategory::Regressed, &["t1"]),
                group(PairCategory::Improved, &["t2", "t3"]),
            ],
            n_tried: 20,
            n_topped_up: 0,
            n_unsteady: 3,
            n_unscored: 1,
            sets: Vec::new(),
        }
    }

    fn memory(epoch: u32, action: EpochAction, content: &str) -> MetaSkill {
        MetaSkill {
            epoch,
            action,
            content: content.into(),
            reasoning: String::new(),
            wall_ms: 0,
            spend: SpendByRole::default(),
            reason: "the optimizer wrote no memory".into(),
        }
    }

    fn update(action: EpochAction, reason: &str) -> SlowUpdate {
        SlowUpdate { reason: reason.into(), ..slow_update(4, action, 0.5) }
    }

    #[test]
    fn the_ends_of_epochs_are_put_together_newest_first() {
        let view = RunView {
            comparisons: vec![comparison(2), comparison(3)],
            slow_updates: vec![update(EpochAction::Reject, "no gain")],
            meta_skills: vec![
                memory(2, EpochAction::WriteMetaSkill, "old"),
                memory(3, EpochAction::NoContent, "old"),
            ],
            ..RunView::default()
        };
        let ends = epoch_ends(&view);
        let shape: Vec<_> = ends
            .iter()
            .map(|end| (end.epoch, end.step, end.memory_before.as_str(), end.update.is_some()))
            .collect();
        assert_eq!(shape, [(3, None, "old", false), (2, Some(4), "", true)]);
        assert!(has_epochs(&view) && !has_epochs(&RunView::default()));
    }

    #[test]
    fn a_comparison_is_said_in_words() {
        let said = compared_words(&comparison(2), "v1", "v3");
        assert_eq!(
            said.bold + &said.rest,
            "2 improved, 1 regressed of 20 train tasks that were tried with v1 and v3, the skills at the end of epochs 1 and 2."
        );
        let words: Vec<_> = asides(&comparison(2)).iter().map(|a| (a.word, a.n)).collect();
        assert_eq!(words, [("unsteady", 3), ("unscored", 1)]);
        let same = Comparison { previous: Sha256Hex::of("b"), ..comparison(2) };
        assert_eq!(compared_words(&same, "v3", "v3").bold, "The skill did not change in epoch 2.");
    }

    #[test]
    fn guidance_that_never_came_tells_its_reason() {
        let none = update(EpochAction::NoContent, "the optimizer wrote no guidance");
        let words = update_words(&none);
        assert_eq!(words.scores + words.bold + words.end, "No guidance.");
        assert_eq!(words.note, "The optimizer wrote no guidance.");
    }

    #[test]
    fn a_memory_that_was_not_renewed_stays() {
        let said = memory_words(&memory(3, EpochAction::NoContent, "old"));
        assert_eq!(
            said.bold + &said.rest,
            "The memory stays as it was. The optimizer wrote no memory."
        );
        assert_eq!(
            memory_words(&memory(3, EpochAction::NoContent, "")).bold,
            "There is no memory."
        );
    }

    #[test]
    fn the_last_look_says_its_arithmetic_once() {
        let selection = FinalSelection {
            last: Sha256Hex::of("l"),
            best: Sha256Hex::of("b"),
            last_score: Some(0.786),
            best_score: Some(0.857),
            promoted: false,
            best_step: 4,
            version: 5,
            reason: "0.857 → 0.786; the last skill is no better, the best one stays".into(),
            cost: None,
        };
        let words = final_words(&selection);
        assert_eq!(
            words.scores + &words.middle + words.bold + words.end,
            "0.857 → 0.786 from the best to the last skill. The best skill stays."
        );
        assert_eq!(words.note, "The last skill is no better, the best one stays.");
        let promoted = FinalSelection { promoted: true, ..selection };
        assert_eq!(final_words(&promoted).bold, "The last skill becomes the best one");
    }
}
