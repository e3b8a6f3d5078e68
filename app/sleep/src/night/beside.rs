//! Blocking work on files beside the calls, so that a night's signs of life go on.

use super::NightFailure;

/// Runs blocking work on a thread of its own. `action` names it for the case that it breaks down.
pub(super) async fn beside<T: Send + 'static>(
    action: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, NightFailure> {
    tokio::task::spawn_blocking(work).await.map_err(|err| NightFailure::Io {
        action: action.to_owned(),
        reason: std::io::Error::other(err),
    })
}
