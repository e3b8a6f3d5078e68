//! Filters of the list: the state as links, the text as a field.

use super::query::ListQuery;
use crate::components::dynamic::CollectAny;
use crate::components::icon::Icon;
use crate::components::look::Look;
use crate::fmt;
use crate::state::keys::{KeyUse, on_single_key};
use crate::state::memo::Memo;
use leptos::html;
use leptos::leptos_dom::helpers::debounce;
use leptos::prelude::*;
use skillopt_domain::run::RunStatus;
use std::time::Duration;

/// The states one looks for; the short-lived ones are found under "Running".
const STATES: [RunStatus; 8] = [
    RunStatus::Running,
    RunStatus::Queued,
    RunStatus::Paused,
    RunStatus::Done,
    RunStatus::Failed,
    RunStatus::Interrupted,
    RunStatus::Capped,
    RunStatus::Cancelled,
];

#[component]
pub(super) fn StatusViews(query: Memo<ListQuery>) -> impl IntoView {
    let link = move |status: Option<RunStatus>| {
        let text = status.map_or("All".to_owned(), |status| fmt::capital(Look::from(status).word));
        let href = move || query.with(|query| query.with_status(status).href());
        let current = move || query.with(|query| query.status == status).then_some("page");
        view! { <a href=move || href() aria-current=move || current()>{text}</a> }
    };
    let states = [None].into_iter().chain(STATES.map(Some));
    view! { <nav class="views" aria-label="Status">{states.map(link).collect_any()}</nav> }
}

#[component]
pub(super) fn SearchField(query: Memo<ListQuery>, on_query: Callback<ListQuery>) -> impl IntoView {
    let field = NodeRef::<html::Input>::new();
    on_single_key(move |key| match (key, field.get_untracked()) {
        ("/", Some(field)) => {
            let _ = field.focus();
            KeyUse::Used
        }
        _ => KeyUse::Ignored,
    });
    let mut search = debounce(Duration::from_millis(200), move |text: String| {
        on_query.run(query.with_untracked(|query| query.with_text(text)));
    });
    view! {
        <label class="input" data-size="search">
            <Icon name="search"/>
            <input
                type="search"
                placeholder="Name or model"
                aria-label="Filter runs by name, model or benchmark"
                node_ref=field
                prop:value=move || query.with(|query| query.text.clone())
                on:input:target=move |event| search(event.target().value().trim().to_owned())
            />
            <kbd>"/"</kbd>
        </label>
    }
}
