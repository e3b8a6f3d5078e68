//! `skillopt serve`: options for the server, the address for people, a browser where there is one.

use super::Exit;
use super::args::ServeArgs;
use super::output::Output;
use super::stop::Stop;
use crate::config::Environment;
use crate::host::Hosting;
use crate::http::{ServeError, ServeOptions, serve};
use crate::sleep::home_of;
use std::io::IsTerminal;
use std::path::Path;
use std::process::{Command, Stdio};
use tokio_util::sync::CancellationToken;

pub(super) async fn run(args: ServeArgs, data_dir: &Path, output: &Output) -> anyhow::Result<Exit> {
    if let Some(folder) = args.adopt_roots.iter().find(|folder| !folder.is_dir()) {
        output.error(&format!("--adopt-root: {} is no folder; create it first", folder.display()));
        return Ok(Exit::Usage);
    }
    let env = Environment::of_process(data_dir);
    let home = home_of(&env);
    let hosting = Hosting::open(data_dir, env).await?;
    let store = hosting.store().clone();
    let options = ServeOptions {
        host: args.host,
        port: args.port,
        allowed_hosts: args.allowed_hosts,
        adopt_roots: args.adopt_roots,
        home,
        assets: args.assets,
        max_parallel_runs: args.max_parallel_runs,
        data_dir: hosting.data_dir().to_owned(),
    };
    let signals = Stop::watch("stopping; runs at work can be resumed (once more: stop at once)");
    let stop = CancellationToken::new();
    let over = CancellationToken::new();
    let no_open = args.no_open;
    let served = async {
        let result = serve(options, hosting, stop.clone(), |url| {
            output.line(&format!("SkillOpt is at {url} (Ctrl-C stops it)"));
            if !no_open {
                open_browser(url);
            }
        });
        let result = result.await;
        over.cancel();
        result
    };
    let until_asked = async {
        tokio::select! {
            () = signals.cancelled.cancelled() => stop.cancel(),
            () = signals.terminated.cancelled() => stop.cancel(),
            () = over.cancelled() => {}
        }
    };
    let (served, ()) = tokio::join!(served, until_asked);
    store.close().await;
    match served {
        Ok(()) => Ok(Exit::Done),
        Err(err @ (ServeError::NotLoopback(_) | ServeError::BadHost(_))) => {
            output.error(&err.to_string());
            Ok(Exit::Usage)
        }
        Err(err) => Err(err.into()),
    }
}

/// Opens the page where a person sits at a screen; elsewhere the printed address will do.
fn open_browser(url: &str) {
    let has_screen = cfg!(target_os = "macos")
        || ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| std::env::var_os(name).is_some());
    if !has_screen || !std::io::stdout().is_terminal() {
        return;
    }
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let quiet = Command::new(program)
        .arg(url)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    if let Err(err) = quiet {
        tracing::debug!("cannot open a browser: {err}");
    }
}
