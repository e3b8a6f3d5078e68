//! What says that a value is a secret: the name of its key, by the list in `domain`, or its form as an address.
//! No value is ever shown here.

use serde_json::Value;
use skillopt_domain::config::{is_secret_name, is_secret_parameter};

/// The right way, for messages.
pub(super) const RIGHT_WAY: &str = "a key does not belong in a config; put it in an environment variable and name that in \
     model.target_api_key_env or model.optimizer_api_key_env";

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
