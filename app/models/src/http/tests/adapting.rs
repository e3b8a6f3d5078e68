//! Providers that refuse part of a request: one change each, remembered, recorded, and never a loop.

use super::*;
use rstest::rstest;

/// Refuses fields as a strict provider does, and answers what it accepts.
fn strict(refused: &'static [&'static str]) -> impl Fn(&Request) -> ResponseTemplate {
    move |request| {
        let body: Value = request.body_json().unwrap();
        match refused.iter().find(|field| body.get(**field).is_some()) {
            Some(field) => {
                let message =
                    format!("Unsupported parameter: '{field}' is not supported with this model.");
                ResponseTemplate::new(400).set_body_json(json!({"error": {
                    "message": message, "param": field, "code": "unsupported_parameter",
                }}))
            }
            None => says("Paris"),
        }
    }
}

#[tokio::test]
async fn c42_each_refused_parameter_is_changed_once_and_remembered() {
    let world = World::answering(strict(&["max_completion_tokens", "temperature"])).await;
    let model = world.model(|config| config.temperature = Some(0.7));
    let identity = model.identity();
    let reply = ask(&model).await.unwrap();
    assert_eq!(reply.attempts, 3);
    assert_eq!(reply.adaptations, ["sends max_tokens", "leaves out temperature"]);
    assert_eq!(model.identity(), identity, "what was paid stays findable");

    let other_run = world.model(|config| config.temperature = Some(0.7));
    assert_eq!(ask(&other_run).await.unwrap().attempts, 1);
    let last = world.bodies().await.pop().unwrap();
    assert_eq!(last["max_tokens"], 64_000);
    assert_eq!((last.get("max_completion_tokens"), last.get("temperature")), (None, None));
    assert!(world.waits().is_empty());
}

#[tokio::test]
async fn c42_a_model_that_wants_the_newer_name_gets_it_first() {
    let world = World::answering(strict(&["max_tokens"])).await;
    let reply = world.ask().await.unwrap();
    assert_eq!(reply.attempts, 1);
    assert!(reply.adaptations.is_empty());
}

#[tokio::test]
async fn c42_a_fixed_name_is_not_changed() {
    let world = World::answering(strict(&["max_tokens"])).await;
    let model = world.model(|config| config.token_limit_param = TokenLimitParam::MaxTokens);
    let error = ask(&model).await.unwrap_err();
    assert_eq!((error.kind, error.attempts), (ModelErrorKind::BadRequest, 1));
}

#[tokio::test]
async fn c42_a_limit_that_is_too_large_is_lowered_to_the_bound() {
    let world = World::answering(|request| {
        let asked = request.body_json::<Value>().unwrap()["max_completion_tokens"].as_u64().unwrap();
        if asked > 16_384 {
            let words = format!("max_tokens is too large: {asked}. This model supports at most 16384 completion tokens");
            fails(400, &words)
        } else {
            says("Paris")
        }
    })
    .await;
    let model = world.model(|_| {});
    let reply = ask(&model).await.unwrap();
    assert_eq!(
        (reply.attempts, reply.adaptations),
        (2, vec!["asks for at most 16384 tokens".to_owned()])
    );

    let short = ChatRequest { max_tokens: Some(16), ..question(Purpose::Preflight) };
    let reply = model.chat(&short, &sample(), &CancellationToken::new()).await.unwrap();
    assert!(reply.adaptations.is_empty(), "nothing was changed about this one");
    assert_eq!(world.bodies().await.pop().unwrap()["max_completion_tokens"], 16);
}

#[rstest]
#[case("messages must alternate between roles")]
#[case("Unsupported parameter: 'max_completion_tokens' and 'max_tokens'")]
#[tokio::test]
async fn c42_a_refusal_that_no_change_answers_ends_without_a_loop(#[case] words: &str) {
    let world = World::scripted(vec![fails(400, words)]).await;
    let error = world.ask().await.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::BadRequest);
    assert!(error.attempts <= 2 && error.message.contains(words), "{error:?}");
}

#[tokio::test]
async fn c42_calls_that_fail_together_learn_once_and_all_succeed() {
    let world = World::answering(strict(&["max_completion_tokens"])).await;
    let model = world.model(|_| {});
    let replies = futures::future::join_all((0..6).map(|_| ask(&model))).await;
    assert!(replies.iter().all(|reply| reply.as_ref().unwrap().attempts <= 2));
}

#[tokio::test]
async fn c43_a_refused_extra_field_is_left_out() {
    let world = World::answering(strict(&["chat_template_kwargs"])).await;
    let model = world.model(|config| {
        config.extra_body =
            Some(json!({"chat_template_kwargs": {"enable_thinking": false}, "top_k": 3}));
    });
    let reply = ask(&model).await.unwrap();
    assert_eq!(reply.adaptations, ["leaves out chat_template_kwargs"]);
    let bodies = world.bodies().await;
    assert_eq!(bodies[0]["chat_template_kwargs"], json!({"enable_thinking": false}));
    assert_eq!((bodies[1].get("chat_template_kwargs"), &bodies[1]["top_k"]), (None, &json!(3)));
}

#[tokio::test]
async fn c43_a_server_that_thinks_by_default_is_told_not_to() {
    let world = World::answering(|request| {
        let body: Value = request.body_json().unwrap();
        let off = body["chat_template_kwargs"]["enable_thinking"] == json!(false);
        says(if off { "Paris" } else { "<think>hm</think>Lyon" })
    })
    .await;
    let quiet = world.model(|config| {
        config.extra_body = Some(json!({"chat_template_kwargs": {"enable_thinking": false}}));
    });
    assert_eq!(ask(&quiet).await.unwrap().text, "Paris");
    assert_eq!(world.ask().await.unwrap().text, "Lyon");
    let policy = &quiet.identity()["extra_body"];
    assert_eq!(policy, &json!({"chat_template_kwargs": {"enable_thinking": false}}));
}
