//! The matrix of tasks by measured skills: what became of each task with each skill, and what changed. Pure; a store
//! fills the grid and shows a part of it.

use crate::outcome::OutcomeKind;
use serde::{Deserialize, Serialize};
use std::borrow::Borrow;
use std::collections::BTreeMap;

/// A cell of the matrix in one word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum CellState {
    /// Passed, as with the skill that it is compared with, or there is none.
    Pass,
    /// Failed, as with the skill that it is compared with, or there is none.
    Fail,
    /// Failed with the skill that it is compared with, passes now.
    Fixed,
    /// Passed with the skill that it is compared with, fails now.
    Broke,
    /// The model declined.
    Refused,
    /// A system failed; never scored.
    Error,
    /// The task was not tried with this skill.
    #[default]
    Missing,
}

impl CellState {
    /// The result differs from that with the skill that it is compared with.
    #[must_use]
    pub fn is_change(self) -> bool {
        matches!(self, Self::Fixed | Self::Broke)
    }

    /// It passed.
    #[must_use]
    pub fn is_pass(self) -> bool {
        matches!(self, Self::Pass | Self::Fixed)
    }

    /// It failed.
    #[must_use]
    pub fn is_fail(self) -> bool {
        matches!(self, Self::Fail | Self::Broke)
    }

    fn of(now: OutcomeKind, before: Option<OutcomeKind>) -> Self {
        match (now, before) {
            (OutcomeKind::Passed, Some(OutcomeKind::Failed)) => Self::Fixed,
            (OutcomeKind::Failed, Some(OutcomeKind::Passed)) => Self::Broke,
            (OutcomeKind::Passed, _) => Self::Pass,
            (OutcomeKind::Failed, _) => Self::Fail,
            (OutcomeKind::Refused, _) => Self::Refused,
            (OutcomeKind::InfraError | OutcomeKind::JudgeError, _) => Self::Error,
        }
    }
}

/// With which column a column is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// With none.
    Nothing,
    /// With an earlier one, by its place.
    Column(usize),
    /// Each task with the last earlier column that scored it.
    Earlier,
}

/// A measured skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GridColumn {
    /// With what it is compared.
    pub base: Base,
    /// Outcomes by the place of their task, of the tasks that were tried only: a batch is a small part of all tasks.
    pub outcomes: BTreeMap<usize, OutcomeKind>,
}

/// A cell with what it is compared with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    /// What became of the task.
    pub state: CellState,
    /// Place of the column that it is compared with, where that one scored the task.
    pub against: Option<usize>,
}

/// What happened to a task over all columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TaskStory {
    /// Cells that are fixed.
    pub n_fixed: u32,
    /// Cells that broke.
    pub n_broke: u32,
    /// Cells that passed.
    pub n_passed: u32,
    /// Cells that failed.
    pub n_failed: u32,
    /// Cells without a score although the task was tried.
    pub n_unscored: u32,
    /// Place of the last column with a change.
    pub last_change: Option<usize>,
}

/// Which tasks are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum TaskFilter {
    /// All of them.
    #[default]
    All,
    /// Those that some skill fixed or broke.
    Changed,
    /// Those that passed whenever they were scored.
    AlwaysPassed,
    /// Those that failed whenever they were scored.
    NeverPassed,
    /// Those that once ended in a refusal or an error.
    Unscored,
}

impl TaskFilter {
    /// All filters, in the order in which they are listed.
    pub const ALL: [Self; 5] =
        [Self::All, Self::Changed, Self::AlwaysPassed, Self::NeverPassed, Self::Unscored];

    /// The stable word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Changed => "changed",
            Self::AlwaysPassed => "always_passed",
            Self::NeverPassed => "never_passed",
            Self::Unscored => "unscored",
        }
    }

    /// The task belongs to it.
    #[must_use]
    pub fn holds(self, story: &TaskStory) -> bool {
        match self {
            Self::All => true,
            Self::Changed => story.n_fixed + story.n_broke > 0,
            Self::AlwaysPassed => story.n_passed > 0 && story.n_failed == 0,
            Self::NeverPassed => story.n_failed > 0 && story.n_passed == 0,
            Self::Unscored => story.n_unscored > 0,
        }
    }
}

/// Order of the tasks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum TaskOrder {
    /// Those that changed most often first.
    #[default]
    Changes,
    /// Those that changed last first.
    LastChange,
    /// As the tasks stand in their split.
    Task,
}

impl TaskOrder {
    /// The stable word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Changes => "changes",
            Self::LastChange => "last_change",
            Self::Task => "task",
        }
    }
}

/// All cells of tasks that were tried: `cells[column]`, by the place of their task, rising. What is not there is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grid {
    n_tasks: usize,
    cells: Vec<Vec<(usize, Cell)>>,
}

impl Grid {
    /// Compares each column with its base. Tasks whose place is `n_tasks` or above are left out, and a base that does
    /// not come before its column counts as none. Takes time and memory by the attempts, not by tasks times columns.
    #[must_use]
    pub fn of<C: Borrow<GridColumn>>(n_tasks: usize, columns: &[C]) -> Self {
        let scored = |column: usize, task: usize| {
            let outcome = columns.get(column)?.borrow().outcomes.get(&task).copied();
            outcome.filter(|kind| matches!(kind, OutcomeKind::Passed | OutcomeKind::Failed))
        };
        let mut scored_last: Vec<Option<usize>> = vec![None; n_tasks];
        let mut cells = Vec::with_capacity(columns.len());
        for (at, column) in columns.iter().map(Borrow::borrow).enumerate() {
            let mut tried = Vec::with_capacity(column.outcomes.len());
            for (task, now) in column.outcomes.range(..n_tasks) {
                let base = match column.base {
                    Base::Nothing => None,
                    Base::Column(base) => Some(base).filter(|base| *base < at),
                    Base::Earlier => scored_last[*task],
                };
                let before = base.and_then(|base| scored(base, *task));
                let against = base.filter(|_| before.is_some());
                tried.push((*task, Cell { state: CellState::of(*now, before), against }));
                if scored(at, *task).is_some() {
                    scored_last[*task] = Some(at);
                }
            }
            cells.push(tried);
        }
        Self { n_tasks, cells }
    }

    /// A cell; missing when the task was not tried with the column's skill.
    #[must_use]
    pub fn cell(&self, column: usize, task: usize) -> Cell {
        let tried = self.tried(column);
        let at = tried.binary_search_by_key(&task, |(task, _)| *task);
        at.map_or_else(|_| Cell::default(), |at| tried[at].1)
    }

    fn tried(&self, column: usize) -> &[(usize, Cell)] {
        self.cells.get(column).map_or(&[], Vec::as_slice)
    }

    /// What happened to each task over the columns of these places.
    #[must_use]
    pub fn stories(&self, columns: &[usize]) -> Vec<TaskStory> {
        let mut stories = vec![TaskStory::default(); self.n_tasks];
        for column in columns {
            for (task, Cell { state, .. }) in self.tried(*column) {
                let story = &mut stories[*task];
                story.n_fixed += u32::from(*state == CellState::Fixed);
                story.n_broke += u32::from(*state == CellState::Broke);
                story.n_passed += u32::from(state.is_pass());
                story.n_failed += u32::from(state.is_fail());
                story.n_unscored +=
                    u32::from(matches!(state, CellState::Refused | CellState::Error));
                if state.is_change() {
                    story.last_change = Some(*column);
                }
            }
        }
        stories
    }

    /// How many cells of a column are in each of these states: passed, failed, fixed, broke.
    #[must_use]
    pub fn totals(&self, column: usize) -> [u32; 4] {
        let mut totals = [0; 4];
        for (_, Cell { state, .. }) in self.tried(column) {
            totals[0] += u32::from(state.is_pass());
            totals[1] += u32::from(state.is_fail());
            totals[2] += u32::from(*state == CellState::Fixed);
            totals[3] += u32::from(*state == CellState::Broke);
        }
        totals
    }
}

/// Places of the tasks that a filter lets through, in order. Tasks of one rank keep their order.
#[must_use]
pub fn ordered(stories: &[TaskStory], filter: TaskFilter, order: TaskOrder) -> Vec<usize> {
    let mut tasks: Vec<usize> =
        (0..stories.len()).filter(|task| filter.holds(&stories[*task])).collect();
    let n_changes = |task: &usize| stories[*task].n_fixed + stories[*task].n_broke;
    match order {
        TaskOrder::Changes => tasks.sort_by_key(|task| std::cmp::Reverse(n_changes(task))),
        TaskOrder::LastChange => {
            tasks.sort_by_key(|task| std::cmp::Reverse(stories[*task].last_change));
        }
        TaskOrder::Task => {}
    }
    tasks
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A column from letters: passed, failed, refused, error, and a dot for a task that was not tried.
    fn column(base: Base, letters: &str) -> GridColumn {
        let kind = |letter| match letter {
            'p' => Some(OutcomeKind::Passed),
            'f' => Some(OutcomeKind::Failed),
            'r' => Some(OutcomeKind::Refused),
            'e' => Some(OutcomeKind::InfraError),
            _ => None,
        };
        let outcomes = letters.chars().map(kind).enumerate();
        GridColumn {
            base,
            outcomes: outcomes.filter_map(|(task, kind)| Some((task, kind?))).collect(),
        }
    }

    fn grid(columns: &[(Base, &str)]) -> Grid {
        let n_tasks = columns.iter().map(|(_, letters)| letters.len()).max().unwrap_or_default();
        let columns: Vec<GridColumn> =
            columns.iter().map(|(base, letters)| column(*base, letters)).collect();
        Grid::of(n_tasks, &columns)
    }

    fn states(grid: &Grid, column: usize) -> Vec<CellState> {
        (0..grid.n_tasks).map(|task| grid.cell(column, task).state).collect()
    }

    #[test]
    fn a_rejected_candidate_is_no_base_for_the_next_one() {
        use CellState::{Broke, Error, Fail, Fixed, Missing, Pass, Refused};
        let grid = grid(&[
            (Base::Nothing, "pfpfp"),
            (Base::Column(0), "fppr."),
            (Base::Column(0), "ppfe"),
        ]);
        assert_eq!(states(&grid, 0), [Pass, Fail, Pass, Fail, Pass]);
        assert_eq!(states(&grid, 1), [Broke, Fixed, Pass, Refused, Missing]);
        assert_eq!(states(&grid, 2), [Pass, Fixed, Broke, Error, Missing]);
        assert_eq!(grid.totals(1), [2, 1, 1, 1]);
    }

    #[test]
    fn a_task_without_a_score_before_has_not_changed() {
        let grid = grid(&[(Base::Nothing, "er."), (Base::Column(0), "pff")]);
        assert_eq!(states(&grid, 1), [CellState::Pass, CellState::Fail, CellState::Fail]);
        assert_eq!(grid.cell(1, 0).against, None);
    }

    #[test]
    fn batches_compare_each_task_with_the_last_time_it_was_scored() {
        let grid = grid(&[(Base::Earlier, "pf"), (Base::Earlier, ".e"), (Base::Earlier, "fp")]);
        assert_eq!(states(&grid, 2), [CellState::Broke, CellState::Fixed]);
        assert_eq!(grid.cell(2, 1).against, Some(0));
    }

    #[test]
    fn tasks_are_filtered_and_ordered_by_what_happened_to_them() {
        let grid = grid(&[
            (Base::Nothing, "ppffp"),
            (Base::Column(0), "fpfpp"),
            (Base::Column(1), "pffpe"),
        ]);
        let stories = grid.stories(&[0, 1, 2]);
        let tasks = |filter, order| ordered(&stories, filter, order);
        assert_eq!(tasks(TaskFilter::All, TaskOrder::Changes), [0, 1, 3, 2, 4]);
        assert_eq!(tasks(TaskFilter::Changed, TaskOrder::LastChange), [0, 1, 3]);
        assert_eq!(tasks(TaskFilter::NeverPassed, TaskOrder::Task), [2]);
        assert_eq!(tasks(TaskFilter::AlwaysPassed, TaskOrder::Task), [4]);
        assert_eq!(tasks(TaskFilter::Unscored, TaskOrder::Task), [4]);
        // Only the columns that are looked at count.
        assert_eq!(ordered(&grid.stories(&[0, 1]), TaskFilter::Changed, TaskOrder::Task), [0, 3]);
    }

    #[test]
    fn a_batch_takes_only_the_place_of_its_own_tasks() {
        // Dense, these cells would take gigabytes.
        let columns: Vec<GridColumn> = (0..2000)
            .map(|at| GridColumn {
                base: Base::Earlier,
                outcomes: BTreeMap::from([
                    (at * 50, OutcomeKind::Failed),
                    (0, OutcomeKind::Passed),
                ]),
            })
            .collect();
        let grid = Grid::of(100_000, &columns);
        assert_eq!(grid.cells.iter().map(Vec::len).sum::<usize>(), 3999);
        let far = grid.cell(1999, 99_950);
        assert_eq!(
            (far.state, grid.cell(1999, 99_949).state),
            (CellState::Fail, CellState::Missing)
        );
        assert_eq!(grid.cell(1999, 0).against, Some(1998));
    }

    proptest! {
        #[test]
        fn between_two_columns_passes_rise_by_fixed_and_fall_by_broke(
            before in "[pf]{1,30}", noise in prop::collection::vec(any::<bool>(), 30),
        ) {
            let after: String = before.chars().zip(noise)
                .map(|(letter, flips)| if flips { if letter == 'p' { 'f' } else { 'p' } } else { letter })
                .collect();
            let grid = grid(&[(Base::Nothing, &before), (Base::Column(0), &after)]);
            let ([old, ..], [new, failed, fixed, broke]) = (grid.totals(0), grid.totals(1));
            prop_assert_eq!(old + fixed, new + broke);
            prop_assert_eq!(usize::try_from(new + failed).expect("small"), before.len());
        }

        #[test]
        fn every_task_is_in_all_and_once(letters in prop::collection::vec("[pfre.]{8}", 1..6)) {
            let columns: Vec<(Base, &str)> = letters.iter().enumerate()
                .map(|(at, letters)| (if at == 0 { Base::Nothing } else { Base::Column(at - 1) }, letters.as_str()))
                .collect();
            let all: Vec<usize> = (0..columns.len()).collect();
            let stories = grid(&columns).stories(&all);
            let mut tasks = ordered(&stories, TaskFilter::All, TaskOrder::LastChange);
            tasks.sort_unstable();
            prop_assert_eq!(tasks, (0..8).collect::<Vec<_>>());
        }
    }
}
