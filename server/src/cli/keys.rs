//! `skillopt keys`: names of keys, where each was found, and the keyring. A value comes in by the terminal or standard
//! input, never by an argument, and never goes out.

use super::Exit;
use super::args::{KeysCommand, ListKeysArgs, RemoveKeyArgs, SetKeyArgs};
use super::output::Output;
use crate::config::{
    Environment, Keyring, is_key_name, is_variable_name, key_variables, secret_in_address,
    write_row,
};
use serde_json::json;
use skillopt_models::Secret;
use std::collections::BTreeSet;
use std::io::{BufRead, IsTerminal, Read};
use std::path::{Path, PathBuf};

/// Far longer than any key.
const MOST_BYTES: u64 = 16 << 10;

pub(super) fn run(command: KeysCommand, data_dir: &Path, output: &Output) -> anyhow::Result<Exit> {
    match command {
        KeysCommand::List(args) => list(&args, data_dir, output),
        KeysCommand::Set(args) => set(args, data_dir, output),
        KeysCommand::Remove(args) => remove(&args, data_dir, output),
    }
}

/// The names that the program would look for, and all that its own places hold. Other secrets of the environment are
/// none of its business.
fn names(env: &Environment) -> BTreeSet<String> {
    let in_files = env.files().iter().flat_map(|file| file.key_names());
    let in_keyring = env.keyring().into_iter().flat_map(Keyring::names);
    let known = key_variables().into_iter();
    in_files.chain(in_keyring).map(str::to_owned).chain(known).collect()
}

fn list(args: &ListKeysArgs, data_dir: &Path, output: &Output) -> anyhow::Result<Exit> {
    let env = Environment::of_process(data_dir);
    let mut rows = Vec::new();
    for name in names(&env) {
        let found = env.find(&name);
        let withheld = if found.is_none() { env.withheld(&name) } else { None };
        if found.is_none() && withheld.is_none() {
            continue;
        }
        let place = found.as_ref().map(|found| found.place.to_string());
        let bound_to = found.as_ref().and_then(|found| env.bound_to(&name, &found.place));
        let fingerprint =
            found.as_ref().and_then(|found| Secret::new(found.value)).map(|key| key.fingerprint());
        rows.push(json!({
            "name": name, "place": place, "for": bound_to, "fingerprint": fingerprint, "problem": withheld,
        }));
    }
    if args.json {
        output.line(&serde_json::to_string(&rows)?);
        return Ok(Exit::Done);
    }
    let text = |row: &serde_json::Value, field: &str| {
        row.get(field).and_then(|value| value.as_str()).unwrap_or_default().to_owned()
    };
    let width = rows.iter().map(|row| text(row, "name").len()).max().unwrap_or_default();
    for row in &rows {
        let bound_to = text(row, "for");
        let bound_to =
            if bound_to.is_empty() { bound_to } else { format!(", only for {bound_to}") };
        let name = text(row, "name");
        output.line(&match text(row, "problem") {
            problem if problem.is_empty() => format!(
                "{name:width$}  {}  {}{bound_to}",
                text(row, "fingerprint"),
                text(row, "place")
            ),
            problem => format!("{name:width$}  not used: {problem}"),
        });
    }
    if rows.is_empty() {
        output.line("no keys found; docs/keys.md says where they may be kept");
    }
    if let Some(fault) = env.keyring().and_then(Keyring::fault) {
        output.note(&format!("warning: the names in the keyring cannot be read: {fault}"));
    }
    Ok(Exit::Done)
}

fn set(args: SetKeyArgs, data_dir: &Path, output: &Output) -> anyhow::Result<Exit> {
    let usage = |words: &str| {
        output.error(words);
        Ok(Exit::Usage)
    };
    if !args.rest.is_empty() {
        return usage(
            "a key is never taken from the command line, where the shell's history and other users see it; leave \
             it out, and it is asked for. If it is in use already, have the provider make a new one",
        );
    }
    if !is_key_name(&args.name) {
        return usage(bad_name(&args.name));
    }
    if let Some(wrong) = args.bound_to.as_deref().and_then(bad_address) {
        return usage(&wrong);
    }
    let Some(key) = read_key(&args.name)? else {
        return usage("nothing was given, so nothing was kept");
    };
    if key.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return usage("a key has no spaces and no line breaks; nothing was kept");
    }
    let Some(secret) = Secret::new(&key) else {
        return usage("nothing was given, so nothing was kept");
    };
    let fingerprint = secret.fingerprint();
    let name = &args.name;
    if args.file {
        let path = env_file(data_dir)?;
        if let Err(reason) = write_row(&path, name, Some(&key)) {
            output.error(&format!("{}: {reason}", path.display()));
            return Ok(Exit::Failed);
        }
        output.line(&format!("{name} ({fingerprint}) is in {}", path.display()));
    } else {
        let mut keyring = Keyring::open(data_dir);
        if let Err(reason) = keyring.set(name, &key, args.bound_to.clone()) {
            output.error(&format!(
                "the keyring did not take it: {reason}. `skillopt keys set {name} --file` keeps it in a file that \
                 only you can read"
            ));
            return Ok(Exit::Failed);
        }
        output.line(&format!("{name} ({fingerprint}) is in the system keyring"));
    }
    match &args.bound_to {
        Some(address) => output.note(&format!("it is sent to {address} and to no other host")),
        None => output.note(
            "it is sent where model.target_api_key_env or model.optimizer_api_key_env names it, or to the address \
             that stands beside it; see docs/keys.md",
        ),
    }
    Ok(Exit::Done)
}

fn remove(args: &RemoveKeyArgs, data_dir: &Path, output: &Output) -> anyhow::Result<Exit> {
    let name = &args.name;
    if !is_variable_name(name) {
        output.error(bad_name(name));
        return Ok(Exit::Usage);
    }
    let (place, removed) = if args.file {
        let path = env_file(data_dir)?;
        let removed = if path.exists() { write_row(&path, name, None) } else { Ok(false) };
        (path.display().to_string(), removed)
    } else {
        ("the system keyring".to_owned(), Keyring::open(data_dir).remove(name))
    };
    match removed {
        Err(reason) => {
            output.error(&format!("{place}: {reason}"));
            return Ok(Exit::Failed);
        }
        Ok(false) => {
            output.error(&format!(
                "{place} holds no {name}; `skillopt keys list` says where keys are"
            ));
            return Ok(Exit::Usage);
        }
        Ok(true) => output.line(&format!("{name} is no longer in {place}")),
    }
    if let Some(found) = Environment::of_process(data_dir).find(name) {
        output.note(&format!("{name} is still set in {}", found.place));
    }
    Ok(Exit::Done)
}

/// Does not repeat it: it may be the key itself.
fn bad_name(name: &str) -> &'static str {
    if is_variable_name(name) {
        "the name of a key ends in _KEY, _TOKEN or _SECRET, such as TARGET_OPENAI_COMPATIBLE_API_KEY"
    } else {
        "expected the name of a variable, such as TARGET_OPENAI_COMPATIBLE_API_KEY; the key itself is asked for"
    }
}

fn bad_address(address: &str) -> Option<String> {
    if let Some(what) = secret_in_address(address) {
        return Some(format!("--for: the address holds {what}; leave that out"));
    }
    let host = address.strip_prefix("https://").or_else(|| address.strip_prefix("http://"));
    let is_address = host.is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/'));
    (!is_address)
        .then(|| "--for: expected an address such as https://api.example.com/v1".to_owned())
}

/// From the terminal without showing it, or the first line of standard input.
fn read_key(name: &str) -> anyhow::Result<Option<String>> {
    let stdin = std::io::stdin();
    let text = if stdin.is_terminal() {
        rpassword::prompt_password(format!("{name} (not shown): "))?
    } else {
        let mut line = String::new();
        stdin.lock().take(MOST_BYTES).read_line(&mut line)?;
        line
    };
    Ok(Some(text.trim().to_owned()).filter(|key| !key.is_empty()))
}

fn env_file(data_dir: &Path) -> anyhow::Result<PathBuf> {
    std::fs::create_dir_all(data_dir)?;
    Ok(data_dir.join(".env"))
}
