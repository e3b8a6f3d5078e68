//! The configs of a project: YAML files below its folder `configs`. Their names only; nothing is read.

use serde_json::{Value, json};
use std::fs;
use std::io;
use std::path::Path;

const FOLDER: &str = "configs";
const MOST_FILES: usize = 500;
const MOST_DEPTH: usize = 4;

/// Paths from `project`, sorted. Symlinks are not followed; a project without configs has none.
///
/// # Errors
/// What the operating system says.
pub(super) fn configs(project: &Path) -> io::Result<Value> {
    let mut found = Vec::new();
    match collect(&project.join(FOLDER), FOLDER, MOST_DEPTH, &mut found) {
        Err(err) if err.kind() == io::ErrorKind::NotFound => {}
        other => other?,
    }
    found.sort();
    Ok(json!({ "configs": found }))
}

fn collect(folder: &Path, shown: &str, depth: usize, found: &mut Vec<String>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        let kind = entry.file_type()?;
        let shown = format!("{shown}/{name}");
        let is_yaml = name.ends_with(".yaml") || name.ends_with(".yml");
        if kind.is_dir() && depth > 0 {
            collect(&entry.path(), &shown, depth - 1, found)?;
        } else if kind.is_file() && is_yaml && found.len() < MOST_FILES {
            found.push(shown);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn yaml_files_below_configs_are_listed_and_nothing_else() {
        let project = tempfile::tempdir().expect("a folder");
        let folder = project.path().join("configs/searchqa");
        fs::create_dir_all(&folder).expect("made");
        for name in ["b.yaml", "a.yml", "notes.md"] {
            fs::write(folder.join(name), "").expect("written");
        }
        #[cfg(unix)]
        std::os::unix::fs::symlink("/etc", project.path().join("configs/etc")).expect("linked");
        let found = configs(project.path()).expect("read");
        assert_eq!(
            found,
            json!({"configs": ["configs/searchqa/a.yml", "configs/searchqa/b.yaml"]})
        );
        let none = configs(&project.path().join("nowhere")).expect("read");
        assert_eq!(none, json!({"configs": []}));
    }
}
