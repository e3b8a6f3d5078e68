//! An icon of the sprite in `style/icons.svg`, which the page carries inline.

use leptos::prelude::*;

/// Icons are never alone: a word or an `aria-label` stands beside them.
#[component]
pub(crate) fn Icon(
    name: &'static str,
    /// `sm` is 14 px.
    #[prop(optional)]
    size: Option<&'static str>,
) -> impl IntoView {
    view! {
        <svg class="icon" data-size=size aria-hidden="true">
            <use_ href=format!("#i-{name}")/>
        </svg>
    }
}
