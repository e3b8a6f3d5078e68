//! A scripted server on loopback that speaks each API by its path and counts what reaches it. Its answers are those of the
//! simulated models, so that a whole training run makes sense; faults are put in front of them.

use crate::crowd::{Crowd, Rules, Tally};
use crate::fake_wire::Wire;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::{Json, Router};
use serde_json::{Value, json};
use skillopt_domain::config::{ModelRole, RunConfig, Setting, resolve};
use skillopt_domain::config::{Place, Value as Setting_};
use skillopt_domain::outcome::Sample;
use skillopt_engine::ports::{ChatRequest, Model, Purpose};
use skillopt_models::mock::{MockOptimizer, MockTarget};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Looks at a request before it is answered; an answer here replaces the model's.
pub(crate) type Fault = Arc<dyn Fn(&Seen, usize) -> Option<(StatusCode, Value)> + Send + Sync>;

/// One request that reached the server.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) purpose: String,
    pub(crate) phase: String,
    /// Path and query.
    pub(crate) place: String,
    /// What signs in: the header's name and value.
    pub(crate) key: String,
    pub(crate) body: Value,
}

/// A running server; it stops when dropped.
#[derive(Debug)]
pub(crate) struct FakeServer {
    pub(crate) url: String,
    seen: Arc<Mutex<Vec<Seen>>>,
    crowd: Crowd,
    stop: CancellationToken,
    thread: Option<std::thread::JoinHandle<()>>,
}

#[derive(Clone)]
struct Shared {
    seen: Arc<Mutex<Vec<Seen>>>,
    fault: Fault,
    crowd: Crowd,
    target: Arc<MockTarget>,
    optimizer: Arc<MockOptimizer>,
    latency: Duration,
}

impl FakeServer {
    /// A server without faults.
    pub(crate) fn start() -> Self {
        Self::with(Duration::ZERO, Arc::new(|_, _| None))
    }

    /// A server that asks `fault` first and answers after `latency`.
    pub(crate) fn with(latency: Duration, fault: Fault) -> Self {
        let rules = Rules { room: usize::MAX, retry_after_s: None, percent_refused: 0 };
        Self::start_with(latency, fault, rules)
    }

    /// A server that takes as many calls as `rules` say and answers each after `latency`.
    pub(crate) fn crowded(latency: Duration, rules: Rules) -> Self {
        Self::start_with(latency, Arc::new(|_, _| None), rules)
    }

    fn start_with(latency: Duration, fault: Fault, rules: Rules) -> Self {
        let crowd = Crowd::new(rules);
        let seen = Arc::<Mutex<Vec<Seen>>>::default();
        let stop = CancellationToken::new();
        let role = mock_role();
        let shared = Shared {
            seen: Arc::clone(&seen),
            fault,
            crowd: crowd.clone(),
            target: Arc::new(MockTarget::new(&role)),
            optimizer: Arc::new(MockOptimizer::new(&role)),
            latency,
        };
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
        listener.set_nonblocking(true).expect("a socket option");
        let url = format!("http://{}/v1", listener.local_addr().expect("bound"));
        let stopped = stop.clone();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .expect("runtime");
            runtime.block_on(async move {
                let app = Router::new().fallback(answer).with_state(shared);
                let listener = tokio::net::TcpListener::from_std(listener).expect("listener");
                let served =
                    axum::serve(listener, app).with_graceful_shutdown(stopped.cancelled_owned());
                served.await.expect("served");
            });
        });
        Self { url, seen, crowd, stop, thread: Some(thread) }
    }

    /// Who was answered and who was refused so far.
    pub(crate) fn tally(&self) -> Tally {
        self.crowd.tally()
    }

    /// All requests so far.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for FakeServer {
    fn drop(&mut self) {
        self.stop.cancel();
        if let Some(thread) = self.thread.take() {
            // The server is being dropped; its end is all that matters.
            let _ = thread.join();
        }
    }
}

async fn answer(
    State(shared): State<Shared>,
    uri: Uri,
    headers: HeaderMap,
    Json(body): Json<Value>,
) -> Response {
    let Some(wire) = Wire::of(uri.path()) else {
        let words = json!({"error": {"message": format!("nothing at {uri}")}});
        return (StatusCode::NOT_FOUND, Json(words)).into_response();
    };
    let header =
        |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let request = request_of(wire, &body, &header("x-skillopt-purpose").unwrap_or_default());
    let key = ["authorization", "api-key", "x-api-key"]
        .into_iter()
        .find_map(|name| Some(format!("{name}: {}", header(name)?)));
    let seen = Seen {
        purpose: request.purpose.as_str().to_owned(),
        phase: header("x-skillopt-phase").unwrap_or_default(),
        place: uri.to_string(),
        key: key.unwrap_or_default(),
        body: body.clone(),
    };
    let number = {
        let mut all = shared.seen.lock().unwrap_or_else(PoisonError::into_inner);
        all.push(seen.clone());
        all.len()
    };
    if let Some((status, body)) = (shared.fault)(&seen, number) {
        return (status, Json(body)).into_response();
    }
    let _inside = match shared.crowd.enter() {
        Ok(inside) => inside,
        Err(refusal) => return *refusal,
    };
    tokio::time::sleep(shared.latency).await;
    let sample = Sample { seed: 0, epoch: 0, repeat: 0, fresh: None };
    let cancel = CancellationToken::new();
    let reply = match request.purpose {
        Purpose::Qa | Purpose::Preflight => shared.target.chat(&request, &sample, &cancel).await,
        _ => shared.optimizer.chat(&request, &sample, &cancel).await,
    };
    let text = reply.map(|reply| reply.text).unwrap_or_default();
    if body["stream"] == true {
        return ([(CONTENT_TYPE, "text/event-stream")], wire.events(&text)).into_response();
    }
    Json(wire.reply(&text)).into_response()
}

fn request_of(wire: Wire, body: &Value, purpose: &str) -> ChatRequest {
    let purpose = serde_json::from_value(json!(purpose)).unwrap_or(Purpose::Qa);
    ChatRequest::new(purpose, "", wire.messages(body))
}

fn mock_role() -> ModelRole {
    let set = |path: &str, value: &str| Setting {
        path: path.to_owned(),
        value: Setting_::Text(value.to_owned()),
        place: Place::flag(path),
    };
    let settings = [set("model.backend", "mock"), set("env.split_dir", "unused")];
    let resolved = resolve(&settings).expect("valid settings");
    RunConfig::from_resolved(&resolved).expect("valid config").target
}
