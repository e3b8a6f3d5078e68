//! THE list of names that say that a value is a secret: of config keys, JSON fields, headers and query parameters.
//! Whoever refuses, hides or redacts by name asks here. No value is looked at for its form.

use serde_json::Value;

/// Parts of a name, without its dashes and underlines.
const PARTS: [&str; 13] = [
    "apikey",
    "authorization",
    "bearer",
    "password",
    "passwd",
    "passphrase",
    "secret",
    "accesstoken",
    "accesskey",
    "privatekey",
    "subscriptionkey",
    "credential",
    "cookie",
];
/// Last words of a name.
const LAST: [&str; 6] = ["auth", "token", "signature", "sig", "pwd", "jwt"];
/// Ends of a name whose words stand together.
const ENDS: [&str; 2] = ["token", "signature"];
/// Tokens of a tokenizer.
const NO_SECRETS: [&str; 8] = [
    "bostoken",
    "eostoken",
    "padtoken",
    "unktoken",
    "septoken",
    "clstoken",
    "masktoken",
    "stoptoken",
];
/// Ends of a query parameter's name, which is rarely anything but a name for a key when it ends so.
const PARAMETER_ENDS: [&str; 1] = ["key"];

/// True for names such as `azure_openai_api_key`, `X-Api-Key`, `hfToken` and `auth`. Names of environment
/// variables, such as `target_api_key_env`, are no secrets.
#[must_use]
pub fn is_secret_name(name: &str) -> bool {
    let (plain, last) = (plain(name), last_word(name));
    last != "env"
        && !NO_SECRETS.contains(&plain.as_str())
        && (PARTS.iter().any(|part| plain.contains(part))
            || LAST.contains(&last.as_str())
            || ENDS.iter().any(|end| plain.ends_with(end)))
}

/// As [`is_secret_name`], for the parameters in the query of an address: `subscription-key` and `key` too.
#[must_use]
pub fn is_secret_parameter(name: &str) -> bool {
    let plain = plain(name);
    is_secret_name(name) || PARAMETER_ENDS.iter().any(|end| plain.ends_with(end))
}

/// The first field, at any depth, whose name says that it holds a secret. Switches and empty values hold none.
#[must_use]
pub fn secret_field(value: &Value) -> Option<&str> {
    match value {
        Value::Object(map) => map.iter().find_map(|(name, inner)| {
            let is_value = !matches!(inner, Value::Bool(_) | Value::Null);
            if is_value && is_secret_name(name) { Some(name.as_str()) } else { secret_field(inner) }
        }),
        Value::Array(items) => items.iter().find_map(secret_field),
        _ => None,
    }
}

/// Letters and digits, in lower case.
fn plain(name: &str) -> String {
    let letters = name.chars().filter(char::is_ascii_alphanumeric);
    letters.map(|letter| letter.to_ascii_lowercase()).collect()
}

/// The last word, in lower case: behind a dash, an underline, a dot, or a capital after a small letter.
fn last_word(name: &str) -> String {
    let mut word = String::new();
    let mut after_small = false;
    for letter in name.chars() {
        if !letter.is_ascii_alphanumeric() || (letter.is_ascii_uppercase() && after_small) {
            word.clear();
        }
        if letter.is_ascii_alphanumeric() {
            word.push(letter.to_ascii_lowercase());
        }
        after_small = letter.is_ascii_lowercase() || letter.is_ascii_digit();
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Availability, KEYS};
    use rstest::rstest;
    use serde_json::json;

    #[rstest]
    #[case("api_key")]
    #[case("Api-Key")]
    #[case("apiKey")]
    #[case("X-Api-Key")]
    #[case("azure_openai_api_key")]
    #[case("Authorization")]
    #[case("Proxy-Authorization")]
    #[case("bearer")]
    #[case("password")]
    #[case("db_passwd")]
    #[case("passphrase")]
    #[case("pwd")]
    #[case("secret")]
    #[case("client_secret")]
    #[case("clientSecret")]
    #[case("auth")]
    #[case("proxy_auth")]
    #[case("proxyAuth")]
    #[case("token")]
    #[case("hf_token")]
    #[case("hfToken")]
    #[case("accessToken")]
    #[case("sessiontoken")]
    #[case("aws.access_key_id")]
    #[case("private_key")]
    #[case("Ocp-Apim-Subscription-Key")]
    #[case("credentials")]
    #[case("request_signature")]
    #[case("sig")]
    #[case("jwt")]
    #[case("Set-Cookie")]
    fn names_of_secrets_in_every_spelling(#[case] name: &str) {
        assert!(is_secret_name(name) && is_secret_parameter(name));
    }

    #[rstest]
    #[case("target_api_key_env")]
    #[case("hf_token_env")]
    #[case("max_tokens")]
    #[case("max_completion_tokens")]
    #[case("stop_token_ids")]
    #[case("skip_special_tokens")]
    #[case("eos_token")]
    #[case("padToken")]
    #[case("token_limit_param")]
    #[case("azure_openai_auth_mode")]
    #[case("author")]
    #[case("api-version")]
    #[case("design")]
    #[case("model")]
    #[case("")]
    fn names_that_only_look_alike(#[case] name: &str) {
        assert!(!is_secret_name(name) && !is_secret_parameter(name));
    }

    #[rstest]
    #[case("key")]
    #[case("answer_key")]
    #[case("sub-key")]
    fn a_key_is_a_secret_in_an_address_only(#[case] name: &str) {
        assert!(!is_secret_name(name) && is_secret_parameter(name));
    }

    #[test]
    fn the_keys_of_configs_are_named_by_the_same_list() {
        for spec in KEYS {
            let is_secret = spec.availability == Availability::Secret;
            assert_eq!(is_secret_name(spec.path), is_secret, "{}", spec.path);
        }
    }

    #[test]
    fn a_field_is_found_at_any_depth_and_a_switch_is_none() {
        let deep = json!({"a": [{"b": 1}, {"x": {"Api-Key": "v"}}]});
        assert_eq!(secret_field(&deep), Some("Api-Key"));
        let switches = json!({"use_auth": true, "token": null, "headers": {"x": "y"}});
        assert_eq!(secret_field(&switches), None);
        assert_eq!(secret_field(&json!({"pin": 1, "password": 1234})), Some("password"));
    }
}
