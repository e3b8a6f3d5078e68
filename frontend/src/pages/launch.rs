//! The launch page.

use leptos::prelude::*;

#[component]
pub(crate) fn LaunchPage() -> impl IntoView {
    view! { <h1>"Launch"</h1> }.into_any()
}
