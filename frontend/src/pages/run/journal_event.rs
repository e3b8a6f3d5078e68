//! An event of the journal as the page holds it: shared by all that show it, and compared by its place.

use skillopt_domain::event::RunEvent;
use std::ops::Deref;
use std::sync::Arc;

/// One event. The journal of a run is only ever added to, so what stands at the same place is the same event; to compare
/// or copy what it says would be a good part of the page's code.
#[derive(Clone, Debug)]
pub(crate) struct JournalEvent(Arc<RunEvent>);

impl From<RunEvent> for JournalEvent {
    fn from(event: RunEvent) -> Self {
        Self(Arc::new(event))
    }
}

impl Deref for JournalEvent {
    type Target = RunEvent;

    fn deref(&self) -> &RunEvent {
        &self.0
    }
}

impl PartialEq for JournalEvent {
    fn eq(&self, other: &Self) -> bool {
        self.seq == other.seq
    }
}

/// Events as they came, to be held.
pub(crate) fn held(events: Vec<RunEvent>) -> Vec<JournalEvent> {
    events.into_iter().map(JournalEvent::from).collect()
}
