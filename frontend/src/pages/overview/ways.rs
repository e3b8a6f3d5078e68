//! The three ways in: the sample run in one click, a model, an own skill.

use crate::api::{self, ApiError};
use crate::components::dynamic::CollectAny;
use crate::components::handler::handler;
use crate::components::icon::Icon;
use crate::components::states::ErrorCallout;
use crate::state::signal::RwSignal;
use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos_router::NavigateOptions;
use leptos_router::hooks::use_navigate;

/// How much is said: all on a first visit, only the point below a full page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Size {
    Full,
    Small,
}

#[component]
pub(super) fn Ways(size: Size) -> impl IntoView {
    let failed = RwSignal::new(None::<ApiError>);
    view! {
        <div class="start">
            <Way
                icon="play"
                title="Try the sample run"
                text="Watch simulated models train a question answering skill. No key, no cost, about a minute."
                ticks=ticks(size, ["Curves, steps, rejected edits", "A version to compare and to adopt"])
            >
                <SampleButton size=size failed=failed/>
            </Way>
            <Way
                icon="key"
                title="Connect a model"
                text="Any OpenAI-compatible address: a hosted model, a gateway, or a server on this machine."
                ticks=ticks(size, ["Keys by the name of a variable, never stored", "One test call before anything is spent"])
            >
                <a class="button" href="/launch?preset=openai_compatible"><Icon name="plus"/>"Connect"</a>
            </Way>
            <Way
                icon="skills"
                title="Train my own skill"
                text="Name a SKILL.md and a folder of tasks, see how many calls it takes, then start."
                ticks=ticks(size, ["Nothing is written to your skill until you adopt", "Your file keeps its bytes, line ends and mode"])
            >
                <a class="button" href="/launch?focus=env.skill_init"><Icon name="skills"/>"Choose a skill"</a>
            </Way>
        </div>
        {move || failed.get().map(|error| view! {
            <div class="section" data-space="tight">
                <ErrorCallout what="The sample run could not be started." error=error/>
            </div>
        }
        .into_any())}
    }
}

fn ticks(size: Size, lines: [&'static str; 2]) -> Vec<&'static str> {
    match size {
        Size::Full => lines.into(),
        Size::Small => Vec::new(),
    }
}

#[component]
fn Way(
    icon: &'static str,
    title: &'static str,
    text: &'static str,
    ticks: Vec<&'static str>,
    children: Children,
) -> impl IntoView {
    let ticks = (!ticks.is_empty()).then(|| {
        let line = |text| view! { <li><Icon name="check" size="sm"/>{text}</li> };
        view! { <ul class="ticks">{ticks.into_iter().map(line).collect_any()}</ul> }
    });
    view! {
        <section class="start__way">
            <Icon name=icon/>
            <h2>{title}</h2>
            <div class="stack"><p>{text}</p>{ticks}</div>
            <div class="row">{children()}</div>
        </section>
    }
}

#[component]
fn SampleButton(size: Size, failed: RwSignal<Option<ApiError>>) -> impl IntoView {
    let is_starting = RwSignal::new(false);
    let navigate = use_navigate();
    let start = move |_| {
        let navigate = navigate.clone();
        is_starting.set(true);
        failed.set(None);
        spawn_local(async move {
            match api::start_sample_run().await {
                Ok(launched) => {
                    navigate(&format!("/runs/{}", launched.id), NavigateOptions::default());
                }
                Err(error) => failed.set(Some(error)),
            }
            is_starting.set(false);
        });
    };
    let variant = (size == Size::Full).then_some("primary");
    view! {
        <button
            class="button"
            type="button"
            data-variant=variant
            disabled=move || is_starting.get()
            aria-busy=move || is_starting.get().then_some("true")
            on:click=handler(start)
        >
            <Icon name="play"/>
            "Start sample run"
        </button>
    }
}
