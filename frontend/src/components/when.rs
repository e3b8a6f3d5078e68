//! A moment: local and short, with its zone and UTC on hover.

use crate::time;
use leptos::prelude::*;

#[component]
pub(crate) fn When(at_ms: u64) -> impl IntoView {
    view! { <time datetime=time::iso(at_ms) title=time::full(at_ms)>{time::moment(at_ms)}</time> }
}
