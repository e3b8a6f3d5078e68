//! The frame around every page: rail, top bar, overlays, and the keys that work everywhere.

mod keys_help;
mod palette;
mod rail;
mod top_bar;

use crate::state::keys::{KeyUse, on_single_key};
use crate::state::overlay::{Overlay, OverlayState, use_overlay};
use crate::state::theme::{ThemeState, use_theme};
use keys_help::KeysHelp;
use leptos::ev;
use leptos::prelude::*;
use leptos_router::hooks::use_navigate;
use palette::Palette;
use rail::Rail;
use std::cell::Cell;
use top_bar::TopBar;

#[component]
pub(crate) fn Shell(children: Children) -> impl IntoView {
    let overlay = use_overlay();
    listen_for_palette_key(overlay);
    listen_for_single_keys(overlay, use_theme());
    view! {
        <a class="skip" href="#main">"Skip to content"</a>
        <div class="shell">
            <Rail/>
            <TopBar/>
            <main class="page" id="main" tabindex="-1">{children()}</main>
        </div>
        <Show when=move || overlay.is_open(Overlay::Palette)><Palette/></Show>
        <Show when=move || overlay.is_open(Overlay::Keys)><KeysHelp/></Show>
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
                "l" => "/launch",
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
