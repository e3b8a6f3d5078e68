//! The HTTP side: guard, API, streams and the static dashboard. `router` holds THE route table.
//! No decision of the product is taken here; handlers translate between HTTP and the crates below.

mod adoptions;
mod assets;
mod compare;
mod config;
mod curation;
mod evidence;
mod extract;
mod guard;
mod headers;
mod imports;
mod inbox;
mod launch;
mod markdown;
mod models;
mod origin;
mod prices;
mod problem;
mod prompts;
mod review;
mod router;
mod run_parts;
mod runs;
mod sample;
mod schedules;
mod serve;
mod sleep;
mod state;
mod stream;
#[cfg(test)]
mod tests;

pub use assets::Assets;
pub use router::{openapi, router};
pub use serve::{ServeError, ServeOptions, serve};
pub use state::{AppState, HostRules};
