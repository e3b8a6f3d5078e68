//! Single keys for the page that is shown. Off while one types, while a dialog is open and with a modifier held.

use leptos::ev;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{Element, KeyboardEvent};

/// Whether a key was used; a used key does nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyUse {
    Used,
    Ignored,
}

/// Calls `on_key` with the name of each single key (`j`, `Enter`, `ArrowDown`) until the caller is gone.
pub(crate) fn on_single_key(on_key: impl Fn(&str) -> KeyUse + 'static) {
    listen(Box::new(on_key));
}

fn listen(on_key: Box<dyn Fn(&str) -> KeyUse>) {
    let handle = window_event_listener(ev::keydown, move |event| {
        if is_single(&event) && on_key(&event.key()) == KeyUse::Used {
            event.prevent_default();
        }
    });
    on_cleanup(move || handle.remove());
}

/// A key without modifiers, pressed outside of fields and dialogs. Shift is allowed: it makes `?` and capitals.
fn is_single(event: &KeyboardEvent) -> bool {
    if event.default_prevented() || event.ctrl_key() || event.meta_key() || event.alt_key() {
        return false;
    }
    let target = event.target().and_then(|target| target.dyn_into::<Element>().ok());
    !target.is_some_and(|element| is_taken(&element, &event.key()))
}

/// The element wants the key itself.
fn is_taken(element: &Element, key: &str) -> bool {
    let inside = |selector: &str| element.closest(selector).ok().flatten().is_some();
    inside("input:not([type=checkbox]):not([type=radio]), textarea, select, dialog, [role=dialog]")
        || (matches!(key, "Enter" | " ") && inside("a, button, summary, input"))
}
