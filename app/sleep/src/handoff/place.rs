//! Where the files of a handoff lie: in the project, or in a folder that several projects share, where each has a folder of
//! its own. Dry runs have theirs beside it: no file of theirs is one of the night that waits.

use super::files::{Handoff, Redact};
use super::pins::{Pinned, pinned_by_anybody};
use serde_json::Value;
use skillopt_domain::file_name::safe_file_name;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const IN_PROJECT: &str = ".skillopt-sleep-handoff";
const DRY: &str = ".dry";

/// Which nights of a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NightKind {
    /// Those that are kept.
    Real,
    /// Dry runs.
    Dry,
}

impl NightKind {
    /// Those of a night.
    #[must_use]
    pub fn of(is_dry: bool) -> Self {
        match is_dry {
            true => Self::Dry,
            false => Self::Real,
        }
    }

    /// The other one.
    #[must_use]
    pub fn other(self) -> Self {
        Self::of(self == Self::Real)
    }
}

/// What decides where a handoff lies.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// The project.
    pub project: &'a Path,
    /// The folder that projects share for handoffs, where one is named.
    pub shared: Option<&'a Path>,
    /// Which of its nights.
    pub kind: NightKind,
    /// Where this machine notes what it pinned.
    pub state_dir: &'a Path,
}

impl Handoff {
    /// The handoff of a project: in the project, or in the folder `shared` where one is named. Reads what lies there.
    #[must_use]
    pub fn of_project(place: Place<'_>, redact: Redact) -> Self {
        let Place { project, shared, kind, state_dir } = place;
        let Some(shared) = shared else {
            return Self::new(named(project, IN_PROJECT, kind), state_dir, redact);
        };
        let own = named(shared, &name_of(project), kind);
        let is_direct = kind == NightKind::Real && !own.is_dir() && is_of(shared, project);
        let dir = if is_direct { shared.to_owned() } else { own.clone() };
        Self::lying_in(dir, own, state_dir, redact)
    }
}

/// Where handoffs of a project are put aside when their nights come to their end: folders, and how the names of such
/// handoffs begin there.
pub(crate) fn places(project: &Path, shared: Option<&Path>) -> Vec<(PathBuf, String)> {
    let in_project = (project.to_owned(), IN_PROJECT.to_owned());
    let shared = shared.map(|shared| (shared.to_owned(), name_of(project)));
    [in_project].into_iter().chain(shared).collect()
}

/// The folder is a handoff that was put aside, by its name; `start` is that of [`places`].
pub(crate) fn is_done(name: &str, start: &str) -> bool {
    let rest = name.strip_prefix(start);
    let rest = rest.map(|rest| rest.strip_prefix(DRY).unwrap_or(rest));
    rest.is_some_and(|rest| rest.starts_with(".night") && rest.contains(".done"))
}

/// The name of a project's folder among those of others.
fn name_of(project: &Path) -> String {
    safe_file_name(&project.to_string_lossy())
}

fn named(folder: &Path, name: &str, kind: NightKind) -> PathBuf {
    match kind {
        NightKind::Real => folder.join(name),
        NightKind::Dry => folder.join(format!("{name}{DRY}")),
    }
}

/// The reference system, and earlier versions of this one, put the files of whichever project into the shared folder
/// itself. They are those of the project when everything that is pinned there is about it and nothing else.
fn is_of(shared: &Path, project: &Path) -> bool {
    let mut projects = BTreeSet::new();
    for what in [Pinned::Digests, Pinned::Tasks] {
        match pinned_by_anybody(shared, what) {
            Ok(None) => {}
            Ok(Some(pinned)) => add_projects(&pinned, &mut projects),
            Err(_) => return false,
        }
    }
    projects.len() == 1 && projects.contains(&*project.to_string_lossy())
}

fn add_projects(value: &Value, projects: &mut BTreeSet<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| add_projects(item, projects)),
        Value::Object(fields) => {
            for (name, value) in fields {
                match value.as_str() {
                    Some(project) if name == "project" && !project.is_empty() => {
                        projects.insert(project.to_owned());
                    }
                    _ => add_projects(value, projects),
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::fs;
    use std::sync::Arc;

    fn of(project: &str, shared: Option<&Path>, kind: NightKind) -> Handoff {
        let state = shared.unwrap_or(Path::new(project)).join("state");
        let place = Place { project: Path::new(project), shared, kind, state_dir: &state };
        Handoff::of_project(place, Arc::new(str::to_owned))
    }

    /// What an earlier version left in the shared folder itself.
    fn written_before(shared: &Path) -> Handoff {
        Handoff::new(shared.to_owned(), &shared.join("state of then"), Arc::new(str::to_owned))
    }

    fn ask(handoff: &Handoff, prompt: &str) -> String {
        let id = handoff.pend(prompt, 9).unwrap();
        handoff.flush().unwrap();
        id
    }

    fn prompts(handoff: &Handoff) -> Vec<String> {
        let prompts = handoff.round().unwrap().prompts;
        prompts.into_iter().map(|prompt| prompt.asked.prompt).collect()
    }

    #[test]
    fn projects_that_share_a_folder_see_neither_prompts_nor_answers_of_each_other() {
        let dir = tempfile::tempdir().unwrap();
        let shared = Some(dir.path());
        let (one, two) =
            (of("/a/work", shared, NightKind::Real), of("/b/work", shared, NightKind::Real));
        let id = ask(&one, "the same words");
        assert_eq!(prompts(&of("/b/work", shared, NightKind::Real)), Vec::<String>::new());
        assert_eq!(ask(&two, "the same words"), id);
        one.answer(&id, "for one").unwrap();
        assert_eq!(two.answer_of("the same words").unwrap(), None);
        let done = one.finish(3, 0).unwrap().unwrap();
        assert_eq!(done.parent(), shared);
        assert_eq!(prompts(&two), ["the same words"], "the other one waits on");
    }

    #[test]
    fn a_dry_run_has_files_of_its_own() {
        let dir = tempfile::tempdir().unwrap();
        let project = dir.path().to_str().unwrap();
        for shared in [None, Some(dir.path())] {
            let (real, dry) =
                (of(project, shared, NightKind::Real), of(project, shared, NightKind::Dry));
            let id = ask(&dry, "rehearsed?");
            dry.answer(&id, "yes").unwrap();
            dry.pin(Pinned::Tasks, &json!([])).unwrap();
            assert_eq!(real.answer_of("rehearsed?").unwrap(), None);
            assert_eq!(real.pinned(Pinned::Tasks).unwrap(), None);
            assert!(!real.dir().exists());
            let done = dry.finish(3, 0).unwrap().unwrap();
            assert!(done.to_str().unwrap().ends_with(".dry.night3.done"), "{}", done.display());
        }
        for done in [".dry.night3.done", ".night3.done.19700101-000000"] {
            assert!(is_done(&format!("{IN_PROJECT}{done}"), IN_PROJECT), "{done}");
        }
        for open in ["", ".dry", ".mine.done"] {
            assert!(!is_done(&format!("{IN_PROJECT}{open}"), IN_PROJECT), "{open}");
        }
    }

    #[test]
    fn what_lies_in_the_shared_folder_itself_is_for_the_project_that_it_is_about() {
        let dir = tempfile::tempdir().unwrap();
        let shared = Some(dir.path());
        let earlier = written_before(dir.path());
        let id = ask(&earlier, "asked before");
        assert!(prompts(&of("/a/work", shared, NightKind::Real)).is_empty(), "nobody knows whose");
        let digests =
            json!({"found": {"digests": [{"project": "/a/work"}, {"project": "/a/work"}]}});
        earlier.pin(Pinned::Digests, &digests).unwrap();
        assert!(prompts(&of("/b/work", shared, NightKind::Real)).is_empty());
        assert!(prompts(&of("/a/work", shared, NightKind::Dry)).is_empty());
        let own = of("/a/work", shared, NightKind::Real);
        assert_eq!(prompts(&own), ["asked before"]);
        assert!(own.to_remove().contains("digests.json"), "others have folders in it");
        assert_eq!(own.pinned(Pinned::Digests).unwrap(), None, "nobody knows who wrote them");
        own.answer(&id, "now").unwrap();

        let other = of("/b/work", shared, NightKind::Real);
        ask(&other, "something else");
        assert_eq!(other.to_remove(), "that folder");
        let done = own.finish(3, 0).unwrap().unwrap();
        assert_eq!(fs::read_to_string(done.join(format!("answers/{id}.md"))).unwrap(), "now");
        assert!(done.join("digests.json").is_file() && !dir.path().join("pending.json").exists());
        assert_eq!(prompts(&other), ["something else"], "folders of others stay");
        assert!(prompts(&of("/a/work", shared, NightKind::Real)).is_empty());
    }

    #[test]
    fn pins_about_several_projects_are_nobodys() {
        let dir = tempfile::tempdir().unwrap();
        let earlier = written_before(dir.path());
        ask(&earlier, "asked before");
        earlier.pin(Pinned::Tasks, &json!([{"project": "/a"}, {"project": "/b"}])).unwrap();
        for project in ["/a", "/b"] {
            assert!(prompts(&of(project, Some(dir.path()), NightKind::Real)).is_empty());
        }
    }
}
