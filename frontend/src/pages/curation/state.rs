//! The tasks as the server has them, what is picked and typed, and what is being sent.

use super::groups::with_their_group;
use crate::api::{self, ApiError, ApiResult};
use crate::fmt;
use crate::state::memo::Memo;
use crate::state::query::QueryValue;
use crate::state::signal::RwSignal;
use leptos::prelude::*;
use leptos::task::spawn_local;
use skillopt_domain::api::{
    CuratedTask, CuratedTasks, TaskChange, TaskChangeRequest, TaskSearch, TaskText, TasksFound,
};
use skillopt_domain::ids::NightId;

#[derive(Clone, Copy)]
pub(super) struct Desk {
    tasks: RwSignal<CuratedTasks>,
    /// The task that the address names.
    named: QueryValue<String>,
    /// The night whose tasks can be added.
    night: QueryValue<String>,
    /// Rows with a mark in their box.
    pub(super) picked: RwSignal<Vec<String>>,
    /// Texts that were typed and not saved, by the id of their task.
    drafts: RwSignal<Vec<(String, TaskText)>>,
    pub(super) is_sending: RwSignal<bool>,
    pub(super) failure: RwSignal<Option<(&'static str, ApiError)>>,
    /// What the last search came to.
    pub(super) notes: RwSignal<Vec<String>>,
}

impl Desk {
    pub(super) fn new(
        tasks: CuratedTasks,
        named: QueryValue<String>,
        night: QueryValue<String>,
    ) -> Self {
        Self {
            tasks: RwSignal::new(tasks),
            named,
            night,
            picked: RwSignal::new(Vec::new()),
            drafts: RwSignal::new(Vec::new()),
            is_sending: RwSignal::new(false),
            failure: RwSignal::new(None),
            notes: RwSignal::new(Vec::new()),
        }
    }

    pub(super) fn memo<T: PartialEq + Send + Sync + 'static>(
        self,
        read: fn(&CuratedTasks) -> T,
    ) -> Memo<T> {
        Memo::new(move || self.tasks.with(read))
    }

    pub(super) fn with<R>(self, read: impl FnOnce(&CuratedTasks) -> R) -> R {
        self.tasks.with(read)
    }

    pub(super) fn with_untracked<R>(self, read: impl FnOnce(&CuratedTasks) -> R) -> R {
        self.tasks.with_untracked(read)
    }

    pub(super) fn project(self) -> String {
        self.with_untracked(|tasks| tasks.project.clone())
    }

    /// The night that the address names.
    pub(super) fn night(self) -> Option<NightId> {
        self.night.get().and_then(|id| NightId::parse(&id).ok())
    }

    /// The task that is shown.
    pub(super) fn chosen(self) -> Option<CuratedTask> {
        let named = self.named.get()?;
        self.with(|tasks| tasks.tasks.iter().find(|task| task.id == named).cloned())
    }

    pub(super) fn choose(self, id: Option<String>) {
        self.named.set(id);
    }

    /// The texts in the form: what was typed, else what is kept.
    pub(super) fn text(self, id: &str) -> TaskText {
        let typed = self
            .drafts
            .with(|drafts| drafts.iter().find(|(of, _)| of == id).map(|(_, text)| text.clone()));
        typed.unwrap_or_else(|| self.with(|tasks| kept_text(tasks, id)))
    }

    pub(super) fn typed(self, id: &str, change: impl FnOnce(&mut TaskText)) {
        let mut text = untrack(|| self.text(id));
        change(&mut text);
        let is_kept = self.with_untracked(|tasks| kept_text(tasks, id) == text);
        self.drafts.update(|drafts| {
            drafts.retain(|(of, _)| of != id);
            if !is_kept {
                drafts.push((id.to_owned(), text));
            }
        });
    }

    pub(super) fn is_typed(self, id: &str) -> bool {
        self.drafts.with(|drafts| drafts.iter().any(|(of, _)| of == id))
    }

    /// A task is not as it stands in its form. Drafts of tasks that are gone do not count.
    pub(super) fn has_unsaved(self) -> bool {
        self.drafts.with(|drafts| self.with(|tasks| has_unsaved(tasks, drafts)))
    }

    pub(super) fn forget(self, id: &str) {
        self.drafts.update(|drafts| drafts.retain(|(of, _)| of != id));
    }

    pub(super) fn change(self, what: &'static str, change: TaskChange) {
        self.change_then(what, change, || {});
    }

    pub(super) fn save(self, id: String) {
        let text = untrack(|| self.text(&id));
        let change = TaskChange::Edit { id: id.clone(), text: text.clone() };
        self.change_then("The task was not saved.", change, move || {
            self.drafts.update(|drafts| forget_sent(drafts, &id, &text));
        });
    }

    /// Moves tasks with all that belong to them, and clears the choice of the split once they are moved.
    pub(super) fn relocate(self, ids: &[String], split: RwSignal<String>) {
        let ids = self.with_untracked(|tasks| with_their_group(tasks, ids));
        let change = TaskChange::Move { ids, split: split.get_untracked() };
        self.change_then("The tasks were not moved.", change, move || split.set(String::new()));
    }

    fn change_then(self, what: &'static str, change: TaskChange, then: impl FnOnce() + 'static) {
        let (project, version) =
            self.with_untracked(|tasks| (tasks.project.clone(), tasks.version.clone()));
        let request = TaskChangeRequest { project, version, change };
        let sending = async move { api::change_tasks(&request).await };
        self.send(what, sending, move |tasks| {
            self.take(tasks);
            then();
        });
    }

    /// Looks for tasks in sessions, or takes those of a night.
    pub(super) fn find(self, night: Option<NightId>) {
        let (project, version) =
            self.with_untracked(|tasks| (tasks.project.clone(), tasks.version.clone()));
        let search = TaskSearch { project, version, night, ..TaskSearch::default() };
        let sending = async move { api::find_tasks(&search).await };
        self.send("No tasks were added.", sending, move |found| {
            self.notes.set(search_words(&found));
            self.take(found.tasks);
        });
    }

    /// What others changed meanwhile. What is typed here stays.
    pub(super) fn load_again(self) {
        let project = self.project();
        let sending = async move { api::curated_tasks(&project).await };
        self.send("The tasks could not be loaded.", sending, move |tasks| self.take(tasks));
    }

    fn take(self, tasks: CuratedTasks) {
        self.picked.update(|picked| {
            picked.retain(|id| tasks.tasks.iter().any(|task| task.id == *id));
        });
        self.tasks.set(tasks);
    }

    fn send<T: 'static>(
        self,
        what: &'static str,
        sending: impl Future<Output = ApiResult<T>> + 'static,
        then: impl FnOnce(T) + 'static,
    ) {
        self.is_sending.set(true);
        self.failure.set(None);
        self.notes.set(Vec::new());
        spawn_local(async move {
            match sending.await {
                Ok(answer) => then(answer),
                Err(error) => self.failure.set(Some((what, error))),
            }
            self.is_sending.set(false);
        });
    }
}

/// Drops the draft that was saved. What was typed while it was on its way stays.
fn forget_sent(drafts: &mut Vec<(String, TaskText)>, id: &str, sent: &TaskText) {
    drafts.retain(|(of, text)| of != id || text != sent);
}

fn has_unsaved(tasks: &CuratedTasks, drafts: &[(String, TaskText)]) -> bool {
    drafts.iter().any(|(of, _)| tasks.tasks.iter().any(|task| task.id == *of))
}

fn kept_text(tasks: &CuratedTasks, id: &str) -> TaskText {
    let task = tasks.tasks.iter().find(|task| task.id == id);
    task.map(|task| task.text.clone()).unwrap_or_default()
}

/// What a search came to.
fn search_words(found: &TasksFound) -> Vec<String> {
    let known = match found.n_known {
        0 => String::new(),
        n => format!("; {} known already and left as they were", fmt::count(n.into())),
    };
    let words = match found.n_new {
        0 => "No new task was found".to_owned(),
        n => fmt::plural(n.into(), "new task", "new tasks"),
    };
    let mut notes = vec![format!("{words}{known}.")];
    notes.extend(found.notes.iter().map(|note| fmt::capital(note)));
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_while_a_task_is_on_its_way_stays() {
        let text = |intent: &str| TaskText { intent: intent.into(), ..TaskText::default() };
        let mut drafts = vec![("a".to_owned(), text("newer")), ("b".to_owned(), text("sent"))];
        forget_sent(&mut drafts, "a", &text("sent"));
        forget_sent(&mut drafts, "b", &text("sent"));
        assert_eq!(drafts, [("a".to_owned(), text("newer"))]);
    }

    #[test]
    fn a_draft_counts_while_its_task_is_there() {
        let task = CuratedTask { id: "a".into(), ..CuratedTask::default() };
        let tasks = CuratedTasks { tasks: vec![task], ..CuratedTasks::default() };
        let draft = |id: &str| [(id.to_owned(), TaskText::default())];
        assert!(has_unsaved(&tasks, &draft("a")));
        assert!(!has_unsaved(&tasks, &draft("gone")) && !has_unsaved(&tasks, &[]));
    }

    #[test]
    fn a_search_says_what_was_new_and_why_there_is_nothing() {
        let found = |n_new, n_known| TasksFound { n_new, n_known, ..TasksFound::default() };
        assert_eq!(search_words(&found(2, 0)), ["2 new tasks."]);
        let known = search_words(&found(0, 3));
        assert_eq!(known, ["No new task was found; 3 known already and left as they were."]);
        let why = TasksFound { notes: vec!["there are no sessions".into()], ..found(0, 0) };
        assert_eq!(search_words(&why)[1], "There are no sessions");
    }
}
