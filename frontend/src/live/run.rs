//! The stream of one run: its events in order and the live counts of the stage.

use super::{StreamHandle, StreamPlan, open};
use crate::api;
use skillopt_domain::event::{Progress, RunEvent};
use skillopt_domain::ids::RunId;
use std::cell::Cell;
use std::rc::Rc;

/// Whom to tell. Events arrive in order and may repeat: `RunView::apply` ignores those it has seen.
pub(crate) struct RunListener {
    /// A journal row.
    pub(crate) on_event: Box<dyn Fn(RunEvent)>,
    /// Live counts of the stage that runs.
    pub(crate) on_progress: Box<dyn Fn(Progress)>,
    /// The stream is back after a break. Events in between arrive by themselves; loaded pages may be old.
    pub(crate) on_back: Box<dyn Fn()>,
}

/// Follows a run from the event after `after` until the calling component is gone.
pub(crate) fn follow(id: RunId, after: u64, listener: RunListener) -> StreamHandle {
    let seen = Rc::new(Cell::new(after));
    let RunListener { on_event, on_progress, on_back } = listener;
    let last = Rc::clone(&seen);
    open(StreamPlan {
        url: Box::new(move || api::run_stream_url(&id, last.get())),
        names: &["event", "progress"],
        on_message: Box::new(move |message| {
            if message.name == "progress" {
                if let Ok(progress) = serde_json::from_str(&message.data) {
                    on_progress(progress);
                }
            } else if let Ok(event) = serde_json::from_str::<RunEvent>(&message.data) {
                seen.set(seen.get().max(event.seq));
                on_event(event);
            }
        }),
        on_back,
    })
}
