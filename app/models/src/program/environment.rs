//! What a program sees of our environment: what it needs to run and to reach its own provider, and nothing else. Pure.

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
    secrets: Vec<String>,
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
        let mut secrets: Vec<String> = env
            .iter()
            .filter(|(name, value)| is_secret(name) && value.trim().len() >= SHORTEST_SECRET)
            .map(|(_, value)| value.trim().to_owned())
            .collect();
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        Self { pairs, secrets }
    }

    /// A program's words without any secret that we know.
    pub(super) fn mask(&self, text: &str) -> String {
        self.secrets.iter().fold(text.to_owned(), |text, secret| text.replace(secret, "***"))
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
