//! Names that say that their value is a secret.

const WORDS: [&str; 7] =
    ["api_key", "apikey", "authorization", "password", "secret", "access_token", "credential"];

/// The right way, for messages.
pub(super) const RIGHT_WAY: &str = "a key does not belong in a config; put it in an environment variable and name that in \
     model.target_api_key_env or model.optimizer_api_key_env";

/// True for names such as `azure_openai_api_key` and `X-Api-Key`. Names of variables are no secrets.
pub(crate) fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase().replace('-', "_");
    !name.ends_with("_env") && WORDS.iter().any(|word| name.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("azure_openai_api_key", true)]
    #[case("X-Api-Key", true)]
    #[case("target_api_key_env", false)]
    #[case("max_completion_tokens", false)]
    fn secrets_are_known_by_their_names(#[case] name: &str, #[case] expect: bool) {
        assert_eq!(is_secret_name(name), expect);
    }
}
