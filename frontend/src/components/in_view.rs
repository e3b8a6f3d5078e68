//! Keeps what was chosen with the keyboard visible.

use crate::state::effect::effect;
use leptos::prelude::*;
use web_sys::{ScrollIntoViewOptions, ScrollLogicalPosition};

/// Scrolls as little as is needed to the first element of `selector`, each time that `chosen` changes.
pub(crate) fn keep_in_view<T>(chosen: impl Fn() -> T + 'static, selector: &'static str) {
    effect(move || {
        let _ = chosen();
        // The page marks what is chosen after this effect.
        request_animation_frame(move || {
            let item = document().query_selector(selector).ok().flatten();
            if let Some(item) = item {
                let options = ScrollIntoViewOptions::new();
                options.set_block(ScrollLogicalPosition::Nearest);
                item.scroll_into_view_with_scroll_into_view_options(&options);
            }
        });
    });
}
