//! What a request may hold besides words: tools, pictures, a schema, an effort. What is refused of it is left out.

use super::*;
use skillopt_domain::config::Effort;
use skillopt_engine::ports::{Image, ReplySchema, Speaker, ToolCall, ToolSpec};

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
