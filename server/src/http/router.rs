//! THE route table, and the layers that every request passes.

use super::state::AppState;
use super::{
    adoptions, assets, compare, config, curation, evidence, guard, headers, imports, inbox, launch,
    models, prices, problem, prompts, review, run_parts, runs, schedules, sleep, stream,
};
use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::get;
use skillopt_domain::api::RejectedWhy;
use skillopt_domain::matrix::{TaskFilter, TaskOrder};
use skillopt_domain::outcome::{OutcomeFilter, RolloutPurpose};
use skillopt_domain::run::RunStatus;
use tower_http::catch_panic::CatchPanicLayer;
use utoipa::openapi::{Components, Info, OpenApi};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

const MAX_BODY_BYTES: usize = 4 * 1024 * 1024;
const API: &str = "/api/v1";
/// The Model Context Protocol.
pub(crate) const MCP: &str = "/mcp";

fn api() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(runs::about))
        .routes(routes!(runs::list, launch::launch))
        .routes(routes!(launch::sample))
        .routes(routes!(launch::rerun))
        .routes(routes!(launch::preflight))
        .routes(routes!(imports::import))
        .routes(routes!(compare::compare))
        .routes(routes!(compare::skills))
        .routes(routes!(runs::detail))
        .routes(routes!(runs::pause))
        .routes(routes!(runs::resume))
        .routes(routes!(runs::cancel))
        .routes(routes!(stream::rows))
        .routes(routes!(stream::run))
        .routes(routes!(run_parts::events))
        .routes(routes!(run_parts::curves))
        .routes(routes!(run_parts::steps))
        .routes(routes!(run_parts::step))
        .routes(routes!(run_parts::versions))
        .routes(routes!(run_parts::skill))
        .routes(routes!(run_parts::raw_skill))
        .routes(routes!(run_parts::rejected))
        .routes(routes!(run_parts::trajectories))
        .routes(routes!(run_parts::trajectory))
        .routes(routes!(evidence::tasks))
        .routes(routes!(evidence::pair))
        .routes(routes!(evidence::blame))
        .routes(routes!(run_parts::config))
        .routes(routes!(models::list))
        .routes(routes!(models::test))
        .routes(routes!(prices::list, prices::replace))
        .routes(routes!(prompts::list))
        .routes(routes!(prompts::text))
        .routes(routes!(config::schema))
        .routes(routes!(config::presets))
        .routes(routes!(config::check))
        .routes(routes!(config::import))
        .routes(routes!(config::export))
        .routes(routes!(models::endpoints))
        .routes(routes!(adoptions::preview))
        .routes(routes!(adoptions::list, adoptions::adopt))
        .routes(routes!(adoptions::revert))
        .routes(routes!(sleep::page))
        .routes(routes!(sleep::begin))
        .routes(routes!(sleep::forecast))
        .routes(routes!(sleep::detail))
        .routes(routes!(sleep::cancel))
        .routes(routes!(sleep::adopt))
        .routes(routes!(sleep::preview))
        .routes(routes!(sleep::reject))
        .routes(routes!(sleep::reopen))
        .routes(routes!(sleep::revert))
        .routes(routes!(sleep::evidence))
        .routes(routes!(schedules::list, schedules::add))
        .routes(routes!(schedules::change, schedules::remove))
        .routes(routes!(schedules::run_now))
        .routes(routes!(inbox::list))
        .routes(routes!(inbox::answer, inbox::take_back))
        .routes(routes!(inbox::go_on))
        .routes(routes!(curation::list, curation::find))
        .routes(routes!(curation::alter))
        .routes(routes!(curation::attempt))
        .routes(routes!(review::page))
        .routes(routes!(review::overview))
}

/// The whole server: API, streams and dashboard behind the guard.
pub fn router(state: AppState) -> Router {
    let (routes, document) = documented().split_for_parts();
    routes
        .route(&format!("{API}/openapi.json"), get(|| async { axum::Json(document) }))
        .route_service(MCP, crate::mcp::service(&state))
        .fallback(assets::asset)
        .layer(DefaultBodyLimit::max(MAX_BODY_BYTES))
        .layer(from_fn_with_state(state.clone(), guard::guard))
        .layer(CatchPanicLayer::new())
        .layer(from_fn(problem::answer_with_problems))
        .layer(from_fn(headers::harden))
        .with_state(state)
}

/// The description of the API.
#[must_use]
pub fn openapi() -> OpenApi {
    documented().into_openapi()
}

fn documented() -> OpenApiRouter<AppState> {
    let mut document = OpenApi::default();
    document.info = Info::builder()
        .title("SkillOpt")
        .version(env!("CARGO_PKG_VERSION"))
        .description(Some("Train a skill document and watch it improve. Local; needs no key."))
        .build();
    // Types that only queries name; bodies bring theirs along.
    document.components = Some(
        Components::builder()
            .schema_from::<OutcomeFilter>()
            .schema_from::<RejectedWhy>()
            .schema_from::<TaskFilter>()
            .schema_from::<TaskOrder>()
            .schema_from::<RolloutPurpose>()
            .schema_from::<RunStatus>()
            .build(),
    );
    OpenApiRouter::with_openapi(document).nest(API, api())
}
