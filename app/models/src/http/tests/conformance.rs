//! One list of cases for every dialect: what is sent, what is made of each reply, and of each way to fail.

mod failures;
mod requests;
mod streams;

use super::dialects::{DIALECTS, Dialect, Says, Wire};
use super::*;

/// The answer of a dialect to a script.
async fn run(
    dialect: &Dialect,
    script: Vec<ResponseTemplate>,
) -> (Result<ChatReply, ModelError>, World) {
    let world = World::scripted(script).await;
    let end = ask(&world.model(dialect.tune)).await;
    (end, world)
}

async fn fails_with(dialect: &Dialect, script: Vec<ResponseTemplate>) -> ModelError {
    run(dialect, script).await.0.expect_err(dialect.name)
}

async fn answers(dialect: &Dialect, says: Says) -> ChatReply {
    run(dialect, vec![dialect.says(says)]).await.0.expect(dialect.name)
}

async fn sent(dialect: &Dialect, tune: fn(&mut ModelRole), request: &ChatRequest) -> Value {
    let world = World::scripted(vec![dialect.says(Says::text("Paris"))]).await;
    let model = world.model(|config| {
        (dialect.tune)(config);
        tune(config);
    });
    model.chat(request, &sample(), &CancellationToken::new()).await.expect(dialect.name);
    world.bodies().await.pop().expect(dialect.name)
}

#[tokio::test]
async fn c47_what_is_written_to_a_cache_is_priced_apart_or_its_cost_is_unknown() {
    for dialect in DIALECTS.iter().filter(|dialect| dialect.wire == Wire::Messages) {
        let world = World::scripted(vec![dialect.says(Says::text("Paris"))]).await;
        for (price, cost) in [(None, None), (Some(2.5), Some(150 * 2 + 400 + 125 + 100))] {
            let model = world.model(|config| {
                (dialect.tune)(config);
                (config.price_in, config.price_cached_in) = (Some(2.0), Some(0.5));
                (config.price_cache_write, config.price_out) = (price, Some(10.0));
            });
            assert_eq!(ask(&model).await.expect(dialect.name).cost_usd_micros, cost);
        }
    }
}

#[tokio::test]
async fn each_dialect_asks_at_its_own_place_with_its_key_and_counts_each_kind_of_token() {
    for dialect in &DIALECTS {
        let (reply, world) = run(dialect, vec![dialect.says(Says::text("Paris"))]).await;
        let reply = reply.expect(dialect.name);
        assert_eq!(
            (reply.text.as_str(), reply.finish),
            ("Paris", Finish::Stop),
            "{}",
            dialect.name
        );
        let is_messages = dialect.wire == Wire::Messages;
        let usage = Usage {
            cached_prompt_tokens: Some(800),
            reasoning_tokens: (!is_messages).then_some(4),
            cache_write_tokens: is_messages.then_some(50),
            ..Usage::new(1000, 10)
        };
        assert_eq!(reply.usage, Some(usage), "{}", dialect.name);
        assert!(reply.adaptations.is_empty() && reply.attempts == 1, "{}", dialect.name);
        let request = world.requests().await.pop().unwrap();
        assert_eq!(request.url.path(), dialect.path, "{}", dialect.name);
        assert_eq!(request.headers[dialect.key.0], dialect.key.1, "{}", dialect.name);
        let with_key = request
            .headers
            .iter()
            .filter(|(_, value)| value.to_str().is_ok_and(|value| value.contains("geheim")));
        assert_eq!(with_key.count(), 1, "{}", dialect.name);
        let is_azure_chat = dialect.path.contains("deployments");
        let version = request.url.query().unwrap_or_default();
        let expect = if is_azure_chat { "api-version=2024-12-01-preview" } else { "" };
        assert_eq!(version, expect, "{}", dialect.name);
    }
}

#[tokio::test]
async fn the_skill_is_a_stable_prefix_and_the_limit_has_its_name() {
    for dialect in &DIALECTS {
        let body = sent(dialect, |_| {}, &question(Purpose::Qa)).await;
        let first_is_system = || body["messages"][0]["role"] == "system";
        let (is_prefix, limit) = match dialect.wire {
            Wire::Responses => (body["instructions"] == "Be brief.", "max_output_tokens"),
            Wire::Messages => {
                let mark = json!({"type": "ephemeral"});
                let block = &body["system"][0];
                let is_marked = block["text"] == "Be brief." && block["cache_control"] == mark;
                (is_marked && body["messages"][0]["role"] == "user", "max_tokens")
            }
            Wire::Chat if dialect.name.starts_with("open") => {
                (first_is_system(), "max_completion_tokens")
            }
            Wire::Chat => (first_is_system(), "max_tokens"),
        };
        assert!(is_prefix && body[limit] == 64_000, "{}: {body}", dialect.name);
        if dialect.wire == Wire::Responses {
            assert_eq!(body["store"], false, "{}", dialect.name);
        }
        let asks =
            ["temperature", "stream", "tools", "reasoning_effort", "reasoning", "output_config"];
        assert!(asks.iter().all(|field| body.get(*field).is_none()), "{}: {body}", dialect.name);
        let of_service = match dialect.name {
            "qwen_chat" => ("chat_template_kwargs", json!({"enable_thinking": false})),
            "minimax_chat" => ("thinking", json!({"type": "disabled"})),
            _ => continue,
        };
        assert_eq!(body[of_service.0], of_service.1);
    }
}

#[tokio::test]
async fn a_key_goes_to_its_host_alone_and_is_never_repeated() {
    for dialect in &DIALECTS {
        let foreign = World::scripted(vec![dialect.says(Says::text("Paris"))]).await;
        for status in [301, 302, 307, 308] {
            let to = format!("{}{}", foreign.server.uri(), dialect.path)
                .replace("127.0.0.1", "localhost");
            let moved = ResponseTemplate::new(status).insert_header("location", to.as_str());
            let error = fails_with(dialect, vec![moved]).await;
            assert_eq!(
                (error.kind, error.attempts),
                (ModelErrorKind::BadRequest, 1),
                "{}",
                dialect.name
            );
            assert!(
                error.message.contains("redirects to localhost"),
                "{}: {error:?}",
                dialect.name
            );
        }
        assert!(foreign.requests().await.is_empty(), "{}", dialect.name);

        let echo =
            dialect.fails(401, "authentication_error", "bad key sk-geheim-123, or sk-geh***-123");
        let error = fails_with(dialect, vec![echo]).await;
        assert!(!error.message.contains("geh"), "{}: {error:?}", dialect.name);

        let mut config = config("http://models.example/v1");
        (dialect.tune)(&mut config);
        let refused = build(&config, &Endpoints::new()).err();
        let expect = SetupError::KeyInTheClear { host: "models.example".to_owned() };
        assert_eq!(refused, Some(expect), "{}", dialect.name);
    }
}
