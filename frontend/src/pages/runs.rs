//! All runs: a table that stays quick at ten thousand rows. The URL holds filter, text and sort.

mod columns;
mod filters;
mod import;
mod no_runs;
mod query;
mod row;
mod rows;
mod selection;
mod table;

use crate::api;
use crate::components::icon::Icon;
use crate::components::loaded::{Frame, loaded};
use crate::fmt;
use crate::state::load::Load;
use crate::state::memo::Memo;
use crate::state::page::{self, Crumb};
use crate::state::signal::RwSignal;
use columns::TableSkeleton;
use filters::{SearchField, StatusViews};
use import::ImportRun;
use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::{use_navigate, use_query_map};
use query::ListQuery;
use selection::{Selection, SelectionBar};
use skillopt_domain::api::{Page, RunSummary};
use table::RunTable;

#[component]
pub(crate) fn RunsPage() -> impl IntoView {
    page::set(|| vec![Crumb::here("Runs")]);
    let params = use_query_map();
    let query = Memo::new(move || params.with(|params| ListQuery::read(|name| params.get(name))));
    let total = RwSignal::new(None::<u64>);
    // Marks outlive a change of filters; the address may bring some along.
    let selection = Selection::new(params.with_untracked(|params| params.get("pick")));
    let first = Load::new(move || {
        let query = query.get();
        async move { api::runs(&query.first_page()).await.map(|page| (query, page)) }
    });
    let navigate = use_navigate();
    let go = Callback::new(move |query: ListQuery| {
        navigate(
            &query.href(),
            NavigateOptions { replace: true, scroll: false, ..NavigateOptions::default() },
        );
    });
    let frame = Frame::new("The runs could not be loaded.")
        .loading(|| view! { <TableSkeleton/> }.into_any());
    let table = loaded(first, frame, move |(query, page): &(ListQuery, Page<RunSummary>)| {
        view! { <RunTable query=query.clone() page=page.clone() total=total selection on_query=go/> }
            .into_any()
    });
    view! {
        <div class="page-head" data-tight>
            <div class="page-head__main">
                <div class="page-head__title">
                    <h1>"Runs"</h1>
                    <span class="muted">{move || total.get().map(|total| fmt::plural(total, "run", "runs"))}</span>
                </div>
            </div>
            <div class="page-head__actions">
                <ImportRun/>
                <a class="button" data-variant="primary" href="/launch"><Icon name="plus"/>"New run"</a>
            </div>
        </div>
        <StatusViews query=query/>
        <div class="filters"><SearchField query=query on_query=go/><SelectionBar selection/></div>
        {table}
    }
    .into_any()
}
