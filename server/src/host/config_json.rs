//! `config.json` of a run folder: the flat keys of the Python system, and what follows from them.

use crate::config::flat_json;
use serde_json::{Map, Value};
use skillopt_domain::config::{Resolved, RunConfig, SlowUpdateMode};
use skillopt_domain::spend::Role;
use skillopt_engine::batches::RunShape;
use std::path::{Path, PathBuf};

/// The file of a new run. The folder names itself relatively, so that it can be moved.
pub(super) fn first(
    resolved: &Resolved,
    config: &RunConfig,
    wanted: Option<&Path>,
    folder: &Path,
) -> String {
    let mut keys = flat_json(resolved);
    let own_name = || folder.file_name().map(PathBuf::from).unwrap_or_default();
    let out_root = wanted.filter(|path| path.is_relative()).map_or_else(own_name, PathBuf::from);
    keys.insert("out_root".to_owned(), out_root.display().to_string().into());
    for role in Role::ALL {
        let model = config.role(role);
        keys.insert(format!("{role}_backend"), model.backend.as_str().into());
        keys.insert(format!("{role}_model"), model.model.clone().into());
    }
    // What follows from the settings, in the words of the Python system.
    let optimizer = &config.optimizer;
    keys.insert("skill_update_mode".to_owned(), optimizer.update_mode.as_str().into());
    keys.insert("lr_control_mode".to_owned(), optimizer.budget_control().as_str().into());
    let gated = optimizer.slow_update != SlowUpdateMode::Forced;
    keys.insert("slow_update_gate_with_selection".to_owned(), gated.into());
    text(keys)
}

/// The same file with the sizes that are known once the data is read.
///
/// # Errors
/// When the file holds no JSON object: it is left as it is.
pub(super) fn with_sizes(
    old: &str,
    config: &RunConfig,
    n_train: u32,
    shape: RunShape,
) -> Result<String, serde_json::Error> {
    let mut keys: Map<String, Value> = serde_json::from_str(old)?;
    let steps = u64::from(shape.steps_per_epoch);
    let sizes = [
        ("train_size", u64::from(n_train)),
        ("steps_per_epoch", steps),
        ("batches_per_epoch", steps * u64::from(config.train.accumulation)),
        ("samples_per_epoch", u64::from(n_train)),
    ];
    for (key, size) in sizes {
        keys.insert(key.to_owned(), size.into());
    }
    Ok(text(keys))
}

fn text(keys: Map<String, Value>) -> String {
    format!("{:#}\n", Value::Object(keys))
}
