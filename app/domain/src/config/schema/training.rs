//! Keys of the training loop.

use super::Group::{Advanced, Training};
use super::KeyKind::{Bool, Choice, Int, Path};
use super::{COUNT, KeySpec, LR_CONTROL, POSITIVE, UPDATE_MODES, key, unit};

pub(super) const KEYS: &[KeySpec] = &[
    key(
        "train.num_epochs",
        "Epochs",
        Int { min: 1, max: 10_000 },
        "4",
        Training,
        "Passes over the train split.",
    ),
    unit(
        key(
            "train.batch_size",
            "Batch size",
            POSITIVE,
            "40",
            Training,
            "Tasks rolled out before one reflection.",
        ),
        "tasks",
    ),
    key(
        "train.accumulation",
        "Accumulation",
        Int { min: 1, max: 1000 },
        "1",
        Training,
        "Batches pooled into one step.",
    ),
    key(
        "train.seed",
        "Seed",
        COUNT,
        "42",
        Training,
        "Same seed and same ledger give the same run.",
    ),
    unit(
        key(
            "optimizer.learning_rate",
            "Budget, highest",
            Int { min: 1, max: 1000 },
            "4",
            Training,
            "Edits that may apply in a step at the start: the textual learning rate.",
        ),
        "edits a step",
    ),
    unit(
        key(
            "optimizer.min_learning_rate",
            "Budget, lowest",
            Int { min: 1, max: 1000 },
            "2",
            Training,
            "Edits that may apply in a step at the end.",
        ),
        "edits a step",
    ),
    key(
        "optimizer.lr_scheduler",
        "Schedule",
        Choice { options: &["constant", "linear", "cosine"] },
        "cosine",
        Training,
        "From highest to lowest over all steps.",
    ),
    key(
        "optimizer.lr_control_mode",
        "Budget set by",
        LR_CONTROL,
        "fixed",
        Training,
        "The schedule, the optimizer in each step, or nobody: then all that is proposed is tried.",
    ),
    key(
        "optimizer.skill_update_mode",
        "Update mode",
        UPDATE_MODES,
        "patch",
        Training,
        "Edits, suggestions that a call works into a new text, or whole new texts.",
    ),
    unit(
        key(
            "gradient.minibatch_size",
            "Minibatch",
            Int { min: 1, max: 1000 },
            "8",
            Training,
            "Trajectories read by one optimizer call.",
        ),
        "trajectories",
    ),
    unit(
        key(
            "gradient.merge_batch_size",
            "Merge group",
            Int { min: 2, max: 1000 },
            "8",
            Training,
            "Patches merged by one optimizer call.",
        ),
        "patches",
    ),
    key(
        "gradient.failure_only",
        "Failures only",
        Bool,
        "false",
        Training,
        "Do not reflect on passed tasks.",
    ),
    key(
        "gradient.use_eval_feedback",
        "Show the grading",
        Bool,
        "true",
        Advanced,
        "The optimizer reads why an attempt failed and what was expected. Off: it sees only that it failed. The target never sees it.",
    ),
    key(
        "optimizer.prompts_dir",
        "Own prompts",
        Path,
        "",
        Advanced,
        "A folder with prompts of your own, by name; `skillopt prompts export` writes those there are. Empty for none.",
    ),
];
