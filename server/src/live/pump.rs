//! The one reader behind all viewers.

use super::viewer::{PAGE, frame_of};
use super::{Desk, Frame, Row};
use crate::causes::causes;
use serde::Serialize;
use skillopt_domain::event::Progress;
use skillopt_domain::ids::RunId;
use skillopt_store::{Signal, Store, StoreFailure};
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

/// How often other processes are looked after, and how often a row of the run table is sent at most.
const TICK: Duration = Duration::from_millis(150);

pub(super) struct Pump {
    store: Store,
    desk: Arc<Desk>,
    signals: Receiver<Signal>,
    // Changes of runs up to here are known.
    token: u64,
    // Changes of nights up to here are known.
    night_token: u64,
    // Runs whose viewers lack events.
    fresh: HashSet<RunId>,
    // Runs whose row changed since the last tick.
    rows: HashSet<RunId>,
    // Runs of this process that reported progress since the last tick.
    own: HashSet<RunId>,
}

impl Pump {
    pub(super) async fn new(store: Store, desk: Arc<Desk>) -> Result<Self, StoreFailure> {
        let signals = store.subscribe();
        let token = store.changed_runs_since(u64::MAX).await?.token;
        let night_token = store.changed_nights_since(u64::MAX).await?.token;
        let (fresh, rows, own) = (HashSet::new(), HashSet::new(), HashSet::new());
        Ok(Self { store, desk, signals, token, night_token, fresh, rows, own })
    }

    pub(super) async fn work(mut self, stop: CancellationToken) {
        let mut ticks = tokio::time::interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            // Both receivers keep what they have when dropped.
            let done = tokio::select! {
                () = stop.cancelled() => break,
                signal = self.signals.recv() => match signal {
                    Ok(signal) => {
                        self.note(signal);
                        self.drain();
                        self.send_events().await
                    }
                    Err(RecvError::Lagged(_)) => {
                        self.suspect_all();
                        self.send_events().await
                    }
                    Err(RecvError::Closed) => break,
                },
                _ = ticks.tick() => self.tick().await,
            };
            if let Err(err) = done {
                tracing::warn!("cannot read what changed: {}", causes(&err));
            }
        }
    }

    fn note(&mut self, signal: Signal) {
        match signal {
            Signal::Run(run) => {
                self.fresh.insert(run.clone());
                self.rows.insert(run);
            }
            Signal::Progress { run, progress } => {
                self.send_progress(&run, &progress);
                self.own.insert(run.clone());
                self.rows.insert(run);
            }
            Signal::Command { .. } => {}
        }
    }

    /// Takes what else waits, so that a burst of events is read in one go.
    fn drain(&mut self) {
        loop {
            match self.signals.try_recv() {
                Ok(signal) => self.note(signal),
                Err(TryRecvError::Lagged(_)) => self.suspect_all(),
                Err(TryRecvError::Empty | TryRecvError::Closed) => return,
            }
        }
    }

    /// Signals were lost: every watched run may have news.
    fn suspect_all(&mut self) {
        self.fresh.extend(self.desk.runs().keys().cloned());
    }

    async fn tick(&mut self) -> Result<(), StoreFailure> {
        self.desk.sweep();
        if !self.desk.is_watched() {
            self.fresh.clear();
            self.rows.clear();
            self.own.clear();
            return Ok(());
        }
        // The token stays where it is while nobody watches: a first viewer's table may be older than this look.
        let changes = self.store.changed_runs_since(self.token).await?;
        self.token = changes.token;
        for run in &changes.runs {
            if !self.own.contains(run) {
                self.send_progress_of_others(run).await?;
            }
        }
        self.fresh.extend(changes.runs.iter().cloned());
        self.rows.extend(changes.runs);
        self.own.clear();
        self.send_events().await?;
        self.send_rows().await?;
        self.send_nights().await
    }

    async fn send_events(&mut self) -> Result<(), StoreFailure> {
        for run in std::mem::take(&mut self.fresh) {
            let Some(feed) = self.desk.feed(&run) else { continue };
            let mut last = feed.last;
            loop {
                let events = self.store.events_after(&run, last, PAGE).await?;
                for event in &events {
                    last = event.seq;
                    // No receiver is left: the sweep will see it.
                    let _ = feed.frames.send(frame_of(event));
                }
                if events.len() < PAGE as usize {
                    break;
                }
            }
            self.desk.sent(&run, &feed.frames, last);
        }
        Ok(())
    }

    async fn send_rows(&mut self) -> Result<(), StoreFailure> {
        let rows = std::mem::take(&mut self.rows);
        if self.desk.rows.receiver_count() == 0 {
            return Ok(());
        }
        for run in rows {
            let summary = self.store.run_summary(&run).await?;
            let _ = self.desk.rows.send(Row::Run(json_of(&summary)));
        }
        Ok(())
    }

    async fn send_nights(&mut self) -> Result<(), StoreFailure> {
        let changes = self.store.changed_nights_since(self.night_token).await?;
        self.night_token = changes.token;
        for row in changes.rows {
            // Nobody may listen: lists are read anew by whoever comes.
            let _ = self.desk.rows.send(Row::Night(Arc::new(row)));
        }
        Ok(())
    }

    fn send_progress(&self, run: &RunId, progress: &Progress) {
        if let Some(feed) = self.desk.feed(run) {
            let _ = feed.frames.send(Frame::Progress(json_of(progress)));
        }
    }

    /// Other processes leave their progress in the store with each heartbeat.
    async fn send_progress_of_others(&self, run: &RunId) -> Result<(), StoreFailure> {
        if self.desk.feed(run).is_none() {
            return Ok(());
        }
        if let Some(progress) = self.store.view(run).await?.progress {
            self.send_progress(run, &progress);
        }
        Ok(())
    }
}

fn json_of(value: &impl Serialize) -> Arc<str> {
    serde_json::to_string(value).unwrap_or_default().into()
}
