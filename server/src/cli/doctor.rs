//! `skillopt doctor`: what works, what does not, and what to do about it.

mod models;

use super::Exit;
use super::args::DoctorArgs;
use super::output::Output;
use super::refusal::refuse;
use crate::causes::causes;
use crate::config::{BadConfig, Environment, flag};
use crate::host::Hosting;
use models::{ModelReport, endpoint_lines, test_models};
use serde::Serialize;
use skillopt_domain::api::{About, Check, CheckState, EndpointState};
use skillopt_domain::config::{Resolved, Setting};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Free space below which a warning is given.
const LITTLE_SPACE: u64 = 1 << 30;
const ANSWER_TIME: Duration = Duration::from_secs(2);

/// Everything that was found.
#[derive(Debug, Default, Serialize)]
struct Report {
    checks: Vec<Check>,
    /// One a role, where models were named.
    models: Vec<ModelReport>,
    /// How each endpoint that was called stands afterwards.
    endpoints: Vec<EndpointState>,
}

pub(super) async fn run(
    args: DoctorArgs,
    data_dir: &Path,
    output: &Output,
) -> anyhow::Result<Exit> {
    let env = Environment::of_process(data_dir);
    let resolved = match args.config.load(&env, &of_both_roles(&args)) {
        _ if !names_models(&args) => None,
        Ok(resolved) => Some(resolved),
        Err(problems) => {
            return Ok(refuse(output, super::follow::Report::of(args.json), &problems));
        }
    };
    let mut report = Report::default();
    report.checks.push(check(CheckState::Ok, "Program", env!("CARGO_PKG_VERSION"), ""));
    match Hosting::open(data_dir, env).await {
        Ok(hosting) => {
            report.checks.extend(check_store(&hosting).await);
            report.checks.push(check_port(args.port).await);
            match &resolved {
                Some(resolved) => {
                    look_at_models(&hosting, resolved, &args, &mut report, output).await;
                }
                None => report.checks.push(check(
                    CheckState::Ok,
                    "Models",
                    "not checked",
                    "add --config FILE, or --backend NAME, for one test call a role",
                )),
            }
            hosting.store().close().await;
        }
        Err(err) => {
            let place = data_dir.display().to_string();
            let detail = format!("{}; --data-dir names another one", causes(&err));
            report.checks.push(check(CheckState::Failed, "Data directory", &place, &detail));
            report.checks.push(check_port(args.port).await);
        }
    }
    let failed = report.checks.iter().any(|check| check.state == CheckState::Failed)
        || report.models.iter().any(ModelReport::has_failed);
    if args.json {
        output.line(&serde_json::to_string(&report)?);
    } else {
        report.checks.iter().for_each(|check| output.line(&line(check)));
        report.models.iter().flat_map(ModelReport::lines).for_each(|text| output.line(&text));
        report.endpoints.iter().flat_map(endpoint_lines).for_each(|text| output.line(&text));
    }
    Ok(if failed { Exit::Failed } else { Exit::Done })
}

fn names_models(args: &DoctorArgs) -> bool {
    !args.config.is_empty() || args.model.is_some() || args.base_url.is_some()
}

fn of_both_roles(args: &DoctorArgs) -> Vec<Setting> {
    let model = args.model.iter().flat_map(|model| {
        ["model.target", "model.optimizer"].map(|path| flag(path, "--model", model))
    });
    let address =
        args.base_url.iter().map(|url| flag("model.openai_compatible_base_url", "--base-url", url));
    model.chain(address).collect()
}

/// The checks of a config that names data too, and a test call a role.
async fn look_at_models(
    hosting: &Hosting,
    resolved: &Resolved,
    args: &DoctorArgs,
    report: &mut Report,
    output: &Output,
) {
    let bad = |BadConfig(problems): BadConfig| {
        problems
            .into_iter()
            .map(|one| check(CheckState::Failed, "Config", &one.path, &one.message))
            .collect::<Vec<_>>()
    };
    if args.config.file.is_some() {
        let found = hosting.check(resolved).await;
        report.checks.extend(found.checks);
        report.checks.extend(bad(BadConfig(found.problems)));
    }
    match hosting.models_config(resolved) {
        Ok(config) => {
            report.models = test_models(hosting, &config, args.probe, output).await;
            report.endpoints = hosting.endpoints();
        }
        // With a file, the checks have told it already.
        Err(_) if args.config.file.is_some() => {}
        Err(problems) => report.checks.extend(bad(problems)),
    }
}

fn line(check: &Check) -> String {
    let mark = match check.state {
        CheckState::Ok => "ok  ",
        CheckState::Warning => "look",
        CheckState::Failed => "FAIL",
    };
    let detail =
        if check.detail.is_empty() { String::new() } else { format!("\n      {}", check.detail) };
    format!("{mark}  {:22} {}{detail}", check.label, check.figure)
}

fn check(state: CheckState, label: &str, figure: &str, detail: &str) -> Check {
    Check { label: label.to_owned(), state, figure: figure.to_owned(), detail: detail.to_owned() }
}

async fn check_store(hosting: &Hosting) -> Vec<Check> {
    let dir = hosting.data_dir().to_owned();
    let place = dir.display().to_string();
    let mut checks = vec![match hosting.store().counts().await {
        Ok(counts) => {
            let figure = format!("{} runs, {} recorded calls", counts.runs, counts.calls);
            check(CheckState::Ok, "Store", &figure, "")
        }
        Err(err) => check(CheckState::Failed, "Store", "", &causes(&err)),
    }];
    let looked =
        tokio::task::spawn_blocking(move || vec![check_writable(&dir, &place), check_space(&dir)]);
    checks.extend(looked.await.unwrap_or_default());
    checks
}

fn check_writable(dir: &Path, place: &str) -> Check {
    let label = "Data directory";
    if let Err(err) = tempfile::NamedTempFile::new_in(dir) {
        return check(CheckState::Failed, label, place, &format!("cannot write there: {err}"));
    }
    match others_can_read(dir) {
        true => {
            let advice = "other users of this machine can read it; chmod 700 keeps it to you";
            check(CheckState::Warning, label, place, advice)
        }
        false => check(CheckState::Ok, label, place, ""),
    }
}

#[cfg(unix)]
fn others_can_read(dir: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(dir).is_ok_and(|found| found.permissions().mode() & 0o077 != 0)
}

#[cfg(not(unix))]
fn others_can_read(_: &Path) -> bool {
    false
}

fn check_space(dir: &Path) -> Check {
    let label = "Free disk space";
    match free_bytes(dir) {
        Some(bytes) if bytes < LITTLE_SPACE => {
            let figure = format!("{} MiB", bytes >> 20);
            check(CheckState::Warning, label, &figure, "runs keep every answer; make room first")
        }
        Some(bytes) => check(CheckState::Ok, label, &format!("{} GiB", bytes >> 30), ""),
        None => check(CheckState::Ok, label, "unknown", ""),
    }
}

#[cfg(unix)]
fn free_bytes(dir: &Path) -> Option<u64> {
    let found = rustix::fs::statvfs(dir).ok()?;
    found.f_bavail.checked_mul(found.f_frsize)
}

#[cfg(not(unix))]
fn free_bytes(_: &Path) -> Option<u64> {
    None
}

/// Free, ours, or somebody else's.
async fn check_port(port: u16) -> Check {
    let label = format!("Port {port}");
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    if TcpListener::bind(address).await.is_ok() {
        return check(CheckState::Ok, &label, "free", "");
    }
    match tokio::time::timeout(ANSWER_TIME, ask_about(address)).await {
        Ok(Ok(Some(about))) => {
            let figure = format!("SkillOpt {} for {}", about.version, about.data_dir);
            check(CheckState::Ok, &label, &figure, &format!("open http://{address}"))
        }
        _ => {
            let advice = "another program has it; use skillopt serve --port with another number";
            check(CheckState::Warning, &label, "taken", advice)
        }
    }
}

async fn ask_about(address: SocketAddr) -> std::io::Result<Option<About>> {
    let mut stream = TcpStream::connect(address).await?;
    let request = format!(
        "GET /api/v1/about HTTP/1.1\r\nhost: {address}\r\naccept: application/json\r\nconnection: close\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    stream.take(64 * 1024).read_to_end(&mut answer).await?;
    let text = String::from_utf8_lossy(&answer);
    let body = text.split_once("\r\n\r\n").map(|(_, body)| body.trim());
    Ok(body.and_then(|body| serde_json::from_str(body).ok()))
}
