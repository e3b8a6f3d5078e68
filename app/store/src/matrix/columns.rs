//! The columns of the matrix: one a measured skill, in the order of measuring, each with what it is compared with.

use crate::error::StoreFailure;
use crate::fold;
use crate::outcomes::rollout_set;
use crate::sql::{Column as _, Doing};
use crate::versions::{Version, read_versions};
use skillopt_domain::api::MatrixQuery;
use skillopt_domain::hash::Sha256Hex;
use skillopt_domain::matrix::{Base, GridColumn};
use skillopt_domain::outcome::RolloutPurpose;
use sqlx::SqliteConnection;
use std::collections::{BTreeMap, HashMap};

/// A measured skill.
#[derive(Debug)]
pub(super) struct Column {
    pub(super) step: u32,
    pub(super) skill: Sha256Hex,
    pub(super) repeat: u32,
    pub(super) version: Option<u32>,
    pub(super) is_best: bool,
    /// The rollout sets that make it up.
    pub(super) sets: Vec<i64>,
    pub(super) grid: GridColumn,
}

impl Column {
    pub(super) fn base(&self) -> Option<usize> {
        match self.grid.base {
            Base::Column(base) => Some(base),
            Base::Nothing | Base::Earlier => None,
        }
    }
}

/// The columns of a purpose, without their outcomes. Sets of one step with one skill and one draw are one column.
pub(super) async fn read_columns(
    conn: &mut SqliteConnection,
    run_no: i64,
    purpose: RolloutPurpose,
) -> Result<Vec<Column>, StoreFailure> {
    let rows =
        sqlx::query("SELECT * FROM rollout_sets WHERE run_no = ? AND purpose = ? ORDER BY id")
            .bind(run_no)
            .bind(purpose.as_str())
            .fetch_all(&mut *conn)
            .await
            .doing("read rollout sets")?;
    let versions = read_versions(conn, run_no, u32::MAX).await?;
    let best = fold::stored_view(conn, run_no).await?.best.map(|best| best.skill);
    let mut numbers: HashMap<&Sha256Hex, u32> = HashMap::new();
    for version in &versions {
        numbers.entry(&version.skill).or_insert(version.number);
    }
    let mut columns: Vec<Column> = Vec::new();
    for row in &rows {
        let (id, set) = (row.int("id")?, rollout_set(row)?);
        let is_same = |column: &&mut Column| {
            (column.step, &column.skill, column.repeat) == (set.step, &set.skill, set.sample.repeat)
        };
        // Sets of a step stand together; further back there is none of it.
        if let Some(column) = columns.iter_mut().rev().take(8).find(is_same) {
            column.sets.push(id);
            continue;
        }
        columns.push(Column {
            step: set.step,
            repeat: set.sample.repeat,
            version: numbers.get(&set.skill).copied(),
            is_best: best.as_ref() == Some(&set.skill),
            skill: set.skill,
            sets: vec![id],
            grid: GridColumn { base: Base::Nothing, outcomes: BTreeMap::new() },
        });
    }
    let bases = match purpose {
        RolloutPurpose::Selection => bases_of_candidates(&columns, &versions),
        RolloutPurpose::Test => (0..columns.len())
            .map(|at| if at == 0 { Base::Nothing } else { Base::Column(0) })
            .collect(),
        RolloutPurpose::Train | RolloutPurpose::Longitudinal => vec![Base::Earlier; columns.len()],
    };
    for (column, base) in columns.iter_mut().zip(bases) {
        column.grid.base = base;
    }
    Ok(columns)
}

/// A candidate is compared with the skill that was current when it was measured: the last version before it.
fn bases_of_candidates(columns: &[Column], versions: &[Version]) -> Vec<Base> {
    let mut places: HashMap<&Sha256Hex, usize> = HashMap::new();
    for (at, column) in columns.iter().enumerate() {
        places.entry(&column.skill).or_insert(at);
    }
    let measured: Vec<Option<usize>> =
        versions.iter().map(|version| places.get(&version.skill).copied()).collect();
    let mut bases = Vec::with_capacity(columns.len());
    for (at, column) in columns.iter().enumerate() {
        let is_measured = |place: usize| measured[place].is_some_and(|measured| measured < at);
        // The version of the same step was current when the slow update after it was measured.
        let is_current = |place: &usize| {
            let version = &versions[*place];
            let is_own = version.step == column.step
                && (version.skill == column.skill || !is_measured(*place));
            version.step <= column.step && !is_own
        };
        let end = versions.partition_point(|version| version.step <= column.step);
        let base = (0..end).rev().find(is_current).and_then(|place| measured[place]);
        bases.push(base.filter(|base| *base < at).map_or(Base::Nothing, Base::Column));
    }
    bases
}

/// Places of the columns that are looked at.
pub(super) fn shown_columns(columns: &[Column], query: &MatrixQuery) -> Vec<usize> {
    let only_kept = query.kept.unwrap_or(false);
    (0..columns.len()).filter(|at| !only_kept || columns[*at].version.is_some()).collect()
}
