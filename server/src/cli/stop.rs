//! Ctrl-C and SIGTERM: the first one stops in order, a second Ctrl-C at once.

use super::output::Output;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// What people and the system asked of this process. Dropping it ends the watch.
#[derive(Debug)]
pub(super) struct Stop {
    /// Ctrl-C.
    pub(super) cancelled: CancellationToken,
    /// SIGTERM.
    pub(super) terminated: CancellationToken,
    _watch: JoinSet<()>,
}

impl Stop {
    /// Watches from now on; `what_happens` is told at the first Ctrl-C.
    pub(super) fn watch(what_happens: &'static str) -> Self {
        let (cancelled, terminated) = (CancellationToken::new(), CancellationToken::new());
        let mut watch = JoinSet::new();
        let token = cancelled.clone();
        watch.spawn(async move {
            if tokio::signal::ctrl_c().await.is_err() {
                return;
            }
            token.cancel();
            Output::of_process().note(&format!("\n{what_happens}"));
            if tokio::signal::ctrl_c().await.is_ok() {
                std::process::exit(130);
            }
        });
        let token = terminated.clone();
        watch.spawn(async move {
            terminate_signal().await;
            token.cancel();
        });
        Self { cancelled, terminated, _watch: watch }
    }
}

#[cfg(unix)]
async fn terminate_signal() {
    use tokio::signal::unix::{SignalKind, signal};
    match signal(SignalKind::terminate()) {
        Ok(mut signal) => {
            signal.recv().await;
        }
        Err(_) => std::future::pending().await,
    }
}

#[cfg(not(unix))]
async fn terminate_signal() {
    std::future::pending().await
}
