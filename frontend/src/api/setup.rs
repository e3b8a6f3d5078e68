//! Setting up a run: schema, presets, checks, YAML in and out.

use super::{ApiResult, SchemaKey, get, post, put};
use skillopt_domain::api::{ConfigCheck, LaunchRequest, Preflight, Preset, PriceUpdate, YamlText};
use skillopt_domain::price::PriceTable;
use std::collections::BTreeMap;

/// Values as text, by key: what the launch form holds.
pub(crate) type Values = BTreeMap<String, String>;

pub(crate) async fn config_schema() -> ApiResult<Vec<SchemaKey>> {
    get("config/schema").await
}

pub(crate) async fn config_presets() -> ApiResult<Vec<Preset>> {
    get("config/presets").await
}

pub(crate) async fn config_check(request: &LaunchRequest) -> ApiResult<ConfigCheck> {
    post("config/check", request).await
}

/// Reads a YAML config into values.
pub(crate) async fn config_import(yaml: &str) -> ApiResult<Values> {
    post("config/import", &YamlText { yaml: yaml.to_owned() }).await
}

/// The values as YAML, to be trained from again.
pub(crate) async fn config_export(request: &LaunchRequest) -> ApiResult<String> {
    let answer: YamlText = post("config/export", request).await?;
    Ok(answer.yaml)
}

pub(crate) async fn preflight(request: &LaunchRequest) -> ApiResult<Preflight> {
    post("preflight", request).await
}

pub(crate) async fn prices() -> ApiResult<PriceTable> {
    get("prices").await
}

/// Fails with `conflict` when somebody else changed them meanwhile.
pub(crate) async fn set_prices(update: &PriceUpdate) -> ApiResult<PriceTable> {
    put("prices", update).await
}
