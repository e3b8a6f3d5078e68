//! What stands before the first step and after the last one: the baseline, the best skill, the test split.

use super::json::Fields;
use super::reader::{Reader, mean_of, selection_key};
use super::step::Walk;
use serde_json::{Map, Value};
use skillopt_domain::event::{EventKind, Measured, TestedSkill};
use skillopt_domain::hash::Sha256Hex;
use skillopt_domain::outcome::{OutcomeCounts, RolloutPurpose};
use skillopt_domain::score::MeanScore;

pub(super) const SUMMARY: &str = "summary.json";
/// Scores are written with six decimals.
const SAME: f64 = 2e-6;

/// `summary.json`, which only a finished run has.
pub(super) fn summary(reader: &mut Reader) -> Option<Map<String, Value>> {
    match reader.json(SUMMARY)? {
        Value::Object(object) => Some(object),
        _ => {
            reader.findings.add(SUMMARY, "", "expected an object; left out");
            None
        }
    }
}

/// The initial skill on the selection split.
pub(super) fn baseline(
    reader: &mut Reader,
    initial: &Sha256Hex,
    summary: &Fields<'_>,
) -> Option<Measured> {
    let key = selection_key(initial);
    let purpose = RolloutPurpose::Selection;
    reader.add_set(&key, purpose, 0, initial, "selection_eval_baseline");
    let outcomes = reader.selection_of(initial);
    let (score, counts) = (mean_of(outcomes), OutcomeCounts::of(outcomes));
    let told = summary.gate_score("baseline_selection_hard", &mut reader.findings);
    let gate_score = score.map(|mean| reader.project(mean)).or(told);
    gate_score?;
    Some(Measured { skill: initial.clone(), score, gate_score, counts, set: key, cost: None })
}

/// Says when the folder's best skill is not a step's candidate: after a slow update, or a promotion at the end.
pub(super) fn best_skill(reader: &mut Reader, walk: &Walk, n_steps: usize) -> Sha256Hex {
    const FILE: &str = "best_skill.md";
    let Some(best) = reader.skill(FILE) else {
        if n_steps > 0 {
            reader.findings.add(FILE, "", "missing; the best skill is that of the steps");
        }
        return walk.best.clone();
    };
    if best != walk.best {
        let message = format!(
            "is not the best candidate of the steps ({} there, {} here), as after a slow update or a promotion \
             at the end; it is kept with the run, and is no version of its list",
            walk.best.short(),
            best.short()
        );
        reader.findings.add(FILE, "", message);
    }
    best
}

/// A measurement on the test split.
struct Test<'a> {
    dir: &'a str,
    skill: &'a Sha256Hex,
    /// Fields of `summary.json`.
    fields: [&'a str; 2],
}

/// Initial, best and last skill on the test split.
pub(super) fn tests(
    reader: &mut Reader,
    (initial, best, last): (&Sha256Hex, &Sha256Hex, &Sha256Hex),
    step: u32,
    summary: &Fields<'_>,
) {
    let initial = Test {
        dir: "test_eval_baseline",
        skill: initial,
        fields: ["baseline_test_hard", "baseline_test_soft"],
    };
    let best = Test { dir: "test_eval", skill: best, fields: ["test_hard", "test_soft"] };
    for (which, key, test) in [
        (TestedSkill::Initial, "tested/initial", initial),
        (TestedSkill::Best, "tested/best", best),
    ] {
        if let Some(measured) = measured(reader, &test, step, summary) {
            let at_ms = reader.folder.changed_at(SUMMARY).unwrap_or_default();
            reader.emit(key.to_owned(), at_ms, EventKind::Tested { which, measured });
        }
    }
    let last = Test {
        dir: "test_eval_final",
        skill: last,
        fields: ["final_test_hard", "final_test_soft"],
    };
    if reader.folder.has_dir(last.dir)
        && let Some(Measured { score: Some(mean), .. }) = measured(reader, &last, step, summary)
    {
        let message = format!(
            "the last skill reached hard {:.3}, soft {:.3} on {} test tasks; its attempts are in the list",
            mean.hard, mean.soft, mean.n
        );
        reader.findings.add(last.dir, "", message);
    }
}

/// Without a summary, which is written after all of them, measurements on the test split may be under way.
pub(super) fn name_unproven_tests(reader: &mut Reader) {
    for dir in ["test_eval_baseline", "test_eval", "test_eval_final"] {
        if reader.folder.has_dir(dir) {
            let message = "there is no summary after it, so that it may still be measured; left out until then";
            reader.findings.add(dir, "", message);
        }
    }
}

fn measured(
    reader: &mut Reader,
    test: &Test<'_>,
    step: u32,
    summary: &Fields<'_>,
) -> Option<Measured> {
    let set = free_key(reader, test.skill, test.dir, step);
    let outcomes = reader.sets.iter().find(|known| known.set.key == set);
    let outcomes = outcomes.map_or(&[][..], |known| &known.set.outcomes);
    let (found, counts) = (mean_of(outcomes), OutcomeCounts::of(outcomes));
    let findings = &mut reader.findings;
    let [hard, soft] = test.fields.map(|key| summary.share(key, findings));
    if let (Some(told), Some(mean)) = (hard, found)
        && (told - mean.hard).abs() > SAME
    {
        let message = format!(
            "is {told:.6}, and the mean of {}/results.jsonl is {:.6}; the summary counts",
            test.dir, mean.hard
        );
        findings.add(SUMMARY, test.fields[0], message);
    }
    let n = found.map(|mean| mean.n).or_else(|| n_of_dir(reader, test.dir));
    let score = match (hard, soft.or(found.map(|mean| mean.soft)), n) {
        (Some(hard), Some(soft), Some(n)) => Some(MeanScore { hard, soft, n }),
        _ => found,
    };
    if score.is_none() && hard.is_some() {
        let message = "how many tasks it rests on is not known; left out";
        reader.findings.add(SUMMARY, test.fields[0], message);
    }
    let gate_score = score.map(|mean| reader.project(mean));
    score.map(|score| Measured {
        skill: test.skill.clone(),
        score: Some(score),
        gate_score,
        counts,
        set,
        cost: None,
    })
}

/// Reads the set under a key of its own. Two measurements of one text are one when they are the same.
fn free_key(reader: &mut Reader, skill: &Sha256Hex, dir: &str, step: u32) -> String {
    let purpose = RolloutPurpose::Test;
    let key = format!("{}/{skill}", purpose.as_str());
    let earlier = reader.sets.iter().find(|known| known.set.key == key).cloned();
    let Some(earlier) = earlier else {
        reader.add_set(&key, purpose, step, skill, dir);
        return key;
    };
    let again = format!("{key}/1");
    let found = reader.add_set(&again, purpose, step, skill, dir);
    let is_same = found.is_none_or(|set| set.outcomes == earlier.set.outcomes);
    if is_same {
        reader.sets.retain(|known| known.set.key != again);
        return key;
    }
    again
}

/// Tasks of a rollout directory by its own summary.
fn n_of_dir(reader: &mut Reader, dir: &str) -> Option<u32> {
    let document = reader.json(&format!("{dir}/{SUMMARY}"))?;
    document.get("overall")?.get("total").and_then(super::json::whole).filter(|n| *n > 0)
}
