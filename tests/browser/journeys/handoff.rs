//! No key and no model: what a night would ask is answered in the browser, and the night goes on.

use super::curation::{choose, project_with_sessions};
use crate::harness::{Server, Stage, soon};
use anyhow::ensure;

const N_SESSIONS: usize = 3;

pub(super) async fn run(stage: &mut Stage) -> anyhow::Result<()> {
    let server = stage.own.insert(Server::start().await?);
    let browser = &stage.browser;
    let project = project_with_sessions(server, N_SESSIONS)?;
    browser.open(&server.url("/sleep")).await?;
    browser.fill("#sleep-project", &project).await?;
    choose(browser, "#sleep-backend", "handoff").await?;
    browser.fill("#sleep-lookback_hours", "0").await?;
    browser.click("Run a night").await?;
    browser.see("main", "Its prompts wait for answers.").await?;
    let first = browser.path().await?;
    browser.press_first("#night-prompts").await?;

    browser.see("main h1", "Handoff inbox").await?;
    browser.see(".inbox-bar", "0 of 3 answered").await?;
    browser.see(".inbox-bar", "3 answers are missing.").await?;
    browser.see(".inbox-prompt", "Write the notes of module").await?;
    browser.fill("#handoff-answer", "no JSON").await?;
    browser.see("#handoff-answer-help", "This is not JSON").await?;
    for number in 1..=N_SESSIONS {
        let task = format!(
            r#"[{{"intent": "Write the notes of part {number}", "rubric": "short", "satisfied": true}}]"#
        );
        browser.fill("#handoff-answer", &task).await?;
        browser.see("#handoff-answer-help", "A JSON list.").await?;
        browser.click("Save, next prompt").await?;
        browser.see(".inbox-bar", &format!("{number} of 3 answered")).await?;
    }
    // The address holds the prompt, and the files hold the answers.
    browser.reload().await?;
    browser.see(".inbox-bar", "All are answered.").await?;
    browser.click("Go on with the night").await?;
    let second = soon("the next round is shown", async || {
        let path = browser.path().await?;
        Ok((path.starts_with("/sleep/nights/") && path != first).then_some(path))
    })
    .await?;
    browser.see("main", "Its prompts wait for answers.").await?;
    browser.press_first("#night-prompts").await?;
    browser.see("#prompt-title", "Do a task").await?;
    ensure!(second != first, "the night is another one");
    browser.open(&server.url("/sleep")).await?;
    browser.see("main table", "answer prompts").await
}
