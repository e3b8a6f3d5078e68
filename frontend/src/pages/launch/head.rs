//! The head of the page: presets, YAML in and out.

use super::draft::{Draft, slug};
use super::source::Purpose;
use super::yaml::{ExportYaml, ImportYaml};
use crate::api::Values;
use crate::components::dynamic::CollectAny;
use crate::components::handler::handler;
use crate::components::icon::Icon;
use crate::fmt;
use leptos::html;
use leptos::prelude::*;
use skillopt_domain::api::Preset;

#[component]
pub(super) fn Head(title: String, draft: Draft, presets: Vec<Preset>) -> impl IntoView {
    let is_new = draft.purpose == Purpose::New;
    let meta = move || match (draft.n_changed(), is_new) {
        (0, true) => "All keys at their defaults".to_owned(),
        (0, false) => "All keys as in that run".to_owned(),
        (n, true) => format!("{} from the default", fmt::plural(n, "key differs", "keys differ")),
        (n, false) => format!("{} from that run", fmt::plural(n, "key differs", "keys differ")),
    };
    let presets = is_new.then(|| view! { <Presets draft=draft presets=presets/> }.into_any());
    let import =
        (draft.purpose != Purpose::Resume).then(|| view! { <ImportYaml draft=draft/> }.into_any());
    view! {
        <div class="page-head">
            <div class="page-head__main">
                <h1>{title}</h1>
                <div class="page-head__meta">
                    <span>{move || meta()}</span>
                    {move || draft.is_restored.get().then(|| view! {
                        <span>
                            "Taken up where you left it. "
                            <button class="link" type="button" on:click=handler(move |_| draft.start_over())>"Start over"</button>
                        </span>
                    }
                    .into_any())}
                </div>
            </div>
            <div class="page-head__actions">
                {presets}
                {import}
                <ExportYaml draft=draft/>
            </div>
        </div>
    }
}

/// Each preset is a link, so that the address tells what the form started from.
#[component]
fn Presets(draft: Draft, presets: Vec<Preset>) -> impl IntoView {
    let menu = NodeRef::<html::Div>::new();
    let hide = move || {
        if let Some(menu) = menu.get_untracked() {
            // Fails only when it is hidden already.
            let _ = menu.hide_popover();
        }
    };
    let item = move |preset: Preset| {
        let href = format!("/launch?preset={}", slug(&preset.name));
        // The address may be this one already: then nothing would load.
        let take = move |_| {
            draft.replace(preset.values.clone());
            hide();
        };
        view! {
            <a class="menu__item" role="menuitem" href=href title=preset.about.clone() on:click=handler(take)>
                <Icon name="sliders"/>
                {preset.name}
            </a>
        }
    };
    let all_defaults = move |_| {
        draft.replace(Values::new());
        hide();
    };
    view! {
        <button class="button" type="button" popovertarget="presets"><Icon name="sliders"/>"Presets"</button>
        <div class="menu" id="presets" popover role="menu" aria-label="Presets" node_ref=menu>
            {presets.into_iter().map(item).collect_any()}
            <hr class="menu__rule"/>
            <a class="menu__item" role="menuitem" href="/launch" on:click=handler(all_defaults)>
                <Icon name="refresh"/>
                "All defaults"
            </a>
        </div>
    }
}
