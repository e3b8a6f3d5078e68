//! Each place of a key, and the hosts that it goes to.

use super::*;
use crate::config::keyring::Keyring;
use crate::config::keyring::testing::MemoryKeyring;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

const HOME: &str = "https://home.example/v1";
const EVIL: [&str; 5] = [
    "https://evil.example/v1",
    "http://home.example/v1",
    "https://home.example:81/v1",
    "https://home.example.evil.example/v1",
    "https://evil.example?x=https://home.example/v1",
];

fn key(env: &Environment, named: &str, url: &str) -> Result<Option<String>, String> {
    let found = role_key(env, Role::Target, named, url)?;
    Ok(found.map(|key| format!("{} in {}", key.variable, key.place)))
}

fn dot_env(dir: &Path, text: &str) -> PathBuf {
    let path = dir.join(".env");
    std::fs::write(&path, text).expect("written");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).expect("a mode");
    }
    path
}

fn with_keyring(env: Environment, bound_to: Option<&str>) -> (TempDir, Environment) {
    let dir = tempfile::tempdir().expect("a folder");
    let mut keyring = Keyring::with_store(dir.path(), Arc::new(MemoryKeyring::default()));
    let home = bound_to.map(str::to_owned);
    keyring.set("TARGET_OPENAI_COMPATIBLE_API_KEY", "sk-ring", home).expect("set");
    (dir, env.with_keyring(keyring))
}

#[test]
fn the_key_is_the_named_one_else_the_role_s_else_the_common_one() {
    let env = Environment::from_pairs([
        ("MY_KEY", "1"),
        ("TARGET_OPENAI_COMPATIBLE_API_KEY", "2"),
        ("OPENAI_COMPATIBLE_API_KEY", "3"),
        ("OPENAI_COMPATIBLE_BASE_URL", HOME),
    ]);
    let variable = |role, named| {
        let url = "https://Home.example:443/other";
        role_key(&env, role, named, url).expect("a key").map(|key| key.variable)
    };
    assert_eq!(variable(Role::Target, "MY_KEY").as_deref(), Some("MY_KEY"));
    assert_eq!(variable(Role::Target, "").as_deref(), Some("TARGET_OPENAI_COMPATIBLE_API_KEY"));
    assert_eq!(variable(Role::Optimizer, "").as_deref(), Some("OPENAI_COMPATIBLE_API_KEY"));
    for foreign in EVIL {
        assert_eq!(key(&env, "", foreign), Ok(None), "{foreign}");
        assert_eq!(key(&env, "MY_KEY", foreign), Ok(Some("MY_KEY in the environment".into())));
    }
    let missing = key(&env, "NOT_SET", HOME).expect_err("refused");
    assert!(missing.starts_with("NOT_SET is set neither in the environment"), "{missing}");
}

#[test]
fn a_key_of_a_file_goes_to_the_address_in_that_file_or_in_the_environment() {
    let dir = tempfile::tempdir().expect("a folder");
    let row = "OPENAI_COMPATIBLE_API_KEY=sk-file\n";
    let path = dot_env(dir.path(), &format!("{row}OPENAI_COMPATIBLE_BASE_URL={HOME}\n"));
    let place = format!("OPENAI_COMPATIBLE_API_KEY in {}:1", path.display());
    let env = Environment::default().with_files(&[&path]);
    assert_eq!(key(&env, "", HOME), Ok(Some(place.clone())));
    for foreign in EVIL {
        assert_eq!(key(&env, "", foreign), Ok(None), "{foreign}");
    }
    let env = Environment::from_pairs([("OPENAI_COMPATIBLE_BASE_URL", HOME)]);
    dot_env(dir.path(), row);
    let env = env.with_files(&[&path]);
    assert_eq!(key(&env, "", HOME), Ok(Some(place.clone())));
    assert_eq!(key(&Environment::default().with_files(&[&path]), "", HOME), Ok(None), "no address");
    let named =
        key(&Environment::default().with_files(&[&path]), "OPENAI_COMPATIBLE_API_KEY", HOME);
    assert_eq!(named, Ok(Some(place)));
}

#[test]
fn the_environment_wins_and_a_file_s_address_binds_no_key_of_another_place() {
    let dir = tempfile::tempdir().expect("a folder");
    let text =
        "OPENAI_COMPATIBLE_API_KEY=sk-file\nOPENAI_COMPATIBLE_BASE_URL=https://evil.example/v1\n";
    let path = dot_env(dir.path(), text);
    let other = tempfile::tempdir().expect("a folder");
    let second = dot_env(other.path(), "TARGET_OPENAI_COMPATIBLE_API_KEY=sk-mine\n");
    let env = Environment::from_pairs([("OPENAI_COMPATIBLE_API_KEY", "sk-env")]);
    let env = env.with_files(&[&path, &second]);
    assert_eq!(env.get("OPENAI_COMPATIBLE_API_KEY"), Some("sk-env"));
    assert_eq!(env.get("TARGET_OPENAI_COMPATIBLE_API_KEY"), Some("sk-mine"));
    assert_eq!(key(&env, "", "https://evil.example/v1"), Ok(None));
    let (_dir, env) = with_keyring(Environment::default().with_files(&[&path]), None);
    let sent = key(&env, "", "https://evil.example/v1").expect("no error").expect("the file's own");
    assert!(sent.starts_with("OPENAI_COMPATIBLE_API_KEY in"), "{sent}");
}

#[test]
fn a_key_in_the_keyring_goes_to_the_address_that_it_was_put_there_for() {
    let (_dir, env) = with_keyring(Environment::default(), Some(HOME));
    let name = "TARGET_OPENAI_COMPATIBLE_API_KEY";
    let place = format!("{name} in the system keyring");
    assert_eq!(key(&env, "", HOME), Ok(Some(place.clone())));
    assert_eq!(key(&env, name, HOME), Ok(Some(place.clone())));
    assert_eq!(role_key(&env, Role::Optimizer, "", HOME), Ok(None), "it is the target's");
    for foreign in EVIL {
        assert_eq!(key(&env, "", foreign), Ok(None), "{foreign}");
        assert!(key(&env, name, foreign).expect_err("refused").contains("no other host"));
    }
    let (_dir, env) = with_keyring(Environment::default(), None);
    assert_eq!(key(&env, "", HOME), Ok(None), "nothing says where it may go");
    assert_eq!(key(&env, name, HOME), Ok(Some(place.clone())), "the config does");
    let env_with_home = Environment::from_pairs([("OPENAI_COMPATIBLE_BASE_URL", HOME)]);
    let (_dir, env) = with_keyring(env_with_home, None);
    assert_eq!(key(&env, "", HOME), Ok(Some(place)));
}

#[cfg(unix)]
#[test]
fn a_refused_file_is_told_where_its_key_is_missing() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().expect("a folder");
    let path = dot_env(dir.path(), "OPENAI_COMPATIBLE_API_KEY=sk-file\n");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).expect("a mode");
    let env = Environment::default().with_files(&[&path]);
    let reason = key(&env, "OPENAI_COMPATIBLE_API_KEY", HOME).expect_err("refused");
    assert!(reason.contains("chmod 600") && !reason.contains("sk-file"), "{reason}");
    assert!(withheld_key(&env, Role::Target).expect("a reason").contains("chmod 600"));
    assert_eq!(key(&env, "", HOME), Ok(None));
    let other = key(&env, "OTHER_KEY", HOME).expect_err("refused");
    assert!(!other.contains("chmod"), "the file does not hold it: {other}");
}

#[test]
fn a_file_leads_no_key_that_a_config_names_to_its_own_address() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join(".env");
    std::fs::write(&path, "OPENAI_COMPATIBLE_BASE_URL=https://elsewhere.example/v1\n")
        .expect("written");
    let of_process = Environment::from_pairs([("MY_KEY", "sk-mine")]);
    let env = of_process.with_files(&[&path]);
    let at = |url: &str| role_key(&env, Role::Target, "MY_KEY", url);
    let error = at("https://elsewhere.example/v1").expect_err("refused");
    assert!(error.contains("draws no key"), "{error}");
    assert!(at("https://mine.example/v1").expect("a key").is_some());
}
