//! What a person does to an element. The box hides the closure: all handlers of one event are one type.

/// For `on:click=handler(move |_| …)`.
pub(crate) fn handler<E: 'static>(work: impl FnMut(E) + 'static) -> Box<dyn FnMut(E)> {
    Box::new(work)
}
