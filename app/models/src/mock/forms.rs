//! The forms in which the simulated optimizer hands its edits in: as they are, as suggestions, or worked into a whole
//! text. The system message says which one is wanted.

use serde_json::{Value, json};
use skillopt_domain::edit::{Edit, apply_in_order};
use skillopt_domain::skill::SkillDoc;

/// What the list in a reply holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Edits,
    Suggestions,
    Texts,
}

const ADD: &str = "Add this line: ";
const TAKE_OUT: &str = "Take this line out: ";
const REPLACE: &str = "Replace this line: ";
const WITH: &str = " -> with: ";

impl Form {
    /// The form that a prompt asks for.
    pub(super) fn of(system: &str) -> Self {
        if system.contains("\"skill_candidates\"") {
            Self::Texts
        } else if system.contains("\"revise_suggestions\"") {
            Self::Suggestions
        } else {
            Self::Edits
        }
    }

    /// A list of edits under the name and in the form that is wanted.
    pub(super) fn patch(self, reasoning: &Value, edits: &[Value], skill: &str) -> Value {
        match self {
            Self::Edits => json!({ "reasoning": reasoning, "edits": edits }),
            Self::Suggestions => {
                let suggestions: Vec<Value> = edits.iter().filter_map(suggestion).collect();
                json!({ "reasoning": reasoning, "revise_suggestions": suggestions })
            }
            Self::Texts => {
                let (text, changes) = worked_in(skill, edits);
                let candidates = if changes.is_empty() {
                    Vec::new()
                } else {
                    vec![
                        json!({ "title": "A new version", "change_summary": changes, "new_skill": text }),
                    ]
                };
                json!({ "reasoning": reasoning, "skill_candidates": candidates })
            }
        }
    }
}

/// An edit in words.
fn suggestion(edit: &Value) -> Option<Value> {
    let field = |name: &str| edit.get(name).and_then(Value::as_str).unwrap_or_default();
    let (kind, instruction) = match field("op") {
        "delete" => ("remove_rule", format!("{TAKE_OUT}{}", field("target"))),
        "replace" => ("clarify", format!("{REPLACE}{}{WITH}{}", field("target"), field("content"))),
        _ if field("content").is_empty() => return None,
        _ => ("add_rule", format!("{ADD}{}", field("content"))),
    };
    let title: String = instruction.chars().take(60).collect();
    Some(json!({
        "type": kind,
        "title": title,
        "motivation": "Several trajectories of this group call for it.",
        "instruction": instruction,
        "priority_hint": "medium",
    }))
}

/// The skill with all suggestions of a list worked in, and what changed.
pub(super) fn rewrite(skill: &str, suggestions: &str) -> Value {
    let list: Vec<Value> = serde_json::from_str(suggestions).unwrap_or_default();
    let edits: Vec<Value> = list
        .iter()
        .filter_map(|suggestion| suggestion.get("instruction").and_then(Value::as_str))
        .map(edit_of)
        .collect();
    let (text, changes) = worked_in(skill, &edits);
    json!({
        "reasoning": "Each suggestion is worked in where it belongs.",
        "change_summary": changes,
        "new_skill": text,
    })
}

/// The edit that an instruction stands for; words that are not ours become a line of their own.
fn edit_of(instruction: &str) -> Value {
    if let Some(line) = instruction.strip_prefix(TAKE_OUT) {
        return json!({ "op": "delete", "target": line });
    }
    let replaced = instruction.strip_prefix(REPLACE).and_then(|rest| rest.split_once(WITH));
    if let Some((old, new)) = replaced {
        return json!({ "op": "replace", "target": old, "content": new });
    }
    json!({ "op": "append", "content": instruction.strip_prefix(ADD).unwrap_or(instruction) })
}

fn worked_in(skill: &str, edits: &[Value]) -> (String, Vec<String>) {
    let edits: Vec<Edit> =
        edits.iter().filter_map(|edit| serde_json::from_value(edit.clone()).ok()).collect();
    let doc = SkillDoc::parse(format!("{}\n", skill.trim_end_matches('\n')));
    let (after, reports) = apply_in_order(&doc, &edits, u32::MAX);
    let applied = reports
        .iter()
        .filter(|report| report.status == skillopt_domain::edit::EditStatus::Applied)
        .map(|report| format!("{}: {}", report.edit.op.as_str(), report.edit.gist()));
    (after.text().to_owned(), applied.collect())
}

/// One text out of several: what each adds to the skill and takes out of it, once.
pub(super) fn merge_texts(patches: &str, skill: &str) -> Value {
    let list: Vec<Value> = serde_json::from_str(patches).unwrap_or_default();
    let texts: Vec<String> = list
        .iter()
        .filter_map(|patch| patch.get("skill_candidates").and_then(Value::as_array))
        .flatten()
        .filter_map(|candidate| candidate.get("new_skill").and_then(Value::as_str))
        .map(str::to_owned)
        .collect();
    let mut edits: Vec<Value> = Vec::new();
    let mut add = |edit: Value| {
        if !edits.contains(&edit) {
            edits.push(edit);
        }
    };
    for text in &texts {
        for line in skill.lines().filter(|line| !line.trim().is_empty()) {
            if !text.lines().any(|own| own == line) {
                add(json!({ "op": "delete", "target": line }));
            }
        }
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            if !skill.lines().any(|own| own == line) {
                add(json!({ "op": "append", "content": line }));
            }
        }
    }
    // What is added comes first, so that no heading stands alone in between.
    edits.sort_by_key(|edit| edit["op"] == "delete");
    Form::Texts.patch(&json!("What the texts agree on is said once."), &edits, skill)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SKILL: &str = "# Skill\n\n- Be kind.";

    #[test]
    fn edits_that_become_suggestions_and_are_worked_in_do_what_the_edits_do() {
        let edits = [
            json!({"op": "append", "content": "- One."}),
            json!({"op": "replace", "target": "- Be kind.", "content": "- Be brief."}),
        ];
        let patch = Form::Suggestions.patch(&json!("r"), &edits, SKILL);
        let suggestions = patch["revise_suggestions"].to_string();
        let written = rewrite(SKILL, &suggestions);
        assert_eq!(written["new_skill"], "# Skill\n\n- Be brief.\n- One.\n");
        let candidate = &Form::Texts.patch(&json!("r"), &edits, SKILL)["skill_candidates"][0];
        assert_eq!(candidate["new_skill"], written["new_skill"]);
    }

    #[test]
    fn texts_are_merged_line_by_line() {
        let text =
            |line: &str| json!({"skill_candidates": [{"new_skill": format!("{SKILL}\n{line}\n")}]});
        let patches = json!([text("- One."), text("- Two."), text("- One.")]).to_string();
        let merged = merge_texts(&patches, SKILL);
        assert_eq!(
            merged["skill_candidates"][0]["new_skill"],
            "# Skill\n\n- Be kind.\n- One.\n- Two.\n"
        );
        assert_eq!(merge_texts("no list", SKILL)["skill_candidates"], json!([]));
    }
}
