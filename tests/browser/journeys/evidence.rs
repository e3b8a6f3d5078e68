//! From a number to its evidence: a cell of the matrix opens two attempts beside each other, and a line of the skill
//! tells the edit, the step and the trajectories behind it.

use crate::harness::{Stage, soon};
use anyhow::ensure;

pub(super) async fn run(stage: &mut Stage) -> anyhow::Result<()> {
    let (browser, server, id) = stage.finished_run().await?;
    browser.open(&server.url(&format!("/runs/{id}/tasks"))).await?;
    browser.see(".lede", "fixed").await?;
    browser.press_first(".cell[data-cell=fixed]").await?;
    // Two sides, each with what the scorer said, and the difference of the skills below.
    browser.see("#pair-title", "→").await?;
    soon("both sides are scored", async || {
        let heads = browser.count(".pair__head").await?;
        let scores = browser.count(".pair__score").await?;
        let changed = browser.count("article .diff tr[data-kind]").await?;
        ensure!(
            heads == 2 && scores == 2 && changed > 0,
            "{heads} heads, {scores} scores, {changed} lines"
        );
        Ok(Some(()))
    })
    .await?;
    let title = browser.text("#pair-title").await?;
    browser.reload().await?;
    browser.see("#pair-title", &title).await?;
    browser.click_in("[aria-label=Show]", "Changed").await?;
    soon("only changed tasks are shown", async || {
        let unchanged: usize = browser.js(UNCHANGED, []).await?;
        ensure!(unchanged == 0, "{unchanged} tasks never changed");
        Ok(Some(()))
    })
    .await?;

    browser.open(&server.url(&format!("/runs/{id}/skill?view=blame"))).await?;
    browser.press_first(".blame[data-age=new]").await?;
    browser.see("#why-title", "Why line").await?;
    browser.see(".chain", "trajector").await?;
    browser.press_first(".chain a.link").await?;
    // The link leads to the attempts of that step's batch.
    browser.see("main .lede", "trajector").await?;
    let path = browser.path().await?;
    ensure!(path.ends_with("/trajectories"), "{path}");
    Ok(())
}

/// Rows without a change, while the filter asks for changes.
const UNCHANGED: &str = r"
const pressed = document.querySelector('[aria-label=Show] [aria-pressed=true]');
if (!pressed || !pressed.innerText.startsWith('Changed')) return 999;
return [...document.querySelectorAll('.matrix tbody .matrix__n')].filter((e) => e.innerText.trim() === '0').length;";
