//! Keys of the gate.

use super::Group::{Advanced, Gate};
use super::KeyKind::{Bool, Choice, Float, Text};
use super::{COUNT, KeySpec, key, unit};

pub(super) const KEYS: &[KeySpec] = &[
    key(
        "evaluation.gate_metric",
        "Metric",
        Choice { options: &["hard", "soft", "mixed"] },
        "hard",
        Gate,
        "The number that must strictly rise for an edit to stay.",
    ),
    key(
        "evaluation.gate_mixed_weight",
        "Weight of soft",
        Float { min: 0.0, max: 1.0 },
        "0.5",
        Gate,
        "For the mixed metric: 0 is hard, 1 is soft.",
    ),
    key(
        "evaluation.no_regression",
        "No task may regress",
        Bool,
        "false",
        Gate,
        "Stricter: a candidate that breaks any task is rejected.",
    ),
    key(
        "evaluation.use_gate",
        "Use the gate",
        Bool,
        "true",
        Gate,
        "Off: every candidate stays, whatever its score. The best skill is still the one that measured best.",
    ),
    unit(
        key(
            "evaluation.sel_env_num",
            "Selection tasks",
            COUNT,
            "0",
            Advanced,
            "Gate on the first tasks of the val split only; 0 for all.",
        ),
        "tasks",
    ),
    unit(
        key(
            "evaluation.test_env_num",
            "Test tasks",
            COUNT,
            "0",
            Advanced,
            "Measure on the first tasks of the test split only; 0 for all.",
        ),
        "tasks",
    ),
    key(
        "evaluation.use_semantic_density",
        "Reward emphatic words",
        Bool,
        "false",
        Advanced,
        "Adds a bonus for words such as must and never. It rewards shouting, not results; meant for comparisons.",
    ),
    key(
        "evaluation.semantic_density_weight",
        "Weight of emphatic words",
        Float { min: 0.0, max: 1.0 },
        "0.05",
        Advanced,
        "The bonus of a skill that is made of such words only.",
    ),
    key(
        "evaluation.leading_words",
        "Emphatic words",
        Text,
        "",
        Advanced,
        "Separated by commas, or a list; those of the Python system when empty.",
    ),
    key(
        "evaluation.eval_test",
        "Measure on the test split",
        Bool,
        "true",
        Gate,
        "Initial and best skill, once, at the end. Never fed back.",
    ),
];
