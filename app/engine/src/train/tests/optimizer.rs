//! An optimizer that answers every question of the loop: it knows one good rule at a time, and tries poison first
//! where nobody told it that poison was rejected.

use super::*;
use crate::prompts::{Prompt, PromptVars};
use serde_json::{Value, json};

/// What stands in a section of the user message.
pub(super) fn section_of<'a>(user: &'a str, name: &str) -> &'a str {
    let (open, close) = (format!("<{name}>\n"), format!("\n</{name}>"));
    let start = user.find(&open).map_or(user.len(), |at| at + open.len());
    let end = user[start..].find(&close).map_or(user.len(), |at| start + at);
    &user[start..end]
}

pub(super) fn able(request: &ChatRequest) -> Result<ChatReply, ModelError> {
    Ok(reply(&answer(request).to_string()))
}

/// The answer of [`able`], for optimizers that differ from it in one thing.
pub(super) fn answer(request: &ChatRequest) -> Value {
    let (system, user) = (&request.messages[0].content, &request.messages[1].content);
    match request.purpose {
        Purpose::Preflight | Purpose::Qa => json!("OK"),
        Purpose::AnalystFailure => analysis(system, user),
        Purpose::AnalystSuccess => nothing(system),
        Purpose::MergeFailure | Purpose::MergeSuccess | Purpose::MergeFinal => {
            let patches: Value = serde_json::from_str(section_of(user, "patches")).expect("JSON");
            patches[0].clone()
        }
        Purpose::Ranking => json!({"reasoning": "as they come", "selected_indices": [0]}),
        Purpose::LrControl => {
            json!({"learning_rate": 1, "confidence": "high", "reasoning": "one at a time"})
        }
        Purpose::Rewrite => rewriting(user),
        Purpose::SlowUpdate => json!({"reasoning": "r", "slow_update_content": "- rule 3 matters"}),
        Purpose::MetaSkill => {
            json!({"reasoning": "r", "meta_skill_content": "Small rules work here."})
        }
        Purpose::AppendixConsolidate => json!({"appendix_notes": ["Follow every rule."]}),
        Purpose::Mine | Purpose::Judge | Purpose::Reflect | Purpose::Contrast => {
            unreachable!("training asks for no night")
        }
    }
}

pub(super) fn next_rule(user: &str) -> String {
    let skill = section_of(user, "current_skill");
    let missing = (0..4).find(|rule| !skill.contains(&format!("rule {rule}"))).unwrap_or(4);
    if missing % 2 == 1 && !user.contains("poison") {
        "- poison everything".to_owned()
    } else {
        format!("- rule {missing}")
    }
}

fn analysis(system: &str, user: &str) -> Value {
    let rule = next_rule(user);
    let skill = section_of(user, "current_skill");
    let mut analysis = json!({
        "batch_size": "4 trajectories",
        "failure_summary": [{"failure_type": "gap", "count": 3, "description": "lacks a rule"}],
    });
    analysis["patch"] = if system.contains("\"skill_candidates\"") {
        let new_skill = format!("{skill}\n{rule}\n");
        json!({"reasoning": "r", "skill_candidates": [{"title": "t", "change_summary": [rule], "new_skill": new_skill}]})
    } else if system.contains("\"revise_suggestions\"") {
        json!({"reasoning": "r", "revise_suggestions": [
            {"type": "add_rule", "title": "a rule", "motivation": "m", "instruction": rule, "priority_hint": "high"},
        ]})
    } else {
        json!({"reasoning": "r", "edits": [{"op": "append", "content": rule}]})
    };
    if system.contains("appendix_notes") {
        analysis["appendix_notes"] = json!(["Follow the first rule."]);
    }
    analysis
}

fn nothing(system: &str) -> Value {
    let list = ["edits", "revise_suggestions", "skill_candidates"]
        .into_iter()
        .find(|list| system.contains(&format!("\"{list}\"")))
        .expect("a prompt names its list");
    json!({"batch_size": 1, "success_patterns": [], "patch": {"reasoning": "", list: []}})
}

fn rewriting(user: &str) -> Value {
    let suggestions: Value = serde_json::from_str(section_of(user, "suggestions")).expect("JSON");
    let lines: Vec<&str> = suggestions
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|suggestion| suggestion["instruction"].as_str())
        .collect();
    let new_skill = format!("{}\n{}\n", section_of(user, "current_skill"), lines.join("\n"));
    json!({"reasoning": "r", "change_summary": lines, "new_skill": new_skill})
}

#[test]
fn the_prompts_name_the_lists_that_this_optimizer_looks_for() {
    let vars = PromptVars { skill_aware: true, ..PromptVars::default() };
    let text = PromptSet::default().system_message(Prompt::AnalystFailure, vars).expect("renders");
    assert!(text.contains("\"edits\"") && text.contains("appendix_notes"));
}
