//! The sample run: its config and data travel in the binary, so that one click works anywhere.

use super::config::chosen_values;
use crate::config::{BadConfig, from_yaml_text};
use rust_embed::Embed;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

const CONFIG: &str = include_str!("../../../configs/searchqa/sample.yaml");
/// Where the config finds the data in a checkout.
const IN_CHECKOUT: &str = "data/searchqa_sample";
const KEYS_WITH_PATHS: [&str; 2] = ["env.skill_init", "env.split_dir"];

#[derive(Embed)]
#[folder = "../data/searchqa_sample"]
struct Data;

/// Why there is no sample.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SampleError {
    /// The config in the binary is not valid.
    #[error("the sample config has problems")]
    Config(#[from] BadConfig),
    /// The data cannot be written out.
    #[error("cannot write the sample data to {path}")]
    Write {
        /// Where.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// Values of the launch form for the sample run. In a checkout the data there is used; elsewhere it is
/// written under the data directory first.
///
/// # Errors
/// [`SampleError`] when the data cannot be written.
pub(crate) async fn values(data_dir: &Path) -> Result<BTreeMap<String, String>, SampleError> {
    let mut values = config_values()?;
    if tokio::fs::try_exists(IN_CHECKOUT).await.unwrap_or(false) {
        return Ok(values);
    }
    let folder = data_dir.join("sample").join("searchqa");
    write_out(&folder).await?;
    for key in KEYS_WITH_PATHS {
        if let Some(path) = values.get_mut(key) {
            *path = path.replacen(IN_CHECKOUT, &folder.display().to_string(), 1);
        }
    }
    Ok(values)
}

/// What the sample config sets itself; its base holds the defaults, which are built in.
fn config_values() -> Result<BTreeMap<String, String>, BadConfig> {
    let own: String = CONFIG
        .lines()
        .filter(|line| !line.starts_with("_base_"))
        .flat_map(|line| [line, "\n"])
        .collect();
    Ok(chosen_values(&from_yaml_text("sample.yaml", &own)?))
}

async fn write_out(folder: &Path) -> Result<(), SampleError> {
    for name in Data::iter() {
        let Some(file) = Data::get(&name) else { continue };
        let path = folder.join(&*name);
        let written = async {
            if let Some(parent) = path.parent() {
                tokio::fs::create_dir_all(parent).await?;
            }
            tokio::fs::write(&path, &file.data).await
        };
        written.await.map_err(|source| SampleError::Write { path: path.clone(), source })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sample_needs_no_key_and_names_its_data() {
        let values = config_values().unwrap();
        assert_eq!(values.get("model.backend").map(String::as_str), Some("mock"));
        for key in KEYS_WITH_PATHS {
            assert!(values[key].starts_with(IN_CHECKOUT), "{key}");
        }
    }

    #[tokio::test]
    async fn outside_of_a_checkout_the_data_is_written_out() {
        let dir = tempfile::tempdir().unwrap();
        write_out(dir.path()).await.unwrap();
        for name in ["SKILL.md", "train/items.json", "val/items.json", "test/items.json"] {
            assert!(dir.path().join(name).is_file(), "{name}");
        }
    }
}
