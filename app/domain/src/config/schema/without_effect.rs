//! Keys of the reference system that are accepted without effect or refused: computed, retired, not built, secret.

use super::{KeySpec, ignored, off, secret};

pub(super) const KEYS: &[KeySpec] = &[
    // Computed or retired.
    ignored(
        "train.steps_per_epoch",
        "it is computed from the data, the batch size and the accumulation",
    ),
    ignored("gradient.max_analyst_rounds", "it was retired: one call reads each minibatch"),
    ignored("optimizer.meta_learning_rate", "no version of the system has used it"),
    // Not built.
    off("env.max_turns", &["", "1"]),
    ignored("env.exec_timeout", "the time limit of an agent is model.target_timeout_seconds"),
    // Secrets.
    secret("model.api_key"),
    secret("model.openai_api_key"),
    secret("model.openai_compatible_api_key"),
    secret("model.target_openai_compatible_api_key"),
    secret("model.optimizer_openai_compatible_api_key"),
    secret("model.azure_api_key"),
    secret("model.azure_openai_api_key"),
    secret("model.optimizer_azure_openai_api_key"),
    secret("model.target_azure_openai_api_key"),
    secret("model.qwen_chat_api_key"),
    secret("model.minimax_api_key"),
];
