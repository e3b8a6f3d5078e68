//! What waits for a person: edits that are taken one by one, the queue, and the first page.

use super::{World, get};
use crate::testing::{IMPROVED, OWNER};
use axum::response::Response;
use futures::StreamExt;
use rstest::rstest;
use serde_json::{Value, json};
use skillopt_domain::api::NightDecision;
use skillopt_domain::hash::Sha256Hex;
use skillopt_domain::ids::NightId;
use skillopt_domain::night::edit::{EditOp, EditRecord, Target};
use skillopt_domain::night::report::SleepReport;
use skillopt_domain::night::{NightProgress, NightTransition};
use skillopt_domain::run::RunTransition;
use skillopt_sleep::block::apply_edits;
use skillopt_sleep::stage::{
    Proposal, ProposedDoc, Role, TargetSpec, check_targets, publish, reserve,
};
use skillopt_store::{Author, Change, NewNight, NightEnd, NightScores};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

const AT: u64 = 1_780_000_000_000;
const OLD: &str = "# Old\n";

/// A night in the store with its folder.
struct Staged {
    id: NightId,
    dir: PathBuf,
    memory: PathBuf,
}

fn add(content: &str) -> EditRecord {
    EditRecord {
        target: Target::Memory,
        op: EditOp::Add,
        content: content.to_owned(),
        anchor: String::new(),
        rationale: String::new(),
    }
}

fn replace(anchor: &str, content: &str) -> EditRecord {
    EditRecord { op: EditOp::Replace, anchor: anchor.to_owned(), ..add(content) }
}

fn made(edits: &[EditRecord]) -> String {
    apply_edits(OLD, edits).unwrap().text
}

fn live(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

impl World {
    fn folder(&self, name: &str) -> PathBuf {
        let folder = self.path().canonicalize().unwrap().join(name);
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    /// A night, the nth, that proposes these edits of a project's memory.
    async fn proposes(&self, nth: u64, project: &str, edits: &[EditRecord]) -> Staged {
        let project = self.folder(project);
        let memory = project.join("CLAUDE.md");
        fs::write(&memory, OLD).unwrap();
        let spec = TargetSpec { role: Role::Memory, path: memory.clone() };
        let pinned = check_targets(&[spec], &[]).unwrap().remove(0);
        let report = SleepReport {
            night: 1,
            accepted: true,
            edits: edits.to_vec(),
            n_validated: 14,
            ..SleepReport::default()
        };
        let proposal = Proposal {
            report: &report,
            report_md: String::new(),
            diagnostics: Value::Null,
            docs: vec![ProposedDoc { pinned, text: made(edits) }],
            skill_roots: Vec::new(),
            live_skill_path: project.join("SKILL.md"),
            live_memory_path: memory.clone(),
        };
        let reserved = reserve(&project, AT + nth * 1000).unwrap();
        let dir = publish(&reserved, &proposal, &Value::clone).unwrap().dir;
        let id = self.night_row(nth, &project, Some(&dir)).await;
        Staged { id, dir, memory }
    }

    async fn begun(&self, nth: u64, project: &Path) -> NightId {
        let id = NightId::parse(&uuid::Uuid::now_v7().to_string()).unwrap();
        let new = NewNight {
            id: id.clone(),
            project: project.display().to_string(),
            is_dry: false,
            is_simulated: true,
            models: "mock".to_owned(),
            actor: "local".to_owned(),
            at_ms: AT + nth * 1000,
            owner: "a".to_owned(),
            ttl_ms: u64::from(u32::MAX),
            settings_json: String::new(),
        };
        self.store.begin_night(&new).await.unwrap();
        id
    }

    async fn night_row(&self, nth: u64, project: &Path, dir: Option<&Path>) -> NightId {
        let id = self.begun(nth, project).await;
        self.ended(&id, NightTransition::Stage, dir).await;
        id
    }

    async fn ended(&self, id: &NightId, transition: NightTransition, dir: Option<&Path>) {
        let end = NightEnd {
            transition,
            detail: String::new(),
            owner: "a".to_owned(),
            night: Some(1),
            staging: dir.map(|dir| dir.display().to_string()),
            scores: NightScores { baseline: Some(0.5), candidate: Some(0.75), accepted: true },
            report_json: None,
            progress: NightProgress::start(),
            at_ms: AT,
        };
        assert!(self.store.end_night(id, &end).await.unwrap());
    }

    async fn said(&self, night: &Staged, deed: &str, body: Value) -> super::Answer {
        self.post(&format!("/api/v1/sleep/nights/{}/{deed}", night.id), &body).await
    }

    async fn shown(&self, night: &Staged) -> Value {
        self.get(&format!("/api/v1/sleep/nights/{}", night.id)).await.json()
    }

    async fn queue(&self, query: &str) -> Value {
        self.get(&format!("/api/v1/review{query}")).await.json()
    }
}

fn ids(page: &Value) -> Vec<String> {
    let items = page["items"].as_array().unwrap().iter();
    items.map(|item| item["night"]["id"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn one_edit_of_two_is_shown_as_it_would_be_written_and_then_written() {
    let world = World::with_home().await;
    let night = world.proposes(1, "work", &[add("One"), add("Two")]).await;
    let proposal = world.shown(&night).await["proposals"][0].clone();
    assert_eq!((&proposal["needs"], &proposal["whole"]), (&json!([[], []]), &json!("")));
    let choice = json!({"edits": [{"key": "memory", "edits": [2]}]});
    let preview = world.said(&night, "preview", choice.clone()).await.json();
    let expect = made(&[add("Two")]);
    assert_eq!(
        preview["documents"][0],
        json!({"key": "memory", "edits": [2], "after": expect, "risks": [], "is_measured": false})
    );
    assert_eq!(live(&night.memory), OLD, "a look writes nothing");
    let adopted = world.said(&night, "adopt", choice).await;
    assert_eq!(adopted.status, 200, "{}", adopted.json());
    assert_eq!(live(&night.memory), expect);
    let receipt = adopted.json()["receipts"][0].clone();
    assert_eq!((&receipt["edits"], &receipt["n_left_out"]), (&json!([2]), &json!(1)));
    let reverted = world.said(&night, "revert", json!({})).await.json();
    assert_eq!(live(&night.memory), OLD);
    assert_eq!(reverted["receipts"][0]["edits"], json!([2]), "{reverted}");
}

#[tokio::test]
async fn edits_that_build_on_others_say_so_and_are_refused_without_them() {
    let world = World::with_home().await;
    let night = world.proposes(1, "work", &[add("One"), replace("One", "Two")]).await;
    let proposal = world.shown(&night).await["proposals"][0].clone();
    assert_eq!(proposal["needs"], json!([[], [1]]));
    let choice = json!({"edits": [{"key": "memory", "edits": [2]}]});
    for deed in ["preview", "adopt"] {
        let refused = world.said(&night, deed, choice.clone()).await;
        refused.is_problem(400, "bad_request");
        let words = "edit 2 of the memory builds on edit 1: take both, or leave both out";
        assert_eq!(refused.json()["detail"], words);
    }
    assert_eq!(live(&night.memory), OLD);
}

#[rstest]
#[case(json!({"edits": [{"key": "memory", "edits": []}]}), "no edit of the memory is chosen")]
#[case(json!({"edits": [{"key": "memory", "edits": [3]}]}), "has no edit 3")]
#[case(json!({"edits": [{"key": "skill", "edits": [1]}]}), "proposes nothing for the managed skill")]
#[case(json!({"edits": [{"key": "../x", "edits": [1]}]}), "no document")]
#[case(json!({"keys": ["skill"]}), "proposes nothing for the")]
#[case(json!({"keys": ["../x"]}), "no document")]
#[case(json!({"edits": [{"key": "memory", "edits": [1]}, {"key": "memory", "edits": [2]}]}), "twice")]
#[tokio::test]
async fn a_choice_that_is_none_is_refused_with_words(#[case] choice: Value, #[case] words: &str) {
    let world = World::with_home().await;
    let night = world.proposes(1, "work", &[add("One"), add("Two")]).await;
    for deed in ["preview", "adopt"] {
        let refused = world.said(&night, deed, choice.clone()).await;
        refused.is_problem(400, "bad_request");
        let detail = refused.json()["detail"].to_string();
        assert!(detail.contains(words), "{detail}");
    }
    assert_eq!(live(&night.memory), OLD);
}

#[tokio::test]
async fn a_choice_among_documents_that_are_not_adopted_is_refused() {
    let world = World::with_home().await;
    let night = world.proposes(1, "work", &[add("One"), add("Two")]).await;
    let body = json!({"keys": ["skill"], "edits": [{"key": "memory", "edits": [1]}]});
    for deed in ["preview", "adopt"] {
        world.said(&night, deed, body.clone()).await.is_problem(400, "bad_request");
    }
    assert_eq!(live(&night.memory), OLD);
}

#[tokio::test]
async fn a_proposal_whose_edits_were_masked_is_taken_as_a_whole_or_not_at_all() {
    let world = World::with_home().await;
    let night = world.proposes(1, "work", &[add("One"), add("Two")]).await;
    let path = night.dir.join("report.json");
    fs::write(&path, live(&path).replace("\"One\"", "\"***\"")).unwrap();
    let proposal = world.shown(&night).await["proposals"][0].clone();
    assert!(proposal["whole"].as_str().unwrap().contains("do not make up"), "{proposal}");
    let choice = json!({"edits": [{"key": "memory", "edits": [1]}]});
    world.said(&night, "adopt", choice).await.is_problem(400, "bad_request");
    let adopted = world.said(&night, "adopt", json!({})).await;
    assert_eq!(
        (adopted.status.as_u16(), live(&night.memory)),
        (200, made(&[add("One"), add("Two")]))
    );
}

#[tokio::test]
async fn c63_a_choice_is_not_written_over_what_was_typed_since() {
    let world = World::with_home().await;
    let night = world.proposes(1, "work", &[add("One"), add("Two")]).await;
    fs::write(&night.memory, "typed\n").unwrap();
    let choice = json!({"edits": [{"key": "memory", "edits": [1]}]});
    world.said(&night, "adopt", choice).await.is_problem(409, "file_changed");
    assert_eq!(live(&night.memory), "typed\n");
}

#[tokio::test]
async fn the_queue_holds_what_waits_with_its_numbers_until_it_is_decided() {
    let world = World::with_home().await;
    assert_eq!(
        world.queue("").await,
        json!({"items": [], "next": null, "n_waiting": 0, "runs": []})
    );
    let night = world.proposes(1, "work", &[add("One"), add("See https://x.example/a")]).await;
    let page = world.queue("").await;
    assert_eq!((ids(&page), &page["n_waiting"]), (vec![night.id.to_string()], &json!(1)));
    let item = &page["items"][0];
    assert_eq!((&item["n_tasks"], &item["why"]), (&json!(14), &json!("")));
    let document = &item["documents"][0];
    assert_eq!((&document["n_edits"], &document["n_risks"]), (&json!(2), &json!(1)), "{document}");
    assert_eq!(document["n_removed"], 0);
    assert!(document["n_added"].as_u64() > Some(2), "{document}");
    world.said(&night, "reject", json!({"reason": "no"})).await;
    let page = world.queue("").await;
    assert_eq!((ids(&page).len(), &page["n_waiting"]), (0, &json!(0)));
    assert_eq!(world.get("/api/v1/sleep").await.json()["nights"][0]["decision"], "rejected");
}

#[tokio::test]
async fn a_night_that_cannot_be_adopted_any_more_is_in_the_queue_with_why_and_not_counted() {
    let world = World::with_home().await;
    let night = world.proposes(1, "work", &[add("One")]).await;
    world.queue("").await;
    fs::write(&night.memory, "typed\n").unwrap();
    let page = world.queue("").await;
    assert_eq!(page["n_waiting"], 0);
    assert_eq!(page["items"][0]["night"]["decision"], "stale");
    let why = page["items"][0]["why"].as_str().unwrap();
    assert!(why.contains("CLAUDE.md changed since the night read it"), "{why}");
    fs::write(&night.memory, OLD).unwrap();
    assert_eq!(world.queue("").await["n_waiting"], 1, "the file is what it was");
}

#[tokio::test]
async fn lists_read_a_folder_once_and_then_only_live_files() {
    let world = World::with_home().await;
    let night = world.proposes(1, "work", &[add("One")]).await;
    assert_eq!(world.queue("").await["n_waiting"], 1);
    // What a second look would stumble over.
    fs::write(night.dir.join("manifest.json"), "{").unwrap();
    assert_eq!(world.queue("").await["n_waiting"], 1);
    assert_eq!(world.get("/api/v1/sleep").await.json()["nights"][0]["decision"], "waiting");
    // Whoever opens the night looks, and lists know of it from then on.
    assert_eq!(world.shown(&night).await["night"]["decision"], "stale");
    let page = world.queue("").await;
    assert_eq!(
        (&page["n_waiting"], &page["items"][0]["night"]["decision"]),
        (&json!(0), &json!("stale"))
    );
    assert!(page["items"][0]["why"].as_str().unwrap().contains("manifest"), "{page}");
}

#[tokio::test]
async fn a_folder_that_was_cleared_away_waits_for_nobody() {
    let world = World::with_home().await;
    let night = world.proposes(1, "work", &[add("One")]).await;
    assert_eq!(world.queue("").await["n_waiting"], 1);
    fs::remove_dir_all(&night.dir).unwrap();
    for _ in 0..2 {
        let page = world.queue("").await;
        assert_eq!((ids(&page).len(), &page["n_waiting"]), (0, &json!(0)));
    }
}

#[tokio::test]
async fn the_queue_comes_page_by_page_and_a_cursor_of_another_list_is_refused() {
    let world = World::with_home().await;
    let mut expect = Vec::new();
    for nth in 1..=3 {
        let night = world.proposes(nth, &format!("work{nth}"), &[add("One")]).await;
        expect.insert(0, night.id.to_string());
    }
    let first = world.queue("?limit=2").await;
    assert_eq!((ids(&first), &first["n_waiting"]), (expect[..2].to_vec(), &json!(3)));
    let cursor = first["next"].as_str().unwrap();
    let second = world.queue(&format!("?limit=2&cursor={cursor}")).await;
    assert_eq!((ids(&second), &second["next"]), (expect[2..].to_vec(), &Value::Null));
    world.get("/api/v1/review?cursor=7b").await.is_problem(400, "bad_request");
}

#[tokio::test]
async fn a_night_outside_of_the_servers_folders_is_not_in_the_queue() {
    let world = World::with_home().await;
    let outside = tempfile::tempdir().unwrap();
    let project = outside.path().canonicalize().unwrap();
    let id = world.night_row(1, &project, Some(&project.join("x"))).await;
    let page = world.queue("").await;
    assert_eq!((ids(&page).len(), &page["n_waiting"]), (0, &json!(0)), "{id}");
}

#[tokio::test]
async fn nights_outside_of_the_servers_folders_hide_no_older_one_and_are_not_counted() {
    let world = World::with_home().await;
    let night = world.proposes(1, "work", &[add("One")]).await;
    let outside = tempfile::tempdir().unwrap();
    let project = outside.path().canonicalize().unwrap();
    // More than are looked into, or read, at once.
    for nth in 2..=600 {
        let id = world.night_row(nth, &project, Some(&project.join("x"))).await;
        if nth % 2 == 0 {
            let row = world.store.night(&id).await.unwrap().unwrap();
            world.store.keep_review(&row, NightDecision::Waiting, "{}").await.unwrap();
        }
    }
    let page = world.queue("?limit=1").await;
    assert_eq!((ids(&page), &page["next"]), (vec![night.id.to_string()], &Value::Null));
    assert_eq!(page["n_waiting"], 1, "{page}");
    let overview = world.get("/api/v1/overview").await.json();
    assert_eq!(overview["nights"]["n_waiting"], 1, "{overview}");
}

#[tokio::test]
async fn nights_that_cannot_be_answered_here_ask_nobody_and_hide_no_older_one() {
    let world = World::with_home().await;
    let own = world.begun(1, &world.folder("work")).await;
    world.ended(&own, NightTransition::AskAnswers, None).await;
    let outside = tempfile::tempdir().unwrap();
    for nth in 2_u64..=5 {
        let project = outside.path().join(nth.to_string());
        std::fs::create_dir(&project).unwrap();
        let id = world.begun(nth, &project).await;
        world.ended(&id, NightTransition::AskAnswers, None).await;
    }
    let overview = world.get("/api/v1/overview").await.json();
    let asking = overview["nights"]["asking"].as_array().unwrap();
    let ids: Vec<&Value> = asking.iter().map(|night| &night["id"]).collect();
    assert_eq!(ids, [&json!(own)]);
}

#[tokio::test]
async fn every_night_that_waits_is_counted_however_many_they_are() {
    let world = World::with_home().await;
    let night = world.proposes(1, "work", &[add("One")]).await;
    let project = world.folder("work");
    for nth in 2..=502 {
        let id = world.night_row(nth, &project, Some(&night.dir)).await;
        let row = world.store.night(&id).await.unwrap().unwrap();
        let kept = json!({"n_tasks": null, "refusal": "", "open": [{
            "document": {"key": "memory", "live_path": night.memory, "n_added": 1, "n_removed": 0, "n_edits": 1, "n_risks": 0},
            "live": Sha256Hex::of(OLD),
        }]});
        world.store.keep_review(&row, NightDecision::Waiting, &kept.to_string()).await.unwrap();
    }
    let page = world.queue("?limit=2").await;
    assert_eq!((ids(&page).len(), &page["n_waiting"]), (2, &json!(502)));
}

#[tokio::test]
async fn a_finished_run_with_a_better_skill_waits_until_it_is_adopted() {
    let world = World::new().await;
    let run = crate::testing::trained_run(&world.store, 20).await;
    let runs = async || world.queue("").await["runs"].as_array().unwrap().clone();
    assert!(runs().await.is_empty(), "it goes on");
    let finish = Change {
        transition: RunTransition::Finish,
        detail: None,
        by: Author::Owner(OWNER),
        at_ms: AT,
    };
    world.store.transition(&run.id, finish).await.unwrap();
    assert_eq!(runs().await[0]["id"], json!(run.id));
    let path = world.folder("skills").join("SKILL.md");
    let sha = Sha256Hex::of(IMPROVED);
    let request = json!({"run": run.id, "skill": sha, "path": path, "expected_live": null, "idempotency_key": "k"});
    let adopted = world.post("/api/v1/adoptions", &request).await;
    assert_eq!(adopted.status, 200, "{}", adopted.json());
    assert!(runs().await.is_empty(), "it is adopted");
    assert!(
        world.queue("?limit=1&cursor=1_0190a0c2-7b1e-7c33-8f00-0123456789ab").await["runs"]
            .as_array()
            .unwrap()
            .is_empty()
    );
}

#[tokio::test]
async fn the_overview_is_one_answer_with_runs_and_nights() {
    let world = World::with_home().await;
    let empty = world.get("/api/v1/overview").await.json();
    let nothing = json!({
        "running": [], "asking": [], "waiting": [], "n_waiting": 0, "last": null, "next": null
    });
    assert_eq!((&empty["runs"]["total"], &empty["nights"]), (&json!(0), &nothing));
    for nth in 1..=4 {
        world.proposes(nth, &format!("work{nth}"), &[add("One")]).await;
    }
    let running = world.begun(9, &world.folder("work")).await;
    let nights = world.get("/api/v1/overview").await.json()["nights"].clone();
    assert_eq!(nights["running"][0]["id"], json!(running));
    assert_eq!((nights["waiting"].as_array().unwrap().len(), &nights["n_waiting"]), (3, &json!(4)));
    assert_eq!(nights["last"]["id"], nights["waiting"][0]["night"]["id"]);
}

/// Reads until the text contains all of `wanted`.
async fn read_until(response: Response, wanted: &[&str]) -> String {
    let mut body = response.into_body().into_data_stream();
    let mut text = String::new();
    let reading = async {
        while !wanted.iter().all(|words| text.contains(words)) {
            text.push_str(std::str::from_utf8(&body.next().await.unwrap().unwrap()).unwrap());
        }
    };
    let read = tokio::time::timeout(Duration::from_secs(20), reading).await;
    assert!(read.is_ok(), "the stream does not say {wanted:?}: {text}");
    text
}

#[tokio::test]
async fn the_stream_tells_how_many_nights_wait_and_each_night_that_changes() {
    let world = World::with_home().await;
    let response = world.send(get("/api/v1/stream")).await;
    let night = world.proposes(1, "work", &[add("One")]).await;
    let id = format!("\"id\":\"{}\"", night.id);
    let wanted = [
        "event: review\ndata: {\"n_waiting\":0}",
        "event: night\n",
        id.as_str(),
        "event: review\ndata: {\"n_waiting\":1}",
    ];
    let text = read_until(response, &wanted).await;
    assert!(text.contains("\"decision\":\"waiting\""), "{text}");
    world.stop.cancel();
}
