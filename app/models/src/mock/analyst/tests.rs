//! The simulated optimizer through the port, with requests as the training loop makes them.

use super::*;
use crate::mock::MockOptimizer;
use crate::mock::tests::{sample, settings};
use skillopt_engine::ports::{ChatRequest, Message, Model, Purpose};
use tokio_util::sync::CancellationToken;

const SKILL: &str = "# Answering questions\n\nFind the passage with the question's subject; answer from the passage.\n\nNo rules have been learned yet.\n";
const FAILURES: &str = "### Trajectory 1, id a\nTask: In which year was the old mill opened?\nFailure: EM=0\n---\n\
    ### Trajectory 2, id b\nTask: In which year was the new mill founded?\n---\n\
    ### Trajectory 3, id c\nTask: Who designed the mill?\n---";

async fn ask(purpose: Purpose, skill: &str, previous: &str, seed: u64) -> Value {
    let tag = match purpose {
        Purpose::AnalystSuccess => "successful_trajectories",
        _ => "failed_trajectories",
    };
    let user = format!(
        "<current_skill>\n{skill}\n</current_skill>\n\nPropose at most 2 edits.\n\n\
         <previous_steps>\n{previous}\n</previous_steps>\n\n<{tag}>\n{FAILURES}\n</{tag}>\n"
    );
    let request = ChatRequest::new(
        purpose,
        "step_0001",
        vec![Message::system("At most L=9 edits."), Message::user(user)],
    );
    let optimizer = MockOptimizer::new(&settings());
    let reply = optimizer.chat(&request, &sample(seed), &CancellationToken::new()).await.unwrap();
    serde_json::from_str(&reply.text).unwrap()
}

fn contents(reply: &Value) -> Vec<String> {
    let edits = reply["patch"]["edits"].as_array().unwrap();
    edits.iter().filter_map(|edit| edit["content"].as_str()).map(str::to_owned).collect()
}

fn rules_of(lines: &[String]) -> BTreeSet<Rule> {
    lines.iter().flat_map(|line| recognise_line(line)).collect()
}

#[tokio::test]
async fn the_reply_follows_the_contract_and_counts_what_failed() {
    let reply = ask(Purpose::AnalystFailure, SKILL, "", 1).await;
    assert_eq!(reply["batch_size"], 3);
    assert_eq!(reply["failure_summary"][0]["failure_type"], "year with extra words");
    assert_eq!(reply["failure_summary"][0]["count"], 2);
    let n_edits = contents(&reply).len();
    assert!((1..=2).contains(&n_edits), "the budget of the request holds: {reply}");
    let reply = ask(Purpose::AnalystSuccess, SKILL, "", 1).await;
    assert!(reply["success_patterns"][0].is_string() && reply["patch"]["edits"].is_array());
}

#[tokio::test]
async fn helpful_useless_and_harmful_ideas_all_occur() {
    let (mut helpful, mut harmful, mut useless) = (0, 0, 0);
    for seed in 0..60 {
        let lines = contents(&ask(Purpose::AnalystFailure, SKILL, "", seed).await);
        let rules = rules_of(&lines);
        let bad = rules.iter().any(|rule| rule.is_harmful());
        let good = rules.iter().any(|rule| !rule.is_harmful());
        assert!(!(good && bad), "a call is of one mind: {lines:?}");
        helpful += u32::from(good);
        harmful += u32::from(bad);
        useless += u32::from(rules.is_empty());
        for rule in rules.iter().filter(|rule| !rule.is_harmful()) {
            assert!([Rule::Year, Rule::Person].contains(rule), "only what failed here: {rule:?}");
        }
    }
    assert!(helpful > 25 && harmful > 5 && useless > 2, "{helpful} {harmful} {useless}");
}

#[tokio::test]
async fn c26_words_that_were_rejected_are_not_proposed_again() {
    let all: Vec<&str> = wordings(Rule::Year).iter().chain(USELESS).copied().collect();
    let shown: Vec<String> =
        all.iter().map(|line| format!("- [append] target: `` content: `{line}`")).collect();
    let previous = format!("### Step 1 - REJECT (3/7 failed)\n{}", shown.join("\n"));
    for seed in 0..40 {
        for line in contents(&ask(Purpose::AnalystFailure, SKILL, &previous, seed).await) {
            assert!(!all.contains(&line.as_str()), "{line}");
        }
    }
}

#[tokio::test]
async fn a_rule_that_the_skill_holds_is_not_proposed_again() {
    let skill = format!("{SKILL}\n- Years: four digits only.\n- Who-questions: full name.\n");
    for seed in 0..40 {
        let lines = contents(&ask(Purpose::AnalystFailure, &skill, "", seed).await);
        let rules = rules_of(&lines);
        assert!(!rules.contains(&Rule::Year) && !rules.contains(&Rule::Person), "{lines:?}");
    }
}

#[tokio::test]
async fn a_harmful_line_of_the_skill_is_taken_out_in_good_steps() {
    let line = wordings(Rule::Unknown)[0];
    let skill = format!("{SKILL}\n{line}\n");
    let mut deletions = 0;
    for seed in 0..40 {
        let reply = ask(Purpose::AnalystFailure, &skill, "", seed).await;
        let edits = reply["patch"]["edits"].as_array().unwrap();
        deletions +=
            edits.iter().filter(|edit| edit["op"] == "delete" && edit["target"] == line).count();
    }
    assert!(deletions > 15, "{deletions}");
}

#[tokio::test]
async fn some_edits_have_an_anchor_that_is_missing_or_ambiguous_or_real() {
    let (mut missing, mut ambiguous, mut real) = (0, 0, 0);
    for seed in 0..120 {
        let reply = ask(Purpose::AnalystFailure, SKILL, "", seed).await;
        for edit in reply["patch"]["edits"].as_array().unwrap() {
            let Some(target) = edit["target"].as_str() else { continue };
            match SKILL.matches(target).count() {
                0 => missing += 1,
                1 => real += 1,
                _ => ambiguous += 1,
            }
        }
    }
    assert!(missing > 0 && ambiguous > 0 && real > 20, "{missing} {ambiguous} {real}");
}

#[tokio::test]
async fn the_same_request_has_the_same_reply_and_a_preflight_is_ok() {
    let first = ask(Purpose::AnalystFailure, SKILL, "", 3).await;
    assert_eq!(first, ask(Purpose::AnalystFailure, SKILL, "", 3).await);
    let request = ChatRequest {
        max_tokens: Some(5),
        ..ChatRequest::new(Purpose::Preflight, "", vec![Message::user("Say OK.")])
    };
    let optimizer = MockOptimizer::new(&settings());
    let reply = optimizer.chat(&request, &sample(1), &CancellationToken::new()).await.unwrap();
    assert_eq!(reply.text, "OK");
}
