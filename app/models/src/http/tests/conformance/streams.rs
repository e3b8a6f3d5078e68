//! Replies that come in pieces: the same as whole ones, and never an answer when they break off.

use super::*;
use crate::http::tests::dialects::stream;

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
