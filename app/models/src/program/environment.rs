//! What a program sees of our environment: what it needs to run and to reach its own provider, and nothing else. Pure.

use crate::secret::Secret;
use serde_json::Value;
use skillopt_domain::config::is_secret_name;
use std::collections::BTreeMap;

/// What any program needs.
const COMMON: [&str; 44] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "TMPDIR",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_CACHE_HOME",
    "XDG_STATE_HOME",
    "XDG_RUNTIME_DIR",
    "DBUS_SESSION_BUS_ADDRESS",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "CURL_CA_BUNDLE",
    "NIX_SSL_CERT_FILE",
    "SystemRoot",
    "SYSTEMROOT",
    "COMSPEC",
    "PATHEXT",
    "WINDIR",
    "USERPROFILE",
    "HOMEDRIVE",
    "HOMEPATH",
    "APPDATA",
    "LOCALAPPDATA",
    "ProgramData",
    "ProgramFiles",
    "TEMP",
    "TMP",
    "USERNAME",
];

/// The environment of one program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ChildEnvironment {
    /// Names and values.
    pub(super) pairs: Vec<(String, String)>,
    /// Values of all secrets that we know, its own or not, longest first.
    secrets: Vec<Secret>,
}

impl ChildEnvironment {
    /// What of `env` passes: the common names, those that the dialect needs, and one that the config names.
    pub(super) fn new(
        env: &BTreeMap<String, String>,
        needed: &[&str],
        named: &str,
        fixed: &[(&str, String)],
    ) -> Self {
        let passes = |name: &str| {
            COMMON.contains(&name) || needed.contains(&name) || (!named.is_empty() && name == named)
        };
        let mut pairs: Vec<(String, String)> = env
            .iter()
            .filter(|(name, _)| passes(name) && fixed.iter().all(|(taken, _)| taken != name))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        // Nobody looks at a screen.
        for (name, value) in [("NO_COLOR", "1"), ("TERM", "dumb"), ("CI", "1")] {
            pairs.push((name.to_owned(), value.to_owned()));
        }
        pairs.extend(fixed.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        let is_secret = |name: &str| is_secret_name(name) || name == named;
        let mut secrets: Vec<Secret> = env
            .iter()
            .filter(|(name, value)| is_secret(name) && value.trim().len() >= SHORTEST_SECRET)
            .filter_map(|(_, value)| Secret::new(value))
            .collect();
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.expose().len()));
        Self { pairs, secrets }
    }

    /// What a program complains of, without any secret that we know: neither whole, nor in part, nor encoded.
    pub(super) fn mask(&self, words: &str) -> String {
        self.secrets.iter().fold(words.to_owned(), |words, secret| secret.mask(&words))
    }

    /// What a program answers, without any secret that we know, whole or encoded.
    pub(super) fn mask_answer(&self, answer: String) -> String {
        self.secrets.iter().fold(answer, |answer, secret| {
            // Also one that is too short to be looked for in a model's answer: an agent reads its environment.
            let whole = secret.expose();
            let answer = if answer.contains(whole) { answer.replace(whole, "***") } else { answer };
            secret.mask_answer(answer)
        })
    }

    /// Masks every text of an event. Done before texts are cut, since a part of a key is found only by chance.
    pub(super) fn mask_event(&self, event: &mut Value) {
        match event {
            Value::String(text) => *text = self.mask_answer(std::mem::take(text)),
            Value::Array(items) => items.iter_mut().for_each(|item| self.mask_event(item)),
            Value::Object(fields) => fields.values_mut().for_each(|field| self.mask_event(field)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

/// Shorter values are no secrets, and masking them would make words unreadable.
const SHORTEST_SECRET: usize = 6;

#[cfg(test)]
mod tests {
    use super::*;

    fn env(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn a_program_sees_its_own_key_and_nobody_elses() {
        let all = env(&[
            ("PATH", "/bin"),
            ("HOME", "/home/me"),
            ("OPENAI_API_KEY", "sk-openai-1"),
            ("CURSOR_API_KEY", "key-cursor-1"),
            ("COPILOT_ALLOW_ALL", "true"),
            ("MY_KEY", "sk-mine-123"),
            ("AWS_SECRET_ACCESS_KEY", "aws-secret-1"),
            ("LD_PRELOAD", "/evil.so"),
        ]);
        let child = ChildEnvironment::new(&all, &["CURSOR_API_KEY"], "MY_KEY", &[]);
        let names: Vec<&str> = child.pairs.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["CURSOR_API_KEY", "HOME", "MY_KEY", "PATH", "NO_COLOR", "TERM", "CI"]);
        let words = "sk-openai-1 and key-cursor-1 and aws-secret-1 and sk-mine-123 of /home/me";
        assert_eq!(child.mask(words), "*** and *** and *** and *** of /home/me");
        assert_eq!(child.mask_answer(words.to_owned()), child.mask(words));
        assert_eq!(
            child.mask("the end of it is r-1 or ws-secret-1"),
            "the end of it is r-1 or ***"
        );
    }

    #[test]
    fn every_text_of_an_event_is_masked_at_any_depth() {
        let all = env(&[("OPENAI_API_KEY", "sk-planted-0123456789")]);
        let child = ChildEnvironment::new(&all, &[], "", &[]);
        let mut event =
            serde_json::json!({"type": "x", "parts": [{"text": "a sk-planted-0123456789 b"}]});
        child.mask_event(&mut event);
        assert_eq!(event, serde_json::json!({"type": "x", "parts": [{"text": "a *** b"}]}));
    }

    #[test]
    fn what_a_dialect_fixes_wins_over_what_was_there() {
        let all = env(&[("COPILOT_HOME", "/theirs")]);
        let fixed = [("COPILOT_HOME", "/ours".to_owned())];
        let child = ChildEnvironment::new(&all, &["COPILOT_HOME"], "", &fixed);
        let homes = child.pairs.iter().filter(|(name, _)| name == "COPILOT_HOME");
        assert_eq!(homes.map(|(_, value)| value.as_str()).collect::<Vec<_>>(), ["/ours"]);
    }
}
