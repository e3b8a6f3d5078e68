//! The simulated optimizer reads trajectories and proposes edits: good ideas in some steps, bad ones in
//! others, so that a gate has something to do. It sees only what it is shown.

use super::dice::{pick, roll};
use super::phrases::{SUCCESS_PATTERNS, USELESS, failure, wordings};
use super::rates;
use super::reader::{Kind, kind_of};
use super::rules::{Rule, recognise, recognise_line};
use serde_json::{Value, json};
use skillopt_domain::edit::normalised_words;
use skillopt_domain::hash::Sha256Hex;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// The line that sample skills start with.
const PLACEHOLDER: &str = "No rules have been learned yet.";
/// A heading that no skill has.
const ABSENT_ANCHOR: &str = "## Style of answers";

/// Which trajectories are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Failures,
    Successes,
}

/// What the request shows.
#[derive(Debug)]
pub(super) struct Brief<'a> {
    pub(super) skill: &'a str,
    pub(super) previous: &'a str,
    pub(super) trajectories: &'a str,
    pub(super) max_edits: usize,
    pub(super) sample: &'a str,
}

/// The reply to a reading of trajectories.
pub(super) fn reflect(brief: &Brief<'_>, side: Side) -> Value {
    let questions = questions(brief.trajectories);
    let analyst = Analyst::new(brief);
    let edits = match (side, analyst.is_good_step()) {
        (Side::Failures, true) => analyst.good_edits(&questions),
        (Side::Failures, false) => analyst.bad_edits(),
        (Side::Successes, _) => analyst.edits_from_success(),
    };
    let edits: Vec<Value> = edits.into_iter().take(brief.max_edits).collect();
    let reasoning = if edits.is_empty() {
        "Nothing here calls for an edit."
    } else {
        "The edits answer what these trajectories have in common."
    };
    let patch = json!({ "reasoning": reasoning, "edits": edits });
    match side {
        Side::Failures => json!({
            "batch_size": questions.len(),
            "failure_summary": summary(&questions),
            "patch": patch,
        }),
        Side::Successes => json!({
            "batch_size": questions.len(),
            "success_patterns": [SUCCESS_PATTERNS[pick(&["pattern", &analyst.call], SUCCESS_PATTERNS.len())]],
            "patch": patch,
        }),
    }
}

/// The questions in a text of trajectories, each once.
pub(super) fn questions(trajectories: &str) -> BTreeSet<&str> {
    let asked = |line: &'_ str| {
        line.strip_prefix("Task: ").or_else(|| line.strip_prefix("Question: ")).is_some()
    };
    let lines = trajectories.lines().filter(|line| asked(line));
    lines.filter_map(|line| line.split_once(": ")).map(|(_, question)| question.trim()).collect()
}

pub(super) fn counted(questions: &BTreeSet<&str>) -> BTreeMap<Kind, usize> {
    let mut counts = BTreeMap::new();
    for question in questions {
        *counts.entry(kind_of(question)).or_default() += 1;
    }
    counts
}

fn summary(questions: &BTreeSet<&str>) -> Vec<Value> {
    let mut counts: Vec<(Kind, usize)> = counted(questions).into_iter().collect();
    counts.sort_by_key(|(_, count)| Reverse(*count));
    let row = |(kind, count): (Kind, usize)| {
        let (name, description) = failure(kind.rule());
        json!({ "failure_type": name, "count": count, "description": description })
    };
    counts.into_iter().map(row).collect()
}

struct Analyst<'a> {
    skill: &'a str,
    previous: &'a str,
    /// Words that were proposed in vain, normalised.
    rejected: String,
    rules: BTreeSet<Rule>,
    /// Names the step: the same in all calls of a step.
    step: String,
    /// Names the call.
    call: String,
}

impl<'a> Analyst<'a> {
    fn new(brief: &Brief<'a>) -> Self {
        let hash = |text: &str| Sha256Hex::of(text).short().to_owned();
        let step = format!("{}|{}|{}", brief.sample, hash(brief.skill), hash(brief.previous));
        Self {
            skill: brief.skill,
            previous: brief.previous,
            rejected: normalised_words(brief.previous),
            rules: recognise(brief.skill),
            call: format!("{step}|{}", hash(brief.trajectories)),
            step,
        }
    }

    /// All calls of a step share their luck, so that a step as a whole is good or bad.
    fn is_good_step(&self) -> bool {
        let last = self
            .previous
            .lines()
            .rfind(|line| line.starts_with("### Step "))
            .map(str::to_uppercase);
        let chance = match last {
            Some(line) if line.contains("ACCEPT") => rates::GOOD_AFTER_ACCEPT,
            Some(_) => rates::GOOD_AFTER_REJECT,
            None => rates::GOOD_AT_FIRST,
        };
        roll(&["good step", &self.step]) < chance
    }

    fn good_edits(&self, questions: &BTreeSet<&str>) -> Vec<Value> {
        let mut edits: Vec<Value> = self.repairs().collect();
        let n = 1 + usize::from(roll(&["second rule", &self.call]) < rates::SECOND_RULE);
        let missing = self.missing_rules(questions).into_iter();
        edits.extend(
            missing.filter_map(|rule| self.wording(rule)).take(n).map(|line| self.added(line)),
        );
        if edits.is_empty() {
            edits.extend(self.sharpened());
        }
        if edits.is_empty()
            || roll(&["useless beside good", &self.call]) < rates::USELESS_BESIDE_GOOD
        {
            edits.extend(self.useless());
        }
        edits.extend(self.with_bad_anchor());
        edits
    }

    fn bad_edits(&self) -> Vec<Value> {
        let harmful = roll(&["harmful", &self.step]) < rates::HARMFUL_WHEN_BAD;
        let mut edits: Vec<Value> =
            if harmful { self.harmful().into_iter().collect() } else { Vec::new() };
        if edits.is_empty() || roll(&["useless beside bad", &self.call]) < rates::USELESS_BESIDE_BAD
        {
            edits.extend(self.useless());
        }
        edits.extend(self.with_bad_anchor());
        edits
    }

    fn edits_from_success(&self) -> Vec<Value> {
        if roll(&["from success", &self.call]) < rates::USELESS_FROM_SUCCESS {
            self.useless().into_iter().collect()
        } else {
            Vec::new()
        }
    }

    /// Takes lines out that do harm.
    fn repairs(&self) -> impl Iterator<Item = Value> {
        let harmful = |line: &&str| recognise_line(line).any(Rule::is_harmful);
        let lines = self.skill.lines().filter(harmful).filter(|line| self.is_new(line));
        lines
            .filter(|line| self.occurs_once(line))
            .map(|line| json!({ "op": "delete", "target": line }))
    }

    /// Helpful rules that the skill lacks, those for the most failures first.
    fn missing_rules(&self, questions: &BTreeSet<&str>) -> Vec<Rule> {
        let counts = counted(questions).into_iter();
        let lacking = |(kind, count): (Kind, usize)| Some((kind.rule()?, count));
        let mut rules: Vec<(Rule, usize)> =
            counts.filter_map(lacking).filter(|(rule, _)| !self.rules.contains(rule)).collect();
        rules.sort_by_key(|(rule, count)| {
            (Reverse(*count), pick(&["order", rule.word(), &self.call], 1000))
        });
        rules.into_iter().map(|(rule, _)| rule).collect()
    }

    /// Says a rule of the skill in other words.
    fn sharpened(&self) -> Option<Value> {
        let known = |line: &&str| {
            Rule::HELPFUL.iter().any(|rule| wordings(*rule).contains(line))
                && self.occurs_once(line)
        };
        let lines: Vec<&str> = self.skill.lines().filter(known).collect();
        let line = *lines.get(pick(&["sharpened", &self.step], lines.len()))?;
        let rule = recognise_line(line).next()?;
        let other = wordings(rule).iter().find(|other| **other != line && self.is_new(other))?;
        Some(json!({ "op": "replace", "target": line, "content": other }))
    }

    /// A harmful rule; one that was never tried before one that was, and never the same words again.
    fn harmful(&self) -> Option<Value> {
        let tried = |rule: Rule| wordings(rule).iter().any(|line| !self.is_new(line));
        let mut rules = Rule::HARMFUL;
        rules.sort_by_key(|rule| (tried(*rule), pick(&["harm", rule.word(), &self.step], 1000)));
        let missing = rules.into_iter().filter(|rule| !self.rules.contains(rule));
        let mut lines = missing.filter_map(|rule| self.wording(rule));
        lines.next().map(|line| self.added(line))
    }

    fn useless(&self) -> Option<Value> {
        let lines: Vec<&str> = USELESS.iter().copied().filter(|line| self.is_new(line)).collect();
        lines
            .get(pick(&["useless", &self.call], lines.len()))
            .map(|line| json!({ "op": "append", "content": line }))
    }

    /// Now and then a model quotes an anchor that is not there, or not only once.
    fn with_bad_anchor(&self) -> Option<Value> {
        let luck = roll(&["anchor", &self.call]);
        let line = USELESS.iter().rev().find(|line| self.is_new(line))?;
        if luck < rates::ANCHOR_MISSING {
            return Some(json!({ "op": "insert_after", "target": ABSENT_ANCHOR, "content": line }));
        }
        let words = self.skill.split(|c: char| !c.is_alphanumeric());
        let twice = words
            .filter(|word| word.len() > 4)
            .find(|word| self.skill.matches(word).count() > 1)?;
        let ambiguous = luck < rates::ANCHOR_MISSING + rates::ANCHOR_AMBIGUOUS;
        ambiguous.then(|| json!({ "op": "insert_after", "target": twice, "content": line }))
    }

    /// An edit that brings a line into the skill, at one place or another.
    fn added(&self, line: &str) -> Value {
        let luck = roll(&["place", line, &self.call]);
        if self.occurs_once(PLACEHOLDER) && luck < rates::REPLACES_PLACEHOLDER {
            return json!({ "op": "replace", "target": PLACEHOLDER, "content": line });
        }
        let last_rule =
            self.skill.lines().rfind(|line| line.starts_with("- ") && self.occurs_once(line));
        match last_rule {
            Some(anchor) if luck < rates::INSERTS_AFTER => {
                json!({ "op": "insert_after", "target": anchor, "content": line })
            }
            _ => json!({ "op": "append", "content": line }),
        }
    }

    /// A wording of a rule that was not rejected before.
    fn wording(&self, rule: Rule) -> Option<&'static str> {
        let mut lines = wordings(rule).to_vec();
        lines.sort_by_key(|line| pick(&["wording", line, &self.call], 1000));
        lines.into_iter().find(|line| self.is_new(line))
    }

    /// Neither rejected before nor in the skill.
    fn is_new(&self, line: &str) -> bool {
        let in_skill = self.skill.lines().any(|own| own == line);
        // A deletion is about a line of the skill; only its rejection counts.
        let rejected = self.rejected.contains(&normalised_words(line));
        !rejected && (!in_skill || recognise_line(line).any(Rule::is_harmful))
    }

    fn occurs_once(&self, text: &str) -> bool {
        self.skill.matches(text).count() == 1
    }
}

#[cfg(test)]
mod tests;
