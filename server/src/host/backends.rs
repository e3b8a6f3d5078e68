//! Whether each backend can be used on this machine as it is: is its key there, or its program? Calls nothing and starts
//! nothing.

use super::Hosting;
use crate::config::{Environment, key_variables_of};
use skillopt_domain::api::{BackendReady, CheckState};
use skillopt_domain::config::{Agents, BACKENDS, BackendFamily, BackendKind, BackendSpec};
use skillopt_models::{find_program, program_of};

impl Hosting {
    /// All backends, in the order of their table.
    pub(super) fn backends(&self) -> Vec<BackendReady> {
        BACKENDS
            .iter()
            .map(|spec| {
                let (state, words) = readiness(self.environment(), spec);
                BackendReady { name: spec.name.to_owned(), state, words }
            })
            .collect()
    }
}

fn readiness(env: &Environment, spec: &BackendSpec) -> (CheckState, String) {
    match spec.family {
        BackendFamily::Simulated => (CheckState::Ok, "needs no key".to_owned()),
        BackendFamily::Program => {
            let name = program_of(spec.kind).map_or(spec.name, |program| program.name);
            match find_program(spec.kind, &Agents::default(), env.all()) {
                Some(Ok(path)) => (CheckState::Ok, format!("found at {}", path.display())),
                Some(Err(_)) | None => (CheckState::Warning, format!("{name} is not on the PATH")),
            }
        }
        BackendFamily::Http => http(env, spec.kind),
    }
}

fn http(env: &Environment, kind: BackendKind) -> (CheckState, String) {
    let variables = key_variables_of(kind);
    let found = variables.iter().find_map(|name| {
        let place = env.find(name)?.place;
        Some(format!("{name} in {place}"))
    });
    match found {
        Some(words) => (CheckState::Ok, words),
        None if matches!(kind, BackendKind::OpenaiCompatible | BackendKind::QwenChat) => {
            (CheckState::Ok, "no key found; a server on this machine needs none".to_owned())
        }
        None => {
            let usual = variables.first().map(String::as_str).unwrap_or_default();
            (CheckState::Warning, format!("no key found, such as {usual}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(env: &Environment, kind: BackendKind) -> (CheckState, String) {
        readiness(env, kind.spec())
    }

    #[cfg(unix)]
    #[test]
    fn a_program_is_ready_when_it_can_be_run() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("codex");
        std::fs::write(&path, "").expect("written");
        let env = Environment::from_pairs([("PATH", &dir.path().display().to_string())]);
        assert_eq!(of(&env, BackendKind::CodexExec).0, CheckState::Warning, "it cannot be run");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("a mode");
        let (state, words) = of(&env, BackendKind::CodexExec);
        assert_eq!((state, words), (CheckState::Ok, format!("found at {}", path.display())));
        assert_eq!(of(&env, BackendKind::CopilotChat).0, CheckState::Warning);
    }

    #[test]
    fn a_key_is_told_by_name_and_place() {
        let env = Environment::from_pairs([("TARGET_OPENAI_COMPATIBLE_API_KEY", "sk-secret")]);
        let (state, words) = of(&env, BackendKind::OpenaiCompatible);
        assert_eq!(state, CheckState::Ok);
        assert_eq!(words, "TARGET_OPENAI_COMPATIBLE_API_KEY in the environment");
        assert_eq!(
            of(&Environment::default(), BackendKind::AnthropicMessages).0,
            CheckState::Warning
        );
        assert_eq!(of(&Environment::default(), BackendKind::Mock).0, CheckState::Ok);
    }

    #[test]
    fn each_backend_counts_its_own_keys_and_nobody_elses() {
        let ready = |name: &str, kind| {
            let env = Environment::from_pairs([(name, "sk-secret")]);
            of(&env, kind) == (CheckState::Ok, format!("{name} in the environment"))
        };
        let azure = ["AZURE_OPENAI_API_KEY", "AZURE_OPENAI_TARGET_API_KEY", "OPENAI_API_KEY"];
        assert!(azure.iter().all(|name| ready(name, BackendKind::OpenaiChat)));
        assert!(ready("MINIMAX_API_KEY", BackendKind::MinimaxChat));
        assert!(!ready("OPENAI_COMPATIBLE_API_KEY", BackendKind::OpenaiChat));
        assert!(!ready("OPENAI_API_KEY", BackendKind::OpenaiCompatible));
        let (_, words) = of(&Environment::default(), BackendKind::OpenaiChat);
        assert_eq!(words, "no key found, such as AZURE_OPENAI_API_KEY");
    }
}
