//! Secrets in what a night lays aside and remembers.

use super::*;

const SECRET: &str = "ghp_0123456789abcdefghijABCDEFGHIJ012345";

#[tokio::test]
async fn f38_secrets_of_given_tasks_reach_no_model_no_file_and_no_archive() {
    let with_secret = |task: TaskRecord| TaskRecord {
        context_excerpt: format!("the token is {SECRET}"),
        intent: format!("{} with {SECRET}", task.intent),
        ..task
    };
    let world = World::new().given(letters().into_iter().map(with_secret).collect());
    let voice = willing();
    let result = world.run(world.models(&voice)).await.unwrap();
    assert!(voice.n_calls() > 0);
    let sent = voice.seen.lock().unwrap().clone();
    let said = |request: &ChatRequest| request.messages.iter().any(|m| m.content.contains(SECRET));
    assert!(!sent.iter().any(said));
    assert!(result.report.notes.iter().any(|note| note == "secrets in 3 given tasks were masked"));
    assert!(!fs::read_to_string(world.state_file()).unwrap().contains(SECRET));
    for entry in fs::read_dir(result.staging.unwrap()).unwrap() {
        let path = entry.unwrap().path();
        assert!(!fs::read_to_string(&path).unwrap().contains(SECRET), "{}", path.display());
    }
}

#[tokio::test]
async fn secrets_in_words_of_models_are_masked_in_reports_and_documents_stay_as_they_are() {
    let world = World::new().given(letters());
    let skill = world.skill();
    fs::create_dir_all(skill.parent().unwrap()).unwrap();
    let live = format!("---\nname: x\ndescription: y\n---\n# X\n\nThe key is {SECRET}.\n");
    fs::write(&skill, &live).unwrap();
    let voice = Voice::new(|request| match request.purpose {
        Purpose::Reflect => {
            let edit = json!({"op": "add", "content": RULE, "rationale": format!("as {SECRET}")});
            Ok(reply(&json!({"edits": [edit]}).to_string()))
        }
        _ => Ok(reply(&answer(request))),
    });
    let result = world.run(world.models(&voice)).await.unwrap();
    assert!(result.report.edits[0].rationale.contains("[REDACTED"), "{:?}", result.report.edits);
    let dir = result.staging.unwrap();
    for name in ["report.json", "report.md", "diagnostics.json", "evidence.jsonl", "tasks.json"] {
        assert!(!fs::read_to_string(dir.join(name)).unwrap().contains(SECRET), "{name}");
    }
    let proposed = fs::read_to_string(dir.join("proposed_SKILL.md")).unwrap();
    assert!(proposed.starts_with(&live), "{proposed}");
}

#[tokio::test]
async fn the_reason_of_a_rejection_is_told_to_the_next_night_cut_and_without_secrets() {
    let world = World::new().given(letters());
    let first = world.run(world.models(&willing())).await.unwrap();
    let reason = format!("Nobody writes so, says {SECRET}.\n{}", "no ".repeat(400));
    crate::adopt::reject(&first.staging.unwrap(), &[], &reason, "ann", world.clock.now_ms())
        .unwrap();
    let voice = willing();
    world.run(world.models(&voice)).await.unwrap();
    let said = said_to_the_optimizer(&voice);
    assert!(said.contains(&format!("- Add for the skill: {RULE}")), "{said}");
    assert!(said.contains("| Nobody writes so, says [REDACTED"), "{said}");
    assert!(!said.contains(SECRET) && said.matches("no no").count() < 100, "{said}");
}

#[tokio::test]
async fn rejections_of_nights_that_came_with_the_project_are_told_to_nobody() {
    let world = World::new().given(letters());
    let first = world.run(world.models(&willing())).await.unwrap();
    crate::adopt::reject(&first.staging.unwrap(), &[], "obey me", "eve", world.clock.now_ms())
        .unwrap();
    // The project as it is on another machine.
    fs::remove_file(world.state_file()).unwrap();
    let voice = willing();
    world.run(world.models(&voice)).await.unwrap();
    let said = said_to_the_optimizer(&voice);
    assert!(!said.is_empty() && !said.contains("obey me") && !said.contains(RULE), "{said}");
}

fn said_to_the_optimizer(voice: &Voice) -> String {
    let seen = voice.seen.lock().unwrap();
    let asked = seen.iter().filter(|request| request.purpose == Purpose::Reflect);
    let said = asked.flat_map(|request| request.messages.iter().map(|one| one.content.as_str()));
    said.collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn secrets_that_the_miner_writes_are_not_remembered() {
    let world = World::new().with("max_tasks_per_night", json!(1));
    world.session("one", &["Write a letter to Ann"]);
    let voice = Voice::new(|request| match request.purpose {
        Purpose::Mine => {
            let checks = json!([{"op": "contains", "arg": "kind regards"}]);
            let task =
                |to: &str| json!({"intent": format!("Write to {to} {SECRET}"), "checks": checks});
            Ok(reply(&json!([task("Ann"), task("Bob")]).to_string()))
        }
        _ => Ok(reply(&answer(request))),
    });
    world.run(world.models(&voice)).await.unwrap();
    let state = StateFile::new(&world.path("home/.skillopt-sleep")).read().unwrap();
    assert_eq!((state.archive().len(), state.waiting_tasks(&world.project()).len()), (1, 1));
    assert!(!fs::read_to_string(world.state_file()).unwrap().contains(SECRET));
}

#[cfg(unix)]
#[tokio::test]
async fn everything_of_a_night_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::new().given(exacts());
    let dir = world.run(Answerers::Mock).await.unwrap().staging.unwrap();
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&dir), mode(&world.state_file())), (0o700, 0o600));
    for entry in fs::read_dir(&dir).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
}
