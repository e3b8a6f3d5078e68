//! Looks at prompts that are not the program's, before anything is spent: names, placeholders, and the JSON that a
//! reply needs.

use super::PromptVars;
use super::registry::{PROMPTS, PromptSpec};
use super::set::{PromptSet, environment};
use skillopt_domain::config::UpdateMode;

/// Longest text, in bytes: prompts are instructions, no data.
const MAX_BYTES: usize = 64 * 1024;

/// Names of the Python system, and what they are called here.
const PYTHON_NAMES: [(&str, &str); 4] = [
    ("analyst_error", "analyst_failure"),
    ("lr_autonomous", "lr_control"),
    ("skill_aware_consolidate", "appendix"),
    ("appendix_consolidate", "appendix"),
];

/// Something wrong with a prompt of somebody else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptProblem {
    /// The file.
    pub file: String,
    /// From 1; `None` where the whole file is meant.
    pub line: Option<u32>,
    /// What is wrong and what to do.
    pub message: String,
}

impl PromptProblem {
    pub(super) fn unknown_name(file: &str, name: &str) -> Self {
        let message = if name == "target" || name.starts_with("target/") {
            "the target's prompt belongs to the benchmark: with another one scores would mean something else".to_owned()
        } else if let Some((_, known)) = PYTHON_NAMES.iter().find(|(python, _)| {
            name.trim_end_matches("_full_rewrite").trim_end_matches("_rewrite") == *python
        }) {
            format!("there is no prompt {name}; here it is called {known}, for all update modes")
        } else {
            let names: Vec<&str> = PROMPTS.iter().map(|spec| spec.name).collect();
            format!("there is no prompt {name}; the prompts are {}", names.join(", "))
        };
        Self { file: file.to_owned(), line: None, message }
    }
}

/// Checks the texts that were changed, each in all modes.
pub(super) fn check(
    set: &PromptSet,
    changed: &[(&'static PromptSpec, String)],
    modes: &[UpdateMode],
    problems: &mut Vec<PromptProblem>,
) {
    for (spec, file) in changed {
        let Some(text) = set.text(spec.name) else { continue };
        let found = check_form(spec, text);
        let sound = found.is_empty();
        problems.extend(found.into_iter().map(|(line, message)| PromptProblem {
            file: file.clone(),
            line,
            message,
        }));
        if sound && let Some(message) = check_reply(set, spec, modes) {
            problems.push(PromptProblem { file: file.clone(), line: last_line(text), message });
        }
    }
}

/// Size, grammar and placeholders.
fn check_form(spec: &PromptSpec, text: &str) -> Vec<(Option<u32>, String)> {
    if text.trim().is_empty() {
        return vec![(
            None,
            "the file is empty; remove it to use the program's own text".to_owned(),
        )];
    }
    if text.len() > MAX_BYTES {
        let message =
            format!("{} bytes are too long for a prompt; at most {MAX_BYTES}", text.len());
        return vec![(None, message)];
    }
    let template = match environment().template_from_named_str(spec.name, text) {
        Ok(template) => template,
        Err(err) => {
            let line = err.line().and_then(|line| u32::try_from(line).ok());
            let what = err.detail().map_or_else(|| err.kind().to_string(), str::to_owned);
            let how = "placeholders stand in {{ }}, conditions in {% if %} … {% endif %}";
            return vec![(line, format!("the text cannot be read: {what}; {how}"))];
        }
    };
    let held = template.undeclared_variables(false);
    let mut unknown: Vec<&String> =
        held.iter().filter(|name| !spec.placeholders.contains(&name.as_str())).collect();
    unknown.sort();
    let unknown = unknown.into_iter().map(|name| {
        let known = match spec.placeholders {
            [] => "this prompt has none".to_owned(),
            known => format!("this prompt has {}", known.join(", ")),
        };
        (line_of(text, name), format!("there is no placeholder {{{{ {name} }}}} here; {known}"))
    });
    let missing = spec.required.iter().filter(|name| !held.contains(**name)).map(|name| {
        let message = format!("the placeholder {{{{ {name} }}}} is missing; the prompt needs it");
        (last_line(text), message)
    });
    unknown.chain(missing).collect()
}

/// The text must ask for JSON with the fields that the loop reads, in every mode that it is used in.
fn check_reply(set: &PromptSet, spec: &PromptSpec, modes: &[UpdateMode]) -> Option<String> {
    for vars in modes.iter().flat_map(|mode| all_vars(*mode)) {
        let text = match set.render(spec.name, vars) {
            Ok(text) => text,
            Err(err) => return Some(err.message),
        };
        let fields = fields_of(spec.name, vars);
        if !fields.is_empty() && !spec.is_part() && !text.contains("JSON") {
            return Some(
                "the prompt does not ask for JSON; its reply must be one JSON object".to_owned(),
            );
        }
        if let Some(field) = fields.iter().find(|field| !text.contains(&format!("\"{field}\""))) {
            let mode = vars.mode.as_str();
            return Some(format!(
                "in the update mode {mode} the text does not ask for \"{field}\", which the reply must hold; \
                 the reply is {}",
                if spec.is_part() { "a list of that name" } else { spec.reply }
            ));
        }
    }
    None
}

fn all_vars(mode: UpdateMode) -> impl Iterator<Item = PromptVars> {
    [(Some(3), false), (None, true)].into_iter().map(move |(max_items, skill_aware)| PromptVars {
        mode,
        max_items,
        skill_aware,
        notes_from_success: skill_aware,
        n_tasks: 20,
    })
}

/// The fields of the reply that the loop cannot do without.
fn fields_of(name: &str, vars: PromptVars) -> Vec<&'static str> {
    let items = vars.mode.items_key();
    let notes = |are_wanted: bool| are_wanted.then_some("appendix_notes");
    match name {
        "analyst_failure" => ["patch", items].into_iter().chain(notes(vars.skill_aware)).collect(),
        "analyst_success" => {
            ["patch", items].into_iter().chain(notes(vars.notes_from_success)).collect()
        }
        "merge_failure" | "merge_success" | "merge_final" | "parts/contract" | "parts/merged" => {
            vec![items]
        }
        "ranking" => vec!["selected_indices"],
        "lr_control" => vec!["learning_rate"],
        "rewrite" => vec!["new_skill"],
        "slow_update" => vec!["slow_update_content"],
        "meta_skill" => vec!["meta_skill_content"],
        "appendix" => vec!["appendix_notes"],
        _ => Vec::new(),
    }
}

fn last_line(text: &str) -> Option<u32> {
    u32::try_from(text.lines().count().max(1)).ok()
}

/// The line in which a placeholder stands for the first time.
fn line_of(text: &str, name: &str) -> Option<u32> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut rest = text;
    loop {
        let open = rest.find("{{").into_iter().chain(rest.find("{%")).min()? + 2;
        let end = rest[open..].find(['}', '%']).map_or(rest.len(), |at| open + at);
        let offset = text.len() - rest.len();
        for word in rest[open..end].split(|c| !is_name(c)) {
            if word == name {
                let at = offset + open + rest[open..end].find(word).unwrap_or_default();
                return u32::try_from(text[..at].matches('\n').count() + 1).ok();
            }
        }
        rest = &rest[end..];
    }
}

#[cfg(test)]
mod tests;
