//! The prompts of the run in the Config tab: which, what for, where from, and each text when it is asked for.

use super::state::RunState;
use crate::api;
use crate::components::copy_button::CopyButton;
use crate::components::dynamic::{CollectAny, nothing, when};
use crate::components::handler::handler;
use crate::components::icon::Icon;
use crate::components::loaded::{Frame, loaded};
use crate::fmt;
use crate::state::load::Load;
use crate::state::signal::RwSignal;
use leptos::prelude::*;
use skillopt_domain::hash::Sha256Hex;
use skillopt_domain::prompt::{PromptOrigin, PromptRow, PromptText};

#[component]
pub(super) fn Prompts(run: RunState) -> impl IntoView {
    let prompts = Load::new(move || {
        let id = run.id();
        async move { api::prompts(&id).await }
    });
    loaded(prompts, Frame::new("The prompts could not be loaded."), move |rows: &Vec<PromptRow>| {
        section(run, rows).into_any()
    })
}

fn section(run: RunState, rows: &[PromptRow]) -> impl IntoView + use<> {
    let about = if rows.is_empty() {
        "none on record".to_owned()
    } else {
        fmt::plural(u64::try_from(rows.len()).unwrap_or(0), "text", "texts")
    };
    let rows = rows.iter().map(|row| prompt(run, row.clone())).collect_any();
    view! {
        <section class="prompts" aria-labelledby="prompts-title">
            <div class="section__head"><h3 id="prompts-title">"Prompts"</h3><span>{about}</span></div>
            {rows}
        </section>
    }
}

fn prompt(run: RunState, row: PromptRow) -> impl IntoView {
    let opened = RwSignal::new(false);
    // The text is fetched when it is first looked at, and stays.
    let open = handler(move |_| opened.set(true));
    let PromptRow { name, purpose, origin, hash } = row;
    let (version, title) = (hash.short().chars().take(8).collect::<String>(), hash.to_string());
    view! {
        <details class="disclosure prompt">
            <summary class="disclosure__head" on:click=open>
                <Icon name="right"/>
                <span class="mono prompt__name">{name}</span>
                {badge(origin)}
                <span class="mono small muted section__end" title=title>{version}</span>
            </summary>
            <div class="disclosure__body">
                <p class="second small prompt__purpose">{purpose}</p>
                {when(move || opened.get(), move || text(run, hash.clone()), nothing)}
            </div>
        </details>
    }
}

/// Where a text came from; nothing for the program's own, as most are.
fn badge(origin: PromptOrigin) -> Option<AnyView> {
    let (tone, word) = match origin {
        PromptOrigin::Default => return None,
        PromptOrigin::Benchmark => (None, "benchmark"),
        PromptOrigin::User => (Some("accent"), "yours"),
    };
    Some(view! { <span class="badge" data-tone=tone>{word}</span> }.into_any())
}

fn text(run: RunState, hash: Sha256Hex) -> AnyView {
    let load = Load::new(move || {
        let (id, hash) = (run.id(), hash.clone());
        async move { api::prompt_text(&id, &hash).await }
    });
    loaded(load, Frame::new("The text could not be loaded."), |prompt: &PromptText| {
        let (text, copied) = (prompt.text.clone(), prompt.text.clone());
        view! { <pre tabindex="0">{text}</pre><CopyButton text=copied what="prompt"/> }.into_any()
    })
}
