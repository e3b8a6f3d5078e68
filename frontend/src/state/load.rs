//! What a page loads: waits, has it, or failed. One loader for all answers: only the cast knows what was loaded.

use super::effect::effect;
use crate::api::ApiResult;
use crate::state::signal::RwSignal;
use leptos::prelude::*;
use leptos::task::spawn_local;
use std::any::Any;
use std::future::poll_fn;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

/// An answer, whatever it is.
type Answer = Arc<dyn Any + Send + Sync>;
type Fetching = Pin<Box<dyn Future<Output = ApiResult<Answer>>>>;

/// An answer that is loaded when the component starts, again when a signal that the fetch read has changed, and when
/// asked to. Until the new answer is there the old one stays; only the newest fetch counts.
pub(crate) struct Load<T> {
    core: Core,
    holds: PhantomData<fn() -> T>,
}

impl<T> Clone for Load<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Load<T> {}

impl<T: Send + Sync + 'static> Load<T> {
    /// `fetch` reads signals while it makes the future, not inside of it.
    pub(crate) fn new<F>(fetch: impl Fn() -> F + 'static) -> Self
    where
        F: Future<Output = ApiResult<T>> + 'static,
    {
        let core = Core::start(Box::new(move || {
            let answer = fetch();
            Box::pin(async move { answer.await.map(|answer| Arc::new(answer) as Answer) })
        }));
        Self { core, holds: PhantomData }
    }

    /// Asks again.
    pub(crate) fn again(self) {
        self.core.again();
    }

    /// The newest answer, if there is one; follows it.
    pub(crate) fn get(self) -> Option<ApiResult<Arc<T>>> {
        self.core.answer.get().map(|answer| answer.map(cast))
    }

    pub(crate) fn core(self) -> Core {
        self.core
    }
}

/// What was loaded, in its own type.
pub(crate) fn cast<T: Send + Sync + 'static>(answer: Answer) -> Arc<T> {
    Arc::downcast(answer).unwrap_or_else(|_| unreachable!("a load keeps what its own fetch made"))
}

/// The loader without the type of what it loads.
#[derive(Clone, Copy)]
pub(crate) struct Core {
    pub(crate) answer: RwSignal<Option<ApiResult<Answer>>>,
    asked: RwSignal<u32>,
}

impl Core {
    fn start(fetch: Box<dyn Fn() -> Fetching>) -> Self {
        let core = Self { answer: RwSignal::new(None), asked: RwSignal::new(0) };
        let newest = StoredValue::new(0_u32);
        effect(move || {
            core.asked.track();
            let number = newest.get_value() + 1;
            newest.set_value(number);
            let mut fetching = fetch();
            // Given up where it stands when another fetch began meanwhile, or when the page is gone.
            let newest_only = poll_fn(move |context| match newest.try_get_value() {
                Some(newest) if newest == number => fetching.as_mut().poll(context).map(Some),
                _ => Poll::Ready(None),
            });
            spawn_local(async move {
                if let Some(answer) = newest_only.await {
                    core.answer.set(Some(answer));
                }
            });
        });
        core
    }

    /// Asks again.
    pub(crate) fn again(self) {
        self.asked.update(|asked| *asked += 1);
    }
}
