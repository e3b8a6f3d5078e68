//! The router in-process: guard, problems, files, streams and every route, over a store in memory.

mod api;
mod comparing;
mod curating;
mod deriving;
mod files;
mod guarding;
mod importing;
mod inbox;
mod mcp;
mod models;
mod nights;
mod prices;
mod prompts;
mod reviewing;
mod schedules;
mod streaming;

use super::assets::Assets;
use super::review::WaitingCount;
use super::router::router;
use super::state::{AppState, HostRules, Parts};
use crate::adopt::{AdoptRoots, Adopter};
use crate::config::Environment;
use crate::host::Hosting;
use crate::live::Live;
use crate::supervisor::Supervisor;
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Request, StatusCode, header};
use axum::response::Response;
use serde_json::Value;
use skillopt_store::Store;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

/// A whole server without a socket.
struct World {
    store: Store,
    dir: tempfile::TempDir,
    stop: CancellationToken,
    supervisor: Supervisor,
    nights: crate::sleep::Nights,
    app: Router,
}

/// An answer that was read to its end.
struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: Vec<u8>,
}

impl World {
    async fn new() -> Self {
        Self::with(&[], None).await
    }

    async fn with(allowed_hosts: &[&str], assets: Option<PathBuf>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        Self::made(dir, Environment::default(), allowed_hosts, assets).await
    }

    /// One whose person has a home, in the folder of the world.
    async fn with_home() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().canonicalize().unwrap().join("home");
        std::fs::create_dir_all(&home).unwrap();
        let env = Environment::from_pairs([("HOME", home.to_str().unwrap())]);
        Self::made(dir, env, &[], None).await
    }

    async fn made(
        dir: tempfile::TempDir,
        env: Environment,
        allowed_hosts: &[&str],
        assets: Option<PathBuf>,
    ) -> Self {
        let store = Store::in_memory().await.unwrap();
        let hosting = Hosting::with_store(store.clone(), dir.path(), env);
        let nights = crate::sleep::Nights::new(hosting.clone());
        let roots = AdoptRoots::new(None, [dir.path().to_owned()]);
        let adopter = Adopter::new(store.clone(), roots, hosting.clock());
        let stop = CancellationToken::new();
        let supervisor =
            Supervisor::new(store.clone(), Arc::new(hosting.clone()), hosting.clock(), 4);
        let allowed_hosts: Vec<String> =
            allowed_hosts.iter().map(|&name| name.to_owned()).collect();
        let state = AppState::new(Parts {
            clock: crate::sleep::NightClock::new(nights.clone(), adopter.clone()),
            adopter,
            live: Live::start(store.clone(), stop.clone()).await.unwrap(),
            waiting: WaitingCount::default(),
            supervisor: supervisor.clone(),
            store: store.clone(),
            nights: nights.clone(),
            commands: Arc::new(crate::mcp::OwnProgram::of_process(dir.path(), stop.child_token())),
            hosting,
            hosts: HostRules::parse(&allowed_hosts).unwrap(),
            assets: Assets::Folder(assets.unwrap_or_else(|| dir.path().join("no assets"))),
            data_dir: dir.path().to_owned(),
            stop: stop.clone(),
        });
        Self { store, dir, stop, supervisor, nights, app: router(state) }
    }

    async fn send(&self, request: Request<Body>) -> Response {
        self.app.clone().oneshot(request).await.unwrap()
    }

    async fn answer(&self, request: Request<Body>) -> Answer {
        let response = self.send(request).await;
        let (parts, body) = response.into_parts();
        let body = to_bytes(body, usize::MAX).await.unwrap().to_vec();
        Answer { status: parts.status, headers: parts.headers, body }
    }

    async fn get(&self, path: &str) -> Answer {
        self.answer(get(path)).await
    }

    async fn post(&self, path: &str, body: &Value) -> Answer {
        self.answer(post(path, body)).await
    }

    async fn put(&self, path: &str, body: &Value) -> Answer {
        let mut request = post(path, body);
        *request.method_mut() = axum::http::Method::PUT;
        self.answer(request).await
    }

    async fn patch(&self, path: &str, body: &Value) -> Answer {
        let mut request = post(path, body);
        *request.method_mut() = axum::http::Method::PATCH;
        self.answer(request).await
    }

    async fn delete(&self, path: &str) -> Answer {
        let mut request = get(path);
        *request.method_mut() = axum::http::Method::DELETE;
        self.answer(request).await
    }

    fn path(&self) -> &Path {
        self.dir.path()
    }
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|err| {
            panic!("{err} in {}: {}", self.status, String::from_utf8_lossy(&self.body))
        })
    }

    fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// Checks that this is a problem with the given status and code.
    fn is_problem(&self, status: u16, code: &str) -> Value {
        let problem = self.json();
        assert_eq!(
            (self.status.as_u16(), &problem["code"]),
            (status, &Value::from(code)),
            "{problem}"
        );
        assert_eq!(self.header("content-type"), "application/problem+json");
        assert_eq!(problem["type"], "about:blank");
        assert_eq!(problem["status"], status);
        assert_eq!(problem["instance"], self.header("x-request-id"));
        for field in ["title", "detail"] {
            assert!(problem[field].as_str().is_some_and(|text| !text.is_empty()), "{problem}");
        }
        problem
    }
}

fn get(path: &str) -> Request<Body> {
    Request::get(path).header(header::HOST, "127.0.0.1:7860").body(Body::empty()).unwrap()
}

fn post(path: &str, body: &Value) -> Request<Body> {
    Request::post(path)
        .header(header::HOST, "127.0.0.1:7860")
        .header(header::CONTENT_TYPE, "application/json")
        .body(Body::from(body.to_string()))
        .unwrap()
}
