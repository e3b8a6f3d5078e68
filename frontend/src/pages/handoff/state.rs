//! What waits, what is typed, and what is being sent. Each answer of the server takes the place of the whole.

use super::words::beside;
use crate::api::{self, ApiError, ApiResult};
use crate::components::night_cells::night_href;
use crate::live::nights::{NightPlan, follow};
use crate::state::keys::{KeyUse, on_single_key};
use crate::state::memo::Memo;
use crate::state::query::QueryValue;
use crate::state::signal::RwSignal;
use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos_router::NavigateOptions;
use leptos_router::hooks::use_navigate;
use skillopt_domain::api::{HandoffAnswer, HandoffPage, HandoffPrompt, NightItem};
use skillopt_domain::night::NightStatus;
use std::pin::Pin;

#[derive(Clone, Copy)]
pub(super) struct InboxState {
    page: RwSignal<HandoffPage>,
    /// The prompt that the address names.
    named: QueryValue<String>,
    /// Texts that were typed and not saved, by the id of their prompt.
    drafts: RwSignal<Vec<(String, String)>>,
    pub(super) is_sending: RwSignal<bool>,
    pub(super) failure: RwSignal<Option<(&'static str, ApiError)>>,
}

/// Told when an answer was not saved; there is a way on then.
pub(super) const NOT_SAVED: &str = "The answer was not saved.";

type Sending = Pin<Box<dyn Future<Output = ApiResult<HandoffPage>>>>;

impl InboxState {
    pub(super) fn new(page: HandoffPage, named: QueryValue<String>) -> Self {
        Self {
            page: RwSignal::new(page),
            named,
            drafts: RwSignal::new(Vec::new()),
            is_sending: RwSignal::new(false),
            failure: RwSignal::new(None),
        }
    }

    /// Follows a night that works on the project, and lets `j` and `k` move.
    pub(super) fn follow(self) {
        let is_running =
            move || self.page.try_with_untracked(|page| page.running.is_some()).unwrap_or_default();
        follow(NightPlan {
            is_running: Box::new(is_running),
            ask: Box::new(move || {
                Box::pin(async move {
                    api::handoff(&self.project(), self.dry()).await.map(|page| self.page.set(page))
                })
            }),
            on_night: Box::new(move |night| {
                let is_news = self.page.try_with_untracked(|page| is_news(page, night));
                if is_news.unwrap_or_default() {
                    self.look_again();
                }
            }),
        });
        on_single_key(move |key| {
            if !matches!(key, "j" | "k") {
                return KeyUse::Ignored;
            }
            let now = self.chosen_of(self.named.get_untracked().as_deref());
            let to = now
                .and_then(|now| self.page.with_untracked(|page| beside(page, &now.id, key == "j")));
            if let Some(to) = to {
                self.choose(to);
            }
            KeyUse::Used
        });
    }

    /// Without an answer what is there stays.
    fn look_again(self) {
        spawn_local(async move {
            if let Ok(page) = api::handoff(&self.project(), self.dry()).await {
                self.page.set(page);
            }
        });
    }

    pub(super) fn project(self) -> String {
        self.page.with_untracked(|page| page.project.clone())
    }

    /// The prompts are those of a dry run.
    pub(super) fn is_dry(self) -> bool {
        self.page.with_untracked(|page| page.is_dry)
    }

    /// Whose prompts are asked for from now on: those that are shown, whichever begin to wait meanwhile.
    fn dry(self) -> Option<bool> {
        Some(self.is_dry())
    }

    pub(super) fn memo<T: PartialEq + Send + Sync + 'static>(
        self,
        read: fn(&HandoffPage) -> T,
    ) -> Memo<T> {
        Memo::new(move || self.page.with(read))
    }

    pub(super) fn with<R>(self, read: impl FnOnce(&HandoffPage) -> R) -> R {
        self.page.with(read)
    }

    pub(super) fn with_untracked<R>(self, read: impl FnOnce(&HandoffPage) -> R) -> R {
        self.page.with_untracked(read)
    }

    /// The prompt that is shown: the one that the address names, else the first open one.
    pub(super) fn chosen(self) -> Option<HandoffPrompt> {
        self.page.track();
        self.chosen_of(self.named.get().as_deref())
    }

    fn chosen_of(self, named: Option<&str>) -> Option<HandoffPrompt> {
        self.page.with_untracked(|page| chosen(&page.prompts, named).cloned())
    }

    pub(super) fn choose(self, id: String) {
        self.failure.set(None);
        self.named.set(Some(id));
    }

    /// What stands in the field: what was typed, else what was answered.
    pub(super) fn text(self, id: &str) -> String {
        let typed = self
            .drafts
            .with(|drafts| drafts.iter().find(|(of, _)| of == id).map(|(_, text)| text.clone()));
        typed.unwrap_or_else(|| self.page.with(|page| answer_of(page, id)))
    }

    pub(super) fn typed(self, id: &str, text: String) {
        self.drafts.update(|drafts| {
            drafts.retain(|(of, _)| of != id);
            drafts.push((id.to_owned(), text));
        });
    }

    /// An answer is not as it stands in its field.
    pub(super) fn has_unsaved(self) -> bool {
        self.drafts.with(|drafts| self.page.with(|page| has_unsaved(page, drafts)))
    }

    /// Saves what stands in the field. `then` is the prompt that is shown next.
    pub(super) fn save(self, id: String, overwrite: bool, then: Option<String>) {
        let text = untrack(|| self.text(&id));
        let replaces = self.page.with_untracked(|page| {
            let prompt = page.prompts.iter().find(|prompt| prompt.id == id);
            prompt.map(|prompt| prompt.answer_sha.clone()).unwrap_or_default()
        });
        let sent = text.clone();
        let (project, dry) = (self.project(), self.dry());
        let answer = HandoffAnswer { project, dry, text, replaces, overwrite };
        let of = id.clone();
        let sending: Sending = Box::pin(async move { api::answer_prompt(&of, &answer).await });
        self.send(NOT_SAVED, sending, move || {
            self.drafts.update(|drafts| forget_sent(drafts, &id, &sent));
            if let Some(then) = then {
                self.choose(then);
            }
        });
    }

    pub(super) fn take_back(self, id: String) {
        let (project, dry) = (self.project(), self.dry());
        // What was answered stays in the field, to be changed.
        let text = untrack(|| self.text(&id));
        let of = id.clone();
        let sending: Sending =
            Box::pin(async move { api::take_answer_back(&of, &project, dry).await });
        self.send("The answer was not taken back.", sending, move || {
            self.drafts.update(|drafts| keep_typed(drafts, id, text));
        });
    }

    /// What others answered meanwhile. What is typed here stays.
    pub(super) fn load_again(self) {
        let (project, dry) = (self.project(), self.dry());
        let sending: Sending = Box::pin(async move { api::handoff(&project, dry).await });
        self.send("The prompts could not be loaded.", sending, || {});
    }

    fn send(self, what: &'static str, sending: Sending, then: impl FnOnce() + 'static) {
        self.is_sending.set(true);
        self.failure.set(None);
        spawn_local(async move {
            match sending.await {
                Ok(page) => {
                    self.page.set(page);
                    then();
                }
                Err(error) => self.failure.set(Some((what, error))),
            }
            self.is_sending.set(false);
        });
    }

    /// Begins the next round, and shows it.
    pub(super) fn go_on(self) -> impl Fn() + Clone {
        let navigate = use_navigate();
        move || {
            let navigate = navigate.clone();
            self.is_sending.set(true);
            self.failure.set(None);
            spawn_local(async move {
                match api::continue_night(&self.project(), self.dry()).await {
                    Ok(begun) => navigate(&night_href(&begun.id), NavigateOptions::default()),
                    Err(error) => self.failure.set(Some(("The night did not go on.", error))),
                }
                self.is_sending.set(false);
            });
        }
    }
}

/// A night of the project began or ended: what is asked may be something else now.
fn is_news(page: &HandoffPage, night: &NightItem) -> bool {
    let is_running = night.status == NightStatus::Running;
    page.project == night.project && is_running != (page.running.as_ref() == Some(&night.id))
}

/// Drafts of prompts that are gone do not count, nor of those without an answer: that is missing anyway.
fn has_unsaved(page: &HandoffPage, drafts: &[(String, String)]) -> bool {
    let is_changed = |prompt: &HandoffPrompt, text: &String| {
        prompt.answer.as_ref().is_some_and(|answer| answer != text)
    };
    drafts.iter().any(|(of, text)| {
        page.prompts.iter().any(|prompt| prompt.id == *of && is_changed(prompt, text))
    })
}

/// Drops the draft that was saved. What was typed while it was on its way stays.
fn forget_sent(drafts: &mut Vec<(String, String)>, id: &str, sent: &str) {
    drafts.retain(|(of, text)| of != id || text != sent);
}

/// Makes a text the draft, unless there is one: that is newer.
fn keep_typed(drafts: &mut Vec<(String, String)>, id: String, text: String) {
    if drafts.iter().all(|(of, _)| *of != id) {
        drafts.push((id, text));
    }
}

fn chosen<'a>(prompts: &'a [HandoffPrompt], named: Option<&str>) -> Option<&'a HandoffPrompt> {
    let named = named.and_then(|id| prompts.iter().find(|prompt| prompt.id == id));
    named
        .or_else(|| prompts.iter().find(|prompt| prompt.answer.is_none()))
        .or_else(|| prompts.first())
}

fn answer_of(page: &HandoffPage, id: &str) -> String {
    let prompt = page.prompts.iter().find(|prompt| prompt.id == id);
    prompt.and_then(|prompt| prompt.answer.clone()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::handoff::words::tests::page;

    #[test]
    fn a_night_is_news_when_it_begins_and_when_it_ends() {
        use crate::components::night_cells::tests::night;
        let mut page = page(".");
        let running = NightItem { project: page.project.clone(), ..night(NightStatus::Running) };
        assert!(is_news(&page, &running));
        page.running = Some(running.id.clone());
        assert!(!is_news(&page, &running));
        assert!(is_news(&page, &NightItem { status: NightStatus::Pending, ..running.clone() }));
        assert!(!is_news(&page, &NightItem { project: "/other".into(), ..running }));
    }

    #[test]
    fn what_is_typed_while_an_answer_is_on_its_way_stays() {
        let draft = |id: &str, text: &str| (id.to_owned(), text.to_owned());
        let mut drafts = vec![draft("a", "yes, and more"), draft("b", "yes")];
        forget_sent(&mut drafts, "a", "yes");
        assert_eq!(drafts, [draft("a", "yes, and more"), draft("b", "yes")]);
        forget_sent(&mut drafts, "b", "yes");
        assert_eq!(drafts, [draft("a", "yes, and more")]);
        keep_typed(&mut drafts, "a".into(), "yes".into());
        keep_typed(&mut drafts, "c".into(), "no".into());
        assert_eq!(drafts, [draft("a", "yes, and more"), draft("c", "no")]);
    }

    #[test]
    fn an_answer_is_unsaved_while_its_draft_says_something_else() {
        let page = page(".o");
        let draft = |id: &str, text: &str| [(id.to_owned(), text.to_owned())];
        assert!(has_unsaved(&page, &draft("a", "no")));
        assert!(!has_unsaved(&page, &draft("a", "yes")));
        assert!(!has_unsaved(&page, &draft("b", "no")) && !has_unsaved(&page, &draft("x", "no")));
    }

    #[test]
    fn the_first_open_prompt_is_shown_unless_the_address_names_another() {
        let prompts = page(".oo").prompts;
        let shown = |named| chosen(&prompts, named).map(|prompt| prompt.id.as_str());
        assert_eq!(
            (shown(None), shown(Some("c")), shown(Some("x"))),
            (Some("b"), Some("c"), Some("b"))
        );
        assert_eq!(chosen(&page("..").prompts, None).map(|prompt| prompt.id.as_str()), Some("a"));
        assert_eq!(chosen(&[], Some("a")), None);
    }
}
