//! Browser journeys: the built program and a real browser, from a person's first click to a file on disk.
//! One process runs them in order, so that they can share a finished run; name some to run only those.
#![allow(clippy::print_stdout, reason = "the report of the journeys is what this program is for")]

#[path = "../fakes/crowd.rs"]
#[allow(dead_code, reason = "shared with the integration tests, which use all of it")]
mod crowd;
#[path = "../fakes/fake_server.rs"]
#[allow(dead_code, reason = "shared with the integration tests, which use all of it")]
mod fake_server;
#[path = "../fakes/fake_wire.rs"]
#[allow(dead_code, reason = "shared with the integration tests, which use all of it")]
mod fake_wire;
mod harness;
mod journeys;
#[path = "../fakes/night_script.rs"]
#[allow(dead_code, reason = "shared with the integration tests, which use all of it")]
mod night_script;

use futures::FutureExt;
use harness::Stage;
use std::panic::AssertUnwindSafe;
use std::process::ExitCode;
use std::time::Instant;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let wanted: Vec<String> =
        std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let is_wanted =
        |name: &str| wanted.is_empty() || wanted.iter().any(|word| name.contains(word.as_str()));
    let start = Instant::now();
    let (mut passed, mut failed) = (0, 0);
    let mut shared = None;
    for (name, journey) in journeys::ALL {
        if !is_wanted(name) {
            continue;
        }
        let begin = Instant::now();
        let result = match Stage::set(shared.take()).await {
            Err(err) => Err(err),
            Ok(mut stage) => {
                let result = AssertUnwindSafe(journey(&mut stage)).catch_unwind().await;
                let result =
                    result.unwrap_or_else(|_| Err(anyhow::anyhow!("the journey panicked")));
                shared = stage.clear(name, result.as_ref().err()).await;
                result
            }
        };
        let seconds = begin.elapsed().as_secs_f64();
        match result {
            Ok(()) => {
                passed += 1;
                println!("test {name} ... ok ({seconds:.1} s)");
            }
            Err(err) => {
                failed += 1;
                println!("test {name} ... FAILED ({seconds:.1} s)\n    {err:#}");
            }
        }
    }
    let word = if failed == 0 { "ok" } else { "FAILED" };
    let seconds = start.elapsed().as_secs_f64();
    println!("test result: {word}. {passed} passed; {failed} failed; finished in {seconds:.1}s");
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
