//! `skillopt runs rerun`, `fork` and `resume` as a person runs them, and `train` in a folder that holds a run.

use crate::binary::{Said, command, train};
use anyhow::Context;
use std::path::Path;

const SAMPLE: &str = "configs/searchqa/sample.yaml";
const SMALL: [&str; 4] =
    ["train.num_epochs=1", "train.batch_size=28", "model.mock_latency_ms=0", "limits.max_calls=10"];

fn say(data_dir: &Path, arguments: &[&str]) -> anyhow::Result<Said> {
    Ok(command(data_dir).args(arguments).output().context("running skillopt")?.into())
}

#[test]
fn a_capped_run_is_resumed_forked_and_made_again() -> anyhow::Result<()> {
    let dir = tempfile::tempdir()?;
    let data = dir.path();
    let out = dir.path().join("out").display().to_string();
    let start = |more: &[&str]| {
        let head = ["--config", SAMPLE, "--out-root", &out, "--json", "--cfg-options"];
        train(data, &[&head[..], &SMALL, more].concat())
    };
    let capped = start(&[])?;
    assert_eq!(capped.code, 1, "{}", capped.err);
    let run = capped.json()?["run_id"].as_str().context("a run")?.to_owned();

    let tried = |more: &[&str]| {
        let head = ["--config", SAMPLE, "--out-root", &out, "--dry-run", "--cfg-options"];
        train(data, &[&head[..], &SMALL, more].concat())
    };
    let same = tried(&[])?;
    assert_eq!(same.code, 0, "{}", same.err);
    assert!(same.err.contains("is capped; the command would go on with it"), "{}", same.err);
    let other = tried(&["train.seed=7"])?;
    assert_eq!(other.code, 2, "{}", other.err);
    assert!(other.err.contains("was made with something else"), "{}", other.err);

    let other = start(&["train.seed=7"])?;
    assert_eq!(other.code, 2, "{}", other.err);
    for expect in ["train.seed: 42 → 7 (changes results", "skillopt runs fork ", "train.seed=7"] {
        assert!(other.err.contains(expect), "{expect}: {}", other.err);
    }
    let refused = say(data, &["runs", "resume", &run, "--cfg-options", "train.seed=7"])?;
    assert_eq!(refused.code, 2, "{}", refused.err);
    assert!(refused.err.contains("changes results"), "{}", refused.err);
    let safe = ["limits.max_calls=0", "env.workers=3"];
    let resumed = say(data, &[&["runs", "resume", &run, "--cfg-options"], &safe[..]].concat())?;
    assert_eq!(resumed.code, 0, "{}", resumed.err);
    assert!(resumed.err.contains("env.workers: 8 → 3 (safe"), "{}", resumed.err);

    let fork =
        ["runs", "fork", &run, "--at-version", "1", "--cfg-options", "optimizer.learning_rate=2"];
    let dry = say(data, &[&fork[..], &["--dry-run"]].concat())?;
    assert_eq!(dry.code, 0, "{}", dry.err);
    assert!(dry.err.contains("optimizer.learning_rate: 4 → 2"), "{}", dry.err);
    assert!(dry.out.contains("2 steps; at most"), "{}", dry.out);
    let forked = say(data, &[&fork[..], &["--json"]].concat())?;
    assert_eq!(forked.code, 0, "{}", forked.err);
    let fork = forked.json()?["run_id"].as_str().context("a run")?.to_owned();
    let shown = say(data, &["runs", "show", &fork])?;
    assert!(shown.out.contains("forked from ") && shown.out.contains(" at v1"), "{}", shown.out);
    assert!(shown.out.contains("optimizer.learning_rate: 4 → 2"), "{}", shown.out);

    let again = say(data, &["runs", "rerun", &run, "--json"])?;
    assert_eq!(again.code, 0, "{}", again.err);
    let detail =
        say(data, &["runs", "show", again.json()?["run_id"].as_str().context("a run")?, "--json"])?;
    let detail = detail.json()?;
    assert_eq!(detail["origin"]["kind"], "rerun");
    assert_eq!(detail["summary"]["spend"]["target"]["calls"], 0, "recorded answers repeat it");
    Ok(())
}
