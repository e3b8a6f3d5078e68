//! The dashboard is fetched in parts: a page asks for what it shows and no more, and says so when a part does not come.

use crate::harness::{Browser, Server, Stage, soon};
use anyhow::ensure;

/// So many requests may the first page make, the answers of the API among them.
const MAX_REQUESTS: usize = 12;

pub(super) async fn fetched_when_shown(stage: &mut Stage) -> anyhow::Result<()> {
    let (browser, server, id) = stage.finished_run().await?;
    browser.open(&server.url("/")).await?;
    browser.see("main h1", "Overview").await?;
    browser.find("main table a").await?;
    let first = requests(browser).await?;
    // And the page itself.
    ensure!(first.len() < MAX_REQUESTS, "{} requests: {first:#?}", first.len() + 1);

    browser.open(&server.url(&format!("/runs/{id}/config"))).await?;
    browser.find("main table").await?;
    let config = code(&requests(browser).await?);
    browser.click_in("nav.tabs", "Curves").await?;
    browser.find("svg.chart").await?;
    let curves = code(&requests(browser).await?);
    ensure!(curves.len() > config.len(), "the curves came with the config: {config:#?}");

    browser.click_in("nav.tabs", "Config").await?;
    browser.find("main table").await?;
    let again = code(&requests(browser).await?);
    ensure!(again == curves, "what was there is asked for again: {again:#?}");
    Ok(())
}

pub(super) async fn missing_part(stage: &mut Stage) -> anyhow::Result<()> {
    let Stage { browser, own, .. } = stage;
    let server = own.insert(Server::start().await?);
    let id = server.start_sample_run().await?;
    server.wait_until_done(&id).await?;
    browser.open(&server.url(&format!("/runs/{id}"))).await?;
    browser.find("svg.chart").await?;
    server.kill();
    browser.click_in("nav.tabs", "Config").await?;
    browser.see("main [role=alert]", "could not be fetched").await?;
    browser.see("main [role=alert]", "Reload the page").await?;
    // The rest of the page stays in use.
    browser.click_in("nav.tabs", "Curves").await?;
    browser.find("nav.tabs [aria-current=page]").await?;
    browser.click_in("nav.tabs", "Config").await?;
    browser.see("main [role=alert]", "could not be fetched").await?;

    server.start_again().await?;
    browser.click_in("main [role=alert]", "Retry").await?;
    browser.find("main table").await?;
    soon("nothing failed any more", async || {
        Ok((browser.count("main [role=alert]").await? == 0).then_some(()))
    })
    .await
}

/// The paths of everything that the open page asked for.
async fn requests(browser: &Browser) -> anyhow::Result<Vec<String>> {
    browser
        .js(
            "return performance.getEntriesByType('resource').map((one) => new URL(one.name))
                 .filter((url) => url.protocol !== 'data:').map((url) => url.pathname + url.search)",
            [],
        )
        .await
}

/// The files with code among them, in the order of their names.
fn code(requests: &[String]) -> Vec<String> {
    let mut files: Vec<_> =
        requests.iter().filter(|path| path.ends_with(".wasm")).cloned().collect();
    files.sort();
    files
}
