//! The comparison of the skills of two epochs: its pairs by category, and the attempts with both skills.

use super::reader::Reader;
use super::step::Walk;
use serde_json::Value;
use skillopt_domain::config::PairPolicy;
use skillopt_domain::epoch::{Comparison, PairCategory, PairGroup};
use skillopt_domain::event::EventKind;
use skillopt_domain::hash::Sha256Hex;
use skillopt_domain::ids::TaskId;
use skillopt_domain::outcome::RolloutPurpose;

/// Reads what was compared at the end of an epoch. `step` is its last one. How many changes a second draw took back is
/// not in a folder.
pub(super) fn read(reader: &mut Reader, walk: &Walk, (epoch, step): (u32, u32), at_ms: u64) {
    let folders = ["slow_update", "meta_skill"];
    let found =
        folders.into_iter().map(|folder| format!("{folder}/epoch_{epoch:02}")).find_map(|dir| {
            let file = format!("{dir}/comparison_pairs.json");
            Some((reader.json(&file)?, file, dir))
        });
    let Some((document, file, dir)) = found else { return };
    let Value::Array(rows) = &document else {
        reader.findings.add(&file, "", "expected a list; left out");
        return;
    };
    let mut groups: Vec<PairGroup> = PairCategory::ALL
        .map(|category| PairGroup { category, tasks: Vec::new() })
        .into_iter()
        .collect();
    for (at, row) in rows.iter().enumerate() {
        let category = row.get("category").and_then(Value::as_str).unwrap_or_default();
        let group = groups.iter_mut().find(|group| group.category.as_str() == category);
        match (row.get("id"), group) {
            (Some(Value::String(id)), Some(group)) => group.tasks.push(TaskId(id.clone())),
            (Some(Value::Number(id)), Some(group)) => group.tasks.push(TaskId(id.to_string())),
            _ => {
                let place = format!("row {}", at + 1);
                reader.findings.add(&file, &place, "no id or no known category; left out");
            }
        }
    }
    groups.retain(|group| !group.tasks.is_empty());
    let all = reader.json(&format!("{dir}/comparison_pairs_all.json"));
    let n_tried = all.as_ref().and_then(Value::as_array).map_or(rows.len(), Vec::len);
    let mut sets = Vec::new();
    for (name, skill) in [("rollout_prev", &walk.epoch_skill), ("rollout_curr", &walk.current)] {
        sets.extend(attempts(reader, (epoch, step), (name, skill), &dir));
    }
    let comparison = Comparison {
        epoch,
        previous: walk.epoch_skill.clone(),
        current: walk.current.clone(),
        policy: policy(reader),
        groups,
        n_tried: u32::try_from(n_tried).unwrap_or(u32::MAX),
        n_topped_up: 0,
        n_unsteady: 0,
        n_unscored: 0,
        sets,
    };
    reader.emit(format!("epoch/{epoch:04}/compared"), at_ms, EventKind::Compared(comparison));
}

fn attempts(
    reader: &mut Reader,
    (epoch, step): (u32, u32),
    (name, skill): (&str, &Sha256Hex),
    dir: &str,
) -> Option<String> {
    let key = format!("epoch/{epoch:04}/{name}");
    let dir = format!("{dir}/{name}");
    reader.add_set(&key, RolloutPurpose::Longitudinal, step, skill, &dir)?;
    Some(key)
}

fn policy(reader: &Reader) -> PairPolicy {
    match reader.settings.text("longitudinal_pair_policy") {
        Some("changed" | "change" | "delta" | "10_01" | "01_10") => PairPolicy::Changed,
        Some("unchanged" | "stable" | "same" | "00_11") => PairPolicy::Unchanged,
        _ => PairPolicy::Mixed,
    }
}
