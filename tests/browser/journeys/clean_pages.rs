//! Every page loads without a word in the console, within its content security policy, and fits a phone.

use crate::harness::{Browser, Server, Stage, soon};
use anyhow::ensure;

const PHONE_PX: u32 = 360;
const TABS: [&str; 9] = [
    "",
    "/steps",
    "/skill",
    "/skill?view=blame",
    "/rejected",
    "/tasks",
    "/trajectories",
    "/config",
    "/events",
];

pub(super) async fn run(stage: &mut Stage) -> anyhow::Result<()> {
    let fresh = Server::start().await?;
    let empty = ["/", "/runs", "/review", "/sleep", "/settings/models"]
        .map(|path| (fresh.url(path), format!("{path} before the first run")));
    let (browser, server, id) = stage.finished_run().await?;
    let tabs = TABS.map(|tab| format!("/runs/{id}{tab}"));
    let with_run = [format!("/compare?runs={id}"), format!("/launch?fork={id}")];
    let pages = [
        "/",
        "/runs",
        "/launch",
        "/compare",
        "/sleep",
        "/sleep/handoff",
        "/sleep/tasks",
        "/review",
        "/settings/models",
        "/no-such-page",
    ]
    .map(str::to_owned);
    let paths = pages.into_iter().chain(with_run).chain(tabs);
    let full = paths.map(|path| (server.url(&path), path.replace(id.as_str(), "ID")));
    let mut faults = Vec::new();
    for (url, name) in empty.into_iter().chain(full) {
        browser.reset_width().await?;
        browser.open(&url).await?;
        if let Err(err) = is_full(browser).await {
            faults.push(format!("{name}: {err:#}"));
        }
        browser.set_width(PHONE_PX).await?;
        if let Err(err) = fits(browser).await {
            faults.push(format!("{name} at {PHONE_PX} px: {err:#}"));
        }
        let errors = browser.console().await?.into_iter().filter(|(level, _)| level == "SEVERE");
        faults.extend(errors.map(|(_, text)| format!("{name} says {text}")));
    }
    ensure!(faults.is_empty(), "{} faults:\n    {}", faults.len(), faults.join("\n    "));
    Ok(())
}

/// Loaded, with a heading, and nothing that says it failed.
async fn is_full(browser: &Browser) -> anyhow::Result<()> {
    soon("the page is there", async || {
        let lacks: String = browser
            .js(
                "const has = (css) => document.querySelector(css) !== null;
                 if (!has('main h1')) return 'no heading';
                 if (has('main .skeleton, main [aria-busy=true]')) return 'still loading';
                 if (has('main .callout[data-status=error]')) return document.querySelector('main .callout').innerText;
                 return '';",
                [],
            )
            .await?;
        ensure!(lacks.is_empty(), "{lacks}");
        Ok(Some(()))
    })
    .await
}

async fn fits(browser: &Browser) -> anyhow::Result<()> {
    soon("the page is as wide as the window", async || {
        let too_wide: Vec<String> = browser.js(TOO_WIDE, []).await?;
        ensure!(too_wide.is_empty(), "too wide: {}", too_wide.join(", "));
        Ok(Some(()))
    })
    .await
}

/// The elements that make a page scroll sideways: nothing that scrolls by itself holds them back.
const TOO_WIDE: &str = r"
const root = document.documentElement;
if (root.scrollWidth <= root.clientWidth) return [];
const held = (e) => { for (let p = e.parentElement; p; p = p.parentElement)
  if (getComputedStyle(p).overflowX !== 'visible') return true; return false; };
return [`page ${root.scrollWidth}`, ...[...document.querySelectorAll('body *')]
  .filter((e) => e.checkVisibility() && e.getBoundingClientRect().right > root.clientWidth + 1 && !held(e))
  .slice(0, 5)
  .map((e) => `${e.tagName.toLowerCase()}.${e.getAttribute('class')} ${Math.round(e.getBoundingClientRect().right)}`)];";
