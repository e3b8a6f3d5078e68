//! A link shows a colleague the same view, and a reload shows it again.

use crate::harness::{Browser, Stage, soon};
use anyhow::ensure;

pub(super) async fn run(stage: &mut Stage) -> anyhow::Result<()> {
    let (browser, server, id) = stage.finished_run().await?;
    let (steps, skill) =
        (format!("/runs/{id}/steps?step=2"), format!("/runs/{id}/skill?new=1&view=raw"));
    let (steps, skill) = (server.url(&steps), server.url(&skill));

    browser.open(&steps).await?;
    shows_step(browser, 2).await?;
    browser.reload().await?;
    shows_step(browser, 2).await?;
    // What is chosen by hand is in the address, too.
    browser.press("k").await?;
    shows_step(browser, 3).await?;
    browser.reload().await?;
    shows_step(browser, 3).await?;

    browser.open(&skill).await?;
    for _ in 0..2 {
        browser.see("[aria-label=View] [aria-pressed=true]", "Raw").await?;
        browser.see("main h2", "v1").await?;
        browser.reload().await?;
    }
    Ok(())
}

/// The step is chosen in the list, and the story at its side tells of the same score.
async fn shows_step(browser: &Browser, step: u32) -> anyhow::Result<()> {
    soon(&format!("step {step} is chosen and told"), async || {
        let number = browser.text(".steps__item[aria-current=page]").await?;
        let score = browser.text(".steps__item[aria-current=page] .steps__score").await?;
        let story = browser.text("#step-title").await?;
        let is_chosen = number.trim_start().starts_with(&step.to_string()) && !score.is_empty();
        ensure!(is_chosen && story.contains(&score), "chosen `{number}`, told `{story}`");
        Ok(Some(()))
    })
    .await
}
