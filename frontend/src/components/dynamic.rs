//! Parts of a view that change. Each helper hides the closure and the view behind a box, so that all parts of the
//! dashboard share one copy of the rendering code.

use crate::state::memo::Memo;
use leptos::either::Either;
use leptos::prelude::*;
use leptos::tachys::reactive_graph::SharedReactiveFunction;
use std::sync::{Arc, Mutex};

/// A view that is made anew when what it reads changes.
pub(crate) fn dynamic(view: impl Fn() -> AnyView + Send + 'static) -> AnyView {
    let view: SharedReactiveFunction<AnyView> = Arc::new(Mutex::new(view));
    view.into_any()
}

/// One of two views. Both are kept apart: what one shows is never patched into the other.
pub(crate) fn when(
    is: impl Fn() -> bool + Send + Sync + 'static,
    then: impl Fn() -> AnyView + Send + 'static,
    otherwise: impl Fn() -> AnyView + Send + 'static,
) -> AnyView {
    let is = Memo::new(is);
    let view: SharedReactiveFunction<Either<AnyView, AnyView>> = Arc::new(Mutex::new(move || {
        if is.get() { Either::Left(then()) } else { Either::Right(otherwise()) }
    }));
    view.into_any()
}

/// Nothing.
pub(crate) fn nothing() -> AnyView {
    ().into_any()
}

/// A row of a list that changes.
pub(crate) struct Item {
    /// A row with a known key stays as it is drawn; another one is drawn anew.
    key: String,
    view: Box<dyn FnOnce() -> AnyView + Send>,
}

impl Item {
    pub(crate) fn new(
        key: impl Into<String>,
        view: impl FnOnce() -> AnyView + Send + 'static,
    ) -> Self {
        Self { key: key.into(), view: Box::new(view) }
    }
}

/// A list whose rows keep their place in the page while others come and go.
pub(crate) fn each(items: impl Fn() -> Vec<Item> + Send + 'static) -> AnyView {
    list(Box::new(items))
}

fn list(items: Box<dyn Fn() -> Vec<Item> + Send>) -> AnyView {
    view! { <For each=items key=|item| item.key.clone() children=|item| (item.view)()/> }.into_any()
}

/// Views of a list, one type for all.
pub(crate) trait CollectAny {
    fn collect_any(self) -> Vec<AnyView>;
}

impl<V: IntoView + 'static, I: IntoIterator<Item = V>> CollectAny for I {
    fn collect_any(self) -> Vec<AnyView> {
        self.into_iter().map(IntoAny::into_any).collect()
    }
}
