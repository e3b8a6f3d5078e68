//! Keys of skill, data and splits.

use super::Group::{Advanced, Data};
use super::KeyKind::{Choice, Path, Text};
use super::{COUNT, KeySpec, key, unit};

pub(super) const KEYS: &[KeySpec] = &[
    key(
        "env.name",
        "Benchmark",
        Choice { options: &["searchqa"] },
        "searchqa",
        Data,
        "Which tasks are performed and how they are scored.",
    ),
    key(
        "env.skill_init",
        "Skill",
        Path,
        "",
        Data,
        "The SKILL.md to start from. Leave empty to start from no skill.",
    ),
    key(
        "env.split_mode",
        "Splits",
        Choice { options: &["split_dir", "ratio"] },
        "split_dir",
        Data,
        "Folders that are split already, or one file that is split by a ratio.",
    ),
    key(
        "env.split_dir",
        "Split folder",
        Path,
        "",
        Data,
        "A folder with train, val and test, each with one JSON file.",
    ),
    key(
        "env.data_path",
        "Data file",
        Path,
        "",
        Data,
        "For ratio splits: one .json or .jsonl file, or a folder with exactly one.",
    ),
    key(
        "env.split_ratio",
        "Split, train : val : test",
        Text,
        "2:1:7",
        Data,
        "Three whole numbers above 0.",
    ),
    key("env.split_seed", "Split seed", COUNT, "42", Data, "The same seed gives the same split."),
    key(
        "env.split_output_dir",
        "Write splits to",
        Path,
        "",
        Advanced,
        "Where ratio splits are written; empty for the run folder.",
    ),
    unit(
        key(
            "env.limit",
            "Limit",
            COUNT,
            "0",
            Advanced,
            "Use only the first tasks of each split; 0 for all.",
        ),
        "tasks",
    ),
];
