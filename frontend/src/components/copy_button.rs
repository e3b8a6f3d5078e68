//! Copies a text and says so; and a command with its button.

use super::icon::Icon;
use crate::components::handler::handler;
use crate::state::signal::RwSignal;
use gloo_timers::future::TimeoutFuture;
use leptos::prelude::*;
use leptos::task::spawn_local;
use wasm_bindgen_futures::JsFuture;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Copied {
    NotYet,
    Yes,
    Refused,
}

#[component]
pub(crate) fn CopyButton(
    text: String,
    /// What is copied, such as "command".
    what: &'static str,
) -> impl IntoView {
    let copied = RwSignal::new(Copied::NotYet);
    let label = move || match copied.get() {
        Copied::NotYet => format!("Copy the {what}"),
        Copied::Yes => "Copied".to_owned(),
        Copied::Refused => "The browser did not allow to copy".to_owned(),
    };
    let copy = move |_| {
        let text = text.clone();
        spawn_local(async move {
            let written = JsFuture::from(window().navigator().clipboard().write_text(&text)).await;
            let state = if written.is_ok() { Copied::Yes } else { Copied::Refused };
            copied.set(state);
            TimeoutFuture::new(2000).await;
            copied.set(Copied::NotYet);
        });
    };
    view! {
        <button class="icon-button" type="button" aria-label=move || label() title=move || label() on:click=handler(copy)>
            {move || match copied.get() {
                Copied::NotYet => view! { <Icon name="copy"/> }.into_any(),
                Copied::Yes => view! { <Icon name="check"/> }.into_any(),
                Copied::Refused => view! { <Icon name="warning"/> }.into_any(),
            }}
        </button>
    }
}

/// A command for the terminal. The `$` before it is drawn by the style and is not copied.
#[component]
pub(crate) fn Command(text: &'static str) -> impl IntoView {
    view! {
        <div class="command">
            <code>{text}</code>
            <span class="end"><CopyButton text=text.to_owned() what="command"/></span>
        </div>
    }
}
