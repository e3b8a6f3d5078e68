//! The routes and what every page shares. No data is loaded here.

use crate::live::{self, runs};
use crate::pages::{launch::LaunchPage, not_found::NotFoundPage, overview::OverviewPage};
use crate::pages::{run::RunPage, runs::RunsPage};
use crate::shell::Shell;
use crate::state::{overlay, page, theme};
use leptos::prelude::*;
use leptos_router::components::{Route, Router, Routes};
use leptos_router::path;

/// The whole application.
#[component]
pub(crate) fn App() -> impl IntoView {
    theme::provide();
    page::provide();
    overlay::provide();
    live::provide();
    runs::provide();
    view! {
        <Router>
            <Shell>
                <Routes fallback=NotFoundPage>
                    <Route path=path!("/") view=OverviewPage/>
                    <Route path=path!("/runs") view=RunsPage/>
                    <Route path=path!("/runs/:id/:tab?") view=RunPage/>
                    <Route path=path!("/launch") view=LaunchPage/>
                </Routes>
            </Shell>
        </Router>
    }
}
