//! The button that adopts a version, with its dialog.

use super::adopt_state::adopt_form;
use super::state::RunState;
use crate::api;
use crate::components::adopt_dialog::AdoptDialog;
use crate::components::handler::handler;
use crate::components::icon::Icon;
use crate::state::memo::Memo;
use leptos::prelude::*;
use leptos::task::spawn_local;
use skillopt_domain::view::SkillVersion;

#[component]
pub(super) fn AdoptButton(
    run: RunState,
    version: Memo<Option<SkillVersion>>,
    on_written: Callback<()>,
) -> impl IntoView {
    let skill = Memo::new(move || {
        version.with(|version| version.as_ref().map(|version| version.skill.clone()))
    });
    let name = Memo::new(move || {
        version.with(|version| {
            version.as_ref().map_or_else(String::new, |version| format!("v{}", version.version))
        })
    });
    let form = adopt_form(run, skill, on_written);
    let open = move |_| {
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
    };
    view! {
        <button class="button" data-variant="primary" type="button" on:click=handler(open)>
            <Icon name="check"/>
            {move || format!("Adopt {}", name.get())}
        </button>
        <AdoptDialog form version=name/>
    }
}
