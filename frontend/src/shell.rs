//! The frame around every page: rail, top bar, overlays, and the keys that work everywhere.

mod keys_help;
mod palette;
mod parts;
mod rail;
mod top_bar;

use crate::components::dynamic::{nothing, when};
use crate::state::effect::on_change;
use crate::state::keys::{KeyUse, on_single_key};
use crate::state::overlay::{Overlay, OverlayState, use_overlay};
use crate::state::theme::{ThemeState, use_theme};
use leptos::ev;
use leptos::prelude::*;
use leptos_router::hooks::{use_location, use_navigate};
use parts::{over_keys, over_palette};
use rail::Rail;
use std::cell::Cell;
use top_bar::TopBar;
use wasm_bindgen::JsCast;
use web_sys::HtmlElement;

#[component]
pub(crate) fn Shell(children: Children) -> impl IntoView {
    let overlay = use_overlay();
    focus_the_new_page();
    listen_for_palette_key(overlay);
    listen_for_single_keys(overlay, use_theme());
    view! {
        <a class="skip" href="#main">"Skip to content"</a>
        <div class="shell">
            <Rail/>
            <TopBar/>
            <main class="page" id="main" tabindex="-1">{children()}</main>
        </div>
        {when(move || overlay.is_open(Overlay::Palette), || over_palette::show(()), nothing)}
        {when(move || overlay.is_open(Overlay::Keys), || over_keys::show(()), nothing)}
    }
}

/// A link that led to another page is gone with the old one: the focus goes to the new page instead of nowhere.
fn focus_the_new_page() {
    let path = use_location().pathname;
    on_change(move || page_of(&path.get()), |_| request_animation_frame(focus_main));
}

/// The part of a path that names the page: tabs of a run are one page.
fn page_of(path: &str) -> String {
    path.split('/').take(3).collect::<Vec<_>>().join("/")
}

fn focus_main() {
    let body = document().body();
    let is_lost =
        document().active_element().is_none_or(|active| Some(active) == body.map(Into::into));
    let main = document().get_element_by_id("main");
    if let (true, Some(main)) = (is_lost, main.and_then(|main| main.dyn_into::<HtmlElement>().ok()))
    {
        let _ = main.focus();
    }
}

/// Works while typing, too.
fn listen_for_palette_key(overlay: OverlayState) {
    let handle = window_event_listener(ev::keydown, move |event| {
        let modifier = event.ctrl_key() || event.meta_key();
        if modifier && event.key().eq_ignore_ascii_case("k") {
            event.prevent_default();
            overlay.open(Overlay::Palette);
        }
    });
    on_cleanup(move || handle.remove());
}

fn listen_for_single_keys(overlay: OverlayState, theme: ThemeState) {
    let navigate = use_navigate();
    let after_g = Cell::new(false);
    on_single_key(move |key| {
        if after_g.replace(key == "g") {
            let target = match key {
                "o" => "/",
                "r" => "/runs",
                "c" => "/compare",
                "l" => "/launch",
                "n" => "/sleep",
                "v" => "/review",
                "s" => "/settings/models",
                _ => return KeyUse::Ignored,
            };
            navigate(target, leptos_router::NavigateOptions::default());
            return KeyUse::Used;
        }
        match key {
            "?" => overlay.open(Overlay::Keys),
            "T" => theme.turn(),
            _ => return KeyUse::Ignored,
        }
        KeyUse::Used
    });
}

#[cfg(test)]
mod tests {
    use super::page_of;

    #[test]
    fn tabs_of_a_run_are_one_page() {
        assert_eq!(page_of("/runs/abc/steps"), page_of("/runs/abc"));
        assert_ne!(page_of("/runs/abc"), page_of("/runs"));
    }
}
