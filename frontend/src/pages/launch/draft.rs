//! What was typed so far: only values that differ from the default. Owned by the page, and kept in the browser.

use super::kept;
use super::source::Purpose;
use crate::api::{SchemaKey, Values};
use crate::state::effect::effect;
use crate::state::signal::RwSignal;
use crate::text::lower;
use leptos::prelude::*;
use skillopt_domain::api::{LaunchRequest, Preset};
use skillopt_domain::ids::RunId;
use skillopt_domain::origin::LaunchOrigin;
use std::collections::BTreeMap;

/// With what a form opens.
#[derive(Clone, Debug)]
pub(super) struct Start {
    pub(super) purpose: Purpose,
    /// The run that is forked or resumed.
    pub(super) source: Option<RunId>,
    pub(super) version: Option<u32>,
    pub(super) values: Values,
    /// Under which name the draft is kept.
    pub(super) kept_as: String,
}

/// The form's state.
#[derive(Clone, Copy)]
pub(super) struct Draft {
    pub(super) purpose: Purpose,
    pub(super) source: StoredValue<Option<RunId>>,
    /// The version of that run's skill to start from; `None` for the one that it began with.
    pub(super) version: RwSignal<Option<u32>>,
    /// It was taken up where someone left it.
    pub(super) is_restored: RwSignal<bool>,
    /// With what it opened, before anything was typed.
    opened: StoredValue<LaunchRequest>,
    kept_as: StoredValue<String>,
    pub(super) name: RwSignal<String>,
    /// Draw anew, whatever the ledger holds.
    pub(super) fresh: RwSignal<bool>,
    values: RwSignal<Values>,
    /// Keys whose field was left once: from then on it says what is wrong.
    touched: RwSignal<Vec<String>>,
    /// Someone asked what is missing: all fields say it.
    is_all_shown: RwSignal<bool>,
    defaults: StoredValue<BTreeMap<String, String>>,
    /// All keys in the order of the form.
    order: StoredValue<Vec<String>>,
}

impl Draft {
    pub(super) fn new(keys: &[SchemaKey], start: Start) -> Self {
        let defaults = keys.iter().map(|key| (key.path.clone(), key.default.clone())).collect();
        let draft = Self {
            purpose: start.purpose,
            source: StoredValue::new(start.source),
            version: RwSignal::new(start.version),
            is_restored: RwSignal::new(false),
            opened: StoredValue::new(LaunchRequest::default()),
            kept_as: StoredValue::new(start.kept_as),
            name: RwSignal::new(String::new()),
            fresh: RwSignal::new(false),
            values: RwSignal::new(Values::new()),
            touched: RwSignal::new(Vec::new()),
            is_all_shown: RwSignal::new(false),
            defaults: StoredValue::new(defaults),
            order: StoredValue::new(keys.iter().map(|key| key.path.clone()).collect()),
        };
        draft.replace(start.values);
        draft.opened.set_value(untrack(|| draft.request()));
        draft
    }

    /// Takes up the draft that was left in this browser, and keeps it from now on as it changes.
    pub(super) fn keep_in_browser(self) {
        let name = self.kept_as.get_value();
        if let Some(left) = kept::read(&name) {
            self.name.set(left.name);
            self.fresh.set(left.fresh);
            // A version that the address asks for wins over the one that was left.
            let asked = untrack(|| self.version.get());
            self.version.set(asked.or(left.origin.and_then(|origin| origin.version)));
            self.replace(left.values);
            self.is_restored
                .set(self.opened.with_value(|opened| *opened != untrack(|| self.request())));
        }
        effect(move || {
            let request = self.request();
            if self.opened.with_value(|opened| *opened == request) {
                kept::forget(&name);
            } else {
                kept::keep(&name, &request);
            }
        });
    }

    /// A key as the form opened.
    pub(super) fn restore(self, path: &str) {
        let opened = self.opened.with_value(|opened| opened.values.get(path).cloned());
        self.set(path, opened.unwrap_or_else(|| self.default_of(path)));
    }

    /// The form as it opened.
    pub(super) fn start_over(self) {
        let opened = self.opened.get_value();
        self.name.set(opened.name);
        self.fresh.set(opened.fresh);
        self.version.set(opened.origin.and_then(|origin| origin.version));
        self.replace(opened.values);
        self.is_restored.set(false);
    }

    /// The run was started: what was typed is in it.
    pub(super) fn forget(self) {
        self.kept_as.with_value(|name| kept::forget(name));
    }

    /// Keys that differ from what the form opened with, with their values as text.
    pub(super) fn changes(self) -> Values {
        let paths = self.order.get_value();
        let changed = paths.into_iter().filter(|path| self.is_changed(path));
        changed.map(|path| (path.clone(), self.get(&path))).collect()
    }

    /// The value of a key, its default when it was not touched.
    pub(super) fn get(self, path: &str) -> String {
        self.values
            .with(|values| values.get(path).cloned())
            .unwrap_or_else(|| self.default_of(path))
    }

    /// It differs from its default; in the form of a fork or a resume, from the other run.
    pub(super) fn is_changed(self, path: &str) -> bool {
        if self.purpose == Purpose::New {
            return self.values.with(|values| values.contains_key(path));
        }
        let opened = self.opened.with_value(|opened| opened.values.get(path).cloned());
        self.get(path) != opened.unwrap_or_else(|| self.default_of(path))
    }

    /// The field may say what is wrong: an empty form is no list of errors.
    pub(super) fn shows_problem(self, path: &str) -> bool {
        self.is_changed(path)
            || self.is_all_shown.get()
            || self.touched.with(|touched| is_among(touched, path))
    }

    pub(super) fn touch(self, path: &str) {
        if self.touched.with_untracked(|touched| !is_among(touched, path)) {
            self.touched.update(|touched| touched.push(path.to_owned()));
        }
    }

    pub(super) fn show_all_problems(self) {
        self.is_all_shown.set(true);
    }

    pub(super) fn n_changed(self) -> u64 {
        let paths = self.order.get_value();
        let changed = paths.iter().filter(|path| self.is_changed(path)).count();
        u64::try_from(changed).unwrap_or_default()
    }

    /// A default that is typed again counts as not changed.
    pub(super) fn set(self, path: &str, value: String) {
        if value == self.default_of(path) {
            self.values.update(|values| drop(values.remove(path)));
        } else {
            self.values.update(|values| drop(values.insert(path.to_owned(), value)));
        }
    }

    /// Takes other values for all keys. Keys that the form does not show are kept: the check judges them.
    pub(super) fn replace(self, mut values: Values) {
        values.retain(|path, value| *value != self.default_of(path));
        self.values.set(values);
    }

    /// Where the field stands in the form; behind all others when there is none.
    pub(super) fn place_of(self, path: &str) -> usize {
        self.order
            .with_value(|order| order.iter().position(|known| known == path).unwrap_or(order.len()))
    }

    fn default_of(self, path: &str) -> String {
        self.defaults.with_value(|defaults| defaults.get(path).cloned().unwrap_or_default())
    }

    /// What is sent.
    pub(super) fn request(self) -> LaunchRequest {
        LaunchRequest {
            name: self.name.with(|name| name.trim().to_owned()),
            values: self.values.get(),
            fresh: self.fresh.get(),
            origin: self
                .source
                .get_value()
                .map(|run| LaunchOrigin { run, version: self.version.get() }),
        }
    }
}

fn is_among(paths: &[String], path: &str) -> bool {
    paths.iter().any(|known| known == path)
}

/// The preset that a link asks for: by its name in the address, or by the backend that it sets.
pub(super) fn find_preset<'a>(presets: &'a [Preset], word: &str) -> Option<&'a Preset> {
    let by_backend = |preset: &&Preset| {
        preset.values.get("model.backend").is_some_and(|backend| backend == word)
    };
    presets
        .iter()
        .find(|preset| slug(&preset.name) == word)
        .or_else(|| presets.iter().find(by_backend))
}

/// A name in an address.
pub(super) fn slug(name: &str) -> String {
    let words =
        name.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(lower).collect::<Vec<_>>().join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn preset(name: &str, backend: &str) -> Preset {
        let values = BTreeMap::from([("model.backend".to_owned(), backend.to_owned())]);
        Preset { name: name.to_owned(), about: String::new(), values }
    }

    #[test]
    fn a_preset_is_found_by_its_name_or_its_backend() {
        let presets =
            [preset("Sample run", "mock"), preset("My own skill, my data", "openai_compatible")];
        assert_eq!(slug(&presets[1].name), "my-own-skill-my-data");
        assert_eq!(find_preset(&presets, "sample-run"), Some(&presets[0]));
        assert_eq!(find_preset(&presets, "openai_compatible"), Some(&presets[1]));
        assert_eq!(find_preset(&presets, "nothing"), None);
    }
}
