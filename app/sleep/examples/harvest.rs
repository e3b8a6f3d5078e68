//! How fast a store of Claude Code is read, and in how much memory. By hand:
//! `cargo run --release -p skillopt-sleep --features testing --example harvest -- [MB] [sessions] [folder]`.
//! A folder that is given is read as it is, as a home of Claude Code; else a store is written and removed.
#![allow(clippy::print_stdout, reason = "a measuring tool prints its figures")]

use skillopt_sleep::harvest::testing::{NOW, big_claude_store};
use skillopt_sleep::harvest::{
    Harvest, HarvestOptions, HarvestState, Homes, Scope, Source, harvest,
};
use std::error::Error;
use std::path::PathBuf;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let megabytes: u64 = arguments.next().as_deref().unwrap_or("183").parse()?;
    let sessions: u32 = arguments.next().as_deref().unwrap_or("400").parse()?;
    let given = arguments.next().map(PathBuf::from);
    let folder = tempfile::tempdir()?;
    let home = match given {
        Some(given) => given,
        None => {
            big_claude_store(folder.path(), sessions, megabytes * 1_000_000)?;
            folder.path().to_owned()
        }
    };
    let mut options = HarvestOptions {
        sources: vec![Source::Claude],
        homes: Homes { claude: Some(home), ..Homes::default() },
        scope: Scope::All,
        lookback_hours: 0,
        ..HarvestOptions::new(NOW)
    };
    let idle = memory("VmRSS")?;
    // Once for the cache of the system, so that what is measured is ours.
    harvest(&options, &HarvestState::default());
    for threads in [1, 2] {
        options.limits.threads = threads;
        let (found, seconds) = timed(&options, &HarvestState::default());
        print(&format!("{threads} threads"), &found, seconds);
    }
    let (found, _) = timed(&options, &HarvestState::default());
    let (again, seconds) = timed(&options, &found.state);
    print("unchanged", &again, seconds);
    let peak = memory("VmHWM")?;
    println!("memory over idle at its peak: {} MB", (peak.saturating_sub(idle)) / 1024);
    Ok(())
}

fn timed(options: &HarvestOptions, state: &HarvestState) -> (Harvest, f64) {
    let start = Instant::now();
    let found = harvest(options, state);
    (found, start.elapsed().as_secs_f64())
}

fn print(what: &str, found: &Harvest, seconds: f64) {
    let report = &found.sources[0];
    let megabytes = u32::try_from(report.bytes / 1_000_000).unwrap_or(u32::MAX);
    println!(
        "{what:10} {:6} files, {:6} digests, {megabytes:5} MB in {seconds:7.3} s: {:7.1} MB/s",
        report.files,
        report.kept,
        f64::from(megabytes) / seconds
    );
}

/// A line of `/proc/self/status`, in kB.
fn memory(name: &str) -> Result<u64, Box<dyn Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find(|line| line.starts_with(name)).ok_or("no such line")?;
    Ok(line.split_whitespace().nth(1).ok_or("no number")?.parse()?)
}
