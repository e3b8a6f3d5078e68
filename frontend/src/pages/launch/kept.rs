//! Drafts that outlive the page: kept in the browser's tab until the run is started or the form is emptied.

use skillopt_domain::api::LaunchRequest;
use skillopt_domain::json;

const PREFIX: &str = "skillopt.draft.";

/// The draft of this name; `None` when there is none, or it cannot be read any more.
pub(super) fn read(name: &str) -> Option<LaunchRequest> {
    let text = storage()?.get_item(&key(name)).ok().flatten()?;
    json::from_str(&text).ok()
}

/// Keeps a draft. A browser without storage keeps none.
pub(super) fn keep(name: &str, draft: &LaunchRequest) {
    if let (Some(storage), Ok(text)) = (storage(), serde_json::to_string(draft)) {
        let _ = storage.set_item(&key(name), &text);
    }
}

pub(super) fn forget(name: &str) {
    if let Some(storage) = storage() {
        let _ = storage.remove_item(&key(name));
    }
}

fn key(name: &str) -> String {
    format!("{PREFIX}{name}")
}

/// Of this tab only: two tabs may hold two drafts.
fn storage() -> Option<web_sys::Storage> {
    leptos::prelude::window().session_storage().ok().flatten()
}
