//! The prompts of a round, each with what it is for and whether it is answered.

use super::state::InboxState;
use super::words::{n_words, purpose_words};
use crate::components::dynamic::{Item, each};
use crate::components::handler::handler;
use crate::components::icon::Icon;
use crate::fmt;
use crate::state::memo::Memo;
use leptos::prelude::*;
use skillopt_domain::api::HandoffPrompt;

#[component]
pub(super) fn PromptList(inbox: InboxState) -> impl IntoView {
    let shown = Memo::new(move || inbox.chosen().map(|prompt| prompt.id));
    let items = move || {
        inbox.with(|page| {
            (1..).zip(&page.prompts).map(|(n, prompt)| item(inbox, shown, n, prompt)).collect()
        })
    };
    view! {
        <nav class="panel inbox-list" aria-label="Prompts" data-clip>{each(items)}</nav>
    }
}

fn item(
    inbox: InboxState,
    shown: Memo<Option<String>>,
    number: u32,
    prompt: &HandoffPrompt,
) -> Item {
    let is_answered = prompt.answer.is_some();
    let HandoffPrompt { id, purpose, prompt, .. } = prompt;
    let (key, id) = (format!("{id} {is_answered}"), id.clone());
    let name = format!("{number}. {}", purpose_words(purpose));
    let n_words = fmt::plural(n_words(prompt), "word", "words");
    Item::new(key, move || row(inbox, shown, id, (name, n_words), is_answered))
}

fn row(
    inbox: InboxState,
    shown: Memo<Option<String>>,
    id: String,
    (name, n_words): (String, String),
    is_answered: bool,
) -> AnyView {
    let (icon, status, word) = match is_answered {
        true => ("accepted", "accepted", "answered"),
        false => ("queued", "idle", "open"),
    };
    let own = id.clone();
    let is_shown =
        move || shown.with(|shown| shown.as_deref() == Some(own.as_str())).then_some("true");
    let title = format!("Prompt {id}");
    let choose = move |_| inbox.choose(id.clone());
    view! {
        <button
            class="inbox-list__row" type="button" data-status=status title=title
            aria-current=move || is_shown() on:click=handler(choose)
        >
            <Icon name=icon/>
            <span class="inbox-list__name">{name}</span>
            <span class="inbox-list__sub">{n_words}", "{word}</span>
        </button>
    }
    .into_any()
}
