//! Secrets that show by their shape: a prefix, a place in a URL or a header. One row a shape.

use super::value::{is_basic_pair, is_mixed, is_placeholder, is_random, is_word};
use super::{Kind, Span};
use aho_corasick::AhoCorasick;
use regex::Regex;
use std::sync::LazyLock;

/// One shape. Group 1 is the secret, or the whole match where there is no group.
struct Shape {
    kind: Kind,
    /// Text without which the shape cannot be there, in any case; empty where there is no such text.
    hint: &'static str,
    pattern: &'static str,
    /// What the secret must be besides.
    holds: fn(&str) -> bool,
}

const fn shape(kind: Kind, hint: &'static str, pattern: &'static str) -> Shape {
    Shape { kind, hint, pattern, holds: any }
}

const fn checked(
    kind: Kind,
    hint: &'static str,
    pattern: &'static str,
    holds: fn(&str) -> bool,
) -> Shape {
    Shape { kind, hint, pattern, holds }
}

fn any(_: &str) -> bool {
    true
}

fn real(value: &str) -> bool {
    !is_placeholder(value) && !is_word(value)
}

fn real_and_random(value: &str) -> bool {
    real(value) && is_random(value)
}

fn bearer(value: &str) -> bool {
    real(value) && (is_mixed(value) || value.len() >= 24)
}

fn db_scheme(url: &str) -> bool {
    const DATABASES: [&str; 14] = [
        "postgres",
        "mysql",
        "mariadb",
        "mongodb",
        "redis",
        "amqp",
        "mssql",
        "sqlserver",
        "oracle",
        "cockroach",
        "clickhouse",
        "db2",
        "neo4j",
        "jdbc",
    ];
    DATABASES.iter().any(|name| url.starts_with(name))
}

const SHAPES: &[Shape] = &[
    shape(Kind::AnthropicKey, "sk-ant-", r"\bsk-ant-[A-Za-z0-9_-]{12,}"),
    checked(Kind::OpenaiKey, "sk-", r"\bsk-[A-Za-z0-9_-]{16,}", |v| is_mixed(v) && is_random(v)),
    shape(Kind::AwsKey, "A", r"\b(?:AKIA|ASIA|ABIA|ACCA|AROA|AIDA|AGPA|ANPA)[A-Z0-9]{16}\b"),
    shape(Kind::GithubToken, "gh", r"\bgh[pousr]_[A-Za-z0-9]{20,}"),
    shape(Kind::GithubToken, "github_pat_", r"\bgithub_pat_[A-Za-z0-9_]{20,}"),
    shape(
        Kind::GitlabToken,
        "gl",
        r"\bgl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|soat|oas|ffct)-[A-Za-z0-9_.-]{16,}",
    ),
    shape(Kind::SlackToken, "xox", r"\bxox[abeoprsc](?:\.xox[bp])?-[A-Za-z0-9-]{10,}"),
    shape(Kind::SlackToken, "xapp-", r"\bxapp-[0-9]-[A-Za-z0-9-]{10,}"),
    shape(
        Kind::SlackToken,
        "hooks.slack.com",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9/_-]{16,})",
    ),
    shape(Kind::GoogleKey, "AIza", r"\bAIza[A-Za-z0-9_-]{30,}"),
    shape(Kind::GoogleKey, "ya29.", r"\bya29\.[A-Za-z0-9_-]{20,}"),
    shape(Kind::GoogleKey, "GOCSPX-", r"\bGOCSPX-[A-Za-z0-9_-]{20,}"),
    shape(Kind::GoogleKey, "1//0", r"\b1//0[A-Za-z0-9_-]{30,}"),
    shape(Kind::Jwt, "eyJ", r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*){0,3}"),
    shape(Kind::AzureKey, "Q~", r"\b[A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}"),
    shape(Kind::NpmToken, "npm_", r"\bnpm_[A-Za-z0-9]{30,}"),
    checked(Kind::HuggingfaceToken, "hf_", r"\b(?:hf|api_org)_[A-Za-z0-9]{30,}", any),
    shape(Kind::StripeKey, "k_", r"\b[sr]k_(?:live|test)_[A-Za-z0-9]{10,}"),
    shape(Kind::StripeKey, "whsec_", r"\bwhsec_[A-Za-z0-9+/=]{16,}"),
    shape(Kind::SendgridKey, "SG.", r"\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
    shape(Kind::TwilioKey, "SK", r"\bSK[0-9a-f]{32}\b"),
    shape(Kind::TwilioKey, "AC", r"\bAC[0-9a-f]{32}\b"),
    shape(Kind::TelegramToken, ":AA", r"\b[0-9]{8,10}:AA[A-Za-z0-9_-]{30,}"),
    checked(
        Kind::DiscordToken,
        "",
        r"\b[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}",
        is_random,
    ),
    shape(Kind::DiscordToken, "/api/webhooks/", r"/api/webhooks/[0-9]+/([A-Za-z0-9_-]{20,})"),
    shape(Kind::VendorToken, "dop_v1_", r"\bdo[opr]_v1_[0-9a-f]{40,}"),
    shape(Kind::VendorToken, "shp", r"\bshp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}"),
    shape(Kind::VendorToken, "pypi-", r"\bpypi-[A-Za-z0-9_-]{50,}"),
    shape(Kind::VendorToken, "dapi", r"\bdapi[0-9a-f]{32}\b"),
    shape(Kind::VendorToken, "hv", r"\bhv[sbr]\.[A-Za-z0-9_-]{20,}"),
    shape(Kind::VendorToken, "lin_", r"\blin_(?:api|oauth)_[A-Za-z0-9]{32,}"),
    shape(Kind::VendorToken, "ntn_", r"\bntn_[A-Za-z0-9]{40,}"),
    shape(Kind::VendorToken, "secret_", r"\bsecret_[A-Za-z0-9]{40,}"),
    shape(Kind::VendorToken, "gl", r"\bgl(?:c|sa)_[A-Za-z0-9+/=_]{32,}"),
    shape(Kind::VendorToken, "dp.", r"\bdp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9._-]{40,}"),
    shape(Kind::VendorToken, "AGE-SECRET-KEY-1", r"\bAGE-SECRET-KEY-1[A-Z0-9]{50,}"),
    checked(Kind::VendorToken, "key-", r"\bkey-[0-9a-f]{32}\b", is_mixed),
    shape(Kind::VendorToken, "-us", r"\b[0-9a-f]{32}-us[0-9]{1,2}\b"),
    shape(Kind::VendorToken, "gsk_", r"\bgsk_[A-Za-z0-9]{40,}"),
    shape(Kind::VendorToken, "xai-", r"\bxai-[A-Za-z0-9]{40,}"),
    shape(Kind::VendorToken, "pplx-", r"\bpplx-[A-Za-z0-9]{40,}"),
    shape(Kind::VendorToken, "r8_", r"\br8_[A-Za-z0-9]{30,}"),
    shape(Kind::VendorToken, "sbp_", r"\bsbp_[0-9a-f]{40}"),
    shape(Kind::VendorToken, "sb_secret_", r"\bsb_secret_[A-Za-z0-9_-]{20,}"),
    shape(Kind::VendorToken, "ATATT3", r"\bATATT3[A-Za-z0-9_=-]{50,}"),
    shape(Kind::VendorToken, "PMAK-", r"\bPMAK-[0-9a-f]{24}-[0-9a-f]{34}"),
    shape(Kind::VendorToken, "figd_", r"\bfigd_[A-Za-z0-9_-]{30,}"),
    shape(Kind::VendorToken, "pat", r"\bpat[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    shape(Kind::VendorToken, "rubygems_", r"\brubygems_[0-9a-f]{48}"),
    shape(Kind::VendorToken, "cio", r"\bcio[A-Za-z0-9]{32}\b"),
    shape(Kind::VendorToken, "dckr_pat_", r"\bdckr_pat_[A-Za-z0-9_-]{20,}"),
    shape(Kind::VendorToken, "tvly-", r"\btvly-[A-Za-z0-9-]{24,}"),
    shape(Kind::VendorToken, "FlyV1", r"\bFlyV1 fm2_[A-Za-z0-9+/=,_]{40,}"),
    checked(
        Kind::AuthHeader,
        "authorization",
        r#"(?i)\bauthorization["'\\]{0,3}[ \t]*[:=][ \t]*["'\\]{0,3}(?:(?:bearer|basic|token|bot|apikey|api-key|digest)[ \t]+)?([A-Za-z0-9._~+/=-]{6,})"#,
        |v| real(v) && (is_mixed(v) || v.len() >= 16 || is_basic_pair(v)),
    ),
    checked(Kind::AuthHeader, "bearer", r"(?i)\bbearer[ \t]+([A-Za-z0-9._~+/=-]{8,})", bearer),
    checked(
        Kind::AuthHeader,
        "basic",
        r"(?i)\bbasic[ \t]+([A-Za-z0-9+/]{6,}={0,2})",
        is_basic_pair,
    ),
    checked(
        Kind::UrlPassword,
        "://",
        r#"\b[a-zA-Z][a-zA-Z0-9+.-]{1,30}://[^\s:/@"'<>`]{0,128}:([^\s/"'<>`]{1,256})@"#,
        |v| !v.starts_with(['$', '{', '<', '*', '%', '[']),
    ),
    shape(Kind::UrlSignature, "signature=", r"(?i)\bX-(?:Amz|Goog)-Signature=([0-9a-f]{16,})"),
    shape(Kind::UrlSignature, "signature=", r"[?&;]Signature=([A-Za-z0-9%+/=_~-]{16,})"),
    shape(
        Kind::UrlSignature,
        "x-amz-security-token",
        r"(?i)\bX-Amz-Security-Token=([A-Za-z0-9%+/=_-]{16,})",
    ),
    shape(Kind::SasSignature, "sig=", r"(?:[?&;]|\b)sig=([A-Za-z0-9%+/=_-]{16,})"),
    shape(Kind::StorageKey, "accountkey", r"(?i)\bAccountKey=([A-Za-z0-9+/=]{16,})"),
    shape(Kind::StorageKey, "sharedaccesskey", r"(?i)\bSharedAccessKey=([A-Za-z0-9+/=]{16,})"),
    shape(
        Kind::Cookie,
        "cookie",
        r#"(?i)\b(?:set-)?cookie["']?[ \t]*:[ \t]*["']?([A-Za-z0-9_.-]+=[^\s;"'\[]{8,}(?:;[ \t]*[^\r\n"';]+)*)"#,
    ),
    checked(
        Kind::CommandLine,
        "--",
        r#"--(?:[a-z]+-)*(?:password|passwd|token|secret|api-key|apikey|secret-key|access-key|private-key)[ \t]+["']?([^\s"'`]{4,})"#,
        |v| {
            real(v)
                && !v.starts_with('-')
                && !super::value::is_code(v)
                && !super::value::is_secret_name(v)
        },
    ),
    checked(
        Kind::CommandLine,
        "curl",
        r#"\bcurl\b[^\n|]{0,400}?[ \t](?:-u|--user)[ =]?["']?[^\s:"'@]{1,64}:([^\s"'`]{1,256})"#,
        |v| !is_placeholder(v),
    ),
    checked(
        Kind::CommandLine,
        "mysql",
        r#"\bmysql(?:dump|admin)?\b[^\n|]{0,200}?[ \t]-p([^\s"'`-][^\s"'`]{2,})"#,
        |v| !is_placeholder(v),
    ),
    checked(Kind::CommandLine, "sshpass", r#"\bsshpass[ \t]+-p[ \t]*["']?([^\s"'`]{3,})"#, real),
    checked(
        Kind::Assigned,
        "token",
        r#"(?i)\b(?:token|api[ _-]?key|secret(?: key)?)[ \t]+(?:is[ \t]+|was[ \t]+)?["'`]?([A-Za-z0-9_./+=~-]{8,})"#,
        real_and_random,
    ),
    checked(
        Kind::Assigned,
        "key",
        r#"(?i)\b(?:api[ _-]?key|secret key|access key)[ \t]+(?:is[ \t]+|was[ \t]+)?["'`]?([A-Za-z0-9_./+=~-]{8,})"#,
        real_and_random,
    ),
    checked(
        Kind::Assigned,
        "pass",
        r#"(?i)\b(?:password|passwd|passphrase)[ \t]+(?:is|was|to)[ \t]+["'`]?([^\s"'`,;]{5,})"#,
        |v| real(v) && (is_mixed(v) || super::value::has_symbol(v)),
    ),
];

struct Compiled {
    hints: AhoCorasick,
    /// The shape of each pattern of `hints`.
    hinted: Vec<usize>,
    always: Vec<usize>,
    patterns: Vec<Regex>,
}

static COMPILED: LazyLock<Compiled> = LazyLock::new(|| {
    let (always, hinted): (Vec<usize>, Vec<usize>) =
        (0..SHAPES.len()).partition(|&at| SHAPES[at].hint.is_empty());
    Compiled {
        hints: AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .build(hinted.iter().map(|&at| SHAPES[at].hint))
            .expect("the hints are few and short"),
        hinted,
        always,
        patterns: SHAPES
            .iter()
            .map(|shape| Regex::new(shape.pattern).expect("the table of shapes compiles"))
            .collect(),
    }
});

/// All secrets that show by their shape, in no order.
pub(super) fn find(text: &str) -> Vec<Span> {
    let compiled = &*COMPILED;
    let mut wanted = vec![false; SHAPES.len()];
    for &at in &compiled.always {
        wanted[at] = true;
    }
    for hit in compiled.hints.find_overlapping_iter(text) {
        wanted[compiled.hinted[hit.pattern().as_usize()]] = true;
    }
    let mut spans = Vec::new();
    for (at, _) in wanted.iter().enumerate().filter(|(_, wanted)| **wanted) {
        find_one(&SHAPES[at], &compiled.patterns[at], text, &mut spans);
    }
    spans
}

fn find_one(shape: &Shape, pattern: &Regex, text: &str, spans: &mut Vec<Span>) {
    for captures in pattern.captures_iter(text) {
        let Some(whole) = captures.get(0) else { continue };
        let secret = captures.get(1).unwrap_or(whole);
        if !(shape.holds)(secret.as_str()) {
            continue;
        }
        let kind = match shape.kind {
            Kind::UrlPassword if db_scheme(whole.as_str()) => Kind::DbPassword,
            kind => kind,
        };
        spans.push(Span { start: secret.start(), end: secret.end(), kind });
    }
}
