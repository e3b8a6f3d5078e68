//! The cells of one page: scores, trajectory numbers, and the trajectories that they are compared with.

use super::columns::Column;
use crate::error::StoreFailure;
use crate::sql::{Column as _, Doing, count, to_json};
use skillopt_domain::api::{MatrixCell, MatrixRow};
use skillopt_domain::matrix::{Grid, TaskStory};
use sqlx::SqliteConnection;
use std::collections::{BTreeSet, HashMap};

/// What a page is cut out of.
pub(super) struct Page<'a> {
    pub(super) tasks: &'a [String],
    pub(super) grid: &'a Grid,
    pub(super) columns: &'a [Column],
    pub(super) stories: &'a [TaskStory],
}

/// An attempt as the page needs it.
struct Attempt {
    id: u64,
    soft: Option<f64>,
}

/// The rows of these tasks with the cells of these columns.
pub(super) async fn read_rows(
    conn: &mut SqliteConnection,
    run_no: i64,
    page: &Page<'_>,
    (rows, columns): (&[usize], &[usize]),
) -> Result<Vec<MatrixRow>, StoreFailure> {
    // The attempts that cells are compared with may stand in other columns.
    let against = rows.iter().flat_map(|task| {
        columns.iter().filter_map(|column| page.grid.cell(*column, *task).against)
    });
    let needed: BTreeSet<usize> = columns.iter().copied().chain(against).collect();
    let column_of_set: HashMap<i64, usize> = needed
        .iter()
        .flat_map(|at| page.columns[*at].sets.iter().map(move |set| (*set, *at)))
        .collect();
    let names: Vec<&str> = rows.iter().map(|task| page.tasks[*task].as_str()).collect();
    let sets: Vec<i64> = column_of_set.keys().copied().collect();
    let found = sqlx::query(
        "SELECT id, set_id, task, title, soft FROM outcomes WHERE run_no = ? \
         AND task IN (SELECT value FROM json_each(?)) AND set_id IN (SELECT value FROM json_each(?)) ORDER BY id",
    )
    .bind(run_no)
    .bind(to_json(&names)?)
    .bind(to_json(&sets)?)
    .fetch_all(conn)
    .await
    .doing("read the tasks of a run")?;
    let (mut attempts, mut titles) = (HashMap::new(), HashMap::new());
    for row in &found {
        let task = row.text("task")?;
        titles.entry(task.clone()).or_insert(row.text("title")?);
        if let Some(column) = column_of_set.get(&row.int("set_id")?) {
            let attempt = Attempt { id: count(row.int("id")?), soft: row.real_or_null("soft")? };
            attempts.insert((task, *column), attempt);
        }
    }
    let row = |task: &usize| {
        let name = &page.tasks[*task];
        let attempt = |column: usize| attempts.get(&(name.clone(), column));
        let cell = |column: &usize| {
            let cell = page.grid.cell(*column, *task);
            let own = attempt(*column);
            MatrixCell {
                state: cell.state,
                soft: own.and_then(|own| own.soft),
                id: own.map(|own| own.id),
                against: cell.against.and_then(attempt).map(|other| other.id),
            }
        };
        MatrixRow {
            task: name.clone(),
            title: titles.get(name).cloned().unwrap_or_default(),
            n_fixed: page.stories[*task].n_fixed,
            n_broke: page.stories[*task].n_broke,
            cells: columns.iter().map(cell).collect(),
        }
    };
    Ok(rows.iter().map(row).collect())
}
