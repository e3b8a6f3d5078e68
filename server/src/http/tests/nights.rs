//! Nights: what may be begun, read and decided, and what is refused.

use super::World;
use futures::future::join_all;
use rstest::rstest;
use serde_json::{Value, json};
use skillopt_domain::ids::NightId;
use skillopt_domain::night::report::SleepReport;
use skillopt_domain::night::{NightProgress, NightTransition};
use skillopt_sleep::stage::{
    Proposal, ProposedDoc, Role, SkillName, TargetSpec, check_targets, publish, reserve,
};
use skillopt_store::{NewNight, NightEnd, NightScores};
use std::fs;
use std::path::{Path, PathBuf};

const AT: u64 = 1_780_000_000_000;
const OLD: &str = "# Old\n";
const NEW: &str = "# New\n";
const USUAL: &str = "";

/// A night in the store with its folder.
struct Staged {
    id: NightId,
    dir: PathBuf,
}

impl World {
    pub(super) fn root(&self) -> PathBuf {
        self.path().canonicalize().unwrap()
    }

    pub(super) fn project(&self) -> PathBuf {
        let project = self.root().join("project");
        fs::create_dir_all(&project).unwrap();
        project
    }

    fn memory(&self) -> PathBuf {
        self.project().join("CLAUDE.md")
    }

    fn skill(&self) -> PathBuf {
        self.root().join("home/.claude/skills/skillopt-sleep-learned/SKILL.md")
    }

    /// A night that proposes a memory and a skill that is not there yet.
    async fn staged(&self) -> Staged {
        let (project, skill) = (self.project(), self.skill());
        self.staged_in(&project, &skill, USUAL).await
    }

    fn own_skill(&self) -> PathBuf {
        self.project().join(".claude/skills/letters/SKILL.md")
    }

    /// A night that also proposes a skill of its own.
    async fn staged_with_own_skill(&self) -> Staged {
        let (project, own) = (self.project(), self.own_skill());
        fs::create_dir_all(own.parent().unwrap()).unwrap();
        fs::write(&own, OLD).unwrap();
        let role = Role::Skill(SkillName::parse("letters").unwrap());
        let spec = TargetSpec { role, path: own };
        let roots = [project.join(".claude/skills")];
        self.staged_of(&project, &self.skill(), (vec![spec], &roots), USUAL).await
    }

    async fn staged_in(&self, project: &Path, skill: &Path, settings: &str) -> Staged {
        self.staged_of(project, skill, (Vec::new(), &[]), settings).await
    }

    async fn staged_of(
        &self,
        project: &Path,
        skill: &Path,
        (own, roots): (Vec<TargetSpec>, &[PathBuf]),
        settings: &str,
    ) -> Staged {
        let memory = project.join("CLAUDE.md");
        fs::write(&memory, OLD).unwrap();
        let pair = [(Role::ManagedSkill, skill), (Role::Memory, &memory)]
            .map(|(role, path)| TargetSpec { role, path: path.to_owned() });
        let specs: Vec<TargetSpec> = pair.into_iter().chain(own).collect();
        let docs = check_targets(&specs, roots).unwrap().into_iter();
        let report = SleepReport { night: 1, accepted: true, ..SleepReport::default() };
        let proposal = Proposal {
            report: &report,
            report_md: String::new(),
            diagnostics: Value::Null,
            docs: docs.map(|pinned| ProposedDoc { pinned, text: NEW.to_owned() }).collect(),
            skill_roots: roots.to_vec(),
            live_skill_path: skill.to_owned(),
            live_memory_path: memory,
        };
        let reserved = reserve(project, AT).unwrap();
        let dir = publish(&reserved, &proposal, &Value::clone).unwrap().dir;
        let id = self.keep_row(project, &dir, settings).await;
        Staged { id, dir }
    }

    async fn keep_row(&self, project: &Path, dir: &Path, settings: &str) -> NightId {
        let id = NightId::parse(&uuid::Uuid::now_v7().to_string()).unwrap();
        let new = NewNight {
            id: id.clone(),
            project: project.display().to_string(),
            is_dry: false,
            is_simulated: true,
            models: "mock".to_owned(),
            actor: "local".to_owned(),
            at_ms: AT,
            owner: "a".to_owned(),
            ttl_ms: u64::from(u32::MAX),
            settings_json: settings.to_owned(),
        };
        self.store.begin_night(&new).await.unwrap();
        let end = NightEnd {
            transition: NightTransition::Stage,
            detail: String::new(),
            owner: "a".to_owned(),
            night: Some(1),
            staging: Some(dir.display().to_string()),
            scores: NightScores::default(),
            report_json: None,
            progress: NightProgress::start(),
            at_ms: AT,
        };
        assert!(self.store.end_night(&id, &end).await.unwrap());
        id
    }

    async fn decide(&self, id: &NightId, deed: &str, body: Value) -> super::Answer {
        self.post(&format!("/api/v1/sleep/nights/{id}/{deed}"), &body).await
    }

    /// Sessions of which each asks for something of its own.
    pub(super) fn sessions(&self, n: u32) {
        let folder = self.root().join("home/.claude/projects/work");
        fs::create_dir_all(&folder).unwrap();
        for number in 1..=n {
            let line = json!({
                "type": "user", "cwd": self.project(), "sessionId": format!("s{number}"),
                "timestamp": "2026-01-02T03:04:00.000Z", "uuid": format!("u{number}"),
                "message": {"role": "user", "content": format!("Write the notes of module {number} for the team")},
            });
            fs::write(folder.join(format!("s{number}.jsonl")), format!("{line}\n")).unwrap();
        }
    }

    pub(super) async fn n_audited(&self, action: &str) -> usize {
        let rows = self.store.audit_log(100).await.unwrap();
        rows.iter().filter(|row| row.action == action).count()
    }
}

fn live(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

#[tokio::test]
async fn a_night_is_begun_and_shown_with_its_end() {
    let world = World::with_home().await;
    let project = world.project();
    world.sessions(4);
    let order = json!({"project": project, "backend": "mock", "lookback_hours": 0});
    let begun = world.post("/api/v1/sleep/nights", &order).await;
    assert_eq!(begun.status, 200, "{}", begun.json());
    let id = begun.json()["id"].as_str().unwrap().to_owned();
    world.nights.drained().await;
    let night = world.get(&format!("/api/v1/sleep/nights/{id}")).await.json();
    assert_eq!(
        (&night["night"]["status"], &night["night"]["night"]),
        (&json!("staged"), &json!(1)),
        "{night}"
    );
    assert_eq!(
        (&night["report"]["n_sessions"], &night["refusal"]),
        (&json!(4), &json!("")),
        "{night}"
    );
    let page = world.get("/api/v1/sleep").await.json();
    assert_eq!(
        (&page["nights"][0]["id"], &page["projects"][0]),
        (&json!(id), &json!(project)),
        "{page}"
    );
    let evidence = world.get(&format!("/api/v1/sleep/nights/{id}/evidence?limit=1")).await.json();
    assert_eq!(evidence["items"].as_array().unwrap().len(), 1, "{evidence}");
    assert!(evidence["total"].as_u64() > Some(1), "all rows are counted: {evidence}");
    assert_eq!(world.n_audited("begin_night").await, 1);
}

#[tokio::test]
async fn f51_a_form_learns_what_a_night_can_come_to_and_nothing_begins() {
    let world = World::with_home().await;
    let order = json!({"project": world.project(), "backend": "claude", "max_tasks": 10});
    let told = world.post("/api/v1/sleep/forecast", &order).await;
    assert_eq!(told.status, 200, "{}", told.json());
    let told = told.json();
    assert_eq!((&told["is_simulated"], &told["n_tasks"]), (&json!(false), &json!(10)), "{told}");
    let parts = ["mining", "training", "validation", "reflection", "test", "fan_out"];
    let sum: u64 = parts.iter().filter_map(|part| told[part].as_u64()).sum();
    assert!(sum > 0 && told["calls_max"] == json!(sum), "{told}");
    let more = json!({"project": world.project(), "backend": "claude", "max_tasks": 20});
    let more = world.post("/api/v1/sleep/forecast", &more).await.json();
    assert!(more["calls_max"].as_u64() > Some(sum), "more tasks are more calls: {more}");
    let none = json!({"project": world.project(), "backend": "mock"});
    let none = world.post("/api/v1/sleep/forecast", &none).await.json();
    assert_eq!((&none["is_simulated"], &none["calls_max"]), (&json!(true), &json!(0)), "{none}");
    let page = world.get("/api/v1/sleep").await.json();
    assert_eq!(page["nights"], json!([]), "nothing was begun");
    let wrong = json!({"project": world.project(), "backend": "claud"});
    assert_eq!(world.post("/api/v1/sleep/forecast", &wrong).await.status, 400);
    let outside = json!({"project": "/", "backend": "mock"});
    world.post("/api/v1/sleep/forecast", &outside).await.is_problem(403, "path_not_allowed");
}

#[tokio::test]
async fn a_proposal_becomes_live_and_is_put_back_and_each_deed_is_noted_once() {
    let world = World::with_home().await;
    let night = world.staged().await;
    let shown = world.get(&format!("/api/v1/sleep/nights/{}", night.id)).await.json();
    assert_eq!(shown["night"]["decision"], "waiting", "{shown}");
    let adopted = world.decide(&night.id, "adopt", json!({})).await;
    assert_eq!(adopted.status, 200, "{}", adopted.json());
    assert_eq!(adopted.json()["night"]["decision"], "adopted");
    assert_eq!((live(&world.memory()), live(&world.skill())), (NEW.to_owned(), NEW.to_owned()));
    for _ in 0..2 {
        let reverted = world.decide(&night.id, "revert", json!({})).await;
        assert_eq!(reverted.status, 200, "{}", reverted.json());
        assert_eq!(reverted.json()["night"]["decision"], "reverted");
    }
    assert_eq!((live(&world.memory()), world.skill().exists()), (OLD.to_owned(), false));
    assert_eq!(
        (world.n_audited("adopt_night").await, world.n_audited("revert_night").await),
        (2, 2)
    );
}

#[tokio::test]
async fn c63_a_live_file_that_changed_since_is_not_written() {
    let world = World::with_home().await;
    let night = world.staged().await;
    fs::write(world.memory(), "typed\n").unwrap();
    let refused = world.decide(&night.id, "adopt", json!({"keys": ["memory"]})).await;
    refused.is_problem(409, "file_changed");
    assert_eq!(
        (live(&world.memory()), world.n_audited("adopt_night").await),
        ("typed\n".to_owned(), 0)
    );
}

#[tokio::test]
async fn when_a_skill_of_its_own_cannot_be_adopted_the_managed_pair_stays_and_both_is_told() {
    let world = World::with_home().await;
    let night = world.staged_with_own_skill().await;
    let own = world.own_skill();
    fs::write(&own, "typed\n").unwrap();
    let partly = world.decide(&night.id, "adopt", json!({})).await;
    let told = partly.json();
    partly.is_problem(409, "file_changed");
    let words = told["detail"].as_str().unwrap();
    assert!(words.starts_with(&format!("adopted: {}", world.skill().display())), "{words}");
    let rest = words.split_once("the rest was not: ").unwrap().1;
    assert!(rest.contains(&own.display().to_string()) && rest.contains("changed"), "{words}");
    assert_eq!((live(&world.skill()), live(&own)), (NEW.to_owned(), "typed\n".to_owned()));
    assert_eq!(world.n_audited("adopt_night").await, 2, "the skill and the memory");

    let shown = world.get(&format!("/api/v1/sleep/nights/{}", night.id)).await.json();
    let adopted: Vec<&str> = shown["receipts"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|receipt| receipt["key"].as_str())
        .collect();
    assert_eq!(adopted, ["skill", "memory"], "{shown}");
    let reverted = world.decide(&night.id, "revert", json!({})).await;
    assert_eq!(reverted.status, 200, "{}", reverted.json());
    assert_eq!((live(&world.memory()), world.skill().exists()), (OLD.to_owned(), false));
    assert_eq!(live(&own), "typed\n");
}

#[tokio::test]
async fn c64_twenty_adoptions_at_once_give_one_receipt() {
    let world = World::with_home().await;
    let night = world.staged().await;
    let all = (0..20).map(|_| world.decide(&night.id, "adopt", json!({"keys": ["memory"]})));
    let statuses: Vec<u16> =
        join_all(all).await.iter().map(|answer| answer.status.as_u16()).collect();
    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 1, "{statuses:?}");
    assert!(statuses.iter().all(|status| matches!(status, 200 | 409)), "{statuses:?}");
    let receipts: Value =
        serde_json::from_str(&live(&night.dir.join("adopted_legacy.json"))).unwrap();
    assert_eq!(receipts.as_array().unwrap().len(), 1, "{receipts}");
    assert_eq!((live(&world.memory()), world.n_audited("adopt_night").await), (NEW.to_owned(), 1));
}

#[tokio::test]
async fn c68_a_rejection_needs_a_reason_and_can_be_about_one_document() {
    let world = World::with_home().await;
    let night = world.staged().await;
    world.decide(&night.id, "reject", json!({"reason": " "})).await.is_problem(400, "bad_request");
    let body = json!({"reason": "too vague", "keys": ["memory"]});
    let rejected = world.decide(&night.id, "reject", body).await.json();
    assert_eq!(
        (&rejected["night"]["decision"], rejected["receipts"].as_array().unwrap().len()),
        (&json!("waiting"), 1)
    );
    assert_eq!(rejected["receipts"][0]["reason"], "too vague");
    let adopted = world.decide(&night.id, "adopt", json!({"keys": ["skill"]})).await;
    assert_eq!((adopted.status.as_u16(), live(&world.skill())), (200, NEW.to_owned()));
    assert_eq!(live(&world.memory()), OLD);
}

#[tokio::test]
async fn c68_what_was_turned_down_waits_again_when_it_is_reopened() {
    let world = World::with_home().await;
    let night = world.staged().await;
    let body = json!({"reason": "not now", "keys": ["skill"]});
    world.decide(&night.id, "reject", body).await.json();
    let refused = world.decide(&night.id, "adopt", json!({"keys": ["skill"]})).await;
    assert_eq!((refused.status.as_u16(), live(&world.skill())), (409, String::new()));
    let reopened = world.decide(&night.id, "reopen", json!({"keys": ["skill"]})).await.json();
    assert_eq!(reopened["night"]["decision"], "waiting", "{reopened}");
    let adopted = world.decide(&night.id, "adopt", json!({"keys": ["skill"]})).await;
    assert_eq!((adopted.status.as_u16(), live(&world.skill())), (200, NEW.to_owned()));
    let gone = world.decide(&night.id, "reopen", json!({"keys": ["skill"]})).await;
    assert_eq!(gone.status.as_u16(), 409, "an adopted document is not turned down");
}

#[tokio::test]
async fn c68_the_rest_of_a_night_with_an_adopted_document_can_be_rejected() {
    let world = World::with_home().await;
    let night = world.staged().await;
    world.decide(&night.id, "adopt", json!({"keys": ["skill"]})).await;
    let rejected = world.decide(&night.id, "reject", json!({"reason": "no"})).await.json();
    let deeds: Vec<&str> = rejected["receipts"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|receipt| receipt["deed"].as_str())
        .collect();
    assert_eq!(deeds, ["adopted", "rejected"], "{rejected}");
}

#[tokio::test]
async fn an_adoption_that_was_interrupted_is_told_and_stands_in_nobodys_way() {
    let world = World::with_home().await;
    let night = world.staged().await;
    fs::write(night.dir.join(".adopt-transaction.json"), "{").unwrap();
    let shown = world.get(&format!("/api/v1/sleep/nights/{}", night.id)).await.json();
    assert_eq!(shown["night"]["decision"], "stale", "{shown}");
    assert!(shown["refusal"].as_str().unwrap().contains("journal"), "{shown}");
    let page = world.get("/api/v1/sleep").await.json();
    assert_eq!(page["nights"][0]["decision"], "stale", "{page}");
}

#[tokio::test]
async fn a_project_outside_of_the_servers_folders_is_neither_read_nor_written() {
    let world = World::with_home().await;
    let outside = tempfile::tempdir().unwrap();
    let project = outside.path().canonicalize().unwrap();
    let night = world.staged_in(&project, &world.skill(), USUAL).await;
    fs::write(night.dir.join("evidence.jsonl"), "{\"seq\": 1}\n").unwrap();
    for part in ["", "/evidence"] {
        let answer = world.get(&format!("/api/v1/sleep/nights/{}{part}", night.id)).await;
        answer.is_problem(403, "path_not_allowed");
    }
    for (deed, body) in
        [("adopt", json!({})), ("reject", json!({"reason": "no"})), ("revert", json!({}))]
    {
        world.decide(&night.id, deed, body).await.is_problem(403, "path_not_allowed");
    }
    let order = json!({"project": project, "backend": "mock"});
    world.post("/api/v1/sleep/nights", &order).await.is_problem(403, "path_not_allowed");
    assert_eq!(live(&project.join("CLAUDE.md")), OLD);
    assert_eq!(world.get("/api/v1/sleep").await.json()["nights"][0]["decision"], "none");
}

#[cfg(unix)]
#[tokio::test]
async fn a_folder_that_is_not_where_nights_are_is_not_followed() {
    let world = World::with_home().await;
    let night = world.staged().await;
    let elsewhere = world.root().join("elsewhere");
    fs::rename(&night.dir, &elsewhere).unwrap();
    let named = world.keep_row(&world.project(), &elsewhere, USUAL).await;
    world.decide(&named, "adopt", json!({})).await.is_problem(409, "conflict");
    std::os::unix::fs::symlink(&elsewhere, &night.dir).unwrap();
    world.decide(&night.id, "adopt", json!({})).await.is_problem(409, "conflict");
    assert_eq!(live(&world.memory()), OLD);
}

#[cfg(unix)]
#[tokio::test]
async fn an_evidence_log_that_is_a_link_is_not_read() {
    let world = World::with_home().await;
    let night = world.staged().await;
    let secret = world.root().join("secret");
    fs::write(&secret, "{\"seq\": 1, \"key\": \"sk-secret\"}\n").unwrap();
    let path = format!("/api/v1/sleep/nights/{}/evidence", night.id);
    world.get(&path).await.is_problem(404, "not_found");
    std::os::unix::fs::symlink(&secret, night.dir.join("evidence.jsonl")).unwrap();
    world.get(&path).await.is_problem(409, "conflict");
}

#[tokio::test]
async fn a_night_without_a_project_is_asked_for_one() {
    let world = World::with_home().await;
    for order in [json!({"backend": "mock"}), json!({"project": " ", "backend": "mock"})] {
        let answer = world.post("/api/v1/sleep/nights", &order).await;
        let problem = answer.is_problem(400, "bad_request");
        assert!(problem["detail"].as_str().unwrap().contains("/home/me/project"), "{problem}");
    }
    let order = json!({"project": "somewhere", "backend": "mock"});
    let answer = world.post("/api/v1/sleep/nights", &order).await;
    let problem = answer.is_problem(403, "path_not_allowed");
    assert!(!problem.to_string().contains("SKILL.md"), "a folder is meant: {problem}");
}

#[rstest]
#[case("../other/SKILL.md")]
#[case("/etc/SKILL.md")]
#[case("~root/SKILL.md")]
#[case("skill/../../SKILL.md")]
#[case("skill/notes.txt")]
#[tokio::test]
async fn a_skill_outside_of_the_servers_folders_is_no_target(#[case] target: &str) {
    let world = World::with_home().await;
    let project = world.project();
    fs::create_dir_all(project.join("skill")).unwrap();
    let order = json!({"project": project, "backend": "mock", "target_skill_path": target});
    world.post("/api/v1/sleep/nights", &order).await.is_problem(403, "path_not_allowed");
}

#[rstest]
#[case("skill:../../x")]
#[case("skill:/etc/passwd")]
#[case("../CLAUDE.md")]
#[case("skill:none")]
#[tokio::test]
async fn names_of_documents_lead_nowhere_else(#[case] name: &str) {
    let world = World::with_home().await;
    let night = world.staged().await;
    let adopted = world.decide(&night.id, "adopt", json!({"keys": [name]})).await;
    assert!(matches!(adopted.status.as_u16(), 400 | 409), "{}", adopted.json());
    let rejected = world.decide(&night.id, "reject", json!({"reason": "no", "keys": [name]})).await;
    rejected.is_problem(400, "bad_request");
    assert_eq!((live(&world.memory()), world.n_audited("reject_night").await), (OLD.to_owned(), 0));
}

#[tokio::test]
async fn what_is_not_there_or_over_cannot_be_decided() {
    let world = World::with_home().await;
    let none = NightId::parse("0190a0c2-7b1e-7c33-8f00-0123456789ab").unwrap();
    for (deed, body) in [
        ("adopt", json!({})),
        ("reject", json!({"reason": "no"})),
        ("revert", json!({})),
        ("cancel", json!({})),
    ] {
        world.decide(&none, deed, body).await.is_problem(404, "not_found");
    }
    world.get(&format!("/api/v1/sleep/nights/{none}")).await.is_problem(404, "not_found");
    world.get("/api/v1/sleep/nights/x").await.is_problem(400, "bad_request");
    let night = world.staged().await;
    world.decide(&night.id, "cancel", json!({})).await.is_problem(409, "conflict");
}

#[tokio::test]
async fn a_decision_is_made_with_the_settings_of_its_night() {
    let world = World::with_home().await;
    let skill = world.root().join("home/own/SKILL.md");
    fs::create_dir_all(skill.parent().unwrap()).unwrap();
    let night = world.staged_in(&world.project(), &skill, USUAL).await;
    world.decide(&night.id, "adopt", json!({"keys": ["skill"]})).await.is_problem(409, "conflict");
    let settings =
        json!({"keys": [["--target-skill-path", "target_skill_path", skill]]}).to_string();
    let again = world.keep_row(&world.project(), &night.dir, &settings).await;
    let adopted = world.decide(&again, "adopt", json!({"keys": ["skill"]})).await;
    assert_eq!(
        (adopted.status.as_u16(), live(&skill)),
        (200, NEW.to_owned()),
        "{}",
        adopted.json()
    );
}

#[tokio::test]
async fn the_settings_of_a_night_open_no_folder_that_is_closed_to_the_server() {
    let world = World::with_home().await;
    let outside = tempfile::tempdir().unwrap();
    let skill = outside.path().canonicalize().unwrap().join("SKILL.md");
    let settings =
        json!({"keys": [["--target-skill-path", "target_skill_path", skill]]}).to_string();
    let night = world.staged_in(&world.project(), &skill, &settings).await;
    world.decide(&night.id, "adopt", json!({"keys": ["skill"]})).await.is_problem(409, "conflict");
    assert!(!skill.exists());
}
