//! The protocol over HTTP: one service at `/mcp` of the running server, behind the same guard as everything else.
//! Each request stands for itself, so that nothing is lost when the server starts anew.

use super::handler::SkillOptMcp;
use super::policy::Policy;
use super::shelf::Shelf;
use crate::http::AppState;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use std::path::PathBuf;
use std::sync::Arc;

/// The service. Host and Origin are the guard's business: it knows which names are configured.
pub(crate) fn service(state: &AppState) -> StreamableHttpService<SkillOptMcp, NeverSessionManager> {
    let shelf = Shelf::new(Some(state.store.clone()), None);
    let policy = Policy::of_http();
    let server = SkillOptMcp::new(state.commands.clone(), shelf, policy, PathBuf::new());
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_cancellation_token(state.stop.child_token())
        .disable_allowed_hosts();
    StreamableHttpService::new(move || Ok(server.clone()), Arc::default(), config)
}
