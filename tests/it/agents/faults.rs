//! What every program does when something goes wrong, and what a person reads then.

use super::scene::{ALL, Scene, ask, chat, config, program, request};
use serde_json::json;
use skillopt_domain::config::BackendKind;
use skillopt_domain::spend::Role;
use skillopt_engine::ports::{Billed, Model, ModelError, ModelErrorKind as Kind};
use skillopt_models::{Endpoints, ProgramModel, ProgramSetup, find_program};
use std::collections::BTreeMap;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Asks each program in its roles; checks how it fails and after how many attempts.
async fn check(fault: &str, kind: Kind, attempts: u32, words: &str) {
    for (backend, role) in ALL {
        let scene = Scene::with_fault(fault);
        let error = failed(&scene, backend, role, &[]).await;
        let name = backend.as_str();
        assert_eq!((error.kind, error.attempts), (kind, attempts), "{name} {role}: {error}");
        assert!(error.message.contains(words), "{name} {role}: {error}");
        assert_eq!(scene.seen().len(), usize::try_from(attempts).expect("few"), "{name}");
    }
}

async fn failed(
    scene: &Scene,
    backend: BackendKind,
    role: Role,
    more: &[(&str, &str)],
) -> ModelError {
    let model = scene.model_with(backend, role, more);
    ask(&model, "What?").await.expect_err(backend.as_str())
}

#[tokio::test]
async fn c41_an_exit_code_and_the_end_of_stderr_are_told_and_not_tried_again() {
    check("exit", Kind::Server, 1, "ended with exit code 7: TypeError: something broke at line 12")
        .await;
}

#[tokio::test]
async fn who_is_not_logged_in_reads_what_to_run() {
    for (backend, role) in ALL {
        let scene = Scene::with_fault("login");
        let error = failed(&scene, backend, role, &[]).await;
        assert_eq!((error.kind, error.attempts), (Kind::Authentication, 1), "{error}");
        assert!(error.message.starts_with("run `"), "{error}");
        assert!(error.message.contains(program(backend)), "{error}");
    }
}

#[tokio::test]
async fn a_used_up_subscription_is_a_used_up_quota_which_ends_the_run_resumably() {
    check("usage_limit", Kind::QuotaExhausted, 1, "hit your usage limit").await;
}

#[tokio::test]
async fn c46_output_that_is_no_event_is_no_answer() {
    check("garbage", Kind::Server, 1, "said nothing that could be read: Welcome!").await;
}

#[tokio::test]
async fn a_stream_that_is_cut_is_asked_for_again_and_then_told() {
    check("cut", Kind::Server, 2, "ended before its answer did").await;
}

#[tokio::test]
async fn output_without_end_is_stopped() {
    check("flood", Kind::Server, 1, "wrote more than can be its answer").await;
}

#[tokio::test]
async fn an_empty_answer_is_asked_for_once_more_with_a_word_about_it() {
    check("empty", Kind::Empty, 2, "without an answer").await;
    for (backend, role) in ALL {
        let scene = Scene::new(&json!({"faults": ["empty"], "answer": "yes"}));
        let reply = ask(&scene.model(backend, role), "What?").await.expect("an answer");
        assert_eq!((reply.text.as_str(), reply.attempts), ("yes", 2), "{backend:?}");
        let seen = scene.seen();
        let prompt = |at: usize| seen[at]["prompt"].as_str().unwrap_or_default();
        assert!(!prompt(0).contains("without an answer"), "{backend:?}");
        assert!(prompt(1).contains("ended without an answer"), "{backend:?}");
    }
    let scene = Scene::with_fault("empty");
    let never = [("model.exec_empty_response_retries", "0")];
    let error = failed(&scene, BackendKind::CodexExec, Role::Target, &never).await;
    assert_eq!(error.attempts, 1);
}

#[tokio::test]
async fn c44_a_rate_limit_is_waited_out() {
    for (backend, role) in ALL {
        let scene = Scene::new(&json!({"faults": ["rate_limit"], "answer": "yes"}));
        let reply = ask(&scene.model(backend, role), "What?").await.expect("an answer");
        assert_eq!((reply.text.as_str(), reply.attempts), ("yes", 2), "{backend:?}");
    }
    check("rate_limit", Kind::RateLimited, 2, "rate limit").await;
}

#[tokio::test]
async fn what_failed_attempts_took_is_counted_with_the_answer() {
    let scene = Scene::new(&json!({"faults": ["empty"], "answer": "yes"}));
    let model = scene.model(BackendKind::ClaudeChat, Role::Target);
    let reply = ask(&model, "What?").await.expect("an answer");
    let told = |billed: Billed| (billed.answers, billed.unmetered, billed.cost_usd_micros);
    let earlier = reply.earlier.expect("an attempt before it").billed;
    assert_eq!(reply.usage.map(|usage| usage.prompt_tokens), Some(120));
    assert_eq!((earlier.usage.prompt_tokens, told(earlier)), (120, (1, 0, Some(12_500))));
    assert_eq!(reply.cost_usd_micros, Some(12_500));
}

#[tokio::test]
async fn c47_every_attempt_that_was_started_counts_as_a_call_and_unknown_tokens_are_unknown() {
    for fault in ["cut", "exit", "empty", "garbage"] {
        for (backend, role) in ALL {
            let scene = Scene::with_fault(fault);
            let error = failed(&scene, backend, role, &[]).await;
            let (billed, n) = (error.billed, scene.seen().len());
            let name = backend.as_str();
            assert_eq!(usize::try_from(billed.answers), Ok(n), "{name} {fault}");
            let tells = fault == "empty" && billed.usage.prompt_tokens > 0;
            let unmetered = if tells { 0 } else { billed.answers };
            assert_eq!(u32::from(billed.unmetered), unmetered, "{name} {fault}");
            assert!(tells || billed.cost_usd_micros.is_none(), "{name} {fault}: {billed:?}");
        }
    }
    let scene = Scene::with_fault("cut");
    let model = scene.model(BackendKind::CodexExec, Role::Target);
    let worst = model.worst_case(&request(&model, "What?"));
    assert_eq!(worst.calls, 3, "the first, one for a failure, and one for an empty answer");
}

#[tokio::test]
async fn secrets_that_a_program_prints_are_masked() {
    let key = "sk-planted-0123456789";
    for (backend, role) in ALL {
        let script = json!({"fault": "secret", "secret": key});
        let scene = Scene::new(&script).with_env(&[("OPENAI_API_KEY", key)]);
        let error = failed(&scene, backend, role, &[]).await;
        assert!(error.message.contains("bad key ***"), "{error}");
    }
}

#[tokio::test]
async fn a_run_that_is_cancelled_before_the_call_starts_nothing() {
    let scene = Scene::with_fault("");
    let model = scene.model(BackendKind::PiChat, Role::Target);
    let cancel = CancellationToken::new();
    cancel.cancel();
    let error = chat(&model, &request(&model, "What?"), &cancel).await.expect_err("cancelled");
    assert_eq!(error.kind, Kind::Cancelled);
}

#[tokio::test]
async fn a_wait_between_attempts_ends_with_the_run() {
    let scene = Scene::with_fault("rate_limit");
    let model = scene.model_with(BackendKind::PiChat, Role::Target, &[("model.max_retries", "20")]);
    let cancel = CancellationToken::new();
    let request = request(&model, "What?");
    let call = chat(&model, &request, &cancel);
    let stop = async {
        while scene.seen().len() < 2 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        cancel.cancel();
    };
    let (end, ()) = tokio::join!(call, stop);
    assert_eq!(end.expect_err("cancelled").kind, Kind::Cancelled);
}

#[test]
fn c41_a_program_that_is_missing_is_named_with_where_it_was_looked_for() {
    let empty = tempfile::tempdir().expect("a folder");
    let env = BTreeMap::from([("PATH".to_owned(), empty.path().display().to_string())]);
    for (backend, role) in ALL {
        let config = config(backend, role, &[]);
        let setup = ProgramSetup {
            role,
            config: config.role(role),
            agents: &config.agents,
            env: &env,
            max_concurrency: 1,
            is_run: true,
            may_start: true,
        };
        let error = ProgramModel::new(setup, &Endpoints::new()).expect_err("not there");
        let words = error.to_string();
        let place = empty.path().display().to_string();
        assert!(words.contains(&format!("`{}` was not found", program(backend))), "{words}");
        assert!(words.contains(&place) && words.contains("_path"), "{words}");
    }
}

#[test]
fn a_program_that_the_config_names_wins_over_path_and_must_be_one() {
    let scene = Scene::with_fault("");
    let at = scene.path().join("codex").display().to_string();
    let found = |path: &str| {
        let config =
            config(BackendKind::CodexExec, Role::Target, &[("model.codex_exec_path", path)]);
        find_program(BackendKind::CodexExec, &config.agents, &BTreeMap::new()).expect("a program")
    };
    assert_eq!(found(&at).expect("there"), std::path::Path::new(&at));
    let script = scene.path().join("script.json").display().to_string();
    let words = found(&script).expect_err("no program").to_string();
    assert!(words.contains("is no program that can be run"), "{words}");
    assert!(words.contains("model.codex_exec_path"), "{words}");
}
