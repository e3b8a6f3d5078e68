//! Imports a run folder of the server's machine: looked at first, with what was read and what was broken, then
//! taken over.

use crate::api::{self, ApiError};
use crate::components::dynamic::{CollectAny, nothing, when};
use crate::components::handler::handler;
use crate::components::icon::Icon;
use crate::components::states::ErrorCallout;
use crate::fmt;
use crate::parts::part::part;
use crate::state::effect::effect;
use crate::state::signal::RwSignal;
use leptos::html;
use leptos::prelude::*;
use leptos::task::spawn_local;
use skillopt_domain::import::{ImportChange, ImportReport, ImportRequest};

/// Where an import stands.
#[derive(Clone)]
enum State {
    Asking,
    Reading,
    /// Looked at, nothing written.
    Looked(Box<ImportReport>),
    Done(Box<ImportReport>),
    Failed(ApiError),
}

#[component]
pub(super) fn ImportRun() -> impl IntoView {
    // Counts how often the button was used: each time the dialog opens.
    let asked = RwSignal::new(0_u32);
    view! {
        <button class="button" type="button" on:click=handler(move |_| asked.update(|asked| *asked += 1))>
            <Icon name="folder"/>"Import run"
        </button>
        {when(move || asked.get() > 0, move || runs_import::show(asked), nothing)}
    }
}

part!(runs_import, RwSignal<u32>, |asked| view! { <ImportDialog asked/> }.into_any(), nothing);

#[component]
fn ImportDialog(asked: RwSignal<u32>) -> impl IntoView {
    let dialog = NodeRef::<html::Dialog>::new();
    effect(move || {
        asked.track();
        if let Some(dialog) = dialog.get() {
            // Fails only when it is open already.
            let _ = dialog.show_modal();
        }
    });
    view! {
        <dialog class="dialog" data-size="wide" aria-labelledby="import-run-title" node_ref=dialog>
            <div class="dialog__head">
                <h2 id="import-run-title">"Import a run folder"</h2>
                <button class="icon-button" type="button" aria-label="Close" title="Close (Esc)" on:click=handler(move |_| close(dialog))>
                    <Icon name="x"/>
                </button>
            </div>
            <ImportForm dialog/>
        </dialog>
    }
}

fn close(dialog: NodeRef<html::Dialog>) {
    if let Some(dialog) = dialog.try_get_untracked().flatten() {
        dialog.close();
    }
}

/// Asks the server; a look writes nothing.
fn ask(path: RwSignal<String>, state: RwSignal<State>, dry_run: bool) {
    let request = ImportRequest { path: path.get_untracked().trim().to_owned(), dry_run };
    state.set(State::Reading);
    spawn_local(async move {
        state.set(match api::import_folder(&request).await {
            Ok(report) if dry_run => State::Looked(Box::new(report)),
            Ok(report) => State::Done(Box::new(report)),
            Err(error) => State::Failed(error),
        });
    });
}

/// There is something that an import would write.
fn may_take(state: &State) -> bool {
    match state {
        State::Looked(report) => {
            matches!(report.change, ImportChange::New | ImportChange::Updated)
        }
        State::Asking | State::Reading | State::Done(_) | State::Failed(_) => false,
    }
}

#[component]
fn ImportForm(dialog: NodeRef<html::Dialog>) -> impl IntoView {
    let path = RwSignal::new(String::new());
    let state = RwSignal::new(State::Asking);
    let cannot_look = move || {
        path.with(|path| path.trim().is_empty())
            || state.with(|state| matches!(state, State::Reading))
    };
    let typed = move |event| {
        path.set(event_target_value(&event));
        state.set(State::Asking);
    };
    let body = move || match state.get() {
        State::Asking => nothing(),
        State::Reading => {
            view! { <p class="muted" role="status">"Reading the folder…"</p> }.into_any()
        }
        State::Looked(report) | State::Done(report) => {
            view! { <Report report=*report/> }.into_any()
        }
        State::Failed(error) => {
            view! { <ErrorCallout what="The folder could not be imported." error/> }.into_any()
        }
    };
    view! {
        <div class="dialog__body">
            <p class="second">
                "A folder of the Python SkillOpt, or of this program from elsewhere, on the machine of the server. It is only read; looking at it first writes nothing at all."
            </p>
            <label class="field">
                <span class="field__label">"Folder"</span>
                <span class="input">
                    <input
                        class="mono" autofocus=true autocomplete="off" spellcheck="false" placeholder="~/runs/one"
                        prop:value=move || path.get() on:input=handler(typed)
                    />
                </span>
            </label>
            {move || body()}
        </div>
        <div class="dialog__foot">
            <button class="button" type="button" on:click=handler(move |_| close(dialog))>"Close"</button>
            <button class="button" type="button" disabled=move || cannot_look() on:click=handler(move |_| ask(path, state, true))>
                <Icon name="search"/>"Look"
            </button>
            <button class="button" data-variant="primary" type="button" disabled=move || !state.with(may_take) on:click=handler(move |_| ask(path, state, false))>
                <Icon name="download"/>"Import"
            </button>
        </div>
    }
}

/// What was read, and by file what was not.
#[component]
fn Report(report: ImportReport) -> impl IntoView {
    let href = format!("/runs/{}", report.run);
    let words = change_words(report.change, report.is_dry_run);
    let has_run = !report.is_dry_run || report.change != ImportChange::New;
    let link = has_run.then(|| view! { <a class="button" data-size="sm" href=href><Icon name="right"/>"Open the run"</a> }.into_any());
    let facts = [
        ("Written by", report.system.clone()),
        ("State", report.status.as_str().to_owned()),
        ("Steps", fmt::count(report.n_steps.into())),
        ("Attempts", fmt::count(report.n_attempts)),
        ("With a conversation", fmt::count(report.n_conversations)),
        ("Skill texts", fmt::count(report.n_skills.into())),
    ];
    let facts = facts.map(|(label, value)| view! { <dt>{label}</dt><dd>{value}</dd> });
    let n = u64::try_from(report.findings.len()).unwrap_or_default() + report.n_findings_more;
    let head = match n {
        0 => "Every file could be read.".to_owned(),
        n => format!(
            "{}; the rest is taken over.",
            fmt::plural(n, "thing is left out or changed", "things are left out or changed")
        ),
    };
    let rows = report.findings.into_iter().map(|one| {
        view! {
            <tr>
                <td class="mono second">{one.file}</td>
                <td class="second">{one.place}</td>
                <td class="table__wrap">{one.message}</td>
            </tr>
        }
    });
    let table = (n > 0).then(|| {
        view! {
            <div class="panel scroll-x virtual" data-height="short" tabindex="0" role="region" aria-label="What was left out">
                <table class="table">
                    <thead><tr><th scope="col">"File"</th><th scope="col">"Place"</th><th scope="col">"What"</th></tr></thead>
                    <tbody>{rows.collect_any()}</tbody>
                </table>
            </div>
        }
        .into_any()
    });
    let more = (report.n_findings_more > 0).then(|| {
        view! { <p class="small muted">{format!("{} more of the kind are not listed.", fmt::count(report.n_findings_more))}</p> }.into_any()
    });
    view! {
        <div class="callout" data-status="done" role="status">
            <Icon name="check"/>
            <div><span class="callout__title">{words}</span></div>
            {link}
        </div>
        <dl class="facts" data-align="start">{facts.into_iter().collect_any()}</dl>
        <p class="second">{head}</p>
        {table}
        {more}
    }
}

fn change_words(change: ImportChange, is_dry_run: bool) -> &'static str {
    match (change, is_dry_run) {
        (ImportChange::New, true) => "A run that is not here yet. Nothing was written so far.",
        (ImportChange::New, false) => "Imported.",
        (ImportChange::Updated, true) => {
            "Known, and grown since: its run would be brought up to date."
        }
        (ImportChange::Updated, false) => "Brought up to date.",
        (ImportChange::Unchanged, _) => "Imported before, and nothing is new.",
        (ImportChange::Own, _) => "A run of this data directory: there is nothing to import.",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_never_claims_that_something_was_written() {
        for change in [ImportChange::New, ImportChange::Updated] {
            assert_ne!(change_words(change, true), change_words(change, false));
        }
        assert!(change_words(ImportChange::New, true).contains("Nothing was written"));
    }
}
