//! Keys of the config that have to show in a night.

use super::*;
use crate::split::{Fractions, SplitRule, assign_splits};

fn notes(result: &NightResult) -> String {
    result.report.notes.join("\n")
}

fn read(result: &NightResult, name: &str) -> String {
    fs::read_to_string(result.staging.clone().unwrap().join(name)).unwrap()
}

#[tokio::test]
async fn secrets_are_masked_whatever_redact_secrets_says_and_the_report_says_so() {
    let secret = "sk-ant-api03-AbCdEfGhIjKlMnOpQrStUvWx0123456789";
    let world = World::new().with("redact_secrets", json!(false)).given(letters());
    let voice = Voice::new(move |request| Ok(reply(&format!("{} {secret}", answer(request)))));
    let result = world.run(world.models(&voice)).await.unwrap();
    assert!(notes(&result).contains("`redact_secrets` is false"), "{}", notes(&result));
    assert!(!read(&result, "evidence.jsonl").contains(secret));
    let silent = World::new().given(letters());
    let result = silent.run(silent.models(&voice)).await.unwrap();
    assert!(!notes(&result).contains("redact_secrets"));
}

#[tokio::test]
async fn a_word_for_the_replay_is_shown_when_a_person_gave_one() {
    let world = World::new().given(exacts());
    let plain = world.run(Answerers::Mock).await.unwrap();
    assert!(!read(&plain, "report.md").contains("Replay"));
    let world = world.with("replay_mode", json!("live"));
    let named = world.run(Answerers::Mock).await.unwrap();
    assert!(read(&named, "report.md").contains("- Replay: live\n"));
}

#[tokio::test]
async fn rules_find_tasks_where_the_miner_is_off_or_finds_none_and_models_judge_them() {
    for (is_on, n_asked) in [(true, 1), (false, 0)] {
        let world = World::new().with("llm_mine", json!(is_on));
        world.session("one", &["Write a letter to Ann"]);
        let voice = Voice::new(|request| {
            Ok(reply(match request.purpose {
                Purpose::Mine => r#"[{"intent": "short"}]"#,
                Purpose::Judge => r#"{"score": 1.0, "reason": "it is one"}"#,
                _ => "A letter.",
            }))
        });
        let result = world.run(world.models(&voice)).await.unwrap();
        assert_eq!(voice.asked(Purpose::Mine).len(), n_asked, "{is_on}");
        let kinds: Vec<ReferenceKind> =
            result.tasks.iter().map(|task| task.reference_kind).collect();
        assert_eq!(kinds, [ReferenceKind::None], "{is_on}");
        assert_eq!(notes(&result).contains("tasks were found by rules"), is_on);
        let seen = voice.seen.lock().unwrap();
        let judged: Vec<&ChatRequest> =
            seen.iter().filter(|request| request.purpose == Purpose::Judge).collect();
        let shows_task = |request: &&ChatRequest| {
            request.messages.iter().any(|message| message.content.contains("letter to Ann"))
        };
        assert!(!judged.is_empty() && judged.iter().all(shows_task), "{is_on}");
    }
}

#[test]
fn the_key_of_the_models_has_the_form_of_the_reference_system() {
    let key = |world: World| crate::night::keep::model_key(&world.plan().config);
    assert_eq!(key(World::new().with("model", json!("m"))), "mock::m");
    let apart =
        World::new().with("optimizer_backend", json!("codex")).with("target_model", json!("t"));
    assert_eq!(key(apart), "optimizer=codex::;target=mock::t");
}

#[tokio::test]
async fn a_margin_that_no_gain_reaches_keeps_the_skill_as_it_is() {
    let world = World::new().with("gate_min_tasks", json!(3)).given(exacts());
    let result = world.run(Answerers::Mock).await.unwrap();
    let told = &result.report.no_edits_reason;
    assert!(!result.report.accepted && told.contains("has to rest on 3 tasks"), "{told}");
}

#[tokio::test]
async fn a_limit_of_tokens_goes_with_every_call_of_its_kind() {
    let world = World::new()
        .with("attempt_max_tokens", json!(512))
        .with("reflect_max_tokens", json!(1024))
        .given(letters());
    let voice = willing();
    world.run(world.models(&voice)).await.unwrap();
    let seen = voice.seen.lock().unwrap();
    for request in seen.iter() {
        let expect = if request.purpose == Purpose::Reflect { 1024 } else { 512 };
        assert_eq!(request.max_tokens, Some(expect), "{:?}", request.purpose);
    }
    assert!(seen.iter().any(|request| request.purpose == Purpose::Reflect));
}

#[tokio::test]
async fn diagnostics_have_the_fields_of_the_reference_system() {
    let world = World::new().given(letters());
    let result = world.run(world.models(&willing())).await.unwrap();
    let told: Value = serde_json::from_str(&read(&result, "diagnostics.json")).unwrap();
    let names: Vec<&str> = told.as_object().unwrap().keys().map(String::as_str).collect();
    for name in [
        "night",
        "backend",
        "opencode_tool_replay",
        "gate_mode",
        "gate_no_regression",
        "n_tasks",
        "baseline",
        "candidate",
        "accepted",
        "gate_action",
        "holdout_leaked",
        "n_applied_edits",
        "n_rejected_edits",
        "n_unmatched_edits",
        "call_error",
        "reflect_raw_head",
        "holdout_detail",
        "gate_trials",
    ] {
        assert!(names.contains(&name), "{name} in {names:?}");
    }
    assert!(told["reflect_raw_head"].as_str().unwrap().contains(RULE), "{told}");
    let rows = told["holdout_detail"].as_array().unwrap();
    let ids: Vec<&str> = rows.iter().map(|row| row["id"].as_str().unwrap()).collect();
    assert_eq!((ids, &rows[0]["response_head"]), (vec!["b", "c"], &json!("A letter.")));
}

#[tokio::test]
async fn the_seed_of_the_config_decides_which_tasks_validate() {
    let world = World::new().with("seed", json!(7));
    for name in ["one", "two", "three", "four", "five", "six", "seven", "eight"] {
        world.session(name, &[&format!("Write a letter to {name}")]);
    }
    let result = world.run(Answerers::Mock).await.unwrap();
    assert_eq!(result.tasks.len(), 8);
    let mut expect = result.tasks.clone();
    assign_splits(&mut expect, 7, Fractions::default(), SplitRule::Grouped);
    assert_eq!(result.tasks, expect);
}

#[tokio::test]
async fn a_call_that_failed_last_stands_in_the_diagnostics() {
    let more = ["d", "e"].map(|id| letter(id, Split::Val));
    let world = World::new().given(letters().into_iter().chain(more).collect());
    let is_asked = |request: &ChatRequest| {
        request.messages.iter().any(|message| message.content.contains("write the letter e"))
    };
    let voice = Voice::new(move |request| match request.purpose {
        Purpose::Qa if is_asked(request) => Err(error(ModelErrorKind::Timeout)),
        _ => Ok(reply(&answer(request))),
    });
    let result = world.run(world.models(&voice)).await.unwrap();
    let told: Value = serde_json::from_str(&read(&result, "diagnostics.json")).unwrap();
    assert_eq!(told["call_error"], "target: timeout: told so", "{told}");
    let world = World::new().given(letters());
    let result = world.run(world.models(&willing())).await.unwrap();
    let told: Value = serde_json::from_str(&read(&result, "diagnostics.json")).unwrap();
    assert_eq!(told["call_error"], "", "{told}");
}

#[tokio::test]
async fn f47_a_skill_of_a_plugin_gets_its_proposal_and_one_place_is_proposed_for_once() {
    let skill = "---\nname: letters\ndescription: Letters.\n---\n# Letters\n";
    let world = World::new().with("multi_skill_fanout", json!(true));
    let path = world.path("home/.claude/skills/letters/SKILL.md");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, skill).unwrap();
    let hinted = |task: TaskRecord, hint: &str| TaskRecord {
        skill_hint: hint.into(),
        id: format!("{hint}-{}", task.id),
        ..task
    };
    let both = ["letters", "tools:letters"];
    let tasks = both.iter().flat_map(|hint| letters().into_iter().map(|task| hinted(task, hint)));
    let world = world.given(tasks.collect());
    let voice = willing();
    let result = world.run(world.models(&voice)).await.unwrap();
    assert_eq!(result.staged_skills, ["letters"], "{:?}", result.report.skill_groups);
    let second = &result.report.skill_groups[1];
    assert_eq!(second.skill_name, "tools:letters");
    assert!(second.reason.contains("the place of the skill \"letters\""), "{}", second.reason);

    let alone = World::new().with("multi_skill_fanout", json!(true));
    let path = alone.path("home/.claude/skills/letters/SKILL.md");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, skill).unwrap();
    let tasks = letters().into_iter().map(|task| hinted(task, "tools:letters"));
    let alone = alone.given(tasks.collect());
    let result = alone.run(alone.models(&voice)).await.unwrap();
    assert_eq!(result.staged_skills, ["letters"], "{:?}", result.report.skill_groups);
}

#[tokio::test]
async fn no_skill_of_its_own_is_proposed_for_the_place_of_the_managed_one() {
    let world = World::new()
        .with("multi_skill_fanout", json!(true))
        .with("managed_skill_name", json!("letters"));
    let path = world.skill();
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, "---\nname: letters\ndescription: Letters.\n---\n# Letters\n").unwrap();
    let hinted = |task: TaskRecord| TaskRecord { skill_hint: "letters".into(), ..task };
    let world = world.given(letters().into_iter().map(hinted).collect());
    let result = world.run(world.models(&willing())).await.unwrap();
    assert!(result.report.accepted && result.staged_skills.is_empty(), "the managed one stands");
    let group = &result.report.skill_groups[0];
    assert_eq!((group.skill_name.as_str(), json!(group.status)), ("letters", json!("skipped")));
    assert_ne!(group.reason, "");
}

/// A session in which a person asked for a letter, and the agent used a skill or not.
fn letter_session(world: &World, id: &str, skill: Option<&str>) {
    let record = |kind: &str, message: Value| {
        json!({
            "type": kind, "uuid": format!("{id}-{kind}"), "timestamp": "2026-01-10T11:00:00Z",
            "cwd": world.path("project"), "sessionId": id, "isSidechain": false, "message": message,
        })
    };
    let asked = json!({"role": "user", "content": "Write a letter to Ann about the parcel"});
    let used = skill.map(
        |skill| json!({"type": "tool_use", "id": "t", "name": "Skill", "input": {"skill": skill}}),
    );
    let said = json!({"type": "text", "text": "Dear Ann."});
    let content: Vec<Value> = used.into_iter().chain([said]).collect();
    let answered = json!({"id": format!("{id}-m"), "role": "assistant", "content": content});
    let lines = [record("user", asked), record("assistant", answered)];
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    fs::write(world.path(&format!("home/.claude/projects/-p/{id}.jsonl")), text).unwrap();
}

#[tokio::test]
async fn a_session_without_a_skill_keeps_its_task_from_the_skill_of_another_session() {
    for (second, n_groups) in [(None, 0), (Some("letters"), 1)] {
        let world = World::new().with("multi_skill_fanout", json!(true));
        letter_session(&world, "one", Some("letters"));
        letter_session(&world, "two", second);
        let result = world.run(Answerers::Mock).await.unwrap();
        assert_eq!(result.tasks.len(), 1, "asked twice: {:?}", result.tasks);
        assert_eq!(result.report.skill_groups.len(), n_groups, "{second:?}");
        assert!(
            notes(&result).contains("asked in 2 sessions: Write a letter"),
            "{}",
            notes(&result)
        );
    }
}
