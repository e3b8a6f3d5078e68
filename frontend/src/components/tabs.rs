//! Tabs of a page. Each is a link, so that the URL holds which one is open.

use crate::components::dynamic::CollectAny;
use crate::state::memo::Memo;
use leptos::prelude::*;

/// One tab.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tab {
    pub(crate) label: &'static str,
    pub(crate) href: String,
    /// How many things are inside, where it helps to know.
    pub(crate) count: Option<String>,
    pub(crate) is_current: bool,
}

#[component]
pub(crate) fn Tabs(label: &'static str, tabs: Memo<Vec<Tab>>) -> impl IntoView {
    view! {
        <nav class="tabs" aria-label=label>
            {move || {
                tabs.get()
                    .into_iter()
                    .map(|tab| {
                        view! {
                            <a href=tab.href aria-current=tab.is_current.then_some("page")>
                                {tab.label}
                                {tab.count.map(|count| view! { <span class="tabs__n">{count}</span> }.into_any())}
                            </a>
                        }
                    })
                    .collect_any()
            }}
        </nav>
    }
}
