//! An address that leads nowhere.

use crate::state::page::{self, Crumb};
use leptos::prelude::*;

#[component]
pub(crate) fn NotFoundPage() -> impl IntoView {
    page::set(|| vec![Crumb::here("Not found")]);
    view! {
        <div class="empty">
            <h1>"There is no such page"</h1>
            <p>"The address may be from another version, or a letter was lost when it was copied."</p>
            <div class="row">
                <a class="button" data-variant="primary" href="/">"Open the overview"</a>
                <a class="button" href="/runs">"Open runs"</a>
            </div>
        </div>
    }
    .into_any()
}
