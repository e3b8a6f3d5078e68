//! Turning a proposal down. A reason is asked for: it stands with the night, and later nights are told which edits it was,
//! and why.

use super::state::{Deciding, NightState};
use crate::api;
use crate::components::dynamic::{nothing, when};
use crate::components::handler::handler;
use crate::components::icon::Icon;
use crate::state::effect::effect;
use crate::state::signal::RwSignal;
use leptos::html;
use leptos::prelude::*;
use skillopt_domain::api::{NightDecision, NightRejection};

#[component]
pub(super) fn Reject(night: NightState) -> impl IntoView {
    let can_reject = night.memo(|detail| {
        matches!(
            detail.night.decision,
            NightDecision::Waiting | NightDecision::Stale | NightDecision::Reverted
        )
    });
    let is_asked = RwSignal::new(false);
    let button = move || {
        view! {
            <button class="button" data-block type="button" id="night-reject" on:click=handler(move |_| is_asked.set(true))>
                <Icon name="x"/>"Reject…"
            </button>
        }
        .into_any()
    };
    let asked = move || {
        when(move || is_asked.get(), move || view! { <Reason night is_asked/> }.into_any(), button)
    };
    when(move || can_reject.get(), asked, nothing)
}

#[component]
fn Reason(night: NightState, is_asked: RwSignal<bool>) -> impl IntoView {
    let reason = RwSignal::new(String::new());
    let field = NodeRef::<html::Textarea>::new();
    effect(move || {
        if let Some(field) = field.get() {
            let _ = field.focus();
        }
    });
    let cannot = move || night.is_deciding.get() || reason.with(|reason| reason.trim().is_empty());
    let send = move |event: web_sys::SubmitEvent| {
        event.prevent_default();
        if cannot() {
            return;
        }
        let reason = reason.get_untracked().trim().to_owned();
        let id = night.id();
        let deciding: Deciding = Box::pin(async move {
            api::reject_night(&id, &NightRejection { reason, ..NightRejection::default() }).await
        });
        night.decide("The proposal was not rejected.", deciding);
    };
    let typed = move |event| reason.set(event_target_value(&event));
    view! {
        <form class="field" on:submit=handler(send)>
            <label class="field__label" for="night-reason">"Why is it turned down?"</label>
            <textarea
                class="input" id="night-reason" rows="3" required=true node_ref=field
                aria-describedby="night-reason-help" prop:value=move || reason.get() on:input=handler(typed)
            ></textarea>
            <p class="field__help" id="night-reason-help">"Needed. Later nights tell it to the optimizer. No live file changes."</p>
            <div class="row" data-gap="tight">
                <button class="button" data-variant="danger" type="submit" disabled=move || cannot()>"Reject"</button>
                <button class="button" type="button" on:click=handler(move |_| is_asked.set(false))>"Back"</button>
            </div>
        </form>
    }
}
