//! The rows that are loaded and which of them are drawn. Pure.

use super::query::ListQuery;
use skillopt_domain::api::{Page, RunSummary};
use std::ops::Range;

/// Height of a row in pixels, as the style sets it.
pub(super) const ROW_PX: f64 = 32.0;
/// Rows drawn above and below what can be seen.
const MARGIN: usize = 12;
/// With so few rows below the last drawn one, the next page is asked for.
const AHEAD: usize = 60;

/// A run and how often it changed while it was shown: together they say whether a row must be drawn anew.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
    pub(super) change: u32,
    pub(super) run: RunSummary,
}

/// All rows that were loaded so far.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Rows {
    pub(super) all: Vec<Row>,
    /// Cursor of the next page.
    pub(super) next: Option<String>,
    /// Rows in all that match.
    pub(super) total: u64,
}

impl Rows {
    pub(super) fn of(page: Page<RunSummary>) -> Self {
        let mut rows = Self { all: Vec::new(), next: None, total: 0 };
        rows.append(page);
        rows
    }

    /// Takes a further page. A run that came in by the stream meanwhile is not listed twice.
    pub(super) fn append(&mut self, page: Page<RunSummary>) {
        for run in page.items {
            if self.position(&run).is_none() {
                self.all.push(Row { change: 0, run });
            }
        }
        self.next = page.next;
        self.total = page.total;
    }

    /// Takes over a row that changed, where it stands; a new run comes first where the list wants that.
    pub(super) fn put(&mut self, run: &RunSummary, query: &ListQuery) {
        match self.position(run) {
            Some(at) => self.all[at] = Row { change: self.all[at].change + 1, run: run.clone() },
            None => {
                let is_newer = self
                    .all
                    .first()
                    .is_none_or(|first| first.run.created_at_ms < run.created_at_ms);
                let fits = query.status.is_none_or(|status| status == run.status);
                if is_newer && fits && query.shows_new_first() {
                    self.all.insert(0, Row { change: 0, run: run.clone() });
                    self.total += 1;
                }
            }
        }
    }

    /// Takes over the first page as it is now.
    pub(super) fn catch_up(&mut self, page: &Page<RunSummary>, query: &ListQuery) {
        for run in page.items.iter().rev() {
            if self.position(run).is_none_or(|at| self.all[at].run != *run) {
                self.put(run, query);
            }
        }
        self.total = page.total;
    }

    fn position(&self, run: &RunSummary) -> Option<usize> {
        self.all.iter().position(|row| row.run.id == run.id)
    }

    /// Which rows to draw.
    pub(super) fn window(&self, scroll: Scroll) -> Range<usize> {
        let first = whole_rows(scroll.top).saturating_sub(MARGIN);
        let last = whole_rows(scroll.top + scroll.height) + 1 + MARGIN;
        first.min(self.all.len())..last.min(self.all.len())
    }

    /// The cursor of the next page, when the drawn rows come near its begin.
    pub(super) fn wanted_page(&self, window: &Range<usize>) -> Option<String> {
        (window.end + AHEAD >= self.all.len()).then(|| self.next.clone()).flatten()
    }
}

/// How far the list is scrolled and how much of it can be seen, in pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Scroll {
    pub(super) top: f64,
    pub(super) height: f64,
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "pixels of a scroll box"
)]
fn whole_rows(px: f64) -> usize {
    (px / ROW_PX).max(0.0) as usize
}

/// Height of so many rows.
#[expect(clippy::cast_precision_loss, reason = "pixels of a scroll box")]
pub(super) fn height_px(rows: usize) -> String {
    format!("{}px", rows as f64 * ROW_PX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::components::run_cells::tests::run;
    use skillopt_domain::run::RunStatus;

    fn rows(n: u8, next: Option<&str>) -> Rows {
        let items = (1..=n).rev().map(|number| run(number, RunStatus::Done)).collect();
        Rows::of(Page { items, next: next.map(str::to_owned), total: 200 })
    }

    #[test]
    fn only_what_can_be_seen_is_drawn() {
        let window = rows(200, None).window(Scroll { top: 3200.0, height: 320.0 });
        assert_eq!(window, 88..123);
        assert_eq!(rows(3, None).window(Scroll { top: 9e9, height: 320.0 }), 3..3);
    }

    #[test]
    fn the_next_page_is_asked_for_before_the_end_is_seen() {
        let rows = rows(200, Some("c"));
        assert_eq!(rows.wanted_page(&(0..40)), None);
        assert_eq!(rows.wanted_page(&(120..160)), Some("c".to_owned()));
    }

    #[test]
    fn a_changed_run_stays_where_it_is_and_a_new_one_comes_first() {
        let mut rows = rows(3, None);
        rows.put(&run(2, RunStatus::Failed), &ListQuery::default());
        assert_eq!((rows.all[1].change, rows.all[1].run.status), (1, RunStatus::Failed));
        rows.put(&run(9, RunStatus::Running), &ListQuery::default());
        assert_eq!((rows.all[0].run.name.as_str(), rows.total), ("run-9", 201));
        let filtered = ListQuery { status: Some(RunStatus::Done), ..ListQuery::default() };
        rows.put(&run(10, RunStatus::Running), &filtered);
        assert_eq!(rows.all.len(), 4);
    }
}
