//! From sessions to the tasks of a night, by a person's choice: found, edited with a check that is told when it cannot
//! work, tried, muted, undone, and run.

use crate::harness::{Browser, Server, Stage, soon};
use anyhow::{Context, ensure};
use serde_json::json;
use std::fs;

pub(super) async fn run(stage: &mut Stage) -> anyhow::Result<()> {
    let server = stage.own.insert(Server::start().await?);
    let browser = &stage.browser;
    project_with_sessions(server, 4)?;
    browser.open(&server.url("/sleep")).await?;
    browser.press_first("#sleep-tasks").await?;
    browser.see("main h1", "Tasks").await?;
    browser.see("main", "No tasks yet").await?;
    browser.click_in("main .empty", "Find tasks").await?;
    browser.see(".page-head", "4 tasks").await?;
    browser.see("main .undo", "Added 4 tasks").await?;

    edit_a_check(browser).await?;
    browser.press_first(".curation tbody tr:nth-child(2) .check").await?;
    to_top(browser).await?;
    browser.click_in(".curation-bulk", "Mute").await?;
    browser.see(".page-head", "3 tasks").await?;
    to_top(browser).await?;
    browser.press_first("#tasks-undo").await?;
    browser.see(".page-head", "4 tasks").await?;
    to_top(browser).await?;
    browser.click_in(".curation-bulk", "Mute").await?;
    browser.see(".page-head", "1 muted").await?;
    to_top(browser).await?;
    browser.press_first("#tasks-review").await?;
    browser.see(".page-head .badge", "reviewed").await?;
    browser.reload().await?;
    browser.see(".page-head", "1 muted").await?;

    browser.click("Run a night with these tasks").await?;
    browser.see("[aria-labelledby=tasks-title]", "3 tasks").await?;
    let asked = browser.text("[aria-labelledby=tasks-title]").await?;
    ensure!(asked.contains("Write a poem"), "the edited task is one of them: {asked}");
    Ok(())
}

/// The bar above stays in its place; a person scrolls back to what is under it.
async fn to_top(browser: &Browser) -> anyhow::Result<()> {
    let _is_done: bool = browser.js("scrollTo(0, 0); return true", []).await?;
    Ok(())
}

async fn edit_a_check(browser: &Browser) -> anyhow::Result<()> {
    browser.press_first(".curation tbody tr:first-child .curation__intent").await?;
    browser.fill("#task-intent", "Write a poem").await?;
    choose(browser, "#task-judge", "rule").await?;
    browser.click("Add a check").await?;
    choose(browser, "select[aria-label='Operation of check 1']", "regex").await?;
    browser.fill("input[aria-label='Argument of check 1']", "(rose").await?;
    browser.see("#check-0-help", "cannot be used").await?;
    let is_off: bool =
        browser.js("return document.querySelector('#task-save').disabled", []).await?;
    ensure!(is_off, "a check that cannot work is not saved");
    browser.fill("input[aria-label='Argument of check 1']", "(rose|lily)").await?;
    soon("the task can be saved", async || {
        let is_off: bool =
            browser.js("return document.querySelector('#task-save').disabled", []).await?;
        Ok((!is_off).then_some(()))
    })
    .await?;
    browser.fill("#task-reply", "a tulip").await?;
    browser.press_first("#task-try").await?;
    browser.see(".curation-trial", "Does not pass").await?;
    browser.see(".curation-outcome", "failed").await?;
    browser.press_first("#task-save").await?;
    browser.see("main .undo", "Changed “Write a poem”").await?;
    browser.see(".curation tbody tr:first-child", "checks").await
}

/// Chooses in a list as a person does.
pub(super) async fn choose(browser: &Browser, css: &str, value: &str) -> anyhow::Result<()> {
    browser.find(css).await?;
    let script = "const list = document.querySelector(arguments[0]); list.value = arguments[1];
                  list.dispatchEvent(new Event('change', { bubbles: true })); return list.value";
    let chosen: String = browser.js(script, [json!(css), json!(value)]).await?;
    ensure!(chosen == value, "{css} has no {value:?}");
    Ok(())
}

/// The folder that the server was started in, with sessions of which each asks for something of its own.
pub(super) fn project_with_sessions(server: &Server, n: usize) -> anyhow::Result<String> {
    let home = server.adopt_root().canonicalize()?;
    let home = home.parent().context("a home")?;
    let project = home.join("work").display().to_string();
    let folder = home.join(".claude/projects/work");
    fs::create_dir_all(&folder)?;
    for number in 1..=n {
        let line = json!({
            "type": "user", "cwd": project, "sessionId": format!("s{number}"),
            "timestamp": "2026-01-02T03:04:00.000Z", "uuid": format!("u{number}"),
            "message": {"role": "user", "content": format!("Write the notes of module {number} for the team")},
        });
        fs::write(folder.join(format!("s{number}.jsonl")), format!("{line}\n"))?;
    }
    Ok(project)
}
