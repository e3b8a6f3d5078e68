//! The chosen prompt, and the field for its answer.

use super::form::AnswerForm;
use super::state::{InboxState, NOT_SAVED};
use super::words::{n_words, next_open, purpose_words};
use crate::components::copy_button::CopyButton;
use crate::components::dynamic::{Item, each};
use crate::components::handler::handler;
use crate::components::icon::Icon;
use crate::fmt;
use crate::state::memo::Memo;
use leptos::prelude::*;
use skillopt_domain::api::{HandoffPrompt, ProblemCode};

#[component]
pub(super) fn Chosen(inbox: InboxState) -> impl IntoView {
    let shown = Memo::new(move || inbox.chosen());
    // Stays while only its answer changes, so that the focus does.
    each(move || {
        let Some(prompt) = shown.get() else { return Vec::new() };
        vec![Item::new(prompt.id.clone(), move || view! { <Prompt inbox prompt/> }.into_any())]
    })
}

#[component]
fn Prompt(inbox: InboxState, prompt: HandoffPrompt) -> impl IntoView {
    let HandoffPrompt { id, purpose, wants_json, max_tokens, prompt, .. } = prompt;
    let facts = format!(
        "{}, answer of {} tokens at most",
        fmt::plural(n_words(&prompt), "word", "words"),
        fmt::count(max_tokens.into())
    );
    view! {
        <div class="stack" data-gap="md">
            <section class="panel" aria-labelledby="prompt-title">
                <div class="panel__head">
                    <h2 id="prompt-title">{purpose_words(&purpose)}</h2>
                    <span class="muted">{facts}</span>
                    <code class="muted" title="Names its answer file">{id.clone()}</code>
                    <span class="end"><CopyButton text=prompt.clone() what="prompt"/></span>
                </div>
                <pre class="inbox-prompt" tabindex="0" role="region" aria-label="Prompt">{prompt}</pre>
            </section>
            <Answer inbox id wants_json/>
        </div>
    }
}

#[component]
fn Answer(inbox: InboxState, id: String, wants_json: bool) -> impl IntoView {
    let id = StoredValue::new(id);
    let text = Memo::new(move || inbox.text(&id.get_value()));
    let form = Memo::new(move || text.with(|text| AnswerForm::of(text, wants_json)));
    let saved = Memo::new(move || inbox.with(|page| saved_of(page, &id.get_value())));
    let is_same = move || text.with(|text| saved.with(|saved| saved.as_deref() == Some(text)));
    let cannot =
        move || inbox.is_sending.get() || is_same() || form.with(|form| *form == AnswerForm::Empty);
    let save = move |is_next: bool| {
        let id = id.get_value();
        let next = inbox.with_untracked(|page| next_open(page, &id)).filter(|_| is_next);
        inbox.save(id, false, next);
    };
    let typed = move |event| inbox.typed(&id.get_value(), event_target_value(&event));
    let keys = move |event: web_sys::KeyboardEvent| {
        if event.key() == "Enter" && (event.ctrl_key() || event.meta_key()) && !untrack(cannot) {
            event.prevent_default();
            save(true);
        }
    };
    let submit = move |event: web_sys::SubmitEvent| {
        event.prevent_default();
        save(true);
    };
    let state_words = move || match (saved.with(Option::is_some), is_same()) {
        (true, true) => "Saved.",
        (true, false) => "Changed, not saved yet.",
        (false, _) => "",
    };
    view! {
        <form class="field" data-state=move || form.with(AnswerForm::state) on:submit=handler(submit)>
            <label class="field__label" for="handoff-answer">
                "Answer"<span class="badge">{if wants_json { "JSON" } else { "text" }}</span>
            </label>
            <textarea
                class="input inbox-answer" id="handoff-answer" rows="10" spellcheck=if wants_json { "false" } else { "true" }
                aria-describedby="handoff-answer-help" prop:value=move || text.get()
                on:input=handler(typed) on:keydown=handler(keys)
            ></textarea>
            <p class="field__help" id="handoff-answer-help">{move || form.with(|form| form.words(wants_json))}</p>
            <div class="row" data-gap="tight">
                <button class="button" data-variant="primary" type="submit" disabled=move || cannot() title="Ctrl+Enter">
                    <Icon name="check"/>"Save, next prompt"
                </button>
                <button class="button" type="button" disabled=move || cannot() on:click=handler(move |_| save(false))>"Save"</button>
                <TakeBack inbox id/>
                <span class="muted" role="status">{move || state_words()}</span>
            </div>
            <Meanwhile inbox id/>
        </form>
    }
}

fn saved_of(page: &skillopt_domain::api::HandoffPage, id: &str) -> Option<String> {
    page.prompts.iter().find(|prompt| prompt.id == id)?.answer.clone()
}

#[component]
fn TakeBack(inbox: InboxState, id: StoredValue<String>) -> impl IntoView {
    let can = Memo::new(move || {
        inbox.with(|page| saved_of(page, &id.get_value()).is_some() && page.running.is_none())
    });
    let take = move |_| inbox.take_back(id.get_value());
    move || {
        can.get().then(|| {
            view! {
                <button class="button" type="button" disabled=move || inbox.is_sending.get() on:click=handler(take)>"Take back"</button>
            }
            .into_any()
        })
    }
}

/// Somebody else answered while one typed: nothing is written over unseen.
#[component]
fn Meanwhile(inbox: InboxState, id: StoredValue<String>) -> impl IntoView {
    let is_changed = move || {
        inbox.failure.with(|failure| {
            failure.as_ref().is_some_and(|(what, error)| {
                *what == NOT_SAVED && error.problem.code == ProblemCode::Conflict
            })
        })
    };
    let load = move |_| inbox.load_again();
    let over = move |_| inbox.save(id.get_value(), true, None);
    move || {
        is_changed().then(|| {
            view! {
                <div class="row" data-gap="tight">
                    <button class="button" type="button" on:click=handler(load)>"Load the answers of others"</button>
                    <button class="button" data-variant="danger" type="button" on:click=handler(over)>"Overwrite with mine"</button>
                </div>
            }
            .into_any()
        })
    }
}
