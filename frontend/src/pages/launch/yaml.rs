//! A config as YAML: read into the form, or written out to be trained from on the command line.

use super::draft::Draft;
use crate::api::{self, ApiError};
use crate::components::copy_button::CopyButton;
use crate::components::dynamic::CollectAny;
use crate::components::handler::handler;
use crate::components::icon::Icon;
use crate::components::states::ErrorCallout;
use crate::state::signal::RwSignal;
use leptos::html;
use leptos::prelude::*;
use leptos::task::spawn_local;
use wasm_bindgen_futures::JsFuture;

fn show(dialog: NodeRef<html::Dialog>) {
    if let Some(dialog) = dialog.get_untracked() {
        // Fails only when it is open already.
        let _ = dialog.show_modal();
    }
}

fn close(dialog: NodeRef<html::Dialog>) {
    if let Some(dialog) = dialog.try_get_untracked().flatten() {
        dialog.close();
    }
}

#[component]
pub(super) fn ImportYaml(draft: Draft) -> impl IntoView {
    let dialog = NodeRef::<html::Dialog>::new();
    let text = RwSignal::new(String::new());
    let failed = RwSignal::new(None::<ApiError>);
    let take = move |_| {
        let yaml = text.get_untracked();
        failed.set(None);
        spawn_local(async move {
            match api::config_import(&yaml).await {
                Ok(values) => {
                    draft.replace(values);
                    close(dialog);
                }
                Err(error) => failed.set(Some(error)),
            }
        });
    };
    view! {
        <button class="button" type="button" on:click=handler(move |_| show(dialog))><Icon name="file"/>"Import YAML"</button>
        <dialog class="dialog" data-size="wide" aria-labelledby="import-title" node_ref=dialog>
            <DialogHead id="import-title" title="Import YAML" dialog=dialog/>
            <div class="dialog__body">
                <p class="second">"A config of this program or of the Python one. It takes the place of all values in the form."</p>
                <div>
                    <label class="button">
                        <Icon name="folder"/>
                        "Choose a file"
                        <input
                            class="visually-hidden"
                            type="file"
                            accept=".yaml,.yml,text/yaml"
                            on:change:target=move |event| read_file(&event.target(), text)
                        />
                    </label>
                </div>
                <textarea
                    class="input mono"
                    rows="14"
                    spellcheck="false"
                    aria-label="YAML"
                    placeholder="train:\n  num_epochs: 4"
                    prop:value=move || text.get()
                    on:input:target=move |event| text.set(event.target().value())
                ></textarea>
                {move || failed.get().map(|error| view! { <Refused error=error/> }.into_any())}
            </div>
            <div class="dialog__foot">
                <button class="button" type="button" on:click=handler(move |_| close(dialog))>"Cancel"</button>
                <button
                    class="button"
                    data-variant="primary"
                    type="button"
                    disabled=move || text.with(|text| text.trim().is_empty())
                    on:click=handler(take)
                >
                    "Fill the form"
                </button>
            </div>
        </dialog>
    }
}

/// The reason, and each problem with its place.
#[component]
fn Refused(error: ApiError) -> impl IntoView {
    let lines = error.problem.problems.clone().into_iter().map(|problem| {
        let place = problem.place.and_then(|place| place.line).map(|line| format!("line {line}: "));
        view! { <li><code>{problem.path}</code> " " {place} {problem.message}</li> }
    });
    view! {
        <ErrorCallout what="The YAML could not be read." error=error.clone()/>
        <ul class="small second">{lines.collect_any()}</ul>
    }
}

fn read_file(input: &web_sys::HtmlInputElement, text: RwSignal<String>) {
    let Some(file) = input.files().and_then(|files| files.get(0)) else { return };
    spawn_local(async move {
        if let Ok(read) = JsFuture::from(file.text()).await {
            text.set(read.as_string().unwrap_or_default());
        }
    });
}

#[component]
pub(super) fn ExportYaml(draft: Draft) -> impl IntoView {
    let dialog = NodeRef::<html::Dialog>::new();
    let yaml = RwSignal::new(None::<Result<String, ApiError>>);
    let open = move |_| {
        let request = draft.request();
        yaml.set(None);
        show(dialog);
        spawn_local(async move {
            let answer = api::config_export(&request).await;
            yaml.set(Some(answer));
        });
    };
    let body = move || match yaml.get() {
        None => view! { <p class="muted" role="status">"Writing…"</p> }.into_any(),
        Some(Err(error)) => view! { <Refused error=error/> }.into_any(),
        Some(Ok(text)) => view! {
            <div class="command">
                <pre class="scroll-x" tabindex="0">{text.clone()}</pre>
                <span class="end"><CopyButton text=text what="YAML"/></span>
            </div>
        }
        .into_any(),
    };
    view! {
        <button class="button" type="button" on:click=handler(open)><Icon name="download"/>"Export YAML"</button>
        <dialog class="dialog" data-size="wide" aria-labelledby="export-title" node_ref=dialog>
            <DialogHead id="export-title" title="Export YAML" dialog=dialog/>
            <div class="dialog__body">
                <p class="second">"What differs from the defaults, without secrets. Train from it with "<code>"skillopt train --config"</code>"."</p>
                {move || body()}
            </div>
        </dialog>
    }
}

#[component]
fn DialogHead(
    id: &'static str,
    title: &'static str,
    dialog: NodeRef<html::Dialog>,
) -> impl IntoView {
    view! {
        <div class="dialog__head">
            <h2 id=id>{title}</h2>
            <button class="icon-button" type="button" aria-label="Close" title="Close (Esc)" on:click=handler(move |_| close(dialog))>
                <Icon name="x"/>
            </button>
        </div>
    }
}
