//! The tables of `docs/mcp.md`, made from the table of tools, so that they cannot go stale.

use super::arguments::{Argument, Kind};
use super::policy::Policy;
use super::tools::{Effect, Reach, TOOLS, Tool};
use std::fmt::Write;
use std::path::PathBuf;

const BEGIN: &str = "<!-- tools: made from the table of tools; `UPDATE_DOCS=1 cargo test -p skillopt-server doc_table` writes it -->";
const END: &str = "<!-- end of tools -->";

#[test]
fn the_docs_list_every_tool_and_argument() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../docs/mcp.md");
    let text = std::fs::read_to_string(&path).expect("docs/mcp.md");
    let (head, rest) = text.split_once(BEGIN).expect("the begin mark");
    let (_, tail) = rest.split_once(END).expect("the end mark");
    let expect = format!("{head}{BEGIN}\n\n{}\n{}\n{END}{tail}", tools(), arguments());
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &expect).expect("written");
        return;
    }
    assert!(
        text == expect,
        "docs/mcp.md is stale: UPDATE_DOCS=1 cargo test -p skillopt-server doc_table"
    );
}

fn tools() -> String {
    let mut out =
        "| tool | does | changes | asks models | arguments |\n|---|---|---|---|---|\n".to_owned();
    let policy = Policy::of_stdio(true, super::TimeLimits::default());
    for tool in &TOOLS {
        let changes = match tool.effect {
            Effect::Reads => "nothing",
            Effect::Adds => "adds",
            Effect::Changes => "yes",
        };
        let models = if tool.reach == Reach::Models { "yes" } else { "" };
        let names = tool.offered(&policy).map(|argument| {
            let mark = if tool.required.contains(&argument.name) { " (needed)" } else { "" };
            format!("`{}`{mark}", argument.name)
        });
        let names: Vec<String> = names.collect();
        let (name, about, names) = (tool.name, tool.about, names.join(", "));
        let _ = writeln!(out, "| `{name}` | {about} | {changes} | {models} | {names} |");
    }
    out
}

fn arguments() -> String {
    let mut out = "| argument | takes | what it is |\n|---|---|---|\n".to_owned();
    let mut seen: Vec<&Argument> = Vec::new();
    for argument in TOOLS.iter().flat_map(Tool::arguments) {
        if seen.iter().any(|other| other.about == argument.about) {
            continue;
        }
        seen.push(argument);
        let _ = writeln!(out, "| `{}` | {} | {} |", argument.name, takes(argument), argument.about);
    }
    out
}

fn takes(argument: &Argument) -> String {
    match argument.kind {
        Kind::Text(most) => format!("text, at most {most} characters"),
        Kind::Word(words) => {
            words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
        }
        Kind::Flag => "`true` or `false`".to_owned(),
        Kind::Number(least, most) => format!("whole number, {least} to {most}"),
        Kind::Numbers(..) => "list of whole numbers".to_owned(),
        Kind::Texts(_) => "list of texts".to_owned(),
    }
}
