//! The texts of one run, each from the strongest of three sources: the user, the benchmark, the program.

use super::check::{PromptProblem, check};
use super::chosen::names_used;
use super::registry::{PROMPTS, PromptSpec, find_prompt};
use super::{BenchmarkPrompt, Prompt, PromptVars, UserPrompt};
use minijinja::{Environment, Value};
use skillopt_domain::config::{RunConfig, UpdateMode};
use skillopt_domain::hash::Sha256Hex;
use skillopt_domain::prompt::{PromptOrigin, PromptUse};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// Steps of rendering after which a text is taken to have no end.
const MOST_STEPS: u64 = 200_000;

/// All prompts of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptSet {
    // Invariant: all names of the registry in its order, then the target's prompts.
    files: Vec<PromptFile>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct PromptFile {
    name: &'static str,
    origin: PromptOrigin,
    text: Cow<'static, str>,
}

/// A prompt of somebody else cannot be put together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the prompt {name} cannot be put together: {message}; correct it, or take it out of optimizer.prompts_dir"
)]
pub struct PromptError {
    /// Its name.
    pub name: &'static str,
    /// What is wrong, with the line where one is known.
    pub message: String,
}

impl Default for PromptSet {
    /// The program's own prompts.
    fn default() -> Self {
        let file = |spec: &PromptSpec| PromptFile {
            name: spec.name,
            origin: PromptOrigin::Default,
            text: Cow::Borrowed(spec.text),
        };
        Self { files: PROMPTS.iter().map(file).collect() }
    }
}

impl PromptSet {
    /// The program's prompts with those of a benchmark and of a user in their places. What is not the program's is
    /// checked in each of `modes`.
    ///
    /// # Errors
    /// All problems at once.
    pub fn new(
        benchmark: &'static [BenchmarkPrompt],
        user: &[UserPrompt],
        modes: &[UpdateMode],
    ) -> Result<Self, Vec<PromptProblem>> {
        let mut set = Self::default();
        let mut problems = Vec::new();
        let mut changed: Vec<(&'static PromptSpec, String)> = Vec::new();
        for prompt in benchmark {
            if prompt.is_for_target() {
                let (origin, text) = (PromptOrigin::Benchmark, Cow::Borrowed(prompt.text));
                set.files.push(PromptFile { name: prompt.name, origin, text });
                continue;
            }
            let file = format!("{} of the benchmark", prompt.name);
            match find_prompt(prompt.name) {
                Some(spec) => {
                    set.replace(spec, PromptOrigin::Benchmark, Cow::Borrowed(prompt.text));
                    changed.push((spec, file));
                }
                None => problems.push(PromptProblem::unknown_name(&file, prompt.name)),
            }
        }
        for prompt in user {
            match find_prompt(&prompt.name) {
                // A copy of what is there is nothing of one's own.
                Some(spec) if set.text(spec.name) == Some(&prompt.text) => {}
                Some(spec) => {
                    set.replace(spec, PromptOrigin::User, Cow::Owned(prompt.text.clone()));
                    changed.retain(|(known, _)| known.name != spec.name);
                    changed.push((spec, prompt.file.clone()));
                }
                None => problems.push(PromptProblem::unknown_name(&prompt.file, &prompt.name)),
            }
        }
        check(&set, &changed, modes, &mut problems);
        if problems.is_empty() { Ok(set) } else { Err(problems) }
    }

    fn replace(&mut self, spec: &PromptSpec, origin: PromptOrigin, text: Cow<'static, str>) {
        if let Some(file) = self.files.iter_mut().find(|file| file.name == spec.name) {
            (file.origin, file.text) = (origin, text);
        }
    }

    /// The text with this name, its placeholders not filled in.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        self.files.iter().find(|file| file.name == name).map(|file| &*file.text)
    }

    /// Names of the texts that are the user's.
    #[must_use]
    pub fn own(&self) -> Vec<&'static str> {
        let own = self.files.iter().filter(|file| file.origin == PromptOrigin::User);
        own.map(|file| file.name).collect()
    }

    /// What a run with this config may use, with origin and hash.
    #[must_use]
    pub fn used(&self, config: &RunConfig) -> Vec<PromptUse> {
        let names = names_used(config);
        self.files
            .iter()
            .filter(|file| find_prompt(file.name).is_none() || names.contains(&file.name))
            .map(|file| PromptUse {
                name: file.name.to_owned(),
                origin: file.origin,
                hash: Sha256Hex::of(&*file.text),
            })
            .collect()
    }

    /// The system message of a prompt.
    ///
    /// # Errors
    /// [`PromptError`] when a text that is not the program's cannot be rendered with these values.
    pub fn system_message(&self, prompt: Prompt, vars: PromptVars) -> Result<String, PromptError> {
        let name = prompt.name();
        let text = self.render(name, vars)?;
        // Marks the call as ours, so that a harvest of transcripts never learns from it.
        Ok(format!("{}\n\n[skillopt {name}/1]", text.trim_end()))
    }

    /// A prompt or a part with its values.
    pub(super) fn render(&self, name: &str, vars: PromptVars) -> Result<String, PromptError> {
        let mut values = values(name, vars);
        for (spec, part) in PROMPTS.iter().filter_map(|spec| Some((spec, spec.placeholder()?))) {
            if spec.name == name {
                break;
            }
            let text = self.fill(spec.name, &values)?;
            values.insert(part, text.into());
        }
        self.fill(name, &values)
    }

    fn fill(&self, name: &str, values: &BTreeMap<&str, Value>) -> Result<String, PromptError> {
        let file = self.files.iter().find(|file| file.name == name);
        let file = file.expect("all names of the registry are in the set");
        let rendered = match file.origin {
            PromptOrigin::Default => {
                environment().get_template(file.name).and_then(|template| template.render(values))
            }
            PromptOrigin::Benchmark | PromptOrigin::User => environment()
                .template_from_named_str(file.name, &file.text)
                .and_then(|template| template.render(values)),
        };
        rendered.map_err(|err| PromptError { name: file.name, message: words(&err) })
    }
}

/// What went wrong with a template, with its line.
fn words(err: &minijinja::Error) -> String {
    let what = err.detail().map_or_else(|| err.kind().to_string(), str::to_owned);
    err.line().map_or_else(|| what.clone(), |line| format!("line {line}: {what}"))
}

/// The values of all placeholders but the parts.
fn values(name: &str, vars: PromptVars) -> BTreeMap<&'static str, Value> {
    let (article, group, whole) = match vars.mode {
        UpdateMode::Patch => ("an edit", "patches", "patch"),
        UpdateMode::RewriteFromSuggestions => {
            ("a suggestion", "sets of suggestions", "set of suggestions")
        }
        UpdateMode::FullRewriteMinibatch => ("a new text", "new texts", "text"),
    };
    let source = match name {
        "merge_success" => "success",
        "merge_final" => "failure|success",
        _ => "failure",
    };
    BTreeMap::from([
        ("mode", vars.mode.as_str().into()),
        ("item", vars.mode.item_word().into()),
        ("max_items", vars.max_items.map_or(Value::UNDEFINED, Value::from)),
        ("skill_aware", vars.skill_aware.into()),
        ("notes_from_success", vars.notes_from_success.into()),
        ("n_tasks", vars.n_tasks.into()),
        ("article", article.into()),
        ("group", group.into()),
        ("whole", whole.into()),
        ("source", source.into()),
    ])
}

/// The program's own templates, and the settings for all others.
pub(super) fn environment() -> &'static Environment<'static> {
    static ENVIRONMENT: OnceLock<Environment<'static>> = OnceLock::new();
    ENVIRONMENT.get_or_init(|| {
        let mut environment = Environment::new();
        environment.set_fuel(Some(MOST_STEPS));
        for spec in PROMPTS {
            environment
                .add_template(spec.name, spec.text)
                .expect("the prompts in this crate parse; a test renders each");
        }
        environment
    })
}

#[cfg(test)]
mod tests;
