//! What an experiment can come to in calls, and how deep a budget of tokens lets it go. Pure.

use super::{BenchFolder, BenchOptions, Direct, ProofOptions};
use crate::consolidate::NightOptions;
use crate::dream::{Depth, plan_depth};
use crate::forecast::{Load, NightLoad, planned_calls};
use crate::replay::count;
use crate::task::{Split, TaskRecord};

/// Most calls of a run of a folder, when each is answered the first time: two tests, its nights, and the guidance over
/// them.
#[must_use]
pub fn bench_calls(folder: &BenchFolder, options: &BenchOptions) -> u64 {
    (2 * test_calls(folder)).saturating_add(learning_calls(folder, options))
}

/// Most calls of a transfer, as [`bench_calls`].
#[must_use]
pub fn transfer_calls(folder: &BenchFolder, options: &BenchOptions, direct: Direct) -> u64 {
    let (tests, learners) = match direct {
        Direct::Measure => (3, 2),
        Direct::Skip => (2, 1),
    };
    (tests * test_calls(folder)).saturating_add(learners * learning_calls(folder, options))
}

/// Most calls of a proof, as [`bench_calls`].
#[must_use]
pub fn proof_calls(options: &ProofOptions) -> u64 {
    let load = NightLoad::of(&options.persona.tasks(options.limit_tasks), &[], 0);
    u64::from(options.nights).saturating_mul(planned_calls(&options.night, &load).total())
}

/// Nights and attempts that `tokens` pay for. An estimate: what holds is the cap.
#[must_use]
pub fn bench_depth(folder: &BenchFolder, tokens: u64) -> Depth {
    let n_train = of_split(folder, Split::Train).len();
    let n = if n_train > 0 { n_train } else { folder.tasks.len() };
    plan_depth(tokens, count(n))
}

fn learning_calls(folder: &BenchFolder, options: &BenchOptions) -> u64 {
    let night = NightOptions { evolve_memory: false, ..options.night.clone() };
    let load = NightLoad { test: Load::default(), ..NightLoad::of(&folder.tasks, &[], 0) };
    let nights = u64::from(options.nights).saturating_mul(planned_calls(&night, &load).total());
    let guidance = match options.nights {
        0 | 1 => 0,
        // The first skill, the last one and the one with guidance as often as the gate measures, and who writes it.
        _ => {
            let repeats = u64::from(options.night.gate_repeats.max(1));
            (1 + 2 * repeats) * Load::of(&of_split(folder, Split::Val)).calls + 1
        }
    };
    nights.saturating_add(guidance)
}

fn test_calls(folder: &BenchFolder) -> u64 {
    Load::of(&of_split(folder, Split::Test)).calls
}

fn of_split(folder: &BenchFolder, split: Split) -> Vec<TaskRecord> {
    folder.tasks.iter().filter(|task| task.split == split).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Persona;
    use crate::task::ReferenceKind;

    fn folder() -> BenchFolder {
        let task = |id: &str, split| TaskRecord {
            id: id.into(),
            reference_kind: ReferenceKind::Exact,
            reference: "r".into(),
            split,
            ..TaskRecord::default()
        };
        let splits =
            [("a", Split::Train), ("b", Split::Train), ("c", Split::Val), ("d", Split::Test)];
        let tasks = splits.map(|(id, split)| task(id, split)).to_vec();
        BenchFolder { name: "f".into(), skill: String::new(), tasks }
    }

    #[test]
    fn f51_tests_nights_and_guidance_are_counted_together() {
        let options = |nights| BenchOptions { nights, night: NightOptions::default() };
        // A night: two attempts that train, three measurements of one task, one reflection.
        assert_eq!(bench_calls(&folder(), &options(1)), 2 + 6);
        assert_eq!(bench_calls(&folder(), &options(2)), 2 + 2 * 6 + 4);
        let mut often = options(2);
        often.night.gate_repeats = 3;
        assert_eq!(bench_calls(&folder(), &often), 2 + 2 * 12 + 1 + 2 * 3 + 1);
        assert_eq!(transfer_calls(&folder(), &options(1), Direct::Skip), 2 + 6);
        assert_eq!(transfer_calls(&folder(), &options(1), Direct::Measure), 3 + 2 * 6);
        let mut proof = ProofOptions::new(Persona::Programmer);
        proof.nights = 1;
        proof.night.evolve_memory = false;
        assert_eq!(proof_calls(&proof), 5 + 3 * 3 + 1);
    }

    #[test]
    fn a_budget_is_planned_by_what_trains() {
        assert_eq!(bench_depth(&folder(), 36_000), Depth { nights: 4, rollouts: 1 });
        assert_eq!(bench_depth(&folder(), 0), Depth { nights: 1, rollouts: 1 });
    }
}
