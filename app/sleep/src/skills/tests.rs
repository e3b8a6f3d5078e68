use super::*;
use tempfile::TempDir;

struct Place {
    folder: TempDir,
}

impl Place {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a folder") }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    /// Writes `<root>/<name>/SKILL.md`.
    fn skill(&self, root: &str, name: &str) -> &Self {
        let folder = self.path(root).join(name);
        std::fs::create_dir_all(&folder).expect("a folder");
        std::fs::write(folder.join(SKILL_FILE), format!("# {root}/{name}\n")).expect("written");
        self
    }

    fn resolve(&self, name: &str, roots: &[&str]) -> Resolution {
        resolve_skill(name, &roots.iter().map(|root| self.path(root)).collect::<Vec<_>>())
    }
}

#[test]
fn a_skill_is_found_by_its_name() {
    let place = Place::new();
    place.skill("a", "research").skill("b", "other");
    let Resolution::Found(found) = place.resolve(" research ", &["a", "b", "absent"]) else {
        panic!("not found")
    };
    assert!(found.path.ends_with("a/research/SKILL.md") && found.name == "research");
    assert!(
        matches!(place.resolve("third", &["a", "b"]), Resolution::Missing { roots } if roots.len() == 2)
    );
}

#[test]
fn a_folder_without_a_skill_file_is_no_skill() {
    let place = Place::new();
    std::fs::create_dir_all(place.path("a/research/SKILL.md")).expect("a folder");
    assert!(matches!(place.resolve("research", &["a"]), Resolution::Missing { .. }));
}

#[test]
fn c108_names_are_compared_without_case_and_form() {
    let place = Place::new();
    place.skill("a", "Caf\u{e9}");
    let Resolution::Found(found) = place.resolve("cafe\u{301}", &["a"]) else {
        panic!("not found")
    };
    assert_eq!(found.name, "Caf\u{e9}");
}

#[test]
fn two_different_skills_of_a_name_are_ambiguous_in_the_order_of_roots() {
    let place = Place::new();
    place.skill("b", "research").skill("a", "Research");
    let Resolution::Ambiguous(found) = place.resolve("research", &["b", "a"]) else {
        panic!("not ambiguous")
    };
    let names: Vec<&str> = found.iter().map(|skill| skill.name.as_str()).collect();
    assert_eq!(names, ["research", "Research"]);
}

#[test]
fn names_that_could_be_paths_are_rejected() {
    let place = Place::new();
    place.skill("a", "research");
    for name in ["../a/research", "a:research", "..", ""] {
        let rejected = place.resolve(name, &["a"]);
        assert!(matches!(rejected, Resolution::Rejected(Rejection::Name(_))), "{name}");
    }
}

#[cfg(unix)]
#[test]
fn a_link_must_stay_under_its_root() {
    use std::os::unix::fs::symlink;
    let place = Place::new();
    place.skill("a", "inside").skill("elsewhere", "outside");
    symlink(place.path("a/inside"), place.path("a/alias")).expect("a link");
    symlink(place.path("elsewhere/outside"), place.path("a/escape")).expect("a link");
    symlink(place.path("a"), place.path("linked-root")).expect("a link");
    assert!(matches!(place.resolve("alias", &["a"]), Resolution::Found(_)));
    assert!(matches!(place.resolve("inside", &["linked-root", "a"]), Resolution::Found(_)));
    let rejected = place.resolve("escape", &["a"]);
    assert!(
        matches!(rejected, Resolution::Rejected(Rejection::OutsideRoot { .. })),
        "{rejected:?}"
    );
}

#[test]
fn roots_are_those_that_exist_with_the_newest_version_of_each_plugin() {
    let place = Place::new();
    place
        .skill("p/.claude/skills", "x")
        .skill("p/mine", "x")
        .skill("home/skills", "x")
        .skill("home/plugins/cache/m/one/1.9.0/skills", "x")
        .skill("home/plugins/cache/m/one/1.10.0/skills", "x")
        .skill("home/plugins/cache/m/one/1.11.0-rc.1/skills", "x")
        .skill("home/plugins/cache/m/two/skills", "x");
    std::fs::create_dir_all(place.path("home/plugins/cache/m/one/2.0.0")).expect("a folder");
    let places = RootPlaces {
        project: place.path("p"),
        claude_home: place.path("home"),
        extra: vec!["mine".into(), place.path("home/skills"), "absent".into()],
    };
    let expected = [
        "p/.claude/skills",
        "home/skills",
        "p/mine",
        "home/plugins/cache/m/one/1.11.0-rc.1/skills",
        "home/plugins/cache/m/two/skills",
    ];
    assert_eq!(skill_roots(&places), expected.map(|path| place.path(path)));
}

#[test]
fn f47_a_skill_of_a_plugin_is_looked_for_in_that_plugin() {
    let place = Place::new();
    place.skill("mine", "research");
    place.skill("cache/market/tools/1.2.0/skills", "research");
    place.skill("cache/market/other/skills", "research");
    let roots: Vec<PathBuf> =
        ["mine", "cache/market/tools/1.2.0/skills", "cache/market/other/skills"]
            .map(|root| place.path(root))
            .to_vec();
    let path = |name: &str| match resolve_qualified(name, &roots) {
        Resolution::Found(found) => found.path,
        other => panic!("{name}: {other}"),
    };
    assert!(path("tools:research").ends_with("tools/1.2.0/skills/research/SKILL.md"));
    assert!(path("Other:research").ends_with("other/skills/research/SKILL.md"));
    assert!(matches!(resolve_qualified("research", &roots), Resolution::Ambiguous(_)));
    let only = [place.path("mine")];
    let Resolution::Found(_) = resolve_qualified("gone:research", &only) else {
        panic!("without such a plugin all roots count")
    };
    assert!(matches!(resolve_qualified("a:../b", &roots), Resolution::Rejected(_)));
}
