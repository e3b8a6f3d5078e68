//! Why was this thrown away? The answer is one click from the run.

use crate::harness::{Stage, soon};
use anyhow::ensure;

pub(super) async fn run(stage: &mut Stage) -> anyhow::Result<()> {
    let (browser, server, id) = stage.finished_run().await?;
    let page = server.url(&format!("/runs/{id}"));
    browser.open(&page).await?;
    browser.click_in("nav.tabs", "Rejected edits").await?;
    browser.click_in("[aria-label=Reason]", "Lost at the gate").await?;
    soon("two rejected edits are listed", async || {
        Ok((browser.count("main tbody .edit-open").await? >= 2).then_some(()))
    })
    .await?;
    // Both are open: a drawer each tells the gate's sentence. The filter may still be drawing the list anew.
    let reasons: Vec<String> = soon("two reasons can be read", async || {
        let texts: Vec<String> = browser
            .js("return [...document.querySelectorAll('main .drawer')].map((drawer) => drawer.innerText)", [])
            .await?;
        if texts.len() < 2 {
            browser.press_first("main tbody .edit-open[aria-expanded=false]").await?;
            return Ok(None);
        }
        Ok(Some(texts))
    })
    .await?;
    for reason in &reasons {
        ensure!(
            reason.contains('→') && reason.contains("task"),
            "no scores in the reason: {reason}"
        );
    }
    Ok(())
}
