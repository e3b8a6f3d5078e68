use super::*;
use rstest::rstest;
use skillopt_engine::ports::{Finish, Model, ModelErrorKind, Purpose};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

fn request(system: &str, user: &str) -> ChatRequest {
    ChatRequest::new(
        Purpose::Qa,
        "steps/step_0001/rollout",
        vec![Message::system(system), Message::user(user)],
    )
}

fn sample(epoch: u32) -> Sample {
    Sample { seed: 42, epoch, repeat: 0, fresh: Some("own".into()) }
}

fn recorded(system: &str, user: &str, text: &str) -> Exchange {
    let asked = request(system, user);
    Exchange {
        role: Role::Target,
        purpose: Some(asked.purpose),
        phase: Some(asked.phase.clone()),
        model: "m".into(),
        question: Question::Recorded {
            messages: asked.messages,
            max_tokens: None,
            draw: Draw::of(&sample(1)),
        },
        answer: Answer::Reply { text: text.into(), finish: Finish::Stop, usage: None },
        line: 0,
    }
}

fn text_of(found: &Exchange) -> String {
    found.to_reply().expect("a reply").text
}

const RULES: &str = r#"{"format": "skillopt-cassette/1", "about": "rules"}

{"role": "target", "contains": ["rule a", "question 1"], "lacks": ["poison"], "reply": "right"}
{"role": "target", "phase": "steps/step_0001/rollout", "reply": "wrong", "finish": "length"}
{"role": "optimizer", "purpose": "ranking", "json": {"selected_indices": [1]}}
"#;

#[test]
fn what_is_written_is_read_again() {
    let skill = Some("# Skill\n".to_owned());
    let header = Header { run: "r".into(), skill, ..Header::default() };
    let failure = Exchange {
        answer: Answer::Failure(RecordedFailure {
            kind: ModelErrorKind::Timeout,
            message: "slow".into(),
        }),
        ..recorded("s", "broken", "")
    };
    let written = Cassette::new(header, vec![recorded("s", "q", "a\n\"b\""), failure]);
    let read = Cassette::read(&written.text()).expect("a cassette");
    assert_eq!(read.text(), written.text());
    assert_eq!((read.header(), read.sha()), (written.header(), written.sha()));
    let find = |user: &str| read.find(Role::Target, &request("s", user), &sample(1));
    assert_eq!(text_of(find("q").expect("recorded")), "a\n\"b\"");
    let failed = find("broken").expect("recorded").to_reply().expect_err("a failure");
    assert_eq!((failed.kind, failed.message.as_str()), (ModelErrorKind::Timeout, "slow"));
}

#[rstest]
#[case("rule a", "question 1", "right")]
#[case("rule a poison", "question 1", "wrong")]
#[case("rule b", "question 1", "wrong")]
fn the_first_rule_that_holds_answers(
    #[case] system: &str,
    #[case] user: &str,
    #[case] expect: &str,
) {
    let cassette = Cassette::read(RULES).expect("a cassette");
    let found = cassette.find(Role::Target, &request(system, user), &sample(3)).expect("found");
    assert_eq!(text_of(found), expect);
}

#[test]
fn a_recorded_exchange_goes_before_rules() {
    let mut cassette = Cassette::read(RULES).expect("a cassette");
    cassette.exchanges.push(recorded("rule a", "question 1", "as recorded"));
    let cassette = Cassette::new(cassette.header, cassette.exchanges);
    let found = cassette.find(Role::Target, &request("rule a", "question 1"), &sample(1));
    assert_eq!(text_of(found.expect("found")), "as recorded");
}

#[test]
fn what_is_missing_is_told_with_stage_and_nearest_exchange() {
    let lines = vec![recorded("skill one", "first", "a"), recorded("skill two", "second", "b")];
    let cassette = Cassette::read(&Cassette::new(Header::default(), lines).text()).expect("read");
    let asked = |user: &str, epoch: u32| {
        cassette
            .find(Role::Target, &request("skill two", user), &sample(epoch))
            .expect_err("missing")
    };
    let message = asked("second thoughts", 1);
    for part in ["call `qa` in steps/step_0001/rollout", "line 3", "message 2 parts", "thoughts"] {
        assert!(message.contains(part), "{part} is missing in {message}");
    }
    assert!(
        asked("second", 2).contains("epoch 1, repeat 0 was recorded"),
        "{}",
        asked("second", 2)
    );
    let none = cassette.find(Role::Optimizer, &request("s", "q"), &sample(1)).expect_err("missing");
    assert!(none.contains("none for this role"), "{none}");
    let rules = Cassette::read(RULES).expect("a cassette");
    let ranking = ChatRequest { purpose: Purpose::LrControl, ..request("s", "q") };
    let none = rules.find(Role::Optimizer, &ranking, &sample(1)).expect_err("missing");
    assert!(none.contains("line 5") && none.contains("another purpose"), "{none}");
}

#[rstest]
#[case("", "line 1: the file is empty")]
#[case("{\"format\": \"tape/7\"}", "`format` is `tape/7`")]
#[case("{\"format\": \"skillopt-cassette/1\"}\n{\"role\": \"target\"}", "line 2: has no answer")]
#[case(
    "{\"format\": \"skillopt-cassette/1\"}\n\n{\"role\": \"judge\", \"reply\": \"x\"}",
    "line 3: the exchange cannot be read"
)]
#[case(
    "{\"format\": \"skillopt-cassette/1\"}\n{\"role\": \"target\", \"answer\": \"x\"}",
    "unknown field `answer`"
)]
#[case(
    "{\"format\": \"skillopt-cassette/1\"}\n{\"role\": \"target\", \"messages\": [], \"reply\": \"x\"}",
    "no `draw`"
)]
fn a_line_that_cannot_be_used_is_named(#[case] text: &str, #[case] expect: &str) {
    let message = Cassette::read(text).expect_err("refused").to_string();
    assert!(message.contains(expect), "{message}");
}

#[tokio::test]
async fn a_request_that_is_not_in_the_cassette_ends_the_run_and_preflight_is_always_answered() {
    let cassette = Arc::new(Cassette::read(RULES).expect("a cassette"));
    let model = ReplayModel::new(Role::Optimizer, "m", cassette);
    let ask = |purpose| {
        let request = ChatRequest { purpose, ..request("s", "q") };
        let model = model.clone();
        async move { model.chat(&request, &sample(1), &CancellationToken::new()).await }
    };
    assert_eq!(ask(Purpose::Ranking).await.expect("found").text, r#"{"selected_indices":[1]}"#);
    assert_eq!(ask(Purpose::Preflight).await.expect("reached").text, "OK");
    let error = ask(Purpose::Rewrite).await.expect_err("missing");
    assert_eq!(error.kind, ModelErrorKind::NotRecorded);
    assert!(error.kind.is_fatal(true), "it says nothing about the skill");
}
