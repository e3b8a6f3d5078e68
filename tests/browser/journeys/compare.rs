//! A run is made again and forked; the two are compared, and what differs is named.

use crate::harness::{Stage, run_id, soon};
use anyhow::ensure;

pub(super) async fn run(stage: &mut Stage) -> anyhow::Result<()> {
    let (browser, server, id) = stage.finished_run().await?;
    browser.open(&server.url(&format!("/runs/{id}"))).await?;
    browser.click_in("main .page-head", "Fork").await?;
    browser.see("main h1", "Fork of").await?;
    browser.fill("#field-optimizer-learning_rate", "2").await?;
    browser.see("main .differences", "optimizer.learning_rate").await?;
    browser.see("main .differences", "changes results").await?;
    // What was typed outlives the page.
    browser.open(&server.url("/runs")).await?;
    browser.open(&server.url(&format!("/launch?fork={id}"))).await?;
    browser.see("main .page-head", "Taken up where you left it").await?;
    browser.see("main .differences", "optimizer.learning_rate").await?;
    browser.click_in("main aside", "Start fork").await?;
    let fork = run_id(browser).await?;
    ensure!(fork != id, "the fork is another run");
    browser.see("main", "Forked from").await?;
    server.wait_until_done(&fork).await?;

    browser.open(&server.url(&format!("/runs?pick={id}"))).await?;
    soon("the forked run is marked", async || {
        Ok((browser.count("main tr[aria-selected=true]").await? == 1).then_some(()))
    })
    .await?;
    browser.press_first("main tr:not([aria-selected]) .check").await?;
    browser.click_in("main .filters", "Compare").await?;
    browser.see("main h1", "Compare 2 runs").await?;
    browser.see("main", "shared test tasks").await?;
    browser.see("main", "optimizer.learning_rate").await?;
    let lines = browser.count("main svg.chart path.chart__line").await?;
    ensure!(lines >= 2, "{lines} lines in the chart");
    Ok(())
}
