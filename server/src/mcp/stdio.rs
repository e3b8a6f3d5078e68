//! The protocol over standard input and output: one client, which started us. Nothing else writes to standard output.

use super::handler::SkillOptMcp;
use rmcp::service::{ServerInitializeError, serve_server_with_ct};
use tokio_util::sync::CancellationToken;

/// The client and we did not come to terms.
#[derive(Debug, thiserror::Error)]
#[error("the client could not be served: {0}")]
pub(crate) struct StdioError(String);

/// Serves until the client closes its end or `stop` fires.
///
/// # Errors
/// [`StdioError`] when the client does not begin as the protocol says.
pub(crate) async fn serve_stdio(
    server: SkillOptMcp,
    stop: CancellationToken,
) -> Result<(), StdioError> {
    let serving = serve_server_with_ct(server, rmcp::transport::stdio(), stop).await;
    let running = match serving {
        Ok(running) => running,
        // It went away before it said anything, or we were told to stop.
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => {
            return Ok(());
        }
        Err(err) => return Err(StdioError(err.to_string())),
    };
    match running.waiting().await {
        Ok(_) => Ok(()),
        Err(err) => Err(StdioError(err.to_string())),
    }
}
