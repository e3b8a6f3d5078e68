//! The tables of `docs/backends.md`, made from the table of backends, so that they cannot go stale.

use skillopt_domain::config::{BACKENDS, BackendFamily, BackendSpec, Capability};
use std::fmt::Write;
use std::path::PathBuf;

const BEGIN: &str = "<!-- backends: made from the table of backends; `UPDATE_DOCS=1 cargo test -p skillopt-server backend_table` writes it -->";
const END: &str = "<!-- end of backends -->";

#[test]
fn the_docs_say_of_every_backend_what_it_can_do() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../docs/backends.md");
    let text = std::fs::read_to_string(&path).expect("docs/backends.md");
    let (head, rest) = text.split_once(BEGIN).expect("the begin mark");
    let (_, tail) = rest.split_once(END).expect("the end mark");
    let expect = format!("{head}{BEGIN}\n\n{}\n{}\n{END}{tail}", names(), capabilities());
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &expect).expect("written");
        return;
    }
    assert!(
        text == expect,
        "docs/backends.md is stale: UPDATE_DOCS=1 cargo test -p skillopt-server backend_table"
    );
}

fn names() -> String {
    let mut out = "| backend | what it is | reached | roles | other names | usual model |\n\
                   |---|---|---|---|---|---|\n"
        .to_owned();
    for spec in &BACKENDS {
        let reached = match spec.family {
            BackendFamily::Http => "over HTTP",
            BackendFamily::Program => "as a program",
            BackendFamily::Simulated => "inside of SkillOpt",
        };
        let roles = if spec.optimizes { "target, optimizer" } else { "target" };
        let names: Vec<String> = spec.aliases.iter().map(|name| format!("`{name}`")).collect();
        let model = match spec.default_model {
            "" => String::new(),
            model => format!("`{model}`"),
        };
        let (name, label) = (spec.name, spec.label);
        let names = names.join(", ");
        let _ = writeln!(out, "| `{name}` | {label} | {reached} | {roles} | {names} | {model} |");
    }
    out
}

fn capabilities() -> String {
    let heads: Vec<&str> = Capability::ALL.into_iter().map(Capability::label).collect();
    let mut out = format!("| backend | {} |\n|---|", heads.join(" | "));
    out.push_str(&":-:|".repeat(heads.len()));
    out.push('\n');
    for spec in &BACKENDS {
        let _ = writeln!(out, "| `{}` | {} |", spec.name, marks(spec));
    }
    out
}

fn marks(spec: &BackendSpec) -> String {
    let mark = |capability| if spec.can(capability) { "yes" } else { "" };
    Capability::ALL.map(mark).join(" | ")
}
