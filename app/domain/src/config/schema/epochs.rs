//! Keys of what happens between epochs, and of what reflection may write.

use super::Group::{Advanced, Training};
use super::KeyKind::{Bool, Choice, Int};
use super::{COUNT, KeySpec, PAIR_POLICIES, key, unit};

pub(super) const KEYS: &[KeySpec] = &[
    key(
        "optimizer.use_slow_update",
        "Slow update",
        Bool,
        "false",
        Training,
        "From the second epoch on, compare the skills of two epochs on the same tasks and write guidance.",
    ),
    key(
        "optimizer.slow_update_gate_with_selection",
        "Gate the slow update",
        Bool,
        "true",
        Advanced,
        "Keep the guidance only if it passes the gate. When nobody sets it, train.compat: python turns it off.",
    ),
    unit(
        key(
            "optimizer.slow_update_samples",
            "Compared tasks",
            Int { min: 1, max: 100_000 },
            "20",
            Advanced,
            "Train tasks that are tried with the skills of two epochs.",
        ),
        "tasks",
    ),
    key(
        "optimizer.longitudinal_pair_policy",
        "Compared pairs",
        PAIR_POLICIES,
        "mixed",
        Advanced,
        "Which pairs the optimizer is shown; changed and unchanged try further tasks until there are enough.",
    ),
    key(
        "optimizer.use_meta_skill",
        "Meta skill",
        Bool,
        "false",
        Training,
        "The optimizer keeps a memory of what worked from epoch to epoch. The target never sees it.",
    ),
    key(
        "optimizer.use_skill_aware_reflection",
        "Tell lapses from defects",
        Bool,
        "false",
        Training,
        "A rule that stands in the skill and was not followed becomes a note in an appendix, no new rule.",
    ),
    key(
        "optimizer.skill_aware_appendix_source",
        "Notes from",
        Choice { options: &["both", "failure_only"] },
        "both",
        Advanced,
        "Failed and passed trajectories, or failed ones only.",
    ),
    unit(
        key(
            "optimizer.skill_aware_consolidate_threshold",
            "Condense notes above",
            COUNT,
            "0",
            Advanced,
            "With more notes than this a call condenses them; 0 for never.",
        ),
        "notes",
    ),
    key(
        "train.compat",
        "Compatibility",
        Choice { options: &["none", "python"] },
        "none",
        Advanced,
        "`python` follows the Python system's rules for edits, budgets, gate, memory and regions; see docs/replay.md.",
    ),
    unit(
        key(
            "train.train_size",
            "Train size",
            COUNT,
            "0",
            Advanced,
            "Must equal the size of the train split; 0 takes it from the data.",
        ),
        "tasks",
    ),
];
