//! A proposal that waits is found from the first page, one of its two edits is left out, and the other one is on the disk.

use crate::harness::{Browser, Server, Stage, soon};
use anyhow::{Context, ensure};
use skillopt_domain::ids::NightId;
use skillopt_domain::night::edit::{EditOp, EditRecord, Target};
use skillopt_domain::night::report::SleepReport;
use skillopt_domain::night::{NightProgress, NightTransition};
use skillopt_sleep::block::apply_edits;
use skillopt_sleep::stage::{
    Proposal, ProposedDoc, Role, TargetSpec, check_targets, publish, reserve,
};
use skillopt_store::{NewNight, NightEnd, NightScores, Store};
use std::fs;
use std::path::PathBuf;
use thirtyfour::Key;

const NIGHT: &str = "0190a0c2-7b1e-7c33-8f00-0000000000aa";
const AT_MS: u64 = 1_780_000_000_000;
const OLD: &str = "# Notes\n\nBe kind.\n";
const COUNT: &str = "nav.rail .rail__count[data-tone]";

pub(super) async fn run(stage: &mut Stage) -> anyhow::Result<()> {
    let Stage { browser, own, .. } = stage;
    let server = own.insert(Server::start().await?);
    let memory = stage_night(server).await?;
    browser.open(&server.url("/")).await?;
    browser.see(COUNT, "1").await?;
    browser.see("main", "Waiting for review").await?;

    browser.press("gv").await?;
    browser.see("main h1", "Review").await?;
    browser.see("main tbody", "2 edits").await?;
    browser.press("j").await?;
    browser.find("main tr[data-cursor]").await?;
    browser.press(Key::Enter).await?;
    browser.see("main .night-document", "Edit 2").await?;
    ensure!(browser.path().await? == format!("/sleep/nights/{NIGHT}"), "another page is open");

    browser.press("jj").await?;
    browser.see(".night-edits__item[data-cursor]", "Edit 2").await?;
    browser.press("r").await?;
    browser.see(".night-document", "This combination was not measured").await?;
    browser.see("#night-adopt", "Adopt 1 of 2 edits").await?;
    ensure!(!browser.text(".night-document .diff").await?.contains("Test first."), "it is shown");
    ensure!(fs::read_to_string(&memory)? == OLD, "a look wrote the file");

    browser.press(Key::Escape).await?;
    browser.press("a").await?;
    browser.press(Key::Enter).await?;
    browser.see(".receipt", "Edit 1; 1 edit left out").await?;
    let written = fs::read_to_string(&memory)?;
    ensure!(written == made(&[add("Be brief.")])?, "the file is {written:?}");
    nothing_waits(browser).await?;

    browser.click("Revert").await?;
    browser.click_in("dialog[open]", "Revert").await?;
    browser.see(".night-receipts", "Reverted").await?;
    ensure!(fs::read_to_string(&memory)? == OLD, "the file did not come back");
    Ok(())
}

async fn nothing_waits(browser: &Browser) -> anyhow::Result<()> {
    soon("the rail counts nothing", async || Ok((browser.count(COUNT).await? == 0).then_some(())))
        .await
}

fn add(content: &str) -> EditRecord {
    EditRecord {
        target: Target::Memory,
        op: EditOp::Add,
        content: content.to_owned(),
        anchor: String::new(),
        rationale: "It was asked for in three sessions.".to_owned(),
    }
}

fn made(edits: &[EditRecord]) -> anyhow::Result<String> {
    Ok(apply_edits(OLD, edits)?.text)
}

/// A night that the gate accepted: in a folder of its project, and in the store of the server.
async fn stage_night(server: &Server) -> anyhow::Result<PathBuf> {
    let project = server.adopt_root().canonicalize()?.join("work");
    fs::create_dir_all(&project)?;
    let memory = project.join("CLAUDE.md");
    fs::write(&memory, OLD)?;
    let edits = [add("Be brief."), add("Test first.")];
    let spec = TargetSpec { role: Role::Memory, path: memory.clone() };
    let pinned = check_targets(&[spec], &[])?.pop().context("one document is pinned")?;
    let report = SleepReport {
        night: 1,
        accepted: true,
        edits: edits.to_vec(),
        n_validated: 14,
        ..SleepReport::default()
    };
    let proposal = Proposal {
        report: &report,
        report_md: String::new(),
        diagnostics: serde_json::Value::Null,
        docs: vec![ProposedDoc { pinned, text: made(&edits)? }],
        skill_roots: Vec::new(),
        live_skill_path: project.join("SKILL.md"),
        live_memory_path: memory.clone(),
    };
    let published = publish(&reserve(&project, AT_MS)?, &proposal, &serde_json::Value::clone)?;
    let store = Store::open(&server.data_dir()).await?;
    let id = NightId::parse(NIGHT)?;
    let new = NewNight {
        id: id.clone(),
        project: project.display().to_string(),
        is_dry: false,
        is_simulated: true,
        models: "mock".to_owned(),
        actor: "local".to_owned(),
        at_ms: AT_MS,
        owner: "journey".to_owned(),
        ttl_ms: 60_000,
        settings_json: String::new(),
    };
    store.begin_night(&new).await?;
    let end = NightEnd {
        transition: NightTransition::Stage,
        detail: String::new(),
        owner: new.owner.clone(),
        night: Some(1),
        staging: Some(published.dir.display().to_string()),
        scores: NightScores { baseline: Some(0.571), candidate: Some(0.786), accepted: true },
        report_json: serde_json::to_string(&report).ok(),
        progress: NightProgress::start(),
        at_ms: AT_MS + 60_000,
    };
    ensure!(store.end_night(&id, &end).await?, "the night did not end");
    store.close().await;
    Ok(memory)
}
