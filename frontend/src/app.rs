//! The routes and what every page shares. No data is loaded here.

use crate::components::dynamic::{Item, each};
use crate::live::{self, runs};
use crate::pages::not_found::NotFoundPage;
use crate::parts;
use crate::shell::Shell;
use crate::state::effect::effect;
use crate::state::memo::Memo;
use crate::state::route::{Route, RunPath, night_of};
use crate::state::{overlay, page, theme};
use leptos::prelude::*;
use leptos_router::components::Router;
use leptos_router::hooks::use_location;
use leptos_router::location::{BrowserUrl, LocationProvider};

/// The whole application.
#[component]
pub(crate) fn App() -> impl IntoView {
    theme::provide();
    page::provide();
    overlay::provide();
    live::provide();
    runs::provide();
    parts::fetch_what_links_lead_to();
    view! {
        <Router>
            <Shell><Pages/></Shell>
        </Router>
    }
}

/// The page that the address names. A page stays while only its tab or its query changes. (The router's own `Routes`
/// is made for nested and lazy routes, and three times as much code as all that is used of the router.)
#[component]
fn Pages() -> impl IntoView {
    let path = use_location().pathname;
    let route = Memo::new(move || path.with(|path| Route::of(path)));
    // Keeps the run and the night that were shown last, so that a page that goes does not change before it is gone.
    let last = StoredValue::new(RunPath::default());
    let run = Memo::new(move || {
        if let Some(now) = path.with(|path| RunPath::of(path)) {
            last.set_value(now);
        }
        last.get_value()
    });
    let last_night = StoredValue::new(String::new());
    let night = Memo::new(move || {
        if let Some(now) = path.with(|path| night_of(path)) {
            last_night.set_value(now);
        }
        last_night.get_value()
    });
    let address = use_context::<BrowserUrl>();
    effect(move || {
        // A tab's code, too, before the page knows that it needs it.
        path.with(|path| parts::fetch_for(path));
        // The page is there: the router may write the address and scroll.
        if let Some(address) = &address {
            address.ready_to_complete();
        }
    });
    each(move || {
        let route = route.get();
        vec![Item::new(route.word(), move || page_of(route, run, night))]
    })
}

fn page_of(route: Route, run: Memo<RunPath>, night: Memo<String>) -> AnyView {
    match route {
        Route::Overview => parts::overview::show(()),
        Route::Runs => parts::runs::show(()),
        Route::Run => parts::run::show(run),
        Route::Launch => parts::launch::show(()),
        Route::Compare => parts::compare::show(()),
        Route::Models => parts::models::show(()),
        Route::Prices => parts::prices::show(()),
        Route::Sleep => parts::sleep::show(()),
        Route::Night => parts::night::show(night),
        Route::Handoff => parts::handoff::show(()),
        Route::Tasks => parts::tasks::show(()),
        Route::Review => parts::review::show(()),
        Route::Unknown => view! { <NotFoundPage/> }.into_any(),
    }
}
