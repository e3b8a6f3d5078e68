//! Which folders count, and which do not.

use super::*;
use crate::config::Environment;
use crate::sleep::order::NightOrder;
use skillopt_domain::night::report::SleepReport;
use skillopt_sleep::adopt::{Adoption, Places, Selection, adopt};
use skillopt_sleep::stage::{
    Proposal, ProposedDoc, Role, TargetSpec, check_targets, publish, reserve,
};
use skillopt_sleep::state::NightRow as HistoryRow;

const AT: u64 = 1_780_000_000_000;

struct House {
    dir: tempfile::TempDir,
}

impl House {
    fn new() -> Self {
        let house = Self { dir: tempfile::tempdir().unwrap() };
        std::fs::create_dir_all(house.root().join("project")).unwrap();
        house
    }

    fn root(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap()
    }

    fn setup(&self) -> NightSetup {
        let project = Some(self.root().join("project"));
        let order = NightOrder { project, ..NightOrder::default() };
        let home = self.root();
        NightSetup::read(&order, &Environment::from_pairs([("HOME", home.to_str().unwrap())]))
            .unwrap()
    }

    /// A night with a proposal for the memory; `latest` points to it.
    fn night(&self, at_ms: u64, text: &str) -> PathBuf {
        let memory = self.root().join("project/CLAUDE.md");
        let spec = TargetSpec { role: Role::Memory, path: memory.clone() };
        let pinned = check_targets(&[spec], &[]).unwrap().remove(0);
        let report = SleepReport { night: 1, accepted: true, ..SleepReport::default() };
        let proposal = Proposal {
            report: &report,
            report_md: String::new(),
            diagnostics: serde_json::Value::Null,
            docs: vec![ProposedDoc { pinned, text: text.to_owned() }],
            skill_roots: Vec::new(),
            live_skill_path: self.root().join("SKILL.md"),
            live_memory_path: memory,
        };
        let reserved = reserve(&self.root().join("project"), at_ms).unwrap();
        publish(&reserved, &proposal, &serde_json::Value::clone).unwrap().dir
    }

    fn remember(&self, dir: &Path) {
        let setup = self.setup();
        let row = HistoryRow {
            project: setup.project(),
            staging: dir.display().to_string(),
            ..HistoryRow::default()
        };
        StateFile::new(&setup.config.state_dir).update(|state| state.add_night(&row)).unwrap();
    }

    fn wanted(&self, wanted: Wanted) -> Result<PathBuf, AdoptError> {
        staging_of(&self.setup(), None, wanted)
    }

    fn adopt(&self, dir: &Path) {
        let adoption = Adoption {
            selection: Selection::Memory,
            derived: Vec::new(),
            actor: "anna".to_owned(),
            at_ms: AT,
        };
        let places = Places { temp_dir: self.root(), allowed: vec![self.root()] };
        adopt(dir, &adoption, &places).unwrap();
    }
}

#[test]
fn a_night_that_came_with_the_project_is_decided_about_by_its_name_alone() {
    let house = House::new();
    assert!(matches!(house.wanted(Wanted::Latest), Err(AdoptError::NoStaging(_))));
    let shipped = house.night(AT, "shipped\n");
    let err = house.wanted(Wanted::Latest).unwrap_err();
    assert!(matches!(&err, AdoptError::Refused(Refusal::Foreign(dir)) if *dir == shipped), "{err}");
    assert!(err.to_string().contains("--staging"), "{err}");
    assert_eq!(staging_of(&house.setup(), Some(&shipped), Wanted::Latest).unwrap(), shipped);
    let own = house.night(AT - 1_000_000, "own\n");
    house.remember(&own);
    std::fs::write(staging_root(&house.root().join("project")).join(".latest"), "20260528-202640")
        .unwrap();
    assert_eq!(house.wanted(Wanted::Latest).unwrap(), own);
}

#[test]
fn what_is_put_back_is_the_last_adoption_and_not_the_last_night() {
    let house = House::new();
    let first = house.night(AT, "first\n");
    house.remember(&first);
    house.adopt(&first);
    let second = house.night(AT + 1_000_000, "second\n");
    house.remember(&second);
    assert_eq!(house.wanted(Wanted::Latest).unwrap(), second);
    assert_eq!(house.wanted(Wanted::LatestAdopted).unwrap(), first);
}
