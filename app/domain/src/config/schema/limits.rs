//! Keys of limits and of the run folder.

use super::Group::{Advanced, Limits};
use super::KeyKind::{Float, Path};
use super::{COUNT, KeySpec, key, unit};

pub(super) const KEYS: &[KeySpec] = &[
    unit(
        key(
            "limits.max_calls",
            "Call cap",
            COUNT,
            "0",
            Limits,
            "Stops before the call that would pass it; 0 for none.",
        ),
        "calls",
    ),
    unit(
        key(
            "limits.max_tokens",
            "Token cap",
            COUNT,
            "0",
            Limits,
            "Stops before the call that could pass it; 0 for none.",
        ),
        "tokens",
    ),
    unit(
        key(
            "limits.max_cost_usd",
            "Spend cap",
            Float { min: 0.0, max: 1_000_000.0 },
            "0",
            Limits,
            "Needs prices. Stops before the call that could pass it; 0 for none.",
        ),
        "USD",
    ),
    unit(
        key(
            "limits.max_minutes",
            "Time cap",
            Float { min: 0.0, max: 1_000_000.0 },
            "0",
            Limits,
            "Working time over all resumes; 0 for none.",
        ),
        "min",
    ),
    unit(
        key(
            "limits.error_share",
            "Error limit",
            Float { min: 0.0, max: 1.0 },
            "0.1",
            Limits,
            "Above this share of failed attempts a stage ends the run as failed, never as \"no gain\".",
        ),
        "share",
    ),
    key(
        "env.out_root",
        "Run folder",
        Path,
        "",
        Advanced,
        "Where the run folder is written; empty for a folder of its own under the data directory.",
    ),
];
