//! One stream: opens, listens, notices a break, opens again from where it was, and closes with its owner.

use super::{LiveState, LiveStates, use_live_states};
use crate::time;
use leptos::ev;
use leptos::leptos_dom::helpers::TimeoutHandle;
use leptos::prelude::*;
use std::time::Duration;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::{Event, EventSource, MessageEvent};

/// One message.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    /// Name of the event.
    pub(crate) name: &'static str,
    /// Its data: JSON.
    pub(crate) data: String,
}

/// What to listen to and whom to tell.
pub(crate) struct StreamPlan {
    /// The address, asked for at each connection, so that it can name the last event seen.
    pub(crate) url: Box<dyn Fn() -> String>,
    /// The names of events to listen to.
    pub(crate) names: &'static [&'static str],
    /// Takes each message.
    pub(crate) on_message: Box<dyn Fn(Message)>,
    /// The connection is back after a break: what was loaded before may be old.
    pub(crate) on_back: Box<dyn Fn()>,
}

/// A stream that belongs to the component that opened it.
#[derive(Clone, Copy)]
pub(crate) struct StreamHandle(StoredValue<Stream, LocalStorage>);

impl StreamHandle {
    /// The connection is open: what changes is told.
    pub(crate) fn is_live(self) -> bool {
        let state = self.0.try_with_value(|stream| stream.id.and_then(|id| stream.states.get(id)));
        state.flatten() == Some(LiveState::Live)
    }

    /// Nothing more will come: closes the connection and takes the stream off the badge.
    pub(crate) fn close(self) {
        let _ = self.0.try_update_value(Stream::close);
    }
}

struct Stream {
    plan: StreamPlan,
    states: LiveStates,
    /// Place in the badge; `None` while closed on purpose.
    id: Option<u32>,
    connection: Option<Connection>,
    retry: Option<TimeoutHandle>,
    failures: u32,
    was_live: bool,
}

impl Stream {
    fn close(&mut self) {
        self.disconnect();
        if let Some(id) = self.id.take() {
            self.states.remove(id);
        }
    }

    fn disconnect(&mut self) {
        self.connection = None;
        if let Some(retry) = self.retry.take() {
            retry.clear();
        }
    }

    fn show(&self, state: LiveState) {
        if let Some(id) = self.id {
            self.states.set(id, state);
        }
    }
}

/// An open connection with its listeners; closed when dropped.
struct Connection {
    source: EventSource,
    _on_open: Closure<dyn Fn(Event)>,
    _on_error: Closure<dyn Fn(Event)>,
    _on_message: Vec<Closure<dyn Fn(MessageEvent)>>,
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.source.set_onopen(None);
        self.source.set_onerror(None);
        self.source.close();
    }
}

/// Opens a stream that lives as long as the component that calls this.
pub(crate) fn open(plan: StreamPlan) -> StreamHandle {
    let states = use_live_states();
    let handle = StreamHandle(StoredValue::new_local(Stream {
        plan,
        states,
        id: Some(states.add()),
        connection: None,
        retry: None,
        failures: 0,
        was_live: false,
    }));
    connect(handle);
    let on_visibility =
        window_event_listener(ev::Custom::<Event>::new("visibilitychange"), move |_| {
            follow_visibility(handle);
        });
    on_cleanup(move || {
        on_visibility.remove();
        handle.close();
    });
    handle
}

/// A hidden tab gives its connection back and catches up when it is looked at again.
fn follow_visibility(handle: StreamHandle) {
    if document().hidden() {
        let _ = handle.0.try_update_value(Stream::disconnect);
    } else {
        connect(handle);
    }
}

fn connect(handle: StreamHandle) {
    let wanted =
        handle.0.try_with_value(|stream| stream.id.is_some() && stream.connection.is_none());
    if wanted != Some(true) || document().hidden() {
        return;
    }
    let url = handle.0.with_value(|stream| (stream.plan.url)());
    let names = handle.0.with_value(|stream| stream.plan.names);
    match listen(handle, &url, names) {
        Some(connection) => handle.0.update_value(|stream| stream.connection = Some(connection)),
        None => on_break(handle),
    }
}

fn listen(handle: StreamHandle, url: &str, names: &'static [&'static str]) -> Option<Connection> {
    let source = EventSource::new(url).ok()?;
    let on_open = Closure::<dyn Fn(Event)>::new(move |_| on_open(handle));
    let on_error = Closure::<dyn Fn(Event)>::new(move |_| on_break(handle));
    source.set_onopen(Some(on_open.as_ref().unchecked_ref()));
    source.set_onerror(Some(on_error.as_ref().unchecked_ref()));
    let on_message = names.iter().filter_map(|name| {
        let listener = Closure::<dyn Fn(MessageEvent)>::new(move |event: MessageEvent| {
            let data = event.data().as_string().unwrap_or_default();
            let _ =
                handle.0.try_with_value(|stream| (stream.plan.on_message)(Message { name, data }));
        });
        let added =
            source.add_event_listener_with_callback(name, listener.as_ref().unchecked_ref());
        added.is_ok().then_some(listener)
    });
    let on_message = on_message.collect();
    Some(Connection { source, _on_open: on_open, _on_error: on_error, _on_message: on_message })
}

fn on_open(handle: StreamHandle) {
    let is_back = handle.0.try_update_value(|stream| {
        let is_back = stream.was_live;
        stream.was_live = true;
        stream.failures = 0;
        stream.show(LiveState::Live);
        is_back
    });
    if is_back == Some(true) {
        let _ = handle.0.try_with_value(|stream| (stream.plan.on_back)());
    }
}

/// The browser would try again by itself, but not after an error status and not from the last event seen.
fn on_break(handle: StreamHandle) {
    // The listener that calls this belongs to the connection: it may only be dropped when the call is over.
    let retry = set_timeout_with_handle(
        move || {
            let _ = handle.0.try_update_value(Stream::disconnect);
            connect(handle);
        },
        Duration::from_millis(
            handle.0.try_with_value(|stream| wait_ms(stream.failures)).unwrap_or(0),
        ),
    );
    let _ = handle.0.try_update_value(|stream| {
        if let Some(connection) = &stream.connection {
            connection.source.close();
        }
        stream.failures += 1;
        stream.show(broken_state(stream));
        stream.retry = retry.ok();
    });
}

fn broken_state(stream: &Stream) -> LiveState {
    if !window().navigator().on_line() {
        return LiveState::Offline;
    }
    match stream.id.and_then(|id| stream.states.get(id)) {
        Some(stale @ LiveState::Stale { .. }) => stale,
        _ => LiveState::Stale { since_ms: time::now_ms() },
    }
}

/// 0.5, 1, 2, 4, 8 s, then every 10 s.
fn wait_ms(failures: u32) -> u64 {
    (500u64 << failures.min(5)).min(10_000)
}

#[cfg(test)]
mod tests {
    use super::wait_ms;

    #[test]
    fn waits_grow_and_stay_bounded() {
        assert_eq!([0, 1, 4, 5, 50].map(wait_ms), [500, 1000, 8000, 10_000, 10_000]);
    }
}
