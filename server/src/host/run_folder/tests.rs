//! Atomic writes, safe paths and the rows that other tools read.

use super::*;
use rstest::rstest;
use serde_json::json;
use skillopt_domain::outcome::TaskOutcome;
use skillopt_domain::score::{Score, TaskScore};
use skillopt_engine::ports::{AgentStep, Message, Speaker};

fn record(id: &str, outcome: Outcome, reply: &str) -> RolloutRecord {
    RolloutRecord {
        outcome: TaskOutcome {
            task: id.into(),
            title: "Who?".into(),
            task_type: "qa".into(),
            outcome,
            call: None,
            cached: false,
        },
        messages: vec![Message::system("be brief"), Message::user("Who?")],
        steps: Vec::new(),
        reply: reply.into(),
        evaluation_note: if reply.is_empty() { String::new() } else { "expected: Ada".into() },
    }
}

fn scored() -> Outcome {
    Outcome::Scored {
        score: TaskScore { hard: Score::ZERO, soft: Score::try_new(0.5).expect("a score") },
        predicted: "Ada L".into(),
        fail_reason: "EM=0".into(),
        truncated: false,
    }
}

#[tokio::test]
async fn files_are_written_under_the_folder_and_replaced_whole() {
    let dir = tempfile::tempdir().expect("folder");
    let folder = DiskRunFolder::open(dir.path()).expect("opened");
    for text in ["one", "two"] {
        folder.write("steps/step_0001/a.md", text.to_owned()).await.expect("written");
    }
    let path = dir.path().join("steps/step_0001");
    assert_eq!(std::fs::read_to_string(path.join("a.md")).expect("read"), "two");
    assert_eq!(std::fs::read_dir(path).expect("listed").count(), 1);
}

#[rstest]
#[case("../x")]
#[case("/etc/x")]
#[case("a/../../x")]
#[case("a\\..\\x")]
#[case("")]
#[tokio::test]
async fn c71_paths_outside_of_the_folder_are_refused(#[case] path: &str) {
    let dir = tempfile::tempdir().expect("folder");
    let folder = DiskRunFolder::open(dir.path()).expect("opened");
    assert!(folder.write(path, String::new()).await.is_err());
    assert!(folder.write_rollouts(path, Vec::new()).await.is_err());
}

#[tokio::test]
async fn rollouts_have_rows_and_what_was_said_in_a_file_each() {
    let dir = tempfile::tempdir().expect("folder");
    let folder = DiskRunFolder::open(dir.path()).expect("opened");
    let timeout = Outcome::InfraError { code: "timeout".into(), message: "after 300 s".into() };
    let rollouts =
        vec![record("a:1", scored(), "<answer>Ada L</answer>"), record("b", timeout, "")];
    folder.write_rollouts("steps/step_0001/rollout", rollouts).await.expect("written");
    let dir = dir.path().join("steps/step_0001/rollout");
    let text = std::fs::read_to_string(dir.join("results.jsonl")).expect("rows");
    let rows: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("a row")).collect();
    assert_eq!(rows[0]["id"], "a:1");
    assert_eq!((&rows[0]["hard"], &rows[0]["soft"]), (&json!(0.0), &json!(0.5)));
    assert_eq!(rows[0]["predicted_answer"], "Ada L");
    assert_eq!((&rows[0]["n_turns"], &rows[0]["agent_ok"]), (&json!(1), &json!(true)));
    assert!(rows[1].get("hard").is_none(), "an error has no score: {}", rows[1]);
    assert_eq!(
        (&rows[1]["outcome"], &rows[1]["phase"]),
        (&json!("infra_error"), &json!("timeout"))
    );
    assert_eq!(rows[1]["agent_ok"], false);
    let text = std::fs::read_to_string(dir.join(predictions::FILE)).expect("what was said");
    let said: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("an attempt")).collect();
    assert_eq!((&said[0]["id"], &said[1]["id"]), (&json!("a:1"), &json!("b")));
    let conversation = said[0]["conversation"].as_array().expect("a list");
    let roles: Vec<&Value> = conversation.iter().map(|message| &message["role"]).collect();
    assert_eq!(roles, ["system", "user", "assistant", "system"]);
    assert_eq!(conversation[3]["content"], "[EVALUATION RESULT] expected: Ada");
    let names = std::fs::read_dir(&dir).expect("listed").count();
    assert_eq!(names, 2, "no file an attempt");
}

#[test]
fn what_an_agent_did_stands_in_its_conversation_as_calls_of_tools() {
    let step =
        AgentStep { kind: "command".into(), text: "cat task.md".into(), result: "Who?".into() };
    let record = RolloutRecord { steps: vec![step], ..record("t", scored(), "Ada") };
    let line = predictions::line(&record).expect("a line");
    let lines: Value = serde_json::from_str(&line).expect("JSON");
    let expect = json!([
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": "Who?"},
        {"type": "tool_call", "cmd": "command: cat task.md", "obs": "Who?"},
        {"role": "assistant", "content": "Ada"},
        {"role": "system", "content": "[EVALUATION RESULT] expected: Ada"},
    ]);
    assert_eq!(lines["conversation"], expect);
}

#[tokio::test]
async fn a_set_that_is_written_again_replaces_what_was_said() {
    let dir = tempfile::tempdir().expect("folder");
    let folder = DiskRunFolder::open(dir.path()).expect("opened");
    for reply in ["old", "new"] {
        folder.write_rollouts("one", vec![record("a", scored(), reply)]).await.expect("written");
    }
    let text = std::fs::read_to_string(dir.path().join("one").join(predictions::FILE));
    let text = text.expect("what was said");
    assert!(text.contains("new") && !text.contains("old"), "{text}");
}

#[test]
fn the_prompts_of_an_attempt_are_what_was_sent_and_not_what_was_said_about_it() {
    let mut record = record("a", scored(), "x");
    let prompts = |record: &RolloutRecord| {
        let line = predictions::line(record).expect("a line");
        let said: predictions::Prediction<'_> = serde_json::from_str(&line).expect("an attempt");
        [Speaker::System, Speaker::User].map(|speaker| said.prompt(speaker).to_owned())
    };
    assert_eq!(prompts(&record), ["be brief", "Who?"]);
    record.messages.remove(0);
    assert_eq!(prompts(&record), ["", "Who?"]);
}

#[test]
fn a_second_holder_is_refused_until_the_first_one_lets_go() {
    let dir = tempfile::tempdir().expect("folder");
    let first = DiskRunFolder::open(dir.path()).expect("opened");
    assert!(first.is_locked());
    let err = DiskRunFolder::open(dir.path()).expect_err("refused");
    assert!(err.to_string().contains("another process writes to it"), "{err}");
    drop(first);
    assert!(DiskRunFolder::open(dir.path()).is_ok());
}
