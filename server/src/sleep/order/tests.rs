//! What a person names goes before what files say.

use super::*;
use serde_json::json;
use skillopt_sleep::config::Projects;

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
        let order =
            NightOrder { project: Some(self.dir.path().join("project")), config_file: None, keys };
        let home = self.dir.path().to_str().unwrap();
        NightSetup::read(&order, &Environment::from_pairs([("HOME", home)])).unwrap()
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
