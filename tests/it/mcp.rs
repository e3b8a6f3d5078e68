//! The Model Context Protocol as a host speaks it: it starts the program and talks to it over standard input and output.

use crate::binary::{command, root};
use anyhow::{Context, ensure};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// A server that says nothing for so long has failed.
const PATIENCE: Duration = Duration::from_secs(120);

/// A host with its server.
struct Host {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    n_asked: u64,
}

impl Host {
    fn start(data_dir: &Path) -> anyhow::Result<Self> {
        let mut child = command(data_dir)
            .arg("mcp")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().context("an output")?);
        let (told, lines) = channel();
        // Ends with the output of the server, which ends with the server.
        std::thread::spawn(move || {
            output.lines().map_while(Result::ok).all(|line| told.send(line).is_ok())
        });
        let mut host = Self { child, input, lines, n_asked: 0 };
        let client = json!({"name": "test", "version": "0"});
        let hello =
            json!({"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": client});
        let answer = host.ask("initialize", &hello)?;
        ensure!(answer["result"]["serverInfo"]["name"] == "skillopt", "{answer}");
        host.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
        Ok(host)
    }

    fn send(&mut self, message: &Value) -> anyhow::Result<()> {
        let input = self.input.as_mut().context("closed")?;
        writeln!(input, "{message}")?;
        Ok(input.flush()?)
    }

    /// The next line of the server must be the answer: nothing else may stand on its output.
    fn ask(&mut self, method: &str, params: &Value) -> anyhow::Result<Value> {
        self.n_asked += 1;
        let id = self.n_asked;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        let line = self.lines.recv_timeout(PATIENCE).context("no answer in time")?;
        let answer: Value = serde_json::from_str(&line).with_context(|| format!("{line:?}"))?;
        ensure!(answer["id"] == id, "{answer}");
        Ok(answer)
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> anyhow::Result<Value> {
        self.ask("tools/call", &json!({"name": tool, "arguments": arguments}))
    }

    /// Closes its input, as hosts do; its exit code.
    fn leave(mut self) -> anyhow::Result<Option<i32>> {
        drop(self.input.take());
        let begun = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait()? {
                return Ok(status.code());
            }
            ensure!(begun.elapsed() < PATIENCE, "the server did not leave in time");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        // It is over when the test went well.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_host_starts_the_program_uses_its_tools_and_leaves() -> anyhow::Result<()> {
    let dir = tempfile::tempdir()?;
    let mut host = Host::start(dir.path())?;
    ensure!(host.ask("ping", &json!({}))?["result"] == json!({}), "ping");
    let tools = host.ask("tools/list", &json!({}))?;
    ensure!(tools["result"]["tools"].as_array().is_some_and(|tools| tools.len() == 14), "{tools}");
    let resources = host.ask("resources/list", &json!({}))?;
    assert_eq!(resources["result"]["resources"][0]["uri"], "skillopt://nights");
    let bad = host.call("sleep_status", &json!({"project": 7}))?;
    assert_eq!(bad["error"]["code"], -32602, "{bad}");
    assert_eq!(host.leave()?, Some(0));
    Ok(())
}

#[test]
fn lines_on_standard_input_that_are_no_json_end_nothing_and_are_answered_by_nothing()
-> anyhow::Result<()> {
    let dir = tempfile::tempdir()?;
    let mut host = Host::start(dir.path())?;
    let input = host.input.as_mut().context("open")?;
    input.write_all(b"npm warn deprecated\n\xff\xfe\x00\n{\"jsonrpc\": \n\r\n")?;
    // The next line on its output is the answer to this, and to nothing before.
    ensure!(host.ask("ping", &json!({}))?["result"] == json!({}), "ping");
    assert_eq!(host.leave()?, Some(0));
    Ok(())
}

#[test]
fn tools_run_the_program_itself() -> anyhow::Result<()> {
    let dir = tempfile::tempdir()?;
    let mut host = Host::start(dir.path())?;
    let project = root().canonicalize()?;
    let configs = host.call("skillopt_list_configs", &json!({"project": project}))?;
    let configs = configs["result"]["structuredContent"]["output"]["configs"].clone();
    let sample = "configs/searchqa/sample.yaml";
    ensure!(configs.as_array().is_some_and(|list| list.contains(&sample.into())), "{configs}");
    let plan = host
        .call("skillopt_train", &json!({"project": project, "config": sample, "dry_run": true}))?;
    let result = &plan["result"]["structuredContent"];
    ensure!(result["status"] == "ok" && result["output"].is_object(), "{plan}");
    let none = host.call("skillopt_train", &json!({"config": "no/such.yaml"}))?;
    assert_eq!(none["result"]["isError"], true);
    let result = &none["result"]["structuredContent"];
    assert_eq!(result["exit_code"], 2, "{none}");
    let words = result["diagnostics"].as_str().unwrap_or_default();
    assert!(words.contains("no/such.yaml"), "{none}");
    assert_eq!(host.leave()?, Some(0));
    Ok(())
}

#[test]
fn an_agent_that_works_for_a_run_gets_no_tools() -> anyhow::Result<()> {
    let dir = tempfile::tempdir()?;
    let output = command(dir.path()).arg("mcp").env("SKILLOPT_CALL", "x").output()?;
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout.is_empty());
    assert!(String::from_utf8_lossy(&output.stderr).contains("no SkillOpt tools"));
    Ok(())
}
