//! What floats over the page: the palette or the list of keys, one at a time.

use crate::state::signal::RwSignal;
use leptos::prelude::*;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Overlay {
    Palette,
    Keys,
}

/// The overlay that is open, if any.
#[derive(Clone, Copy)]
pub(crate) struct OverlayState(RwSignal<Option<Overlay>>);

impl OverlayState {
    pub(crate) fn is_open(self, overlay: Overlay) -> bool {
        self.0.get() == Some(overlay)
    }

    pub(crate) fn open(self, overlay: Overlay) {
        self.0.set(Some(overlay));
    }

    pub(crate) fn close(self) {
        self.0.set(None);
    }
}

pub(crate) fn provide() {
    provide_context(OverlayState(RwSignal::new(None)));
}

pub(crate) fn use_overlay() -> OverlayState {
    expect_context()
}
