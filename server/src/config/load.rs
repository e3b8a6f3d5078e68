//! All sources together: files, environment and flags become one checked config, or one list of problems.

use super::environment::{self, Environment};
use super::file::{self, FileSettings};
use skillopt_domain::config::{
    Availability, BackendFamily, BackendKind, ConfigProblem, Place, Resolved, RunConfig, Setting,
    Value, find_key, resolve,
};
use skillopt_domain::spend::Role;
use std::fmt;
use std::path::Path;

/// Everything that is wrong with a config, all at once.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct BadConfig(pub Vec<ConfigProblem>);

impl fmt::Display for BadConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, problem) in self.0.iter().enumerate() {
            if at > 0 {
                f.write_str("\n")?;
            }
            problem.fmt(f)?;
        }
        Ok(())
    }
}

/// Where a config comes from.
#[derive(Clone, Copy, Debug)]
pub struct Sources<'a> {
    /// The config file.
    pub file: Option<&'a Path>,
    /// The environment.
    pub env: &'a Environment,
    /// Flags, `--cfg-options` and form fields.
    pub flags: &'a [Setting],
}

/// Reads and checks all sources. Flags win over the environment, that over the file, that over its base.
///
/// # Errors
/// All problems of all sources.
pub fn load(sources: Sources<'_>) -> Result<Resolved, BadConfig> {
    let from_files = sources.file.map(file::read).unwrap_or_default();
    check(from_files, sources.env, sources.flags)
}

/// Reads and checks pasted YAML, without environment.
///
/// # Errors
/// All problems.
pub fn from_yaml_text(name: &str, text: &str) -> Result<Resolved, BadConfig> {
    check(file::read_text(name, text), &Environment::default(), &[])
}

/// A config that was resolved before, with some keys changed. What is not changed keeps its value and its place; an
/// empty value is the default.
///
/// # Errors
/// All problems.
pub fn changed(stored: &Resolved, changes: &[Setting]) -> Result<Resolved, BadConfig> {
    let is_reset = |path: &str| {
        let last = changes.iter().rev().find(|change| change.path == path);
        last.is_some_and(|change| is_blank(&change.value))
    };
    let kept = stored.values.iter().filter(|row| row.value != Value::Null && !is_reset(&row.path));
    let mut settings: Vec<Setting> = kept
        .map(|row| Setting {
            path: row.path.clone(),
            value: row.value.clone(),
            place: row.place.clone(),
        })
        .collect();
    settings.extend(changes.iter().filter(|change| !is_reset(&change.path)).cloned());
    drop_overruled_backends(&mut settings);
    resolve(&settings).map_err(BadConfig)
}

/// A stored config without the rows that have no effect here, such as an import keeps, and a warning that names those
/// that were set.
#[must_use]
pub fn without_foreign(stored: &Resolved) -> (Resolved, Option<ConfigProblem>) {
    let is_built =
        |path: &str| find_key(path).is_some_and(|spec| spec.availability == Availability::Built);
    let (values, foreign): (Vec<_>, Vec<_>) =
        stored.values.iter().cloned().partition(|row| is_built(&row.path));
    let names: Vec<&str> =
        foreign.iter().filter(|row| !is_blank(&row.value)).map(|row| row.path.as_str()).collect();
    let warning = (!names.is_empty()).then(|| ConfigProblem {
        path: String::new(),
        place: None,
        message: format!(
            "settings of that run that have no effect here are not taken over: {}",
            names.join(", ")
        ),
    });
    (Resolved { values, warnings: stored.warnings.clone() }, warning)
}

/// The typed config, after the checks that concern several keys.
///
/// # Errors
/// All problems.
pub fn run_config(resolved: &Resolved) -> Result<RunConfig, BadConfig> {
    RunConfig::from_resolved(resolved).map_err(BadConfig)
}

/// Checks a config before its prices are known: a cap in dollars may yet get the prices that it needs from the table.
///
/// # Errors
/// All other problems.
pub fn check_but_prices(resolved: &Resolved) -> Result<(), BadConfig> {
    let Err(BadConfig(mut problems)) = run_config(resolved) else { return Ok(()) };
    problems.retain(|problem| problem.path != "limits.max_cost_usd");
    if problems.is_empty() { Ok(()) } else { Err(BadConfig(problems)) }
}

fn check(
    from_files: FileSettings,
    env: &Environment,
    flags: &[Setting],
) -> Result<Resolved, BadConfig> {
    let FileSettings { mut settings, mut problems } = from_files;
    settings.extend(environment::backends(env));
    let backend = |role| chosen_backend(role, &settings, flags);
    let mut of_models = Vec::new();
    let is_program = |kind: BackendKind| kind.spec().family == BackendFamily::Program;
    if Role::ALL.into_iter().any(|role| backend(role).is_some_and(is_program)) {
        of_models.extend(environment::of_programs(env));
    }
    // Variables of one backend do not reach a role that another serves.
    for role in Role::ALL {
        let kind = backend(role).unwrap_or(BackendKind::OpenaiCompatible);
        of_models.extend(environment::of_role(env, role, kind));
    }
    settings.extend(of_models);
    settings.extend_from_slice(flags);
    drop_overruled_backends(&mut settings);
    match resolve(&settings) {
        Ok(resolved) if problems.is_empty() => Ok(resolved),
        Ok(_) => Err(BadConfig(problems)),
        Err(more) => {
            problems.extend(more);
            Err(BadConfig(problems))
        }
    }
}

/// `model.backend` sets both roles, so it overrules what a weaker source says of one role: a flag that asks
/// for simulated models is never turned into paid calls by an environment variable.
fn drop_overruled_backends(settings: &mut Vec<Setting>) {
    let both = settings
        .iter()
        .filter(|setting| setting.path == "model.backend" && !is_blank(&setting.value))
        .map(|setting| setting.place.origin)
        .max();
    let Some(both) = both else { return };
    settings.retain(|setting| {
        let of_role = Role::ALL.iter().any(|role| setting.path == format!("model.{role}_backend"));
        !of_role || setting.place.origin >= both
    });
}

/// The backend that serves a role by all that is said; `None` when nothing is, or nothing that is known.
fn chosen_backend(role: Role, settings: &[Setting], flags: &[Setting]) -> Option<BackendKind> {
    let own = format!("model.{role}_backend");
    let chosen = |path: &str| {
        settings
            .iter()
            .chain(flags)
            .filter(|setting| setting.path == path && !is_blank(&setting.value))
            .fold(None::<(&Place, &Value)>, |best, setting| match best {
                Some((place, _)) if place.origin > setting.place.origin => best,
                _ => Some((&setting.place, &setting.value)),
            })
            .map(|(place, value)| (place.origin, value.to_string()))
    };
    let both = chosen("model.backend");
    // A weaker source's word of the role is overruled.
    let own = chosen(&own).filter(|(origin, _)| both.as_ref().is_none_or(|both| *origin >= both.0));
    match own {
        Some((_, word)) => BackendKind::parse(&word),
        None => Some(BackendKind::parse(&both?.1)?.for_role(role)),
    }
}

fn is_blank(value: &Value) -> bool {
    matches!(value, Value::Null) || matches!(value, Value::Text(text) if text.trim().is_empty())
}
