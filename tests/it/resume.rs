//! The process is killed, as by a power cut, at every phase of a step; the same command goes on to the same
//! bytes, and the server answers no request twice.

use crate::binary::{Said, command, history};
use crate::fake_server::{FakeServer, Seen};
use crate::training::{over_http, train_over_http};
use rstest::rstest;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// One worker, so that at most one answer is on its way when the process dies.
const ONE_AT_A_TIME: [&str; 2] = ["env.workers=1", "gradient.analyst_workers=1"];

#[derive(Default)]
struct Killer {
    child: Mutex<Option<Child>>,
    answered: Mutex<Vec<Seen>>,
}

impl Killer {
    /// Kills the process once; true when it did so now.
    fn strike(&self) -> bool {
        let mut child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(mut child) = child.take() else { return false };
        child.kill().expect("the process is ours");
        child.wait().expect("the process ends");
        true
    }
}

/// A server that kills the process before it answers the first request for which `when` is true.
fn killing_server(killer: &Arc<Killer>, when: fn(&Seen) -> bool) -> FakeServer {
    let killer = Arc::clone(killer);
    FakeServer::with(
        Duration::ZERO,
        Arc::new(move |seen, _| {
            if when(seen) && killer.strike() {
                // Nobody is there to read this; the request was never answered.
                return Some((
                    axum::http::StatusCode::SERVICE_UNAVAILABLE,
                    serde_json::Value::Null,
                ));
            }
            killer.answered.lock().unwrap_or_else(PoisonError::into_inner).push(seen.clone());
            None
        }),
    )
}

fn start(data_dir: &Path, url: &str, out: &Path, killer: &Killer) -> anyhow::Result<()> {
    let out = out.to_string_lossy();
    let mut slot = killer.child.lock().unwrap_or_else(PoisonError::into_inner);
    let child = command(data_dir)
        .arg("train")
        .args(over_http(url, &out))
        .args(ONE_AT_A_TIME)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    *slot = Some(child);
    Ok(())
}

#[rstest]
#[case::baseline(|seen: &Seen| seen.phase.contains("selection_eval_baseline"))]
#[case::rollout(|seen: &Seen| seen.phase.contains("step_0001/rollout"))]
#[case::reflect(|seen: &Seen| seen.purpose.starts_with("analyst") && seen.phase == "step_0001")]
#[case::aggregate(|seen: &Seen| seen.purpose.starts_with("merge"))]
#[case::select(|seen: &Seen| seen.purpose == "ranking")]
#[case::evaluate(|seen: &Seen| seen.phase.contains("step_0001/selection_eval"))]
#[case::next_step(|seen: &Seen| seen.phase.contains("step_0002/rollout"))]
#[case::final_test(|seen: &Seen| seen.phase == "test_eval")]
fn c48_killed_at_any_phase_the_same_command_ends_in_the_same_bytes(
    #[case] when: fn(&Seen) -> bool,
) -> anyhow::Result<()> {
    let dir = tempfile::tempdir()?;
    let whole_server = FakeServer::start();
    let whole_out = dir.path().join("whole");
    let said = train_over_http(
        &dir.path().join("whole-data"),
        &whole_server.url,
        &whole_out,
        &ONE_AT_A_TIME,
    )?;
    assert_eq!(said.code, 0, "{}", said.err);

    let killer = Arc::new(Killer::default());
    let server = killing_server(&killer, when);
    let (data, out) = (dir.path().join("data"), dir.path().join("out"));
    start(&data, &server.url, &out, &killer)?;
    let died = wait_for_death(&killer);
    let resumed = train_over_http(&data, &server.url, &out, &ONE_AT_A_TIME)?;
    assert_eq!(resumed.code, 0, "{}", resumed.err);

    assert_eq!(history(&out)?, history(&whole_out)?);
    assert_eq!(
        std::fs::read(out.join("best_skill.md"))?,
        std::fs::read(whole_out.join("best_skill.md"))?
    );
    let answered = killer.answered.lock().unwrap_or_else(PoisonError::into_inner).len();
    assert_eq!(answered, whole_server.seen().len(), "a request was paid twice (killed: {died})");
    let calls = &resumed.json()?["calls"];
    let counted = calls["target"].as_u64().zip(calls["optimizer"].as_u64());
    let counted = counted.map(|(target, optimizer)| target + optimizer);
    assert_eq!(counted, u64::try_from(answered).ok(), "what the killed process paid for counts");
    Ok(())
}

#[rstest]
#[case::resumed("resume", "done")]
#[case::cancelled("cancel", "cancelled")]
fn a_killed_run_is_taken_up_or_cancelled_by_its_id_without_waiting_for_its_lease(
    #[case] verb: &str,
    #[case] expect: &str,
) -> anyhow::Result<()> {
    let dir = tempfile::tempdir()?;
    let killer = Arc::new(Killer::default());
    let server = killing_server(&killer, |seen| seen.phase.contains("step_0001/rollout"));
    let (data, out) = (dir.path().join("data"), dir.path().join("out"));
    start(&data, &server.url, &out, &killer)?;
    assert!(wait_for_death(&killer), "it ended before it was killed");
    let runs = |arguments: &[&str]| -> anyhow::Result<Said> {
        Ok(command(&data).arg("runs").args(arguments).output()?.into())
    };
    let listed = runs(&["list", "--json"])?.json()?;
    let id = listed["items"][0]["id"].as_str().unwrap_or_default();
    let said = runs(&[verb, id, "--json"])?;
    assert_eq!(said.code, 0, "{}", said.err);
    assert_eq!(said.json()?["status"], expect);
    Ok(())
}

/// Waits until the process is gone; false when it ended before the strike.
fn wait_for_death(killer: &Killer) -> bool {
    for _ in 0..6000 {
        let mut slot = killer.child.lock().unwrap_or_else(PoisonError::into_inner);
        match slot.as_mut().map(Child::try_wait) {
            None => return true,
            Some(Ok(Some(_)) | Err(_)) => return false,
            Some(Ok(None)) => {}
        }
        drop(slot);
        std::thread::park_timeout(Duration::from_millis(10));
    }
    panic!("the process did not end within a minute");
}
