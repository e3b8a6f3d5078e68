//! Targets that work in a folder: what they are given, and who reads what they did.

use super::*;
use crate::ports::AgentStep;

const DID: &str = "looked into the drawer";

/// As [`target_reply`], from the folder alone, with a word about the way.
fn agent_reply(request: &ChatRequest) -> Result<ChatReply, ModelError> {
    let Some(workspace) = &request.workspace else { return Ok(reply("OK")) };
    let mut messages = request.messages.clone();
    messages[0].content.clone_from(&workspace.skill);
    messages[1].content.clone_from(&workspace.task);
    let answer = target_reply(&ChatRequest { messages, ..request.clone() })?;
    let step = AgentStep { kind: "tool".into(), text: DID.into(), result: "a key".into() };
    Ok(ChatReply { steps: vec![step], ..answer })
}

fn world() -> World {
    World {
        target: ScriptedModel::in_folder("agent", |request, _| agent_reply(request)),
        ..World::new()
    }
}

/// The optimizer's questions that tell of the way, of all that hold trajectories.
fn told(world: &World) -> (usize, usize) {
    let seen = world.optimizer.seen();
    let read = seen.iter().filter(|request| {
        matches!(request.purpose, Purpose::AnalystFailure | Purpose::AnalystSuccess)
    });
    let texts: Vec<&str> = read.map(|request| request.messages[1].content.as_str()).collect();
    (texts.iter().filter(|text| text.contains(DID)).count(), texts.len())
}

#[tokio::test]
async fn what_an_agent_did_reaches_the_optimizer_only_where_the_config_says_so() {
    for (shown, value) in [(true, "true"), (false, "false")] {
        let world = world();
        let journal = Arc::new(MemoryJournal::default());
        let input = input(&[("model.codex_trace_to_optimizer", value)]);
        let report = world.run(&input, journal.clone()).await.expect("done");
        assert!(report.best_skill.contains("rule 0"), "{}", report.best_skill);
        let (told, all) = told(&world);
        assert_eq!((told, all > 0), (if shown { all } else { 0 }, true));
        let texts = world.optimizer.seen();
        let first = &texts.iter().find(|request| request.messages[1].content.contains(DID));
        if let Some(request) = first {
            let barred = format!("| tool: {DID}\n| => a key\n");
            assert!(request.messages[1].content.contains(&barred));
        }
    }
}

#[tokio::test]
async fn an_agent_is_given_skill_and_task_apart_and_a_resumed_run_tells_the_same() {
    let world = world();
    let whole = input(&[]);
    world.run(&whole, Arc::new(MemoryJournal::default())).await.expect("done");
    for request in world.target.seen() {
        let Some(workspace) = request.workspace else {
            assert_eq!(request.purpose, Purpose::Preflight);
            continue;
        };
        assert!(workspace.skill.starts_with("# Skill"), "{workspace:?}");
        assert!(!workspace.task.contains("Be kind") && !workspace.instructions.contains("Be kind"));
    }
    let asked = |world: &World| -> Vec<String> {
        let seen = world.optimizer.seen().into_iter();
        let mut texts: Vec<String> =
            seen.map(|request| request.messages[1].content.clone()).collect();
        texts.sort();
        texts
    };
    let killed = self::world();
    killed.run_killed_at_call(&whole, &killed.optimizer, 2).await;
    assert_eq!(asked(&killed), asked(&world));
}
