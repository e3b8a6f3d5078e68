//! One list of cases for every dialect: what is sent, what is made of each reply, and of each way to fail.

use super::dialects::{DIALECTS, Dialect, Says, Wire, stream};
use super::*;
use skillopt_domain::config::Effort;
use skillopt_engine::ports::{Image, ReplySchema, Speaker, ToolCall, ToolSpec};

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
async fn c35_a_streamed_reply_is_the_same_as_one_in_one_piece() {
    let sayings = [
        Says::text("Paris, that is the capital äöü."),
        Says { is_cut: true, ..Says::text("Par") },
        Says { calls_tool: true, ..Says::default() },
        Says { refuses: true, ..Says::default() },
        Says { reasons: true, ..Says::text("Paris") },
    ];
    for dialect in &DIALECTS {
        for says in sayings {
            let script = vec![dialect.streams(says)];
            let world = World::scripted(script).await;
            let model = world.model(|config| {
                (dialect.tune)(config);
                config.provider.stream = true;
            });
            let streamed = ask(&model).await.expect(dialect.name);
            let whole = answers(dialect, says).await;
            let parts = |reply: &ChatReply| {
                (reply.text.clone(), reply.finish, reply.usage, reply.tool_calls.clone())
            };
            assert_eq!(parts(&streamed), parts(&whole), "{} {says:?}", dialect.name);
            assert!(whole.first_token_ms.is_none(), "{}: it came in one piece", dialect.name);
            let has_pieces = !says.refuses && !says.text.is_empty();
            assert!(!has_pieces || streamed.first_token_ms.is_some(), "{}", dialect.name);
            let body = world.bodies().await.pop().unwrap();
            assert_eq!(body["stream"], true, "{}", dialect.name);
            let includes_usage = body["stream_options"]["include_usage"] == true;
            assert_eq!(includes_usage, dialect.wire == Wire::Chat, "{}", dialect.name);
        }
    }
}

async fn streamed(
    dialect: &Dialect,
    script: Vec<ResponseTemplate>,
) -> Result<ChatReply, ModelError> {
    let world = World::scripted(script).await;
    let model = world.model(|config| {
        (dialect.tune)(config);
        config.provider.stream = true;
        config.max_retries = 1;
    });
    ask(&model).await
}

#[tokio::test]
async fn c35_a_stream_that_breaks_off_or_holds_an_error_is_tried_again_and_never_an_answer() {
    for dialect in &DIALECTS {
        let says = Says::text("Paris is the capital.");
        let events = dialect.events(says);
        let whole = dialect.streams(says);
        let n_until_end = match dialect.wire {
            Wire::Chat => events.len() - 3,
            Wire::Responses => events.len() - 1,
            Wire::Messages => events.len() - 2,
        };
        let error = json!({"type": "error", "error": {
            "type": "server_error", "code": "server_error", "message": "the backend fell over",
        }});
        for bad_end in [None, Some(error.to_string()), Some("{\"choices\":[{\"del".to_owned())] {
            let mut broken: Vec<String> = events[..n_until_end].to_vec();
            broken.extend(bad_end.clone());
            let broken = stream(&broken);
            let reply = streamed(dialect, vec![broken.clone(), whole.clone()]).await;
            assert_eq!(reply.expect(dialect.name).attempts, 2, "{} {bad_end:?}", dialect.name);
            let error = streamed(dialect, vec![broken]).await.expect_err(dialect.name);
            let kinds = [ModelErrorKind::Server, ModelErrorKind::Connection];
            assert!(kinds.contains(&error.kind), "{} {error:?}", dialect.name);
        }
    }
}

#[tokio::test]
async fn c35_an_end_mark_is_not_needed_and_missing_counts_are_unknown() {
    let dialect = &DIALECTS[0];
    let events = dialect.events(Says::text("Paris"));
    let without_end = &events[..events.len() - 1];
    let reply = streamed(dialect, vec![stream(without_end)]).await.unwrap();
    assert_eq!(
        (reply.text.as_str(), reply.usage.map(|usage| usage.prompt_tokens)),
        ("Paris", Some(1000))
    );
    let reply = streamed(dialect, vec![stream(&events[..events.len() - 2])]).await.unwrap();
    assert_eq!((reply.text.as_str(), reply.usage), ("Paris", None));
}

#[tokio::test]
async fn a_server_that_does_not_stream_is_read_all_the_same() {
    for dialect in &DIALECTS {
        let reply = streamed(dialect, vec![dialect.says(Says::text("Paris"))]).await;
        assert_eq!(reply.expect(dialect.name).text, "Paris");
    }
}

fn with_tools() -> ChatRequest {
    let parameters = json!({"type": "object", "properties": {"city": {"type": "string"}}});
    let description = "Tells the weather.".to_owned();
    let tools = vec![ToolSpec { name: "weather".to_owned(), description, parameters }];
    ChatRequest { tools, ..question(Purpose::Qa) }
}

#[tokio::test]
async fn tools_are_offered_called_and_answered() {
    let call = ToolCall {
        id: "call_1".to_owned(),
        name: "weather".to_owned(),
        arguments: r#"{"city":"Paris"}"#.to_owned(),
    };
    for dialect in &DIALECTS {
        let says = Says { calls_tool: true, ..Says::default() };
        let world =
            World::scripted(vec![dialect.says(says), dialect.says(Says::text("Rain"))]).await;
        let model = world.model(dialect.tune);
        let mut request = with_tools();
        let cancel = CancellationToken::new();
        let reply = model.chat(&request, &sample(), &cancel).await.expect(dialect.name);
        assert_eq!(
            (&reply.text[..], &reply.tool_calls[..]),
            ("", &[call.clone()][..]),
            "{}",
            dialect.name
        );
        request.messages.push(Message { tool_calls: reply.tool_calls, ..Message::assistant("") });
        let answer = Message::new(Speaker::Tool, "It rains.");
        request.messages.push(Message { tool_call_id: Some("call_1".to_owned()), ..answer });
        assert_eq!(
            model.chat(&request, &sample(), &cancel).await.expect(dialect.name).text,
            "Rain"
        );
        let body = world.bodies().await.pop().unwrap();
        let offered = match dialect.wire {
            Wire::Chat => &body["tools"][0]["function"]["parameters"],
            Wire::Responses => &body["tools"][0]["parameters"],
            Wire::Messages => &body["tools"][0]["input_schema"],
        };
        assert_eq!(offered["type"], "object", "{}: {body}", dialect.name);
        let function = json!({"name": "weather", "arguments": call.arguments});
        let (turns, expect) = match dialect.wire {
            Wire::Chat => (
                &body["messages"],
                json!([
                    {"role": "assistant", "content": "",
                     "tool_calls": [{"id": "call_1", "type": "function", "function": function}]},
                    {"role": "tool", "tool_call_id": "call_1", "content": "It rains."},
                ]),
            ),
            Wire::Responses => (
                &body["input"],
                json!([
                    {"type": "function_call", "call_id": "call_1", "name": "weather",
                     "arguments": call.arguments},
                    {"type": "function_call_output", "call_id": "call_1", "output": "It rains."},
                ]),
            ),
            Wire::Messages => (
                &body["messages"],
                json!([
                    {"role": "assistant", "content": [
                        {"type": "tool_use", "id": "call_1", "name": "weather", "input": {"city": "Paris"}},
                    ]},
                    {"role": "user", "content": [
                        {"type": "tool_result", "tool_use_id": "call_1", "content": "It rains."},
                    ]},
                ]),
            ),
        };
        let turns = turns.as_array().unwrap();
        assert_eq!(json!(turns[turns.len() - 2..]), expect, "{}", dialect.name);
    }
}

#[tokio::test]
async fn images_go_inside_of_the_request() {
    for dialect in &DIALECTS {
        let mut request = question(Purpose::Qa);
        let image = Image { media_type: "image/png".to_owned(), base64: "aGk=".to_owned() };
        request.messages[1].images.push(image);
        let body = sent(dialect, |_| {}, &request).await;
        let url = "data:image/png;base64,aGk=";
        let words = "Capital of France?";
        let (content, expect) = match dialect.wire {
            Wire::Chat => (
                &body["messages"][1]["content"],
                json!([
                    {"type": "text", "text": words}, {"type": "image_url", "image_url": {"url": url}},
                ]),
            ),
            Wire::Responses => (
                &body["input"][0]["content"],
                json!([
                    {"type": "input_text", "text": words}, {"type": "input_image", "image_url": url},
                ]),
            ),
            Wire::Messages => (
                &body["messages"][0]["content"],
                json!([
                    {"type": "text", "text": words},
                    {"type": "image",
                     "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}},
                ]),
            ),
        };
        assert_eq!(content, &expect, "{}", dialect.name);
    }
}

fn with_schema() -> ChatRequest {
    let schema = json!({"type": "object", "properties": {}, "additionalProperties": false});
    let schema = Arc::new(ReplySchema { name: "word".to_owned(), schema });
    ChatRequest { schema: Some(schema), ..question(Purpose::Qa) }
}

#[tokio::test]
async fn a_reply_is_held_to_a_schema_where_the_provider_can() {
    for dialect in &DIALECTS {
        let body = sent(dialect, |_| {}, &with_schema()).await;
        let held = match dialect.wire {
            Wire::Chat => &body["response_format"]["json_schema"]["schema"],
            Wire::Responses => &body["text"]["format"]["schema"],
            Wire::Messages => &body["output_config"]["format"]["schema"],
        };
        assert_eq!(held["type"], "object", "{}: {body}", dialect.name);
    }
}

/// The field in which an effort of this word goes.
fn effort_of(dialect: &Dialect, body: &Value) -> Value {
    match dialect.wire {
        Wire::Chat => body["reasoning_effort"].clone(),
        Wire::Responses => body["reasoning"]["effort"].clone(),
        Wire::Messages => body["output_config"]["effort"].clone(),
    }
}

#[tokio::test]
async fn the_effort_of_a_call_wins_over_that_of_the_role() {
    for dialect in &DIALECTS {
        let low = |config: &mut ModelRole| config.provider.effort = Some(Effort::Low);
        let body = sent(dialect, low, &question(Purpose::Qa)).await;
        assert_eq!(effort_of(dialect, &body), "low", "{}", dialect.name);
        let high = ChatRequest { effort: Some(Effort::High), ..question(Purpose::Qa) };
        let body = sent(dialect, low, &high).await;
        assert_eq!(effort_of(dialect, &body), "high", "{}", dialect.name);
        let adapts = body["thinking"] == json!({"type": "adaptive"});
        assert_eq!(adapts, dialect.wire == Wire::Messages, "{}", dialect.name);
        let most = ChatRequest { effort: Some(Effort::Max), ..question(Purpose::Qa) };
        let word = if dialect.name.starts_with("openai_chat") { "xhigh" } else { "max" };
        let body = sent(dialect, |_| {}, &most).await;
        assert_eq!(effort_of(dialect, &body), word, "{}", dialect.name);
    }
}

/// Refuses a request in which any of the paths is set, as strict providers do.
fn refuses(
    dialect: Dialect,
    paths: &'static [&'static str],
) -> impl Fn(&Request) -> ResponseTemplate {
    move |request| {
        let body: Value = request.body_json().unwrap();
        let found = paths.iter().find(|path| body.pointer(path).is_some());
        match found {
            Some(path) => {
                let param = path.trim_start_matches('/').replace('/', ".");
                let words =
                    format!("Unsupported parameter: '{param}' is not supported with this model.");
                dialect.fails(400, "invalid_request_error", &words)
            }
            None => dialect.says(Says::text("Paris")),
        }
    }
}

#[tokio::test]
async fn c42_what_a_provider_refuses_is_left_out_once_and_remembered() {
    const PATHS: &[&str] = &[
        "/response_format",
        "/text/format",
        "/output_config/format",
        "/reasoning_effort",
        "/reasoning/effort",
        "/output_config/effort",
        "/thinking/budget_tokens",
        "/temperature",
        "/stream",
    ];
    for dialect in &DIALECTS {
        let world = World::answering(refuses(*dialect, PATHS)).await;
        let model = world.model(|config| {
            (dialect.tune)(config);
            config.temperature = Some(0.5);
            config.provider.stream = true;
        });
        let request = ChatRequest { effort: Some(Effort::High), ..with_schema() };
        let (cancel, identity) = (CancellationToken::new(), model.identity());
        let reply = model.chat(&request, &sample(), &cancel).await.expect(dialect.name);
        let mut expect = vec!["leaves out JSON schema", "leaves out reasoning effort"];
        if dialect.wire == Wire::Messages {
            expect = vec![
                "leaves out JSON schema",
                "leaves out adaptive thinking",
                "leaves out thinking",
            ];
        }
        expect.extend(["leaves out stream", "leaves out temperature"]);
        let mut told: Vec<&str> = reply.adaptations.iter().map(String::as_str).collect();
        expect.sort_unstable();
        told.sort_unstable();
        assert_eq!(told, expect, "{}", dialect.name);
        assert_eq!(reply.attempts as usize, expect.len() + 1, "{}", dialect.name);
        assert_eq!(model.identity(), identity, "what was paid stays findable");
        let again = model.chat(&request, &sample(), &cancel).await.expect(dialect.name);
        assert_eq!(again.attempts, 1, "{}", dialect.name);
    }
}

#[tokio::test]
async fn c42_a_model_that_only_the_responses_api_serves_is_asked_there_from_then_on() {
    let words = "This model is only supported in v1/responses and not in v1/chat/completions.";
    for dialect in
        DIALECTS.iter().filter(|one| one.wire == Wire::Chat && one.name.starts_with("open"))
    {
        let other = DIALECTS.iter().find(|one| one.wire == Wire::Responses).unwrap();
        let world = World::answering(move |request: &Request| {
            if request.url.path().ends_with("/responses") {
                other.says(Says::text("Paris"))
            } else {
                other.fails(404, "invalid_request_error", words)
            }
        })
        .await;
        let model = world.model(dialect.tune);
        let reply = ask(&model).await.expect(dialect.name);
        assert_eq!(
            (reply.attempts, reply.adaptations),
            (2, vec!["uses the Responses API".to_owned()])
        );
        assert_eq!(ask(&world.model(dialect.tune)).await.expect(dialect.name).attempts, 1);
    }
}

#[tokio::test]
async fn c28_c29_c32_replies_are_told_apart() {
    for dialect in &DIALECTS {
        let name = dialect.name;
        let cut =
            answers(dialect, Says { is_cut: true, ..Says::text("```json\n{\"edits\":[") }).await;
        assert_eq!(
            (cut.finish, cut.text.as_str()),
            (Finish::Length, "```json\n{\"edits\":["),
            "{name}"
        );
        let tagged =
            answers(dialect, Says::text("<think>{\"draft\":1}</think>{\"edits\":[]}")).await;
        assert_eq!(tagged.text, "{\"edits\":[]}", "{name}");
        let native = answers(dialect, Says { refuses: true, ..Says::default() }).await;
        assert_eq!(native.finish, Finish::Refused, "{name}");
        let spoken = answers(dialect, Says::text("> I'm sorry, but I can't help with that.")).await;
        assert_eq!(spoken.finish, Finish::Refused, "{name}");
        let helpful = answers(dialect, Says::text("Sorry, I can help: Paris")).await;
        assert_eq!(helpful.finish, Finish::Stop, "{name}");
        for (says, kind) in [
            (Says::default(), ModelErrorKind::Empty),
            (Says { reasons: true, ..Says::default() }, ModelErrorKind::ReasoningOnly),
            (Says::text("<think>first"), ModelErrorKind::ReasoningOnly),
        ] {
            let error = fails_with(dialect, vec![dialect.says(says)]).await;
            // Another one has to be paid for, so whether there is one is not the model's to say.
            let told = (error.kind, error.attempts, error.billed.answers);
            assert_eq!(told, (kind, 1, 1), "{name} {says:?}");
            assert!(error.billed.worth_another, "{name} {says:?}");
        }
        let used_up = Says { is_cut: true, reasons: true, ..Says::default() };
        let error = fails_with(dialect, vec![dialect.says(used_up)]).await;
        assert_eq!((error.kind, error.attempts), (ModelErrorKind::ReasoningOnly, 1), "{name}");
    }
}

#[tokio::test]
async fn c46_only_what_may_pass_is_tried_again() {
    let too_long = "This model's maximum context length is 4096 tokens, your prompt has 9000.";
    let cases: [(u16, &str, &str, ModelErrorKind, u32); 11] = [
        (400, "invalid_request_error", too_long, ModelErrorKind::BadRequest, 1),
        (400, "invalid_request_error", "messages must alternate", ModelErrorKind::BadRequest, 1),
        (401, "authentication_error", "invalid key", ModelErrorKind::Authentication, 1),
        (402, "billing_error", "Insufficient Balance", ModelErrorKind::QuotaExhausted, 1),
        (403, "permission_error", "not yours", ModelErrorKind::Authentication, 1),
        (404, "not_found_error", "no such model", ModelErrorKind::BadRequest, 1),
        (408, "timeout", "too slow", ModelErrorKind::Timeout, 3),
        (413, "request_too_large", "too large", ModelErrorKind::BadRequest, 1),
        (429, "insufficient_quota", "no money", ModelErrorKind::QuotaExhausted, 1),
        (429, "rate_limit_error", "slow down", ModelErrorKind::RateLimited, 3),
        (500, "api_error", "boom", ModelErrorKind::Server, 3),
    ];
    for dialect in &DIALECTS {
        for (status, label, words, kind, attempts) in cases {
            let world = World::scripted(vec![dialect.fails(status, label, words)]).await;
            let model = world.model(|config| {
                (dialect.tune)(config);
                config.max_retries = 2;
            });
            let error = ask(&model).await.expect_err(dialect.name);
            let told = (error.kind, error.attempts);
            assert_eq!(told, (kind, attempts), "{} {status} {words}: {error:?}", dialect.name);
            assert!(error.message.contains(words), "{}: {error:?}", dialect.name);
        }
    }
}

#[tokio::test]
async fn c46_failures_that_pass_are_outlasted_and_pages_are_no_answers() {
    for dialect in &DIALECTS {
        let (boom, answer) =
            (dialect.fails(500, "api_error", "boom"), dialect.says(Says::text("Paris")));
        let page = "<!doctype html><title>Log in</title>";
        let bad_gateway = ResponseTemplate::new(502).set_body_raw(page, "text/html");
        let script =
            vec![boom, bad_gateway, dialect.fails(529, "overloaded_error", "o"), answer.clone()];
        let reply = run(dialect, script).await.0.expect(dialect.name);
        assert_eq!((reply.text.as_str(), reply.attempts), ("Paris", 4), "{}", dialect.name);
        let login = ResponseTemplate::new(200).set_body_raw(page, "text/html");
        let error = fails_with(dialect, vec![login]).await;
        assert_eq!((error.kind, error.attempts), (ModelErrorKind::Server, 1), "{}", dialect.name);
        assert!(error.message.contains("Log in"), "{error:?}");
        let cut = ResponseTemplate::new(200).set_body_raw("{\"cho", "application/json");
        let reply = run(dialect, vec![cut, answer.clone()]).await.0.expect(dialect.name);
        assert_eq!(reply.attempts, 2, "{}", dialect.name);
        let inside =
            json!({"error": {"type": "server_error", "code": "server_error", "message": "m"}});
        let inside = ResponseTemplate::new(200).set_body_json(inside);
        let reply = run(dialect, vec![inside, answer]).await.0.expect(dialect.name);
        assert_eq!(reply.attempts, 2, "{}", dialect.name);
    }
}

#[tokio::test]
async fn c44_each_dialect_honours_each_form_of_retry_after() {
    let forms = [
        ("retry-after", "2", 2_000),
        ("retry-after", "0.4", 400),
        ("retry-after", "Wed, 21 Oct 2015 07:28:03 GMT", 3_000),
        ("retry-after-ms", "250", 250),
    ];
    for dialect in &DIALECTS {
        for (name, value, least_ms) in forms {
            let date = ("date", "Wed, 21 Oct 2015 07:28:00 GMT");
            let busy = dialect.fails(429, "rate_limit_error", "slow");
            let busy = busy.insert_header(name, value).insert_header(date.0, date.1);
            let (reply, world) = run(dialect, vec![busy, dialect.says(Says::text("Paris"))]).await;
            assert_eq!(reply.expect(dialect.name).attempts, 2);
            let waited = world.waits().iter().sum::<Duration>().as_millis();
            let most = least_ms + least_ms / 10 + 1;
            assert!((least_ms..=most).contains(&waited), "{} {value}: {waited} ms", dialect.name);
        }
        let long =
            dialect.fails(429, "rate_limit_error", "daily").insert_header("retry-after", "86400");
        let error = fails_with(dialect, vec![long]).await;
        assert_eq!(
            (error.kind, error.attempts),
            (ModelErrorKind::QuotaExhausted, 1),
            "{}",
            dialect.name
        );
    }
}

#[tokio::test]
async fn c32_a_filter_that_stops_a_request_makes_a_refusal() {
    for dialect in &DIALECTS {
        let filtered = dialect.fails(400, "content_filter", "The prompt was filtered.");
        let reply = run(dialect, vec![filtered]).await.0.expect(dialect.name);
        assert_eq!(
            (reply.finish, reply.text.as_str()),
            (Finish::Refused, "The prompt was filtered.")
        );
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
