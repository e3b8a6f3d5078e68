//! Edits in the files of a step: patches of minibatches, the merged and the ranked patch, and what became of
//! each edit.

use super::findings::Findings;
use super::json::{self, Fields};
use serde_json::{Map, Value};
use skillopt_domain::edit::{Edit, EditOp, EditReport, EditStatus, SourceType};
use skillopt_domain::event::{FailurePattern, Ranking, ReflectionSummary};

/// Edits of a patch. Suggestions and whole texts, which other update modes have in their place, are shown as
/// edits with an operation of their own.
pub(super) fn of_patch(
    file: &str,
    patch: &Map<String, Value>,
    findings: &mut Findings,
) -> Vec<Edit> {
    let keys = ["edits", "revise_suggestions", "skill_candidates"];
    let Some(key) = keys.into_iter().find(|key| patch.get(*key).is_some_and(|v| !v.is_null()))
    else {
        return Vec::new();
    };
    let Some(rows) = patch.get(key).and_then(Value::as_array) else {
        findings.add(file, key, "expected a list; left out");
        return Vec::new();
    };
    let mut edits = Vec::with_capacity(rows.len());
    for (at, row) in rows.iter().enumerate() {
        let place = format!("{key}, {}", at + 1);
        match row.as_object() {
            Some(object) => edits.push(edit(&Fields { file, place, object }, key, findings)),
            None => findings.add(file, &place, "expected an object; left out"),
        }
    }
    edits
}

fn edit(fields: &Fields<'_>, key: &str, findings: &mut Findings) -> Edit {
    let text = |key: &str, findings: &mut Findings| {
        fields.text(key, findings).filter(|text| !text.is_empty()).map(str::to_owned)
    };
    let (op, target, content) = match key {
        "edits" => {
            let op = text("op", findings).unwrap_or_default();
            (op, text("target", findings), text("content", findings))
        }
        "revise_suggestions" => {
            let op = text("type", findings).unwrap_or_default();
            let parts = ["title", "instruction"].map(|key| text(key, findings));
            (format!("suggest_{op}"), None, joined(&parts))
        }
        _ => {
            let parts = ["title", "new_skill"].map(|key| text(key, findings));
            ("new_text".to_owned(), None, joined(&parts))
        }
    };
    Edit {
        op: EditOp::from(op),
        target,
        content,
        support_count: fields.count("support_count", findings).unwrap_or_default(),
        source_type: match fields.get("source_type").and_then(Value::as_str) {
            Some("success") => SourceType::Success,
            _ => SourceType::Failure,
        },
        merge_level: fields.count("merge_level", findings).unwrap_or_default(),
    }
}

fn joined(parts: &[Option<String>]) -> Option<String> {
    let parts: Vec<&str> = parts.iter().filter_map(Option::as_deref).collect();
    (!parts.is_empty()).then(|| parts.join("\n\n"))
}

/// What the optimizer said about one group of trajectories, added to the step's reflection. The patterns are
/// its own words and counts; the Python system's digest pairs them with other tasks.
pub(super) fn add_minibatch(
    file: &str,
    document: &Value,
    reflection: &mut ReflectionSummary,
    findings: &mut Findings,
) {
    let Some(object) = document.as_object() else {
        findings.add(file, "", "expected an object; left out");
        return;
    };
    let patch = object.get("patch").and_then(Value::as_object).unwrap_or(object);
    let n = of_patch(file, patch, findings).len();
    reflection.n_edits += u32::try_from(n).unwrap_or(u32::MAX);
    for row in object.get("failure_summary").and_then(Value::as_array).into_iter().flatten() {
        let text = |key: &str| row.get(key).and_then(Value::as_str).unwrap_or_default();
        let pattern = match (text("failure_type"), text("description")) {
            ("", "") => continue,
            ("", words) | (words, "") => words.to_owned(),
            (kind, words) => format!("{kind}: {words}"),
        };
        let count = row.get("count").and_then(json::whole).unwrap_or_default();
        reflection.patterns.push(FailurePattern { pattern, count, tasks: Vec::new() });
    }
    let successes = object.get("success_patterns").and_then(Value::as_array).into_iter().flatten();
    reflection.success_patterns.extend(successes.filter_map(Value::as_str).map(str::to_owned));
}

/// How the order was found, from what the patch says about itself.
pub(super) fn ranking(patch: &Map<String, Value>) -> Ranking {
    let own = patch.get("ranking_details").and_then(|details| details.get("ranking"));
    if let Some(ranking) = own.and_then(|word| serde_json::from_value(word.clone()).ok()) {
        return ranking;
    }
    let reasoning = patch.get("reasoning").and_then(Value::as_str).unwrap_or_default();
    if reasoning.contains("[optimizer-ranked:") {
        Ranking::ByOptimizer
    } else if reasoning.contains("[fallback truncated") {
        Ranking::FallbackOrder
    } else {
        Ranking::NotNeeded
    }
}

/// What became of each edit, from `edit_apply_report.json`. The report has cut texts; the whole ones stand in the
/// ranked patch at the same place.
pub(super) fn reports(
    file: &str,
    rows: &[Value],
    ranked: &[Edit],
    findings: &mut Findings,
) -> Vec<EditReport> {
    let mut reports = Vec::with_capacity(rows.len());
    for (at, row) in rows.iter().enumerate() {
        let place = format!("row {}", at + 1);
        let Some(object) = row.as_object() else {
            findings.add(file, &place, "expected an object; left out");
            continue;
        };
        let fields = Fields { file, place, object };
        let index = fields.count("index", findings).and_then(|index| usize::try_from(index).ok());
        let whole = ranked.get(index.unwrap_or(at + 1).wrapping_sub(1));
        let edit = whole.cloned().unwrap_or_else(|| {
            let text = |key: &str| fields.get(key).and_then(Value::as_str);
            let op = EditOp::from(text("op").unwrap_or_default().to_owned());
            let some = |text: Option<&str>| text.filter(|text| !text.is_empty()).map(str::to_owned);
            Edit {
                target: some(text("target")),
                content: some(text("content_preview")),
                support_count: 0,
                ..Edit::new(op, None, None)
            }
        });
        let word = fields.text("status", findings).unwrap_or_default();
        let (status, told) = status(word);
        let own = fields.get("detail").or_else(|| fields.get("error")).and_then(Value::as_str);
        let detail = own.unwrap_or(told).to_owned();
        reports.push(EditReport { edit, status, detail, resembles_rejected_step: None });
    }
    reports
}

/// The status of a word of the Python system, or of ours behind `skipped_`, with what is worth telling.
fn status(word: &str) -> (EditStatus, &'static str) {
    if word.starts_with("applied") {
        let told = match word {
            _ if word.contains("fallback") => "the anchor was not found, so that it was appended",
            _ => "",
        };
        return (EditStatus::Applied, told);
    }
    let own = word.strip_prefix("skipped_").unwrap_or(word);
    let known = serde_json::from_value::<EditStatus>(Value::String(own.to_owned()));
    match own {
        _ if known.is_ok() => (known.unwrap_or(EditStatus::UnknownOp), ""),
        "protected_region" => (EditStatus::Protected, ""),
        _ if own.ends_with("_target_not_found") => (EditStatus::NotFound, ""),
        _ if own.ends_with("_missing_target") => (EditStatus::Empty, "it names no anchor"),
        "error" => (EditStatus::UnknownOp, "it failed"),
        _ => (EditStatus::UnknownOp, "its status is not known"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use serde_json::json;

    #[rstest]
    #[case("applied_append", EditStatus::Applied)]
    #[case("applied_insert_after_fallback_append", EditStatus::Applied)]
    #[case("skipped_protected_region", EditStatus::Protected)]
    #[case("skipped_replace_target_not_found", EditStatus::NotFound)]
    #[case("skipped_delete_missing_target", EditStatus::Empty)]
    #[case("skipped_unknown_op", EditStatus::UnknownOp)]
    #[case("skipped_ambiguous", EditStatus::Ambiguous)]
    #[case("skipped_over_budget", EditStatus::OverBudget)]
    #[case("error", EditStatus::UnknownOp)]
    fn words_of_both_systems_are_known(#[case] word: &str, #[case] expect: EditStatus) {
        assert_eq!(status(word).0, expect);
    }

    #[test]
    fn the_report_gets_the_whole_text_of_the_ranked_patch() {
        let patch = json!({"edits": [
            {"op": "append", "content": "long text", "support_count": 3, "source_type": "success"},
            {"op": "replace", "target": "a", "content": "b"}, 7,
        ]});
        let mut findings = Findings::default();
        let ranked = of_patch("p", patch.as_object().expect("object"), &mut findings);
        assert_eq!(findings.texts(), ["p, edits, 3: expected an object; left out"]);
        let rows = json!([{"index": 2, "op": "replace", "status": "skipped_replace_target_not_found"},
            {"index": 9, "op": "append", "content_preview": "cut", "status": "applied_append"}]);
        let rows = reports("r", rows.as_array().expect("list"), &ranked, &mut findings);
        assert_eq!(
            (rows[0].edit.target.as_deref(), rows[0].status),
            (Some("a"), EditStatus::NotFound)
        );
        assert_eq!(rows[1].edit.content.as_deref(), Some("cut"));
    }

    #[test]
    fn suggestions_and_whole_texts_are_shown_as_what_they_are() {
        let suggestions = json!({"revise_suggestions": [{"type": "add_rule", "title": "T", "instruction": "Do."}]});
        let mut findings = Findings::default();
        let edits = of_patch("p", suggestions.as_object().expect("object"), &mut findings);
        assert_eq!(edits[0].op.as_str(), "suggest_add_rule");
        assert_eq!(edits[0].content.as_deref(), Some("T\n\nDo."));
    }
}
