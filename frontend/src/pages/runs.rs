//! All runs: a table that stays quick at ten thousand rows. The URL holds filter, text and sort.

mod columns;
mod filters;
mod no_runs;
mod query;
mod row;
mod rows;
mod table;

use crate::api;
use crate::components::icon::Icon;
use crate::components::states::BoundaryError;
use crate::fmt;
use crate::state::page::{self, Crumb};
use columns::TableSkeleton;
use filters::{SearchField, StatusViews};
use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::{use_navigate, use_query_map};
use query::ListQuery;
use table::RunTable;

#[component]
pub(crate) fn RunsPage() -> impl IntoView {
    page::set(|| vec![Crumb::here("Runs")]);
    let params = use_query_map();
    let query = Memo::new(move |_| params.with(|params| ListQuery::read(|name| params.get(name))));
    let total = RwSignal::new(None::<u64>);
    let first = LocalResource::new(move || {
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
    let failed = move |errors| {
        view! {
            <BoundaryError what="The runs could not be loaded." errors=errors on_retry=move |()| first.refetch()/>
        }
    };
    let full = move || {
        Suspend::new(async move {
            first.await.map(
                |(query, page)| view! { <RunTable query=query page=page total=total on_query=go/> },
            )
        })
    };
    view! {
        <div class="page-head" data-tight>
            <div class="page-head__main">
                <div class="page-head__title">
                    <h1>"Runs"</h1>
                    <span class="muted">{move || total.get().map(|total| fmt::plural(total, "run", "runs"))}</span>
                </div>
            </div>
            <div class="page-head__actions">
                <a class="button" data-variant="primary" href="/launch"><Icon name="plus"/>"New run"</a>
            </div>
        </div>
        <StatusViews query=query/>
        <div class="filters"><SearchField query=query on_query=go/></div>
        <Transition fallback=TableSkeleton>
            <ErrorBoundary fallback=failed>{full}</ErrorBoundary>
        </Transition>
    }
    .into_any()
}
