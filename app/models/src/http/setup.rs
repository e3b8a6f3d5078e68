//! What an HTTP model is made from, and why that can fail. No call is made here.

use super::sign_in::TokenSource;
use crate::secret::Secret;
use skillopt_domain::config::ModelRole;
use skillopt_domain::ids::RunId;
use skillopt_domain::spend::Role;

/// What [`super::HttpModel::new`] needs.
#[derive(Clone, Debug)]
pub struct HttpModelSetup<'a> {
    /// Which role the model plays.
    pub role: Role,
    /// How it is called.
    pub config: &'a ModelRole,
    /// The key; without one, and without a token, nothing that signs in is sent.
    pub secret: Option<Secret>,
    /// Where tokens come from, for Azure without a key.
    pub token: Option<TokenSource>,
    /// Calls in flight to the endpoint. The endpoint is shared: the value given last holds.
    pub max_concurrency: u32,
    /// For the `X-SkillOpt-Run` header.
    pub run: Option<&'a RunId>,
}

/// The configuration cannot work, or would give the key away.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SetupError {
    /// No model is named.
    #[error("the {0} has no model name: set model.{0}")]
    NoModel(Role),
    /// No address is set.
    #[error("the {0} has no base URL: set model.openai_compatible_base_url")]
    NoAddress(Role),
    /// The address is none.
    #[error("{address:?} is no base URL: {reason}")]
    BadAddress {
        /// The address, without anything secret.
        address: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The address holds a user name or a password.
    #[error(
        "the base URL of {host} contains a user name or password, which would be stored with the run; \
         put the key into an environment variable instead"
    )]
    CredentialsInAddress {
        /// The host.
        host: String,
    },
    /// The query of the address holds a key.
    #[error(
        "the base URL of {host} carries {parameter:?} in its query, which would be stored with the run; \
         put the key into an environment variable instead"
    )]
    SecretInQuery {
        /// The host.
        host: String,
        /// The query parameter.
        parameter: String,
    },
    /// The key would cross a network in the clear.
    #[error(
        "the key would be sent to {host} unencrypted: use https, an address on this machine \
         (such as a tunnel to the server), or call it without a key"
    )]
    KeyInTheClear {
        /// The host.
        host: String,
    },
    /// The key cannot stand in a header.
    #[error(
        "the key of the {0} contains characters that no header can carry, such as a line break"
    )]
    BadKey(Role),
    /// The extra fields are none.
    #[error("the extra body of the {0} must be a JSON object")]
    ExtraBodyIsNoObject(Role),
    /// An extra field would override one of ours.
    #[error("the extra body of the {role} must not set {field:?}: {instead}")]
    ExtraBodyTaken {
        /// The role.
        role: Role,
        /// The field.
        field: String,
        /// What to do.
        instead: &'static str,
    },
    /// The HTTP client could not be made.
    #[error("encrypted connections are not possible: {0}")]
    Client(String),
}
