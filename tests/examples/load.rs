//! Two training runs with 16 workers each, against a server that takes three calls at once and refuses all above with
//! 429. By hand: `cargo run --release -p skillopt-tests --example load`. Each line is compared with the same two runs
//! when three calls at once are all that is asked for.
//!
//! What the third case can reach has a bound. A refused call costs its stage at least the wait that the server names, and
//! a stage ends with its last call: a stage of 28 calls takes half a second of three places, and a second more when one of
//! them is refused, which happens in three stages of four. Only the other run can use the places meanwhile. Two such runs
//! come to 0.64 of three places by this count, whatever the order of calls; with 56 calls a stage it is 0.84, and 0.88
//! since a refused call goes first when its wait is over. More would take a call before the wait that it was told.
#![allow(clippy::print_stdout, reason = "a measuring tool prints its figures")]

#[path = "../fakes/crowd.rs"]
mod crowd;
#[expect(dead_code, reason = "tests look closer at a server than this")]
#[path = "../fakes/fake_server.rs"]
mod fake_server;
#[path = "../fakes/fake_wire.rs"]
mod fake_wire;
#[path = "../it/two_runs.rs"]
mod two_runs;

use crowd::{Rules, Tally};
use fake_server::FakeServer;
use std::time::{Duration, Instant};
use two_runs::{errors, train_two};

const ROOM: u32 = 3;
const LATENCY: Duration = Duration::from_millis(50);
const CASES: [(&str, Option<u64>, usize); 4] = [
    ("429 above 3, Retry-After 1 s", Some(1), 0),
    ("429 above 3, no Retry-After", None, 0),
    ("and 5 % by chance, Retry-After 1 s", Some(1), 5),
    ("and 5 % by chance, no Retry-After", None, 5),
];

struct Figures {
    wall: Duration,
    tally: Tally,
    n_errors: u32,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    println!(
        "{:36} {:>8} {:>9} {:>8} {:>5} {:>11} {:>16}",
        "two runs, 16 workers each",
        "wall",
        "answered",
        "refused",
        "lost",
        "of 3 in use",
        "throughput"
    );
    let unlimited = Rules { room: usize::MAX, retry_after_s: None, percent_refused: 0 };
    let three = format!("model.max_concurrency={ROOM}");
    let best = measure(unlimited, &[&three]).await?;
    report("never more than 3 asked at once", &best, &best);
    for (name, retry_after_s, percent_refused) in CASES {
        let room = usize::try_from(ROOM)?;
        let figures = measure(Rules { room, retry_after_s, percent_refused }, &[]).await?;
        report(name, &figures, &best);
    }
    Ok(())
}

async fn measure(rules: Rules, more: &[&str]) -> anyhow::Result<Figures> {
    let server = FakeServer::crowded(LATENCY, rules);
    let dir = tempfile::tempdir()?;
    let start = Instant::now();
    let views = train_two(dir.path(), &server.url, more).await?;
    let wall = start.elapsed();
    let n_errors = views.iter().map(|view| errors(view).0).sum();
    Ok(Figures { wall, tally: server.tally(), n_errors })
}

fn report(name: &str, figures: &Figures, best: &Figures) {
    let Figures { wall, tally, n_errors } = figures;
    let in_use = tally.busy.as_secs_f64() / (f64::from(ROOM) * wall.as_secs_f64());
    let throughput = best.wall.as_secs_f64() / wall.as_secs_f64();
    println!(
        "{name:36} {:>7.1}s {:>9} {:>8} {n_errors:>5} {:>10.0}% {:>13.2} of 1",
        wall.as_secs_f64(),
        tally.answered,
        tally.refused,
        in_use * 100.0,
        throughput
    );
}
