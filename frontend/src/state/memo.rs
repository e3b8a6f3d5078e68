//! A value that is worked out once and again only when what it reads changes. All memos are one `Memo<Kept>` inside:
//! each kind of value adds a comparison and a cast, not another copy of the reactive machinery.

use leptos::prelude::{Get as _, GetUntracked as _, Memo as AnyMemo};
use std::any::Any;
use std::marker::PhantomData;
use std::sync::Arc;

/// A kept value that can tell whether it changed.
trait Comparable: Any + Send + Sync {
    fn is_same(&self, other: &dyn Comparable) -> bool;
    fn as_any(&self) -> &dyn Any;
}

impl<T: PartialEq + Send + Sync + 'static> Comparable for T {
    fn is_same(&self, other: &dyn Comparable) -> bool {
        other.as_any().downcast_ref::<T>() == Some(self)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

#[derive(Clone)]
struct Kept(Arc<dyn Comparable>);

impl PartialEq for Kept {
    fn eq(&self, other: &Self) -> bool {
        self.0.is_same(&*other.0)
    }
}

/// Takes the place of Leptos' memo of the same name, with the same reads.
pub(crate) struct Memo<T> {
    kept: AnyMemo<Kept>,
    holds: PhantomData<fn() -> T>,
}

impl<T> Clone for Memo<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Memo<T> {}

impl<T: PartialEq + Send + Sync + 'static> Memo<T> {
    /// Runs `value` when it is read first, and when a signal that it read has changed since.
    pub(crate) fn new(value: impl Fn() -> T + Send + Sync + 'static) -> Self {
        Self { kept: keep(Box::new(move || Kept(Arc::new(value())))), holds: PhantomData }
    }

    /// Reads it in place and follows it.
    pub(crate) fn with<R>(self, read: impl FnOnce(&T) -> R) -> R {
        read(cast(&*follow(self.kept)))
    }

    /// Reads it in place, once.
    pub(crate) fn with_untracked<R>(self, read: impl FnOnce(&T) -> R) -> R {
        read(cast(&*look(self.kept)))
    }
}

impl<T: Clone + PartialEq + Send + Sync + 'static> Memo<T> {
    /// Follows it.
    pub(crate) fn get(self) -> T {
        self.with(T::clone)
    }

    /// Reads it once.
    pub(crate) fn get_untracked(self) -> T {
        self.with_untracked(T::clone)
    }
}

fn keep(value: Box<dyn Fn() -> Kept + Send + Sync>) -> AnyMemo<Kept> {
    AnyMemo::new(move |_| value())
}

fn follow(kept: AnyMemo<Kept>) -> Arc<dyn Comparable> {
    kept.get().0
}

fn look(kept: AnyMemo<Kept>) -> Arc<dyn Comparable> {
    kept.get_untracked().0
}

fn cast<T: 'static>(kept: &dyn Comparable) -> &T {
    kept.as_any().downcast_ref().expect("a memo keeps what its own closure made")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_one_kind_are_compared_and_others_differ() {
        let kept = |value: Arc<dyn Comparable>| Kept(value);
        assert!(kept(Arc::new(1_u32)) == kept(Arc::new(1_u32)));
        assert!(kept(Arc::new(1_u32)) != kept(Arc::new(2_u32)));
        assert!(kept(Arc::new(1_u32)) != kept(Arc::new(1_u64)));
    }
}
