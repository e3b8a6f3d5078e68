//! Handoffs over several rounds, against the reference system's file formats.

use super::*;
use serde_json::{Value, json};
use skillopt_domain::outcome::Sample;

use skillopt_engine::ports::{ChatRequest, Message, Model, ModelErrorKind, Purpose};
use std::fs;
use std::path::Path;
use std::sync::Arc;

fn handoff(dir: &Path) -> Handoff {
    let redact = |text: &str| text.replace("sk-1234567890", "[REDACTED_OPENAI_KEY]");
    let folder = dir.join(".skillopt-sleep-handoff");
    Handoff::new(folder, &dir.join("state"), Arc::new(redact))
}

#[test]
fn the_id_of_a_prompt_is_that_of_the_reference_system() {
    assert_eq!(prompt_id("abc"), "ba7816bf8f01cfea");
    assert_eq!(placeholder("ba7816bf8f01cfea"), "[[SKILLOPT-SLEEP-PENDING:ba7816bf8f01cfea]]");
}

#[test]
fn prompts_are_asked_once_and_answered_in_files() {
    let dir = tempfile::tempdir().unwrap();
    let round = handoff(dir.path());
    let id = round.pend("first", 100).unwrap();
    round.pend("second", 200).unwrap();
    round.pend("first", 100).unwrap();
    assert_eq!(round.flush().unwrap(), 2);
    assert!(!round.has_pending());

    let ignored = fs::read_to_string(round.dir().join(".gitignore")).unwrap();
    assert_eq!(ignored, "*\n", "it quotes sessions, and is out of git");
    let file: Value =
        serde_json::from_slice(&fs::read(round.dir().join("pending.json")).unwrap()).unwrap();
    assert_eq!(file["format"], "skillopt_sleep.handoff.v1");
    assert_eq!(file["answers_dir"], json!(round.dir().join("answers")));
    let first =
        file["pending"].as_array().unwrap().iter().find(|row| row["id"] == id.as_str()).unwrap();
    let answer_file = round.dir().join(format!("answers/{id}.md"));
    assert_eq!(
        *first,
        json!({"id": id, "answer_file": answer_file, "max_tokens": 100, "prompt": "first"})
    );
    let text = fs::read_to_string(round.dir().join("PROMPTS.md")).unwrap();
    assert!(
        text.contains(&format!(
            "===== BEGIN PROMPT {id} =====\nfirst\n===== END PROMPT {id} ====="
        ))
    );

    let inbox = handoff(dir.path());
    inbox.answer(&id, "done\n").unwrap();
    assert_eq!(inbox.answer_of("first").unwrap().as_deref(), Some("done"));
    assert_eq!(inbox.pending().unwrap().len(), 1);
    for bad in ["../../x", "0123456789abcdef", id.as_str()] {
        assert!(matches!(inbox.answer(bad, "x"), Err(HandoffError::UnknownId(_))), "{bad}");
    }
    let other = inbox.pending().unwrap().remove(0).id;
    assert!(matches!(inbox.answer(&other, " \n"), Err(HandoffError::EmptyAnswer)));
}

#[test]
fn f15_a_prompt_with_a_secret_has_one_id_in_every_round() {
    let dir = tempfile::tempdir().unwrap();
    let one = handoff(dir.path());
    let raw = one.pend("key sk-1234567890", 1).unwrap();
    let pinned = one.pend("key [REDACTED_OPENAI_KEY]", 1).unwrap();
    assert_eq!(raw, pinned);
    one.flush().unwrap();
    assert!(!fs::read_to_string(one.dir().join("PROMPTS.md")).unwrap().contains("sk-1234567890"));
    one.answer(&raw, "yes").unwrap();
    assert_eq!(one.answer_of("key sk-1234567890").unwrap().as_deref(), Some("yes"));
}

#[test]
fn a_prompt_made_of_a_missing_answer_is_not_asked() {
    let dir = tempfile::tempdir().unwrap();
    let round = handoff(dir.path());
    let text = format!("judge: {}", placeholder("ba7816bf8f01cfea"));
    assert!(matches!(round.pend(&text, 1), Err(HandoffError::NeedsAnswer)));
    assert_eq!(round.flush().unwrap(), 0);
    assert!(!round.dir().exists(), "nothing was asked, so nothing is left");
}

#[test]
fn pins_are_read_back_and_a_finished_night_is_put_aside() {
    let dir = tempfile::tempdir().unwrap();
    let round = handoff(dir.path());
    assert_eq!(round.finish(3, 0).unwrap(), None);
    assert_eq!(round.pinned(Pinned::Tasks).unwrap(), None);
    round.pin(Pinned::Tasks, &json!([{"id": "t"}])).unwrap();
    assert_eq!(handoff(dir.path()).pinned(Pinned::Tasks).unwrap(), Some(json!([{"id": "t"}])));
    let done = round.finish(3, 0).unwrap().unwrap();
    assert!(done.ends_with(".skillopt-sleep-handoff.night3.done") && !round.dir().exists());
    round.pin(Pinned::Digests, &json!([])).unwrap();
    let again = round.finish(3, 0).unwrap().unwrap();
    assert!(again.ends_with(".skillopt-sleep-handoff.night3.done.19700101-000000"));
}

#[cfg(unix)]
#[test]
fn nothing_is_written_through_a_link_that_leads_nowhere() {
    let dir = tempfile::tempdir().unwrap();
    let round = handoff(dir.path());
    let outside = dir.path().join("outside");
    fs::create_dir(round.dir()).unwrap();
    std::os::unix::fs::symlink(&outside, round.dir().join(".gitignore")).unwrap();
    round.pend("first", 100).unwrap();
    assert!(matches!(round.flush(), Err(HandoffError::NotPlain(_))));
    assert!(!outside.exists());
    assert!(matches!(round.round(), Err(HandoffError::NotPlain(_))));
}

#[test]
fn pins_that_a_cloned_project_brought_are_told_and_not_used() {
    let dir = tempfile::tempdir().unwrap();
    let round = handoff(dir.path());
    assert_eq!(round.foreign_pins().unwrap(), None);
    fs::create_dir(round.dir()).unwrap();
    for name in ["digests.json", "tasks.json"] {
        fs::write(round.dir().join(name), "[]\n").unwrap();
    }
    for what in [Pinned::Digests, Pinned::Tasks] {
        assert_eq!(round.pinned(what).unwrap(), None);
    }
    let told = round.foreign_pins().unwrap().unwrap();
    assert!(told.contains("begins anew: digests.json and tasks.json in "), "{told}");

    round.pin(Pinned::Tasks, &json!([])).unwrap();
    assert_eq!(handoff(dir.path()).pinned(Pinned::Tasks).unwrap(), Some(json!([])));
    let told = round.foreign_pins().unwrap().unwrap();
    assert!(told.contains("begins anew: digests.json in "), "{told}");
    fs::write(round.dir().join("tasks.json"), "[1]\n").unwrap();
    assert_eq!(round.pinned(Pinned::Tasks).unwrap(), None, "somebody changed them");
}

#[test]
fn pins_of_a_night_that_is_done_are_no_pins_of_the_next_one() {
    let dir = tempfile::tempdir().unwrap();
    let round = handoff(dir.path());
    round.pin(Pinned::Tasks, &json!([])).unwrap();
    let done = round.finish(1, 0).unwrap().unwrap();
    fs::rename(done, round.dir()).unwrap();
    assert_eq!(round.pinned(Pinned::Tasks).unwrap(), None);
}

#[cfg(unix)]
#[test]
fn a_night_neither_reads_nor_writes_through_linked_folders() {
    for linked in ["", "answers"] {
        let dir = tempfile::tempdir().unwrap();
        let round = handoff(dir.path());
        let outside = dir.path().join("outside");
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join(format!("{}.md", prompt_id("first"))), "theirs").unwrap();
        let link = match linked {
            "" => round.dir().to_owned(),
            name => {
                fs::create_dir(round.dir()).unwrap();
                round.dir().join(name)
            }
        };
        std::os::unix::fs::symlink(&outside, link).unwrap();
        round.pend("first", 100).unwrap();
        let refused = [
            round.answer_of("first").map(|_| ()),
            round.pinned(Pinned::Tasks).map(|_| ()),
            round.pin(Pinned::Tasks, &json!([])),
            round.flush().map(|_| ()),
            round.flush().map(|_| ()),
            round.finish(1, 0).map(|_| ()),
        ];
        for refused in refused {
            assert!(matches!(refused, Err(HandoffError::NotPlain(_))), "{linked}: {refused:?}");
        }
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 1, "nothing was written there");
    }
}

#[cfg(unix)]
#[test]
fn neither_pins_nor_answers_are_read_through_links() {
    let dir = tempfile::tempdir().unwrap();
    let round = handoff(dir.path());
    let id = round.pend("first", 100).unwrap();
    round.flush().unwrap();
    let outside = dir.path().join("outside");
    fs::write(&outside, "[]").unwrap();
    for name in ["tasks.json".to_owned(), format!("answers/{id}.md")] {
        std::os::unix::fs::symlink(&outside, round.dir().join(name)).unwrap();
    }
    assert!(matches!(round.pinned(Pinned::Tasks), Err(HandoffError::NotPlain(_))));
    assert!(matches!(round.answer_of("first"), Err(HandoffError::NotPlain(_))));
    assert_eq!(round.pending().unwrap().len(), 1, "it has no answer");
}

#[test]
fn a_damaged_list_of_prompts_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let round = handoff(dir.path());
    fs::create_dir_all(round.dir()).unwrap();
    fs::write(
        round.dir().join("pending.json"),
        "{\"format\": \"v9\", \"answers_dir\": \"\", \"pending\": []}",
    )
    .unwrap();
    assert!(matches!(round.pending(), Err(HandoffError::Damaged { .. })));
}

#[tokio::test]
async fn as_a_model_a_missing_answer_is_pending_and_a_given_one_is_the_reply() {
    let dir = tempfile::tempdir().unwrap();
    let model = HandoffModel::new(handoff(dir.path()));
    let ask = |text: &str| ChatRequest::new(Purpose::Qa, "night", vec![Message::user(text)]);
    let sample = Sample { seed: 1, epoch: 0, repeat: 0, fresh: None };
    let cancel = tokio_util::sync::CancellationToken::new();
    for text in ["one", "two"] {
        let err = model.chat(&ask(text), &sample, &cancel).await.unwrap_err();
        assert_eq!(err.kind, ModelErrorKind::Pending);
        assert!(!err.kind.is_fatal(false), "independent calls go on");
    }
    assert_eq!(model.handoff().flush().unwrap(), 2);
    model.handoff().answer(&prompt_id("one"), "1").unwrap();
    let reply = model.chat(&ask("one"), &sample, &cancel).await.unwrap();
    assert_eq!(reply.text, "1");
    let costs = (reply.cost_usd_micros, model.worst_case(&ask("one")).cost_usd_micros);
    assert_eq!(costs, (None, None), "whoever answered is paid elsewhere: unknown is not zero");
}
