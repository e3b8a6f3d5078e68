//! The epochs of a copy. The Python trainer looks for a result file of each epoch that is over, works the epoch's end out
//! again where there is none, and works guidance that was taken into the current skill a second time.

use super::{HandoverError, copy_folder, number, put, read_json};
use serde_json::{Map, Value, json};
use skillopt_domain::python::with_guidance;
use skillopt_domain::skill::SkillDoc;
use std::path::{Path, PathBuf};

const SLOW: &str = "slow_update";
const RESULT_OF_SLOW: &str = "slow_result.json";
const KINDS: [(&str, &str); 2] = [(SLOW, RESULT_OF_SLOW), ("meta_skill", "meta_skill_result.json")];

/// What the Python system writes for guidance that went into the skill.
const TAKEN: &str = "accept";
/// A word that it does not know: it then leaves the skill as it is, which holds the guidance already.
pub(super) const IN_THE_SKILL: &str = "kept_in_skill";

/// Copies the ends of epochs that have a result, and marks the others that are over.
pub(super) fn write(
    source: &Path,
    draft: &Path,
    rows: &[Map<String, Value>],
    notes: &mut Vec<String>,
) -> Result<(), HandoverError> {
    let last_epoch = rows.last().map_or(0, |row| number(row, "epoch"));
    for epoch in 1..=last_epoch {
        for (kind, file) in KINDS {
            let dir = format!("{kind}/epoch_{epoch:02}");
            let result = Path::new(&dir).join(file);
            if source.join(&result).is_file() {
                copy_folder(&source.join(&dir), &draft.join(&dir))?;
            } else if epoch < last_epoch {
                // It was not asked for, and is over.
                put(
                    &draft.join(&result),
                    &format!("{:#}\n", json!({"action": "not_run", "epoch": epoch})),
                )?;
            }
        }
    }
    keep_from_repeating(draft, rows, last_epoch, notes)
}

/// Python puts guidance at the very end of the skill when it resumes. Where that would move it, the results say that
/// the skill holds it already.
fn keep_from_repeating(
    draft: &Path,
    rows: &[Map<String, Value>],
    last_epoch: u32,
    notes: &mut Vec<String>,
) -> Result<(), HandoverError> {
    let path = draft.join(format!("skills/skill_v{:04}.md", rows.len()));
    let current = std::fs::read_to_string(&path).map_err(|error| super::failed(&path, error))?;
    let mut taken: Vec<(PathBuf, Value)> = Vec::new();
    for epoch in 2..=last_epoch {
        let path = draft.join(format!("{SLOW}/epoch_{epoch:02}/{RESULT_OF_SLOW}"));
        let result = read_json(&path)?.unwrap_or_default();
        if result["action"].as_str().is_some_and(|action| action.contains(TAKEN)) {
            taken.push((path, result));
        }
    }
    let repeated = taken.iter().fold(SkillDoc::parse(current.as_str()), |skill, (_, result)| {
        with_guidance(&skill, result["slow_update_content"].as_str().unwrap_or_default())
    });
    if repeated.text() == current {
        return Ok(());
    }
    for (path, mut result) in taken {
        result["action_of_run"] = result["action"].take();
        result["action"] = IN_THE_SKILL.into();
        put(&path, &format!("{result:#}\n"))?;
    }
    notes.push(format!(
        "guidance of the epochs stands in the skill as it was measured; its results say `{IN_THE_SKILL}`, so that it \
         is not moved to the end of the text"
    ));
    Ok(())
}
