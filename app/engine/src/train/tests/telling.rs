//! What each optimizer call is told: earlier steps, the memory, and in which order.

use super::optimizer::{able, answer};
use super::*;
use serde_json::json;
use skillopt_domain::event::FailurePattern;
use std::collections::BTreeSet;

/// A stubborn optimizer: suggestions that help nobody, and more than the budget allows.
fn stubborn(request: &ChatRequest) -> Result<ChatReply, ModelError> {
    let suggestion = |n: usize| {
        json!({
            "type": "add_rule", "title": format!("t{n}"), "motivation": "m",
            "instruction": format!("- useless {n}"), "priority_hint": "low",
        })
    };
    let list = json!({"reasoning": "r", "revise_suggestions": [suggestion(1), suggestion(2)]});
    match request.purpose {
        Purpose::AnalystFailure => Ok(reply(&json!({"patch": list}).to_string())),
        Purpose::MergeFailure => Ok(reply(&list.to_string())),
        Purpose::SlowUpdate => Ok(reply(r#"{"slow_update_content": "- useless guidance"}"#)),
        _ => able(request),
    }
}

const BUSY: [(&str, &str); 6] = [
    ("optimizer.skill_update_mode", "rewrite_from_suggestions"),
    ("optimizer.lr_control_mode", "autonomous"),
    ("optimizer.use_meta_skill", "true"),
    ("optimizer.use_slow_update", "true"),
    ("train.num_epochs", "3"),
    ("gradient.minibatch_size", "2"),
];

async fn last_epoch() -> Vec<ChatRequest> {
    let world = World::with(target_reply, stubborn);
    world.run(&input(&BUSY), Arc::default()).await.expect("done");
    let late = ["step_0005", "step_0006", "slow_update_03"];
    let seen = world.optimizer.seen().into_iter();
    seen.filter(|request| late.contains(&request.phase.as_str())).collect()
}

#[tokio::test]
async fn memory_and_earlier_steps_go_where_they_help_and_nowhere_else() {
    let seen = last_epoch().await;
    let table = [
        // Memory, earlier steps.
        (Purpose::AnalystFailure, true, true),
        (Purpose::MergeFailure, true, false),
        (Purpose::LrControl, true, true),
        (Purpose::Ranking, true, false),
        (Purpose::Rewrite, false, true),
        (Purpose::SlowUpdate, false, false),
    ];
    for (purpose, memory, steps) in table {
        let asked: Vec<&ChatRequest> = seen.iter().filter(|r| r.purpose == purpose).collect();
        assert!(!asked.is_empty(), "{purpose:?} was asked");
        for request in asked {
            let user = &request.messages[1].content;
            assert_eq!(user.contains("Small rules work here."), memory, "memory, {purpose:?}");
            assert_eq!(user.contains("<previous_steps>"), steps, "earlier steps, {purpose:?}");
        }
    }
}

#[tokio::test]
async fn an_analyst_reads_skill_budget_earlier_steps_memory_and_then_trajectories() {
    let seen = last_epoch().await;
    let analyst = seen.iter().find(|r| r.purpose == Purpose::AnalystFailure).expect("asked");
    let user = &analyst.messages[1].content;
    let at = |words: &str| user.find(words).unwrap_or_else(|| panic!("{words} in {user}"));
    let places = [
        at("<current_skill>"),
        at("of suggestions is not limited"),
        at("<previous_steps>"),
        at("<optimizer_memory>"),
        at("<failed_trajectories>"),
    ];
    assert!(places.is_sorted(), "{places:?}");
}

/// Names the pattern of a minibatch after its first task.
fn naming(request: &ChatRequest) -> Result<ChatReply, ModelError> {
    if request.purpose != Purpose::AnalystFailure {
        return able(request);
    }
    let user = &request.messages[1].content;
    let at = user.find("### Trajectory 1, id ").map_or(0, |at| at + 21);
    let id = user[at..].split_whitespace().next().unwrap_or_default().to_owned();
    let mut analysis = answer(request);
    analysis["failure_summary"] =
        json!([{"failure_type": "seen", "count": 40, "description": format!("first in {id}")}]);
    Ok(reply(&analysis.to_string()))
}

#[tokio::test]
async fn a_pattern_keeps_the_count_and_the_tasks_of_the_minibatch_in_which_it_was_seen() {
    let world = World::with(target_reply, naming);
    let journal = Arc::new(MemoryJournal::default());
    let changes =
        [("train.batch_size", "8"), ("gradient.minibatch_size", "3"), ("train.num_epochs", "1")];
    world.run(&input(&changes), journal.clone()).await.expect("done");
    let reflected = journal.events().into_iter().find_map(|event| match event.kind {
        EventKind::Reflected { reflection, .. } => Some(reflection.patterns),
        _ => None,
    });
    let patterns: Vec<FailurePattern> = reflected.expect("reflected");
    assert_eq!(patterns.len(), 3);
    let mut all = BTreeSet::new();
    for pattern in &patterns {
        let id = pattern.pattern.strip_prefix("seen: first in ").expect("its own words");
        assert_eq!(pattern.tasks[0].as_str(), id, "the description stays with its tasks");
        let n = u32::try_from(pattern.tasks.len()).expect("few");
        assert_eq!(pattern.count, n, "no more than there were in the minibatch");
        all.extend(pattern.tasks.iter().map(ToString::to_string));
    }
    assert_eq!(all.len(), 8, "no task is in two minibatches");
    let digest = world.folder.file("steps/step_0001/trajectory_digest.json").expect("written");
    let digest: serde_json::Value = serde_json::from_str(&digest).expect("JSON");
    assert_eq!(digest["failure_patterns"][0]["pattern"], json!(patterns[0].pattern));
    assert_eq!(digest["failure_patterns"][0]["task_ids"], json!(patterns[0].tasks));
}

#[tokio::test]
async fn what_lost_is_what_was_in_the_candidate_with_both_scores() {
    let world = World::new();
    world.run(&input(&[]), Arc::default()).await.expect("done");
    let digest = world.folder.file("steps/step_0002/trajectory_digest.json").expect("written");
    let digest: serde_json::Value = serde_json::from_str(&digest).expect("JSON");
    // The second edit of the step named a line that is not there: it was not tried, so it did not lose.
    assert_eq!(
        digest["rejected_edits"],
        json!([{"op": "append", "content": "- poison everything", "target": null}])
    );
    assert_eq!((&digest["score_before"], &digest["score_after"]), (&json!(0.25), &json!(0.0)));
    assert_eq!((&digest["action"], &digest["n_fail"]), (&json!("reject"), &json!(3)));
    let kept = world.folder.file("steps/step_0001/trajectory_digest.json").expect("written");
    assert!(!kept.contains("rejected_edits") && !kept.contains("score_before"), "{kept}");
}

#[tokio::test]
async fn the_record_of_a_run_says_where_current_and_best_skill_came_from() {
    let world = World::with(target_reply, able);
    let changes = [("optimizer.use_slow_update", "true")];
    world.run(&input(&changes), Arc::default()).await.expect("done");
    let rows = world.history();
    let origins: Vec<(&str, &str, &str)> = rows
        .as_array()
        .into_iter()
        .flatten()
        .map(|row| {
            let word = |key: &str| row[key].as_str().unwrap_or_default();
            (word("action"), word("current_origin"), word("best_origin"))
        })
        .collect();
    assert_eq!(
        origins,
        [
            ("accept_new_best", "step_0001", "step_0001"),
            ("reject", "step_0001", "step_0001"),
            ("accept_new_best", "step_0003", "step_0003"),
            ("accept_new_best", "step_0004", "step_0004"),
        ]
    );
    let state = world.folder.file("runtime_state.json").expect("written");
    let state: serde_json::Value = serde_json::from_str(&state).expect("JSON");
    assert_eq!(state["current_origin"], "slow_update_epoch_02");
    assert_eq!(state["best_origin"], "slow_update_epoch_02");
}

/// The same useless rule again and again.
fn repeating(request: &ChatRequest) -> Result<ChatReply, ModelError> {
    let edits = json!([{"op": "append", "content": "- the same"}]);
    match request.purpose {
        Purpose::AnalystFailure => {
            Ok(reply(&json!({"patch": {"reasoning": "r", "edits": edits}}).to_string()))
        }
        _ => able(request),
    }
}

#[tokio::test]
async fn a_text_that_was_measured_is_not_measured_again() {
    let world = World::with(target_reply, repeating);
    let journal = Arc::new(MemoryJournal::default());
    world.run(&input(&[]), journal.clone()).await.expect("done");
    let reused: Vec<bool> = journal
        .events()
        .into_iter()
        .filter_map(|event| match event.kind {
            EventKind::Gated { verdict, .. } => Some(verdict.reused),
            _ => None,
        })
        .collect();
    assert_eq!(reused, [false, true, true, true]);
    let measured =
        world.target.seen().iter().filter(|r| r.phase.contains("selection_eval")).count();
    assert_eq!(measured, 8 + 8, "the baseline and the candidate, once each");
}
