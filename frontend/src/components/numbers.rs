//! Numbers with what they rest on: scores, differences, label over value.

use crate::fmt;
use leptos::prelude::*;

/// A score with three digits, "—" in quiet ink when it is missing.
#[component]
pub(crate) fn Score(value: Option<f64>) -> impl IntoView {
    match value {
        Some(_) => fmt::score(value).into_any(),
        None => view! { <span class="table__dim">{fmt::MISSING}</span> }.into_any(),
    }
}

/// The difference of two scores.
#[component]
pub(crate) fn Delta(before: Option<f64>, after: Option<f64>) -> impl IntoView {
    match fmt::delta(before, after) {
        Some(delta) => {
            view! { <span class="delta" data-sign=delta.sign>{delta.text}</span> }.into_any()
        }
        None => view! { <span class="table__dim">{fmt::MISSING}</span> }.into_any(),
    }
}

/// Text, or "—" in quiet ink when there is none.
#[component]
pub(crate) fn OrMissing(text: Option<String>) -> impl IntoView {
    match text {
        Some(text) => text.into_any(),
        None => view! { <span class="table__dim">{fmt::MISSING}</span> }.into_any(),
    }
}

/// Label over value over note.
#[component]
pub(crate) fn Stat(
    label: &'static str,
    #[prop(optional, into)] note: Option<String>,
    children: Children,
) -> impl IntoView {
    view! {
        <div>
            <div class="stat__label">{label}</div>
            <div class="stat__value">{children()}</div>
            {note.map(|note| view! { <div class="stat__note">{note}</div> }.into_any())}
        </div>
    }
}
