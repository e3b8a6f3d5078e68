//! A proposal as a unified difference, for people and for `git apply`.

use similar::TextDiff;
use std::path::Path;

/// The difference between a live document and its proposal; names of both files stand in it.
#[must_use]
pub(super) fn unified(live: &str, proposed: &str, path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    TextDiff::from_lines(live, proposed)
        .unified_diff()
        .context_radius(3)
        .header(&format!("a/{name}"), &format!("b/{name}"))
        .to_string()
}
