//! The plugins for coding agents: every file is what its host reads, and every call in them is one that our program takes.

use crate::binary::root;
use anyhow::{Context, ensure};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// All files below `plugins`, by their path from there.
fn files() -> anyhow::Result<BTreeMap<String, String>> {
    let top = root().join("plugins");
    let (mut found, mut folders) = (BTreeMap::new(), vec![top.clone()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(&top)?.to_string_lossy().replace('\\', "/");
                let text = fs::read_to_string(&path).with_context(|| name.clone())?;
                found.insert(name, text);
            }
        }
    }
    Ok(found)
}

/// The YAML head of a Markdown file.
fn head(text: &str) -> anyhow::Result<BTreeMap<String, Value>> {
    let rest = text.strip_prefix("---\n").context("no head")?;
    let (yaml, _) = rest.split_once("\n---\n").context("the head has no end")?;
    Ok(serde_saphyr::from_str(yaml)?)
}

/// Commands as they stand in a file of settings: a program with arguments, or a line of a hook.
fn calls_of(value: &Value, found: &mut Vec<Vec<String>>) {
    let words = |list: &[Value]| -> Vec<String> {
        list.iter().map(|word| word.as_str().unwrap_or_default().to_owned()).collect()
    };
    match value {
        Value::Object(object) => {
            match (object.get("command"), object.get("args")) {
                (Some(Value::String(program)), Some(Value::Array(arguments))) => {
                    found.push([vec![program.clone()], words(arguments)].concat());
                }
                (Some(Value::String(line)), None) => {
                    found.push(line.split(' ').map(str::to_owned).collect());
                }
                (Some(Value::Array(command)), None) => found.push(words(command)),
                _ => {}
            }
            object.values().for_each(|value| calls_of(value, found));
        }
        Value::Array(values) => values.iter().for_each(|value| calls_of(value, found)),
        _ => {}
    }
}

/// Calls of our program in a text: lines of code, and code within a line.
fn calls_in_markdown(text: &str) -> Vec<Vec<String>> {
    let pieces = text.lines().flat_map(|line| {
        let inline = line.split('`').skip(1).step_by(2);
        inline.chain(std::iter::once(line)).collect::<Vec<_>>()
    });
    let calls = pieces.filter_map(|piece| {
        let call = piece.split_once(" -- ").map_or(piece, |(_, behind)| behind);
        let is_call = call.starts_with("skillopt ") && !call.contains('`');
        is_call.then(|| call.split_whitespace().map(str::to_owned).collect())
    });
    calls.collect()
}

fn check_call(file: &str, call: &[String]) {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || " ._=/-".contains(letter);
    let line = call.join(" ");
    assert!(line.chars().all(plain), "{file}: a shell could read more into `{line}`");
    assert_eq!(call[0], "skillopt", "{file}: {line}");
    let words = call[1..].iter().map(String::as_str);
    if let Err(err) = skillopt_server::cli::check_arguments(words) {
        panic!("{file}: {line}: {err}");
    }
}

fn settings(name: &str, text: &str) -> anyhow::Result<Option<Value>> {
    Ok(match Path::new(name).extension().and_then(|end| end.to_str()) {
        Some("json") => Some(serde_json::from_str(text).with_context(|| name.to_owned())?),
        Some("toml") => Some(toml::from_str(text).with_context(|| name.to_owned())?),
        Some("yml") => Some(serde_saphyr::from_str(text).with_context(|| name.to_owned())?),
        // Programs of a host have their calls in a table beside them.
        Some("md" | "js") => None,
        other => anyhow::bail!("{name}: what is {other:?}?"),
    })
}

#[test]
fn every_file_is_read_by_its_host_and_calls_our_program_alone() -> anyhow::Result<()> {
    let mut n_calls: BTreeMap<String, usize> = BTreeMap::new();
    for (name, text) in files()? {
        let calls = match settings(&name, &text)? {
            Some(value) => {
                let mut calls = Vec::new();
                calls_of(&value, &mut calls);
                calls
            }
            None => calls_in_markdown(&text),
        };
        calls.iter().for_each(|call| check_call(&name, call));
        let plugin = name.split('/').next().unwrap_or_default().to_owned();
        *n_calls.entry(plugin).or_default() += calls.len();
    }
    for plugin in
        ["claude-code", "codex", "copilot", "cursor", "devin", "opencode", "dsh", "openclaw"]
    {
        assert!(n_calls.get(plugin).is_some_and(|n| *n > 1), "{plugin}: {n_calls:?}");
    }
    Ok(())
}

#[test]
fn commands_skills_and_rules_have_sound_heads() -> anyhow::Result<()> {
    let mut n_heads = 0;
    for (name, text) in files()? {
        if !name.ends_with(".md") || name.ends_with("README.md") {
            continue;
        }
        let head = head(&text).with_context(|| name.clone())?;
        let about = head.get("description").and_then(Value::as_str).unwrap_or_default();
        assert!((10..=1024).contains(&about.len()), "{name}: {about}");
        if let Some(folder) = name.strip_suffix("/SKILL.md") {
            assert_eq!(head["name"], folder.rsplit('/').next().unwrap_or_default(), "{name}");
        }
        n_heads += 1;
    }
    assert!(n_heads >= 8, "{n_heads}");
    Ok(())
}

#[test]
fn no_file_names_a_place_on_somebodys_machine() -> anyhow::Result<()> {
    for (name, text) in files()? {
        for place in ["/home/", "/Users/", "/usr/", "/etc/", "/tmp/", "/opt/", "/var/", ":\\"] {
            assert!(!text.contains(place), "{name} has {place}");
        }
        if let Some(value) = settings(&name, &text)? {
            let mut calls = Vec::new();
            calls_of(&value, &mut calls);
            let is_absolute = |word: &String| word.starts_with(['/', '~', '\\']);
            assert!(!calls.iter().flatten().any(is_absolute), "{name}");
        }
    }
    Ok(())
}

#[test]
fn every_readme_says_how_to_install_use_and_remove() -> anyhow::Result<()> {
    let files = files()?;
    for folder in [
        "",
        "claude-code/",
        "codex/",
        "copilot/",
        "cursor/",
        "devin/",
        "opencode/",
        "dsh/",
        "openclaw/",
    ] {
        let name = format!("{folder}README.md");
        let text = files.get(&name).with_context(|| name.clone())?;
        let parts: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("## ")).collect();
        assert_eq!(parts, ["Install", "Use", "Remove"], "{name}");
        for link in text.split("](").skip(1).filter_map(|rest| rest.split_once(')')) {
            let place = root().join("plugins").join(folder).join(link.0);
            assert!(link.0.starts_with("http") || place.exists(), "{name}: {}", link.0);
        }
    }
    Ok(())
}

#[test]
fn the_marketplace_offers_what_is_there() -> anyhow::Result<()> {
    let folder = root().join("plugins/claude-code");
    let json = |path: PathBuf| -> anyhow::Result<Value> {
        Ok(serde_json::from_str(&fs::read_to_string(path)?)?)
    };
    let market = json(folder.join(".claude-plugin/marketplace.json"))?;
    let plugins = market["plugins"].as_array().context("a list")?;
    ensure!(plugins.len() == 2, "{market}");
    for plugin in plugins {
        let source = plugin["source"].as_str().context("a folder")?;
        let manifest = json(folder.join(source).join(".claude-plugin/plugin.json"))?;
        assert_eq!(manifest["name"], plugin["name"]);
    }
    Ok(())
}

#[test]
fn all_hosts_get_the_same_skill() -> anyhow::Result<()> {
    let files = files()?;
    let mut skills = files.iter().filter(|(name, _)| name.ends_with("SKILL.md"));
    let (_, first) = skills.next().context("a skill")?;
    assert_eq!(skills.filter(|(_, text)| *text == first).count(), 4);
    Ok(())
}

#[test]
fn tools_of_dsh_are_commands_with_flags_that_our_program_takes() -> anyhow::Result<()> {
    let files = files()?;
    let table: Value = serde_json::from_str(&files["dsh/tools.json"])?;
    let tools = table["tools"].as_array().context("tools")?;
    let mut names: Vec<&str> = Vec::new();
    for tool in tools {
        names.push(tool["name"].as_str().context("a name")?);
        let command = tool["command"].as_array().context("a command")?;
        let mut words: Vec<String> =
            command.iter().skip(1).filter_map(Value::as_str).map(str::to_owned).collect();
        for name in tool["takes"].as_array().context("takes")? {
            let argument = &table["arguments"][name.as_str().context("a name")?];
            let flag = argument["flag"].as_str().with_context(|| format!("{name} is unknown"))?;
            let value = match (argument["type"].as_str(), argument["enum"][0].as_str()) {
                (Some("number"), _) => "7",
                (_, Some(word)) => word,
                _ => "--text",
            };
            words.push(format!("{flag}={value}"));
        }
        words.push("--json".to_owned());
        if let Err(err) = skillopt_server::cli::check_arguments(words.iter().map(String::as_str)) {
            panic!("{tool}: {words:?}: {err}");
        }
        let may_adopt = ["run", "schedule"].iter().any(|verb| words[1] == *verb);
        ensure!(
            !may_adopt || words.contains(&"--set=auto_adopt=false".to_owned()),
            "{tool} could adopt by itself"
        );
    }
    for wanted in ["status", "dry_run", "run", "adopt", "harvest", "schedule", "unschedule"] {
        assert!(names.contains(&&*format!("skillopt_{wanted}")), "{wanted}: {names:?}");
    }
    Ok(())
}

/// A session that begins so is ours, and no night learns from it.
#[test]
fn every_command_begins_as_harvest_knows_it() -> anyhow::Result<()> {
    let files = files()?;
    let commands = files.iter().filter(|(name, _)| name.contains("/commands/"));
    for (name, text) in commands.clone() {
        assert!(text.contains("Run one SkillOpt-Sleep night"), "{name}");
    }
    assert_eq!(commands.count(), 4);
    Ok(())
}

/// The table of `docs/mcp.md` is made from the code.
#[test]
fn tools_that_plugins_name_exist() -> anyhow::Result<()> {
    let docs = fs::read_to_string(root().join("docs/mcp.md"))?;
    let tools: Vec<&str> = docs
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once('`').map(|(name, _)| name))
        .filter(|name| name.starts_with("sleep_") || name.starts_with("skillopt_"))
        .collect();
    assert!(tools.contains(&"sleep_diff") && tools.contains(&"skillopt_train"), "{tools:?}");
    for (name, text) in files()? {
        let codes = text.split('`').skip(1).step_by(2);
        for code in codes.filter(|code| code.starts_with("sleep_") && !code.contains(' ')) {
            assert!(tools.contains(&code), "{name} names {code}");
        }
    }
    Ok(())
}
