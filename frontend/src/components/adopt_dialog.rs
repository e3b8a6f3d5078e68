//! The dialog that writes a version into a live file: where, what exactly, then the one decision.
//! Shows and asks; the page that opens it does the writing.

use crate::api::ApiError;
use crate::components::diff_view::DiffView;
use crate::components::dynamic::{CollectAny, dynamic};
use crate::components::handler::handler;
use crate::components::icon::Icon;
use crate::components::states::{ErrorCallout, SkeletonRows};
use crate::fmt;
use crate::state::effect::effect;
use crate::state::memo::Memo;
use crate::state::signal::RwSignal;
use leptos::html;
use leptos::prelude::*;
use skillopt_domain::api::AdoptPreview;

/// What is known about the write.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum PreviewState {
    /// Nothing was asked yet, or the path was changed since.
    NotAsked,
    Loading,
    Ready(Box<AdoptPreview>),
    Failed(ApiError),
}

/// What the last try to write came to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum WriteState {
    Idle,
    Writing,
    /// The live file is not what the preview showed. Nothing was written; a new preview is shown.
    FileChanged,
    Failed(ApiError),
}

/// The state of the dialog, owned by the page.
#[derive(Clone, Copy)]
pub(crate) struct AdoptForm {
    pub(crate) is_open: RwSignal<bool>,
    pub(crate) path: RwSignal<String>,
    pub(crate) preview: RwSignal<PreviewState>,
    pub(crate) write: RwSignal<WriteState>,
    /// Directories in which the server may write.
    pub(crate) roots: RwSignal<Vec<String>>,
    pub(crate) on_preview: Callback<()>,
    pub(crate) on_adopt: Callback<()>,
}

#[component]
pub(crate) fn AdoptDialog(
    form: AdoptForm,
    /// `v9`.
    version: Memo<String>,
) -> impl IntoView {
    let dialog = NodeRef::<html::Dialog>::new();
    effect(move || {
        let Some(dialog) = dialog.get() else { return };
        if form.is_open.get() {
            if !dialog.open() {
                // Fails only when the element has left the page.
                let _ = dialog.show_modal();
            }
        } else {
            dialog.close();
        }
    });
    let close = move |_| form.is_open.set(false);
    view! {
        <dialog class="dialog adopt" data-size="wide" aria-labelledby="adopt-title" node_ref=dialog
            on:close=handler(move |_| form.is_open.set(false))>
            <header class="dialog__head">
                <h2 id="adopt-title">{move || format!("Adopt {} into a SKILL.md", version.get())}</h2>
                <button class="icon-button" type="button" aria-label="Close" on:click=handler(close)><Icon name="x"/></button>
            </header>
            <div class="dialog__body">
                <PathField form/>
                <Outcome form/>
                {move || preview_view(form)}
            </div>
            <div class="dialog__foot">
                <span class="dialog__note">"A backup is kept; you can revert at any time."</span>
                <button class="button" type="button" on:click=handler(close)>"Cancel"</button>
                <AdoptNow form version/>
            </div>
        </dialog>
    }
}

#[component]
fn PathField(form: AdoptForm) -> impl IntoView {
    let ask = move |event: web_sys::SubmitEvent| {
        event.prevent_default();
        form.on_preview.run(());
    };
    let help = move || {
        let roots = form.roots.get();
        if roots.is_empty() {
            "An absolute path that ends in .md; ~/ is understood.".to_owned()
        } else {
            format!("A path that ends in .md, under {}.", roots.join(", "))
        }
    };
    let typed = move |event| {
        form.path.set(event_target_value(&event));
        form.preview.set(PreviewState::NotAsked);
        form.write.set(WriteState::Idle);
    };
    let is_empty = move || form.path.with(|path| path.trim().is_empty());
    view! {
        <form class="field" on:submit=handler(ask)>
            <label class="field__label" for="adopt-path">"File to write"</label>
            <div class="row" data-nowrap>
                <div class="input adopt__path">
                    <input
                        id="adopt-path" class="mono" placeholder="~/.claude/skills/my-skill/SKILL.md" autocomplete="off"
                        spellcheck="false" autofocus=true aria-describedby="adopt-help" prop:value=move || form.path.get() on:input=handler(typed)
                    />
                </div>
                <button class="button" type="submit" disabled=move || is_empty()>"Preview"</button>
            </div>
            <p class="field__help" id="adopt-help">{move || help()}</p>
        </form>
    }
}

#[component]
fn Outcome(form: AdoptForm) -> impl IntoView {
    dynamic(move || {
        match form.write.get() {
        WriteState::Idle | WriteState::Writing => ().into_any(),
        WriteState::FileChanged => view! {
            <div class="callout" data-status="warning" role="alert">
                <Icon name="warning"/>
                <div>
                    <span class="callout__title">"The live file changed."</span>
                    " "
                    <span class="callout__text">
                        "Somebody wrote to it since the preview, so nothing was written. The preview below is new: look again, then adopt."
                    </span>
                </div>
            </div>
        }
        .into_any(),
        WriteState::Failed(error) => view! { <ErrorCallout what="Nothing was written." error/> }.into_any(),
    }
    })
}

fn preview_view(form: AdoptForm) -> AnyView {
    match form.preview.get() {
        PreviewState::NotAsked => {
            view! { <p class="second">"The preview shows what will be written, line by line, before anything is."</p> }.into_any()
        }
        PreviewState::Loading => view! { <SkeletonRows rows=5/> }.into_any(),
        PreviewState::Failed(error) => {
            view! { <ErrorCallout what="This file cannot be adopted into." error on_retry=form.on_preview/> }.into_any()
        }
        PreviewState::Ready(preview) => view! { <Preview preview=*preview/> }.into_any(),
    }
}

#[component]
fn Preview(preview: AdoptPreview) -> impl IntoView {
    let blockers = preview
        .blockers
        .iter()
        .map(|reason| check("error", "error", reason.clone(), ""))
        .collect_any();
    let backup = preview.backup.clone();
    view! {
        <ul class="writes">
            <li><Icon name="file"/><div>
                <span class="mono path">{preview.real_path.clone()}</span>
                <p class="small muted">{change_words(&preview)}</p>
            </div></li>
            {backup.map(|backup| view! {
                <li><Icon name="archive"/><div>
                    <span class="mono path">{backup}</span>
                    <p class="small muted">"Backup of the live file as it is now"</p>
                </div></li>
            }.into_any())}
        </ul>
        <ul class="checks">
            {blockers}
            {preview.is_symlink.then(|| check("done", "check", "The path is a symlink".into(), "it stays, its target is written"))}
            {preview.mode.clone().map(|mode| check("done", "check", format!("Permissions {mode}"), "they stay"))}
        </ul>
        {(!preview.is_same).then(|| view! {
            <div class="adopt__preview" tabindex="0" role="region" aria-label="Change to the file">
                <DiffView diff=preview.diff label="From the live file to the version"/>
            </div>
        }.into_any())}
    }
}

fn check(status: &'static str, icon: &'static str, what: String, value: &'static str) -> AnyView {
    view! { <li class="checks__item" data-status=status><Icon name=icon/><span>{what}</span><span>{value}</span></li> }
        .into_any()
}

fn change_words(preview: &AdoptPreview) -> String {
    if preview.is_same {
        return "The live file has these bytes already; there is nothing to write.".to_owned();
    }
    let lines = |count: u32| fmt::plural(u64::from(count), "line", "lines");
    let change =
        format!("{} added, {} removed", lines(preview.diff.n_added), lines(preview.diff.n_removed));
    if preview.live.is_none() {
        format!("New file: {change}")
    } else {
        format!("Overwritten: {change}")
    }
}

#[component]
fn AdoptNow(form: AdoptForm, version: Memo<String>) -> impl IntoView {
    let can_adopt = move || {
        form.preview
            .with(|preview| matches!(preview, PreviewState::Ready(ready) if can_write(ready)))
    };
    let is_writing = move || form.write.with(|write| *write == WriteState::Writing);
    view! {
        <button
            class="button" data-variant="primary" type="button" aria-busy=move || is_writing().to_string()
            disabled=move || !can_adopt() || is_writing() on:click=handler(move |_| form.on_adopt.run(()))
        >
            <Icon name="check"/>
            {move || format!("Adopt {}", version.get())}
        </button>
    }
}

fn can_write(preview: &AdoptPreview) -> bool {
    preview.blockers.is_empty() && !preview.is_same
}

#[cfg(test)]
mod tests {
    use super::*;
    use skillopt_domain::diff::diff;

    fn preview() -> AdoptPreview {
        AdoptPreview {
            real_path: "/home/u/SKILL.md".into(),
            is_symlink: false,
            live: None,
            is_same: false,
            diff: diff("", "a\nb\n"),
            mode: None,
            backup: None,
            blockers: Vec::new(),
        }
    }

    #[test]
    fn a_blocker_or_equal_bytes_keep_the_button_off() {
        assert!(can_write(&preview()));
        assert!(!can_write(&AdoptPreview { is_same: true, ..preview() }));
        assert!(!can_write(&AdoptPreview { blockers: vec!["unverified".into()], ..preview() }));
    }

    #[test]
    fn the_write_is_said_in_lines() {
        assert_eq!(change_words(&preview()), "New file: 2 lines added, 0 lines removed");
    }
}
