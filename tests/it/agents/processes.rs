//! How processes end: by their time, by a cancelled run, and with all that they started.

use super::scene::{ALL, Scene, chat, folder_of, request};
use skillopt_domain::config::BackendKind;
use skillopt_domain::spend::Role;
use skillopt_engine::ports::ModelErrorKind as Kind;
use std::path::Path;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// The processes of a scene that still run.
fn alive(scene: &Scene) -> Vec<String> {
    let mut found = Vec::new();
    for name in ["in_group", "out_of_group"] {
        let pid = std::fs::read_to_string(scene.path().join(name)).unwrap_or_default();
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim()));
        let state = stat.ok().and_then(|stat| Some(stat.rsplit_once(") ")?.1.chars().next()));
        if !pid.is_empty() && state.flatten().is_some_and(|state| state != 'Z') {
            found.push(name.to_owned());
        }
    }
    found
}

fn both_children_were_there(scene: &Scene) -> bool {
    ["in_group", "out_of_group"].iter().all(|name| scene.path().join(name).exists())
}

async fn until(mut is_so: impl FnMut() -> bool) {
    for _ in 0..2000 {
        if is_so() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("it never came to that");
}

const ONE_TRY: (&str, &str) = ("model.max_retries", "0");

#[tokio::test]
async fn every_program_that_hangs_is_ended_by_its_time_limit() {
    for (kind, role) in ALL {
        let scene = Scene::with_fault("hang");
        let limit = format!("model.{role}_timeout_seconds");
        let mut settings = vec![(limit.as_str(), "0.6"), ONE_TRY];
        if matches!(kind, BackendKind::CopilotChat | BackendKind::CopilotExec) {
            settings.push(("model.copilot_chat_timeout", "0.6"));
        }
        let model = scene.model_with(kind, role, &settings);
        let request = request(&model, "What?");
        let end = chat(&model, &request, &CancellationToken::new()).await;
        let error = end.expect_err("it hangs");
        assert_eq!(error.kind, Kind::Timeout, "{kind:?}: {error}");
        assert!(error.message.contains("did not end within 0.6 s"), "{error}");
    }
}

#[tokio::test]
async fn attempts_end_when_the_time_of_the_whole_call_is_over() {
    let scene = Scene::with_fault("hang");
    let settings = [
        ("model.target_timeout_seconds", "0.4"),
        ("model.total_timeout_seconds", "1"),
        ("model.max_retries", "20"),
    ];
    let model = scene.model_with(BackendKind::CodexExec, Role::Target, &settings);
    let request = request(&model, "What?");
    let end = chat(&model, &request, &CancellationToken::new()).await;
    let error = end.expect_err("it hangs");
    assert_eq!(error.kind, Kind::Timeout);
    assert!((1..=3).contains(&error.attempts), "{error:?}");
    assert!(error.message.contains("a call may take 1 s in all"), "{error}");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_time_limit_ends_the_whole_tree_even_who_ignores_it_or_left_the_group() {
    let scene = Scene::with_fault("hang_with_children");
    let settings = [("model.target_timeout_seconds", "3"), ONE_TRY];
    let model = scene.model_with(BackendKind::CodexExec, Role::Target, &settings);
    let request = request(&model, "What?");
    let end = chat(&model, &request, &CancellationToken::new()).await;
    assert_eq!(end.expect_err("it hangs").kind, Kind::Timeout);
    assert!(both_children_were_there(&scene));
    assert_eq!(alive(&scene), Vec::<String>::new());
    assert!(!folder_of(&scene.seen()[0]).exists());
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn children_that_a_program_leaves_behind_neither_hold_up_its_answer_nor_survive_it() {
    let scene = Scene::with_fault("leave_child");
    let model = scene.model(BackendKind::ClaudeCodeExec, Role::Target);
    let request = request(&model, "What?");
    let reply = chat(&model, &request, &CancellationToken::new()).await.expect("an answer");
    assert_eq!(reply.text, "<answer>42</answer>");
    assert!(both_children_were_there(&scene));
    assert_eq!(alive(&scene), Vec::<String>::new());
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_cancelled_run_ends_the_whole_tree_and_takes_the_folder_away() {
    let scene = Scene::with_fault("hang_with_children");
    let model = scene.model(BackendKind::CopilotExec, Role::Target);
    let (request, cancel) = (request(&model, "What?"), CancellationToken::new());
    let stop = async {
        until(|| both_children_were_there(&scene)).await;
        cancel.cancel();
    };
    let (end, ()) = tokio::join!(chat(&model, &request, &cancel), stop);
    assert_eq!(end.expect_err("cancelled").kind, Kind::Cancelled);
    assert_eq!(alive(&scene), Vec::<String>::new());
    assert!(!folder_of(&scene.seen()[0]).exists());
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_call_that_is_dropped_ends_the_whole_tree_at_once() {
    let scene = Scene::with_fault("hang_with_children");
    let model = scene.model(BackendKind::PiChat, Role::Optimizer);
    let (request, cancel) = (request(&model, "What?"), CancellationToken::new());
    tokio::select! {
        _ = chat(&model, &request, &cancel) => panic!("it hangs"),
        () = until(|| both_children_were_there(&scene)) => {}
    }
    // What is killed may need a moment to be gone.
    until(|| alive(&scene).is_empty()).await;
    assert!(!folder_of(&scene.seen()[0]).exists());
}

#[tokio::test]
async fn what_a_program_writes_where_it_stands_vanishes_with_the_call() {
    let scene = Scene::with_fault("litter");
    let model = scene.model(BackendKind::CodexExec, Role::Target);
    let request = request(&model, "What?");
    let reply = chat(&model, &request, &CancellationToken::new()).await.expect("an answer");
    assert_eq!(reply.text, "littered");
    assert!(!Path::new("made-by-the-program.txt").exists());
    assert!(!folder_of(&scene.seen()[0]).exists());
}
