//! What a person names goes before what files say.

use super::*;
use serde_json::json;
use skillopt_sleep::config::Projects;
use skillopt_sleep::prompts::MINER;

/// A variable that nobody looks at.
const NONE: (&str, &str) = ("UNUSED", "");

struct House {
    dir: tempfile::TempDir,
}

impl House {
    fn new(config: &Value) -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join(".skillopt-sleep")).unwrap();
        std::fs::create_dir_all(dir.path().join("project")).unwrap();
        let path = dir.path().join(".skillopt-sleep/config.json");
        std::fs::write(path, config.to_string()).unwrap();
        Self { dir }
    }

    fn setup(&self, keys: Vec<Override>) -> NightSetup {
        self.read(keys, NONE).unwrap()
    }

    fn read(&self, keys: Vec<Override>, variable: (&str, &str)) -> Result<NightSetup, OrderError> {
        let order =
            NightOrder { project: Some(self.dir.path().join("project")), config_file: None, keys };
        NightSetup::read(&order, &self.env(variable))
    }

    fn env(&self, variable: (&str, &str)) -> Environment {
        Environment::from_pairs([("HOME", self.dir.path().to_str().unwrap()), variable])
    }
}

#[test]
fn a_project_that_is_named_goes_before_the_config_file() {
    let house = House::new(&json!({"projects": "all", "invoked_project": "/elsewhere"}));
    let setup = house.setup(Vec::new());
    let project = house.dir.path().canonicalize().unwrap().join("project");
    assert_eq!((setup.config.invoked_project, setup.config.projects), (project, Projects::Invoked));
    let wide = house.setup(vec![key("--scope", "projects", "all")]);
    assert_eq!(wide.config.projects, Projects::All);
}

#[test]
fn another_config_file_takes_the_place_of_the_usual_one() {
    let house = House::new(&json!({"seed": 1}));
    let other = house.dir.path().join("other.yaml");
    std::fs::write(&other, "edit_budget: 9\n").unwrap();
    let order = NightOrder {
        project: Some(house.dir.path().join("project")),
        config_file: Some(other),
        keys: Vec::new(),
    };
    let config = NightSetup::read(&order, &house.env(NONE)).unwrap().config;
    assert_eq!((config.seed, config.edit_budget), (42, 9));
}

#[test]
fn prompts_of_a_person_lie_beside_the_state_or_where_the_variable_says() {
    let house = House::new(&json!({}));
    let write = |name: &str, text: &str| {
        let path = house.dir.path().join(name);
        std::fs::write(&path, json!({"miner": text, "nobodys": "x"}).to_string()).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let read = |file: &str| house.read(Vec::new(), ("SKILLOPT_SLEEP_PROMPTS_PATH", file));
    let used = |file: &str| read(file).unwrap().prompts.text(&MINER).to_owned();
    assert_eq!(used(""), MINER.default, "there is no file yet");
    write(".skillopt-sleep/prompts.json", "beside __PROMPTS__");
    assert_eq!(used(""), "beside __PROMPTS__");
    let named = write("named.json", "named __PROMPTS__");
    assert_eq!(used(&named), "named __PROMPTS__");
    let broken = write("broken.json", "no place for what was asked");
    let err = read(&broken).unwrap_err().to_string();
    assert!(err.contains("broken.json") && err.contains("__PROMPTS__"), "{err}");
}

#[test]
fn every_home_and_store_is_read_where_its_key_says() {
    let places = [
        ("claude_home", "/h/claude"),
        ("codex_home", "/h/codex"),
        ("cursor_home", "/h/cursor"),
        ("pi_home", "/h/pi"),
        ("vscode_workspace_storage", "/h/code"),
        ("copilot_cli_session_store", "/h/copilot.db"),
        ("opencode_db", "/h/opencode.db"),
    ];
    let keys = places.map(|(name, place)| key("--set", name, place)).to_vec();
    let house = House::new(&json!({}));
    let workspaces = ["/w/one", "/w/two"].join(&System::HERE.separator().to_string());
    let variable = ("SKILLOPT_DEVIN_WORKSPACES", workspaces.as_str());
    let setup = house.read(keys, variable).unwrap();
    let found = harvest_options(&setup, &house.env(variable), 0).unwrap().homes;
    let expect = places.map(|(_, place)| Some(PathBuf::from(place)));
    let vscode = found.vscode_storage.first().cloned();
    let stores = [vscode, found.copilot_cli, found.opencode];
    let homes = [found.claude, found.codex, found.cursor, found.pi];
    assert_eq!([&homes[..], &stores[..]].concat(), expect);
    assert_eq!(found.devin_workspaces, ["/w/one", "/w/two"]);
    let own = harvest_options(&setup, &house.env(NONE), 0).unwrap().homes;
    assert_eq!(own.devin_workspaces, [setup.project()], "that of the night, where nobody says");
}

#[test]
fn settings_that_are_kept_come_back_as_they_were() {
    let keys = vec![key("--model", "model", "m"), key("--set seed", "seed", 7)];
    let order = NightOrder { project: None, config_file: Some("/c.json".into()), keys };
    let kept = order.kept(Some(Path::new("/tasks.json")), &[]);
    let back = NightOrder::of_kept("/p".into(), &kept);
    assert_eq!(NightOrder::kept_tasks_file(&kept), Some("/tasks.json".into()));
    assert_eq!(NightOrder::kept_tasks_file(&order.kept(None, &[])), None);
    assert_eq!((back.project, back.config_file), (Some("/p".into()), order.config_file));
    assert_eq!(back.keys, order.keys);
    assert_eq!(NightOrder::of_kept("/p".into(), "").keys, []);
}

#[test]
fn keys_of_models_are_kept_but_for_secrets() {
    let order = NightOrder::default();
    let kept = |words: &[&str]| {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        order.kept(None, &cfg_options(&words).unwrap())
    };
    let plain = kept(&["model.target_temperature=0", "env.note=a=b"]);
    let back = NightOrder::kept_cfg_options(&plain).unwrap();
    let words: Vec<String> = back.iter().map(|one| format!("{}={}", one.path, one.value)).collect();
    assert_eq!(words, ["model.target_temperature=0", "env.note=a=b"]);
    let secret = kept(&["model.target_temperature=0", "model.address=https://me:Hidden1@host/v1"]);
    assert!(!secret.contains("Hidden1"), "{secret}");
    let refused = NightOrder::kept_cfg_options(&secret).unwrap_err().to_string();
    assert!(refused.contains("model.address") && refused.contains("command"), "{refused}");
    assert!(NightOrder::kept_cfg_options("").unwrap().is_empty());
}

#[test]
fn skills_of_other_agents_may_be_adopted_into() {
    let house = House::new(&json!({"codex_home": "/c", "cursor_home": "/u"}));
    let allowed = places(&house.setup(Vec::new())).allowed;
    for folder in ["/c/skills", "/u/skills"] {
        assert!(allowed.contains(&PathBuf::from(folder)), "{allowed:?}");
    }
}

#[test]
fn the_home_is_where_this_system_says_and_no_file_in_a_project_moves_it() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join(".env");
    let variable = homes::home_variable(System::HERE);
    std::fs::write(&file, format!("{variable}=/elsewhere\n")).unwrap();
    let bare = Environment::default().with_files(&[file.as_path()]);
    assert_eq!(home_of(&bare), None);
    let env = Environment::from_pairs([(variable, "/home/me")]).with_files(&[file.as_path()]);
    assert_eq!(home_of(&env), Some("/home/me".into()));
}
