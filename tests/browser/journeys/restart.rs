//! The server dies under an open tab and comes back: the page notices, says so, and goes on where the run is.

use crate::harness::{Browser, SAMPLE_RUN, Server, Stage, eventually, soon};

pub(super) async fn run(stage: &mut Stage) -> anyhow::Result<()> {
    let Stage { browser, own, .. } = stage;
    let server = own.insert(Server::start().await?);
    let id = server.start_sample_run().await?;
    browser.open(&server.url(&format!("/runs/{id}"))).await?;
    browser.find(".live[data-state=live]").await?;
    eventually("a step is done", SAMPLE_RUN, async || {
        Ok((server.run(&id).await?.summary.n_steps > 0).then_some(()))
    })
    .await?;

    server.kill();
    browser.see(".live[data-state=stale]", "reconnecting").await?;
    server.start_again().await?;
    soon("the badge is live again", async || Ok(browser.find(".live[data-state=live]").await.ok()))
        .await?;
    eventually(
        "the page shows the run's state, and Resume leads to its end",
        SAMPLE_RUN,
        async || resume_or_done(browser).await,
    )
    .await?;
    server.wait_until_done(&id).await?;
    Ok(())
}

/// An interrupted run waits for a person; one that was taken up again by itself needs none.
async fn resume_or_done(browser: &Browser) -> anyhow::Result<Option<()>> {
    if browser.count(".page-head [data-status=interrupted]").await? > 0 {
        browser.click_in(".page-head", "Resume").await?;
        return Ok(None);
    }
    Ok((browser.count(".page-head [data-status=done]").await? > 0).then_some(()))
}
