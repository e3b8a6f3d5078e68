//! The kinds of secrets and the tags that stand in their places. How they are found is elsewhere.

use serde::{Deserialize, Serialize};

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident => $tag:literal,)*) => {
        /// What sort of secret was masked. In the order of how much the kind tells: the later, the more.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Kind { $($(#[$doc])* $name,)* }

        impl Kind {
            /// What stands in the place of the secret.
            pub fn tag(self) -> &'static str {
                match self { $(Self::$name => $tag,)* }
            }
        }
    };
}

kinds! {
    /// The value of a name such as `password` or `api_key`.
    Assigned => "[REDACTED]",
    /// What follows `Authorization`, `Bearer` or `Basic`.
    AuthHeader => "[REDACTED]",
    /// What a command line hands over: `--password`, `curl -u`.
    CommandLine => "[REDACTED]",
    /// The values of a cookie header.
    Cookie => "[REDACTED_COOKIE]",
    /// The password of a database: in its URL or its connection string.
    DbPassword => "[REDACTED_DB_PASS]",
    /// The password in another URL.
    UrlPassword => "[REDACTED_URL_PASS]",
    /// The signature of a signed URL.
    UrlSignature => "[REDACTED_URL_SIG]",
    /// The signature of a shared access link.
    SasSignature => "[REDACTED_SAS_SIG]",
    /// The key of a storage account.
    StorageKey => "[REDACTED_STORAGE_KEY]",
    /// A JSON web token.
    Jwt => "[REDACTED_JWT]",
    /// A token of one of the many vendors that mark theirs with a prefix.
    VendorToken => "[REDACTED_VENDOR_TOKEN]",
    /// OpenAI and those who took over its form.
    OpenaiKey => "[REDACTED_OPENAI_KEY]",
    /// Anthropic.
    AnthropicKey => "[REDACTED_ANTHROPIC_KEY]",
    /// An access key id of AWS.
    AwsKey => "[REDACTED_AWS_KEY]",
    /// A client secret of Azure.
    AzureKey => "[REDACTED_AZURE_KEY]",
    /// An API key, an access token or a client secret of Google.
    GoogleKey => "[REDACTED_GOOGLE_KEY]",
    /// GitHub.
    GithubToken => "[REDACTED_GITHUB_TOKEN]",
    /// GitLab.
    GitlabToken => "[REDACTED_GITLAB_TOKEN]",
    /// Slack, with its webhooks.
    SlackToken => "[REDACTED_SLACK_TOKEN]",
    /// Discord, with its webhooks.
    DiscordToken => "[REDACTED_DISCORD_TOKEN]",
    /// A bot of Telegram.
    TelegramToken => "[REDACTED_TELEGRAM_TOKEN]",
    /// npm.
    NpmToken => "[REDACTED_NPM_TOKEN]",
    /// Hugging Face.
    HuggingfaceToken => "[REDACTED_HF_TOKEN]",
    /// Stripe.
    StripeKey => "[REDACTED_STRIPE_KEY]",
    /// SendGrid.
    SendgridKey => "[REDACTED_SENDGRID_KEY]",
    /// Twilio.
    TwilioKey => "[REDACTED_TWILIO_KEY]",
    /// A private key in armour, also one that is cut.
    PrivateKey => "[REDACTED_PRIVATE_KEY]",
}

impl Kind {
    /// The one of two kinds that says more about a secret.
    pub(super) fn more_telling(self, other: Self) -> Self {
        self.max(other)
    }
}
