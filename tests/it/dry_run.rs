//! A dry run of the real program over generated stores of all agents, with what real stores have of torn, foreign and
//! secret things. What must come out is worked out from what the generator writes, in `expected`.

mod expected;
mod home;

use anyhow::{Context, ensure};
use home::Home;
use rusqlite::Connection;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};

#[test]
fn c01_to_c106_a_dry_run_over_all_sources_finds_exactly_what_is_there() -> anyhow::Result<()> {
    let home = Home::full()?;
    let before = home.snapshot()?;
    let night = home.dry_run(&[])?;
    assert_eq!(expected::told(&night["sources"])?, expected::sources());
    let digests = night["digests"].as_array().context("digests")?;
    let wanted = expected::digests(&home);
    for (found, wanted) in digests.iter().zip(&wanted) {
        assert_eq!(found, wanted);
    }
    assert_eq!(digests.len(), wanted.len());
    let tasks = night["tasks"].as_array().context("tasks")?;
    let wanted = expected::tasks(&wanted);
    for (found, wanted) in tasks.iter().zip(&wanted) {
        let split = &found["split"];
        ensure!(split == "train" || split == "val", "{found}");
        let mut found = found.clone();
        found["split"] = json!("");
        assert_eq!(&found, wanted);
    }
    assert_eq!(tasks.len(), wanted.len());
    let of_split = |split: &str| tasks.iter().filter(|task| task["split"] == split).count();
    ensure!(of_split("train") > 0 && of_split("val") > 0, "both splits have tasks: {tasks:?}");
    assert_eq!((&night["n_sessions"], &night["n_tasks"]), (&json!(18), &json!(17)));
    assert_eq!((&night["staging_dir"], &night["adopted"]), (&json!(""), &json!([])));

    assert_eq!(
        home.snapshot()?,
        before,
        "the stores are what they were, to the byte and the second"
    );
    ensure!(home.project().read_dir()?.next().is_none(), "nothing is written into the project");
    assert_eq!(home.dry_run(&[])?["digests"], night["digests"], "no state is kept");
    Ok(())
}

#[test]
fn c61_no_secret_of_a_store_is_in_anything_that_a_dry_run_says_or_keeps() -> anyhow::Result<()> {
    let home = Home::full()?;
    let night = home.dry_run(&[])?;
    let kept = home.all_that_is_kept()?;
    ensure!(kept.contains("task_ready"), "the evidence of the dry run is among it");
    for secret in ["sk-ant-api03", "hunter2", "ghp_aaaa"] {
        ensure!(!night.to_string().contains(secret), "{secret} is in the output");
        ensure!(!kept.contains(secret), "{secret} is in a file");
    }
    Ok(())
}

#[test]
fn c105_projects_are_what_records_say_and_never_the_name_of_a_folder() -> anyhow::Result<()> {
    let home = Home::full()?;
    let night = home.dry_run(&["--scope", "all"])?;
    let digests = night["digests"].as_array().context("digests")?;
    let found: BTreeSet<&str> =
        digests.iter().filter_map(|digest| digest["project"].as_str()).collect();
    let (project, near) = (home.project_text(), home.neighbours());
    let two = format!("{project}-two");
    let wanted: BTreeSet<&str> = near
        .iter()
        .map(String::as_str)
        .chain([project.as_str(), two.as_str(), "/w/other", "C:\\w\\p"])
        .collect();
    assert_eq!(found, wanted);
    // To the 18 of the project: 5 in folders of one name, `other`, what `moved` did in `…-two`, and a memory of Devin.
    assert_eq!(digests.len(), 18 + 5 + 1 + 1 + 1);
    Ok(())
}

#[test]
fn c10_a_home_without_agents_and_a_look_back_that_is_too_long_are_explained() -> anyhow::Result<()>
{
    let home = Home::empty()?;
    let night = home.dry_run(&[])?;
    assert_eq!((&night["n_sessions"], &night["n_tasks"]), (&json!(0), &json!(0)), "{night}");
    let note = night["notes"][0].as_str().context("a note")?;
    ensure!(note.starts_with("nothing to harvest because claude was never used here"), "{note}");
    for source in ["codex", "copilot", "copilot_cli", "cursor", "pi", "opencode", "devin"] {
        ensure!(note.contains(&format!("; {source} was never used here: there is no ")), "{note}");
    }
    home.add_recent_session()?;
    let night = home.dry_run_with(&["--lookback-hours", "1440"])?;
    assert_eq!(night["n_sessions"], 1, "{night}");
    let remark = night["sources"][0]["remarks"][0].as_str().context("a remark")?;
    ensure!(
        remark.starts_with(
            "transcripts are deleted after 30 days, look-back is 60: raise cleanupPeriodDays in "
        ),
        "{remark}"
    );
    Ok(())
}

#[test]
fn c106_a_database_that_is_being_written_to_is_left_alone_and_the_others_are_read()
-> anyhow::Result<()> {
    let home = Home::full()?;
    let writer = Connection::open(home.opencode())?;
    writer.execute_batch(
        "PRAGMA cache_spill = 1; BEGIN EXCLUSIVE; UPDATE session SET directory = '/elsewhere'",
    )?;
    let night = home.dry_run(&[])?;
    let told = expected::told(&night["sources"])?;
    assert_eq!(told[6]["source"], "opencode");
    assert_eq!((&told[6]["state"], &told[6]["kept"]), (&json!("locked"), &json!(0)));
    let words = night["sources"][6]["remarks"][0].as_str().context("a remark")?;
    assert_eq!(words, "opencode is writing to its database: the next harvest takes it");
    assert_eq!(night["n_sessions"], 17, "all but the one of the database");
    // The writer was never in anybody's way.
    writer.execute_batch("ROLLBACK")?;
    assert_eq!(home.dry_run(&[])?["n_sessions"], 18);
    Ok(())
}

#[test]
fn c106_a_session_that_grows_while_it_is_read_yields_what_was_there_first() -> anyhow::Result<()> {
    let home = Home::empty()?;
    let path = home.add_recent_session()?;
    let is_over = AtomicBool::new(false);
    let (night, n_written) = std::thread::scope(|scope| {
        let writing = scope.spawn(|| -> anyhow::Result<usize> {
            let mut file = std::fs::File::options().append(true).open(&path)?;
            let mut n_written = 0;
            while !is_over.load(Ordering::Acquire) && n_written < 50_000 {
                n_written += 1;
                let record = home.record(&format!("Take care of case {n_written}"));
                let (head, tail) = record.split_at(record.len() / 2);
                file.write_all(head.as_bytes())?;
                file.write_all(tail.as_bytes())?;
            }
            Ok(n_written)
        });
        let night = home.dry_run(&[]);
        is_over.store(true, Ordering::Release);
        (night, writing.join())
    });
    let (night, n_written) = (night?, n_written.ok().context("the writer panicked")??);
    let digest = &night["digests"][0];
    let n_read = digest["n_user_turns"].as_u64().context("a number")?;
    ensure!(n_read >= 1 && n_read <= u64::try_from(n_written)? + 1, "{n_read} of {n_written}");
    let prompts = digest["user_prompts"].as_array().context("prompts")?;
    for (at, prompt) in prompts.iter().enumerate().skip(1) {
        assert_eq!(prompt, &json!(format!("Take care of case {at}")));
    }
    let skipped = &night["sources"][0]["skipped"];
    ensure!(
        *skipped == json!({}) || *skipped == json!({"truncated": 1}),
        "only a last record can be half: {skipped}"
    );
    Ok(())
}

/// The one document that the program prints.
fn parse(out: &str) -> anyhow::Result<Value> {
    serde_json::from_str(out).with_context(|| format!("one JSON document: {out}"))
}
