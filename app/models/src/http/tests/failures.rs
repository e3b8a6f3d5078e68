//! Servers that fail: what is tried again, what is not, and what is told.

use super::*;
use rstest::rstest;

#[tokio::test]
async fn c28_a_cut_reply_is_an_answer_that_says_so() {
    let cut =
        json!({"choices": [{"message": {"content": "{\"edits\":["}, "finish_reason": "length"}]});
    let world = World::scripted(vec![ResponseTemplate::new(200).set_body_json(cut)]).await;
    let reply = world.ask().await.unwrap();
    assert_eq!((reply.text.as_str(), reply.finish), ("{\"edits\":[", Finish::Length));
    assert_eq!(world.requests().await.len(), 1);
}

#[rstest]
#[case("<think>hm", ModelErrorKind::ReasoningOnly)]
#[case("", ModelErrorKind::Empty)]
#[tokio::test]
async fn c29_a_reply_without_an_answer_is_left_to_those_who_count_the_cost(
    #[case] content: &str,
    #[case] kind: ModelErrorKind,
) {
    let world = World::scripted(vec![says(content)]).await;
    let error = world.ask().await.unwrap_err();
    assert_eq!((error.kind, error.attempts), (kind, 1));
    assert!(error.billed.worth_another);
}

#[tokio::test]
async fn c29_a_preflight_takes_a_model_that_still_reasons_for_alive() {
    let cut =
        json!({"choices": [{"message": {"content": "<think>hm"}, "finish_reason": "length"}]});
    let world = World::scripted(vec![ResponseTemplate::new(200).set_body_json(cut)]).await;
    let reply = ask_for(&world.model(|_| {}), Purpose::Preflight).await.unwrap();
    assert_eq!((reply.finish, reply.attempts), (Finish::Length, 1));
}

#[tokio::test]
async fn c32_a_request_that_a_filter_stops_is_refused_not_failed() {
    let filtered = json!({"error": {"code": "content_filter", "message": "filtered by policy"}});
    let world = World::scripted(vec![ResponseTemplate::new(400).set_body_json(filtered)]).await;
    let reply = world.ask().await.unwrap();
    assert_eq!((reply.text.as_str(), reply.finish), ("filtered by policy", Finish::Refused));
}

#[tokio::test]
async fn an_address_that_is_not_found_is_told_in_full() {
    let page = ResponseTemplate::new(404).set_body_raw("<html></html>", "text/html");
    let world = World::scripted(vec![page]).await;
    let error = world.ask().await.unwrap_err();
    assert!(error.message.contains("/chat/completions: an HTML page"), "{}", error.message);
}

#[rstest]
#[case(401)]
#[case(403)]
#[tokio::test]
async fn c37_a_wrong_key_ends_at_once_with_the_providers_words(#[case] status: u16) {
    let words = format!("Incorrect API key sk-geheim-123 provided. {}", "x".repeat(500));
    let world = World::scripted(vec![fails(status, &words)]).await;
    let error = ask_for(&world.model(|_| {}), Purpose::Preflight).await.unwrap_err();
    assert_eq!((error.kind, error.attempts), (ModelErrorKind::Authentication, 1));
    assert!(error.message.contains("Incorrect API key *** provided"), "{}", error.message);
    assert!(error.message.chars().count() <= 300);
}

#[tokio::test]
async fn c37_a_login_page_ends_at_once() {
    let page = "<!doctype html><html><title>Log in</title></html>";
    let world = World::scripted(vec![ResponseTemplate::new(200).set_body_string(page)]).await;
    let error = world.ask().await.unwrap_err();
    assert_eq!((error.kind, error.attempts), (ModelErrorKind::Server, 1));
    assert!(error.message.contains(r#"an HTML page titled "Log in""#), "{}", error.message);
}

#[rstest]
#[case::seconds("retry-after", "2", 2_000)]
#[case::decimal("retry-after", "0.4", 400)]
#[case::date("retry-after", "Wed, 21 Oct 2015 07:28:03 GMT", 3_000)]
#[case::milliseconds("retry-after-ms", "250", 250)]
#[tokio::test]
async fn c44_a_named_wait_is_kept(#[case] name: &str, #[case] value: &str, #[case] ms: u64) {
    let date = "Wed, 21 Oct 2015 07:28:00 GMT";
    let busy = fails(429, "slow down").insert_header(name, value).insert_header("date", date);
    let world = World::scripted(vec![busy, says("Paris")]).await;
    let reply = world.ask().await.unwrap();
    assert_eq!((reply.text.as_str(), reply.attempts), ("Paris", 2));
    let waits = world.waits();
    let (asked, waited) = (Duration::from_millis(ms), waits[0]);
    assert!(waits.len() == 1 && waited >= asked && waited <= asked.mul_f64(1.1), "{waits:?}");
}

#[rstest]
#[case::negative(Some("-5"))]
#[case::date_passed(Some("Wed, 21 Oct 2015 07:00:00 GMT"))]
#[case::absent(None)]
#[tokio::test]
async fn c44_without_a_usable_wait_the_back_off_is_our_own(#[case] value: Option<&str>) {
    let busy = fails(429, "slow down");
    let busy = value.into_iter().fold(busy, |busy, value| busy.insert_header("retry-after", value));
    let world = World::scripted(vec![busy.clone(), busy, says("Paris")]).await;
    assert_eq!(world.ask().await.unwrap().attempts, 3);
    assert!(
        world.waits().iter().all(|wait| *wait <= Duration::from_secs(1)),
        "{:?}",
        world.waits()
    );
}

#[tokio::test]
async fn c44_an_absurd_wait_is_a_used_up_quota() {
    let busy = fails(429, "daily limit").insert_header("retry-after", "86400");
    let world = World::scripted(vec![busy]).await;
    let error = world.ask().await.unwrap_err();
    assert_eq!((error.kind, error.attempts), (ModelErrorKind::QuotaExhausted, 1));
    assert!(error.message.contains("daily limit") && error.message.contains("86400 s"));
    assert!(world.waits().is_empty());
}

#[tokio::test]
async fn c44_endless_429_end_as_rate_limited() {
    let world = World::scripted(vec![fails(429, "slow down")]).await;
    let error = world.ask().await.unwrap_err();
    assert_eq!((error.kind, error.attempts), (ModelErrorKind::RateLimited, 6));
}

#[rstest]
#[case(408)]
#[case(425)]
#[case(500)]
#[case(502)]
#[case(503)]
#[case(529)]
#[tokio::test]
async fn c46_what_may_pass_is_tried_again(#[case] status: u16) {
    let broken = ResponseTemplate::new(status).set_body_string("<html>sorry</html>");
    let world = World::scripted(vec![broken.clone(), broken, says("Paris")]).await;
    let reply = world.ask().await.unwrap();
    assert_eq!((reply.text.as_str(), reply.attempts), ("Paris", 3));
}

#[tokio::test]
async fn c46_an_empty_account_ends_at_once() {
    let world = World::scripted(vec![fails(402, "insufficient balance")]).await;
    let error = world.ask().await.unwrap_err();
    assert_eq!((error.kind, error.attempts), (ModelErrorKind::QuotaExhausted, 1));
    assert!(error.message.contains("insufficient balance"));
}

#[tokio::test]
async fn c46_an_error_in_a_success_is_tried_again() {
    let error =
        ResponseTemplate::new(200).set_body_json(json!({"error": {"message": "overloaded"}}));
    let world = World::scripted(vec![error, says("Paris")]).await;
    assert_eq!(world.ask().await.unwrap().attempts, 2);
}

#[tokio::test]
async fn c46_a_preflight_gives_up_sooner() {
    let world = World::scripted(vec![fails(503, "down")]).await;
    let error = ask_for(&world.model(|_| {}), Purpose::Preflight).await.unwrap_err();
    assert_eq!((error.kind, error.attempts), (ModelErrorKind::Server, 3));
}

#[tokio::test]
async fn c47_attempts_that_were_billed_count_although_they_brought_nothing() {
    let world = World::scripted(vec![fails(500, "down"), says("")]).await;
    let model = world.model(|config| {
        config.price_in = Some(0.5);
        config.price_out = Some(2.0);
    });
    let error = ask(&model).await.unwrap_err();
    assert_eq!((error.billed.answers, error.billed.usage), (1, Usage::new(1_000, 10)));
    assert_eq!((error.billed.cost_usd_micros, error.attempts), (Some(520), 2));
}

#[tokio::test]
async fn c47_a_failed_call_that_was_billed_costs_what_its_answers_cost_or_nobody_knows() {
    let world = World::scripted(vec![says("")]).await;
    let unpriced = world.ask().await.unwrap_err().billed;
    assert_eq!((unpriced.answers, unpriced.cost_usd_micros), (1, None));
    let priced = world.model(|config| {
        config.price_in = Some(0.5);
        config.price_out = Some(2.0);
    });
    assert_eq!(ask(&priced).await.unwrap_err().billed.cost_usd_micros, Some(520));
}

#[tokio::test]
async fn c47_without_a_price_or_without_tokens_the_cost_is_unknown() {
    let silent = json!({"choices": [{"message": {"content": "Paris"}, "finish_reason": "stop"}]});
    let silent = ResponseTemplate::new(200).set_body_json(silent);
    let world = World::scripted(vec![says("Paris"), silent]).await;
    assert_eq!(world.ask().await.unwrap().cost_usd_micros, None);
    let priced = world.model(|config| {
        config.price_in = Some(0.5);
        config.price_out = Some(2.0);
    });
    let reply = ask(&priced).await.unwrap();
    assert_eq!((reply.usage, reply.cost_usd_micros), (None, None));
}
