//! The extremes of 256 steps at a time, kept when they are first needed: a million steps become a few
//! thousand small rows. A block never changes, because steps are only ever added at the end.

use super::{Points, SERIES, Scanned, StepRange, scan};
use crate::error::StoreFailure;
use crate::open::Store;
use crate::sql::{Doing, from_json, small, to_json};
use serde::{Deserialize, Serialize};
use sqlx::SqliteConnection;
use std::collections::BTreeMap;

const STEPS: u32 = 256;

/// A block with its number: it holds the steps from `number * 256` on.
pub(super) type Numbered = (u32, Block);

/// Lowest and highest points of some steps.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Block {
    n_steps: u32,
    series: [Option<Extremes>; SERIES],
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Extremes {
    low: (u32, f64),
    high: (u32, f64),
}

impl Block {
    fn add(&mut self, row: &Scanned) {
        self.n_steps += 1;
        for (extremes, value) in self.series.iter_mut().zip(row.values) {
            let Some(value) = value else { continue };
            let point = (row.step, value);
            let known = extremes.get_or_insert(Extremes { low: point, high: point });
            if value < known.low.1 {
                known.low = point;
            }
            if value > known.high.1 {
                known.high = point;
            }
        }
    }
}

impl Points {
    fn extend_by_block(&mut self, block: &Block) {
        self.n_steps += u64::from(block.n_steps);
        for (points, extremes) in self.series.iter_mut().zip(block.series) {
            let Some(Extremes { low, high }) = extremes else { continue };
            let (first, second) = if low.0 <= high.0 { (low, high) } else { (high, low) };
            points.extend([first, second].map(|(step, value)| (step, Some(value))));
        }
    }
}

/// The points of a long range, and the blocks that were not kept yet.
pub(super) async fn read(
    conn: &mut SqliteConnection,
    run_no: i64,
    range: StepRange,
) -> Result<(Points, Vec<Numbered>), StoreFailure> {
    // Whole blocks within the range; what is left at both ends is scanned.
    let numbers = range.first.div_ceil(STEPS)..(range.last.saturating_add(1)) / STEPS;
    let mut blocks = stored(conn, run_no, numbers.start, numbers.end).await?;
    let mut new = Vec::new();
    let mut missing = numbers.clone().filter(|number| !blocks.contains_key(number));
    if let Some(first) = missing.next() {
        let last = missing.next_back().unwrap_or(first);
        let gap = StepRange { first: first * STEPS, last: last * STEPS + (STEPS - 1) };
        for (number, block) in in_blocks(&scan(conn, run_no, gap).await?) {
            if blocks.insert(number, block.clone()).is_none() {
                new.push((number, block));
            }
        }
    }
    let mut points = Points::default();
    if range.first < numbers.start * STEPS {
        let head = StepRange { first: range.first, last: numbers.start * STEPS - 1 };
        points.extend(scan(conn, run_no, head).await?);
    }
    for block in blocks.values() {
        points.extend_by_block(block);
    }
    if numbers.end * STEPS <= range.last {
        let tail = StepRange { first: numbers.end * STEPS, last: range.last };
        points.extend(scan(conn, run_no, tail).await?);
    }
    Ok((points, new))
}

/// Keeps blocks for the next time.
pub(super) async fn keep(
    store: &Store,
    run_no: i64,
    blocks: &[Numbered],
) -> Result<(), StoreFailure> {
    let action = "keep curve blocks";
    let rows: BTreeMap<u32, &Block> =
        blocks.iter().map(|(number, block)| (*number, block)).collect();
    let mut tx = store.write(action).await?;
    sqlx::query(
        "INSERT INTO curve_blocks (run_no, block, block_json) \
         SELECT ?, CAST(key AS INTEGER), value FROM json_each(?) WHERE true ON CONFLICT DO NOTHING",
    )
    .bind(run_no)
    .bind(to_json(&rows)?)
    .execute(&mut *tx)
    .await
    .doing(action)?;
    tx.commit().await.doing(action)
}

async fn stored(
    conn: &mut SqliteConnection,
    run_no: i64,
    first: u32,
    end: u32,
) -> Result<BTreeMap<u32, Block>, StoreFailure> {
    let rows: Vec<(i64, String)> = sqlx::query_as(
        "SELECT block, block_json FROM curve_blocks WHERE run_no = ? AND block >= ? AND block < ?",
    )
    .bind(run_no)
    .bind(first)
    .bind(end)
    .fetch_all(conn)
    .await
    .doing("read curve blocks")?;
    rows.iter()
        .map(|(number, text)| Ok((small(*number), from_json("a curve block", text)?)))
        .collect()
}

fn in_blocks(rows: &[Scanned]) -> BTreeMap<u32, Block> {
    let mut blocks: BTreeMap<u32, Block> = BTreeMap::new();
    for row in rows {
        blocks.entry(row.step / STEPS).or_default().add(row);
    }
    blocks
}
