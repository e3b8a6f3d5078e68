//! What the page of one run holds: the folded journal, kept current by the stream, and where its tabs are.

use super::journal_event::{JournalEvent, held};
use super::tab::RunTab;
use crate::api;
use crate::live::StreamHandle;
use crate::live::run::{RunListener, follow};
use crate::state::memo::Memo;
use crate::state::signal::RwSignal;
use leptos::prelude::*;
use leptos::task::spawn_local;
use skillopt_domain::api::{Caps, RunDetail, RunSummary};
use skillopt_domain::event::{EventKind, RunEvent, StepSummary};
use skillopt_domain::hash::Sha256Hex;
use skillopt_domain::ids::RunId;
use skillopt_domain::import::ImportOrigin;
use skillopt_domain::origin::RunOrigin;
use skillopt_domain::run::Phase;
use skillopt_domain::view::{RunView, SkillVersion};
use std::time::Duration;

/// Events that arrived since the page was opened and are kept for the journal tab.
const MAX_FRESH: usize = 2000;

/// Handed to every part of the page.
#[derive(Clone, Copy)]
pub(crate) struct RunState {
    id: StoredValue<RunId>,
    pub(crate) summary: StoredValue<RunSummary>,
    pub(crate) metric: StoredValue<String>,
    pub(crate) caps: Caps,
    /// Where the run came from, when it was imported.
    pub(crate) imported: StoredValue<Option<ImportOrigin>>,
    /// The run that it was made from.
    pub(crate) origin: StoredValue<Option<RunOrigin>>,
    pub(crate) view: RwSignal<RunView>,
    /// Events of the step that is under way.
    pub(crate) step_events: RwSignal<Vec<JournalEvent>>,
    /// Events that came over the stream.
    pub(crate) fresh: RwSignal<Vec<JournalEvent>>,
    stream: StoredValue<Option<StreamHandle>, LocalStorage>,
    /// Loads the whole page again.
    pub(crate) reload: Callback<()>,
}

impl RunState {
    /// Takes over what was loaded. While the run can still change, `parts::run_live` follows it.
    pub(crate) fn new(detail: RunDetail, reload: Callback<()>) -> Self {
        Self {
            id: StoredValue::new(detail.summary.id.clone()),
            summary: StoredValue::new(detail.summary),
            metric: StoredValue::new(detail.gate_metric),
            caps: detail.caps,
            imported: StoredValue::new(detail.imported),
            origin: StoredValue::new(detail.origin),
            view: RwSignal::new(detail.view),
            step_events: RwSignal::new(Vec::new()),
            fresh: RwSignal::new(Vec::new()),
            stream: StoredValue::new_local(None),
            reload,
        }
    }

    pub(crate) fn id(self) -> RunId {
        self.id.get_value()
    }

    /// The address of a tab.
    pub(crate) fn href(self, tab: RunTab) -> String {
        let id = self.id.get_value();
        match tab.word() {
            "" => format!("/runs/{id}"),
            word => format!("/runs/{id}/{word}"),
        }
    }

    pub(crate) fn step_href(self, step: u32) -> String {
        format!("{}?step={step}", self.href(RunTab::Steps))
    }

    /// The finished steps that the journal's fold holds.
    pub(crate) fn steps(self) -> Memo<Vec<StepSummary>> {
        let view = self.view;
        Memo::new(move || view.with(|view| view.steps.clone()))
    }

    pub(crate) fn versions(self) -> Memo<Vec<SkillVersion>> {
        let view = self.view;
        Memo::new(move || view.with(|view| view.versions.clone()))
    }

    /// The version that has this text, as `v3`.
    pub(crate) fn version_of(self, skill: &Sha256Hex) -> Option<u32> {
        self.view.with_untracked(|view| {
            view.versions.iter().rev().find(|v| v.skill == *skill).map(|v| v.version)
        })
    }

    /// Follows the run until the calling component is gone or the run has ended.
    pub(super) fn follow(self) {
        self.load_step_events();
        let after = self.view.with_untracked(|view| view.seq);
        let listener = RunListener {
            on_event: Box::new(move |event| self.take(event)),
            on_progress: Box::new(move |progress| {
                let _ = self.view.try_update(|view| view.apply_progress(progress));
            }),
            on_back: Box::new(|| {}),
        };
        self.stream.set_value(Some(follow(self.id(), after, listener)));
    }

    fn take(self, event: RunEvent) {
        let Some(seq) = self.view.try_with_untracked(|view| view.seq) else { return };
        if event.seq <= seq {
            return;
        }
        self.view.update(|view| view.apply(&event));
        let event = JournalEvent::from(event);
        self.keep_for_step(&event);
        self.fresh.update(|fresh| {
            fresh.push(event);
            if fresh.len() > MAX_FRESH {
                fresh.drain(..MAX_FRESH / 2);
            }
        });
        if self.view.with_untracked(|view| view.status.is_over()) {
            // Later: the stream cannot be closed from within its own listener.
            let stream = self.stream;
            set_timeout(
                move || _ = stream.try_with_value(|stream| stream.inspect(|stream| stream.close())),
                Duration::ZERO,
            );
        }
    }

    fn keep_for_step(self, event: &JournalEvent) {
        let Some(step) = event.kind.step() else { return };
        self.step_events.update(|events| {
            if events.first().is_some_and(|first| first.kind.step() != Some(step)) {
                events.clear();
            }
            events.push(event.clone());
        });
    }

    /// A page that is opened in the middle of a step needs what the step has done so far.
    fn load_step_events(self) {
        let Some(Phase::Step { step, .. }) = self.view.with_untracked(|view| view.phase) else {
            return;
        };
        let id = self.id();
        spawn_local(async move {
            // Without an answer the counts of earlier stages stay unknown; the stream fills the next ones.
            let Ok(detail) = api::step(&id, step).await else { return };
            let _ = self.step_events.try_update(|events| {
                let is_same = events.first().is_none_or(|first| first.kind.step() == Some(step));
                if is_same {
                    let last = detail.events.last().map_or(0, |event| event.seq);
                    let newer: Vec<_> = events.drain(..).filter(|event| event.seq > last).collect();
                    *events = held(detail.events);
                    events.extend(newer);
                }
            });
        });
    }
}

/// The step that is under way.
pub(crate) fn running_step(view: &RunView) -> Option<u32> {
    match view.phase.filter(|_| view.status.is_live()) {
        Some(Phase::Step { step, .. }) => Some(step),
        _ => None,
    }
}

/// The last event of a kind among the events of a step.
pub(crate) fn find<'a, T>(
    events: &'a [JournalEvent],
    pick: impl Fn(&'a EventKind) -> Option<T>,
) -> Option<T> {
    events.iter().rev().find_map(|event| pick(&event.kind))
}
