//! `skillopt config` and `skillopt import` as a person runs them.

use crate::binary::{Said, command, train};
use anyhow::Context;
use serde_json::Value;
use std::path::Path;

const SAMPLE: &str = "configs/searchqa/sample.yaml";

fn say(data_dir: &Path, arguments: &[&str]) -> anyhow::Result<Said> {
    Ok(command(data_dir).args(arguments).output().context("running skillopt")?.into())
}

#[test]
fn config_show_names_the_source_of_each_value() -> anyhow::Result<()> {
    let dir = tempfile::tempdir()?;
    let arguments = ["config", "show", "--config", SAMPLE, "--num-epochs", "2", "--cfg-options"];
    let said = say(dir.path(), &[&arguments[..], &["train.seed=7"]].concat())?;
    assert_eq!(said.code, 0, "{}", said.err);
    for expect in [
        "train.num_epochs = 2  (flag --num-epochs)",
        "train.seed = 7  (flag --cfg-options train.seed)",
        "  (base configs/_base_/default.yaml:",
        "  (file configs/searchqa/sample.yaml:",
        "  (default)",
    ] {
        assert!(said.out.contains(expect), "{expect}: {}", said.out);
    }
    let said = say(dir.path(), &["config", "show", "--config", SAMPLE, "--json"])?;
    let rows = said.json()?;
    let backend = rows.as_array().context("rows")?.iter().find(|row| row["key"] == "model.backend");
    assert_eq!(backend.context("a row")?["value"], "mock");
    Ok(())
}

#[test]
fn secrets_on_the_command_line_are_refused_and_never_repeated() -> anyhow::Result<()> {
    let dir = tempfile::tempdir()?;
    for word in ["model.api_key=sk-1234", "azure_openai_api_key=sk-1234", "minimax_api_key=sk-1234"]
    {
        for head in [&["config", "show"][..], &["train"][..]] {
            let said =
                say(dir.path(), &[head, &["--config", SAMPLE, "--cfg-options", word]].concat())?;
            assert_eq!(said.code, 2, "{}", said.err);
            assert!(said.err.contains("put it in an environment variable"), "{}", said.err);
            assert!(!(said.out + &said.err).contains("sk-1234"));
        }
    }
    Ok(())
}

#[test]
fn config_check_has_three_exit_codes_and_names_file_line_and_suggestion() -> anyhow::Result<()> {
    let dir = tempfile::tempdir()?;
    let sound = say(dir.path(), &["config", "check", SAMPLE])?;
    assert_eq!((sound.code, sound.out.trim()), (0, "configs/searchqa/sample.yaml: no problems"));
    let file = dir.path().join("bad.yaml");
    std::fs::write(&file, "train:\n  seed: 7\n  batch_sise: 4\n")?;
    let file = file.to_string_lossy();
    let bad = say(dir.path(), &["config", "check", &file])?;
    assert_eq!(bad.code, 1);
    assert!(bad.err.contains("bad.yaml:3: train.batch_sise"), "{}", bad.err);
    assert!(bad.err.contains("did you mean train.batch_size?"), "{}", bad.err);
    let bad = say(dir.path(), &["config", "check", &file, "--json"])?.json()?;
    assert_eq!(
        (&bad["valid"], &bad["problems"][0]["place"]["line"]),
        (&Value::Bool(false), &3.into())
    );
    assert_eq!(say(dir.path(), &["config", "check", "no/such.yaml"])?.code, 2);
    Ok(())
}

#[test]
fn who_asks_for_json_is_told_in_json_what_was_asked_wrongly() -> anyhow::Result<()> {
    let dir = tempfile::tempdir()?;
    let skill = "data/searchqa_sample/SKILL.md";
    let taken = dir.path().join("taken");
    std::fs::create_dir(&taken)?;
    std::fs::write(taken.join("history.json"), "[]")?;
    let taken = taken.to_string_lossy();
    let wrong = ["--config", SAMPLE, "--cfg-options", "train.batch_sise=4"];
    let cases: [(&[&str], &[&str], &str); 8] = [
        (&["train"], &[], "no_config"),
        (&["train"], &wrong, "bad_config"),
        (&["train"], &["--config", SAMPLE, "--out-root", &taken], "folder_taken"),
        (&["train"], &["--config", SAMPLE, "--skill-init", "no/such.md"], "bad_config"),
        (&["eval", "--skill", skill], &wrong, "bad_config"),
        (&["eval", "--skill", "no/such.md"], &["--config", SAMPLE], "bad_config"),
        (&["import"], &["no/such/folder"], "not_found"),
        (&["config", "show"], &wrong, "bad_config"),
    ];
    for (head, more, word) in cases {
        let said = say(dir.path(), &[head, &["--json"], more].concat())?;
        assert_eq!(said.code, 2, "{head:?} {more:?}: {}", said.err);
        let told = said.json()?;
        assert_eq!((&told["status"], &told["error"]), (&"failed".into(), &word.into()), "{told}");
        let message = told["message"].as_str().context("a message")?;
        assert!(said.err.contains(message.lines().next().unwrap_or_default()), "{message}");
        assert_eq!(said.out.lines().count(), 1, "{}", said.out);
    }
    Ok(())
}

#[test]
fn config_schema_prints_a_schema() -> anyhow::Result<()> {
    let dir = tempfile::tempdir()?;
    let said = say(dir.path(), &["config", "schema"])?;
    let schema: Value = serde_json::from_str(&said.out)?;
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    assert_eq!(schema["properties"]["train"]["properties"]["seed"]["default"], 42);
    Ok(())
}

#[test]
fn a_folder_of_another_data_directory_is_imported_once_and_never_resumed() -> anyhow::Result<()> {
    let dir = tempfile::tempdir()?;
    let (home, other, out) =
        (dir.path().join("home"), dir.path().join("other"), dir.path().join("out"));
    let out = out.to_string_lossy();
    let trained = train(
        &home,
        &[
            "--config",
            SAMPLE,
            "--out-root",
            &out,
            "--json",
            "--cfg-options",
            "model.mock_latency_ms=0",
            "train.num_epochs=1",
        ],
    )?;
    assert_eq!(trained.code, 0, "{}", trained.err);
    let first = say(&other, &["import", &out, "--json"])?.json()?;
    assert_eq!((&first["change"], &first["status"]), (&"new".into(), &"done".into()), "{first}");
    assert_eq!(say(&other, &["import", &out, "--json"])?.json()?["change"], "unchanged");
    assert_eq!(say(&home, &["import", &out, "--json"])?.json()?["change"], "own");
    let run = first["run"].as_str().context("a run")?;
    let resumed = say(&other, &["runs", "resume", run])?;
    assert_eq!(resumed.code, 1);
    assert!(resumed.err.contains("an imported run cannot be resumed"), "{}", resumed.err);
    assert_eq!(say(&other, &["import", "no/such/folder"])?.code, 2);
    Ok(())
}
