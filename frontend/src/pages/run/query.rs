//! State that lives in the URL, so that a link shows a colleague the same view.

use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::query_signal_with_options;
use std::str::FromStr;

/// A value in the query string. Setting it does not scroll and leaves one entry in the history.
pub(crate) struct QueryValue<T: Send + Sync + PartialEq + 'static> {
    value: Memo<Option<T>>,
    set: SignalSetter<Option<T>>,
}

impl<T: Send + Sync + PartialEq + 'static> Clone for QueryValue<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Send + Sync + PartialEq + 'static> Copy for QueryValue<T> {}

impl<T: Clone + Send + Sync + PartialEq + 'static> QueryValue<T> {
    pub(crate) fn get(self) -> Option<T> {
        self.value.get()
    }

    pub(crate) fn get_untracked(self) -> Option<T> {
        self.value.get_untracked()
    }

    pub(crate) fn set(self, value: Option<T>) {
        self.set.set(value);
    }
}

/// The value of `key`; `None` when it is missing or cannot be read.
pub(crate) fn query_value<T>(key: &'static str) -> QueryValue<T>
where
    T: Clone + FromStr + ToString + PartialEq + Send + Sync,
{
    let options = NavigateOptions { replace: true, scroll: false, ..NavigateOptions::default() };
    let (value, set) = query_signal_with_options(key, options);
    QueryValue { value, set }
}
