//! What adopting remembers and does: the last path, the preview, the write with its compare-and-swap.

use super::state::RunState;
use crate::api::{self, ApiError};
use crate::components::adopt_dialog::{AdoptForm, PreviewState, WriteState};
use crate::state::memo::Memo;
use crate::state::signal::RwSignal;
use crate::time;
use leptos::prelude::*;
use leptos::task::spawn_local;
use skillopt_domain::api::{AdoptPreview, AdoptPreviewRequest, AdoptRequest, ProblemCode};
use skillopt_domain::hash::Sha256Hex;

const LAST_PATH: &str = "skillopt.adopt.path";

/// The form for a version that may change while the dialog is closed.
pub(super) fn adopt_form(
    run: RunState,
    skill: Memo<Option<Sha256Hex>>,
    on_written: Callback<()>,
) -> AdoptForm {
    let is_open = RwSignal::new(false);
    let path = RwSignal::new(last_path());
    let preview = RwSignal::new(PreviewState::NotAsked);
    let write = RwSignal::new(WriteState::Idle);
    let roots = RwSignal::new(Vec::new());
    // One key a decision: repeating a click or a request gives the same receipt.
    let key = StoredValue::new(String::new());
    let on_preview = Callback::new(move |()| {
        if let Some(skill) = skill.get_untracked() {
            key.set_value(fresh_key());
            write.set(WriteState::Idle);
            look(run, skill, &path.get_untracked(), preview);
        }
    });
    let form = AdoptForm {
        is_open,
        path,
        preview,
        write,
        roots,
        on_preview,
        on_adopt: Callback::new(|()| {}),
    };
    let on_adopt = Callback::new(move |()| {
        let ready = preview.with_untracked(|preview| match preview {
            PreviewState::Ready(ready) => Some((**ready).clone()),
            _ => None,
        });
        if let (Some(skill), Some(ready)) = (skill.get_untracked(), ready) {
            adopt(run, form, skill, &ready, key, on_written);
        }
    });
    AdoptForm { on_adopt, ..form }
}

fn look(run: RunState, skill: Sha256Hex, path: &str, preview: RwSignal<PreviewState>) {
    preview.set(PreviewState::Loading);
    let request = AdoptPreviewRequest { run: run.id(), skill, path: path.trim().to_owned() };
    spawn_local(async move {
        let state = match api::adopt_preview(&request).await {
            Ok(ready) => PreviewState::Ready(Box::new(ready)),
            Err(error) => PreviewState::Failed(error),
        };
        preview.set(state);
    });
}

fn adopt(
    run: RunState,
    form: AdoptForm,
    skill: Sha256Hex,
    shown: &AdoptPreview,
    key: StoredValue<String>,
    on_written: Callback<()>,
) {
    form.write.set(WriteState::Writing);
    let path = form.path.get_untracked().trim().to_owned();
    let request = AdoptRequest {
        run: run.id(),
        skill: skill.clone(),
        path: path.clone(),
        expected_live: shown.live.clone(),
        idempotency_key: key.get_value(),
    };
    spawn_local(async move {
        match api::adopt(&request).await {
            Ok(_) => {
                remember(&path);
                form.write.set(WriteState::Idle);
                form.preview.set(PreviewState::NotAsked);
                form.is_open.set(false);
                on_written.run(());
            }
            Err(error) if is_changed(&error) => {
                key.set_value(fresh_key());
                form.write.set(WriteState::FileChanged);
                look(run, skill, &path, form.preview);
            }
            Err(error) => form.write.set(WriteState::Failed(error)),
        }
    });
}

fn is_changed(error: &ApiError) -> bool {
    error.problem.code == ProblemCode::FileChanged
}

fn fresh_key() -> String {
    let random = js_sys::Math::random().to_string();
    format!("{}-{}", time::now_ms(), random.trim_start_matches("0."))
}

/// Kept in this browser; a browser without storage starts empty.
fn last_path() -> String {
    let storage = window().local_storage().ok().flatten();
    storage.and_then(|storage| storage.get_item(LAST_PATH).ok().flatten()).unwrap_or_default()
}

fn remember(path: &str) {
    if let Some(storage) = window().local_storage().ok().flatten() {
        let _ = storage.set_item(LAST_PATH, path);
    }
}
