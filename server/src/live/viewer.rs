//! One viewer's side: what was missed comes from the store, the rest from the pump, nothing twice.

use super::{Frame, Row};
use crate::causes::causes;
use futures::{Stream, StreamExt, stream};
use skillopt_domain::event::RunEvent;
use skillopt_domain::ids::RunId;
use skillopt_store::Store;
use std::collections::VecDeque;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio_util::sync::CancellationToken;

/// Events that are read from the store at once.
pub(super) const PAGE: u32 = 500;

/// The events of a run after number `after`.
pub(super) fn events(
    store: Store,
    run: RunId,
    after: u64,
    frames: Receiver<Frame>,
    stop: CancellationToken,
) -> impl Stream<Item = Frame> + Send + use<> {
    let viewer =
        Viewer { store, run, last: after, frames, ready: VecDeque::new(), is_behind: true };
    stream::unfold(viewer, |mut viewer| async move {
        let frame = viewer.next().await?;
        Some((frame, viewer))
    })
    .take_until(stop.cancelled_owned())
}

/// Rows of runs and nights.
pub(super) fn rows(
    rows: Receiver<Row>,
    stop: CancellationToken,
) -> impl Stream<Item = Row> + Send + use<> {
    stream::unfold(rows, |mut rows| async move {
        let row = rows.recv().await.ok()?;
        Some((row, rows))
    })
    .take_until(stop.cancelled_owned())
}

struct Viewer {
    store: Store,
    run: RunId,
    // Number of the last event that the viewer got.
    last: u64,
    frames: Receiver<Frame>,
    ready: VecDeque<Frame>,
    // The store has events that the viewer lacks.
    is_behind: bool,
}

impl Viewer {
    async fn next(&mut self) -> Option<Frame> {
        loop {
            if let Some(frame) = self.ready.pop_front() {
                if let Frame::Event { seq, .. } = &frame {
                    self.last = *seq;
                }
                return Some(frame);
            }
            if self.is_behind {
                self.catch_up().await?;
                continue;
            }
            match self.frames.recv().await {
                Ok(Frame::Event { seq, .. }) if seq <= self.last => {}
                Ok(Frame::Event { seq, .. }) if seq > self.last + 1 => self.is_behind = true,
                Ok(frame) => self.ready.push_back(frame),
                Err(RecvError::Lagged(_)) => self.is_behind = true,
                Err(RecvError::Closed) => return None,
            }
        }
    }

    /// Reads one page. An unreadable store ends the stream: the browser comes back with the last id.
    async fn catch_up(&mut self) -> Option<()> {
        let events = self.store.events_after(&self.run, self.last, PAGE).await;
        let events = events
            .inspect_err(|err| {
                tracing::warn!(run.id = %self.run, "cannot read the journal: {}", causes(err));
            })
            .ok()?;
        self.is_behind = events.len() >= PAGE as usize;
        self.ready.extend(events.iter().map(frame_of));
        Some(())
    }
}

/// An event as it is sent.
pub(super) fn frame_of(event: &RunEvent) -> Frame {
    let json = serde_json::to_string(event).unwrap_or_default();
    Frame::Event { seq: event.seq, json: json.into() }
}
