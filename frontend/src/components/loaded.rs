//! The view of something that loads: its shape while one waits, what failed with a way to try again, or the full view.

use super::dynamic::dynamic;
use super::states::{ErrorCallout, SkeletonRows};
use crate::api::ApiError;
use crate::state::load::{Core, Load, cast};
use leptos::prelude::*;
use std::any::Any;
use std::sync::Arc;

type Full = Box<dyn Fn(Arc<dyn Any + Send + Sync>) -> AnyView + Send>;

/// What stands in the place of the full view.
#[derive(Clone, Copy)]
pub(crate) struct Frame {
    /// What could not be done, as a sentence.
    what: &'static str,
    loading: fn() -> AnyView,
    /// Stands above what failed.
    head: fn() -> AnyView,
    /// Shown in the place of "not found".
    missing: Option<fn() -> AnyView>,
}

impl Frame {
    /// Rows while it loads.
    pub(crate) const fn new(what: &'static str) -> Self {
        Self { what, loading: rows, head: super::dynamic::nothing, missing: None }
    }

    pub(crate) const fn loading(self, loading: fn() -> AnyView) -> Self {
        Self { loading, ..self }
    }

    pub(crate) const fn head(self, head: fn() -> AnyView) -> Self {
        Self { head, ..self }
    }

    pub(crate) const fn missing(self, missing: fn() -> AnyView) -> Self {
        Self { missing: Some(missing), ..self }
    }

    fn failed(self, error: ApiError, core: Core) -> AnyView {
        if let Some(missing) = self.missing.filter(|_| error.is_not_found()) {
            return missing();
        }
        let retry = Callback::new(move |()| core.again());
        view! { {(self.head)()} <ErrorCallout what=self.what error on_retry=retry/> }.into_any()
    }
}

fn rows() -> AnyView {
    view! { <SkeletonRows/> }.into_any()
}

/// Shows `load` in its frame; `full` makes the view of each answer.
pub(crate) fn loaded<T: Send + Sync + 'static>(
    load: Load<T>,
    frame: Frame,
    full: impl Fn(&T) -> AnyView + Send + 'static,
) -> AnyView {
    framed(load.core(), frame, Box::new(move |answer| full(&cast(answer))))
}

fn framed(core: Core, frame: Frame, full: Full) -> AnyView {
    dynamic(move || match core.answer.get() {
        None => (frame.loading)(),
        Some(Err(error)) => frame.failed(error, core),
        Some(Ok(answer)) => full(answer),
    })
}
