//! Work for the outside world that follows signals: focus, titles, storage, loads. One effect for all, over a box.

use leptos::prelude::Effect;

/// Runs `work` soon, and again whenever a signal that it read has changed, until the calling component is gone.
pub(crate) fn effect(work: impl FnMut() + 'static) {
    run(Box::new(work));
}

fn run(mut work: Box<dyn FnMut()>) {
    Effect::new(move || work());
}

/// Like [`effect`], but not for what is there already: only when `value` has changed.
pub(crate) fn on_change<T: PartialEq + 'static>(
    value: impl Fn() -> T + 'static,
    work: impl Fn(&T) + 'static,
) {
    let before = std::cell::RefCell::new(None::<T>);
    effect(move || {
        let now = value();
        let is_change = before.borrow().as_ref().is_some_and(|before| *before != now);
        if is_change {
            work(&now);
        }
        before.replace(Some(now));
    });
}
