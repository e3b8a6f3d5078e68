//! How many are answered, and the button that goes on.

use super::state::InboxState;
use super::words::{missing_words, progress_words};
use crate::components::dynamic::dynamic;
use crate::components::handler::handler;
use crate::components::icon::Icon;
use crate::components::night_cells::night_href;
use crate::components::when::When;
use crate::fmt;
use crate::state::memo::Memo;
use leptos::prelude::*;

#[component]
pub(super) fn Bar(inbox: InboxState) -> impl IntoView {
    let words = inbox.memo(progress_words);
    let missing = Memo::new(move || {
        // The night has what is saved.
        let unsaved = inbox.has_unsaved().then(|| "Save the changed answer first.".to_owned());
        inbox.with(missing_words).or(unsaved)
    });
    let width = inbox.memo(|page| {
        fmt::share(page.n_answered, u32::try_from(page.prompts.len()).unwrap_or(u32::MAX))
    });
    let cannot = move || missing.with(Option::is_some) || inbox.is_sending.get();
    let go_on = inbox.go_on();
    let asked_at =
        inbox.memo(|page| (page.asked_at_ms, page.running.clone().or(page.night.clone())));
    let (to_night, onward) = match inbox.is_dry() {
        true => ("The dry run", "Go on with the dry run"),
        false => ("The night", "Go on with the night"),
    };
    let asked = move || {
        let (at, night) = asked_at.get();
        view! {
            {at.map(|at_ms| view! { <span>"asked "<When at_ms/></span> }.into_any())}
            {night.map(|id| view! { <a class="link" href=night_href(&id)>{to_night}</a> }.into_any())}
        }
        .into_any()
    };
    view! {
        <section class="panel inbox-bar" aria-label="How far the answers are">
            <div class="progress">
                <div class="progress__text"><b role="status">{move || words.get()}</b><span class="row" data-gap="wide">{dynamic(asked)}</span></div>
                <div class="progress__bar" aria-hidden="true"><i style:width=move || width.get()></i></div>
            </div>
            <div class="inbox-bar__go">
                <span class="muted">{move || missing.get().unwrap_or_else(|| "All are answered.".to_owned())}</span>
                <button
                    class="button" data-variant="primary" type="button" id="handoff-go"
                    disabled=move || cannot() aria-busy=move || inbox.is_sending.get().then_some("true")
                    on:click=handler(move |_| go_on())
                >
                    <Icon name="moon"/>{onward}
                </button>
            </div>
        </section>
    }
}
