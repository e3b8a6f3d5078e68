//! From arguments to command lines, without a client.

use super::super::arguments::{Argument, BACKENDS, Kind, SOURCES};
use super::super::commands::Length;
use super::super::line::{BadArguments, Wanted, wanted};
use super::super::policy::{Policy, TimeLimits};
use super::super::tools::{TOOLS, Tool};
use super::policy;
use rmcp::model::JsonObject;
use rstest::rstest;
use serde_json::{Value, json};
use skillopt_sleep::config::BackendName;
use skillopt_sleep::harvest::Source;
use std::path::Path;

fn object(value: Value) -> JsonObject {
    match value {
        Value::Object(object) => object,
        other => panic!("{other}"),
    }
}

fn line(tool: &str, arguments: Value) -> Result<Wanted, BadArguments> {
    wanted(Tool::find(tool).expect("a tool"), &object(arguments), &policy())
}

#[rstest]
#[case("sleep_run", json!({"max_tasks": true}), "whole number from 0 to 1000000")]
#[case("sleep_run", json!({"max_tasks": 5.0}), "whole number")]
#[case("sleep_run", json!({"max_tasks": "5"}), "whole number")]
#[case("sleep_run", json!({"max_tasks": -1}), "whole number")]
#[case("sleep_run", json!({"max_tasks": 1_000_001}), "whole number")]
#[case("sleep_run", json!({"lookback_hours": u64::MAX}), "whole number")]
#[case("sleep_run", json!({"progress": 1}), "true or false")]
#[case("sleep_run", json!({"progress": "true"}), "true or false")]
#[case("sleep_run", json!({"project": null}), "takes a text")]
#[case("sleep_run", json!({"project": ""}), "`project` is empty")]
#[case("sleep_run", json!({"project": "  "}), "`project` is empty")]
#[case("sleep_run", json!({"project": "a\nb"}), "control character")]
#[case("sleep_run", json!({"project": "a\u{0}b"}), "control character")]
#[case("sleep_run", json!({"project": "a\u{85}b"}), "control character")]
#[case("sleep_run", json!({"model": "m".repeat(201)}), "more than 200 characters")]
#[case("sleep_run", json!({"backend": "gpt"}), "one of mock, claude")]
#[case("sleep_run", json!({"backend": "MOCK"}), "one of mock")]
#[case("sleep_run", json!({"source": "emacs"}), "one of claude")]
#[case("sleep_run", json!({"skills": ["a"]}), "sleep_run has no argument `skills`")]
#[case("sleep_run", json!({"hour": 3}), "no argument `hour`")]
#[case("sleep_run", json!({"codex_path": "/bin/sh"}), "no argument `codex_path`")]
#[case("sleep_run", json!({"config": "x.json"}), "no argument `config`")]
#[case("sleep_run", json!({"auto_adopt": true}), "--allow-auto-adopt")]
#[case("sleep_run", json!({"auto_adopt": false}), "--allow-auto-adopt")]
#[case("sleep_status", json!({"auto_adopt": true}), "no argument `auto_adopt`")]
#[case("sleep_status", json!({"Project": "/p"}), "no argument `Project`")]
#[case("sleep_schedule", json!({"hour": 24}), "whole number from 0 to 23")]
#[case("sleep_schedule", json!({"minute": 60}), "whole number from 0 to 59")]
#[case("sleep_unschedule", json!({"all": true}), "no argument `all`")]
#[case("sleep_adopt", json!({"skills": []}), "list of 1 to 100 texts")]
#[case("sleep_adopt", json!({"skills": ["a", "a"]}), "names one thing twice")]
#[case("sleep_adopt", json!({"skills": ["a", 1]}), "list of 1 to 100 texts")]
#[case("sleep_adopt", json!({"skills": ["a", ""]}), "`skills` is empty")]
#[case("sleep_adopt", json!({"skills": "a"}), "list of 1 to 100 texts")]
#[case("sleep_adopt", json!({"skills": ["a"], "all_skills": true}), "not several")]
#[case("sleep_adopt", json!({"legacy": true, "all_skills": true}), "not several")]
#[case("sleep_adopt", json!({"edits": []}), "list of 1 to 100 whole numbers")]
#[case("sleep_adopt", json!({"edits": [0]}), "whole numbers from 1 to 10000")]
#[case("sleep_adopt", json!({"edits": [1, 1]}), "names one thing twice")]
#[case("sleep_adopt", json!({"edits": "1,2"}), "list of 1 to 100 whole numbers")]
#[case("sleep_adopt", json!({"hour": 3}), "no argument `hour`")]
#[case("sleep_reject", json!({}), "sleep_reject needs `reason`")]
#[case("skillopt_train", json!({}), "skillopt_train needs `config`")]
#[case("skillopt_eval", json!({"config": "c.yaml"}), "skillopt_eval needs `skill`")]
#[case("skillopt_train", json!({"config": "c", "use_gate": true}), "one of true, false")]
#[case("skillopt_train", json!({"config": "c", "num_epochs": 0}), "whole number from 1")]
fn what_the_schema_does_not_allow_is_refused(
    #[case] tool: &str,
    #[case] arguments: Value,
    #[case] words: &str,
) {
    let err = line(tool, arguments).expect_err("refused").to_string();
    assert!(err.contains(words), "{err}");
}

#[test]
fn a_text_that_looks_like_a_flag_stays_the_value_of_its_flag() {
    let wanted = line("sleep_adopt", json!({"skills": ["--legacy", "-x"]})).expect("allowed");
    let expect = ["sleep", "adopt", "--skill=--legacy", "--skill=-x", "--json"];
    assert_eq!(wanted.line.arguments, expect);
}

#[test]
fn json_can_be_switched_off_and_modes_that_are_off_do_not_count() {
    let arguments = json!({"skills": ["a"], "all_skills": false, "json": false});
    let wanted = line("sleep_adopt", arguments).expect("allowed");
    assert_eq!(wanted.line.arguments, ["sleep", "adopt", "--skill=a"]);
    assert!(!wanted.is_json);
}

#[test]
fn a_training_run_works_in_the_folder_of_its_project() {
    let arguments = json!({"project": "/p", "config": "configs/a.yaml", "use_gate": "false"});
    let wanted = line("skillopt_train", arguments).expect("allowed");
    let said = &wanted.line.arguments;
    assert_eq!(said[..3], ["train", "--config=configs/a.yaml", "--use-gate=false"]);
    assert_eq!(said.last().map(String::as_str), Some("--json"));
    assert_eq!(wanted.line.folder.as_deref(), Some(Path::new("/p")));
    assert_eq!(wanted.line.time_limit, TimeLimits::default().run);
}

#[rstest]
#[case("skillopt_train", json!({"config": "c"}))]
#[case("skillopt_eval", json!({"config": "c", "skill": "s"}))]
fn a_config_of_a_client_names_no_program_no_address_and_no_key(
    #[case] tool: &str,
    #[case] arguments: Value,
) {
    let said = line(tool, arguments).expect("allowed").line.arguments;
    let held: Vec<&str> = said
        .iter()
        .skip_while(|word| *word != "--cfg-options")
        .skip(1)
        .map(String::as_str)
        .collect();
    for key in [
        "model.codex_exec_path=",
        "model.claude_code_exec_path=",
        "model.copilot_exec_home=",
        "model.target_api_key_env=",
        "model.optimizer_openai_compatible_base_url=",
        "model.azure_openai_endpoint=",
        "model.claude_setting_sources=",
        "model.codex_exec_sandbox=",
    ] {
        assert!(held.contains(&key), "{key}");
    }
    assert!(!held.contains(&"model.target="), "which model is asked stays the config's");
}

#[rstest]
#[case("sleep_run")]
#[case("sleep_dry_run")]
#[case("sleep_schedule")]
fn a_night_adopts_by_itself_only_where_the_operator_allows_it(#[case] tool: &str) {
    let held = "--set=auto_adopt=false".to_owned();
    let given = JsonObject::default();
    let tool = Tool::find(tool).expect("a tool");
    assert!(wanted(tool, &given, &policy()).expect("allowed").line.arguments.contains(&held));
    let allowed = Policy { auto_adopt: true, ..policy() };
    assert!(!wanted(tool, &given, &allowed).expect("allowed").line.arguments.contains(&held));
}

/// A value that the argument takes; `is_odd` for one that is hard to pass on.
fn value_of(argument: &Argument, is_odd: bool) -> Value {
    let text = if is_odd { "--help $(x) 'ö'" } else { "a" };
    match argument.kind {
        Kind::Text(_) => json!(text),
        Kind::Word(words) => json!(words.last()),
        Kind::Flag => json!(true),
        Kind::Number(least, most) => json!(if is_odd { most } else { least }),
        Kind::Texts(_) => json!([text, "-b"]),
        Kind::Numbers(least, most) => json!([least, most]),
    }
}

#[rstest]
fn our_program_takes_what_every_tool_makes_of_each_argument(#[values(false, true)] is_odd: bool) {
    let policy = Policy::of_stdio(true, TimeLimits::default());
    for tool in TOOLS.iter().filter(|tool| !tool.command.is_empty()) {
        for argument in tool.arguments() {
            let needed = tool.arguments().filter(|arg| tool.required.contains(&arg.name));
            let mut given: JsonObject =
                needed.map(|arg| (arg.name.to_owned(), value_of(arg, is_odd))).collect();
            given.insert(argument.name.to_owned(), value_of(argument, is_odd));
            let wanted = wanted(tool, &given, &policy).expect("allowed");
            let words = wanted.line.arguments.iter().map(String::as_str);
            if let Err(err) = crate::cli::check_arguments(words) {
                panic!("{} with {given:?}: {err}", tool.name);
            }
        }
    }
}

#[rstest]
#[case("sleep_adopt", json!({}))]
#[case("sleep_reject", json!({"reason": "no"}))]
#[case("sleep_revert", json!({}))]
fn a_decision_is_made_with_the_places_that_its_night_was_given(
    #[case] tool: &str,
    #[case] mut arguments: Value,
) {
    arguments["target_skill_path"] = json!("skills/a/SKILL.md");
    arguments["skill_roots"] = json!(["more", "roots"]);
    let said = line(tool, arguments).expect("allowed").line.arguments;
    for word in ["--target-skill-path=skills/a/SKILL.md", "--skill-root=more", "--skill-root=roots"]
    {
        assert!(said.iter().any(|known| known == word), "{word}: {said:?}");
    }
}

#[rstest]
#[case("sleep_status", Length::Short)]
#[case("sleep_diff", Length::Short)]
#[case("sleep_adopt", Length::Short)]
#[case("sleep_run", Length::Long)]
#[case("sleep_dry_run", Length::Long)]
fn nights_wait_for_nights_alone(#[case] tool: &str, #[case] length: Length) {
    assert_eq!(line(tool, json!({})).expect("allowed").line.length, length);
}

#[test]
fn names_of_tools_and_arguments_are_unique() {
    for (nth, tool) in TOOLS.iter().enumerate() {
        assert!(TOOLS[..nth].iter().all(|other| other.name != tool.name), "{}", tool.name);
        let names: Vec<&str> = tool.arguments().map(|argument| argument.name).collect();
        for (nth, name) in names.iter().enumerate() {
            assert!(!names[..nth].contains(name), "{name} of {}", tool.name);
        }
        assert!(tool.required.iter().all(|name| names.contains(name)), "{}", tool.name);
    }
}

#[test]
fn f54_backends_and_sources_are_those_of_nights() {
    for name in BACKENDS {
        assert_eq!(BackendName::parse(name).map(BackendName::as_str), Ok(name));
    }
    assert_eq!(BackendName::all().take(10).collect::<Vec<_>>(), BACKENDS[..10]);
    let sources: Vec<&str> = Source::ALL.into_iter().map(Source::name).chain(["auto"]).collect();
    assert_eq!(sources, SOURCES);
}
