//! Nights as a person has them: from sessions of an agent to a proposal, to live files, and back. Models are scripted
//! servers on loopback, or the simulation.

use crate::binary::{Said, command};
use crate::night_script::{MARK, RULE, answer, scripted, write_session, write_transcript};
use anyhow::{Context, ensure};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// A home with sessions of Claude Code, a project, and the folder of the program's own data.
struct House {
    dir: tempfile::TempDir,
}

impl House {
    fn new() -> anyhow::Result<Self> {
        let house = Self { dir: tempfile::tempdir()? };
        std::fs::create_dir_all(house.project())?;
        Ok(house)
    }

    fn home(&self) -> PathBuf {
        self.dir.path().join("home")
    }

    fn project(&self) -> PathBuf {
        self.dir.path().join("project")
    }

    fn skill(&self) -> PathBuf {
        self.home().join(".claude/skills/skillopt-sleep-learned/SKILL.md")
    }

    /// A session in which the person asked for one thing and said that it was wrong.
    fn add_session(&self, number: u32) -> anyhow::Result<()> {
        Ok(write_session(&self.home(), &self.project(), number)?)
    }

    fn command(&self, words: &[&str]) -> std::process::Command {
        let mut command = command(&self.dir.path().join("data"));
        command
            .env("HOME", self.home())
            .arg("sleep")
            .args(words)
            .arg("--project")
            .arg(self.project());
        command
    }

    fn sleep(&self, words: &[&str]) -> anyhow::Result<Said> {
        Ok(self.command(words).output().context("running skillopt")?.into())
    }

    /// A command that asks the server at `url`.
    fn ask(&self, verb: &str, url: &str, more: &[&str]) -> anyhow::Result<Said> {
        let address = format!("model.openai_compatible_base_url={url}");
        let backend = [verb, "--backend", "openai_compatible", "--model", "fake", "--json"];
        let models = ["--cfg-options", &address];
        self.sleep(&[&backend, more, &models].concat())
    }

    fn night(&self, url: &str) -> anyhow::Result<Value> {
        let said = self.ask("run", url, &["--lookback-hours", "0"])?;
        ensure!(said.code == 0, "{} {}", said.out, said.err);
        Ok(serde_json::from_str(&said.out)?)
    }
}

#[test]
fn a_night_leads_from_sessions_to_a_live_skill_and_back() -> anyhow::Result<()> {
    let house = House::new()?;
    (1..=8).try_for_each(|number| house.add_session(number))?;
    let server = scripted();
    let night = house.night(&server.url)?;
    assert_eq!((&night["n_sessions"], &night["n_tasks"]), (&json!(8), &json!(8)), "{night}");
    assert_eq!(
        (&night["accepted"], &night["gate_action"]),
        (&json!(true), &json!("accept_new_best")),
        "{night}"
    );
    assert_eq!((&night["baseline"], &night["candidate"]), (&json!(0.0), &json!(1.0)), "{night}");
    ensure!(night["n_validated"].as_u64() > Some(0), "{night}");
    ensure!(!house.skill().exists(), "nothing is live before a person adopts");

    let diff = house.sleep(&["diff"])?;
    ensure!(diff.out.contains(RULE), "{}", diff.out);
    let none = house.sleep(&["reopen"])?;
    ensure!(none.code == 0 && none.out.contains("nothing"), "{} {}", none.out, none.err);
    let rejected = house.sleep(&["reject", "--reason", "not now"])?;
    ensure!(rejected.code == 0, "{}", rejected.err);
    let refused = house.sleep(&["adopt", "--json"])?;
    assert_eq!(refused.code, 2, "what was turned down is not adopted: {}", refused.out);
    let reopened = house.sleep(&["reopen", "--only", "skill", "--json"])?;
    let reopened: Value = serde_json::from_str(&reopened.out)?;
    assert_eq!(reopened["reopened"], json!(["skill"]), "{reopened}");
    let adopted = house.sleep(&["adopt", "--json"])?;
    ensure!(adopted.code == 0, "{} {}", adopted.out, adopted.err);
    let live = std::fs::read_to_string(house.skill())?;
    ensure!(
        live.contains(RULE) && live.starts_with("---\nname: skillopt-sleep-learned\n"),
        "{live}"
    );
    let again = house.sleep(&["adopt", "--json"])?;
    assert_eq!(again.code, 2, "what is adopted cannot be adopted twice: {}", again.out);

    let reverted = house.sleep(&["revert"])?;
    ensure!(reverted.code == 0, "{}", reverted.err);
    ensure!(reverted.out.starts_with("put back: "), "{}", reverted.out);
    ensure!(!house.skill().exists(), "there was no file before");
    ensure!(!house.project().join("CLAUDE.md").exists(), "no empty memory is made");
    std::fs::write(house.skill(), "mine")?;
    let again = house.sleep(&["revert"])?;
    ensure!(again.code == 0 && again.out.starts_with("was put back before"), "{}", again.out);
    assert_eq!(std::fs::read_to_string(house.skill())?, "mine", "what came later stays");
    Ok(())
}

#[cfg(unix)]
#[test]
fn c06_the_second_night_mines_nothing_from_the_first_ones_calls() -> anyhow::Result<()> {
    let house = House::new()?;
    (1..=4).try_for_each(|number| house.add_session(number))?;
    let sessions = house.home().join(".claude/projects");
    // The program keeps what it is asked, where nights look for sessions.
    let answer =
        json!([{"intent": "Write the notes", "checks": [{"op": "contains", "arg": MARK}]}]);
    let script = json!({"answer": answer.to_string(), "sessions": sessions});
    let bin = house.dir.path().join("bin");
    std::fs::create_dir_all(&bin)?;
    std::fs::write(bin.join("script.json"), script.to_string())?;
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_fake-agent"), bin.join("claude"))?;
    let path = format!("{}:/usr/bin:/bin", bin.display());
    let night = || -> anyhow::Result<Value> {
        let words =
            ["run", "--backend", "claude", "--lookback-hours", "0", "--scope", "all", "--json"];
        let said: Said = house.command(&words).env("PATH", &path).output()?.into();
        ensure!(said.code == 0, "{} {}", said.out, said.err);
        Ok(serde_json::from_str(&said.out)?)
    };
    let first = night()?;
    assert_eq!(first["n_sessions"], 4, "{first}");
    let own = std::fs::read_dir(&sessions)?.count() - 1;
    ensure!(own > 0, "the program kept sessions of its own");
    let second = night()?;
    assert_eq!((&second["n_sessions"], &second["n_tasks"]), (&json!(0), &json!(0)), "{second}");
    house.add_session(7)?;
    assert_eq!(night()?["n_sessions"], 1, "what is new is taken");
    Ok(())
}

#[test]
fn a_night_without_sessions_calls_nobody() -> anyhow::Result<()> {
    let house = House::new()?;
    (1..=6).try_for_each(|number| house.add_session(number))?;
    let server = scripted();
    house.night(&server.url)?;
    let n_calls = server.seen().len();
    let second = house.night(&server.url)?;
    assert_eq!((&second["n_sessions"], &second["n_tasks"]), (&json!(0), &json!(0)), "{second}");
    assert_eq!(server.seen().len(), n_calls);
    Ok(())
}

#[test]
fn json_is_one_document_whatever_is_wrong() -> anyhow::Result<()> {
    let house = House::new()?;
    for command in ["run", "status", "diff", "harvest", "adopt", "revert", "schedule"] {
        let said = house.sleep(&[command, "--set", "gate_metric", "--json"])?;
        assert_eq!(said.code, 2, "{command}: {} {}", said.out, said.err);
        let value: Value = serde_json::from_str(&said.out)?;
        assert_eq!(value["error"], "bad_config", "{command}: {value}");
    }
    std::fs::write(house.dir.path().join("data"), "no folder")?;
    for command in ["run", "adopt"] {
        let said = house.sleep(&[command, "--json"])?;
        assert_eq!(said.code, 1, "{command}: {} {}", said.out, said.err);
        let value: Value = serde_json::from_str(&said.out)?;
        assert_eq!(value["ok"], false, "{command}: {value}");
    }
    Ok(())
}

#[test]
fn keys_of_models_that_are_not_asked_are_checked_as_well() -> anyhow::Result<()> {
    let house = House::new()?;
    for backend in ["mock", "handoff"] {
        let words = ["run", "--backend", backend, "--json", "--cfg-options"];
        let said = house.sleep(&[&words[..], &["model.no_such=1"]].concat())?;
        assert_eq!(said.code, 2, "{backend}: {} {}", said.out, said.err);
        let value: Value = serde_json::from_str(&said.out)?;
        assert_eq!(value["error"], "bad_config", "{backend}: {value}");
    }
    let said = house.sleep(&["run", "--cfg-options", "model.target_temperature=0"])?;
    assert_eq!(said.code, 0, "{}", said.err);
    Ok(())
}

/// The fields that the reference system's JSON of a night has.
const FIELDS_OF_A_NIGHT: [&str; 18] = [
    "night",
    "accepted",
    "gate_action",
    "no_edits_reason",
    "baseline",
    "candidate",
    "n_tasks",
    "n_sessions",
    "n_accepted_edits",
    "n_rejected_edits",
    "edits",
    "rejected_edits",
    "gate_no_regression",
    "gate_trials",
    "skill_groups",
    "notes",
    "staging_dir",
    "staged_skills",
];

#[test]
fn content_sessions_leave_nothing_to_gain_and_every_command_says_so() -> anyhow::Result<()> {
    let house = House::new()?;
    for number in 1..=4 {
        let asked = format!("Write the release notes of module number {number} for the team");
        let turns = [
            ("user", asked),
            ("assistant", "Here they are.".to_owned()),
            ("user", "thanks, perfect".to_owned()),
        ];
        write_transcript(&house.home(), &house.project(), &format!("s{number}"), &turns)?;
    }
    let run = house.sleep(&["run", "--backend", "mock", "--lookback-hours", "0", "--progress"])?;
    ensure!(run.code == 0, "{} {}", run.out, run.err);
    for words in [
        "night 1 (simulated): 4 sessions, 4 tasks\n",
        "\nheld-out 1.0000 -> 1.0000 (n ",
        "; gate reject, not accepted\n",
        "\nno edits: ",
    ] {
        ensure!(run.out.contains(words), "{words:?} is not in {}", run.out);
    }
    ensure!(run.err.lines().any(|line| line.starts_with("[sleep] ")), "{}", run.err);
    ensure!(!run.out.contains("sleep adopt"), "there is nothing to adopt: {}", run.out);
    let staged = run.out.lines().find_map(|line| line.strip_prefix("staged: "));
    let staged = staged.context("a folder")?;
    ensure!(Path::new(staged).join("report.md").is_file(), "{staged}");
    for entry in std::fs::read_dir(staged)? {
        let name = entry?.file_name();
        ensure!(!name.to_string_lossy().starts_with("proposed_"), "{name:?}");
    }

    let status = house.sleep(&["status"])?;
    ensure!(status.code == 0, "{} {}", status.out, status.err);
    for words in ["nights: 1\n", &format!("latest: {staged}\n"), "\n# Night 1\n"] {
        ensure!(status.out.contains(words), "{words:?} is not in {}", status.out);
    }
    let status: Value = serde_json::from_str(&house.sleep(&["status", "--json"])?.out)?;
    assert_eq!((&status["night"], &status["latest_staging"]), (&json!(1), &json!(staged)));
    assert_eq!(status["history_tail"].as_array().map(Vec::len), Some(1), "{status}");
    assert_eq!(status["staged_skills"], json!([]), "{status}");
    assert_eq!(status["adopted_skills"], json!([]), "{status}");
    assert_eq!(status["has_managed_proposal"], false, "{status}");
    let nights = house.sleep(&["nights"])?;
    ensure!(nights.out.contains("  night 1  1.0000 -> 1.0000"), "{}", nights.out);

    let adopted = house.sleep(&["adopt"])?;
    let words = "(proposal contained no accepted changes)\n";
    assert_eq!((adopted.code, adopted.out.as_str()), (0, words), "{}", adopted.err);
    let next = house.sleep(&["dry-run", "--backend", "mock", "--json"])?;
    let next: Value = serde_json::from_str(&next.out)?;
    for field in FIELDS_OF_A_NIGHT {
        ensure!(next.get(field).is_some(), "{field} is not in {next}");
    }
    Ok(())
}

#[test]
fn skills_of_their_own_are_adopted_by_choice_and_the_managed_one_as_legacy() -> anyhow::Result<()> {
    let house = House::new()?;
    let skill = house.home().join(".claude/skills/letters/SKILL.md");
    std::fs::create_dir_all(skill.parent().context("a folder")?)?;
    std::fs::write(&skill, "---\nname: letters\ndescription: Letters.\n---\n# Letters\n")?;
    let task = |id: &str, split: &str| {
        json!({
            "id": id, "intent": format!("Write the letter {id}"), "split": split,
            "skill_hint": "letters", "reference_kind": "exact",
            "reference": "one long reference", "tags": ["rule:json-only"],
        })
    };
    let tasks = json!({"tasks": [task("a", "train"), task("b", "val"), task("c", "val")]});
    let file = house.dir.path().join("tasks.json");
    std::fs::write(&file, tasks.to_string())?;
    let words = ["run", "--backend", "mock", "--set", "multi_skill_fanout=true", "--tasks-file"];
    let run = house.sleep(&[&words[..], &[file.to_str().context("UTF-8")?]].concat())?;
    ensure!(run.code == 0, "{} {}", run.out, run.err);
    ensure!(run.out.contains("\n+ [skill/add] "), "{}", run.out);
    ensure!(run.out.contains("sleep adopt --all-skills, or --skill NAME"), "{}", run.out);

    let adopt = |choice: &[&str]| -> anyhow::Result<(i32, Value)> {
        let said = house.sleep(&[&["adopt", "--json"][..], choice].concat())?;
        Ok((said.code, serde_json::from_str(&said.out)?))
    };
    let (code, said) = adopt(&[])?;
    assert_eq!((code, &said["error"]), (2, &json!("selection_required")), "{said}");
    assert_eq!(said["available_skills"], json!(["letters"]), "{said}");
    for choice in [&["--skill", "other"], &["--all-skills", "--legacy"]] {
        let (code, said) = adopt(choice)?;
        assert_eq!((code, &said["error"]), (2, &json!("invalid_selection")), "{said}");
    }
    let (code, said) = adopt(&["--all-skills"])?;
    assert_eq!((code, &said["mode"]), (0, &json!("skills")), "{said}");
    assert_eq!(said["adopted_skills"][0]["skill_name"], "letters", "{said}");
    let live = std::fs::read_to_string(&skill)?;
    ensure!(live.starts_with("---\nname: letters\n") && live.contains("JSON"), "{live}");
    ensure!(!house.skill().exists(), "the managed one was not chosen");
    let (code, said) = adopt(&["--skill", "letters"])?;
    assert_eq!((code, &said["error"]), (2, &json!("adoption_refused")), "it is adopted: {said}");
    let (code, said) = adopt(&["--legacy"])?;
    assert_eq!((code, &said["mode"]), (0, &json!("legacy")), "{said}");
    ensure!(house.skill().exists(), "{said}");
    Ok(())
}

#[test]
fn a_harvest_shows_each_task_and_a_preview_what_would_be_sent() -> anyhow::Result<()> {
    let house = House::new()?;
    house.add_session(1)?;
    let secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let turns = [
        ("user", format!("Write the changelog with the token {secret}")),
        ("assistant", "It is written.".to_owned()),
    ];
    write_transcript(&house.home(), &house.project(), "s2", &turns)?;
    let said = house.sleep(&["harvest"])?;
    ensure!(said.code == 0, "{} {}", said.out, said.err);
    ensure!(said.out.contains("claude: 2 of 2 sessions in 2 files"), "{}", said.out);
    let is_task = |line: &&str| line.starts_with('[') && line.contains("] Write the ");
    assert_eq!(said.out.lines().filter(is_task).count(), 2, "{}", said.out);
    ensure!(!house.project().join(".skillopt-sleep").exists(), "nothing is kept");
    let preview = house.sleep(&["harvest", "--preview"])?;
    for words in ["s2 (1 masked)\n", "  > Write the changelog with the token ", "  < It is "] {
        ensure!(preview.out.contains(words), "{words:?} is not in {}", preview.out);
    }
    ensure!(!said.out.contains(secret) && !preview.out.contains(secret), "{}", preview.out);
    Ok(())
}

#[test]
fn a_night_that_was_cloned_with_the_project_is_not_adopted_by_chance() -> anyhow::Result<()> {
    let house = House::new()?;
    let staging = house.project().join(".skillopt-sleep/staging");
    std::fs::create_dir_all(staging.join("20260101-000000"))?;
    std::fs::write(staging.join("20260101-000000/manifest.json"), "{}")?;
    std::fs::write(staging.join(".latest"), "20260101-000000")?;
    for words in [&["adopt"][..], &["revert"], &["reject", "--reason", "no"], &["diff"]] {
        let said = house.sleep(&[words, &["--json"]].concat())?;
        let value: Value = serde_json::from_str(&said.out)?;
        assert_eq!(value["error"], "adoption_refused", "{words:?}: {value}");
        ensure!(
            value["message"].as_str().is_some_and(|text| text.contains("--staging")),
            "{value}"
        );
    }
    Ok(())
}

#[test]
fn a_harvest_has_no_window_and_its_tasks_remember_the_skill_that_they_are_for() -> anyhow::Result<()>
{
    let house = House::new()?;
    (1..=4).try_for_each(|number| house.add_session(number))?;
    let file = house.dir.path().join("tasks.json");
    let path = file.to_str().context("UTF-8")?;
    let own = ["--target-skill-path", "skills/own/SKILL.md"];
    let said = house.sleep(&[&["harvest", "--json", "--output", path][..], &own].concat())?;
    let found: Value = serde_json::from_str(&said.out)?;
    assert_eq!(found["n_sessions"], 4, "they are older than the window of nights: {found}");
    let said = house.sleep(&["run", "--backend", "mock", "--tasks-file", path, "--json"])?;
    ensure!(said.code == 0, "{} {}", said.out, said.err);
    let night: Value = serde_json::from_str(&said.out)?;
    let dir = Path::new(night["staging_dir"].as_str().context("a folder")?);
    let manifest: Value =
        serde_json::from_str(&std::fs::read_to_string(dir.join("manifest.json"))?)?;
    let expect = house.project().canonicalize()?.join("skills/own/SKILL.md");
    assert_eq!(manifest["live_skill_path"], json!(expect), "{manifest}");
    Ok(())
}

#[test]
fn f33_the_fractions_count_whichever_way_tasks_come() -> anyhow::Result<()> {
    let house = House::new()?;
    (1..=3).try_for_each(|number| house.add_session(number))?;
    let path = house.dir.path().join("tasks.json");
    let task = |id: &str| json!({"id": id, "intent": format!("Write the letter {id}")});
    std::fs::write(&path, json!([task("a"), task("b"), task("c")]).to_string())?;
    let file = path.to_str().context("UTF-8")?;
    // A share that is rounded to the whole, so that chance has no say.
    let all_test = ["--set", "val_fraction=0.0", "--set", "test_fraction=0.999"];
    let night = ["dry-run", "--backend", "mock"];
    for way in [&["harvest"][..], &night, &[&night[..], &["--tasks-file", file]].concat()] {
        let said = house.sleep(&[way, &all_test, &["--lookback-hours", "0", "--json"]].concat())?;
        ensure!(said.code == 0, "{way:?}: {} {}", said.out, said.err);
        let told: Value = serde_json::from_str(&said.out)?;
        let tasks = told["tasks"].as_array().context("a list")?;
        let splits: Vec<&str> = tasks.iter().filter_map(|task| task["split"].as_str()).collect();
        assert_eq!(splits, ["test"; 3], "{way:?}: {told}");
    }
    Ok(())
}

#[test]
fn f34_a_night_of_given_tasks_leaves_the_sessions_to_the_next_one() -> anyhow::Result<()> {
    let house = House::new()?;
    (1..=4).try_for_each(|number| house.add_session(number))?;
    let file = house.dir.path().join("tasks.json");
    let path = file.to_str().context("UTF-8")?;
    let harvested = house.sleep(&["harvest", "--output", path])?;
    ensure!(harvested.code == 0, "{}", harvested.err);
    let mock = ["run", "--backend", "mock", "--json", "--lookback-hours", "0"];
    let run = |more: &[&str]| -> anyhow::Result<Value> {
        let said = house.sleep(&[&mock[..], more].concat())?;
        ensure!(said.code == 0, "{} {}", said.out, said.err);
        Ok(serde_json::from_str(&said.out)?)
    };
    let given = run(&["--tasks-file", path])?;
    assert_eq!((&given["n_sessions"], &given["n_tasks"]), (&json!(0), &json!(4)), "{given}");
    assert_eq!(run(&[])?["n_sessions"], 4, "nothing was harvested before");
    assert_eq!(run(&[])?["n_sessions"], 0, "and what was harvested is not harvested again");
    Ok(())
}

#[test]
fn f34_a_longer_look_back_counts_after_a_night_as_well() -> anyhow::Result<()> {
    let house = House::new()?;
    (1..=4).try_for_each(|number| house.add_session(number))?;
    let run = |hours: &str| -> anyhow::Result<Value> {
        let words = ["run", "--backend", "mock", "--json", "--lookback-hours", hours];
        let said = house.sleep(&words)?;
        ensure!(said.code == 0, "{} {}", said.out, said.err);
        Ok(serde_json::from_str(&said.out)?)
    };
    let first = run("1")?;
    assert_eq!(first["n_sessions"], 0, "{first}");
    assert_eq!(first["sources"][0]["dropped"], json!({"before_window": 4}), "{first}");
    // A million hours are 114 years.
    assert_eq!(run("1000000")?["n_sessions"], 4, "the flag goes before what the last night saw");
    Ok(())
}

#[test]
fn a_scheduled_night_works_with_the_same_data() -> anyhow::Result<()> {
    let house = House::new()?;
    for with in ["cron", "systemd"] {
        let said = house.sleep(&["schedule", "--print", "--with", with])?;
        ensure!(said.code == 0, "{} {}", said.out, said.err);
        let flag = format!("--data-dir={}", house.dir.path().join("data").display());
        ensure!(said.out.contains(&flag), "{}", said.out);
        let told = house.sleep(&["schedule", "--print", "--with", with, "--json"])?;
        let value: Value = serde_json::from_str(&told.out)?;
        assert_eq!((&value["ok"], &value["scheduler"]), (&json!(true), &json!(with)), "{value}");
        assert_eq!(value["text"].as_str().map(str::trim_end), Some(said.out.trim_end()));
    }
    Ok(())
}

#[cfg(unix)]
#[test]
fn units_of_systemd_are_where_the_person_keeps_configs_and_go_again() -> anyhow::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let house = House::new()?;
    let (bin, configs) = (house.dir.path().join("bin"), house.dir.path().join("configs"));
    let asked = house.dir.path().join("asked");
    std::fs::create_dir_all(&bin)?;
    let systemctl = bin.join("systemctl");
    std::fs::write(&systemctl, format!("#!/bin/sh\necho \"$*\" >> '{}'\n", asked.display()))?;
    std::fs::set_permissions(&systemctl, std::fs::Permissions::from_mode(0o755))?;
    let run = |words: &[&str]| -> anyhow::Result<String> {
        let mut command = house.command(words);
        command.env("PATH", &bin).env("XDG_CONFIG_HOME", &configs);
        let said: Said = command.output().context("running skillopt")?.into();
        ensure!(said.code == 0, "{words:?}: {} {}", said.out, said.err);
        Ok(said.err)
    };
    let units = || -> anyhow::Result<Vec<String>> {
        let entries = std::fs::read_dir(configs.join("systemd/user"))?;
        let mut names: Vec<String> = entries
            .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
            .collect::<anyhow::Result<_>>()?;
        names.sort();
        Ok(names)
    };
    let err = run(&["schedule", "--with", "systemd", "--hour", "3", "--minute", "17"])?;
    ensure!(!err.contains("warning"), "one clock is enough: {err}");
    let names = units()?;
    let [service, timer] = names.as_slice() else { anyhow::bail!("two units: {names:?}") };
    ensure!(service.ends_with(".service") && timer.ends_with(".timer"), "{names:?}");
    let text = std::fs::read_to_string(configs.join("systemd/user").join(timer))?;
    ensure!(text.contains("OnCalendar=*-*-* 03:17:00"), "{text}");
    ensure!(!house.home().join(".config").exists(), "the other place stays as it was");
    // Either way round, two clocks are told.
    let server = ["schedule", "--with", "server", "--zone", "UTC"];
    for words in [&server[..], &["schedule", "--with", "systemd"]] {
        let err = run(words)?;
        // Systems without systemd do not look there.
        let is_told = err.contains("more than once a day, by systemd and by `skillopt serve`");
        assert_eq!(is_told, cfg!(target_os = "linux"), "{err}");
    }
    run(&["unschedule", "--with", "server"])?;
    run(&["unschedule", "--with", "systemd"])?;
    assert_eq!(units()?, Vec::<String>::new());
    let asked = std::fs::read_to_string(&asked)?;
    let wanted = [
        "--user daemon-reload".to_owned(),
        format!("--user enable --now {timer}"),
        "--user daemon-reload".to_owned(),
        format!("--user enable --now {timer}"),
        format!("--user disable --now {timer}"),
        "--user daemon-reload".to_owned(),
    ];
    assert_eq!(asked.lines().collect::<Vec<_>>(), wanted);
    Ok(())
}

#[cfg(unix)]
#[test]
fn unscheduling_all_takes_the_units_of_every_project() -> anyhow::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let (one, two) = (House::new()?, House::new()?);
    let (bin, configs) = (one.dir.path().join("bin"), one.dir.path().join("configs"));
    std::fs::create_dir_all(&bin)?;
    std::fs::write(bin.join("systemctl"), "#!/bin/sh\nexit 0\n")?;
    std::fs::set_permissions(bin.join("systemctl"), std::fs::Permissions::from_mode(0o755))?;
    let run = |house: &House, words: &[&str]| -> anyhow::Result<usize> {
        let mut command = house.command(&[words, &["--with", "systemd"]].concat());
        command.env("PATH", &bin).env("XDG_CONFIG_HOME", &configs);
        let said: Said = command.output().context("running skillopt")?.into();
        ensure!(said.code == 0, "{words:?}: {} {}", said.out, said.err);
        Ok(std::fs::read_dir(configs.join("systemd/user"))?.count())
    };
    assert_eq!((run(&one, &["schedule"])?, run(&two, &["schedule"])?), (2, 4));
    assert_eq!(run(&one, &["unschedule"])?, 2, "the other project keeps its own");
    assert_eq!(run(&one, &["schedule"])?, 4);
    assert_eq!(run(&one, &["unschedule", "--all"])?, 0);
    Ok(())
}

#[test]
fn a_schedule_of_the_server_keeps_all_options_and_is_listed_and_removed() -> anyhow::Result<()> {
    let house = House::new()?;
    let server = ["schedule", "--with", "server", "--hour", "4", "--minute", "5", "--json"];
    let options = [
        ["--zone", "Europe/Berlin"],
        ["--backend", "mock"],
        ["--set", "gate_metric=hard"],
        ["--tasks-file", "tasks.json"],
        ["--cfg-options", "model.target_temperature=0"],
    ];
    let said = house.sleep(&[&server[..], &options.concat()].concat())?;
    ensure!(said.code == 0, "{} {}", said.out, said.err);
    let value: Value = serde_json::from_str(&said.out)?;
    assert_eq!((&value["at"], &value["zone"]), (&json!("04:05"), &json!("Europe/Berlin")));
    let options = value["options"].to_string();
    for part in ["\"mock\"", "gate_metric", "/tasks.json", "model.target_temperature=0"] {
        ensure!(options.contains(part), "{part} in {options}");
    }
    let project = house.project().canonicalize()?;
    let is_server = |job: &&Value| job["scheduler"] == "server";
    let listed = || -> anyhow::Result<Vec<Value>> {
        let said = house.sleep(&["schedule", "--list", "--json"])?;
        ensure!(said.code == 0, "{} {}", said.out, said.err);
        let value: Value = serde_json::from_str(&said.out)?;
        Ok(value["jobs"].as_array().context("a list")?.iter().filter(is_server).cloned().collect())
    };
    assert_eq!(listed()?, value["jobs"].as_array().context("a list")?[..]);
    // Once more: it is the same schedule with another time.
    let said = house.sleep(&["schedule", "--with", "server", "--zone", "UTC"])?;
    ensure!(said.out.contains("while `skillopt serve` runs"), "{} {}", said.out, said.err);
    let jobs = listed()?;
    assert_eq!(jobs.len(), 1, "{jobs:?}");
    assert_eq!(
        (&jobs[0]["name"], &jobs[0]["at"], &jobs[0]["zone"], &jobs[0]["project"]),
        (&value["id"], &json!("03:17"), &json!("UTC"), &json!(project))
    );
    let said = house.sleep(&["unschedule", "--with", "server"])?;
    ensure!(said.code == 0, "{} {}", said.out, said.err);
    assert_eq!(listed()?, Vec::<Value>::new());
    Ok(())
}

#[test]
fn a_schedule_of_the_server_takes_no_bad_zone_and_no_secret() -> anyhow::Result<()> {
    let house = House::new()?;
    let server = ["schedule", "--with", "server"];
    let address = "model.openai_compatible_base_url=https://me:sk-1@host/v1";
    for (option, words) in [
        (["--zone", "Europe/Berln"], "no time zone"),
        (["--cfg-options", address], "holds a secret"),
    ] {
        let said = house.sleep(&[&server[..], &option].concat())?;
        assert_eq!(said.code, 2, "{} {}", said.out, said.err);
        ensure!(said.err.contains(words) && !said.err.contains("sk-1"), "{}", said.err);
    }
    let said = house.sleep(&["schedule", "--with", "cron", "--zone", "UTC", "--print"])?;
    ensure!(said.code == 2 && said.err.contains("--with server"), "{} {}", said.out, said.err);
    Ok(())
}

#[test]
fn a_dry_run_keeps_nothing_and_the_night_after_it_pays_for_nothing_again() -> anyhow::Result<()> {
    let house = House::new()?;
    (1..=6).try_for_each(|number| house.add_session(number))?;
    let server = scripted();
    let dry = house.ask("dry-run", &server.url, &["--lookback-hours", "0"])?;
    ensure!(dry.code == 0, "{}", dry.err);
    let dry: Value = serde_json::from_str(&dry.out)?;
    assert_eq!(dry["accepted"], true, "{dry}");
    ensure!(!house.project().join(".skillopt-sleep").exists(), "no folder in the project");
    ensure!(!house.home().join(".skillopt-sleep/state.json").exists(), "no state");
    let n_calls = server.seen().len();
    let night = house.night(&server.url)?;
    assert_eq!(night["accepted"], true, "{night}");
    assert_eq!(server.seen().len(), n_calls, "its questions were answered in the dry run");
    Ok(())
}

#[test]
fn c63_a_live_file_that_changed_after_the_night_is_not_written() -> anyhow::Result<()> {
    let house = House::new()?;
    (1..=6).try_for_each(|number| house.add_session(number))?;
    let server = scripted();
    house.night(&server.url)?;
    let skill = house.skill();
    std::fs::create_dir_all(skill.parent().context("a folder")?)?;
    std::fs::write(&skill, "mine\n")?;
    let said = house.sleep(&["adopt", "--json"])?;
    assert_eq!(said.code, 2, "{}", said.out);
    let value: Value = serde_json::from_str(&said.out)?;
    assert_eq!(value["error"], "adoption_refused", "{value}");
    assert_eq!(std::fs::read_to_string(&skill)?, "mine\n");
    Ok(())
}

#[test]
fn f18_a_target_that_cannot_be_adopted_is_refused_before_any_call() -> anyhow::Result<()> {
    let house = House::new()?;
    house.add_session(1)?;
    std::fs::write(house.project().join("NOTES.md"), "notes\n")?;
    let server = scripted();
    let said = house.ask("run", &server.url, &["--target-skill-path", "NOTES.md"])?;
    assert_eq!(said.code, 1, "{}", said.out);
    let value: Value = serde_json::from_str(&said.out)?;
    assert_eq!(value["error"], "staging_refused", "{value}");
    assert_eq!(server.seen().len(), 0, "nothing was called");
    Ok(())
}

#[test]
fn f19_a_mistyped_backend_is_an_error_and_never_the_simulation() -> anyhow::Result<()> {
    let house = House::new()?;
    let said = house.sleep(&["run", "--backend", "claud", "--json"])?;
    assert_eq!(said.code, 2, "{}", said.out);
    ensure!(said.out.contains("do you mean `claude`"), "{}", said.out);
    Ok(())
}

#[test]
fn tasks_that_nobody_reviewed_reach_no_model() -> anyhow::Result<()> {
    let house = House::new()?;
    (1..=4).try_for_each(|number| house.add_session(number))?;
    let file = house.dir.path().join("tasks.json");
    let path = file.to_str().context("UTF-8")?;
    let said = house.sleep(&["harvest", "--lookback-hours", "0", "--output", path])?;
    ensure!(said.code == 0, "{}", said.err);
    let server = scripted();
    let run = || house.ask("run", &server.url, &["--tasks-file", path]);
    let refused = run()?;
    assert_eq!(refused.code, 2, "{}", refused.out);
    assert_eq!(server.seen().len(), 0, "nothing was called");
    let target = ["run", "--set", "target_backend=claude", "--tasks-file", path, "--json"];
    let refused = house.sleep(&target)?;
    let words: Value = serde_json::from_str(&refused.out)?;
    assert_eq!((refused.code, &words["error"]), (2, &json!("not_reviewed")), "one half is real");
    let reviewed =
        std::fs::read_to_string(&file)?.replace("\"reviewed\": false", "\"reviewed\": true");
    std::fs::write(&file, reviewed)?;
    let said = run()?;
    ensure!(said.code == 0, "{} {}", said.out, said.err);
    ensure!(!server.seen().is_empty(), "reviewed tasks are performed");
    Ok(())
}

#[test]
fn a_handoff_ends_with_three_until_every_prompt_is_answered() -> anyhow::Result<()> {
    let house = House::new()?;
    (1..=4).try_for_each(|number| house.add_session(number))?;
    let night = answered_night(&house, "run", ".skillopt-sleep-handoff")?;
    assert_eq!(night["accepted"], true, "{night}");
    let staged = std::fs::read_dir(house.project().join(".skillopt-sleep/staging"))?
        .filter_map(Result::ok)
        .filter(|entry| entry.path().is_dir())
        .count();
    assert_eq!(staged, 1, "f16: rounds leave no folders behind");
    Ok(())
}

#[test]
fn the_status_tells_which_prompts_wait_where_and_how_the_night_goes_on() -> anyhow::Result<()> {
    let house = House::new()?;
    house.add_session(1)?;
    let status = || -> anyhow::Result<Value> {
        Ok(serde_json::from_str(&house.sleep(&["status", "--json"])?.out)?)
    };
    assert_eq!(status()?["handoffs"], json!([]));
    let said = house.sleep(&["run", "--backend", "handoff", "--lookback-hours", "0"])?;
    assert_eq!(said.code, 3, "{} {}", said.out, said.err);
    let told = status()?;
    let waits = &told["handoffs"][0];
    assert_eq!((&waits["kind"], &waits["answered"]), (&json!("run"), &json!(0)), "{waits}");
    ensure!(waits["pending"].as_u64().is_some_and(|n| n > 0), "{waits}");
    let command = waits["command"].as_str().context("a command")?;
    ensure!(command.starts_with("skillopt sleep run --backend handoff --project "), "{command}");
    let told = house.sleep(&["status"])?.out;
    ensure!(told.contains("for answers in ") && told.contains(command), "{told}");
    answer_all(&house.project().join(".skillopt-sleep-handoff"))?;
    let told = house.sleep(&["status"])?.out;
    ensure!(told.contains("handoff: all prompts are answered; go on with: "), "{told}");
    Ok(())
}

#[test]
fn a_change_of_given_tasks_is_told_once_in_each_round_and_in_the_last_one() -> anyhow::Result<()> {
    let house = House::new()?;
    (1..=4).try_for_each(|number| house.add_session(number))?;
    let file = house.dir.path().join("tasks.json");
    let path = file.to_str().context("UTF-8")?;
    house.sleep(&["harvest", "--lookback-hours", "0", "--output", path])?;
    let mut tasks: Value = serde_json::from_str(&std::fs::read_to_string(&file)?)?;
    tasks["reviewed"] = json!(true);
    std::fs::write(&file, tasks.to_string())?;
    let run = || house.sleep(&["run", "--backend", "handoff", "--tasks-file", path, "--json"]);
    let said = run()?;
    assert_eq!(said.code, 3, "{} {}", said.out, said.err);
    tasks["tasks"].as_array_mut().context("a list")?.pop();
    std::fs::write(&file, tasks.to_string())?;
    for _ in 0..12 {
        answer_all(&house.project().join(".skillopt-sleep-handoff"))?;
        let said = run()?;
        let n_in = |text: &str| text.matches("it goes on with those").count();
        let n_told = n_in(&said.out) + n_in(&said.err);
        assert_eq!(n_told, 1, "round that ended with {}: {}", said.code, said.err);
        if said.code == 0 {
            return Ok(());
        }
    }
    anyhow::bail!("it goes on for ever")
}

#[test]
fn pins_that_cannot_be_read_are_no_failure_of_the_store() -> anyhow::Result<()> {
    let house = House::new()?;
    house.add_session(1)?;
    let folder = house.project().join(".skillopt-sleep-handoff");
    std::fs::create_dir(&folder)?;
    std::fs::write(folder.join("tasks.json"), b"\xff")?;
    let said = house.sleep(&["run", "--backend", "handoff", "--json"])?;
    let value: Value = serde_json::from_str(&said.out)?;
    assert_eq!((said.code, &value["error"]), (1, &json!("handoff_refused")), "{value}");
    ensure!(value["message"].as_str().is_some_and(|text| text.contains("tasks.json")), "{value}");
    Ok(())
}

#[test]
fn a_handoff_of_a_dry_run_is_put_aside_and_leaves_nothing_for_the_night() -> anyhow::Result<()> {
    let house = House::new()?;
    (1..=4).try_for_each(|number| house.add_session(number))?;
    answered_night(&house, "dry-run", ".skillopt-sleep-handoff.dry")?;
    let entries = std::fs::read_dir(house.project())?.filter_map(Result::ok);
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let left: Vec<String> = names.filter(|name| name.contains("handoff")).collect();
    assert_eq!(left, [".skillopt-sleep-handoff.dry.night1.done"]);
    Ok(())
}

/// Answers a night round by round.
fn answered_night(house: &House, verb: &str, folder: &str) -> anyhow::Result<Value> {
    let words = [verb, "--backend", "handoff", "--lookback-hours", "0", "--json"];
    let mut rounds = 0;
    loop {
        let said = house.sleep(&words)?;
        if said.code == 0 {
            ensure!(rounds > 1, "mining, replay and reflection are rounds of their own");
            return Ok(serde_json::from_str(&said.out)?);
        }
        assert_eq!(said.code, 3, "{} {}", said.out, said.err);
        rounds += 1;
        ensure!(rounds < 12, "it goes on for ever: {}", said.out);
        answer_all(&house.project().join(folder))?;
    }
}

/// Answers every pending prompt as the scripted server would.
fn answer_all(dir: &Path) -> anyhow::Result<()> {
    let pending: Value = serde_json::from_str(&std::fs::read_to_string(dir.join("pending.json"))?)?;
    for asked in pending["pending"].as_array().context("a list")? {
        let prompt = asked["prompt"].as_str().context("a prompt")?;
        std::fs::write(asked["answer_file"].as_str().context("a file")?, answer(prompt))?;
    }
    Ok(())
}

#[test]
fn c06_a_hook_inside_of_our_own_call_starts_no_night() -> anyhow::Result<()> {
    let house = House::new()?;
    house.add_session(1)?;
    for words in [["run"], ["dry-run"]] {
        let mut command = command(&house.dir.path().join("data"));
        command.env("HOME", house.home()).env(skillopt_domain::own_call::VARIABLE, "x");
        command.arg("sleep").args(words).arg("--project").arg(house.project());
        let said: Said = command.output().context("running skillopt")?.into();
        assert_eq!(said.code, 1, "{}", said.out);
        ensure!(said.err.contains("works for a SkillOpt run"), "{}", said.err);
    }
    ensure!(!house.project().join(".skillopt-sleep").exists(), "nothing was begun");
    Ok(())
}
