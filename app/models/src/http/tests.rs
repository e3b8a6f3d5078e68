//! The whole backend against scripted servers. Waits pass on a clock of their own, so no test sleeps.

mod adapting;
mod conformance;
mod connections;
mod dialects;
mod failures;
mod limits;
mod outages;
mod setup;
mod sign_in;

use super::*;
use crate::timer::Timer;
use serde_json::json;
use skillopt_domain::config::{BackendKind, ModelRole, Provider, TokenLimitParam};
use skillopt_engine::ports::{Finish, Message, ModelErrorKind, Purpose};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::SystemTime;
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, Request, ResponseTemplate};

/// A clock that jumps over each wait and remembers it.
#[derive(Debug, Default)]
struct JumpingTimer {
    now: Mutex<Duration>,
    waits: Mutex<Vec<Duration>>,
}

/// 2015-10-21 07:28:00 UTC.
fn a_wednesday() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_445_412_480)
}

#[async_trait]
impl Timer for JumpingTimer {
    fn monotonic(&self) -> Duration {
        *self.now.lock().unwrap()
    }

    fn wall(&self) -> SystemTime {
        a_wednesday() + self.monotonic()
    }

    async fn sleep(&self, wait: Duration) {
        *self.now.lock().unwrap() += wait;
        self.waits.lock().unwrap().push(wait);
        tokio::task::yield_now().await;
    }
}

/// A server that answers by a script, and a process that calls it.
struct World {
    server: MockServer,
    timer: Arc<JumpingTimer>,
    endpoints: Arc<Endpoints>,
}

impl World {
    /// The last response of the script repeats for ever.
    async fn scripted(script: Vec<ResponseTemplate>) -> Self {
        let at = AtomicUsize::new(0);
        Self::answering(move |_: &Request| {
            let at = at.fetch_add(1, Ordering::SeqCst);
            script[at.min(script.len() - 1)].clone()
        })
        .await
    }

    async fn answering(
        respond: impl Fn(&Request) -> ResponseTemplate + Send + Sync + 'static,
    ) -> Self {
        let server = MockServer::start().await;
        Mock::given(any()).respond_with(respond).mount(&server).await;
        let timer = Arc::new(JumpingTimer::default());
        let endpoints = Endpoints::with_timer(Arc::clone(&timer) as Arc<dyn Timer>);
        Self { server, timer, endpoints }
    }

    fn model(&self, tune: impl FnOnce(&mut ModelRole)) -> HttpModel {
        let mut config = config(&format!("{}/v1", self.server.uri()));
        tune(&mut config);
        build(&config, &self.endpoints).unwrap()
    }

    async fn ask(&self) -> Result<ChatReply, ModelError> {
        ask(&self.model(|_| {})).await
    }

    async fn requests(&self) -> Vec<Request> {
        self.server.received_requests().await.unwrap()
    }

    async fn bodies(&self) -> Vec<Value> {
        self.requests().await.iter().map(|request| request.body_json().unwrap()).collect()
    }

    fn waits(&self) -> Vec<Duration> {
        self.timer.waits.lock().unwrap().clone()
    }
}

fn config(base_url: &str) -> ModelRole {
    ModelRole {
        backend: BackendKind::OpenaiCompatible,
        model: "small".to_owned(),
        base_url: base_url.to_owned(),
        api_key_env: String::new(),
        temperature: None,
        max_tokens: 64_000,
        token_limit_param: TokenLimitParam::Auto,
        timeout_s: 30.0,
        max_retries: 5,
        max_retry_after_s: 300.0,
        total_timeout_s: 900.0,
        extra_body: None,
        price_in: None,
        price_cached_in: None,
        price_cache_write: None,
        price_out: None,
        send_headers: false,
        mock_latency_ms: 0,
        provider: Provider::default(),
    }
}

fn build(config: &ModelRole, endpoints: &Arc<Endpoints>) -> Result<HttpModel, SetupError> {
    let setup = HttpModelSetup {
        role: Role::Target,
        config,
        secret: Secret::new("sk-geheim-123"),
        token: None,
        max_concurrency: 8,
        run: None,
    };
    HttpModel::new(setup, endpoints)
}

fn question(purpose: Purpose) -> ChatRequest {
    ChatRequest::new(
        purpose,
        "step_0003",
        vec![Message::system("Be brief."), Message::user("Capital of France?")],
    )
}

fn sample() -> Sample {
    Sample { seed: 42, epoch: 1, repeat: 0, fresh: None }
}

async fn ask(model: &HttpModel) -> Result<ChatReply, ModelError> {
    ask_for(model, Purpose::Qa).await
}

async fn ask_for(model: &HttpModel, purpose: Purpose) -> Result<ChatReply, ModelError> {
    model.chat(&question(purpose), &sample(), &CancellationToken::new()).await
}

fn says(content: &str) -> ResponseTemplate {
    ResponseTemplate::new(200).set_body_json(json!({
        "choices": [{"message": {"role": "assistant", "content": content}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1000, "completion_tokens": 10},
    }))
}

fn fails(status: u16, words: &str) -> ResponseTemplate {
    ResponseTemplate::new(status).set_body_json(json!({"error": {"message": words}}))
}
