//! A history of ten thousand steps opens like a short one: what is drawn and what is sent stays bounded, and nothing
//! that matters is left out.

use crate::harness::{Browser, Server, Stage, long_run, soon};
use anyhow::ensure;
use serde_json::json;
use skillopt_domain::api::Curves;

/// Elements of a page, answers of the API in bytes, and rows of any list or table.
const MAX_NODES: u64 = 3_500;
const MAX_BYTES: u64 = 600_000;
const MAX_ROWS: u64 = 210;
const TABS: [&str; 11] = [
    "",
    "/steps",
    "/steps?step=4321",
    "/skill",
    "/skill?view=blame",
    "/epochs",
    "/rejected",
    "/tasks",
    "/trajectories",
    "/config",
    "/events",
];

pub(super) async fn run(stage: &mut Stage) -> anyhow::Result<()> {
    let server = stage.own.insert(Server::start().await?);
    let id = long_run::write(&server.data_dir()).await?;
    let browser = &stage.browser;
    let mut faults = Vec::new();
    for tab in TABS {
        browser.open(&server.url(&format!("/runs/{id}{tab}"))).await?;
        let [nodes, bytes, rows] = weight(browser).await?;
        let limits =
            [(nodes, MAX_NODES, "elements"), (bytes, MAX_BYTES, "bytes"), (rows, MAX_ROWS, "rows")];
        for (found, limit, what) in limits {
            if found > limit {
                faults.push(format!("`{tab}` has {found} {what}, at most {limit} are allowed"));
            }
        }
    }
    ensure!(faults.is_empty(), "{}", faults.join("\n    "));

    let curves: Curves = server.get(&format!("runs/{id}/curves?max_points=1000")).await?;
    let spike = curves.steps.iter().find(|step| step.step == long_run::SPIKE);
    ensure!(
        spike.and_then(|step| step.candidate_score) == Some(long_run::SPIKE_SCORE),
        "the one step that stands out is not among {} of {}",
        curves.steps.len(),
        curves.n_steps
    );
    goes_through_the_steps(browser, server, id.as_str()).await
}

/// A link to a step in the middle opens its page, and the keys go on beyond it.
async fn goes_through_the_steps(
    browser: &Browser,
    server: &Server,
    id: &str,
) -> anyhow::Result<()> {
    browser.open(&server.url(&format!("/runs/{id}/steps?step=4301"))).await?;
    is_chosen(browser, 4301).await?;
    browser.press("j").await?;
    is_chosen(browser, 4300).await?;
    browser.press("k").await?;
    is_chosen(browser, 4301).await?;
    let first = server.url(&format!("/runs/{id}/steps?step=1"));
    browser.open(&first).await?;
    is_chosen(browser, 1).await
}

async fn is_chosen(browser: &Browser, step: u32) -> anyhow::Result<()> {
    soon(&format!("step {step} is chosen"), async || {
        let chosen = browser.text(".steps__item[aria-current=page]").await?;
        ensure!(chosen.trim_start().starts_with(&step.to_string()), "chosen is `{chosen}`");
        Ok(Some(()))
    })
    .await
}

/// Elements, the largest answer and the longest list of a page that is there.
async fn weight(browser: &Browser) -> anyhow::Result<[u64; 3]> {
    soon("the page is there", async || {
        let weight: Vec<u64> = browser.js(WEIGHT, [json!("/api/v1/")]).await?;
        Ok(<[u64; 3]>::try_from(weight).ok())
    })
    .await
}

/// An empty list until the page is there.
const WEIGHT: &str = r"
const has = (css) => document.querySelector(css) !== null;
if (!has('main h1') || has('main .skeleton, main [aria-busy=true]')) return [];
const answers = performance.getEntriesByType('resource').filter((e) => e.name.includes(arguments[0]));
const lists = [...document.querySelectorAll('main tbody, main nav, main ol, main ul, main select')];
return [
  document.querySelectorAll('body *').length,
  Math.max(0, ...answers.map((e) => e.decodedBodySize)),
  Math.max(0, ...lists.map((e) => e.childElementCount)),
];";
