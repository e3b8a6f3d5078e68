//! The simulated target on the sample data, through the port.

use super::phrases::{USELESS, wordings};
use super::rules::{Rule, recognise_line};
use super::*;
use rstest::rstest;
use serde::Deserialize;
use skillopt_domain::config::{BackendKind, ModelRole, TokenLimitParam};
use skillopt_domain::outcome::Sample;
use skillopt_engine::ports::{
    ChatReply, ChatRequest, Finish, Message, Model, ModelErrorKind, Purpose,
};
use std::path::Path;
use tokio_util::sync::CancellationToken;

#[derive(Deserialize)]
struct Item {
    question: String,
    context: String,
    answers: Vec<String>,
    task_type: String,
}

fn items() -> Vec<Item> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/searchqa_sample");
    let read = |split: &str| {
        let text = std::fs::read_to_string(root.join(split).join("items.json")).unwrap();
        serde_json::from_str::<Vec<Item>>(&text).unwrap()
    };
    ["train", "val", "test"].into_iter().flat_map(read).collect()
}

pub(super) fn settings() -> ModelRole {
    ModelRole {
        backend: BackendKind::Mock,
        model: "sim-target".to_owned(),
        base_url: String::new(),
        api_key_env: String::new(),
        temperature: None,
        max_tokens: 16_384,
        token_limit_param: TokenLimitParam::Auto,
        timeout_s: 300.0,
        max_retries: 5,
        max_retry_after_s: 300.0,
        total_timeout_s: 900.0,
        extra_body: None,
        price_in: None,
        price_cached_in: None,
        price_cache_write: None,
        price_out: None,
        send_headers: false,
        mock_latency_ms: 0,
        provider: skillopt_domain::config::Provider::default(),
    }
}

pub(super) fn sample(seed: u64) -> Sample {
    Sample { seed, epoch: 0, repeat: 0, fresh: None }
}

fn request(skill: &str, context: &str, question: &str) -> ChatRequest {
    let system = format!("You answer.\n\n<skill>\n{skill}\n</skill>\n");
    let user = format!("<passages>\n{context}\n</passages>\n\nQuestion: {question}");
    ChatRequest::new(Purpose::Qa, "", vec![Message::system(system), Message::user(user)])
}

async fn ask(target: &MockTarget, request: &ChatRequest, seed: u64) -> ChatReply {
    target.chat(request, &sample(seed), &CancellationToken::new()).await.unwrap()
}

fn answer_of(reply: &ChatReply) -> &str {
    let (_, rest) = reply.text.rsplit_once("<answer>").unwrap();
    rest.strip_suffix("</answer>").unwrap()
}

async fn accuracy(skill: &str, items: &[Item], seed: u64) -> f64 {
    let target = MockTarget::new(&settings());
    let mut right = 0_u32;
    for item in items {
        let reply = ask(&target, &request(skill, &item.context, &item.question), seed).await;
        right += u32::from(answer_of(&reply).eq_ignore_ascii_case(&item.answers[0]));
    }
    f64::from(right) / f64::from(u32::try_from(items.len()).unwrap())
}

fn first_wordings(rules: &[Rule]) -> String {
    rules.iter().map(|rule| wordings(*rule)[0]).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_reader_finds_the_expected_answer_of_every_sample_item() {
    for item in items() {
        let reading = reader::read(&item.context, &item.question).expect(&item.question);
        assert_eq!(reading.short, item.answers[0], "{}", item.question);
        let plain = item.context.replace('"', "");
        for form in &reading.tempting {
            assert_ne!(form, &reading.short);
            let stands_there = plain.to_lowercase().contains(&form.to_lowercase());
            assert!(stands_there || item.task_type == "river", "{form} of {}", item.question);
        }
    }
}

#[tokio::test]
async fn helpful_rules_lift_the_accuracy_each_by_itself() {
    let items = items();
    for seed in [1, 42] {
        let without = accuracy("No rules yet.", &items, seed).await;
        let with_all = accuracy(&first_wordings(&Rule::HELPFUL), &items, seed).await;
        assert!((0.15..0.5).contains(&without), "{without}");
        assert!(with_all > 0.8, "{with_all}");
        for rule in Rule::HELPFUL {
            let with_one = accuracy(wordings(rule)[1], &items, seed).await;
            assert!(with_one > without + 0.03, "{rule:?}: {without} to {with_one}");
        }
    }
}

#[tokio::test]
async fn each_harmful_rule_lowers_the_accuracy_with_and_without_helpful_ones() {
    let items = items();
    let helpful = first_wordings(&Rule::HELPFUL);
    let (low, high) = (accuracy("", &items, 42).await, accuracy(&helpful, &items, 42).await);
    for rule in Rule::HARMFUL {
        let line = wordings(rule)[0];
        let alone = accuracy(line, &items, 42).await;
        let beside = accuracy(&format!("{helpful}\n{line}"), &items, 42).await;
        assert!(alone < low, "{rule:?} alone: {low} to {alone}");
        assert!(beside < high - 0.04, "{rule:?} beside the others: {high} to {beside}");
    }
}

#[tokio::test]
async fn useless_lines_change_no_answer_and_a_very_long_skill_costs_some() {
    let items = items();
    let helpful = first_wordings(&Rule::HELPFUL);
    let with_all = accuracy(&helpful, &items, 42).await;
    let padded = format!("{helpful}\n{}", USELESS.join("\n"));
    assert!((accuracy(&padded, &items, 42).await - with_all).abs() < 1e-12);
    let long = format!("{helpful}\n{}", "Stay calm. ".repeat(1500));
    assert!(accuracy(&long, &items, 42).await < with_all);
}

#[tokio::test]
async fn a_request_has_one_reply_a_sample_and_another_seed_draws_anew() {
    let target = MockTarget::new(&settings());
    let (mut other_seed, mut other_answer) = (0, 0);
    for item in items() {
        let request = request("No rules yet.", &item.context, &item.question);
        let first = ask(&target, &request, 1).await;
        assert_eq!(first, ask(&target, &request, 1).await);
        let second = ask(&target, &request, 2).await;
        other_seed += u32::from(first.text != second.text);
        other_answer += u32::from(answer_of(&first) != answer_of(&second));
    }
    assert!(other_seed > 50 && other_answer > 5, "{other_seed} texts, {other_answer} answers");
}

#[test]
fn each_wording_holds_its_own_rule_and_no_other() {
    for rule in Rule::HELPFUL.into_iter().chain(Rule::HARMFUL) {
        for line in wordings(rule) {
            assert_eq!(recognise_line(line).collect::<Vec<_>>(), [rule], "{line}");
        }
    }
    for line in USELESS {
        assert_eq!(recognise_line(line).count(), 0, "{line}");
    }
}

#[rstest]
#[case("[DOC] The mill burned in 1801. [DOC] Anna Bell sold it to Tom.", "Who sold it?")]
#[case("", "")]
#[case("no passages", "In which year was the mill opened?")]
#[case("[DOC] é", "How many é does the é have?")]
#[tokio::test]
async fn any_question_gets_an_answer(#[case] context: &str, #[case] question: &str) {
    let reply = ask(&MockTarget::new(&settings()), &request("", context, question), 1).await;
    assert!(!answer_of(&reply).is_empty());
}

#[tokio::test]
async fn a_preflight_is_answered_ok_and_tokens_are_counted_at_no_cost() {
    let target = MockTarget::new(&settings());
    let mut request = request("", "[DOC] x", "y?");
    request.purpose = Purpose::Preflight;
    let reply = ask(&target, &request, 1).await;
    assert_eq!((reply.text.as_str(), reply.cost_usd_micros), ("OK", Some(0)));
    assert!(reply.usage.unwrap().prompt_tokens > 10);
    assert!(target.is_simulated());
    assert_eq!(target.name(), "sim-target");
    assert_eq!(target.identity()["kind"], "mock");
}

#[tokio::test]
async fn a_token_limit_cuts_the_reply_and_bounds_the_worst_case() {
    let target = MockTarget::new(&settings());
    let mut request = request("", "[DOC] x", "y?");
    request.max_tokens = Some(3);
    let reply = ask(&target, &request, 1).await;
    assert_eq!((reply.finish, reply.text.len()), (Finish::Length, 12));
    let usage = reply.usage.unwrap();
    let worst = target.worst_case(&request);
    assert!(usage.prompt_tokens + usage.completion_tokens <= worst.tokens);
    assert_eq!(worst.cost_usd_micros, Some(0));
}

#[tokio::test(start_paused = true)]
async fn the_simulated_time_passes_with_jitter_and_ends_on_cancel() {
    let target = MockTarget::new(&ModelRole { mock_latency_ms: 1000, ..settings() });
    let start = tokio::time::Instant::now();
    let reply = ask(&target, &request("", "[DOC] x", "y?"), 1).await;
    let waited = u64::try_from(start.elapsed().as_millis()).unwrap();
    assert!((600..=1401).contains(&waited) && waited.abs_diff(reply.latency_ms) <= 1, "{waited}");

    let cancel = CancellationToken::new();
    cancel.cancel();
    let request = request("", "[DOC] x", "y?");
    let err = target.chat(&request, &sample(1), &cancel).await.expect_err("cancelled");
    assert_eq!(err.kind, ModelErrorKind::Cancelled);
}
