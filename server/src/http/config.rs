//! The config schema, presets and YAML, for the launch form. Nothing here starts or spends anything.

use super::extract::Json;
use super::launch::{check_folder, derived, wanted};
use super::problem::{ApiError, ApiResult};
use super::sample;
use super::state::AppState;
use crate::config::{BadConfig, Sources, form_fields, from_yaml_text, load, to_yaml};
use crate::host::{Derived, HostError};
use axum::extract::State;
use skillopt_domain::api::{ConfigCheck, LaunchRequest, Preset, Problem, YamlText};
use skillopt_domain::config::{KEYS, KeySpec, Origin, Resolved};
use std::collections::BTreeMap;

/// All keys with their types, defaults and help.
#[utoipa::path(get, path = "/config/schema", tag = "config", responses((status = 200, body = Vec<KeySpec>)))]
pub(crate) async fn schema() -> Json<&'static [KeySpec]> {
    Json(KEYS)
}

/// Ready-made values to start from.
#[utoipa::path(get, path = "/config/presets", tag = "config", responses((status = 200, body = Vec<Preset>)))]
pub(crate) async fn presets(State(state): State<AppState>) -> ApiResult<Json<Vec<Preset>>> {
    let sample = sample::values(&state.data_dir).await.map_err(ApiError::internal)?;
    let text = |pairs: &[(&str, &str)]| {
        pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    };
    Ok(Json(vec![
        Preset {
            name: "Sample run".to_owned(),
            about: "Simulated models and 168 invented questions. Needs no key and costs nothing.".to_owned(),
            values: sample,
        },
        Preset {
            name: "My own skill and data".to_owned(),
            about: "Your SKILL.md, your tasks in three split folders, models behind an OpenAI-compatible API."
                .to_owned(),
            values: text(&[("env.split_mode", "split_dir"), ("model.backend", "openai_compatible")]),
        },
    ]))
}

/// Everything that can be said about a config before a call is made.
#[utoipa::path(post, path = "/config/check", tag = "config", request_body = LaunchRequest,
    responses((status = 200, body = ConfigCheck)))]
pub(crate) async fn check(
    State(state): State<AppState>,
    Json(request): Json<LaunchRequest>,
) -> ApiResult<Json<ConfigCheck>> {
    let problems = |BadConfig(problems)| ConfigCheck { problems, ..ConfigCheck::default() };
    let (resolved, mut check) = match derived(&state, &request).await {
        Ok(Some(Derived { resolved, check, .. })) => (resolved, check),
        Ok(None) => match resolve_form(&state, &request) {
            Ok(resolved) => {
                let check = state.hosting.check(&resolved).await;
                (resolved, check)
            }
            Err(bad) => return Ok(Json(problems(bad))),
        },
        Err(HostError::BadConfig(bad)) => return Ok(Json(problems(bad))),
        Err(err) => return Err(err.into()),
    };
    check_folder(&state, &resolved, &mut check).await?;
    Ok(Json(check))
}

/// The values that a YAML config sets, for the form.
#[utoipa::path(post, path = "/config/import", tag = "config", request_body = YamlText,
    responses((status = 200, body = BTreeMap<String, String>), (status = 422, body = Problem)))]
pub(crate) async fn import(
    Json(text): Json<YamlText>,
) -> ApiResult<Json<BTreeMap<String, String>>> {
    let resolved = from_yaml_text("pasted YAML", &text.yaml)?;
    Ok(Json(chosen_values(&resolved)))
}

/// The form as a YAML config that the command line can train from. No secrets.
#[utoipa::path(post, path = "/config/export", tag = "config", request_body = LaunchRequest,
    responses((status = 200, body = YamlText), (status = 422, body = Problem)))]
pub(crate) async fn export(
    State(state): State<AppState>,
    Json(request): Json<LaunchRequest>,
) -> ApiResult<Json<YamlText>> {
    let resolved = wanted(&state, &request).await?.resolved;
    Ok(Json(YamlText { yaml: to_yaml(&resolved).map_err(ApiError::internal)? }))
}

/// Form fields over the environment, checked key by key.
pub(crate) fn resolve_form(
    state: &AppState,
    request: &LaunchRequest,
) -> Result<Resolved, BadConfig> {
    let flags = form_fields(&request.values);
    load(Sources { file: None, env: state.hosting.environment(), flags: &flags })
}

/// Values that somebody set, as text.
pub(crate) fn chosen_values(resolved: &Resolved) -> BTreeMap<String, String> {
    let is_chosen = |origin| !matches!(origin, Origin::Default | Origin::Prices);
    let chosen = resolved.values.iter().filter(|row| is_chosen(row.place.origin));
    chosen.map(|row| (row.path.clone(), row.value.to_string())).collect()
}

impl From<BadConfig> for ApiError {
    fn from(err: BadConfig) -> Self {
        Self::BadConfig(err.0)
    }
}
