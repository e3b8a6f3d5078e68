//! The head of a page of the settings: its name, and the way to the others.

use crate::components::tabs::{Tab, Tabs};
use crate::state::memo::Memo;
use leptos::prelude::*;

const PAGES: [(&str, &str); 2] = [("Models", "/settings/models"), ("Prices", "/settings/prices")];

#[component]
pub(crate) fn SettingsHead(here: &'static str) -> impl IntoView {
    let tab = move |(label, href): (&'static str, &str)| Tab {
        label,
        href: href.to_owned(),
        count: None,
        is_current: label == here,
    };
    let tabs = Memo::new(move || PAGES.map(tab).to_vec());
    view! {
        <div class="page-head" data-tight><div class="page-head__main"><h1>{here}</h1></div></div>
        <Tabs label="Settings" tabs=tabs/>
    }
}
