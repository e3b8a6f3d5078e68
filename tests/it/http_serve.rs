//! The server on a real socket: from launch to adoption, over a restart, and what it says when it cannot start.

use crate::binary::{Said, command};
use anyhow::{Context, bail, ensure};
use serde_json::{Value, json};
use skillopt_server::config::Environment;
use skillopt_server::host::Hosting;
use skillopt_server::http::{ServeError, ServeOptions, serve};
use std::path::Path;
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

const PATIENCE: Duration = Duration::from_secs(120);

struct Server {
    api: String,
    port: u16,
    client: reqwest::Client,
    stop: CancellationToken,
    task: JoinHandle<Result<(), ServeError>>,
}

fn options(data_dir: &Path, port: u16) -> ServeOptions {
    ServeOptions {
        host: "127.0.0.1".to_owned(),
        port,
        allowed_hosts: Vec::new(),
        adopt_roots: Vec::new(),
        home: None,
        assets: None,
        max_parallel_runs: 4,
        data_dir: data_dir.to_owned(),
    }
}

/// Serves until the stop, or says why it cannot.
async fn serve_until(options: ServeOptions, stop: CancellationToken) -> Result<(), ServeError> {
    let hosting = Hosting::open(&options.data_dir, Environment::default()).await;
    let hosting = hosting.map_err(|err| std::io::Error::other(err.to_string()))?;
    serve(options, hosting, stop, |_| {}).await
}

impl Server {
    async fn start(data_dir: &Path) -> anyhow::Result<Self> {
        let stop = CancellationToken::new();
        let hosting = Hosting::open(data_dir, Environment::default()).await?;
        let (ready, url) = oneshot::channel();
        let serving = serve(options(data_dir, 0), hosting, stop.clone(), move |url| {
            let _ = ready.send(url.to_owned());
        });
        let task = tokio::spawn(serving);
        let url = url.await.context("the server did not start")?;
        let port = url.rsplit(':').next().context("a port")?.parse()?;
        let client = reqwest::Client::builder().no_proxy().build()?;
        Ok(Self { api: format!("{url}/api/v1"), port, client, stop, task })
    }

    async fn get(&self, path: &str) -> anyhow::Result<Value> {
        Ok(self
            .client
            .get(format!("{}{path}", self.api))
            .send()
            .await?
            .error_for_status()?
            .json()
            .await?)
    }

    async fn post(&self, path: &str, body: &Value) -> anyhow::Result<Value> {
        let answer = self.client.post(format!("{}{path}", self.api)).json(body).send().await?;
        let status = answer.status();
        let body: Value = answer.json().await?;
        ensure!(status.is_success(), "{path}: {body}");
        Ok(body)
    }

    /// Launches the sample with the given latency of its simulated models.
    async fn launch(&self, latency_ms: u32) -> anyhow::Result<String> {
        let presets = self.get("/config/presets").await?;
        let mut values = presets[0]["values"].clone();
        values["model.mock_latency_ms"] = json!(latency_ms.to_string());
        let launched = self.post("/runs", &json!({"name": "sample", "values": values})).await?;
        Ok(launched["id"].as_str().context("an id")?.to_owned())
    }

    /// Follows the stream of a run after an event until one of them contains `text`; gives the ids seen.
    async fn follow(&self, run: &str, last_id: u64, text: &str) -> anyhow::Result<Vec<u64>> {
        let url = format!("{}/runs/{run}/stream", self.api);
        let request = self.client.get(url).header("last-event-id", last_id.to_string());
        let mut answer = request.send().await?.error_for_status()?;
        let mut read = String::new();
        let reading = async {
            while let Some(chunk) = answer.chunk().await? {
                read.push_str(std::str::from_utf8(&chunk)?);
                if read.contains(text) {
                    return Ok(());
                }
            }
            bail!("the stream ended before {text}")
        };
        tokio::time::timeout(PATIENCE, reading).await??;
        Ok(read.lines().filter_map(|line| line.strip_prefix("id: ")?.parse().ok()).collect())
    }

    async fn stop(self) -> anyhow::Result<()> {
        self.stop.cancel();
        Ok(self.task.await??)
    }
}

const DONE: &str = "\"status\":\"done\"";

#[tokio::test]
async fn a_run_is_launched_watched_adopted_and_reverted() -> anyhow::Result<()> {
    let dir = tempfile::tempdir()?;
    let server = Server::start(dir.path()).await?;
    let run = server.launch(0).await?;
    let ids = server.follow(&run, 0, DONE).await?;
    assert!(ids.iter().copied().eq(1..=ids.len() as u64), "every event once, in order: {ids:?}");

    let detail = server.get(&format!("/runs/{run}")).await?;
    let view = &detail["view"];
    let accepted = view["n_accepted"].as_u64();
    assert!(accepted >= Some(2) && view["n_rejected"].as_u64() >= Some(2), "{view}");
    let test = |which: &str| detail["summary"][which]["hard"].as_f64();
    assert!(test("test_best") > test("test_initial"), "{}", detail["summary"]);
    let rejected = server.get(&format!("/runs/{run}/rejected")).await?;
    let reasons: Vec<&Value> =
        rejected["items"].as_array().context("rows")?.iter().map(|row| &row["reason"]).collect();
    assert!(
        !reasons.is_empty() && reasons.iter().all(|reason| reason.as_str() != Some("")),
        "{reasons:?}"
    );

    let live = dir.path().join("SKILL.md");
    std::fs::write(&live, "mine\n")?;
    let best = &view["best"]["skill"];
    let mut request = json!({"run": run, "skill": best, "path": live});
    let preview = server.post("/adoptions/preview", &request).await?;
    assert_eq!(preview["blockers"], json!([]));
    request["expected_live"] = preview["live"].clone();
    request["idempotency_key"] = json!("click");
    let receipt = server.post("/adoptions", &request).await?;
    let skill =
        server.get(&format!("/runs/{run}/skills/{}", best.as_str().context("a hash")?)).await?;
    assert_eq!(Some(std::fs::read_to_string(&live)?.as_str()), skill["text"].as_str());
    let id = receipt["id"].as_str().context("an id")?;
    server.post(&format!("/adoptions/{id}/revert"), &json!({})).await?;
    assert_eq!(std::fs::read_to_string(&live)?, "mine\n");
    server.stop().await
}

#[tokio::test]
async fn a_run_survives_a_restart_of_the_server_and_is_resumed() -> anyhow::Result<()> {
    let dir = tempfile::tempdir()?;
    let first = Server::start(dir.path()).await?;
    let run = first.launch(20).await?;
    let ids = first.follow(&run, 0, "\"type\":\"step_finished\"").await?;
    first.stop().await?;

    let second = Server::start(dir.path()).await?;
    let summary = second.get(&format!("/runs/{run}")).await?;
    assert_eq!(summary["summary"]["status"], "interrupted");
    let resumed = second.post(&format!("/runs/{run}/resume"), &json!({})).await?;
    assert_eq!(resumed["status"], "running");
    let last = ids.last().copied().unwrap_or(0);
    let more = second.follow(&run, last, DONE).await?;
    assert_eq!(more.first(), Some(&(last + 1)), "an open tab goes on where it was");
    second.stop().await
}

#[tokio::test]
async fn a_run_is_paused_resumed_and_cancelled_and_says_so() -> anyhow::Result<()> {
    let dir = tempfile::tempdir()?;
    let server = Server::start(dir.path()).await?;
    let run = server.launch(20).await?;
    let base = format!("/runs/{run}");
    server.follow(&run, 0, "\"type\":\"baseline\"").await?;
    server.post(&format!("{base}/pause"), &json!({})).await?;
    let ids = server.follow(&run, 0, "\"status\":\"paused\"").await?;
    let resumed = server.post(&format!("{base}/resume"), &json!({})).await?;
    assert_eq!(resumed["status"], "running");
    let last = ids.last().copied().unwrap_or(0);
    server.follow(&run, last, "\"status\":\"running\"").await?;
    server.post(&format!("{base}/cancel"), &json!({})).await?;
    server.follow(&run, last, "\"status\":\"cancelled\"").await?;
    server.stop().await
}

#[tokio::test]
async fn c114_a_second_server_is_told_where_the_first_one_is() -> anyhow::Result<()> {
    let (dir, other) = (tempfile::tempdir()?, tempfile::tempdir()?);
    let server = Server::start(dir.path()).await?;
    let stop = CancellationToken::new();
    let same_data = serve_until(options(dir.path(), 0), stop.clone()).await;
    let Err(err @ ServeError::AlreadyServing { .. }) = same_data else {
        bail!("two servers on one data directory")
    };
    assert!(err.to_string().contains(&format!("127.0.0.1:{}", server.port)), "{err}");
    let same_port = serve_until(options(other.path(), server.port), stop).await;
    let Err(err @ ServeError::PortIsSkillopt { .. }) = same_port else {
        bail!("not recognised as ours: {same_port:?}")
    };
    assert!(err.to_string().contains(&dir.path().display().to_string()), "{err}");
    server.stop().await
}

#[tokio::test]
async fn c73_without_users_only_this_machine_is_served() -> anyhow::Result<()> {
    let dir = tempfile::tempdir()?;
    for host in ["0.0.0.0", "::", "192.0.2.1"] {
        let options = ServeOptions { host: host.to_owned(), ..options(dir.path(), 0) };
        let refused = serve_until(options, CancellationToken::new()).await;
        assert!(matches!(refused, Err(ServeError::NotLoopback(_))), "{host}: {refused:?}");
    }
    Ok(())
}

#[test]
fn a_folder_for_adoptions_that_is_none_is_refused_before_anything_is_opened() -> anyhow::Result<()>
{
    let dir = tempfile::tempdir()?;
    // No server can start on this data directory, so that the test ends in any case.
    let file = dir.path().join("file");
    std::fs::write(&file, "")?;
    let arguments = ["serve", "--no-open", "--port", "0", "--adopt-root", "/no/such/folder"];
    let said = Said::from(command(&file).args(arguments).output()?);
    ensure!(said.code == 2, "{said:?}");
    ensure!(said.err.contains("/no/such/folder"), "{said:?}");
    Ok(())
}
