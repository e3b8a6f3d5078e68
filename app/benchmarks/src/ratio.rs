//! Ratio splits: how many tasks each part gets, which ones, and the folder that keeps the result.

use crate::error::DataError;
use serde_json::{Value, json};
use skillopt_engine::rng::PythonRandom;
use skillopt_engine::splits::SplitName;
use std::path::{Path, PathBuf};

/// Train, selection, test: the order of ratios and of files.
pub(crate) const PARTS: [SplitName; 3] = [SplitName::Train, SplitName::Selection, SplitName::Test];

/// Shuffles as Python's `random.Random(seed).shuffle` does and cuts in three.
pub(crate) fn split<T>(mut items: Vec<T>, ratio: [u32; 3], seed: u64) -> [Vec<T>; 3] {
    PythonRandom::new(seed).shuffle(&mut items);
    let [train, selection, _] = counts(items.len(), ratio);
    let mut rest = items.split_off(train);
    let test = rest.split_off(selection);
    [items, rest, test]
}

/// Largest remainder: each part gets its whole share, what is left goes to the largest fractions; among equal
/// fractions the larger weight comes first, then the earlier part.
fn counts(total: usize, ratio: [u32; 3]) -> [usize; 3] {
    let weights = ratio.map(u128::from);
    let sum: u128 = weights.iter().sum::<u128>().max(1);
    let shares = weights.map(|weight| u128::try_from(total).unwrap_or(u128::MAX) * weight);
    let mut counts = shares.map(|share| usize::try_from(share / sum).unwrap_or(usize::MAX));
    let mut order = [0, 1, 2];
    order.sort_by_key(|at| std::cmp::Reverse((shares[*at] % sum, weights[*at])));
    let left = total.saturating_sub(counts.iter().sum());
    for at in order.into_iter().take(left) {
        counts[at] += 1;
    }
    counts
}

/// What the manifest tells about a split.
#[derive(Debug)]
pub(crate) struct Origin<'a> {
    pub(crate) benchmark: &'a str,
    pub(crate) data_path: &'a str,
    pub(crate) ratio: [u32; 3],
    pub(crate) seed: u64,
}

impl Origin<'_> {
    /// The name of the split's folder, such as `searchqa_2-1-7_seed42`.
    pub(crate) fn folder_name(&self) -> String {
        let [train, selection, test] = self.ratio;
        format!("{}_{train}-{selection}-{test}_seed{}", self.benchmark, self.seed)
    }

    fn manifest(&self, parts: &[Vec<Value>; 3]) -> Value {
        let [train, selection, test] = self.ratio;
        json!({
            "benchmark": self.benchmark,
            "source_data_path": self.data_path,
            "split_mode": "ratio",
            "split_ratio": format!("{train}:{selection}:{test}"),
            "split_seed": self.seed,
            "counts": { "train": parts[0].len(), "val": parts[1].len(), "test": parts[2].len() },
        })
    }
}

/// Writes a split as a split folder and returns it. A folder with the same split is left alone; one with
/// another split is never overwritten, because finished runs may rest on it.
pub(crate) fn write(
    parent: &Path,
    parts: &[Vec<Value>; 3],
    origin: &Origin<'_>,
) -> Result<PathBuf, DataError> {
    let folder = parent.join(origin.folder_name());
    let files = PARTS.map(|name| folder.join(name.folder()).join("items.json"));
    let texts = parts.each_ref().map(|items| pretty(&Value::Array(items.clone())));
    for (file, text) in files.iter().zip(&texts) {
        if std::fs::read(file).is_ok_and(|kept| kept != text.as_bytes()) {
            return Err(DataError::OtherSplit { path: folder });
        }
    }
    for (file, text) in files.iter().zip(&texts) {
        write_whole(file, text)?;
    }
    write_whole(&folder.join("split_manifest.json"), &pretty(&origin.manifest(parts)))?;
    Ok(folder)
}

fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}

// A reader never sees half a file: it is written beside its place and moved there.
fn write_whole(path: &Path, text: &str) -> Result<(), DataError> {
    if std::fs::read(path).is_ok_and(|kept| kept == text.as_bytes()) {
        return Ok(());
    }
    let failed = |source| DataError::Write { path: path.to_owned(), source };
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent).map_err(failed)?;
    }
    let beside = path.with_extension(format!("json.{}.part", std::process::id()));
    std::fs::write(&beside, text).map_err(failed)?;
    std::fs::rename(&beside, path).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case(10, [2, 1, 7], [2, 1, 7])]
    #[case(9, [2, 1, 7], [2, 1, 6])]
    #[case(11, [2, 1, 7], [2, 1, 8])]
    #[case(5, [1, 1, 1], [2, 2, 1])]
    #[case(3, [2, 1, 7], [1, 0, 2])]
    #[case(0, [2, 1, 7], [0, 0, 0])]
    #[case(4, [1, 2, 1], [1, 2, 1])]
    #[case(2, [1, 2, 1], [1, 1, 0])]
    fn counts_go_by_largest_remainder(
        #[case] total: usize,
        #[case] ratio: [u32; 3],
        #[case] expected: [usize; 3],
    ) {
        assert_eq!(counts(total, ratio), expected);
    }

    // Python: `r = random.Random(42); x = list(range(10)); r.shuffle(x)`.
    #[test]
    fn a_split_equals_that_of_python_for_the_same_seed() {
        let parts = split((0..10).collect(), [2, 1, 7], 42);
        assert_eq!(parts, [vec![7, 3], vec![2], vec![8, 5, 6, 9, 4, 0, 1]]);
    }

    #[test]
    fn splits_of_three_seeds_equal_the_golden_vectors() {
        let text = include_str!("../../../tests/fixtures/golden/vectors.json");
        let vectors: Value = serde_json::from_str(text).unwrap();
        let splits = vectors["splits"].as_array().unwrap();
        assert!(splits.len() >= 45);
        for golden in splits {
            let number = |value: &Value| value.as_u64().unwrap();
            let ratio = [0, 1, 2].map(|at| u32::try_from(number(&golden["ratio"][at])).unwrap());
            let parts = split((0..number(&golden["n"])).collect(), ratio, number(&golden["seed"]));
            assert_eq!(serde_json::to_value(parts).unwrap(), golden["parts"], "{golden}");
        }
    }

    proptest::proptest! {
        #[test]
        fn a_split_loses_and_doubles_nothing(total in 0_usize..300, a in 1_u32..9, b in 1_u32..9, c in 1_u32..9, seed: u64) {
            let parts = split((0..total).collect(), [a, b, c], seed);
            let mut all: Vec<usize> = parts.into_iter().flatten().collect();
            all.sort_unstable();
            proptest::prop_assert_eq!(all, (0..total).collect::<Vec<_>>());
        }
    }
}
