//! What is sent and what is refused before anything is sent.

use super::*;
use rstest::rstest;

fn refused(tune: impl FnOnce(&mut ModelRole)) -> SetupError {
    let mut config = config("http://127.0.0.1:9/v1");
    tune(&mut config);
    build(&config, &Endpoints::new()).err().unwrap()
}

#[test]
fn a_model_without_name_or_address_is_refused() {
    assert_eq!(refused(|config| config.model.clear()), SetupError::NoModel(Role::Target));
    assert_eq!(refused(|config| config.base_url.clear()), SetupError::NoAddress(Role::Target));
}

#[rstest]
#[case(json!([1]))]
#[case(json!({"stream": true}))]
#[case(json!({"temperature": 1}))]
#[case(json!({"messages": []}))]
fn an_extra_body_that_would_take_over_is_refused(#[case] extra: Value) {
    let error = refused(|config| config.extra_body = Some(extra));
    assert!(matches!(
        error,
        SetupError::ExtraBodyIsNoObject(_) | SetupError::ExtraBodyTaken { .. }
    ));
}

#[test]
fn a_key_for_a_foreign_host_needs_encryption() {
    let error = refused(|config| config.base_url = "http://models.example/v1".to_owned());
    assert_eq!(error, SetupError::KeyInTheClear { host: "models.example".to_owned() });
}

#[test]
fn a_key_that_no_header_can_carry_is_refused_without_showing_it() {
    let config = config("http://127.0.0.1:9/v1");
    let setup = HttpModelSetup {
        role: Role::Optimizer,
        config: &config,
        secret: Secret::new("sk-a\nsk-b"),
        token: None,
        max_concurrency: 1,
        run: None,
    };
    let error = HttpModel::new(setup, &Endpoints::new()).unwrap_err();
    assert_eq!(error, SetupError::BadKey(Role::Optimizer));
    assert!(!error.to_string().contains("sk-"));
}

#[test]
fn the_identity_holds_what_shapes_an_answer_and_no_secret() {
    let mut config = config("http://localhost:9/v1/?hint=geheim");
    config.temperature = Some(0.5);
    config.extra_body = Some(json!({"b": {"d": 1, "c": 2}, "a": 3}));
    let model = build(&config, &Endpoints::new()).unwrap();
    let identity = model.identity().to_string();
    assert_eq!(
        identity,
        r#"{"kind":"openai_compatible","base_url":"http://localhost:9/v1","model":"small","temperature":0.5,"max_tokens":64000,"extra_body":{"a":3,"b":{"c":2,"d":1}}}"#
    );
    assert!(!format!("{model:?}").contains("geheim"));
}

#[test]
fn the_worst_case_counts_prompt_and_limit() {
    let mut config = config("http://localhost:9/v1");
    (config.price_in, config.price_out) = (Some(1.0), Some(10.0));
    let model = build(&config, &Endpoints::new()).unwrap();
    let request = ChatRequest {
        messages: vec![Message::user("x".repeat(101))],
        max_tokens: Some(100),
        ..question(Purpose::Qa)
    };
    let worst = model.worst_case(&request);
    assert_eq!(
        worst,
        WorstCase { calls: 1, tokens: 51 + 8 + 100, cost_usd_micros: Some(59 + 1_000) }
    );
    let configured = ChatRequest { max_tokens: None, ..request };
    assert_eq!(model.worst_case(&configured).tokens, 51 + 8 + 64_000);
}

#[tokio::test]
async fn a_request_carries_the_key_and_no_mark_of_ours() {
    let world = World::scripted(vec![says("Paris")]).await;
    world.ask().await.unwrap();
    let request = world.requests().await.pop().unwrap();
    assert_eq!(request.url.path(), "/v1/chat/completions");
    assert_eq!(request.headers["authorization"], "Bearer sk-geheim-123");
    assert!(!request.headers.keys().any(|name| name.as_str().starts_with("x-skillopt")));
}

#[tokio::test]
async fn without_a_key_no_authorization_is_sent_and_marks_are_sent_when_wanted() {
    let world = World::scripted(vec![says("Paris")]).await;
    let mut config = config(&world.server.uri());
    config.send_headers = true;
    let run = skillopt_domain::ids::RunId::parse("01939c1e-0000-7000-8000-000000000000").unwrap();
    let setup = HttpModelSetup {
        role: Role::Target,
        config: &config,
        secret: None,
        token: None,
        max_concurrency: 1,
        run: Some(&run),
    };
    let model = HttpModel::new(setup, &world.endpoints).unwrap();
    ask(&model).await.unwrap();
    let headers = world.requests().await.pop().unwrap().headers;
    assert!(!headers.contains_key("authorization"));
    let marks = ["run", "role", "phase", "purpose"]
        .map(|mark| headers[&format!("x-skillopt-{mark}")].to_str().unwrap().to_owned());
    assert_eq!(marks, [run.as_str(), "target", "step_0003", "qa"]);
}
