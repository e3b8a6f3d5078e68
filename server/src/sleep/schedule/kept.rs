//! What a schedule asks of its nights, as the store keeps it: all options, from the form or from the command line.

use super::super::order::{KeptOrder, NightOrder};
use super::super::run::NightCommand;
use crate::config::{BadConfig, cfg_options};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use skillopt_domain::api::NightRequest;
use std::path::{Path, PathBuf};

/// Keys that the form has fields for.
const FORM_KEYS: [&str; 8] = [
    "backend",
    "model",
    "transcript_source",
    "lookback_hours",
    "max_tasks_per_night",
    "edit_budget",
    "target_skill_path",
    "preferences",
];

/// All options of scheduled nights but the project. No secret is among them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct KeptNight {
    order: KeptOrder,
    #[serde(default)]
    is_dry: bool,
}

impl KeptNight {
    /// Keeps what flags or a form ask for.
    pub(crate) fn new(order: &NightOrder, is_dry: bool) -> Self {
        Self { order: KeptOrder::of(order), is_dry }
    }

    /// With what only the command line has: a file of tasks, and keys of models as they were typed.
    pub(crate) fn with_models(self, tasks_file: Option<PathBuf>, cfg_options: Vec<String>) -> Self {
        Self { order: KeptOrder { tasks_file, cfg_options, ..self.order }, ..self }
    }

    /// The JSON text for the store.
    pub(crate) fn text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Reads what [`KeptNight::text`] wrote.
    ///
    /// # Errors
    /// What is wrong with the text.
    pub(crate) fn parse(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// The skill that is named, as it was typed.
    pub(super) fn target(&self) -> Option<&str> {
        self.value("target_skill_path").and_then(Value::as_str).filter(|path| !path.is_empty())
    }

    /// The night for a project, and for the real place of the skill that is named.
    pub(super) fn command(
        &self,
        project: PathBuf,
        target: Option<&Path>,
        actor: &str,
    ) -> Result<NightCommand, BadConfig> {
        let mut order = self.order.clone().order(project);
        for key in &mut order.keys {
            if key.key == "target_skill_path"
                && let Some(real) = target
            {
                key.value = real.display().to_string().into();
            }
        }
        Ok(NightCommand {
            order,
            is_dry: self.is_dry,
            tasks_file: self.order.tasks_file.clone(),
            cfg_options: cfg_options(&self.order.cfg_options)?,
            fresh: false,
            actor: actor.to_owned(),
        })
    }

    /// Takes another form in; what the form has no fields for stays.
    pub(crate) fn with_form(&self, form: &Self) -> Self {
        let mut edited = self.clone();
        edited.is_dry = form.is_dry;
        edited.order.keys.retain(|(_, key, _)| !FORM_KEYS.contains(&key.as_str()));
        edited.order.keys.extend(form.order.keys.iter().cloned());
        edited
    }

    /// The part that the form has fields for.
    pub(super) fn request(&self, project: &str) -> NightRequest {
        let text = |key: &str| self.value(key).and_then(Value::as_str).map(str::to_owned);
        let count = |key: &str| {
            self.value(key).and_then(Value::as_u64).and_then(|count| u32::try_from(count).ok())
        };
        NightRequest {
            project: project.to_owned(),
            dry_run: self.is_dry,
            backend: text("backend"),
            model: text("model"),
            source: text("transcript_source"),
            lookback_hours: count("lookback_hours"),
            max_tasks: count("max_tasks_per_night"),
            edit_budget: count("edit_budget"),
            target_skill_path: text("target_skill_path"),
            preferences: text("preferences"),
            tasks_version: None,
        }
    }

    /// All other options as `key=value`.
    pub(super) fn more(&self) -> Vec<String> {
        let path = |name: &str, path: &Option<PathBuf>| {
            path.as_ref().map(|path| format!("{name}={}", path.display()))
        };
        let keys = self.order.keys.iter().filter(|(_, key, _)| !FORM_KEYS.contains(&key.as_str()));
        let keys = keys.map(|(_, key, value)| match value {
            Value::String(text) => format!("{key}={text}"),
            other => format!("{key}={other}"),
        });
        path("config", &self.order.config_file)
            .into_iter()
            .chain(path("tasks_file", &self.order.tasks_file))
            .chain(keys)
            .chain(self.order.cfg_options.iter().cloned())
            .collect()
    }

    /// The last one counts, as in a night.
    fn value(&self, key: &str) -> Option<&Value> {
        self.order.keys.iter().rev().find(|(_, name, _)| name == key).map(|(_, _, value)| value)
    }
}
