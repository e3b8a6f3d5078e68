//! Everything that the mouse does, without the mouse.

use crate::harness::{Browser, Server, Stage, run_id, soon};
use anyhow::ensure;
use thirtyfour::Key;

pub(super) async fn run(stage: &mut Stage) -> anyhow::Result<()> {
    let Stage { browser, own, .. } = stage;
    let server = own.insert(Server::start().await?);
    browser.open(&server.url("/")).await?;
    browser.find(".start__way button").await?;
    browser.tab_to("Start sample run").await?;
    browser.press(Key::Enter).await?;
    let id = run_id(browser).await?;

    browser.press("gr").await?;
    is_at(browser, "/runs").await?;
    browser.find("main tbody tr[aria-rowindex] a").await?;
    browser.press("j").await?;
    browser.find("main tr[data-cursor]").await?;
    browser.press("k").await?;
    browser.press(Key::Enter).await?;
    is_at(browser, &format!("/runs/{id}")).await?;

    browser.find("nav.tabs a").await?;
    browser.tab_to("Rejected edits").await?;
    browser.press(Key::Enter).await?;
    is_at(browser, &format!("/runs/{id}/rejected")).await?;

    browser.press("?").await?;
    browser.see("dialog[open]", "Everywhere").await?;
    browser.press(Key::Escape).await?;
    no_dialog(browser).await?;

    browser.press_with_control('k').await?;
    browser.find("dialog.palette[open]").await?;
    browser.press("launch").await?;
    browser.see("dialog.palette [aria-selected=true]", "Launch a new run").await?;
    browser.press(Key::Enter).await?;
    is_at(browser, "/launch").await?;
    no_dialog(browser).await
}

async fn is_at(browser: &Browser, path: &str) -> anyhow::Result<()> {
    soon(&format!("the page is {path}"), async || {
        let now = browser.path().await?;
        ensure!(now == path, "it is {now}");
        Ok(Some(()))
    })
    .await
}

async fn no_dialog(browser: &Browser) -> anyhow::Result<()> {
    soon("the dialog is closed", async || {
        Ok((browser.count("dialog[open]").await? == 0).then_some(()))
    })
    .await
}
