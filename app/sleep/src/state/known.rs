//! Which folders are nights of this machine. A project that was cloned can bring folders that look like nights; the
//! history is kept outside of projects, so nothing in a project can be in it.

use super::NightRow;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Folders of nights that a history names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownNights(BTreeSet<PathBuf>);

impl KnownNights {
    /// Those of these rows that are there still. Looks at the folders.
    #[must_use]
    pub fn of(history: &[NightRow]) -> Self {
        let real = |row: &NightRow| Path::new(&row.staging).canonicalize().ok();
        Self(history.iter().filter_map(real).collect())
    }

    /// The folder is one of them.
    #[must_use]
    pub fn has(&self, dir: &Path) -> bool {
        dir.canonicalize().is_ok_and(|real| self.0.contains(&real))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_no_row_names_is_no_night_of_this_machine() {
        let dir = tempfile::tempdir().unwrap();
        let folder = |name: &str| {
            let path = dir.path().join(name);
            std::fs::create_dir(&path).unwrap();
            path
        };
        let (own, brought) = (folder("own"), folder("brought"));
        let row = |staging: &Path| NightRow {
            staging: staging.display().to_string(),
            ..NightRow::default()
        };
        let known =
            KnownNights::of(&[row(&own), row(&dir.path().join("gone")), row(Path::new(""))]);
        assert!(known.has(&own) && known.has(&brought.join("../own")));
        assert!(!known.has(&brought) && !known.has(&dir.path().join("gone")));
    }
}
