//! What says that a value is a secret: the name of its key, or its form as an address. No value is ever shown here.

use serde_json::Value;

/// Parts of a name, without its dashes and underlines.
const WORDS: [&str; 11] = [
    "apikey",
    "authorization",
    "bearer",
    "password",
    "passwd",
    "secret",
    "accesstoken",
    "accesskey",
    "privatekey",
    "subscriptionkey",
    "credential",
];
/// Last words of a name.
const LAST: [&str; 4] = ["auth", "token", "signature", "sig"];
/// Ends of a query parameter's name, which is rarely anything but a name for a key when it ends so.
const QUERY_ENDS: [&str; 3] = ["key", "token", "secret"];

/// The right way, for messages.
pub(super) const RIGHT_WAY: &str = "a key does not belong in a config; put it in an environment variable and name that in \
     model.target_api_key_env or model.optimizer_api_key_env";

/// True for names such as `azure_openai_api_key`, `X-Api-Key`, `hf_token` and `auth`. Names of variables are no
/// secrets.
pub(crate) fn is_secret_name(name: &str) -> bool {
    let last = name.rsplit(['_', '-', '.']).next().unwrap_or_default().to_ascii_lowercase();
    let plain = plain(name);
    last != "env"
        && (WORDS.iter().any(|word| plain.contains(word))
            || LAST.contains(&last.as_str())
            || plain.ends_with("token")
            || plain.ends_with("signature"))
}

/// True when the value holds a secret, by the name of its key, of a key within it, or as an address. Switches are
/// none, whatever their name.
pub(crate) fn holds_secret(key: &str, value: &Value) -> bool {
    match value {
        Value::Bool(_) | Value::Null => false,
        _ if is_secret_name(key) => true,
        Value::Object(map) => map.iter().any(|(key, value)| holds_secret(key, value)),
        Value::Array(items) => items.iter().any(|item| holds_secret("", item)),
        Value::String(text) => secret_in_address(text).is_some(),
        Value::Number(_) => false,
    }
}

/// What of an address is a secret, for messages: a user name before the host, or a query parameter by its name.
/// The same names as in the check of an address that is called.
pub(crate) fn secret_in_address(text: &str) -> Option<String> {
    let mut hosts = text.split("://").skip(1);
    if hosts.any(|rest| rest.split(['/', '?', '#']).next().is_some_and(|host| host.contains('@'))) {
        return Some("a user name or password".to_owned());
    }
    let query = text.find(['?', '#']).and_then(|at| text.get(at + 1..))?;
    let pairs = query.split(['?', '#', '&', ';']);
    let mut names = pairs.filter_map(|pair| pair.split_once('=')).map(|(name, _)| decoded(name));
    names.find(|name| is_secret_parameter(name)).map(|name| format!("the parameter `{name}`"))
}

fn is_secret_parameter(name: &str) -> bool {
    let plain = plain(name);
    is_secret_name(name) || QUERY_ENDS.iter().any(|end| plain.ends_with(end))
}

fn plain(name: &str) -> String {
    let letters = name.chars().filter(char::is_ascii_alphanumeric);
    letters.map(|letter| letter.to_ascii_lowercase()).collect()
}

/// A name with its `%2D` as `-`.
fn decoded(name: &str) -> String {
    let mut parts = name.split('%');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let code = part.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match (code.filter(u8::is_ascii_graphic), part.get(2..)) {
            (Some(code), Some(rest)) => {
                text.push(char::from(code));
                text.push_str(rest);
            }
            _ => text.push_str(part),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use serde_json::json;

    #[rstest]
    #[case("azure_openai_api_key", true)]
    #[case("X-Api-Key", true)]
    #[case("auth", true)]
    #[case("proxy_auth", true)]
    #[case("hf_token", true)]
    #[case("accessToken", true)]
    #[case("request_signature", true)]
    #[case("target_api_key_env", false)]
    #[case("hf_token_env", false)]
    #[case("max_completion_tokens", false)]
    #[case("token_limit_param", false)]
    #[case("azure_openai_auth_mode", false)]
    #[case("answer_key", false)]
    #[case("author", false)]
    fn secrets_are_known_by_their_names(#[case] name: &str, #[case] expect: bool) {
        assert_eq!(is_secret_name(name), expect);
    }

    #[rstest]
    #[case("https://host/v1?api-key=sk-1", Some("the parameter `api-key`"))]
    #[case("https://host/v1?a=1&sub%2Dkey=sk-1", Some("the parameter `sub-key`"))]
    #[case("https://host/v1?sig=sk-1", Some("the parameter `sig`"))]
    #[case("https://host/v1#access_token=sk-1", Some("the parameter `access_token`"))]
    #[case("https://me:sk-1@host/v1", Some("a user name or password"))]
    #[case("https://host/v1?api-version=2024-01-01&max_tokens=3", None)]
    #[case("https://host/a@b", None)]
    #[case("me@host", None)]
    fn an_address_tells_what_it_hides(#[case] address: &str, #[case] expect: Option<&str>) {
        assert_eq!(secret_in_address(address).as_deref(), expect);
        assert_eq!(holds_secret("base_url", &json!([{"at": address}])), expect.is_some());
    }

    #[test]
    fn a_switch_is_no_secret_and_a_value_deep_inside_is_one() {
        assert!(!holds_secret("use_auth", &json!(true)) && !holds_secret("auth", &json!(null)));
        assert!(holds_secret("headers", &json!({"a": [{"Token": "sk-1"}]})));
    }
}
