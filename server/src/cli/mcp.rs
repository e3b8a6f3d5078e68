//! `skillopt mcp`: the tools for a coding agent that starts us. Standard output belongs to the protocol.

use super::Exit;
use super::args::McpArgs;
use super::output::Output;
use super::stop::Stop;
use crate::mcp::{OwnProgram, Policy, Shelf, SkillOptMcp, TimeLimits, serve_stdio};
use skillopt_domain::own_call;
use skillopt_store::Store;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

pub(super) async fn run(args: McpArgs, data_dir: &Path, output: &Output) -> anyhow::Result<Exit> {
    if std::env::var_os(own_call::VARIABLE).is_some() {
        // The agent would learn, and spend, inside of what is learned from.
        output.error("this agent works for a SkillOpt run; it gets no SkillOpt tools");
        return Ok(Exit::Failed);
    }
    let signals = Stop::watch("stopping");
    let stop = CancellationToken::new();
    let store = match Store::open(data_dir).await {
        Ok(store) => Some(store),
        Err(err) => {
            output.note(&format!("nights of other projects are not listed: {err}"));
            None
        }
    };
    let folder = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
    let limits = args.time_limit.map_or_else(TimeLimits::default, TimeLimits::of_minutes);
    let commands = Arc::new(OwnProgram::of_process(data_dir, stop.child_token()));
    let server = SkillOptMcp::new(
        commands.clone(),
        Shelf::new(store.clone(), Some(folder.canonicalize().unwrap_or_else(|_| folder.clone()))),
        Policy::of_stdio(args.allow_auto_adopt, limits),
        folder,
    );
    let served = {
        let serving = serve_stdio(server, stop.child_token());
        tokio::pin!(serving);
        tokio::select! {
            served = &mut serving => served,
            () = signals.cancelled.cancelled() => stopped(&stop, serving).await,
            () = signals.terminated.cancelled() => stopped(&stop, serving).await,
        }
    };
    commands.close().await;
    if let Some(store) = store {
        store.close().await;
    }
    served?;
    Ok(Exit::Done)
}

async fn stopped<T>(stop: &CancellationToken, serving: impl Future<Output = T>) -> T {
    stop.cancel();
    serving.await
}
