//! The program under test, as a person would start it: own port, own data directory, own home.

use super::eventually;
use super::process::{Process, free_port};
use anyhow::{Context, ensure};
use serde_json::Value;
use skillopt_domain::api::{Launched, RunDetail};
use skillopt_domain::ids::RunId;
use skillopt_domain::run::RunStatus;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use tempfile::TempDir;

/// A sample run must be done within this time on a slow machine.
pub(crate) const SAMPLE_RUN: Duration = Duration::from_secs(90);

pub(crate) struct Server {
    port: u16,
    home: TempDir,
    client: reqwest::Client,
    process: Option<Process>,
    /// What its environment says beside home and path.
    variables: Vec<(&'static str, String)>,
}

impl Server {
    pub(crate) async fn start() -> anyhow::Result<Self> {
        Self::start_with(Vec::new()).await
    }

    /// With variables in its environment.
    pub(crate) async fn start_with(variables: Vec<(&'static str, String)>) -> anyhow::Result<Self> {
        let home = tempfile::tempdir()?;
        for folder in ["data", "adopt", "work"] {
            fs::create_dir(home.path().join(folder))?;
        }
        let client =
            reqwest::Client::builder().no_proxy().timeout(Duration::from_secs(10)).build()?;
        let mut server = Self { port: free_port()?, home, client, process: None, variables };
        server.start_again().await?;
        Ok(server)
    }

    /// Ends the process without a word, as a crash would.
    pub(crate) fn kill(&mut self) {
        self.process = None;
    }

    /// Starts on the same port with the same data.
    pub(crate) async fn start_again(&mut self) -> anyhow::Result<()> {
        let log = File::options().create(true).append(true).open(self.log_path())?;
        let home = self.home.path();
        let mut command = Command::new(binary()?);
        command
            .args(["serve", "--no-open", "--port", &self.port.to_string(), "--data-dir"])
            .arg(home.join("data"))
            .arg("--adopt-root")
            .arg(home.join("adopt"))
            .current_dir(home.join("work"))
            // No key and no address of the person who runs the tests reaches the server.
            .env_clear()
            .envs([("HOME", home), ("PATH", Path::new("/usr/bin:/bin"))])
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .stdout(log.try_clone()?)
            .stderr(log);
        let mut process = Process::start(&mut command)?;
        eventually("the server answers", Duration::from_secs(20), async || {
            if let Some(status) = process.ended() {
                anyhow::bail!("the server ended with {status}");
            }
            self.get::<Value>("about").await.map(Some)
        })
        .await?;
        self.process = Some(process);
        Ok(())
    }

    /// The address of a page.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// The home folder of the person whose server it is.
    pub(crate) fn home(&self) -> &Path {
        self.home.path()
    }

    /// A folder under which skills may be adopted.
    pub(crate) fn adopt_root(&self) -> PathBuf {
        self.home.path().join("adopt")
    }

    /// The data directory; several processes may use it.
    pub(crate) fn data_dir(&self) -> PathBuf {
        self.home.path().join("data")
    }

    pub(crate) fn log_path(&self) -> PathBuf {
        self.home.path().join("server.log")
    }

    /// An answer of the API.
    pub(crate) async fn get<T: serde::de::DeserializeOwned>(
        &self,
        path: &str,
    ) -> anyhow::Result<T> {
        Ok(serde_json::from_slice(&self.get_bytes(path).await?)?)
    }

    pub(crate) async fn get_bytes(&self, path: &str) -> anyhow::Result<Vec<u8>> {
        let answer = self.client.get(self.url(&format!("/api/v1/{path}"))).send().await?;
        let (status, body) = (answer.status(), answer.bytes().await?);
        ensure!(status.is_success(), "GET {path}: {status} {}", String::from_utf8_lossy(&body));
        Ok(body.to_vec())
    }

    pub(crate) async fn start_sample_run(&self) -> anyhow::Result<RunId> {
        let answer = self.client.post(self.url("/api/v1/runs/sample")).send().await?;
        let body = answer.error_for_status()?.bytes().await?;
        Ok(serde_json::from_slice::<Launched>(&body)?.id)
    }

    pub(crate) async fn run(&self, id: &RunId) -> anyhow::Result<RunDetail> {
        self.get(&format!("runs/{id}")).await
    }

    pub(crate) async fn wait_until_done(&self, id: &RunId) -> anyhow::Result<RunDetail> {
        eventually("the run is done", SAMPLE_RUN, async || {
            let run = self.run(id).await?;
            Ok((run.summary.status == RunStatus::Done).then_some(run))
        })
        .await
    }
}

/// `SKILLOPT_BIN`, else the program that was built beside these tests.
fn binary() -> anyhow::Result<PathBuf> {
    let path = match std::env::var_os("SKILLOPT_BIN") {
        Some(path) => PathBuf::from(path),
        None => {
            let own = std::env::current_exe()?;
            own.ancestors().nth(2).context("no folder of programs")?.join("skillopt")
        }
    };
    ensure!(
        path.is_file(),
        "{} is missing: build it (cargo build --package skillopt-server) or name it in SKILLOPT_BIN",
        path.display()
    );
    Ok(path.canonicalize()?)
}
