//! Whether a value is likely a secret, a placeholder or code. Pure questions about one short text.

/// Parts of texts that stand for a secret without being one.
const PLACEHOLDERS: [&str; 12] = [
    "your",
    "example",
    "placeholder",
    "xxxx",
    "....",
    "****",
    "<",
    "redacted",
    "process.env",
    "import.meta",
    "os.environ",
    "getenv",
];

/// Words that follow a secret's name in types, messages and prose.
const WORDS: &[&str] = &[
    "string",
    "str",
    "text",
    "number",
    "int",
    "boolean",
    "bool",
    "bytes",
    "any",
    "object",
    "null",
    "none",
    "nil",
    "undefined",
    "true",
    "false",
    "required",
    "optional",
    "missing",
    "invalid",
    "expired",
    "wrong",
    "empty",
    "unset",
    "default",
    "the",
    "is",
    "not",
    "a",
    "an",
    "and",
    "or",
    "in",
    "for",
    "field",
    "input",
    "prompt",
    "change",
    "reset",
    "update",
    "set",
    "get",
    "hash",
    "hashed",
    "protected",
    "secret",
    "password",
    "token",
    "key",
    "value",
    "file",
    "env",
    "hidden",
    "readonly",
    "public",
    "private",
    "static",
    "const",
    "let",
    "var",
    "self",
    "this",
    "new",
    "flag",
    "option",
    "argument",
    "parameter",
    "variable",
    "await",
    "return",
    "uuid",
    "option",
    "varchar",
    "char",
    "blank",
    "ok",
    "no",
    "yes",
    "todo",
];

/// Whether `value` only stands for a secret.
pub(super) fn is_placeholder(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    let first = lower.chars().next();
    first.is_none()
        || matches!(first, Some('$' | '%' | '{' | '('))
        || PLACEHOLDERS.iter().any(|part| lower.contains(part))
        || lower.chars().all(|c| Some(c) == first)
}

/// Whether `value` is a plain word that is known to follow such names.
pub(super) fn is_word(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    WORDS.contains(&lower.trim_end_matches(['.', '!', '?', ':']))
}

/// Whether `value` reads as code: a path of names, a call, an index, a file.
pub(super) fn is_code(value: &str) -> bool {
    let calls = value.contains('(') || value.contains("::") || value.contains("->");
    let path = value.starts_with(['/', '~', '.', '&', '*', '@', '[', '#', '|', '!', '?'])
        && !value.chars().any(|c| c.is_ascii_digit());
    let indexed = value.split_once('[').is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphabetic() || c == '_')
    });
    let dotted = value.contains('.')
        && value.split('.').all(|part| {
            part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                && part
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '[' | ']' | '?'))
                && part.len() < 24
        });
    calls || path || indexed || dotted
}

/// Whether `value` is a name in code that repeats what it holds: `api_key`, `userPassword`.
pub(super) fn is_secret_name(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    let plain = value.chars().all(|c| c.is_ascii_alphabetic() || matches!(c, '_' | '-'));
    plain
        && ["key", "token", "password", "passwd", "secret", "pwd", "pass"]
            .iter()
            .any(|word| lower.contains(word))
}

/// Whether `value` has a letter and a digit.
pub(super) fn is_mixed(value: &str) -> bool {
    value.bytes().any(|b| b.is_ascii_digit()) && value.bytes().any(|b| b.is_ascii_alphabetic())
}

/// Whether `value` reads as drawn at random: long, of letters and digits that take turns, or of both cases.
pub(super) fn is_random(value: &str) -> bool {
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let bytes = value.as_bytes();
    let turns = bytes.windows(2).filter(|pair| class(pair[0]) != class(pair[1])).count();
    let dashed_words =
        value.split(['-', '_', '.', '/']).all(|part| !is_mixed(part) || part.len() <= 4);
    (value.len() >= 8 && digits >= 2 && turns >= 3 && is_mixed(value) && !dashed_words)
        || (value.len() >= 16 && turns >= 5 && !dashed_words)
        || (value.len() >= 20 && turns >= 8 && value.bytes().all(|b| b.is_ascii_alphabetic()))
}

/// Whether `value` has a sign that words do not have.
pub(super) fn has_symbol(value: &str) -> bool {
    value.len() >= 6
        && value.chars().any(|c| matches!(c, '!' | '@' | '#' | '$' | '%' | '^' | '&' | '*' | '+'))
}

/// Whether `value` is Base64 of `user:password`.
pub(super) fn is_basic_pair(value: &str) -> bool {
    use base64::Engine as _;
    let plain = value.trim_end_matches('=');
    base64::engine::general_purpose::STANDARD_NO_PAD
        .decode(plain)
        .is_ok_and(|bytes| bytes.contains(&b':') && bytes.iter().all(|b| matches!(b, 0x20..=0x7e)))
}

fn class(byte: u8) -> u8 {
    match byte {
        b'0'..=b'9' => 0,
        b'a'..=b'z' => 1,
        b'A'..=b'Z' => 2,
        _ => 3,
    }
}
