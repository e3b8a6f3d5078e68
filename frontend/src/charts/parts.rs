//! What of a chart is fetched when it is asked for.

use super::csv::Table;
use super::export_menu::{MenuAsked, MenuItems};
use super::multiple::Numbers;
use super::pointer::Pointer;
use super::readout::readout_box;
use super::score::ScorePoint;
use super::score_chart::ScorePlan;
use super::score_layers::Layout;
use super::score_table::score_table;
use crate::components::dynamic::{dynamic, nothing};
use crate::parts::part::part;
use crate::state::memo::Memo;
use leptos::prelude::*;

part!(run_curves_menu, MenuAsked, |asked| view! { <MenuItems asked/> }.into_any(), nothing);
part!(run_curves_readout, ReadoutAsked, readout_box, nothing);
part!(run_curves_scores, ScoresAsked, |asked| {
    dynamic(move || {
        asked.points.with(|points| score_table(points, &|step| asked.step_href.run(step)))
    })
});
part!(run_curves_numbers, NumbersAsked, |asked| {
    view! { <Numbers title=asked.title table=asked.table/> }.into_any()
});

/// The box beside the cross-line.
#[derive(Clone, Copy)]
pub(crate) struct ReadoutAsked {
    pub(super) layout: Memo<Layout>,
    pub(super) plan: Memo<ScorePlan>,
    pub(super) pointer: Pointer,
}

/// The score chart as a table.
#[derive(Clone, Copy)]
pub(crate) struct ScoresAsked {
    pub(super) points: Memo<Vec<ScorePoint>>,
    pub(super) step_href: Callback<u32, String>,
}

/// A small chart as a table.
#[derive(Clone, Copy)]
pub(crate) struct NumbersAsked {
    pub(super) title: &'static str,
    pub(super) table: Memo<Table>,
}
