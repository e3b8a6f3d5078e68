//! A value that changes and tells those who read it. All signals are one `RwSignal<Held>` inside: each kind of value
//! adds a cast, not another copy of the reactive machinery.

use leptos::prelude::{
    RwSignal as AnySignal, Set as _, Track as _, Update as _, WithUntracked as _,
};
use std::any::Any;
use std::marker::PhantomData;

type Held = Box<dyn Any + Send + Sync>;

/// Takes the place of Leptos' signal of the same name, with the same reads and writes.
pub(crate) struct RwSignal<T> {
    held: AnySignal<Held>,
    holds: PhantomData<fn() -> T>,
}

impl<T> Clone for RwSignal<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for RwSignal<T> {}

impl<T: Send + Sync + 'static> RwSignal<T> {
    pub(crate) fn new(value: T) -> Self {
        Self { held: hold(Box::new(value)), holds: PhantomData }
    }

    /// Reads it in place and follows it.
    pub(crate) fn with<R>(self, read: impl FnOnce(&T) -> R) -> R {
        self.track();
        self.with_untracked(read)
    }

    /// Reads it in place, once.
    pub(crate) fn with_untracked<R>(self, read: impl FnOnce(&T) -> R) -> R {
        self.try_with_untracked(read).expect("who reads a signal lives no longer than its owner")
    }

    /// `None` when its owner is gone.
    pub(crate) fn try_with_untracked<R>(self, read: impl FnOnce(&T) -> R) -> Option<R> {
        let (mut read, mut answer) = (Some(read), None);
        look(self.held, &mut |held| {
            answer = held.downcast_ref().and_then(|value| read.take().map(|read| read(value)));
        });
        answer
    }

    /// Follows it without reading.
    pub(crate) fn track(self) {
        self.held.track();
    }

    /// Changes it in place and tells who follows it.
    pub(crate) fn update(self, change: impl FnOnce(&mut T)) {
        self.try_update(change);
    }

    /// Like [`Self::update`]; `None` when its owner is gone.
    pub(crate) fn try_update<R>(self, change: impl FnOnce(&mut T) -> R) -> Option<R> {
        let (mut change, mut answer) = (Some(change), None);
        alter(self.held, &mut |held| {
            answer =
                held.downcast_mut().and_then(|value| change.take().map(|change| change(value)));
        });
        answer
    }

    /// Puts another value and tells who follows it. Nothing happens when its owner is gone.
    pub(crate) fn set(self, value: T) {
        put(self.held, Box::new(value));
    }
}

impl<T: Clone + Send + Sync + 'static> RwSignal<T> {
    /// Follows it.
    pub(crate) fn get(self) -> T {
        self.with(T::clone)
    }

    /// Reads it once.
    pub(crate) fn get_untracked(self) -> T {
        self.with_untracked(T::clone)
    }

    /// `None` when its owner is gone.
    pub(crate) fn try_get_untracked(self) -> Option<T> {
        self.try_with_untracked(T::clone)
    }
}

fn hold(value: Held) -> AnySignal<Held> {
    AnySignal::new(value)
}

fn look(signal: AnySignal<Held>, read: &mut dyn FnMut(&dyn Any)) {
    let _ = signal.try_with_untracked(|held| read(&**held));
}

fn alter(signal: AnySignal<Held>, change: &mut dyn FnMut(&mut dyn Any)) {
    let _ = signal.try_update(|held| change(&mut **held));
}

fn put(signal: AnySignal<Held>, value: Held) {
    let _ = signal.try_set(value);
}

#[cfg(test)]
mod tests {
    use super::*;
    use leptos::prelude::Owner;

    #[test]
    fn a_signal_holds_what_was_put_last() {
        let owner = Owner::new();
        owner.with(|| {
            let words = RwSignal::new(vec!["a"]);
            words.update(|words| words.push("b"));
            assert_eq!(words.get_untracked(), ["a", "b"]);
            words.set(Vec::new());
            assert!(words.with_untracked(Vec::is_empty));
        });
    }

    #[test]
    fn nothing_is_read_or_changed_when_the_owner_is_gone() {
        let owner = Owner::new();
        let count = owner.with(|| RwSignal::new(1));
        owner.cleanup();
        count.set(2);
        assert_eq!(count.try_update(|count| *count += 1), None);
        assert_eq!(count.try_get_untracked(), None);
    }
}
