//! What is drawn when it comes near the window: much of a long page is never scrolled to.

use super::dynamic::when;
use super::states::SkeletonRows;
use crate::state::effect::effect;
use crate::state::signal::RwSignal;
use leptos::html;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::{Element, IntersectionObserver, IntersectionObserverInit};

type OnMove = Closure<dyn FnMut()>;

/// So far below the window a view is made.
const NEAR: f64 = 300.0;

/// `view` once its place is near the window; rows in its place until then.
pub(crate) fn when_near(view: impl Fn() -> AnyView + Send + 'static) -> AnyView {
    let place = NodeRef::<html::Div>::new();
    let is_near = near(place);
    let rows = move || view! { <div node_ref=place><SkeletonRows rows=4/></div> }.into_any();
    when(move || is_near.get(), view, rows)
}

fn near(place: NodeRef<html::Div>) -> RwSignal<bool> {
    let is_near = RwSignal::new(false);
    let observer = StoredValue::new_local(None::<(IntersectionObserver, OnMove)>);
    effect(move || {
        let Some(div) = place.get() else { return };
        let element: Element = div.unchecked_into();
        let look = {
            let element = element.clone();
            move || {
                let height = window().inner_height().ok().and_then(|height| height.as_f64());
                let top = element.get_bounding_client_rect().top();
                if height.is_none_or(|height| top < height + NEAR) {
                    let _ = is_near.try_update(|is_near| *is_near = true);
                }
            }
        };
        let on_move = OnMove::new(look);
        let init = IntersectionObserverInit::new();
        init.set_root_margin(&format!("{NEAR}px"));
        let made = IntersectionObserver::new_with_options(on_move.as_ref().unchecked_ref(), &init);
        match made {
            Ok(made) => {
                made.observe(&element);
                observer.set_value(Some((made, on_move)));
            }
            Err(_) => is_near.set(true),
        }
    });
    on_cleanup(move || {
        let _ = observer.try_update_value(|observer| {
            if let Some((made, _)) = observer.take() {
                made.disconnect();
            }
        });
    });
    is_near
}
