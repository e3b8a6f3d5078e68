//! What nights laid aside, to be read: reports, proposals, differences, evidence. Read-only. Every path comes from a
//! listing of ours; what a client names is only compared with it. Symlinks are not followed.

use super::uri::{NightName, ProjectKey, address_of};
use rmcp::model::Resource;
use serde_json::{Value, json};
use skillopt_store::Store;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

const MOST_PROJECTS: usize = 200;
const MOST_NIGHTS: usize = 50;
/// More bytes of a file are not read.
const MOST_BYTES: u64 = 4 << 20;

/// Where nights are looked for.
#[derive(Clone, Debug)]
pub(crate) struct Shelf {
    store: Option<Store>,
    here: Option<PathBuf>,
}

/// A project that has nights, or may have.
#[derive(Clone, Debug)]
pub(super) struct Project {
    pub(super) key: ProjectKey,
    pub(super) path: PathBuf,
}

/// A file of a night.
#[derive(Debug)]
pub(super) struct NightFile {
    pub(super) name: String,
    pub(super) mime: &'static str,
    about: &'static str,
    path: PathBuf,
    size: u64,
}

/// The text of a file.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) text: String,
    pub(super) mime: &'static str,
    /// The file is longer.
    pub(super) is_cut: bool,
}

impl Shelf {
    /// Nights of all projects that the store knows, and of the project `here`.
    pub(crate) fn new(store: Option<Store>, here: Option<PathBuf>) -> Self {
        Self { store, here }
    }

    /// All projects, the one here first, then those with the latest nights.
    pub(super) async fn projects(&self) -> Vec<Project> {
        let known = match &self.store {
            Some(store) => store.night_projects().await.unwrap_or_else(|err| {
                tracing::warn!("cannot read which projects have nights: {err}");
                Vec::new()
            }),
            None => Vec::new(),
        };
        let paths = self.here.iter().cloned().chain(known.into_iter().map(PathBuf::from));
        let mut projects: Vec<Project> = Vec::new();
        for path in paths {
            let key = ProjectKey::of(&path);
            if projects.len() < MOST_PROJECTS && projects.iter().all(|other| other.key != key) {
                projects.push(Project { key, path });
            }
        }
        projects
    }
}

/// The published nights of a project, newest first.
pub(super) fn nights(project: &Path) -> Vec<NightName> {
    let Some(root) = staging(project) else { return Vec::new() };
    let entries = fs::read_dir(root).into_iter().flatten().flatten();
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    // The manifest is written last: a folder without it is no night yet.
    let published = folders.filter(|entry| {
        entry.path().join("manifest.json").symlink_metadata().is_ok_and(|meta| meta.is_file())
    });
    let mut names: Vec<NightName> =
        published.filter_map(|entry| NightName::parse(entry.file_name().to_str()?)).collect();
    names.sort_by_key(|name| std::cmp::Reverse(name.order()));
    names.truncate(MOST_NIGHTS);
    names
}

/// The files of a night that can be read, by name.
pub(super) fn files(project: &Path, night: &NightName) -> Vec<NightFile> {
    let is_there = nights(project).contains(night);
    let Some(root) = staging(project).filter(|_| is_there) else { return Vec::new() };
    let entries = fs::read_dir(root.join(night.as_str())).into_iter().flatten().flatten();
    let mut files: Vec<NightFile> = entries
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let (mime, about) = kind_of(&name)?;
            let meta = entry.path().symlink_metadata().ok().filter(fs::Metadata::is_file)?;
            Some(NightFile { name, mime, about, path: entry.path(), size: meta.len() })
        })
        .collect();
    files.sort_by(|one, other| one.name.cmp(&other.name));
    files
}

/// The text of a file of a night; `None` when there is no such file.
pub(super) fn page(project: &Path, night: &NightName, name: &str) -> Option<Page> {
    let file = files(project, night).into_iter().find(|file| file.name == name)?;
    let mut bytes = Vec::new();
    fs::File::open(&file.path).ok()?.take(MOST_BYTES + 1).read_to_end(&mut bytes).ok()?;
    let most = usize::try_from(MOST_BYTES).unwrap_or(usize::MAX);
    let is_cut = bytes.len() > most;
    if is_cut {
        let whole_lines = bytes[..most].iter().rposition(|byte| *byte == b'\n');
        bytes.truncate(whole_lines.map_or(most, |end| end + 1));
    }
    let text = String::from_utf8_lossy(&bytes).into_owned();
    Some(Page { text, mime: file.mime, is_cut })
}

/// The files of a project's nights as resources.
pub(super) fn resources(project: &Project) -> Vec<Resource> {
    let of_night = |night: NightName| {
        let files = files(&project.path, &night).into_iter();
        files.map(move |file| resource(project, &night, &file)).collect::<Vec<_>>()
    };
    nights(&project.path).into_iter().flat_map(of_night).collect()
}

fn resource(project: &Project, night: &NightName, file: &NightFile) -> Resource {
    let folder = project.path.file_name().unwrap_or_default().to_string_lossy();
    let title = format!("{folder}, night {}: {}", night.as_str(), file.name);
    Resource::new(address_of(&project.key, night, &file.name), file.name.clone())
        .with_title(title)
        .with_description(file.about)
        .with_mime_type(file.mime)
        .with_size(file.size)
}

/// Which project has which key and which nights.
pub(super) fn index(projects: &[Project]) -> Value {
    let rows = projects.iter().map(|project| {
        let nights = nights(&project.path);
        let nights: Vec<&str> = nights.iter().map(NightName::as_str).collect();
        json!({
            "project": project.key.as_str(),
            "path": project.path.to_string_lossy(),
            "nights": nights,
        })
    });
    Value::Array(rows.collect())
}

/// The folder of a project's nights, when it and its parent are folders of the project's own.
fn staging(project: &Path) -> Option<PathBuf> {
    let ours = project.join(".skillopt-sleep");
    let root = ours.join("staging");
    let is_folder = |path: &Path| path.symlink_metadata().is_ok_and(|meta| meta.is_dir());
    (is_folder(&ours) && is_folder(&root)).then_some(root)
}

/// Type and meaning of the files that are shown; all others stay where they are.
fn kind_of(name: &str) -> Option<(&'static str, &'static str)> {
    Some(match name {
        "report.md" => ("text/markdown", "The report of the night, for people."),
        "report.json" => ("application/json", "The report of the night."),
        "evidence.jsonl" => ("application/jsonl", "What led to each decision, in order."),
        "diagnostics.json" => ("application/json", "What helps to find out why."),
        "manifest.json" => ("application/json", "What is proposed for which file."),
        _ if !name.starts_with("proposed_") => return None,
        _ if name.ends_with(".md") => ("text/markdown", "A document as the night proposes it."),
        _ if name.ends_with(".diff") => ("text/x-diff", "What the proposal would change."),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const NIGHT: &str = "20261130-031700";

    fn project() -> tempfile::TempDir {
        let project = tempfile::tempdir().expect("a folder");
        let night = project.path().join(".skillopt-sleep/staging").join(NIGHT);
        fs::create_dir_all(night.join("backup")).expect("made");
        for name in [
            "manifest.json",
            "report.md",
            "proposed_SKILL.a b.md",
            "proposed_SKILL.a b.diff",
            ".adopt-transaction.json",
            "proposed_other.txt",
        ] {
            fs::write(night.join(name), name).expect("written");
        }
        project
    }

    fn night(name: &str) -> NightName {
        NightName::parse(name).expect("a night")
    }

    #[test]
    fn a_night_shows_its_documents_and_nothing_else() {
        let project = project();
        let names = files(project.path(), &night(NIGHT)).into_iter().map(|file| file.name);
        let expect =
            ["manifest.json", "proposed_SKILL.a b.diff", "proposed_SKILL.a b.md", "report.md"];
        assert_eq!(names.collect::<Vec<_>>(), expect);
        let page = page(project.path(), &night(NIGHT), "proposed_SKILL.a b.md").expect("a page");
        assert_eq!((page.text.as_str(), page.mime), ("proposed_SKILL.a b.md", "text/markdown"));
    }

    #[test]
    fn names_that_lead_elsewhere_find_nothing() {
        let project = project();
        fs::write(project.path().join("report.md"), "secret").expect("written");
        for name in ["../../../report.md", "/etc/passwd", ".adopt-transaction.json", "backup", ""] {
            assert!(page(project.path(), &night(NIGHT), name).is_none(), "{name}");
        }
        assert!(page(project.path(), &night("20261130-031701"), "report.md").is_none());
    }

    #[test]
    fn a_folder_without_manifest_is_no_night() {
        let project = project();
        let root = project.path().join(".skillopt-sleep/staging");
        fs::create_dir(root.join("20261201-031700")).expect("made");
        assert_eq!(nights(project.path()), [night(NIGHT)]);
    }

    #[cfg(unix)]
    #[test]
    fn symlinks_are_not_followed_at_any_step() {
        use std::os::unix::fs::symlink;
        let project = project();
        let root = project.path().join(".skillopt-sleep/staging");
        let outside = project.path().join("outside.md");
        fs::write(&outside, "secret").expect("written");
        symlink(&outside, root.join(NIGHT).join("report.json")).expect("linked");
        symlink(root.join(NIGHT), root.join("20261201-031700")).expect("linked");
        assert!(page(project.path(), &night(NIGHT), "report.json").is_none());
        assert_eq!(nights(project.path()), [night(NIGHT)]);
        let other = tempfile::tempdir().expect("a folder");
        symlink(project.path().join(".skillopt-sleep"), other.path().join(".skillopt-sleep"))
            .expect("linked");
        assert!(nights(other.path()).is_empty());
    }

    #[test]
    fn a_long_file_is_cut_behind_a_whole_line() {
        let project = project();
        let path =
            project.path().join(".skillopt-sleep/staging").join(NIGHT).join("evidence.jsonl");
        let line = format!("{}\n", "x".repeat(999));
        fs::write(path, line.repeat(5000)).expect("written");
        let page = page(project.path(), &night(NIGHT), "evidence.jsonl").expect("a page");
        assert!(page.is_cut && page.text.ends_with("x\n") && page.text.len().is_multiple_of(1000));
    }

    #[tokio::test]
    async fn one_project_is_listed_once() {
        let shelf = Shelf::new(None, Some(PathBuf::from("/p")));
        let projects = shelf.projects().await;
        assert_eq!(projects.len(), 1);
        assert_eq!(index(&projects)[0]["nights"], json!([]));
    }
}
