//! The handoff inbox: what a night would ask a model, asked of a person. Prompts at the left, the chosen one with its
//! answer at the right; when all are answered the night goes on.

mod answer;
mod bar;
mod form;
mod list;
mod state;
mod words;

use crate::api;
use crate::components::copy_button::Command;
use crate::components::dynamic::when;
use crate::components::loaded::{Frame, loaded};
use crate::components::night_cells::inbox_href;
use crate::components::states::{Empty, ErrorCallout, SkeletonBlock, SkeletonRows};
use crate::state::load::Load;
use crate::state::memo::Memo;
use crate::state::page::{self, Crumb};
use crate::state::query::query_value;
use answer::Chosen;
use bar::Bar;
use leptos::prelude::*;
use list::PromptList;
use skillopt_domain::api::HandoffPage;
use state::InboxState;
use words::other_words;

#[component]
pub(crate) fn HandoffInbox() -> impl IntoView {
    page::set(|| vec![Crumb::link("Sleep", "/sleep"), Crumb::here("Handoff inbox")]);
    let project = query_value::<String>("project");
    let dry = query_value::<bool>("dry");
    let chosen = query_value::<String>("prompt");
    let is_named = Memo::new(move || project.get().is_some_and(|project| !project.is_empty()));
    let shown = move || {
        let inbox = Load::new(move || {
            let (project, dry) = (project.get().unwrap_or_default(), dry.get());
            async move { api::handoff(&project, dry).await }
        });
        let frame = Frame::new("The prompts could not be loaded.")
            .loading(|| view! { <Loading/> }.into_any())
            .head(|| view! { <div class="page-head"><h1>"Handoff inbox"</h1></div> }.into_any());
        loaded(inbox, frame, move |page: &HandoffPage| {
            let inbox = InboxState::new(page.clone(), chosen);
            view! { <Body inbox/> }.into_any()
        })
    };
    when(move || is_named.get(), shown, no_project)
}

fn no_project() -> AnyView {
    view! {
        <div class="page-head"><h1>"Handoff inbox"</h1></div>
        <Empty title="Which project?" text="The inbox is that of one project. A night that waits for answers links to it.">
            <a class="button" href="/sleep">"All nights"</a>
        </Empty>
    }
    .into_any()
}

#[component]
fn Loading() -> impl IntoView {
    view! {
        <div class="stack" data-gap="lg" aria-busy="true">
            <SkeletonBlock height="title"/>
            <SkeletonBlock height="row"/>
            <SkeletonRows rows=6/>
        </div>
    }
}

#[component]
fn Body(inbox: InboxState) -> impl IntoView {
    inbox.follow();
    let project = inbox.project();
    let is_dry = inbox.is_dry();
    let of_dry = is_dry.then(|| view! { <span class="badge">"dry run"</span> }.into_any());
    let is_empty = inbox.memo(|page| page.prompts.is_empty());
    view! {
        <div class="page-head">
            <div class="page-head__main">
                <h1>"Handoff inbox"</h1>
                <div class="page-head__meta"><span>"Project "<span class="mono path">{project}</span></span>{of_dry}</div>
            </div>
            <div class="page-head__actions">
                <ToOther inbox/>
                <a class="button" href="/sleep">"All nights"</a>
            </div>
        </div>
        {move || inbox.failure.get().map(|(what, error)| view! {
            <div class="run-detail"><ErrorCallout what=what error/></div>
        }
        .into_any())}
        {when(move || is_empty.get(), || view! { <NothingAsked/> }.into_any(), move || view! {
            <Bar inbox/>
            <div class="split section" data-space="tight" data-side="start" data-width="versions">
                <PromptList inbox/>
                <Chosen inbox/>
            </div>
        }.into_any())}
    }
}

/// To the prompts that wait beside these.
#[component]
fn ToOther(inbox: InboxState) -> impl IntoView {
    let other = inbox.memo(other_words);
    let href = inbox_href(&inbox.project(), !inbox.is_dry());
    move || {
        other.get().map(|words| {
            view! { <a class="button" id="handoff-other" href=href.clone()>{words}</a> }.into_any()
        })
    }
}

#[component]
fn NothingAsked() -> impl IntoView {
    view! {
        <Empty
            title="No prompt waits"
            text="A night with the backend “Handoff” calls no model: what it would ask stands here, and you answer, or paste what a chat of yours answers. When all prompts of a round are answered the night goes on, three to six rounds in all."
        >
            <Command text="skillopt sleep run --backend handoff --project DIR"/>
        </Empty>
    }
}
