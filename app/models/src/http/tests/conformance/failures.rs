//! Replies without an answer, and each way to fail: what is tried again, how long is waited, and what is told.

use super::*;

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
