//! The protocol in-process: a client's lines in, our lines out, with a stand-in for our program.

mod calls;
mod lines;
mod protocol;

use super::commands::{CommandLine, Commands, Finished};
use super::{Policy, Shelf, SkillOptMcp, TimeLimits};
use async_trait::async_trait;
use rmcp::service::serve_server_with_ct;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf, split,
};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// A server that says nothing for so long has failed.
const PATIENCE: Duration = Duration::from_secs(120);

/// Answers every command alike, and keeps what it was asked.
#[derive(Debug, Default)]
struct Fake {
    asked: Mutex<Vec<CommandLine>>,
    answer: Finished,
    /// So long it works, unless it is cancelled.
    takes: Duration,
    cancelled: CancellationToken,
}

#[async_trait]
impl Commands for Fake {
    async fn run(&self, line: CommandLine, cancel: &CancellationToken) -> Finished {
        self.asked.lock().unwrap().push(line);
        tokio::select! {
            () = cancel.cancelled() => {
                self.cancelled.cancel();
                let stderr = "cancelled".to_owned();
                Finished { exit_code: None, stdout: String::new(), stderr }
            }
            () = tokio::time::sleep(self.takes) => self.answer.clone(),
        }
    }
}

impl Fake {
    fn saying(exit_code: i32, stdout: &str) -> Self {
        let (stdout, stderr) = (stdout.to_owned(), String::new());
        Self { answer: Finished { exit_code: Some(exit_code), stdout, stderr }, ..Self::default() }
    }

    fn arguments(&self) -> Vec<Vec<String>> {
        self.asked.lock().unwrap().iter().map(|line| line.arguments.clone()).collect()
    }
}

/// A client that speaks raw lines.
struct Client {
    lines: tokio::io::Lines<BufReader<ReadHalf<DuplexStream>>>,
    writer: WriteHalf<DuplexStream>,
    n_asked: u64,
    fake: Arc<Fake>,
    _server: JoinSet<()>,
}

fn policy() -> Policy {
    Policy::of_stdio(false, TimeLimits::default())
}

impl Client {
    /// A client that said hello.
    async fn of(fake: Fake) -> Self {
        Self::with(fake, policy(), Shelf::new(None, None), Path::new(".")).await
    }

    async fn with(fake: Fake, policy: Policy, shelf: Shelf, folder: &Path) -> Self {
        let mut client = Self::silent(fake, policy, shelf, folder);
        let hello = json!({
            "protocolVersion": "2024-11-05",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "0"},
        });
        let answer = client.ask("initialize", &hello).await;
        assert_eq!(answer["result"]["protocolVersion"], "2024-11-05", "{answer}");
        client.tell("notifications/initialized", &json!({})).await;
        client
    }

    /// A client that said nothing yet.
    fn silent(fake: Fake, policy: Policy, shelf: Shelf, folder: &Path) -> Self {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let fake = Arc::new(fake);
        let server = SkillOptMcp::new(fake.clone(), shelf, policy, PathBuf::from(folder));
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let served = serve_server_with_ct(server, theirs, CancellationToken::new()).await;
            if let Ok(running) = served {
                let _ = running.waiting().await;
            }
        });
        let (reader, writer) = split(ours);
        let lines = BufReader::new(reader).lines();
        Self { lines, writer, n_asked: 0, fake, _server: tasks }
    }

    async fn send(&mut self, line: &str) {
        self.writer.write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }

    async fn tell(&mut self, method: &str, params: &Value) {
        let message = json!({"jsonrpc": "2.0", "method": method, "params": params});
        self.send(&message.to_string()).await;
    }

    async fn next(&mut self) -> Value {
        let line = tokio::time::timeout(PATIENCE, self.lines.next_line()).await;
        let line = line.expect("an answer in time").unwrap().expect("a line");
        serde_json::from_str(&line).unwrap()
    }

    /// Sends a request; its number.
    async fn begin(&mut self, method: &str, params: &Value) -> u64 {
        self.n_asked += 1;
        let message =
            json!({"jsonrpc": "2.0", "id": self.n_asked, "method": method, "params": params});
        self.send(&message.to_string()).await;
        self.n_asked
    }

    async fn ask(&mut self, method: &str, params: &Value) -> Value {
        let id = self.begin(method, params).await;
        let answer = self.next().await;
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    async fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        self.ask("tools/call", &json!({"name": tool, "arguments": arguments})).await
    }
}
