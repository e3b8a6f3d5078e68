//! The runs page.

use leptos::prelude::*;

#[component]
pub(crate) fn RunsPage() -> impl IntoView {
    view! { <h1>"Runs"</h1> }.into_any()
}
