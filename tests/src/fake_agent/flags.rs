//! The flags that each program documents.

use std::collections::BTreeMap;

/// Flags with their last values; those that take none have an empty one.
pub(crate) type Flags = BTreeMap<String, String>;

/// Flags that take a value, flags that take none, and words that stand alone.
struct Grammar {
    with_value: &'static [&'static str],
    alone: &'static [&'static str],
    words: &'static [&'static str],
}

fn grammar(program: &str) -> Grammar {
    match program {
        "claude" => Grammar {
            with_value: &[
                "--output-format",
                "--permission-mode",
                "--setting-sources",
                "--tools",
                "--allowedTools",
                "--system-prompt-file",
                "--model",
                "--effort",
                "--json-schema",
            ],
            alone: &[
                "-p",
                "--verbose",
                "--no-session-persistence",
                "--strict-mcp-config",
                "--disable-slash-commands",
            ],
            words: &[],
        },
        "codex" => Grammar {
            with_value: &[
                "--color",
                "--cd",
                "--sandbox",
                "--model",
                "--profile",
                "-c",
                "--output-schema",
                "--image",
            ],
            alone: &["--json", "--ephemeral", "--skip-git-repo-check"],
            words: &["exec", "-"],
        },
        "cursor-agent" => Grammar {
            with_value: &["--output-format", "--mode", "--workspace", "--sandbox", "--model"],
            alone: &["-p", "--trust"],
            words: &[],
        },
        "copilot" => Grammar {
            with_value: &["--output-format", "--stream", "--log-level", "--model", "--effort"],
            alone: &[
                "--no-color",
                "--disable-builtin-mcps",
                "--no-custom-instructions",
                "--allow-all-tools",
            ],
            words: &[],
        },
        "pi" => Grammar {
            with_value: &["--mode", "--system-prompt", "--model"],
            alone: &[
                "-p",
                "--no-session",
                "--no-tools",
                "--no-skills",
                "--no-context-files",
                "--no-extensions",
                "--no-prompt-templates",
                "--no-themes",
            ],
            words: &[],
        },
        _ => Grammar {
            with_value: &["--format", "--agent", "--title", "--dir", "--model"],
            alone: &["--pure"],
            words: &["run"],
        },
    }
}

/// Lists stand behind a `=`.
fn is_of_copilot(word: &str) -> bool {
    ["--available-tools=", "--allow-tool="].iter().any(|flag| word.starts_with(flag))
}

/// Reads the arguments; the first one that the program does not know is the error.
pub(crate) fn parse(program: &str, arguments: &[String]) -> Result<Flags, String> {
    let Grammar { with_value, alone, words } = grammar(program);
    let mut flags = Flags::new();
    let mut rest = arguments.iter();
    while let Some(word) = rest.next() {
        if with_value.contains(&word.as_str()) {
            let value = rest.next().ok_or_else(|| word.clone())?;
            flags.insert(word.clone(), value.clone());
        } else if program == "copilot" && is_of_copilot(word) {
            let (name, value) = word.split_once('=').unwrap_or((word, ""));
            flags.insert(name.to_owned(), value.to_owned());
        } else if alone.contains(&word.as_str()) || words.contains(&word.as_str()) {
            flags.insert(word.clone(), String::new());
        } else {
            return Err(word.clone());
        }
    }
    Ok(flags)
}
