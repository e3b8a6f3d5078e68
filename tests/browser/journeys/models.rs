//! Does my model answer? From the rail to a test call, and what the page tells of it.

use crate::harness::{Stage, soon};
use anyhow::ensure;

pub(super) async fn run(stage: &mut Stage) -> anyhow::Result<()> {
    let (browser, server) = stage.server().await?;
    browser.open(&server.url("/")).await?;
    browser.click_in("nav.rail", "Settings").await?;
    browser.see("main h1", "Models").await?;
    browser.see("main .lede", "models can be called").await?;
    let row = "[...document.querySelectorAll('main table.models tbody tr')].find((row) => row.innerText.includes('sim-target'))";
    soon("the simulated target is listed", async || {
        let is_there: bool = browser.js(&format!("return {row} !== undefined"), []).await?;
        Ok(is_there.then_some(()))
    })
    .await?;
    let never: String = browser.js(&format!("return {row}.innerText"), []).await?;
    ensure!(never.contains("never called") && never.contains("needs no key"), "{never}");

    let _: Option<bool> = browser
        .js(&format!("{row}.querySelector('button.table__main').click(); return null"), [])
        .await?;
    browser.see("#model-title", "sim-target").await?;
    ensure!(browser.path().await?.starts_with("/settings/models"), "the page is another one");
    let _: Option<bool> = browser
        .js(
            &format!(
                "{row}.querySelector('button[aria-label^=\"Test call\"]').click(); return null"
            ),
            [],
        )
        .await?;
    soon("the latency is told in the row", async || {
        let text: String = browser.js(&format!("return {row}.innerText"), []).await?;
        Ok(text.contains(" ms, ").then_some(()))
    })
    .await?;
    browser.see("[aria-labelledby=test-title]", "Answered in").await?;
    // The server remembers it, and the address names the model.
    browser.reload().await?;
    browser.see("[aria-labelledby=test-title]", "Answered in").await?;
    browser.see("#model-title", "sim-target").await?;
    browser.see("[aria-labelledby=backends-title]", "openai_compatible").await
}
