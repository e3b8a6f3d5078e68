//! Receipts of a run: what was written where, and the way back.

use super::state::RunState;
use crate::api::{self, ApiError};
use crate::components::confirm::{Confirm, Question};
use crate::components::dynamic::CollectAny;
use crate::components::handler::handler;
use crate::components::icon::Icon;
use crate::components::states::ErrorCallout;
use crate::components::when::When;
use crate::fmt;
use crate::state::load::Load;
use crate::state::signal::RwSignal;
use leptos::prelude::*;
use leptos::task::spawn_local;
use skillopt_domain::api::Receipt;
use skillopt_domain::ids::AdoptionId;

#[component]
pub(super) fn Receipts(run: RunState, receipts: Load<Vec<Receipt>>) -> impl IntoView {
    let asked = RwSignal::new(None::<AdoptionId>);
    let question = RwSignal::new(None::<Question>);
    let failure = RwSignal::new(None::<ApiError>);
    let revert = Callback::new(move |()| {
        let Some(id) = asked.get_untracked() else { return };
        failure.set(None);
        spawn_local(async move {
            match api::revert(&id).await {
                Ok(_) => receipts.again(),
                Err(error) => failure.set(Some(error)),
            }
        });
    });
    let on_revert = Callback::new(move |receipt: Receipt| {
        question.set(Some(revert_question(&receipt)));
        asked.set(Some(receipt.id));
    });
    let list = move || {
        match receipts.get() {
        None => ().into_any(),
        Some(Err(error)) => view! {
            <ErrorCallout what="The receipts could not be loaded." error on_retry=Callback::new(move |()| receipts.again())/>
        }
        .into_any(),
        Some(Ok(all)) => {
            all.iter().cloned().map(|receipt| view! { <ReceiptCard run receipt on_revert/> }).collect_any().into_any()
        }
    }
    };
    view! {
        {move || failure.get().map(|error| view! { <ErrorCallout what="The file was not reverted." error on_retry=revert/> }.into_any())}
        {move || list()}
        <Confirm question on_go=revert/>
    }
}

fn revert_question(receipt: &Receipt) -> Question {
    let text = match &receipt.backup {
        Some(backup) => format!("{} gets the bytes of {backup} back.", receipt.real_path),
        None => format!("{} did not exist before and is removed.", receipt.real_path),
    };
    Question {
        title: "Revert this adoption?".to_owned(),
        text,
        keep: "Keep the file",
        go: "Revert file",
    }
}

#[component]
fn ReceiptCard(run: RunState, receipt: Receipt, on_revert: Callback<Receipt>) -> impl IntoView {
    let version = run
        .version_of(&receipt.after)
        .map_or_else(|| receipt.after.short().to_owned(), |v| format!("v{v}"));
    let reverted = receipt.reverted_at_ms;
    let (state, icon) =
        if reverted.is_some() { ("reverted", "history") } else { ("adopted", "accepted") };
    let word = if reverted.is_some() { "Reverted" } else { "Adopted" };
    let before =
        receipt.before.as_ref().map_or_else(|| "no file".to_owned(), |sha| sha.short().to_owned());
    let backup = receipt.backup.clone().unwrap_or_else(|| fmt::MISSING.to_owned());
    let at = reverted.unwrap_or(receipt.at_ms);
    let path = receipt.real_path.clone();
    let actor = receipt.actor.clone();
    let after = receipt.after.short().to_owned();
    let kept = StoredValue::new(receipt);
    view! {
        <section class="receipt" data-state=state aria-label="Receipt">
            <Icon name=icon/>
            <div>
                <p class="receipt__title">{word}" "{version}" at "<When at_ms=at/></p>
                <p class="mono path">{path}</p>
                <dl class="facts-row">
                    <div><dt>"Before → after"</dt><dd class="mono small">{before}" → "{after}</dd></div>
                    <div><dt>"Backup"</dt><dd class="mono small path">{backup}</dd></div>
                    <div><dt>"By"</dt><dd>{actor}</dd></div>
                </dl>
            </div>
            {reverted.is_none().then(|| view! {
                <button class="button" data-size="sm" type="button" on:click=handler(move |_| on_revert.run(kept.get_value()))>
                    <Icon name="history"/>"Revert"
                </button>
            }.into_any())}
        </section>
    }
}
