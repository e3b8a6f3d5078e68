//! The folders in which skills are looked for.

use super::PluginVersion;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Folders of a project, in the order in which they are looked at.
const IN_PROJECT: [&str; 4] =
    [".agents/skills", ".claude/skills", ".cursor/skills", ".devin/skills"];

/// Where roots are.
#[derive(Clone, Debug, Default)]
pub struct RootPlaces {
    /// The project.
    pub project: PathBuf,
    /// The home of Claude Code, such as `~/.claude`.
    pub claude_home: PathBuf,
    /// Roots from the config; relative ones are in the project.
    pub extra: Vec<PathBuf>,
}

/// All roots that exist, each once, the project's first. Of a plugin with several versions only the newest counts.
#[must_use]
pub fn skill_roots(places: &RootPlaces) -> Vec<PathBuf> {
    let in_project = IN_PROJECT.iter().map(|folder| places.project.join(folder));
    let extra = places.extra.iter().map(|folder| places.project.join(folder));
    let plugins = plugin_roots(&places.claude_home.join("plugins/cache"));
    let mut seen = BTreeSet::new();
    in_project
        .chain([places.claude_home.join("skills")])
        .chain(extra)
        .chain(plugins)
        .filter(|root| root.is_dir())
        .filter(|root| root.canonicalize().is_ok_and(|real| seen.insert(real)))
        .collect()
}

fn plugin_roots(cache: &Path) -> Vec<PathBuf> {
    let markets = folders(cache);
    markets
        .iter()
        .flat_map(|market| folders(market))
        .filter_map(|plugin| plugin_root(&plugin))
        .collect()
}

/// `<version>/skills` of the newest version that has it, else `skills`.
fn plugin_root(plugin: &Path) -> Option<PathBuf> {
    let name = |path: &Path| {
        path.file_name().and_then(|name| PluginVersion::parse(&name.to_string_lossy()))
    };
    let versions =
        folders(plugin).into_iter().filter_map(|path| Some((name(&path)?, path.join("skills"))));
    let newest =
        versions.filter(|(_, skills)| skills.is_dir()).max_by(|left, right| left.0.cmp(&right.0));
    newest
        .map(|(_, skills)| skills)
        .or_else(|| Some(plugin.join("skills")).filter(|path| path.is_dir()))
}

/// The folders in a folder, by name.
fn folders(path: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(path) else { return Vec::new() };
    let mut found: Vec<PathBuf> =
        entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    found.sort();
    found
}
