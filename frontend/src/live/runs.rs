//! The stream of all runs and nights: one connection for the whole dashboard, told to whoever shows rows; how many nights
//! wait for a decision; and what runs, asked once for all of them.

use super::{Message, StreamHandle, StreamPlan, open};
use crate::api;
use crate::state::effect::effect;
use crate::state::load::Load;
use crate::state::signal::RwSignal;
use leptos::prelude::*;
use skillopt_domain::api::{ReviewCount, RunQuery, RunSummary};
use skillopt_domain::run::RunStatus;
use std::rc::Rc;

type OnRun = Rc<dyn Fn(&RunSummary)>;
type OnNight = Rc<dyn Fn(&str)>;

/// Who wants to know about changed rows.
#[derive(Clone, Copy)]
pub(crate) struct RunsLive {
    listeners: StoredValue<Vec<(u32, OnRun)>, LocalStorage>,
    of_nights: StoredValue<Vec<(u32, OnNight)>, LocalStorage>,
    stream: StoredValue<Option<StreamHandle>>,
    n_waiting: RwSignal<u64>,
    back: RwSignal<u32>,
    running: RwSignal<Vec<RunSummary>>,
}

impl RunsLive {
    /// Calls `on_run` with each row that changes, until the calling component is gone.
    pub(crate) fn on_run(self, on_run: impl Fn(&RunSummary) + 'static) {
        let id = self.listeners.with_value(|all| all.last().map_or(0, |(id, _)| id + 1));
        self.listeners.update_value(|all| all.push((id, Rc::new(on_run))));
        on_cleanup(move || {
            let _ = self.listeners.try_update_value(|all| all.retain(|(other, _)| *other != id));
        });
    }

    /// Calls `on_night` with the JSON text of each night that changes, until the calling component is gone. Only pages with
    /// nights carry the code that reads it.
    pub(crate) fn on_night(self, on_night: impl Fn(&str) + 'static) {
        let id = self.of_nights.with_value(|all| all.last().map_or(0, |(id, _)| id + 1));
        self.of_nights.update_value(|all| all.push((id, Rc::new(on_night))));
        on_cleanup(move || {
            let _ = self.of_nights.try_update_value(|all| all.retain(|(other, _)| *other != id));
        });
    }

    /// Nights that wait for a decision and can be adopted.
    pub(crate) fn n_waiting(self) -> u64 {
        self.n_waiting.get()
    }

    /// Changes are told. While they are not, whoever shows them has to ask.
    pub(crate) fn is_open(self) -> bool {
        self.stream.get_value().is_some_and(StreamHandle::is_live)
    }

    /// Counts the times that the stream came back after a break. Resources read it, so that they load again.
    pub(crate) fn back(self) -> u32 {
        self.back.get()
    }

    /// The runs that an engine owns now: asked for at first and when the stream came back, then kept by the stream.
    pub(crate) fn running(self) -> RwSignal<Vec<RunSummary>> {
        self.running
    }

    /// A row of a newer server that cannot be read is skipped; the next load tells why.
    fn take(self, message: &Message) {
        match message.name {
            "run" => {
                if let Ok(run) = serde_json::from_str(&message.data) {
                    self.tell(&run);
                }
            }
            "night" => self.tell_night(&message.data),
            _ => {
                if let Ok(ReviewCount { n_waiting }) = serde_json::from_str(&message.data) {
                    self.n_waiting.set(n_waiting);
                }
            }
        }
    }

    fn tell_night(self, text: &str) {
        let listeners = self.of_nights.try_with_value(Clone::clone).unwrap_or_default();
        for (_, on_night) in listeners {
            on_night(text);
        }
    }

    fn tell(self, run: &RunSummary) {
        let listeners = self.listeners.try_with_value(Clone::clone).unwrap_or_default();
        for (_, on_run) in listeners {
            on_run(run);
        }
    }
}

pub(crate) fn provide() {
    let live = RunsLive {
        listeners: StoredValue::new_local(Vec::new()),
        of_nights: StoredValue::new_local(Vec::new()),
        stream: StoredValue::new(None),
        n_waiting: RwSignal::new(0),
        back: RwSignal::new(0),
        running: RwSignal::new(Vec::new()),
    };
    keep_running(live);
    provide_context(live);
    let stream = open(StreamPlan {
        url: Box::new(api::runs_stream_url),
        names: &["run", "night", "review"],
        on_message: Box::new(move |message| live.take(&message)),
        on_back: Box::new(move || live.back.update(|count| *count += 1)),
    });
    live.stream.set_value(Some(stream));
}

fn keep_running(live: RunsLive) {
    let loaded = Load::new(move || {
        live.back();
        let query =
            RunQuery { status: Some(RunStatus::Running), limit: Some(500), ..RunQuery::default() };
        async move { api::runs(&query).await }
    });
    effect(move || {
        if let Some(Ok(page)) = loaded.get() {
            live.running.set(page.items.clone());
        }
    });
    live.on_run(move |run| {
        let is_running = run.status == RunStatus::Running;
        let known = live.running.with_untracked(|all| all.iter().position(|one| one.id == run.id));
        match known {
            Some(at) if is_running => live.running.update(|all| all[at].clone_from(run)),
            Some(at) => live.running.update(|all| _ = all.remove(at)),
            None if is_running => live.running.update(|all| all.push(run.clone())),
            None => {}
        }
    });
}

pub(crate) fn use_runs_live() -> RunsLive {
    expect_context()
}
