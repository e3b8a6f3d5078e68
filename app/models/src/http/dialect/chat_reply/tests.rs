//! Bodies as providers send them, and what is made of each.

use super::*;
use crate::http::dialect::Api;
use crate::http::failure::Again;
use rstest::rstest;
use serde_json::json;
use skillopt_engine::ports::{Finish, ModelErrorKind};

fn read(body: &[u8]) -> Result<Completion, Failure> {
    Api::Chat.read(body)
}

fn body(message: &Value, finish: &str) -> Vec<u8> {
    let choice = json!({"message": message, "finish_reason": finish});
    json!({"choices": [choice]}).to_string().into_bytes()
}

fn text(content: &str, finish: &str) -> (String, Finish) {
    let completion = read(&body(&json!({"content": content}), finish)).unwrap();
    (completion.text, completion.finish)
}

#[test]
fn a_plain_answer_is_kept_to_the_byte() {
    assert_eq!(text(" Paris\n", "stop"), (" Paris\n".to_owned(), Finish::Stop));
}

#[test]
fn c28_a_cut_reply_says_so() {
    let cut = "```json\n{\"edits\":[";
    assert_eq!(text(cut, "length"), (cut.to_owned(), Finish::Length));
}

#[test]
fn c29_reasoning_is_taken_off_and_json_is_not_touched() {
    let reply = r#"<think>{"draft":1}</think>{"edits":[]}"#;
    assert_eq!(text(reply, "stop").0, r#"{"edits":[]}"#);
    let json_with_tag = r#"{"content":"remove <think>…</think>"}"#;
    assert_eq!(text(json_with_tag, "stop").0, json_with_tag);
}

#[rstest]
#[case::never_closed(json!({"content": "<think>first"}), "stop", ModelErrorKind::ReasoningOnly, Again::Twice)]
#[case::separate_field(json!({"content": "", "reasoning_content": "first"}), "stop", ModelErrorKind::ReasoningOnly, Again::Twice)]
#[case::other_field(json!({"content": null, "reasoning": "first"}), "stop", ModelErrorKind::ReasoningOnly, Again::Twice)]
#[case::reasoning_part(json!({"content": [{"type": "thinking", "thinking": "hm"}]}), "stop", ModelErrorKind::ReasoningOnly, Again::Twice)]
#[case::limit_used_up(json!({"content": ""}), "length", ModelErrorKind::ReasoningOnly, Again::Never)]
#[case::empty(json!({"content": ""}), "stop", ModelErrorKind::Empty, Again::Twice)]
#[case::blank(json!({"content": " \n"}), "stop", ModelErrorKind::Empty, Again::Twice)]
#[case::null(json!({"content": null, "reasoning_content": null}), "stop", ModelErrorKind::Empty, Again::Twice)]
#[case::tool_call(json!({"content": null, "tool_calls": []}), "tool_calls", ModelErrorKind::Empty, Again::Twice)]
fn c29_a_reply_without_an_answer_is_a_failure_not_a_zero(
    #[case] message: Value,
    #[case] finish: &str,
    #[case] kind: ModelErrorKind,
    #[case] again: Again,
) {
    let failure = read(&body(&message, finish)).unwrap_err();
    assert_eq!((failure.kind, failure.again), (kind, again));
}

#[rstest]
#[case::in_words(json!({"content": "I'm sorry, but I can't help with that."}), "stop", "I'm sorry, but I can't help with that.")]
#[case::quoted(json!({"content": "> I cannot assist with this."}), "stop", "> I cannot assist with this.")]
#[case::own_field(json!({"content": null, "refusal": "Not this."}), "stop", "Not this.")]
#[case::own_part(json!({"content": [{"type": "refusal", "refusal": "Not this."}]}), "stop", "Not this.")]
#[case::filtered(json!({"content": "The first"}), "content_filter", "The first")]
#[case::filtered_at_once(json!({"content": ""}), "content_filter", "stopped by the provider's content filter")]
fn c32_a_refusal_is_an_answer_of_its_own_kind(
    #[case] message: Value,
    #[case] finish: &str,
    #[case] words: &str,
) {
    let completion = read(&body(&message, finish)).unwrap();
    assert_eq!((completion.text.as_str(), completion.finish), (words, Finish::Refused));
}

#[test]
fn c32_a_helpful_sentence_is_not_flagged() {
    assert_eq!(text("Sorry, I can help: Paris", "stop").1, Finish::Stop);
}

#[test]
fn content_in_parts_is_joined() {
    let message =
        json!({"content": [{"type": "text", "text": "Pa"}, {"type": "text", "text": "ris"}]});
    assert_eq!(read(&body(&message, "stop")).unwrap().text, "Paris");
}

#[rstest]
#[case(json!({"prompt_tokens": 5, "completion_tokens": 2}), Some(Usage::new(5, 2)))]
#[case(json!({"prompt_tokens": 5}), None)]
#[case(json!(null), None)]
#[case(json!({"prompt_tokens": -1, "completion_tokens": 2}), None)]
fn c47_tokens_that_are_not_told_are_unknown_not_zero(
    #[case] usage: Value,
    #[case] expected: Option<Usage>,
) {
    let choice = json!({"message": {"content": "Paris"}});
    let body = json!({"choices": [choice], "usage": usage}).to_string();
    assert_eq!(read(body.as_bytes()).unwrap().usage, expected);
}

#[rstest]
#[case::rate(json!({"type": "rate_limit_error", "message": "m"}), ModelErrorKind::RateLimited, Again::Backoff)]
#[case::quota(json!({"code": "insufficient_quota"}), ModelErrorKind::QuotaExhausted, Again::Never)]
#[case::key(json!({"type": "authentication_error"}), ModelErrorKind::Authentication, Again::Never)]
#[case::request(json!({"type": "invalid_request_error"}), ModelErrorKind::BadRequest, Again::Never)]
#[case::status(json!({"code": 502, "message": "upstream"}), ModelErrorKind::Server, Again::Backoff)]
#[case::unknown(json!("boom"), ModelErrorKind::Server, Again::Backoff)]
fn c46_an_error_with_status_200_is_sorted_by_what_it_says(
    #[case] error: Value,
    #[case] kind: ModelErrorKind,
    #[case] again: Again,
) {
    let failure = read(json!({"error": error}).to_string().as_bytes()).unwrap_err();
    assert_eq!((failure.kind, failure.again), (kind, again));
    let choice = json!({"choices": [{"message": {"content": ""}, "error": error}]});
    assert_eq!(read(choice.to_string().as_bytes()).unwrap_err().kind, kind);
}

#[rstest]
#[case::login_page("<!doctype html><title>Log in</title>", Again::Never)]
#[case::cut_json(r#"{"choices":[{"mess"#, Again::Backoff)]
#[case::nothing("", Again::Backoff)]
#[case::no_choices("{}", Again::Backoff)]
#[case::null_choices(r#"{"choices":null}"#, Again::Backoff)]
fn c46_what_is_not_the_api_is_a_server_failure(#[case] body: &str, #[case] again: Again) {
    let failure = read(body.as_bytes()).unwrap_err();
    assert_eq!((failure.kind, failure.again), (ModelErrorKind::Server, again));
}
