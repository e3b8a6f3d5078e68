//! Odd replies and what is read from them.

use super::*;
use rstest::rstest;
use serde_json::json;

#[rstest]
#[case::strict(r#"{"a": 1}"#)]
#[case::fence("Here it is:\n```json\n{\"a\": 1}\n```\nDone.")]
#[case::plain_fence("```\n{\"a\": 1}\n```")]
#[case::prose(r#"I think {this is} the patch: {"a": 1} as asked"#)]
#[case::twice_the_same("{\"a\": 1}\n{\"a\": 1}")]
#[case::bom("\u{feff}{\"a\": 1}")]
fn one_object_is_found(#[case] text: &str) {
    assert_eq!(Value::Object(parse_object(text).expect("read").object), json!({"a": 1}));
}

#[rstest]
#[case("nothing here", ReplyError::NoObject)]
#[case("[1, 2]", ReplyError::NoObject)]
#[case(r#"{"a": 1} or {"a": 2}"#, ReplyError::Ambiguous(2))]
#[case("{\"a\": ", ReplyError::NoObject)]
fn doubt_is_an_error(#[case] text: &str, #[case] expect: ReplyError) {
    assert_eq!(parse_object(text), Err(expect));
}

#[rstest]
#[case::trailing_commas(r#"{"edits":[{"op":"append","content":"a,]",},],}"#, json!({"edits":[{"op":"append","content":"a,]"}]}))]
#[case::comment("{\n// note\n\"a\": 1 /* x */}", json!({"a": 1}))]
#[case::raw_newline("{\"a\": \"x\ny\"}", json!({"a": "x\ny"}))]
#[case::bad_escape(r#"{"a": "\s+"}"#, json!({"a": "\\s+"}))]
fn c31_small_faults_are_repaired_and_noted(#[case] text: &str, #[case] expect: Value) {
    let parsed = parse_object(text).expect("read");
    assert_eq!(Value::Object(parsed.object), expect);
    assert!(parsed.repaired);
}

#[test]
fn c29_a_string_that_holds_a_think_tag_stays_intact() {
    let parsed = parse_object(r#"{"a": "<think>x</think>"}"#).expect("read");
    assert_eq!(parsed.object["a"], "<think>x</think>");
}

#[test]
fn huge_nonsense_is_refused_in_one_pass() {
    assert!(parse_object(&"{\"a\":".repeat(400_000)).is_err());
    assert!(parse_object(&"[".repeat(2_000_000)).is_err());
}
