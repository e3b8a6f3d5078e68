//! Edits, suggestions or whole texts in their order, each with what became of it; a row opens to its full text.

use crate::components::dynamic::CollectAny;
use crate::components::handler::handler;
use crate::components::look::Look;
use crate::components::status::Status;
use crate::state::signal::RwSignal;
use leptos::prelude::*;

/// A row.
pub(super) struct RankedRow {
    /// The operation or the kind.
    pub(super) kind: String,
    /// One line of its text.
    pub(super) gist: String,
    /// What stands below it.
    pub(super) notes: Vec<String>,
    /// Where it came from.
    pub(super) from: String,
    pub(super) look: Look,
    /// It did not make it into the skill.
    pub(super) is_quiet: bool,
    /// Its full text.
    pub(super) inner: Box<dyn Fn() -> AnyView + Send + Sync>,
}

pub(super) fn ranked_table(
    kind: &'static str,
    what: &'static str,
    rows: Vec<RankedRow>,
) -> AnyView {
    let rows = rows.into_iter().zip(1u32..).map(|(row, rank)| ranked_row(row, rank)).collect_any();
    view! {
        <div class="panel scroll-x" tabindex="0" role="region" aria-label="In order of rank">
            <table class="table">
                <thead><tr>
                    <th scope="col" data-num data-col="rank">"Rank"</th>
                    <th scope="col" class="hide-narrow" data-col="op">{kind}</th>
                    <th scope="col">{what}</th>
                    <th scope="col" class="hide-narrow">"From"</th>
                    <th scope="col">"Status"</th>
                </tr></thead>
                <tbody>{rows}</tbody>
            </table>
        </div>
    }
    .into_any()
}

fn ranked_row(row: RankedRow, rank: u32) -> AnyView {
    let is_open = RwSignal::new(false);
    let notes =
        row.notes.into_iter().map(|note| view! { <br/><span class="small muted">{note}</span> });
    let inner = row.inner;
    view! {
        <tr class=row.is_quiet.then_some("table__dim")>
            <td data-num class="medium">{rank}</td>
            <td class="second hide-narrow">{row.kind}</td>
            <td class="table__wrap">
                <button
                    class="edit-open" type="button" aria-expanded=move || is_open.get().to_string()
                    on:click=handler(move |_| is_open.update(|open| *open = !*open))
                >
                    {row.gist}
                </button>
                {notes.collect_any()}
            </td>
            <td class="table__dim hide-narrow">{row.from}</td>
            <td><Status look=row.look/></td>
        </tr>
        {move || is_open.get().then(|| view! {
            <tr><td class="table__drawer" colspan="5">{inner()}</td></tr>
        }
        .into_any())}
    }
    .into_any()
}
