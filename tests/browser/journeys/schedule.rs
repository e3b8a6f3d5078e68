//! A night every day, from the form to its end: added, kept, switched off and on, moved to another zone, run at once,
//! and deleted.

use super::curation::project_with_sessions;
use crate::harness::{Browser, Server, Stage, soon};
use anyhow::ensure;

const LIST: &str = ".schedule-list";

pub(super) async fn run(stage: &mut Stage) -> anyhow::Result<()> {
    let server = stage.own.insert(Server::start().await?);
    let browser = &stage.browser;
    let project = project_with_sessions(server, 4)?;
    browser.open(&server.url("/sleep")).await?;
    browser.see("[aria-labelledby=schedule-title]", "No night is scheduled in this server").await?;
    browser.fill("#sleep-project", &project).await?;
    browser.fill("#sleep-lookback_hours", "0").await?;
    add(browser, &project).await?;
    browser.reload().await?;
    browser.see(LIST, "work, every day at 04:15, UTC").await?;

    browser.press_first(".schedule .switch").await?;
    browser.see(".schedule__next", "switched off").await?;
    browser.press_first(".schedule .switch").await?;
    browser.see(".schedule__next", "next").await?;

    browser.click("Edit the schedule of work").await?;
    browser.fill("#schedule-zone", "Europe/Berlin").await?;
    browser.click("Save the schedule").await?;
    browser.see(LIST, "work, every day at 04:15, Europe/Berlin").await?;

    browser.click_in(LIST, "Run now").await?;
    soon("the night is open", async || {
        Ok(browser.path().await?.starts_with("/sleep/nights/").then_some(()))
    })
    .await?;
    browser.see(".page-head", "staged").await?;
    browser.see("main", "4 tasks").await?;

    browser.open(&server.url("/sleep")).await?;
    browser.see("main table", "staged").await?;
    browser.click("Delete the schedule of work").await?;
    browser.click_in("dialog[open]", "Delete the schedule").await?;
    browser.see("[aria-labelledby=schedule-title]", "No night is scheduled in this server").await?;
    ensure!(browser.text("main table").await?.contains("staged"), "its night stays");
    Ok(())
}

/// A zone that does not exist is told and nothing is kept; then one that does.
async fn add(browser: &Browser, project: &str) -> anyhow::Result<()> {
    browser.click("Add a schedule").await?;
    browser.see(".schedule-form", project).await?;
    let _is_typed: bool = browser.js(TYPE_CLOCK, []).await?;
    browser.fill("#schedule-zone", "Mars/Olympus").await?;
    browser.click("Add the schedule").await?;
    browser.see(".schedule-failure", "Mars/Olympus").await?;
    ensure!(browser.count(LIST).await? == 0, "a schedule without a zone was kept");
    browser.fill("#schedule-zone", "UTC").await?;
    browser.click("Add the schedule").await?;
    browser.see(LIST, "work, every day at 04:15, UTC").await
}

/// How a clock is typed depends on the language of the browser.
const TYPE_CLOCK: &str = "
const clock = document.querySelector('#schedule-clock');
clock.value = '04:15';
clock.dispatchEvent(new Event('input', { bubbles: true }));
return true;";
