//! The button that adopts a version, and the dialog that it opens.

use super::adopt_state::adopt_form;
use super::parts::run_skill_adopt;
use super::state::RunState;
use crate::api;
use crate::components::adopt_dialog::{AdoptDialog, AdoptForm};
use crate::components::dynamic::{nothing, when};
use crate::components::handler::handler;
use crate::components::icon::Icon;
use crate::state::effect::effect;
use crate::state::memo::Memo;
use crate::state::signal::RwSignal;
use leptos::prelude::*;
use leptos::task::spawn_local;
use skillopt_domain::view::SkillVersion;

/// What the dialog is about.
#[derive(Clone, Copy)]
pub(crate) struct Adopting {
    run: RunState,
    version: Memo<Option<SkillVersion>>,
    on_written: Callback<()>,
    /// Counts how often the button was used: each time the dialog opens.
    asked: RwSignal<u32>,
}

#[component]
pub(super) fn AdoptButton(
    run: RunState,
    version: Memo<Option<SkillVersion>>,
    on_written: Callback<()>,
) -> impl IntoView {
    let asked = RwSignal::new(0_u32);
    let adopting = Adopting { run, version, on_written, asked };
    let name = name_of(version);
    view! {
        <button
            class="button" data-variant="primary" type="button"
            on:click=handler(move |_| asked.update(|asked| *asked += 1))
        >
            <Icon name="check"/>
            {move || format!("Adopt {}", name.get())}
        </button>
        {when(move || asked.get() > 0, move || run_skill_adopt::show(adopting), nothing)}
    }
}

/// The dialog, open as soon as it is there.
#[component]
pub(super) fn AdoptVersion(asked: Adopting) -> impl IntoView {
    let Adopting { run, version, on_written, asked } = asked;
    let skill = Memo::new(move || {
        version.with(|version| version.as_ref().map(|version| version.skill.clone()))
    });
    let form = adopt_form(run, skill, on_written);
    effect(move || {
        asked.track();
        open(form);
    });
    view! { <AdoptDialog form version=name_of(version)/> }
}

fn open(form: AdoptForm) {
    form.is_open.set(true);
    if form.roots.with_untracked(Vec::is_empty) {
        spawn_local(async move {
            // Without an answer the help text stays general.
            if let Ok(about) = api::about().await {
                form.roots.set(about.adopt_roots);
            }
        });
    }
    if form.path.with_untracked(|path| !path.is_empty()) {
        form.on_preview.run(());
    }
}

/// `v9`.
fn name_of(version: Memo<Option<SkillVersion>>) -> Memo<String> {
    Memo::new(move || {
        version.with(|version| {
            version.as_ref().map_or_else(String::new, |version| format!("v{}", version.version))
        })
    })
}
