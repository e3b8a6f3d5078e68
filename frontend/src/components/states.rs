//! The states of a page besides "full": loading, empty, failed.

use super::icon::Icon;
use crate::api::ApiError;
use crate::components::dynamic::CollectAny;
use crate::components::handler::handler;
use leptos::prelude::*;

/// Lines in the shape of rows, while a table or list loads.
#[component]
pub(crate) fn SkeletonRows(#[prop(default = 8)] rows: usize) -> impl IntoView {
    const WIDTHS: [&str; 4] = ["lg", "md", "full", "md"];
    view! {
        <div class="skeleton-rows" aria-hidden="true">
            {(0..rows)
                .map(|at| view! { <span class="skeleton" data-width=WIDTHS[at % WIDTHS.len()]></span> })
                .collect_any()}
        </div>
        <span class="visually-hidden" role="status">"Loading"</span>
    }
}

/// A block in the shape of a chart or a panel.
#[component]
pub(crate) fn SkeletonBlock(
    /// `line`, `title`, `row`, `chart` or `panel`.
    height: &'static str,
) -> impl IntoView {
    view! { <div class="skeleton" data-height=height aria-hidden="true"></div> }
}

/// Nothing here yet: what to do next stands in the children, as a button or a command.
#[component]
pub(crate) fn Empty(
    title: &'static str,
    #[prop(into)] text: String,
    #[prop(optional)] children: Option<Children>,
) -> impl IntoView {
    view! {
        <div class="empty">
            <h2>{title}</h2>
            <p>{text}</p>
            {children.map(|children| view! { <div class="row">{children()}</div> }.into_any())}
        </div>
    }
}

/// What failed, why, its code, and the way on.
#[component]
pub(crate) fn ErrorCallout(
    /// What could not be done, as a sentence.
    #[prop(into)]
    what: String,
    error: ApiError,
    /// Left out where trying again cannot help.
    #[prop(optional, into)]
    on_retry: Option<Callback<()>>,
) -> impl IntoView {
    let code = error.code();
    let request = Some(error.problem.instance).filter(|id| !id.is_empty());
    view! {
        <div class="callout" data-status="error" role="alert">
            <Icon name="error"/>
            <div>
                <span class="callout__title">{what}</span>
                " "
                <span class="callout__text">
                    {error.problem.detail} " " <code>{code}</code>
                    {request.map(|id| view! { " " <code title="Find it in the log">{id}</code> }.into_any())}
                </span>
            </div>
            {on_retry.map(|on_retry| view! {
                <button class="button" data-size="sm" type="button" on:click=handler(move |_| on_retry.run(()))>
                    <Icon name="refresh"/>
                    "Retry"
                </button>
            }.into_any())}
        </div>
    }
}
