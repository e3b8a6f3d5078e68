//! The prompts of a night: our own words in files, each of which a user may replace. What is put in stands between tags
//! that it cannot close. No calls.

mod registry;
mod render;

pub use registry::{
    ATTEMPT, CONTRAST, JUDGE, MINER, PROMPTS, Placeholder, PromptSpec, REFLECT, SLOW_UPDATE, Slot,
};
pub use render::{Rendered, delimited};

use crate::backend::SleepRole;
use serde::Serialize;
use skillopt_domain::hash::Sha256Hex;
use std::collections::BTreeMap;

/// The prompts as a night uses them: ours, and those that a user wrote.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prompts {
    overrides: BTreeMap<String, String>,
}

/// A prompt of a user's that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the prompt `{name}` lacks {}", .missing.join(", "))]
pub struct PromptProblem {
    /// The prompt.
    pub name: &'static str,
    /// Placeholders that it has to hold.
    pub missing: Vec<&'static str>,
}

/// A prompt as the dashboard shows it. The field names are those of the reference system.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PromptDescription {
    /// Its name.
    pub name: &'static str,
    /// The stage that uses it.
    pub stage: &'static str,
    /// Who reads it.
    pub role: SleepRole,
    /// What it is for.
    pub description: &'static str,
    /// What may stand in it.
    pub placeholders: Vec<&'static str>,
    /// Of these, what has to.
    pub required: Vec<&'static str>,
    /// Our text.
    pub default: &'static str,
    /// The user's text.
    #[serde(rename = "override")]
    pub replaced_by: Option<String>,
    /// The text that is used.
    pub effective: String,
}

impl Prompts {
    /// Our prompts with a user's in their place. Blank texts replace nothing, and names that we do not know are left
    /// out, as in the reference system.
    ///
    /// # Errors
    /// Every text that lacks a placeholder without which its stage makes no sense.
    pub fn with(overrides: &BTreeMap<String, String>) -> Result<Self, Vec<PromptProblem>> {
        let mut kept = BTreeMap::new();
        let mut problems = Vec::new();
        for spec in PROMPTS {
            let Some(text) = overrides.get(spec.name).filter(|text| !text.trim().is_empty()) else {
                continue;
            };
            let required = spec.placeholders.iter().filter(|slot| slot.required);
            let lacks = |slot: &&Placeholder| !text.contains(slot.name);
            let missing: Vec<_> = required.filter(lacks).map(|slot| slot.name).collect();
            match missing.is_empty() {
                true => drop(kept.insert(spec.name.to_owned(), text.clone())),
                false => problems.push(PromptProblem { name: spec.name, missing }),
            }
        }
        if problems.is_empty() { Ok(Self { overrides: kept }) } else { Err(problems) }
    }

    /// The text that is used for a prompt.
    #[must_use]
    pub fn text<'a>(&'a self, spec: &'a PromptSpec) -> &'a str {
        self.overrides.get(spec.name).map_or(spec.default, String::as_str)
    }

    /// One hash of all texts that are used.
    #[must_use]
    pub fn sha256(&self) -> Sha256Hex {
        let texts: Vec<_> = PROMPTS.iter().map(|spec| (spec.name, self.text(spec))).collect();
        Sha256Hex::of(serde_json::json!(texts).to_string())
    }

    /// Puts values in. Values that the text has no place for stand at the end, so that no text can leave them out.
    #[must_use]
    pub fn render(&self, spec: &PromptSpec, values: &[(&str, &str)]) -> Rendered {
        render::render(self.text(spec), spec, values)
    }

    /// All prompts for people.
    #[must_use]
    pub fn describe(&self) -> Vec<PromptDescription> {
        let describe = |spec: &PromptSpec| PromptDescription {
            name: spec.name,
            stage: spec.stage,
            role: spec.role,
            description: spec.description,
            placeholders: spec.placeholders.iter().map(|slot| slot.name).collect(),
            required: spec.placeholders.iter().filter(|s| s.required).map(|s| s.name).collect(),
            default: spec.default,
            replaced_by: self.overrides.get(spec.name).cloned(),
            effective: self.text(spec).to_owned(),
        };
        PROMPTS.iter().map(describe).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn overriding(name: &str, text: &str) -> Result<Prompts, Vec<PromptProblem>> {
        Prompts::with(&BTreeMap::from([(name.to_owned(), text.to_owned())]))
    }

    #[test]
    fn our_own_texts_hold_every_placeholder() {
        for spec in PROMPTS {
            for slot in spec.placeholders {
                assert!(spec.default.contains(slot.name), "{} lacks {}", spec.name, slot.name);
            }
        }
    }

    #[test]
    fn f52_a_text_without_a_required_placeholder_is_refused() {
        let problems = overriding("judge", "Score it: __RUBRIC__").expect_err("no answer in it");
        assert_eq!(problems[0].to_string(), "the prompt `judge` lacks __RESPONSE__");
    }

    #[test]
    fn blank_and_unknown_texts_replace_nothing() {
        assert_eq!(overriding("judge", "  "), Ok(Prompts::default()));
        assert_eq!(overriding("no_such", "x"), Ok(Prompts::default()));
    }

    #[test]
    fn another_text_is_another_hash() {
        let text = format!("{}\n", Prompts::default().text(&JUDGE));
        let other = overriding("judge", &text).expect("all placeholders are in it");
        assert_ne!(other.sha256(), Prompts::default().sha256());
        assert_eq!(other.sha256(), other.clone().sha256());
    }

    #[test]
    fn a_description_tells_what_is_used() {
        let text = "__RUBRIC__ and __RESPONSE__";
        let prompts = overriding("judge", text).expect("complete");
        let all = prompts.describe();
        let judge = all.iter().find(|prompt| prompt.name == "judge").expect("there");
        assert_eq!((judge.effective.as_str(), judge.replaced_by.as_deref()), (text, Some(text)));
        assert!(
            all.iter().filter(|prompt| prompt.name != "judge").all(|p| p.replaced_by.is_none())
        );
    }

    #[test]
    fn f28_the_judge_sees_the_task_even_through_a_text_that_leaves_it_out() {
        let prompts = overriding("judge", "__RUBRIC__ __RESPONSE__").expect("complete");
        let values = [
            ("__RUBRIC__", "be brief"),
            ("__RESPONSE__", "an answer"),
            ("__INTENT__", "say hello"),
            ("__CONTEXT__", ""),
        ];
        let rendered = prompts.render(&JUDGE, &values);
        assert!(rendered.user.contains("<task>\nsay hello\n</task>"), "{}", rendered.user);
        assert!(!rendered.user.contains("<context>"), "nothing is known of it");
    }
}
