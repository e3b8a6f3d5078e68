//! What the simulated optimizer writes between epochs, how it sets a budget, and how it condenses reminders. It sees
//! only what it is shown.

use super::analyst::{counted, questions};
use super::dice::{pick, roll};
use super::phrases::{USELESS, failure, wordings};
use super::rates;
use super::rules::{Rule, recognise, recognise_line};
use serde_json::{Value, json};
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// Lines of guidance at most.
const MAX_GUIDANCE: usize = 2;

/// A budget for a numbered list of proposals: one for each that repairs or rules something, and one only after a
/// step that was rejected.
pub(super) fn budget(proposals: &str, previous: &str) -> Value {
    let lines: Vec<&str> = proposals.lines().filter(|line| line.starts_with('[')).collect();
    let repairs = |line: &&&str| line.contains("op=delete") || line.contains("type=remove_rule");
    let rules = |line: &&&str| recognise_line(line).any(|rule| !rule.is_harmful());
    let n_sound = lines.iter().filter(|line| repairs(line) || rules(line)).count();
    let was_rejected = previous
        .lines()
        .rfind(|line| line.starts_with("### Step "))
        .is_some_and(|line| line.contains("REJECT"));
    let wanted = if was_rejected { 1 } else { n_sound.max(1) };
    json!({
        "learning_rate": wanted.min(lines.len()),
        "reasoning": format!("{n_sound} of {} proposals answer a failure that was seen.", lines.len()),
        "confidence": if n_sound > 0 { "medium" } else { "low" },
        "risk_notes": if n_sound > 0 { Vec::new() } else { vec!["None of them is about a form of answer."] },
    })
}

/// Guidance for what regressed and what fails again and again; now and then it is of no use.
pub(super) fn guidance(comparison: &str, skill: &str, sample: &str) -> Value {
    let urgent = comparison.split("## Improved").next().unwrap_or(comparison);
    let rules = recognise(skill);
    let mut counts: Vec<_> = counted(&questions(urgent)).into_iter().collect();
    counts.sort_by_key(|(_, count)| Reverse(*count));
    let missing = counts.into_iter().filter_map(|(kind, _)| kind.rule());
    let missing: Vec<Rule> = missing.filter(|rule| !rules.contains(rule)).collect();
    let helps = roll(&["guidance", sample, skill]) < rates::GUIDANCE_HELPS;
    let lines: Vec<&str> = if helps {
        missing
            .iter()
            .filter_map(|rule| wordings(*rule).first().copied())
            .take(MAX_GUIDANCE)
            .collect()
    } else {
        USELESS
            .get(pick(&["useless guidance", sample], USELESS.len()))
            .copied()
            .into_iter()
            .collect()
    };
    let reasoning = match missing.first() {
        Some(rule) => {
            format!("What fails with both skills is mostly this: {}.", failure(Some(*rule)).0)
        }
        None => "Nothing fails for want of a rule.".to_owned(),
    };
    json!({ "reasoning": reasoning, "slow_update_content": lines.join("\n") })
}

/// A memory for later calls: what is learned, what is open.
pub(super) fn memory(comparison: &str, skill: &str) -> Value {
    let rules = recognise(skill);
    let words = |wanted: &BTreeSet<Rule>| {
        let words: Vec<&str> = wanted.iter().map(|rule| rule.word()).collect();
        if words.is_empty() { "none".to_owned() } else { words.join(", ") }
    };
    let learned: BTreeSet<Rule> = rules.iter().copied().filter(|rule| !rule.is_harmful()).collect();
    let asked = counted(&questions(comparison.split("## Improved").next().unwrap_or_default()));
    let open: BTreeSet<Rule> =
        asked.keys().filter_map(|kind| kind.rule()).filter(|rule| !rules.contains(rule)).collect();
    let content = format!(
        "- One rule for one form of answer helps; advice to be careful changes nothing.\n\
         - Rules that add words to answers did harm before.\n\
         - Learned so far: {}. Still open: {}.",
        words(&learned),
        words(&open)
    );
    json!({ "reasoning": "The comparison shows which forms are still missed.", "meta_skill_content": content })
}

/// Fewer reminders: one for each rule, and those without any only while there is room.
pub(super) fn condensed(reminders: &str) -> Value {
    let notes: Vec<&str> = reminders
        .lines()
        .filter_map(|line| line.split_once(". "))
        .filter(|(number, _)| number.chars().all(|c| c.is_ascii_digit()))
        .map(|(_, note)| note)
        .collect();
    let mut seen: Vec<Vec<Rule>> = Vec::new();
    let mut kept: Vec<&str> = Vec::new();
    for note in &notes {
        let rules: Vec<Rule> = recognise_line(note).collect();
        if rules.is_empty() || !seen.contains(&rules) {
            seen.push(rules);
            kept.push(note);
        }
    }
    kept.truncate(notes.len().saturating_sub(1).max(1));
    json!({ "appendix_notes": kept })
}

/// Reminders of rules that stand in the skill though tasks of their kind failed.
pub(super) fn reminders(trajectories: &str, skill: &str) -> Vec<String> {
    let rules = recognise(skill);
    let failed = counted(&questions(trajectories));
    failed
        .keys()
        .filter_map(|kind| kind.rule())
        .filter(|rule| rules.contains(rule))
        .filter_map(|rule| wordings(rule).last())
        .map(|line| line.trim_start_matches("- ").to_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMPARISON: &str = "## Regressed: x (0)\n\n## Persistent failures: x (2)\n### Task id a\nTask: In which year was the old mill opened?\n\
        ### Task id b\nTask: In which year was the new mill founded?\n\n## Improved: x (1)\n### Task id c\nTask: Who designed the mill?\n";

    #[test]
    fn guidance_is_about_what_fails_and_not_about_what_got_better() {
        let helpful = (0..40)
            .map(|seed| guidance(COMPARISON, "# Skill", &format!("{seed}/2/0/")))
            .filter(|reply| {
                let text = reply["slow_update_content"].as_str().unwrap();
                let rules = recognise(text);
                assert!(rules.is_empty() || rules == BTreeSet::from([Rule::Year]), "{text}");
                !rules.is_empty()
            })
            .count();
        assert!((15..40).contains(&helpful), "{helpful}");
    }

    #[test]
    fn the_memory_names_what_is_open() {
        let skill = "- Answer who-questions with the full name: both names, no title.";
        let reply = memory(COMPARISON, skill);
        let text = reply["meta_skill_content"].as_str().unwrap();
        assert!(text.contains("Learned so far: person. Still open: year."), "{text}");
    }

    #[test]
    fn the_budget_counts_what_is_sound_and_is_small_after_a_rejection() {
        let list = "[0] op=append target= content=- Years: four digits only. support=3\n\
            [1] op=append target= content=- Read well. support=8\n\
            [2] op=delete target=- x content= support=1";
        assert_eq!(budget(list, "")["learning_rate"], 2);
        assert_eq!(budget(list, "### Step 3 - REJECT (1/2 failed)")["learning_rate"], 1);
        assert_eq!(budget("", "")["learning_rate"], 0);
    }

    #[test]
    fn reminders_are_of_rules_that_the_skill_holds_and_condense_by_rule() {
        let line = wordings(Rule::Year)[0];
        assert_eq!(reminders(COMPARISON, line).len(), 1);
        assert!(reminders(COMPARISON, "# Skill").is_empty());
        let list =
            format!("1. {}\n2. {}\n3. Be kind.", wordings(Rule::Year)[1], wordings(Rule::Year)[2]);
        let kept = condensed(&list);
        assert_eq!(kept["appendix_notes"].as_array().unwrap().len(), 2);
    }
}
