//! The measured width of an element, so that a chart is drawn at its real size and its text keeps 11 px.

use crate::state::effect::effect;
use crate::state::signal::RwSignal;
use leptos::html;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::{Element, ResizeObserver};

type OnResize = Closure<dyn FnMut()>;

/// The width in whole pixels; `before` until it is known.
pub(crate) fn measured(node: NodeRef<html::Div>, before: f64) -> RwSignal<f64> {
    let width = RwSignal::new(before);
    let observer = StoredValue::new_local(None::<(ResizeObserver, OnResize)>);
    effect(move || {
        let Some(div) = node.get() else { return };
        let element: Element = div.unchecked_into();
        let measure = {
            let element = element.clone();
            move || {
                let now = element.get_bounding_client_rect().width().round();
                if now > 0.0
                    && width.try_get_untracked().is_some_and(|old| (old - now).abs() >= 1.0)
                {
                    width.set(now);
                }
            }
        };
        measure();
        let on_resize = OnResize::new(measure);
        if let Ok(made) = ResizeObserver::new(on_resize.as_ref().unchecked_ref()) {
            made.observe(&element);
            observer.set_value(Some((made, on_resize)));
        }
    });
    on_cleanup(move || {
        let _ = observer.try_update_value(|observer| {
            if let Some((made, _)) = observer.take() {
                made.disconnect();
            }
        });
    });
    width
}
