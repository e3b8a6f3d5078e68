//! State that lives in the URL, so that a link shows a colleague the same view.

use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::query_signal_with_options;
use std::marker::PhantomData;
use std::str::FromStr;

/// A value in the query string. Setting it does not scroll and leaves one entry in the history.
pub(crate) struct QueryValue<T> {
    /// As it stands in the URL. All values share this one kind of signal; reading parses.
    text: leptos::prelude::Memo<Option<String>>,
    set: SignalSetter<Option<String>>,
    holds: PhantomData<fn() -> T>,
}

impl<T> Clone for QueryValue<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for QueryValue<T> {}

impl<T: FromStr + ToString> QueryValue<T> {
    pub(crate) fn get(self) -> Option<T> {
        self.text.get().and_then(|text| text.parse().ok())
    }

    pub(crate) fn get_untracked(self) -> Option<T> {
        self.text.get_untracked().and_then(|text| text.parse().ok())
    }

    pub(crate) fn set(self, value: Option<T>) {
        self.set.set(value.map(|value| value.to_string()));
    }
}

/// The value of `key`; `None` when it is missing or cannot be read.
pub(crate) fn query_value<T>(key: &'static str) -> QueryValue<T> {
    let options = NavigateOptions { replace: true, scroll: false, ..NavigateOptions::default() };
    let (text, set) = query_signal_with_options(key, options);
    QueryValue { text, set, holds: PhantomData }
}
