//! Planted secrets and harmless look-alikes. Keys are put together here, so that no scanner of secrets finds one.

use super::{Kind, redact, redact_json};
use proptest::prelude::*;

const LETTERS: &str = "aB3dE5gH7jK9mN2pQ4sT6vW8xY1zC0fL";

/// `n` letters and digits that look drawn.
fn drawn(n: usize) -> String {
    LETTERS.chars().cycle().take(n).collect()
}

/// `n` hexadecimal digits.
fn hex(n: usize) -> String {
    "3f9a0c7e51d284b6".chars().cycle().take(n).collect()
}

/// What is masked: the kind, the text before, the secret, the text after.
type Row = (Kind, &'static str, String, &'static str);

fn planted() -> Vec<Row> {
    let mut rows = planted_tokens();
    rows.extend(planted_in_places());
    rows.extend(planted_behind_names());
    rows
}

/// Secrets that show by their own form.
fn planted_tokens() -> Vec<Row> {
    let d = drawn;
    let jwt =
        format!("{}.{}.{}", ["ey", "J", &d(20)].concat(), ["ey", "J", &d(30)].concat(), d(40));
    vec![
        (Kind::OpenaiKey, "use ", format!("sk-{}", d(40)), " please"),
        (Kind::OpenaiKey, "", format!("sk-proj-{}_{}", d(20), d(20)), ""),
        (Kind::AnthropicKey, "key: ", format!("sk-ant-api03-{}-{}AA", d(60), d(20)), "\n"),
        (Kind::AwsKey, "id ", format!("AKIA{}", "ABCDEFGH23456789"), "."),
        (Kind::AwsKey, "id ", format!("ASIA{}", "ZBCDEFGH23456789"), ","),
        (Kind::AzureKey, "it is ", format!("{}8Q~{}", "Abc", d(34)), " "),
        (Kind::GithubToken, "x", format!("ghp_{}", d(36)), "").with_start("push with "),
        (Kind::GithubToken, "", format!("github_pat_{}_{}", d(22), d(59)), " works"),
        (Kind::GithubToken, "as ", format!("ghs_{}", d(36)), ""),
        (Kind::GitlabToken, "with ", format!("glpat-{}", d(20)), ""),
        (
            Kind::SlackToken,
            "",
            format!("xoxb-{}-{}-{}", "123456789012", "1234567890123", d(24)),
            "",
        ),
        (
            Kind::SlackToken,
            "https://hooks.slack.com/services/",
            format!("T0ABCDEF/B0ABCDEF/{}", d(24)),
            " posts",
        ),
        (Kind::GoogleKey, "", format!("AIza{}", d(35)), ""),
        (Kind::GoogleKey, "", format!("ya29.{}", d(60)), ""),
        (Kind::GoogleKey, "", format!("GOCSPX-{}", d(28)), ""),
        (Kind::Jwt, "it got ", jwt.clone(), " back"),
        (Kind::Jwt, "Authorization: Bearer ", jwt, ""),
        (Kind::NpmToken, "", format!("npm_{}", d(36)), ""),
        (Kind::NpmToken, "//registry/:_authToken=", format!("npm_{}", d(36)), "\n"),
        (Kind::HuggingfaceToken, "", format!("hf_{}", d(34)), ""),
        (Kind::StripeKey, "", format!("sk_live_{}", d(24)), ""),
        (Kind::StripeKey, "", format!("whsec_{}", d(32)), ""),
        (Kind::SendgridKey, "", format!("SG.{}.{}", d(22), d(43)), ""),
        (Kind::TwilioKey, "sid ", format!("SK{}", hex(32)), ""),
        (Kind::TelegramToken, "bot", format!("{}:AA{}", "123456789", d(33)), "")
            .with_start("the bot "),
        (Kind::DiscordToken, "", format!("M{}.{}.{}", d(23), "Gabc1d", d(38)), ""),
        (Kind::DiscordToken, "https://discord.com/api/webhooks/123456/", d(68), " posts"),
        (Kind::VendorToken, "", format!("dop_v1_{}", hex(64)), ""),
        (Kind::VendorToken, "", format!("hvs.{}", d(40)), ""),
        (Kind::VendorToken, "", format!("pypi-{}", d(80)), ""),
        (Kind::VendorToken, "", format!("shpat_{}", hex(32)), ""),
        (Kind::VendorToken, "", format!("gsk_{}", d(52)), ""),
    ]
}

/// Secrets that show by where they stand.
fn planted_in_places() -> Vec<Row> {
    let d = drawn;
    vec![
        (Kind::AuthHeader, "curl -H 'Authorization: Bearer ", d(30), "'"),
        (Kind::AuthHeader, "Authorization: Basic ", "dXNlcjpodW50ZXIy".to_owned(), ""),
        (Kind::AuthHeader, "\"authorization\": \"token ", d(30), "\""),
        (Kind::AuthHeader, "send Basic ", "YWRtaW46c2VjcmV0".to_owned(), " along"),
        (Kind::DbPassword, "postgres://u:", "p".to_owned(), "@h/db"),
        (Kind::DbPassword, "mysql://root:", "s3cr3t!x".to_owned(), "@db:3306/app"),
        (Kind::DbPassword, "mongodb+srv://app:", "a@b".to_owned(), "@cluster.example.net"),
        (Kind::DbPassword, "redis://:", d(20), "@cache:6379"),
        (Kind::UrlPassword, "git clone https://bob:", d(20), "@host.dev/x.git"),
        (Kind::DbPassword, "Server=db;User=sa;Password=", "hunter2".to_owned(), ";Encrypt=yes"),
        (Kind::DbPassword, "Server=db;UID=sa;PWD=", "hunter2".to_owned(), ";"),
        (Kind::DbPassword, "Server=db;Pwd={", "hun;ter2".to_owned(), "};"),
        (Kind::StorageKey, "AccountName=a;AccountKey=", format!("{}==", d(86)), ";"),
        (
            Kind::SasSignature,
            "https://a.blob.core/x?sv=2024&sig=",
            format!("{}%3D", d(43)),
            "&se=1",
        ),
        (Kind::UrlSignature, "https://b.s3/x?X-Amz-Signature=", hex(64), "&y=1"),
        (Kind::UrlSignature, "https://b/x?X-Goog-Signature=", hex(64), ""),
        (Kind::UrlSignature, "https://cf/x?Expires=1&Signature=", d(60), "&Key-Pair-Id=K"),
        (Kind::Cookie, "Cookie: ", format!("session={}; theme=dark", d(24)), "\n"),
        (Kind::Cookie, "Set-Cookie: ", format!("sid={}; Path=/", d(24)), "\n"),
    ]
}

/// Secrets that show by the name before them, and keys in armour.
fn planted_behind_names() -> Vec<Row> {
    let d = drawn;
    let pem = |label: &str| {
        let dashes = "-".repeat(5);
        format!("{dashes}BEGIN {label}{dashes}\n{}\n{}\n{dashes}END {label}{dashes}", d(64), d(64))
    };
    vec![
        (Kind::Assigned, "aws_secret_access_key = ", format!("{}/{}", d(20), d(19)), "\n"),
        (Kind::PrivateKey, "see\n", pem("RSA PRIVATE KEY"), "\nand go on"),
        (Kind::PrivateKey, "see\n", pem("OPENSSH PRIVATE KEY"), "\n"),
        (
            Kind::PrivateKey,
            "\"private_key\": \"",
            pem("PRIVATE KEY").replace('\n', "\\n") + "\\n",
            "\", \"x\": 1",
        ),
        (Kind::PrivateKey, "cut: ", pem("EC PRIVATE KEY")[..80].to_owned(), ""),
        (Kind::Assigned, "export TOKEN=", "abc123def".to_owned(), "\n"),
        (Kind::Assigned, "export DB_PASSWORD='", "swordfish".to_owned(), "'\n"),
        (Kind::Assigned, "{\"apiKey\": \"", d(24), "\"}"),
        (Kind::Assigned, "{\\\"password\\\": \\\"", "s3cr3t".to_owned(), "\\\"}"),
        (Kind::Assigned, "password: ", "hunter2".to_owned(), "\n"),
        (Kind::Assigned, "client_secret=", d(30), "&grant_type=x"),
        (Kind::Assigned, "api_key = \"", "it's \\\"here\\\" 7".to_owned(), "\""),
        (Kind::Assigned, "private_key_id: \"", hex(40), "\""),
        (Kind::Assigned, "the token ", d(24), " is old"),
        (Kind::Assigned, "my password is ", "hunter2!".to_owned(), ""),
        (Kind::Assigned, "DB_PASS=", "letmein".to_owned(), "\n"),
        (Kind::Assigned, "set the password to ", "Hunter22".to_owned(), ""),
        (Kind::Assigned, "PGPASSWORD=", "swordfish".to_owned(), " psql"),
        (Kind::Assigned, "SECRET_KEY_BASE=", hex(64), ""),
        (Kind::CommandLine, "login --token ", d(20), " --yes"),
        (Kind::CommandLine, "curl -s -u admin:", "swordfish".to_owned(), " https://x"),
        (Kind::CommandLine, "mysql -u root -p", "swordfish".to_owned(), " app"),
    ]
}

/// For rows whose text before must not touch the secret.
trait WithStart {
    fn with_start(self, start: &'static str) -> Self;
}

impl WithStart for Row {
    fn with_start(mut self, start: &'static str) -> Self {
        self.1 = start;
        self
    }
}

const HARMLESS: &[&str] = &[
    "apiKey: import.meta.env.KEY",
    "no API key needed",
    "id 550e8400-e29b-41d4-a716-446655440000",
    "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
    "PWD=/home/x",
    "OLDPWD=/home/x/y",
    "token: string",
    "password: str | None = None",
    "const token = await getToken();",
    "const apiKey = process.env.API_KEY",
    "api_key = os.environ[\"API_KEY\"]",
    "client(api_key=api_key, token=self.token)",
    "password=password",
    "\"token\": \"${TOKEN}\"",
    "export TOKEN=$(cat file)",
    "export API_KEY=<your key>",
    "Authorization: Bearer <token>",
    "Authorization: Bearer $TOKEN",
    "Authorization: Bearer YOUR_TOKEN_HERE",
    "basic authentication is enough",
    "Basic JavaScript",
    "bearer of bad news",
    "max_tokens=4096",
    "token_count: 12",
    "the tokenizer splits tokens",
    "Token::Ident",
    "if (token === null) return",
    "password: required",
    "Secret: the sauce",
    "The password is required.",
    "\"password\": \"Password must not be empty\"",
    "<input type=\"password\" name=\"password\">",
    "https://example.com:8080/@scope/package",
    "http://localhost:3000/@vite/client",
    "postgres://localhost:5432/db",
    "postgres://user:${PASSWORD}@host/db",
    "ssh git@github.com:owner/repo.git",
    "sk-learn and sk-container-accordion-component",
    "task-force-risk-management",
    "hf_hub_download(repo)",
    "grep for -----BEGIN PRIVATE KEY----- in the sources",
    "-----BEGIN PUBLIC KEY-----",
    "docker run -u 1000:1000 image",
    "cookie: settings page",
    "use a cookie",
    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "integrity sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg",
    "version: 1.2.3-beta.4+build.567",
    "key: value",
    "the secret of good code",
    "secretKeyRef: name",
    "npm_config_cache=/tmp/x",
    "sig=",
    "AC power and SK telecom",
    "AKIA is a prefix",
    "ghp_ tokens and xoxb- tokens",
    "token",
    "token = tokens[0]",
    "secret: my-k8s-secret-name",
    "use the --token flag",
    "privateKey: fs.readFileSync(\"key.pem\")",
    "password: \"{{ vault_password }}\"",
    "GITHUB_TOKEN=${{ secrets.GITHUB_TOKEN }}",
    "const password = req.body.password;",
    "ssh_key: ~/.ssh/id_rsa",
    "pass: true",
    "compass: north",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUA",
    "The token expires in 3600 seconds",
    "Password: ",
];

#[test]
fn c61_planted_secrets_are_masked_and_nothing_else() {
    let rows = planted();
    assert!(rows.len() >= 40);
    for (kind, before, secret, after) in rows {
        let text = format!("{before}{secret}{after}");
        let redacted = redact(&text);
        assert_eq!(redacted.text, format!("{before}{}{after}", kind.tag()), "{text}");
        assert_eq!(redacted.counts.get(&kind), Some(&1), "{text}: {:?}", redacted.counts);
        assert_eq!(redact(&redacted.text).text, redacted.text, "twice: {text}");
    }
}

#[test]
fn c61_look_alikes_are_untouched() {
    assert!(HARMLESS.len() >= 40);
    for text in HARMLESS {
        assert_eq!(redact(text).text, *text);
        let amid = format!("Please look: {text} and go on.");
        assert_eq!(redact(&amid).text, amid);
    }
}

#[test]
fn c61_a_secret_is_masked_before_a_clip_can_halve_it() {
    let text = format!("{} export TOKEN={}", "x ".repeat(50), drawn(60));
    let clipped: String = redact(&text).text.chars().take(130).collect();
    assert!(!clipped.contains(&drawn(8)), "{clipped}");
}

#[test]
fn c61_a_value_longer_than_any_password_is_masked_whole() {
    let long = drawn(5_000);
    assert_eq!(redact(&format!("token={long} end")).text, "token=[REDACTED] end");
    assert_eq!(redact(&format!("token=\"{long}\" end")).text, "token=\"[REDACTED]\" end");
}

#[test]
fn names_in_json_hide_their_values_whole() {
    let mut value = serde_json::json!({
        "Api-Key": {"deep": "x"}, "pwd": "p", "sig": "", "max_tokens": 7,
        "list": [format!("npm_{}", drawn(36)), "fine"],
    });
    let counts = redact_json(&mut value);
    let expected = serde_json::json!({
        "Api-Key": "[REDACTED]", "pwd": "[REDACTED]", "sig": "", "max_tokens": 7,
        "list": ["[REDACTED_NPM_TOKEN]", "fine"],
    });
    assert_eq!(value, expected);
    assert_eq!(counts.values().sum::<u64>(), 3);
    assert!(redact_json(&mut value).is_empty());
}

proptest! {
    #[test]
    fn redaction_is_idempotent_on_any_text(text in "\\PC{0,200}") {
        let once = redact(&text).text;
        prop_assert_eq!(&redact(&once).text, &once);
    }

    #[test]
    fn redaction_is_idempotent_around_secrets(
        rows in proptest::collection::vec((0usize..70, "[ \\n\"':;=&,]{0,3}"), 1..5),
    ) {
        let planted = planted();
        let text: String = rows
            .iter()
            .map(|(at, joint)| {
                let (_, before, secret, after) = &planted[at % planted.len()];
                format!("{before}{secret}{after}{joint}")
            })
            .collect();
        let once = redact(&text).text;
        prop_assert_eq!(&redact(&once).text, &once);
    }
}
