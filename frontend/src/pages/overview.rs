//! The overview page.

use leptos::prelude::*;

#[component]
pub(crate) fn OverviewPage() -> impl IntoView {
    view! { <h1>"Overview"</h1> }.into_any()
}
