//! Why the numbers of some runs may not be compared. Says what differs; never hides a run.

use crate::hash::Sha256Hex;
use crate::run::RunStatus;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a caution is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum CautionKind {
    /// Other benchmarks.
    Benchmark,
    /// Other tasks, or tasks that nobody compared.
    Data,
    /// Splits of other sizes.
    Splits,
    /// Simulated models beside real ones.
    Simulated,
    /// Other metrics of the gate.
    Metric,
    /// Other models perform the tasks.
    Target,
    /// Some runs are not finished.
    Unfinished,
}

/// Something to know before two numbers are compared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Caution {
    /// What it is about.
    pub kind: CautionKind,
    /// One or two sentences.
    pub message: String,
}

/// What is asked of a run.
#[derive(Clone, Debug)]
pub struct RunFacts {
    /// Its name.
    pub name: String,
    /// Its state.
    pub status: RunStatus,
    /// Its benchmark.
    pub benchmark: String,
    /// Hash of all tasks of all splits; `None` when it is not known.
    pub data: Option<Sha256Hex>,
    /// Selection and test tasks; `None` when they are not known.
    pub sizes: Option<[u32; 2]>,
    /// The gate's number, such as `hard` or `mixed 0.5`.
    pub metric: String,
    /// Model of the target.
    pub target: String,
    /// The target is a simulation.
    pub is_simulated: bool,
}

/// Names of one group that are written out.
const MAX_NAMES: usize = 4;

/// Everything that speaks against a comparison; empty when nothing does.
#[must_use]
pub fn cautions(runs: &[RunFacts]) -> Vec<Caution> {
    let mut found = Vec::new();
    let mut add = |kind, message: Option<String>| {
        found.extend(message.map(|message| Caution { kind, message }));
    };
    add(
        CautionKind::Benchmark,
        grouped(runs, |run| Some(run.benchmark.clone())).map(|groups| {
            format!("Scores of different benchmarks say nothing about each other: {groups}.")
        }),
    );
    add(CautionKind::Data, data(runs));
    let sizes = |run: &RunFacts| {
        run.sizes.map(|[selection, test]| format!("{selection} selection and {test} test tasks"))
    };
    add(
        CautionKind::Splits,
        grouped(runs, sizes).map(|groups| format!("The splits have other sizes: {groups}.")),
    );
    let kind = |run: &RunFacts| {
        Some(if run.is_simulated { "simulated" } else { "real models" }.to_owned())
    };
    add(
        CautionKind::Simulated,
        grouped(runs, kind)
            .map(|groups| format!("A simulated target is no measure for a real one: {groups}.")),
    );
    add(
        CautionKind::Metric,
        grouped(runs, |run| Some(run.metric.clone())).map(|groups| {
            format!("Selection scores are in different metrics: {groups}. Test scores are hard in all of them.")
        }),
    );
    let target = |run: &RunFacts| Some(run.target.clone()).filter(|_| !run.is_simulated);
    add(
        CautionKind::Target,
        grouped(runs, target).map(|groups| {
            format!("Different models perform the tasks, so that a score says as much about the model as about the skill: {groups}.")
        }),
    );
    add(CautionKind::Unfinished, unfinished(runs));
    found
}

fn data(runs: &[RunFacts]) -> Option<String> {
    let unknown: Vec<&str> =
        runs.iter().filter(|run| run.data.is_none()).map(|run| run.name.as_str()).collect();
    let differ =
        grouped(runs, |run| run.data.as_ref().map(|sha| format!("tasks {}", &sha.as_str()[..8])));
    let mut sentences = Vec::new();
    if let Some(groups) = differ {
        sentences.push(format!(
            "The runs were made with different tasks: {groups}. Only tasks that two runs share are paired."
        ));
    }
    if !unknown.is_empty() && runs.len() > 1 {
        sentences.push(format!(
            "Which tasks they had is not known of {}: tasks count as shared by id and title.",
            names(&unknown)
        ));
    }
    (!sentences.is_empty()).then(|| sentences.join(" "))
}

fn unfinished(runs: &[RunFacts]) -> Option<String> {
    let open: Vec<&str> = runs
        .iter()
        .filter(|run| run.status != RunStatus::Done)
        .map(|run| run.name.as_str())
        .collect();
    (!open.is_empty()).then(|| {
        let verb = if open.len() == 1 { "is" } else { "are" };
        format!("{} {verb} not finished: the numbers are those so far.", names(&open))
    })
}

/// The groups by what `of` says, with the names of each, when there are two or more. Runs without a word are in none.
fn grouped(runs: &[RunFacts], of: impl Fn(&RunFacts) -> Option<String>) -> Option<String> {
    let mut groups: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for run in runs {
        if let Some(word) = of(run) {
            groups.entry(word).or_default().push(&run.name);
        }
    }
    (groups.len() > 1).then(|| {
        let groups = groups.iter().map(|(word, of)| format!("{word} ({})", names(of)));
        groups.collect::<Vec<_>>().join("; ")
    })
}

fn names(all: &[&str]) -> String {
    let shown = all.iter().take(MAX_NAMES).copied().collect::<Vec<_>>().join(", ");
    match all.len().saturating_sub(MAX_NAMES) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn run(name: &str) -> RunFacts {
        RunFacts {
            name: name.into(),
            status: RunStatus::Done,
            benchmark: "searchqa".into(),
            data: Some(Sha256Hex::of("tasks")),
            sizes: Some([40, 72]),
            metric: "hard".into(),
            target: "m".into(),
            is_simulated: false,
        }
    }

    #[test]
    fn runs_of_one_kind_can_be_compared() {
        assert_eq!(cautions(&[run("a"), run("b")]), []);
        assert_eq!(cautions(&[]), []);
        assert_eq!(cautions(&[run("a")]), []);
    }

    #[rstest]
    #[case(|run: &mut RunFacts| run.benchmark = "docvqa".into(), CautionKind::Benchmark, "docvqa (b); searchqa (a)")]
    #[case(|run: &mut RunFacts| run.data = Some(Sha256Hex::of("other")), CautionKind::Data, "different tasks")]
    #[case(|run: &mut RunFacts| run.data = None, CautionKind::Data, "not known of b")]
    #[case(|run: &mut RunFacts| run.sizes = Some([20, 72]), CautionKind::Splits, "20 selection and 72 test tasks (b)")]
    #[case(|run: &mut RunFacts| run.metric = "soft".into(), CautionKind::Metric, "hard (a); soft (b)")]
    #[case(|run: &mut RunFacts| run.target = "n".into(), CautionKind::Target, "m (a); n (b)")]
    #[case(|run: &mut RunFacts| run.is_simulated = true, CautionKind::Simulated, "real models (a); simulated (b)")]
    #[case(|run: &mut RunFacts| run.status = RunStatus::Running, CautionKind::Unfinished, "b is not finished")]
    fn what_differs_is_said_once_with_names(
        #[case] change: fn(&mut RunFacts),
        #[case] kind: CautionKind,
        #[case] words: &str,
    ) {
        let mut other = run("b");
        change(&mut other);
        let found = cautions(&[run("a"), other]);
        let [one] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!(one.kind, kind);
        assert!(one.message.contains(words), "{}", one.message);
    }

    #[test]
    fn long_groups_are_cut_with_a_count() {
        let mut runs: Vec<RunFacts> = (0..20).map(|at| run(&format!("r{at}"))).collect();
        runs[0].metric = "soft".into();
        let found = cautions(&runs);
        assert!(found[0].message.contains("r1, r2, r3, r4 and 15 more"), "{}", found[0].message);
    }
}
