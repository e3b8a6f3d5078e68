//! The same run once more: from recorded answers, or drawn anew. Asks which, then goes to the new run.

use super::origin::NeedsFork;
use super::parts::run_rerun;
use super::state::RunState;
use crate::api::{self, ApiError};
use crate::components::dynamic::{CollectAny, nothing, when};
use crate::components::handler::handler;
use crate::components::icon::Icon;
use crate::components::states::ErrorCallout;
use crate::state::effect::effect;
use crate::state::signal::RwSignal;
use leptos::html;
use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos_router::NavigateOptions;
use leptos_router::hooks::use_navigate;
use skillopt_domain::api::ProblemCode;
use skillopt_domain::origin::RerunRequest;

const WAYS: [(bool, &str, &str); 2] = [
    (
        false,
        "From recorded answers",
        "Repeats the run to the same result. Calls that the ledger knows cost nothing.",
    ),
    (
        true,
        "Drawn anew",
        "Every call is made again and paid. Shows how much the result varies by itself.",
    ),
];

/// The dialog that was asked for, and how often: each time it opens.
#[derive(Clone, Copy)]
pub(crate) struct RerunAsked {
    run: RunState,
    asked: RwSignal<u32>,
}

#[component]
pub(super) fn Rerun(run: RunState) -> impl IntoView {
    let asked = RwSignal::new(0_u32);
    let dialog = RerunAsked { run, asked };
    view! {
        <button class="button" type="button" on:click=handler(move |_| asked.update(|asked| *asked += 1))>
            <Icon name="refresh"/>"Re-run"
        </button>
        {when(move || asked.get() > 0, move || run_rerun::show(dialog), nothing)}
    }
}

#[component]
pub(super) fn RerunDialog(opened: RerunAsked) -> impl IntoView {
    let RerunAsked { run, asked } = opened;
    let dialog = NodeRef::<html::Dialog>::new();
    let fresh = RwSignal::new(false);
    let is_starting = RwSignal::new(false);
    let failed = RwSignal::new(None::<ApiError>);
    let navigate = use_navigate();
    effect(move || {
        asked.track();
        failed.set(None);
        if let Some(dialog) = dialog.get() {
            // Fails only when it is open already.
            let _ = dialog.show_modal();
        }
    });
    let close = move || {
        if let Some(dialog) = dialog.try_get_untracked().flatten() {
            dialog.close();
        }
    };
    let start = move |_| {
        let navigate = navigate.clone();
        is_starting.set(true);
        failed.set(None);
        spawn_local(async move {
            let request = RerunRequest { name: String::new(), fresh: fresh.get_untracked() };
            match api::rerun(&run.id(), &request).await {
                Ok(launched) => {
                    close();
                    navigate(&format!("/runs/{}", launched.id), NavigateOptions::default());
                }
                Err(error) => failed.set(Some(error)),
            }
            is_starting.set(false);
        });
    };
    let way = move |(anew, title, about): (bool, &'static str, &'static str)| {
        view! {
            <label class="choice">
                <input class="check" type="radio" name="rerun" prop:checked=move || fresh.get() == anew on:change=handler(move |_| fresh.set(anew))/>
                <span><span class="medium">{title}</span><br/><span class="field__help">{about}</span></span>
            </label>
        }
    };
    let name = run.summary.with_value(|summary| summary.name.clone());
    view! {
        <dialog class="dialog" aria-labelledby="rerun-title" node_ref=dialog>
            <div class="dialog__body">
                <h2 id="rerun-title">{format!("Run {name} once more?")}</h2>
                <p class="second">"A new run with the same config, data and initial skill."</p>
                {WAYS.into_iter().map(way).collect_any()}
                {move || failed.get().map(|error| match error.problem.code {
                    ProblemCode::NeedsFork => view! { <NeedsFork run differences=error.problem.differences/> }.into_any(),
                    _ => view! { <ErrorCallout what="The run could not be started." error/> }.into_any(),
                })}
            </div>
            <div class="dialog__foot">
                <button class="button" type="button" on:click=handler(move |_| close())>"Cancel"</button>
                <button class="button" data-variant="primary" type="button" disabled=move || is_starting.get() on:click=handler(start)>
                    <Icon name="play"/>"Start re-run"
                </button>
            </div>
        </dialog>
    }
}
