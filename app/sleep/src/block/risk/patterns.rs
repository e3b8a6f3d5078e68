//! What risky text looks like. Broad on purpose: a flag costs a person a look, a miss costs more.

use super::Risk;
use regex::Regex;
use std::sync::LazyLock;

/// A pattern, and the risk that a match of it is.
type Pattern = (Regex, fn(String) -> Risk);

const URL: &str =
    r"(?:https?|ftp|ssh|wss?)://[^\s<>()\[\]{}`'|]+|\bwww\.[^\s<>()`]+|\bgit@[\w.-]+:[^\s`]+";

/// A pipe into something that runs text, a shell over a substitution, `eval` of one.
const PIPE_TO_SHELL: &str = concat!(
    r"[^\n|`]*\|\s*(?:sudo\s+)?(?:/(?:usr/)?bin/)?(?:env\s+)?",
    r"(?:(?:ba|z|da|k|fi)?sh|python3?|perl|ruby|node|iex|powershell)\b",
    r"|\b(?:(?:ba|z|da|k|fi)?sh|source)\s+<\([^\n`]*",
    r"|\beval\s+\W?\$\([^\n`]*",
);

const SHELL_COMMAND: &str = concat!(
    r"\b(?:sudo|curl|wget|scp|rsync|chmod|chown|crontab|mkfs|dd\s+if=|nc\s+-|rm\s+-\w*[rf]|npx\s",
    r"|git\s+push\s+(?:-f|--force)|base64\s+(?:-d|--decode)|invoke-webrequest|invoke-expression)[^\n`]*",
);

const PERMISSION: &str = concat!(
    r"--dangerously[\w-]*|--yolo\b|--full-auto\b|--no-verify\b|--no-sandbox\b",
    r"|\ballow[\s_-]*(?:all[\s_-]*)?(?:tools?|commands?)\b|\bbypass[\s_-]*permissions?\b",
    r"|\bskip[\s_-]*permissions?\b|\bauto[\s_-]*approv\w+|\bacceptedits\b",
    r"|\b(?:disable|turn off)\s+(?:the\s+)?(?:sandbox|safety|permissions?)\b",
    r"|\bwithout\s+(?:asking|confirmation|approval|permission)\b",
    r"|\b(?:anthropic|openai)_base_url\b|\bld_preload\b|\.ssh/|\.aws/credentials|/etc/(?:passwd|shadow|sudoers)",
);

const OVERRIDE: &str = concat!(
    r"\b(?:ignore|disregard|forget)\s+(?:all\s+|any\s+)?(?:of\s+)?(?:the\s+|your\s+)?",
    r"(?:previous|prior|earlier|above|other)\s+(?:instructions?|rules?)",
    r"|\b(?:judge|grader|evaluator|scorer)\s+(?:must|should|has to|will)\s+(?:always\s+)?",
    r"(?:give|award|score|return|rate|pass)\b[^\n.]*",
    r"|\b(?:give|award|return)\s+(?:a\s+)?(?:full|perfect|maximum)\s+(?:score|marks?)\b",
);

/// All patterns, ready to use.
pub(super) static PATTERNS: LazyLock<[Pattern; 5]> = LazyLock::new(|| {
    let ready = |pattern: &str, risk: fn(String) -> Risk| {
        let regex = Regex::new(&format!("(?i){pattern}"));
        (regex.expect("the patterns of this file compile; every test of risks runs them"), risk)
    };
    [
        ready(URL, |found| Risk::Url { found }),
        ready(PIPE_TO_SHELL, |found| Risk::PipeToShell { found }),
        ready(SHELL_COMMAND, |found| Risk::ShellCommand { found }),
        ready(PERMISSION, |found| Risk::Permission { found }),
        ready(OVERRIDE, |found| Risk::Override { found }),
    ]
});
