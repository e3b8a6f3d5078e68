//! The key table of `docs/configuration.md`, made from the schema, so that it cannot go stale.

use skillopt_domain::config::{Availability, KEYS, KeyKind, KeySpec};
use std::fmt::Write;
use std::path::PathBuf;

const BEGIN: &str = "<!-- keys: made from the schema; `UPDATE_DOCS=1 cargo test -p skillopt-server doc_table` writes it -->";
const END: &str = "<!-- end of keys -->";

#[test]
fn the_docs_list_every_key_as_it_is() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../docs/configuration.md");
    let text = std::fs::read_to_string(&path).expect("docs/configuration.md");
    let (head, rest) = text.split_once(BEGIN).expect("the begin mark");
    let (_, tail) = rest.split_once(END).expect("the end mark");
    let expect = format!("{head}{BEGIN}\n\n{}\n{END}{tail}", table());
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &expect).expect("written");
        return;
    }
    assert!(
        text == expect,
        "docs/configuration.md is stale: UPDATE_DOCS=1 cargo test -p skillopt-server doc_table"
    );
}

fn table() -> String {
    let mut out = "| key | takes | default | what it does |\n|---|---|---|---|\n".to_owned();
    for spec in KEYS.iter().filter(|spec| spec.availability == Availability::Built) {
        let default = match spec.default {
            "" => String::new(),
            default => format!("`{default}`"),
        };
        let unit = match spec.unit {
            "" => String::new(),
            unit => format!(", {unit}"),
        };
        let help = spec.help.replace('|', "\\|");
        let _ = writeln!(out, "| `{}` | {}{unit} | {default} | {help} |", spec.path, takes(spec));
    }
    out
}

fn takes(spec: &KeySpec) -> String {
    match spec.kind {
        KeyKind::Bool => "`true` or `false`".to_owned(),
        KeyKind::Int { min, max } => format!("{min} to {max}"),
        KeyKind::Float { min, max } => format!("number, {min} to {max}"),
        KeyKind::Text => "text".to_owned(),
        KeyKind::Path => "path".to_owned(),
        KeyKind::Choice { options } => {
            options.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
        }
        KeyKind::Json => "mapping".to_owned(),
    }
}
