//! The matrix of tasks by measured skills: every outcome is counted, and only one page of cells is read whole.

mod cells;
mod columns;

use crate::error::StoreFailure;
use crate::open::Store;
use crate::reading::run_no;
use crate::sql::{Doing, from_json};
use cells::{Page, read_rows};
use columns::{Column, read_columns, shown_columns};
use skillopt_domain::api::{MatrixColumn, MatrixEnds, MatrixQuery, TaskMatrix};
use skillopt_domain::ids::RunId;
use skillopt_domain::matrix::{Grid, GridColumn, TaskFilter, TaskStory, ordered};
use skillopt_domain::outcome::{OutcomeKind, RolloutPurpose};
use sqlx::SqliteConnection;
use std::collections::{BTreeSet, HashMap};

const DEFAULT_ROWS: u32 = 50;
const MAX_ROWS: u32 = 200;
const DEFAULT_COLUMNS: u32 = 20;
const MAX_COLUMNS: u32 = 60;

impl Store {
    /// A page of the matrix.
    ///
    /// # Errors
    /// [`StoreFailure::NotFound`], or the store cannot be read.
    pub async fn task_matrix(
        &self,
        run: &RunId,
        query: &MatrixQuery,
    ) -> Result<TaskMatrix, StoreFailure> {
        let mut conn = self.read("read the tasks of a run").await?;
        let run_no = run_no(&mut conn, run).await?;
        let purpose = query.purpose.unwrap_or(RolloutPurpose::Selection);
        let measured = Measured {
            columns: read_columns(&mut conn, run_no, purpose).await?,
            sets: read_sets(&mut conn, run_no, purpose).await?,
            wanted: match search(query) {
                Some(text) => Some(tasks_with(&mut conn, run_no, purpose, text).await?),
                None => None,
            },
        };
        let purposes = purposes(&mut conn, run_no).await?;
        let asked = query.clone();
        // A million outcomes may have to be compared.
        let laid = tokio::task::spawn_blocking(move || Laid::of(measured, &asked)).await;
        let laid = laid.map_err(|err| StoreFailure::corrupt("the tasks of a run", err))??;
        let Laid { columns, tasks, grid, shown, stories, rows, counts } = &laid;
        let page = page_of(query, rows, shown);
        let read = Page { tasks, grid, columns, stories };
        Ok(TaskMatrix {
            purposes,
            columns: page.columns.iter().map(|at| column_of(columns, grid, shown, *at)).collect(),
            n_columns: to_u32(shown.len()),
            rows: read_rows(&mut conn, run_no, &read, (page.rows, page.columns)).await?,
            first_row: page.first_row,
            n_rows: to_u32(rows.len()),
            counts: counts.clone(),
            ends: ends(purpose, columns, grid, tasks.len()),
        })
    }
}

/// What the store has of a purpose.
struct Measured {
    columns: Vec<Column>,
    /// Sets by their number, with their outcomes as [`read_sets`] tells.
    sets: Vec<(i64, String)>,
    /// Tasks with the text that is looked for.
    wanted: Option<BTreeSet<String>>,
}

/// All cells, and which of them are shown.
struct Laid {
    columns: Vec<Column>,
    /// Names by place, in the order of the first attempt.
    tasks: Vec<String>,
    grid: Grid,
    /// Places of the columns that are looked at, rising.
    shown: Vec<usize>,
    stories: Vec<TaskStory>,
    /// Places of the tasks that match, in order.
    rows: Vec<usize>,
    /// Tasks in all filters, in the order of [`TaskFilter::ALL`].
    counts: Vec<u32>,
}

impl Laid {
    fn of(measured: Measured, query: &MatrixQuery) -> Result<Self, StoreFailure> {
        let Measured { mut columns, sets, wanted } = measured;
        let tasks = fill(&mut columns, sets)?;
        let grids: Vec<&GridColumn> = columns.iter().map(|column| &column.grid).collect();
        let grid = Grid::of(tasks.len(), &grids);
        let shown = shown_columns(&columns, query);
        let stories = grid.stories(&shown);
        let is_wanted = |task: usize| wanted.as_ref().is_none_or(|all| all.contains(&tasks[task]));
        let order = query.sort.unwrap_or_default();
        let mut rows = ordered(&stories, query.show.unwrap_or_default(), order);
        rows.retain(|task| is_wanted(*task));
        let count = |filter: TaskFilter| {
            let holds =
                |(task, story): &(usize, &TaskStory)| filter.holds(story) && is_wanted(*task);
            to_u32(stories.iter().enumerate().filter(holds).count())
        };
        let counts = TaskFilter::ALL.map(count).to_vec();
        Ok(Self { grid, shown, stories, rows, counts, columns, tasks })
    }
}

fn search(query: &MatrixQuery) -> Option<&str> {
    query.q.as_deref().map(str::trim).filter(|text| !text.is_empty())
}

/// The part that is asked for, as places in the grid.
struct Part<'a> {
    first_row: u32,
    rows: &'a [usize],
    columns: &'a [usize],
}

fn page_of<'a>(query: &MatrixQuery, rows: &'a [usize], columns: &'a [usize]) -> Part<'a> {
    let n_rows = query.rows.unwrap_or(DEFAULT_ROWS).clamp(1, MAX_ROWS);
    let n_columns = query.columns.unwrap_or(DEFAULT_COLUMNS).clamp(1, MAX_COLUMNS);
    let first_row = query.row.unwrap_or(0).min(to_u32(rows.len()));
    let last_page = to_u32(columns.len()).saturating_sub(n_columns);
    let first_column = query.column.unwrap_or(last_page).min(to_u32(columns.len()));
    Part {
        first_row,
        rows: window(rows, first_row, n_rows),
        columns: window(columns, first_column, n_columns),
    }
}

fn window<T>(all: &[T], first: u32, count: u32) -> &[T] {
    let at = |place: u32| usize::try_from(place).unwrap_or(usize::MAX).min(all.len());
    &all[at(first)..at(first.saturating_add(count))]
}

fn column_of(columns: &[Column], grid: &Grid, shown: &[usize], at: usize) -> MatrixColumn {
    let column = &columns[at];
    let [n_passed, n_failed, n_fixed, n_broke] = grid.totals(at);
    let place = |at: usize| shown.binary_search(&at).ok().map(to_u32);
    MatrixColumn {
        place: place(at).unwrap_or_default(),
        step: column.step,
        version: column.version,
        is_best: column.is_best,
        skill: column.skill.clone(),
        repeat: column.repeat,
        n_passed,
        n: n_passed + n_failed,
        n_fixed,
        n_broke,
        base: column.base().and_then(place),
    }
}

/// The first column and the last one of a version, task by task. Batches have other tasks each time, so that there is
/// nothing to say of them as a whole.
fn ends(
    purpose: RolloutPurpose,
    columns: &[Column],
    grid: &Grid,
    n_tasks: usize,
) -> Option<MatrixEnds> {
    if !matches!(purpose, RolloutPurpose::Selection | RolloutPurpose::Test) {
        return None;
    }
    let kept = |column: &Column| column.version.is_some() && column.repeat == 0;
    let first = columns.iter().position(kept)?;
    let last = columns.iter().rposition(kept).filter(|last| *last > first)?;
    let versions = columns[first].version.zip(columns[last].version);
    let mut ends = MatrixEnds { versions, n_fixed: 0, n_broke: 0, n_passed: 0, n_failed: 0 };
    for task in 0..n_tasks {
        let (before, after) = (grid.cell(first, task).state, grid.cell(last, task).state);
        ends.n_fixed += u32::from(before.is_fail() && after.is_pass());
        ends.n_broke += u32::from(before.is_pass() && after.is_fail());
        ends.n_passed += u32::from(before.is_pass() && after.is_pass());
        ends.n_failed += u32::from(before.is_fail() && after.is_fail());
    }
    Some(ends)
}

/// The tasks of all columns, in the order of their first attempt.
#[derive(Debug, Default)]
struct Tasks {
    names: Vec<String>,
    places: HashMap<String, usize>,
}

impl Tasks {
    fn place(&mut self, name: &str) -> usize {
        if let Some(place) = self.places.get(name) {
            return *place;
        }
        let place = self.names.len();
        self.names.push(name.to_owned());
        self.places.insert(name.to_owned(), place);
        place
    }
}

/// All sets with their outcomes as one list of texts: the first letter of the kind, then the task. SQLite makes one text
/// of each set, since a million rows that are handed over one by one would take longer than all the rest.
async fn read_sets(
    conn: &mut SqliteConnection,
    run_no: i64,
    purpose: RolloutPurpose,
) -> Result<Vec<(i64, String)>, StoreFailure> {
    sqlx::query_as(
        "SELECT id, (SELECT json_group_array(substr(kind, 1, 1) || task) FROM outcomes WHERE set_id = rollout_sets.id) \
         FROM rollout_sets WHERE run_no = ? AND purpose = ? ORDER BY id",
    )
    .bind(run_no)
    .bind(purpose.as_str())
    .fetch_all(conn)
    .await
    .doing("read the tasks of a run")
}

/// Puts all outcomes into the columns; the names of their tasks by place.
fn fill(columns: &mut [Column], sets: Vec<(i64, String)>) -> Result<Vec<String>, StoreFailure> {
    let places: HashMap<i64, usize> = columns
        .iter()
        .enumerate()
        .flat_map(|(at, column)| column.sets.iter().map(move |set| (*set, at)))
        .collect();
    let mut tasks = Tasks::default();
    for (set, outcomes) in sets {
        let Some(column) = places.get(&set).and_then(|at| columns.get_mut(*at)) else { continue };
        for outcome in from_json::<Vec<String>>("outcomes", &outcomes)? {
            let (kind, task) = outcome.split_at(outcome.chars().next().map_or(0, char::len_utf8));
            let kind = OutcomeKind::ALL.into_iter().find(|one| one.as_str().starts_with(kind));
            let place = tasks.place(task);
            if let Some(kind) = kind {
                column.grid.outcomes.insert(place, kind);
            }
        }
    }
    Ok(tasks.names)
}

async fn tasks_with(
    conn: &mut SqliteConnection,
    run_no: i64,
    purpose: RolloutPurpose,
    text: &str,
) -> Result<BTreeSet<String>, StoreFailure> {
    let pattern = format!("%{}%", crate::trajectories::escape_like(text));
    let tasks: Vec<String> = sqlx::query_scalar(
        "SELECT DISTINCT task FROM outcomes WHERE run_no = ?1 AND purpose = ?2 \
         AND (task LIKE ?3 ESCAPE '\\' OR title LIKE ?3 ESCAPE '\\')",
    )
    .bind(run_no)
    .bind(purpose.as_str())
    .bind(pattern)
    .fetch_all(conn)
    .await
    .doing("look for tasks")?;
    Ok(tasks.into_iter().collect())
}

async fn purposes(
    conn: &mut SqliteConnection,
    run_no: i64,
) -> Result<Vec<RolloutPurpose>, StoreFailure> {
    let words: Vec<String> =
        sqlx::query_scalar("SELECT DISTINCT purpose FROM rollout_sets WHERE run_no = ?")
            .bind(run_no)
            .fetch_all(conn)
            .await
            .doing("read the tasks of a run")?;
    let is_there = |purpose: &RolloutPurpose| words.iter().any(|word| word == purpose.as_str());
    Ok(RolloutPurpose::ALL.into_iter().filter(is_there).collect())
}

fn to_u32(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
