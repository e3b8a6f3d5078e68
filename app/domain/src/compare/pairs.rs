//! Results of two skills on the tasks that both tried: what one passes and the other fails, and how often a
//! difference like this comes up by chance.

use crate::noise::{ALPHA, p_words, sign_test};
use crate::score::TaskScore;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// A task with its score. Two runs share a task when id and title are the same.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskMark {
    /// Its id.
    pub task: String,
    /// Its title.
    pub title: String,
    /// Its score; tasks without one are not listed.
    pub score: TaskScore,
}

/// Which split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairedSplit {
    /// Fed to nobody.
    Test,
    /// The one on which skills were chosen.
    Selection,
}

/// A run against the base on the tasks that both have.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Paired {
    /// Tasks that were scored with both.
    pub n: u32,
    /// The run passes them and the base does not.
    pub n_fixed: u32,
    /// The base passes them and the run does not.
    pub n_broke: u32,
    /// Mean hard score of the run less that of the base, over these tasks.
    pub hard_difference: f64,
    /// Two-sided exact sign test over the tasks that changed.
    pub p: f64,
    /// The same, corrected for the number of runs that are held against the base (Holm).
    pub p_adjusted: f64,
}

/// Pairs the results; `None` when no task was scored with both. `p_adjusted` is `p` until it is corrected.
#[must_use]
pub fn paired(base: &[TaskMark], run: &[TaskMark]) -> Option<Paired> {
    let known: HashMap<(&str, &str), TaskScore> =
        base.iter().map(|mark| ((mark.task.as_str(), mark.title.as_str()), mark.score)).collect();
    let (mut n, mut n_fixed, mut n_broke, mut sum) = (0_u32, 0, 0, 0.0);
    for mark in run {
        let Some(before) = known.get(&(mark.task.as_str(), mark.title.as_str())) else { continue };
        let (before, after) = (before.hard.get(), mark.score.hard.get());
        n += 1;
        sum += after - before;
        match (before >= 1.0, after >= 1.0) {
            (false, true) => n_fixed += 1,
            (true, false) => n_broke += 1,
            _ => {}
        }
    }
    if n == 0 {
        return None;
    }
    let p = sign_test(n_fixed, n_broke);
    Some(Paired { n, n_fixed, n_broke, hard_difference: sum / f64::from(n), p, p_adjusted: p })
}

/// What a pair shows, and what it does not. `n_compared` is how many comparisons are stated, for which `p_adjusted` is corrected.
#[must_use]
pub fn statement(split: PairedSplit, pair: &Paired, n_compared: usize) -> String {
    let where_from = match split {
        PairedSplit::Test => "test",
        PairedSplit::Selection => "selection",
    };
    let Paired { n, n_fixed, n_broke, p, p_adjusted, .. } = *pair;
    let mut words = format!(
        "On {n} shared {where_from} tasks it passes {n_fixed} that the base fails, and fails {n_broke} that the base passes"
    );
    if n_fixed + n_broke == 0 {
        return words + ": no difference was seen.";
    }
    words += &format!(" ({}", p_words(p));
    if n_compared > 1 {
        words += &format!("; {} for {n_compared} comparisons", p_words(p_adjusted));
    }
    words += "). ";
    words += if p_adjusted < ALPHA {
        "This is more than noise on these tasks; one run of each cannot show that the config is the reason."
    } else {
        "This is within noise."
    };
    if split == PairedSplit::Selection {
        words += " Both skills were chosen on these tasks, which flatters them.";
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::Score;

    fn marks(passes: &str) -> Vec<TaskMark> {
        let mark = |(at, letter): (usize, char)| {
            let score = Score::from_bool(letter == '1');
            TaskMark {
                task: format!("t{at}"),
                title: "q".into(),
                score: TaskScore { hard: score, soft: score },
            }
        };
        passes.chars().enumerate().filter(|(_, letter)| *letter != '-').map(mark).collect()
    }

    #[test]
    fn only_tasks_scored_with_both_count() {
        let pair = paired(&marks("0011-"), &marks("111-1")).expect("shared tasks");
        assert_eq!((pair.n, pair.n_fixed, pair.n_broke), (3, 2, 0));
        assert!((pair.hard_difference - 2.0 / 3.0).abs() < 1e-12);
        assert!((pair.p - 0.5).abs() < 1e-12);
        assert_eq!(paired(&marks("1"), &marks("-1")), None);
    }

    #[test]
    fn a_task_with_the_same_id_and_another_title_is_another_task() {
        let mut other = marks("1");
        other[0].title = "another question".into();
        assert_eq!(paired(&marks("1"), &other), None);
    }

    #[test]
    fn a_statement_says_no_more_than_the_numbers() {
        let pair = Paired {
            n: 40,
            n_fixed: 6,
            n_broke: 2,
            hard_difference: 0.1,
            p: 0.289,
            p_adjusted: 0.289,
        };
        let words = statement(PairedSplit::Test, &pair, 1);
        assert_eq!(
            words,
            "On 40 shared test tasks it passes 6 that the base fails, and fails 2 that the base passes (p = 0.29). \
             This is within noise."
        );
        let strong = Paired { n_fixed: 12, n_broke: 1, p: 0.003, p_adjusted: 0.06, ..pair };
        let words = statement(PairedSplit::Selection, &strong, 20);
        assert!(words.contains("p = 0.003; p = 0.060 for 20 comparisons"), "{words}");
        assert!(words.contains("within noise. Both skills were chosen on these tasks"), "{words}");
        let alone = statement(PairedSplit::Test, &Paired { p_adjusted: 0.003, ..strong }, 1);
        assert!(alone.contains("more than noise") && alone.contains("cannot show"), "{alone}");
        let even = Paired { n_fixed: 0, n_broke: 0, p: 1.0, p_adjusted: 1.0, ..pair };
        assert!(statement(PairedSplit::Test, &even, 1).ends_with("no difference was seen."));
    }
}
