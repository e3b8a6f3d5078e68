//! What a night is to do, as the form holds it: texts until they are sent. The reading of them is pure.

use crate::state::signal::RwSignal;
use skillopt_domain::api::NightRequest;

/// Who answers, by the word of the API. The first one needs no key and costs nothing.
pub(in crate::pages) const BACKENDS: [(&str, &str); 11] = [
    ("mock", "Simulated (mock)"),
    ("claude", "Claude Code"),
    ("codex", "Codex"),
    ("copilot", "Copilot"),
    ("cursor", "Cursor"),
    ("pi", "Pi"),
    ("opencode", "OpenCode"),
    ("azure_openai", "Azure OpenAI"),
    ("openai_compatible", "OpenAI-compatible address"),
    ("handoff", "Handoff: prompts wait for answers"),
    ("", "As the config of nights says"),
];

/// Whose sessions are read.
pub(super) const SOURCES: [(&str, &str); 10] = [
    ("", "As the config of nights says"),
    ("auto", "All that are found"),
    ("claude", "Claude Code"),
    ("codex", "Codex"),
    ("copilot", "Copilot in VS Code"),
    ("copilot_cli", "Copilot CLI"),
    ("cursor", "Cursor"),
    ("pi", "Pi"),
    ("opencode", "OpenCode"),
    ("devin", "Devin"),
];

/// What a field takes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    Text,
    Path,
    Count,
    OneOf(&'static [(&'static str, &'static str)]),
}

/// A field of the form.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field {
    /// Its name in the API.
    pub(super) name: &'static str,
    pub(super) label: &'static str,
    pub(super) help: &'static str,
    pub(super) kind: Kind,
}

const fn field(name: &'static str, label: &'static str, help: &'static str, kind: Kind) -> Field {
    Field { name, label, help, kind }
}

pub(super) const PROJECT: usize = 0;
pub(super) const BACKEND: usize = 1;
/// Fields that everybody sees; the others are under “More”.
pub(super) const N_MAIN: usize = 4;

pub(super) const FIELDS: [Field; 9] = [
    field("project", "Project folder", "An absolute path on the server's machine", Kind::Path),
    field(
        "backend",
        "Backend",
        "Who answers; the simulated one needs no key and proves nothing",
        Kind::OneOf(&BACKENDS),
    ),
    field(
        "source",
        "Sessions of",
        "Read only; nothing leaves this machine before secrets are masked",
        Kind::OneOf(&SOURCES),
    ),
    field(
        "lookback_hours",
        "Look back, hours",
        "For the first harvest of a project; 0 for all",
        Kind::Count,
    ),
    field("model", "Model", "Of the backend; empty for its own", Kind::Text),
    field("max_tasks", "Most tasks", "Empty for what the config says", Kind::Count),
    field("edit_budget", "Most edits", "Empty for what the config says", Kind::Count),
    field(
        "target_skill_path",
        "Skill to improve",
        "A SKILL.md; empty for the one that the config names",
        Kind::Path,
    ),
    field("preferences", "What you prefer", "Told to the optimizer", Kind::Text),
];

pub(super) type Texts = [String; FIELDS.len()];

/// The form; it outlives the nights that are shown below it.
#[derive(Clone, Copy)]
pub(super) struct Draft {
    pub(super) texts: RwSignal<Texts>,
    /// Somebody typed in the project.
    is_own: RwSignal<bool>,
}

impl Draft {
    pub(super) fn new() -> Self {
        let mut texts = Texts::default();
        texts[BACKEND] = BACKENDS[0].0.to_owned();
        Self { texts: RwSignal::new(texts), is_own: RwSignal::new(false) }
    }

    /// Fills in the project, unless somebody has typed one.
    pub(super) fn propose(self, project: Option<&String>) {
        if let Some(project) = project.filter(|_| !self.is_own.get_untracked()) {
            self.texts.update(|texts| texts[PROJECT].clone_from(project));
        }
    }

    pub(super) fn set(self, at: usize, text: String) {
        if at == PROJECT {
            self.is_own.set(true);
        }
        self.texts.update(|texts| texts[at] = text);
    }
}

/// What is wrong with a field, if anything.
pub(super) fn problem(texts: &Texts, at: usize) -> Option<&'static str> {
    let text = texts[at].trim();
    match FIELDS[at].kind {
        Kind::Count if !text.is_empty() && text.parse::<u32>().is_err() => {
            Some("A whole number from 0")
        }
        Kind::Path if at == PROJECT && text.is_empty() => Some("Which project?"),
        _ => None,
    }
}

/// The request; `None` while some field needs a look.
pub(super) fn request(texts: &Texts, dry_run: bool) -> Option<NightRequest> {
    if (0..FIELDS.len()).any(|at| problem(texts, at).is_some()) {
        return None;
    }
    let text = |name: &str| {
        let at = FIELDS.iter().position(|field| field.name == name)?;
        Some(texts[at].trim().to_owned()).filter(|text| !text.is_empty())
    };
    let count = |name: &str| text(name).and_then(|text| text.parse().ok());
    Some(NightRequest {
        project: text("project")?,
        dry_run,
        backend: text("backend"),
        model: text("model"),
        source: text("source"),
        lookback_hours: count("lookback_hours"),
        max_tasks: count("max_tasks"),
        edit_budget: count("edit_budget"),
        target_skill_path: text("target_skill_path"),
        preferences: text("preferences"),
        tasks_version: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(changes: &[(&str, &str)]) -> Texts {
        let mut texts = Texts::default();
        for (name, text) in changes {
            let at = FIELDS.iter().position(|field| field.name == *name).expect("is a field");
            texts[at] = (*text).to_owned();
        }
        texts
    }

    #[test]
    fn what_is_left_empty_is_left_to_the_config() {
        let sent = request(&texts(&[("project", " /w "), ("backend", "mock")]), true);
        let expect = NightRequest {
            project: "/w".into(),
            dry_run: true,
            backend: Some("mock".into()),
            ..NightRequest::default()
        };
        assert_eq!(sent, Some(expect));
    }

    #[test]
    fn a_night_without_a_project_or_with_a_bad_number_is_not_sent() {
        assert_eq!(request(&texts(&[]), false), None);
        let bad = texts(&[("project", "/w"), ("lookback_hours", "three")]);
        assert_eq!(request(&bad, false), None);
        assert_eq!(problem(&bad, 3), Some("A whole number from 0"));
        let all = request(&texts(&[("project", "/w"), ("lookback_hours", "0")]), false);
        assert_eq!(all.expect("is whole").lookback_hours, Some(0));
    }

    #[test]
    fn the_first_choice_is_said_to_be_simulated() {
        assert_eq!(BACKENDS[0].0, "mock");
        assert!(BACKENDS[0].1.starts_with("Simulated"));
    }
}
