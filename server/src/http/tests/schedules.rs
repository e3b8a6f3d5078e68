//! Schedules: what may be added, changed, removed and run, and what is refused.

use super::World;
use rstest::rstest;
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;

const ALL: &str = "/api/v1/sleep/schedules";

impl World {
    fn work(&self) -> PathBuf {
        let project = self.path().canonicalize().unwrap().join("work");
        fs::create_dir_all(&project).unwrap();
        project
    }

    async fn scheduled(&self) -> Value {
        let answer = self.post(ALL, &request(&self.work())).await;
        assert_eq!(answer.status, 200, "{}", answer.json());
        answer.json()
    }

    async fn deeds(&self) -> Vec<String> {
        let log = self.store.audit_log(99).await.unwrap();
        log.into_iter().rev().map(|row| row.action).collect()
    }
}

fn request(project: &std::path::Path) -> Value {
    json!({
        "hour": 3, "minute": 30, "zone": "europe/berlin",
        "night": {"project": project, "backend": "mock", "max_tasks": 4},
    })
}

fn one(item: &Value) -> String {
    format!("{ALL}/{}", item["id"].as_str().unwrap())
}

#[tokio::test]
async fn the_overview_tells_the_next_night_that_can_begin() {
    let world = World::with_home().await;
    let next = || async { world.get("/api/v1/overview").await.json()["nights"]["next"].clone() };
    assert_eq!(next().await, Value::Null);
    let item = world.scheduled().await;
    let told = json!({"at_ms": item["next_ms"], "project": world.work(), "n_projects": 1});
    assert_eq!(next().await, told);
    world.patch(&one(&item), &json!({"enabled": false})).await;
    assert_eq!(next().await, Value::Null, "what is switched off does not come");
}

#[tokio::test]
async fn a_schedule_is_added_listed_changed_and_removed_and_each_deed_is_noted() {
    let world = World::with_home().await;
    let item = world.scheduled().await;
    assert_eq!(
        (&item["zone"], &item["enabled"], &item["problem"]),
        (&json!("Europe/Berlin"), &json!(true), &json!("")),
        "{item}"
    );
    assert_eq!(
        (&item["night"]["backend"], &item["night"]["max_tasks"], &item["project"]),
        (&json!("mock"), &json!(4), &json!(world.work()))
    );
    assert!(item["next_ms"].as_u64() > item["created_at_ms"].as_u64(), "{item}");
    assert_eq!(world.get(ALL).await.json()["schedules"], json!([item]));

    let off = world.patch(&one(&item), &json!({"enabled": false})).await.json();
    assert_eq!((&off["enabled"], &off["next_ms"]), (&json!(false), &Value::Null));
    let moved = json!({"enabled": true, "hour": 4, "zone": "UTC"});
    let moved = world.patch(&one(&item), &moved).await.json();
    assert_eq!(
        (&moved["hour"], &moved["minute"], &moved["zone"], &moved["night"]["max_tasks"]),
        (&json!(4), &json!(30), &json!("UTC"), &json!(4))
    );
    assert!(moved["next_ms"].as_u64() > moved["changed_at_ms"].as_u64(), "nothing to catch up");
    let night = json!({"night": {"project": world.work(), "backend": "mock"}});
    let edited = world.patch(&one(&item), &night).await.json();
    assert_eq!(edited["night"]["max_tasks"], Value::Null);

    assert_eq!(world.delete(&one(&item)).await.status, 200);
    assert_eq!(world.get(ALL).await.json()["schedules"], json!([]));
    assert_eq!(
        world.deeds().await,
        [
            "add_schedule",
            "change_schedule",
            "change_schedule",
            "change_schedule",
            "remove_schedule"
        ]
    );
}

#[tokio::test]
async fn a_change_of_a_schedule_that_somebody_else_changed_is_refused() {
    let world = World::with_home().await;
    let item = world.scheduled().await;
    let seen = json!({"revision": item["revision"], "hour": 4});
    let moved = world.patch(&one(&item), &seen).await.json();
    assert_eq!((&moved["hour"], &moved["revision"]), (&json!(4), &json!(1)), "{moved}");
    let late = json!({"revision": item["revision"], "minute": 5});
    world.patch(&one(&item), &late).await.is_problem(409, "conflict");
    assert_eq!(world.get(ALL).await.json()["schedules"], json!([moved]));
}

#[rstest]
#[case(json!({"hour": 24}), "24:30 is no time of day")]
#[case(json!({"minute": 60}), "3:60 is no time of day")]
#[case(json!({"zone": "Europe/Berln"}), "`Europe/Berln` is no time zone")]
#[case(json!({"night": {"project": "", "backend": "mock"}}), "")]
#[case(json!({"night": {"backend": "no-such-one"}}), "no-such-one")]
#[tokio::test]
async fn what_could_not_run_at_night_is_refused_by_day(
    #[case] change: Value,
    #[case] expect: &str,
) {
    let world = World::with_home().await;
    let mut wrong = request(&world.work());
    for (name, value) in change.as_object().unwrap() {
        wrong[name] = value.clone();
    }
    if wrong["night"]["project"].is_null() {
        wrong["night"]["project"] = json!(world.work());
    }
    let answer = world.post(ALL, &wrong).await;
    assert!(matches!(answer.status.as_u16(), 400 | 403), "{}", answer.json());
    assert!(answer.json()["detail"].as_str().unwrap().contains(expect), "{}", answer.json());
    if change.get("night").is_none() {
        let item = world.scheduled().await;
        world.patch(&one(&item), &change).await.is_problem(400, "bad_request");
        let off = world.patch(&one(&item), &json!({"enabled": false})).await;
        assert_eq!(off.status, 200, "{}", off.json());
        world.patch(&one(&item), &change).await.is_problem(400, "bad_request");
    }
}

#[tokio::test]
async fn a_version_of_the_curated_tasks_is_refused_and_not_ignored() {
    let world = World::with_home().await;
    let item = world.scheduled().await;
    let night = json!({"project": world.work(), "backend": "mock", "tasks_version": "x"});
    let mut second = request(&world.work());
    second["night"] = night.clone();
    for answer in
        [world.post(ALL, &second).await, world.patch(&one(&item), &json!({"night": night})).await]
    {
        let problem = answer.is_problem(400, "bad_request");
        assert!(problem["detail"].as_str().unwrap().contains("tasks_version"), "{problem}");
    }
}

#[tokio::test]
async fn a_project_has_one_schedule_and_keeps_it() {
    let world = World::with_home().await;
    let item = world.scheduled().await;
    let second = world.post(ALL, &request(&world.work())).await.is_problem(409, "conflict");
    assert!(second["detail"].as_str().unwrap().contains("has a schedule already"), "{second}");
    let other = world.path().canonicalize().unwrap().join("other");
    fs::create_dir_all(&other).unwrap();
    let moved = json!({"night": {"project": other, "backend": "mock"}});
    world.patch(&one(&item), &moved).await.is_problem(400, "bad_request");
}

#[tokio::test]
async fn a_project_outside_of_the_servers_folders_gets_no_schedule() {
    let world = World::with_home().await;
    let outside = tempfile::tempdir().unwrap();
    let project = outside.path().canonicalize().unwrap();
    world.post(ALL, &request(&project)).await.is_problem(403, "path_not_allowed");
    let mut target = request(&world.work());
    target["night"]["target_skill_path"] = json!("/etc/SKILL.md");
    world.post(ALL, &target).await.is_problem(403, "path_not_allowed");
    assert_eq!(world.deeds().await, Vec::<String>::new());
}

#[tokio::test]
async fn a_night_of_a_schedule_can_be_begun_at_once() {
    let world = World::with_home().await;
    let item = world.scheduled().await;
    let begun = world.post(&format!("{}/run", one(&item)), &json!({})).await;
    assert_eq!(begun.status, 200, "{}", begun.json());
    world.nights.drained().await;
    let after = world.get(ALL).await.json()["schedules"][0].clone();
    let outcome = &after["outcomes"][0];
    assert_eq!(
        (&outcome["kind"], &outcome["night"], &outcome["words"]),
        (&json!("begun"), &begun.json()["id"], &json!("by hand"))
    );
    assert_eq!(after["next_ms"], item["next_ms"], "its next time stays");
    let night = &world.get("/api/v1/sleep").await.json()["nights"][0];
    assert_eq!((&night["id"], &night["actor"]), (&begun.json()["id"], &json!("local")));
}

#[tokio::test]
async fn a_schedule_whose_project_is_gone_says_so_and_can_be_switched_off() {
    let world = World::with_home().await;
    let item = world.scheduled().await;
    fs::remove_dir(world.work()).unwrap();
    let shown = world.get(ALL).await.json()["schedules"][0].clone();
    assert!(shown["problem"].as_str().unwrap().contains("does not exist"), "{shown}");
    world
        .post(&format!("{}/run", one(&item)), &json!({}))
        .await
        .is_problem(403, "path_not_allowed");
    assert_eq!(world.patch(&one(&item), &json!({"enabled": false})).await.status, 200);
}

#[tokio::test]
async fn a_schedule_that_is_not_there_is_not_found() {
    let world = World::with_home().await;
    let none = format!("{ALL}/0190a0c2-7b1e-7c33-8f00-0123456789ab");
    world.patch(&none, &json!({})).await.is_problem(404, "not_found");
    world.delete(&none).await.is_problem(404, "not_found");
    world.post(&format!("{none}/run"), &json!({})).await.is_problem(404, "not_found");
    world.delete(&format!("{ALL}/x")).await.is_problem(400, "bad_request");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn jobs_of_the_system_are_listed_with_the_command_that_removes_them() {
    let world = World::with_home().await;
    let units = world.path().join("home/.config/systemd/user");
    fs::create_dir_all(&units).unwrap();
    let mark = "# skillopt-sleep project-sha256=x\n";
    let name = "skillopt-sleep-0123456789abcdef0123";
    let service = format!("{mark}[Unit]\nDescription=SkillOpt-Sleep night of /my work\n");
    fs::write(units.join(format!("{name}.service")), service).unwrap();
    let timer = format!("{mark}[Timer]\nOnCalendar=*-*-* 03:17:00\n");
    fs::write(units.join(format!("{name}.timer")), timer).unwrap();
    let page = world.get(ALL).await.json();
    let job = page["jobs"].as_array().unwrap().iter().find(|job| job["scheduler"] == "systemd");
    assert_eq!(
        job.unwrap(),
        &json!({
            "scheduler": "systemd", "project": "/my work", "at": "03:17", "name": name,
            "remove": "skillopt sleep unschedule --with systemd --project '/my work'",
        })
    );
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_project_whose_nights_the_system_begins_too_is_told_while_its_schedule_is_on() {
    let world = World::with_home().await;
    let item = world.scheduled().await;
    assert_eq!(world.get(ALL).await.json()["twice"], json!([]));
    let units = world.path().join("home/.config/systemd/user");
    fs::create_dir_all(&units).unwrap();
    let mark = "# skillopt-sleep project-sha256=x\n";
    let service =
        format!("{mark}[Unit]\nDescription=SkillOpt-Sleep night of {}\n", world.work().display());
    fs::write(units.join("skillopt-sleep-0123456789abcdef0123.service"), service).unwrap();
    fs::write(units.join("skillopt-sleep-0123456789abcdef0123.timer"), mark).unwrap();
    let page = world.get(ALL).await.json();
    let warning = page["twice"][0].as_str().unwrap();
    assert!(warning.contains("by systemd and by `skillopt serve`"), "{page}");
    world.patch(&one(&item), &json!({"enabled": false})).await;
    assert_eq!(world.get(ALL).await.json()["twice"], json!([]));
}

#[tokio::test]
async fn without_a_home_it_is_not_known_what_the_system_runs() {
    let world = World::new().await;
    let page = world.get(ALL).await.json();
    assert_eq!(page["jobs"], json!([]));
    let words = page["unread"][0].as_str().unwrap();
    assert!(words.starts_with("it is not known whether nights are scheduled"), "{page}");
}
