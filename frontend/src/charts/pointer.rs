//! What the hand does on a plot: point, brush, double click, arrow keys. Turns DOM events into pixels and steps.

use super::scale::{Frame, Scale};
use super::score::brushed;
use crate::components::dynamic::{dynamic, nothing};
use crate::components::handler::handler;
use crate::state::memo::Memo;
use crate::state::signal::RwSignal;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{Element, PointerEvent};

/// A plot's hand. All charts of a page share `cross`.
#[derive(Clone, Copy)]
pub(crate) struct Pointer {
    /// The step under the cross-line.
    pub(crate) cross: RwSignal<Option<u32>>,
    /// From where to where a brush goes, in pixels.
    pub(crate) brush: RwSignal<Option<(f64, f64)>>,
    pub(crate) on_zoom: Callback<Option<(u32, u32)>>,
}

/// What a move needs to know about the plot.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ground {
    pub(crate) frame: Frame,
    pub(crate) x: Scale,
    /// Steps that have values, rising.
    pub(crate) steps: Vec<u32>,
}

impl Ground {
    /// The step nearest to a pixel.
    pub(crate) fn nearest(&self, pixel: f64) -> Option<u32> {
        let away = |step: &u32| (self.x.at(f64::from(*step)) - pixel).abs();
        self.steps.iter().copied().min_by(|a, b| away(a).total_cmp(&away(b)))
    }

    /// The step that a key leads to from `now`.
    pub(crate) fn by_key(&self, key: &str, now: Option<u32>) -> Option<u32> {
        let last = self.steps.last().copied();
        match (key, now) {
            ("Home", _) => self.steps.first().copied(),
            ("ArrowLeft", Some(now)) => {
                self.steps.iter().rev().copied().find(|step| *step < now).or(Some(now))
            }
            ("ArrowRight", Some(now)) => {
                self.steps.iter().copied().find(|step| *step > now).or(Some(now))
            }
            ("End" | "ArrowLeft" | "ArrowRight", _) => last,
            _ => None,
        }
    }
}

impl Pointer {
    pub(crate) fn on_move(self, event: &PointerEvent, ground: &Ground) {
        let pixel = pixel_of(event, &ground.frame);
        self.cross.set(ground.nearest(pixel));
        if self.brush.with_untracked(Option::is_some) {
            self.brush.update(|brush| {
                if let Some((_, to)) = brush {
                    *to = pixel;
                }
            });
        }
    }

    pub(crate) fn on_down(self, event: &PointerEvent, ground: &Ground) {
        // A finger scrolls; only a mouse or a pen brushes.
        if event.pointer_type() == "touch" || event.button() != 0 {
            return;
        }
        let pixel = pixel_of(event, &ground.frame);
        self.brush.set(Some((pixel, pixel)));
        if let Some(target) = event.target().and_then(|target| target.dyn_into::<Element>().ok()) {
            let _ = target.set_pointer_capture(event.pointer_id());
        }
    }

    pub(crate) fn on_up(self, ground: &Ground) {
        let brush = self.brush.get_untracked();
        self.brush.set(None);
        let zoom = brush.and_then(|(from, to)| brushed(&ground.x, &ground.frame, from, to));
        if zoom.is_some() {
            self.on_zoom.run(zoom);
        }
    }

    pub(crate) fn on_leave(self) {
        if self.brush.with_untracked(Option::is_none) {
            self.cross.set(None);
        }
    }

    /// True when the key was for the chart.
    pub(crate) fn on_key(self, key: &str, ground: &Ground) -> bool {
        if key == "Escape" {
            self.cross.set(None);
            self.brush.set(None);
            return true;
        }
        let step = ground.by_key(key, self.cross.get_untracked());
        if step.is_some() {
            self.cross.set(step);
        }
        step.is_some()
    }
}

/// Where in the picture the pointer is; the picture may be drawn larger or smaller than it was measured.
fn pixel_of(event: &PointerEvent, frame: &Frame) -> f64 {
    let target = event.target().and_then(|target| target.dyn_into::<Element>().ok());
    let chart = target.and_then(|element| element.closest("svg").ok().flatten());
    chart.map_or(0.0, |chart| {
        let area = chart.get_bounding_client_rect();
        (f64::from(event.client_x()) - area.left()) * frame.width / area.width().max(1.0)
    })
}

/// The area that takes the pointer, over everything else.
pub(crate) fn hit_area(pointer: Pointer, ground: Memo<Ground>) -> AnyView {
    let frame = move || ground.with(|ground| ground.frame);
    let width = move || (frame().end() - frame().left).max(0.0);
    let height = move || (frame().floor() - frame().top).max(0.0);
    view! {
        <rect
            class="chart__hit"
            x=move || frame().left
            y=move || frame().top
            width=move || width()
            height=move || height()
            on:pointermove=handler(move |event| ground.with_untracked(|ground| pointer.on_move(&event, ground)))
            on:pointerdown=handler(move |event| ground.with_untracked(|ground| pointer.on_down(&event, ground)))
            on:pointerup=handler(move |_| ground.with_untracked(|ground| pointer.on_up(ground)))
            on:pointercancel=handler(move |_| pointer.brush.set(None))
            on:pointerleave=handler(move |_| pointer.on_leave())
            on:dblclick=handler(move |_| pointer.on_zoom.run(None))
        />
    }
    .into_any()
}

/// The brush as it is drawn.
pub(crate) fn brush_area(pointer: Pointer, ground: Memo<Ground>) -> AnyView {
    dynamic(move || {
        let Some((from, to)) = pointer.brush.get() else { return nothing() };
        let frame = ground.with(|ground| ground.frame);
        let left = from.min(to).max(frame.left);
        let width = (from.max(to).min(frame.end()) - left).max(0.0);
        let height = frame.floor() - frame.top;
        view! { <rect class="chart__brush" x=left y=frame.top width=width height=height/> }
            .into_any()
    })
}

/// The cross-line.
pub(crate) fn cross_line(pointer: Pointer, ground: Memo<Ground>) -> AnyView {
    dynamic(move || {
        let Some(step) = pointer.cross.get() else { return nothing() };
        let (frame, x) = ground.with(|ground| (ground.frame, ground.x));
        let at = x.at(f64::from(step));
        let is_inside = at >= frame.left - 1.0 && at <= frame.end() + 1.0;
        let at = at.floor() + 0.5;
        if !is_inside {
            return nothing();
        }
        view! { <path class="chart__cross" d=format!("M{at} {}V{}", frame.top, frame.floor())/> }
            .into_any()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ground() -> Ground {
        let frame =
            Frame { width: 100.0, height: 10.0, left: 0.0, right: 0.0, top: 0.0, bottom: 0.0 };
        Ground { frame, x: frame.x((0.0, 10.0)), steps: vec![0, 2, 9] }
    }

    #[test]
    fn arrows_walk_over_the_steps_that_have_values() {
        let ground = ground();
        assert_eq!(ground.by_key("ArrowRight", Some(2)), Some(9));
        assert_eq!(ground.by_key("ArrowRight", Some(9)), Some(9));
        assert_eq!(ground.by_key("ArrowLeft", Some(2)), Some(0));
        assert_eq!(ground.by_key("ArrowLeft", None), Some(9));
        assert_eq!(ground.by_key("Home", Some(9)), Some(0));
        assert_eq!(ground.by_key("x", Some(9)), None);
    }

    #[test]
    fn the_nearest_step_has_a_value() {
        assert_eq!(ground().nearest(50.0), Some(2));
        assert_eq!(ground().nearest(80.0), Some(9));
    }
}
