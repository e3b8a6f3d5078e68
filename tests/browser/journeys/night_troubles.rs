//! Nights that come to nothing: the page says why, in the words of who refused, and what to do.

use super::night::{House, NIGHT, serve, start_night};
use crate::fake_server::FakeServer;
use crate::harness::{Browser, Stage, eventually};
use anyhow::ensure;
use axum::http::StatusCode;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

const KEY: &str = "sk-proj-0123456789abcdefghijABCDEFGHIJ";

/// The provider refuses the key, and repeats it.
pub(super) async fn refused(stage: &mut Stage) -> anyhow::Result<()> {
    let words = format!("Incorrect API key provided: {KEY}. It was revoked on Monday.");
    let refusal = move |_: &_, _| {
        let error =
            json!({"message": words, "type": "invalid_request_error", "code": "invalid_api_key"});
        Some((StatusCode::UNAUTHORIZED, json!({"error": error})))
    };
    let models = FakeServer::with(Duration::ZERO, Arc::new(refusal));
    let Stage { browser, own, .. } = stage;
    let key = ("OPENAI_COMPATIBLE_API_KEY", KEY.to_owned());
    let server = own.insert(serve(&models, &[key]).await?);
    let house = House::new(server)?;
    house.add_sessions(1..=4)?;
    start_night(browser, server, &house.project, &[]).await?;
    ends_as(browser, "failed").await?;
    browser.see(".run-detail .callout", "The night failed.").await?;
    browser.see(".run-detail .callout", "Incorrect API key provided").await?;
    browser.see(".run-detail .callout", "It was revoked on Monday.").await?;
    browser.see(".pipeline .stage:nth-child(3)", "ended here").await?;
    ensure!(!browser.source().await?.contains(KEY), "the page shows the key");
    let staged = house.project.join(".skillopt-sleep/staging");
    let n_left = std::fs::read_dir(staged).map_or(0, |entries| {
        entries.filter_map(Result::ok).filter(|entry| entry.path().is_dir()).count()
    });
    ensure!(n_left == 0, "a night that failed left {n_left} folders");

    browser.click_in(".page-head__actions", "All nights").await?;
    browser.see("[aria-labelledby=nights-title] tbody", "failed").await
}

/// Nobody has worked with an agent here.
pub(super) async fn empty(stage: &mut Stage) -> anyhow::Result<()> {
    let models = FakeServer::start();
    let Stage { browser, own, .. } = stage;
    let server = own.insert(serve(&models, &[]).await?);
    let house = House::new(server)?;
    start_night(browser, server, &house.project, &[]).await?;
    ends_as(browser, "no tasks").await?;
    browser.see(".run-detail .callout", "There were no tasks to learn from.").await?;
    browser.see(".run-detail .callout", "claude was never used here").await?;
    browser.see(".run-detail .callout", "Work with your agent in this project").await?;
    ensure!(models.seen().is_empty(), "a model was called about nothing");
    browser.click_in(".run-detail .callout", "Begin another night").await?;
    browser.see("main h1", "Sleep").await?;
    browser.see("[aria-labelledby=nights-title] tbody", "no tasks").await
}

async fn ends_as(browser: &Browser, state: &str) -> anyhow::Result<()> {
    eventually("the night is over", NIGHT, async || {
        Ok(browser.text(".page-head__title").await?.contains(state).then_some(()))
    })
    .await
}
