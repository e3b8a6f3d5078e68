//! The parts of the dashboard that are fetched when they are needed: a line each, and which address needs which.

pub(crate) mod part;

use crate::pages;
use crate::state::memo::Memo;
use crate::state::route::{Route, RunPath};
use leptos::prelude::*;
use pages::run::parts as run_parts;
use part::part;
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlAnchorElement};

part!(overview, (), |()| view! { <pages::overview::OverviewPage/> }.into_any());
part!(runs, (), |()| view! { <pages::runs::RunsPage/> }.into_any());
part!(run, Memo<RunPath>, |path| view! { <pages::run::RunPage path/> }.into_any());
part!(compare, (), |()| view! { <pages::compare::ComparePage/> }.into_any());
part!(models, (), |()| view! { <pages::models::ModelsPage/> }.into_any());
part!(prices, (), |()| view! { <pages::prices::PricesPage/> }.into_any());
part!(launch, (), |()| view! { <pages::launch::LaunchPage/> }.into_any());
part!(sleep, (), |()| view! { <pages::sleep::NightsPage/> }.into_any());
part!(review, (), |()| view! { <pages::review::ReviewPage/> }.into_any());
part!(night, Memo<String>, |id| view! { <pages::night::NightPage id/> }.into_any());
part!(handoff, (), |()| view! { <pages::handoff::HandoffInbox/> }.into_any());
part!(tasks, (), |()| view! { <pages::curation::TasksPage/> }.into_any());

/// Fetches the code that the page of `path` needs.
pub(crate) fn fetch_for(path: &str) {
    match Route::of(path) {
        Route::Overview => overview::fetch(),
        Route::Runs => runs::fetch(),
        Route::Run => {
            run::fetch();
            if let Some(run) = RunPath::of(path) {
                run_parts::fetch_for(&run.tab);
            }
        }
        Route::Launch => launch::fetch(),
        Route::Compare => compare::fetch(),
        Route::Models => models::fetch(),
        Route::Prices => prices::fetch(),
        Route::Sleep => sleep::fetch(),
        Route::Night => night::fetch(),
        Route::Handoff => handoff::fetch(),
        Route::Tasks => tasks::fetch(),
        Route::Review => review::fetch(),
        Route::Unknown => {}
    }
}

/// Fetches the code of the page behind a link when the pointer or the focus comes to it.
pub(crate) fn fetch_what_links_lead_to() {
    for kind in ["pointerover", "focusin"] {
        let handle = window_event_listener_untyped(kind, |event| {
            let target = event.target().and_then(|target| target.dyn_into::<Element>().ok());
            let link = target.and_then(|element| element.closest("a[href^='/']").ok().flatten());
            if let Some(link) = link.and_then(|link| link.dyn_into::<HtmlAnchorElement>().ok()) {
                fetch_for(&link.pathname());
            }
        });
        on_cleanup(move || handle.remove());
    }
}
