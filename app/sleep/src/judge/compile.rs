//! Reads checks and says what is wrong with them. An operation that is not known is an error: the reference system lets
//! such a check pass always, so that a judge with a typing error praises everything.

use super::check::{Rule, char_bound};
use super::pattern::Pattern;
use super::rule::{ReadyCheck, RuleJudge, python_text};
use super::tool::ToolName;
use serde_json::{Map, Value};
use std::fmt;

/// What was found in a judge.
#[derive(Clone, Debug, Default)]
pub struct Inspection {
    /// What cannot be used.
    pub errors: Vec<JudgeProblem>,
    /// What can be used, but says little.
    pub warnings: Vec<JudgeProblem>,
    /// The checks that can be used.
    pub judge: RuleJudge,
}

/// Something about a judge.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {message}")]
pub struct JudgeProblem {
    /// Where it is.
    pub place: ProblemPlace,
    /// What it is.
    pub message: String,
}

/// Where a problem is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProblemPlace {
    /// In the judge as a whole.
    Judge,
    /// In a check.
    Check {
        /// From 1.
        number: usize,
        /// Its operation; empty when it has none.
        op: String,
    },
}

impl fmt::Display for ProblemPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Judge => f.write_str("judge"),
            Self::Check { number, op } if op.is_empty() => write!(f, "check {number}"),
            Self::Check { number, op } => write!(f, "check {number} (`{op}`)"),
        }
    }
}

impl Inspection {
    /// The judge, when nothing is wrong.
    ///
    /// # Errors
    /// The first [`JudgeProblem`] that is an error.
    pub fn into_judge(self) -> Result<RuleJudge, JudgeProblem> {
        match self.errors.into_iter().next() {
            Some(problem) => Err(problem),
            None => Ok(self.judge),
        }
    }
}

/// Looks at `{"kind": "rule", "checks": [{"op", "arg"}]}`: everything that is wrong, not only the first thing.
#[must_use]
pub fn inspect(judge: &Value) -> Inspection {
    let mut found = Inspection::default();
    let Some(judge) = judge.as_object() else {
        found.errors.push(about_judge("expected an object with `checks`"));
        return found;
    };
    if let Some(kind) = judge.get("kind").filter(|kind| *kind != "rule") {
        found.errors.push(about_judge(format!("`kind` is {kind}, only \"rule\" is known")));
    }
    let none = Value::Array(Vec::new());
    let Some(checks) = judge.get("checks").unwrap_or(&none).as_array() else {
        found.errors.push(about_judge("`checks` is not a list"));
        return found;
    };
    for (at, check) in checks.iter().enumerate() {
        inspect_check(at + 1, check, &mut found);
    }
    warn_of_weakness(&mut found);
    found
}

fn about_judge(message: impl Into<String>) -> JudgeProblem {
    JudgeProblem { place: ProblemPlace::Judge, message: message.into() }
}

fn inspect_check(number: usize, check: &Value, found: &mut Inspection) {
    let op = check.get("op").and_then(Value::as_str).unwrap_or_default();
    let place = ProblemPlace::Check { number, op: op.to_owned() };
    match check.as_object().ok_or_else(|| "expected an object".to_owned()).and_then(read_check) {
        Ok(ready) => {
            if matches!(ready.rule, Rule::MinChars(0)) {
                let message = "every reply has at least 0 characters".into();
                found.warnings.push(JudgeProblem { place, message });
            }
            found.judge.checks.push(ready);
        }
        Err(message) => found.errors.push(JudgeProblem { place, message }),
    }
}

/// What is wrong with one check; `None` when it can be used.
pub(crate) fn check_problem(check: &Map<String, Value>) -> Option<String> {
    read_check(check).err()
}

fn read_check(check: &Map<String, Value>) -> Result<ReadyCheck, String> {
    let op = check.get("op").and_then(Value::as_str).ok_or("`op` is not a text")?;
    let arg = check.get("arg").unwrap_or(&Value::Null);
    let text = || match arg.as_str() {
        Some(text) if !text.trim().is_empty() => Ok(text.to_owned()),
        _ => Err(format!("`{op}` needs a text that is not blank")),
    };
    let bound = || {
        let error = || format!("`{op}` needs a whole number from 0 on, got {arg}");
        char_bound(arg).ok_or_else(error)
    };
    let rule = match op {
        "section_present" => Rule::SectionPresent(text()?),
        "section_contains" => Rule::SectionContains(text()?),
        "max_chars" => Rule::MaxChars(bound()?),
        "min_chars" => Rule::MinChars(bound()?),
        "contains" => Rule::Contains(text()?),
        "not_contains" => Rule::NotContains(text()?),
        "regex" => Rule::Regex(Pattern::compile(&text()?).map_err(|err| err.to_string())?),
        "no_refusal" => Rule::NoRefusal,
        "tool_called" => {
            Rule::ToolCalled(ToolName::parse(&text()?).map_err(|err| err.to_string())?)
        }
        _ => return Err(format!("there is no operation `{op}`; such a check would pass always")),
    };
    Ok(ReadyCheck { rule, name: format!("{op}={}", python_text(arg)) })
}

fn warn_of_weakness(found: &mut Inspection) {
    if !found.errors.is_empty() {
        return;
    }
    let checks = &found.judge.checks;
    if checks.is_empty() {
        found.warnings.push(about_judge("no checks: every reply scores 0"));
    } else if checks.iter().all(|check| check.rule.is_shape()) {
        let message = "all checks look at the form of a reply only, none at what it says";
        found.warnings.push(about_judge(message));
    }
}
