//! The table of keys: the reference system's sections and names, and our own additions.

mod agents;
mod data;
mod epochs;
mod gate;
mod limits;
mod models;
mod providers;
mod training;
mod without_effect;

use super::backend;
use serde::{Deserialize, Serialize};

/// What values a key takes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum KeyKind {
    /// `true` or `false`.
    Bool,
    /// A whole number within bounds.
    Int {
        /// Lowest allowed.
        min: i64,
        /// Highest allowed.
        max: i64,
    },
    /// A number within bounds.
    Float {
        /// Lowest allowed.
        min: f64,
        /// Highest allowed.
        max: f64,
    },
    /// Free text.
    Text,
    /// A path; relative ones start at the working directory.
    Path,
    /// One of a few words.
    Choice {
        /// The words.
        options: &'static [&'static str],
    },
    /// A JSON object.
    Json,
}

/// Whether a key can be used today.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Availability {
    /// It has an effect.
    Built,
    /// Part of the reference system, not built yet: accepted at these values only, which mean "off".
    NotBuilt {
        /// Values that ask for nothing.
        off: &'static [&'static str],
    },
    /// Computed or retired: accepted with a warning that says why it has no effect.
    Ignored {
        /// The reason.
        reason: &'static str,
    },
    /// A secret: refused, with the right way shown.
    Secret,
}

/// Where a key stands in the launch form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Group {
    /// Skill and data.
    Data,
    /// Target and optimizer.
    Models,
    /// How long and how bold.
    Training,
    /// When an edit may stay.
    Gate,
    /// When the run must stop.
    Limits,
    /// For few.
    Advanced,
}

/// One key.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct KeySpec {
    /// `section.key`.
    pub path: &'static str,
    /// Label in the form.
    pub label: &'static str,
    /// What it takes.
    pub kind: KeyKind,
    /// The default as text; empty for "not set".
    pub default: &'static str,
    /// Unit shown inside the field; empty for none.
    pub unit: &'static str,
    /// One sentence.
    pub help: &'static str,
    /// Where it stands.
    pub group: Group,
    /// Whether it works.
    pub availability: Availability,
}

use Availability::{Built, Ignored, NotBuilt, Secret};
use Group::Advanced;
use KeyKind::{Choice, Float, Int, Text};

const COUNT: KeyKind = Int { min: 0, max: 1_000_000_000 };
const POSITIVE: KeyKind = Int { min: 1, max: 1_000_000 };
const ANY_BACKEND: KeyKind = Choice { options: &backend::NAMES };
const OPTIMIZERS: KeyKind = Choice { options: &backend::OPTIMIZER_NAMES };
const TOKEN_PARAM: KeyKind = Choice { options: &["auto", "max_tokens", "max_completion_tokens"] };
const TEMPERATURE: KeyKind = Float { min: 0.0, max: 2.0 };
const TIMEOUT: KeyKind = Float { min: 0.1, max: 86_400.0 };
const EFFORTS: KeyKind = Choice { options: &backend::EFFORT_WORDS };
const AZURE_AUTH: KeyKind =
    Choice { options: &["openai", "api_key", "azure_cli", "managed_identity"] };
const OPENAI_API: KeyKind = Choice { options: &["chat", "responses"] };
const THINKING: KeyKind = Choice { options: &["server_default", "enabled", "disabled"] };
const MINIMAX_REGIONS: KeyKind = Choice { options: &["global_en", "cn_zh"] };
const PRICE: KeyKind = Float { min: 0.0, max: 100_000.0 };

const fn key(
    path: &'static str,
    label: &'static str,
    kind: KeyKind,
    default: &'static str,
    group: Group,
    help: &'static str,
) -> KeySpec {
    KeySpec { path, label, kind, default, unit: "", help, group, availability: Built }
}

const fn unit(mut spec: KeySpec, unit: &'static str) -> KeySpec {
    spec.unit = unit;
    spec
}

const fn off(path: &'static str, off: &'static [&'static str]) -> KeySpec {
    KeySpec {
        path,
        label: "",
        kind: Text,
        default: "",
        unit: "",
        help: "",
        group: Advanced,
        availability: NotBuilt { off },
    }
}

const fn ignored(path: &'static str, reason: &'static str) -> KeySpec {
    KeySpec { availability: Ignored { reason }, ..off(path, &[]) }
}

const fn secret(path: &'static str) -> KeySpec {
    KeySpec { availability: Secret, ..off(path, &[]) }
}

const LR_CONTROL: KeyKind = Choice { options: &["fixed", "autonomous", "none"] };
const UPDATE_MODES: KeyKind =
    Choice { options: &["patch", "rewrite_from_suggestions", "full_rewrite_minibatch"] };
const PAIR_POLICIES: KeyKind = Choice { options: &["mixed", "changed", "unchanged"] };

/// The tables, in the order of the form.
const TABLES: [&[KeySpec]; 9] = [
    data::KEYS,
    models::KEYS,
    providers::KEYS,
    agents::KEYS,
    training::KEYS,
    epochs::KEYS,
    gate::KEYS,
    limits::KEYS,
    without_effect::KEYS,
];

const TOTAL: usize = {
    let (mut total, mut table) = (0, 0);
    while table < TABLES.len() {
        total += TABLES[table].len();
        table += 1;
    }
    total
};

const fn joined() -> [KeySpec; TOTAL] {
    let mut all = [TABLES[0][0]; TOTAL];
    let (mut at, mut table) = (0, 0);
    while table < TABLES.len() {
        let mut row = 0;
        while row < TABLES[table].len() {
            all[at] = TABLES[table][row];
            (at, row) = (at + 1, row + 1);
        }
        table += 1;
    }
    all
}

/// All keys, in the order of the form.
pub const KEYS: &[KeySpec] = &joined();

/// The key with this path.
#[must_use]
pub fn find_key(path: &str) -> Option<&'static KeySpec> {
    KEYS.iter().find(|spec| spec.path == path)
}

/// The known key that looks most like a misspelt one.
#[must_use]
pub fn suggest_key(path: &str) -> Option<&'static str> {
    let name = path.rsplit('.').next().unwrap_or(path);
    let likeness = |spec: &&KeySpec| {
        let own = spec.path.rsplit('.').next().unwrap_or(spec.path);
        strsim::jaro_winkler(spec.path, path).max(strsim::jaro_winkler(own, name) - 0.02)
    };
    KEYS.iter()
        .filter(|spec| spec.availability == Built)
        .map(|spec| (likeness(&spec), spec.path))
        .max_by(|left, right| left.0.total_cmp(&right.0))
        .filter(|(ratio, _)| *ratio > 0.8)
        .map(|(_, path)| path)
}
