//! Where requests go: the base URL, checked once. A key leaves this machine only encrypted.

use super::dialect::Api;
use super::setup::SetupError;
use reqwest::Url;
use skillopt_domain::config::is_secret_parameter;
use skillopt_domain::spend::Role;
use std::net::IpAddr;

/// A checked base URL.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Address {
    /// The base URL with the query that it may have; its path has no trailing slash.
    base: Url,
    layout: Layout,
    /// The base URL for people and keys: no query, no trailing slash.
    pub(crate) public: String,
    /// Host and port, for messages.
    pub(crate) host: String,
    /// How connections are made.
    pub(crate) transport: Transport,
}

/// Where a service has its APIs below the base URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// Right below it, as at OpenAI.
    Plain,
    /// Below a version that the base URL need not name.
    Anthropic,
    /// In folders by deployment, with a version in the query.
    Azure {
        /// The name of the deployment.
        deployment: String,
        /// Such as `2024-12-01-preview`.
        api_version: String,
    },
}

/// What an HTTP client has to be able to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Transport {
    /// The server runs on this machine: no proxy.
    pub(crate) loopback: bool,
    /// Connections are encrypted.
    pub(crate) tls: bool,
}

/// What people paste behind the base URL.
const PATHS: [&str; 3] = ["/chat/completions", "/responses", "/messages"];
const NO_SCHEME: &str = "it must begin with http:// or https://";
const AZURE_VERSION: &str = "api-version";

impl Address {
    pub(crate) fn parse(
        base_url: &str,
        role: Role,
        has_key: bool,
        layout: Layout,
    ) -> Result<Self, SetupError> {
        let base_url = base_url.trim();
        if base_url.is_empty() {
            return Err(SetupError::NoAddress(role));
        }
        if !base_url.contains("://") {
            return Err(bad(base_url, NO_SCHEME));
        }
        let mut base = Url::parse(base_url).map_err(|err| bad(base_url, &err.to_string()))?;
        let tls = match base.scheme() {
            "https" => true,
            "http" => false,
            _ => return Err(bad(base_url, NO_SCHEME)),
        };
        let Some(name) = base.host_str().map(str::to_owned) else {
            return Err(bad(base_url, "it names no host"));
        };
        let host = base.port().map_or_else(|| name.clone(), |port| format!("{name}:{port}"));
        if !base.username().is_empty() || base.password().is_some() {
            return Err(SetupError::CredentialsInAddress { host });
        }
        if let Some(parameter) = secret_in_query(&base) {
            return Err(SetupError::SecretInQuery { host, parameter });
        }
        let transport = Transport { loopback: is_loopback(&name), tls };
        if has_key && !tls && !transport.loopback {
            return Err(SetupError::KeyInTheClear { host });
        }
        base.set_fragment(None);
        let path = base.path().trim_end_matches('/');
        let path = PATHS.iter().find_map(|end| path.strip_suffix(end)).unwrap_or(path);
        let (path, layout) = match layout {
            // Azure's newer form is laid out as at OpenAI.
            Layout::Azure { .. } if path.ends_with("/openai/v1") => (path, Layout::Plain),
            Layout::Azure { .. } => (path.split("/openai").next().unwrap_or(path), layout),
            Layout::Anthropic => (path.strip_suffix("/v1").unwrap_or(path), layout),
            Layout::Plain => (path, layout),
        };
        let path = path.to_owned();
        let public = format!("{}://{host}{path}", base.scheme());
        base.set_path(&path);
        Ok(Self { base, layout, public, host, transport })
    }

    /// The full address of an API.
    pub(crate) fn url(&self, api: Api) -> Url {
        let path = match api {
            Api::Chat => "chat/completions",
            Api::Responses => "responses",
            Api::Messages => "messages",
        };
        let mut url = self.base.clone();
        let below = match (&self.layout, api) {
            (Layout::Plain, _) => "",
            (Layout::Anthropic, _) => "v1/",
            (Layout::Azure { .. }, Api::Responses) => "openai/v1/",
            (Layout::Azure { deployment, api_version }, _) => {
                if let Ok(mut folders) = url.path_segments_mut() {
                    folders.pop_if_empty().extend(["openai", "deployments", deployment]);
                }
                if url.query_pairs().all(|(name, _)| name != AZURE_VERSION) {
                    url.query_pairs_mut().append_pair(AZURE_VERSION, api_version);
                }
                ""
            }
        };
        let folder = url.path().trim_end_matches('/').to_owned();
        url.set_path(&format!("{folder}/{below}{path}"));
        url
    }
}

/// The first query parameter whose name says that its value is a secret.
fn secret_in_query(url: &Url) -> Option<String> {
    url.query_pairs().map(|(name, _)| name.into_owned()).find(|name| is_secret_parameter(name))
}

/// An address that is none may still hold a password, so only its beginning is shown.
fn bad(address: &str, reason: &str) -> SetupError {
    let shown = address.split(['@', '?']).next().unwrap_or_default();
    let shown = if address.contains('@') { "…" } else { shown };
    SetupError::BadAddress { address: shown.to_owned(), reason: reason.to_owned() }
}

fn is_loopback(host: &str) -> bool {
    let name = host.trim_start_matches('[').trim_end_matches(']');
    match name.parse::<IpAddr>() {
        Ok(ip) => ip.is_loopback(),
        Err(_) => name == "localhost" || name.ends_with(".localhost"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn parse(base_url: &str, has_key: bool) -> Result<Address, SetupError> {
        Address::parse(base_url, Role::Target, has_key, Layout::Plain)
    }

    #[rstest]
    #[case(
        "https://api.example.com/v1",
        "https://api.example.com/v1/chat/completions",
        "https://api.example.com/v1"
    )]
    #[case(
        "https://api.example.com/v1/",
        "https://api.example.com/v1/chat/completions",
        "https://api.example.com/v1"
    )]
    #[case(
        "https://api.example.com",
        "https://api.example.com/chat/completions",
        "https://api.example.com"
    )]
    #[case(
        "http://127.0.0.1:8000/v1/chat/completions",
        "http://127.0.0.1:8000/v1/chat/completions",
        "http://127.0.0.1:8000/v1"
    )]
    #[case(
        "https://x.example/d?api-version=1&max_tokens=2",
        "https://x.example/d/chat/completions?api-version=1&max_tokens=2",
        "https://x.example/d"
    )]
    fn a_base_url_becomes_the_address_of_the_chat(
        #[case] base: &str,
        #[case] chat: &str,
        #[case] public: &str,
    ) {
        let address = parse(base, true).unwrap();
        assert_eq!((address.url(Api::Chat).as_str(), address.public.as_str()), (chat, public));
    }

    #[rstest]
    #[case(
        "https://me.openai.azure.com/",
        Api::Chat,
        "https://me.openai.azure.com/openai/deployments/my%20gpt/chat/completions?api-version=2024"
    )]
    #[case(
        "https://me.openai.azure.com/openai/deployments/x/chat/completions?api-version=2025",
        Api::Chat,
        "https://me.openai.azure.com/openai/deployments/my%20gpt/chat/completions?api-version=2025"
    )]
    #[case(
        "https://me.openai.azure.com",
        Api::Responses,
        "https://me.openai.azure.com/openai/v1/responses"
    )]
    #[case(
        "https://me.openai.azure.com/openai/v1/",
        Api::Chat,
        "https://me.openai.azure.com/openai/v1/chat/completions"
    )]
    fn azure_has_a_folder_for_each_deployment(
        #[case] base: &str,
        #[case] api: Api,
        #[case] url: &str,
    ) {
        let layout =
            Layout::Azure { deployment: "my gpt".to_owned(), api_version: "2024".to_owned() };
        let address = Address::parse(base, Role::Target, true, layout).unwrap();
        assert_eq!(address.url(api).as_str(), url);
        assert!(!address.public.contains("deployments"), "{}", address.public);
    }

    #[rstest]
    #[case("https://api.anthropic.com")]
    #[case("https://api.anthropic.com/v1/")]
    #[case("https://api.anthropic.com/v1/messages")]
    fn the_version_of_anthropic_s_api_may_be_left_out(#[case] base: &str) {
        let address = Address::parse(base, Role::Target, true, Layout::Anthropic).unwrap();
        assert_eq!(address.url(Api::Messages).as_str(), "https://api.anthropic.com/v1/messages");
        assert_eq!(address.public, "https://api.anthropic.com");
    }

    #[rstest]
    #[case("http://127.0.0.1:8000/v1")]
    #[case("http://localhost:8000/v1")]
    #[case("http://[::1]:8000/v1")]
    #[case("https://192.168.0.7/v1")]
    fn a_key_goes_to_this_machine_or_encrypted(#[case] base: &str) {
        assert!(parse(base, true).is_ok());
    }

    #[rstest]
    #[case("http://192.168.0.7:8000/v1")]
    #[case("http://localhost.example.com/v1")]
    #[case("http://api.example.com/v1")]
    fn a_key_is_not_sent_in_the_clear(#[case] base: &str) {
        assert!(matches!(parse(base, true), Err(SetupError::KeyInTheClear { .. })));
        assert!(parse(base, false).is_ok(), "without a key there is nothing to protect");
    }

    #[rstest]
    #[case("127.0.0.1:8000/v1")]
    #[case("localhost:8000/v1")]
    #[case("api.example.com/v1")]
    fn an_address_without_a_scheme_is_told_how_to_begin(#[case] base: &str) {
        let error = parse(base, false).err().unwrap();
        assert!(error.to_string().ends_with(NO_SCHEME), "{error}");
    }

    #[test]
    fn credentials_in_the_address_are_refused_and_not_repeated() {
        let error = parse("https://me:geheim@api.example.com/v1", false).err().unwrap();
        assert!(matches!(error, SetupError::CredentialsInAddress { .. }));
        assert!(!error.to_string().contains("geheim"));
        let error = parse("ftp://me:geheim@api.example.com/v1", false).err().unwrap();
        assert!(!error.to_string().contains("geheim"));
    }

    #[rstest]
    #[case("key")]
    #[case("api_key")]
    #[case("api-key")]
    #[case("subscription-key")]
    #[case("access_token")]
    #[case("client_secret")]
    fn a_secret_in_the_query_is_refused_and_not_repeated(#[case] name: &str) {
        let error = parse(&format!("https://x.example/v1?v=1&{name}=geheim"), true).err().unwrap();
        assert!(error.to_string().contains(name), "{error}");
        assert!(!error.to_string().contains("geheim"), "{error}");
    }

    #[rstest]
    #[case("")]
    #[case("api.example.com/v1")]
    #[case("localhost:8000/v1")]
    #[case("file:///etc")]
    fn what_is_no_address_is_explained(#[case] base: &str) {
        assert!(matches!(
            parse(base, false),
            Err(SetupError::NoAddress(_) | SetupError::BadAddress { .. })
        ));
    }
}
