//! What failing checks want, in plain words. Literal texts and patterns that an answer is searched for stay with the
//! judge: an optimizer that knew them could have the target recite them. Pure.

use std::collections::BTreeMap;

/// How rationales of rule judges begin.
const FAILED: &str = "failed: ";

/// Operations as they stand in rationales.
const OPS: [&str; 9] = [
    "section_present",
    "section_contains",
    "max_chars",
    "min_chars",
    "not_contains",
    "contains",
    "regex",
    "no_refusal",
    "tool_called",
];

/// The criteria of all rationales, the most missed first, each with its count.
#[must_use]
pub fn counted<'r>(rationales: impl Iterator<Item = &'r str>) -> Vec<String> {
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    for rationale in rationales {
        for (op, arg) in failed_checks(rationale) {
            *counts.entry(words(op, arg)).or_default() += 1;
        }
    }
    let mut counts: Vec<(String, u32)> = counts.into_iter().collect();
    counts.sort_by(|(left, n), (right, m)| m.cmp(n).then_with(|| left.cmp(right)));
    counts.into_iter().map(|(words, n)| format!("{words} (missed by {n})")).collect()
}

/// A rationale as the optimizer may read it.
#[must_use]
pub fn in_words(rationale: &str) -> String {
    let checks = failed_checks(rationale);
    if !checks.is_empty() {
        let words: Vec<String> = checks.into_iter().map(|(op, arg)| words(op, arg)).collect();
        return words.join("; ");
    }
    match rationale.starts_with(FAILED) {
        true => "a check fails".to_owned(),
        false => rationale.to_owned(),
    }
}

/// The failed checks of a rationale. An argument may hold commas: it ends where the next operation begins.
fn failed_checks(rationale: &str) -> Vec<(&'static str, &str)> {
    let Some(mut rest) = rationale.strip_prefix(FAILED) else { return Vec::new() };
    let mut checks = Vec::new();
    while let Some(op) = op_at(rest) {
        let from = &rest[op.len() + 1..];
        let next = from.match_indices(", ").find(|(at, _)| op_at(&from[at + 2..]).is_some());
        let (arg, after) = next.map_or((from, ""), |(at, _)| (&from[..at], &from[at + 2..]));
        checks.push((op, arg));
        rest = after;
    }
    checks
}

fn op_at(text: &str) -> Option<&'static str> {
    OPS.into_iter().find(|op| text.strip_prefix(op).is_some_and(|rest| rest.starts_with('=')))
}

fn words(op: &str, arg: &str) -> String {
    match op {
        "section_present" | "section_contains" => format!("the answer lacks a section named {arg}"),
        "max_chars" => format!("the answer is longer than {arg} characters"),
        "min_chars" => format!("the answer is shorter than {arg} characters"),
        "not_contains" => "the answer says something that it must not say".to_owned(),
        "contains" => "the answer lacks something that it has to say".to_owned(),
        "regex" => "the answer does not have the form that is wanted".to_owned(),
        "no_refusal" => "the answer declines instead of doing the task".to_owned(),
        "tool_called" => format!("the tool {arg} was not called"),
        _ => "a check fails".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("failed: section_present=Verdict", "the answer lacks a section named Verdict")]
    #[case(
        "failed: max_chars=200, tool_called=search",
        "the answer is longer than 200 characters; the tool search was not called"
    )]
    #[case(
        "failed: contains=a, b, max_chars=5",
        "the answer lacks something that it has to say; the answer is longer than 5 characters"
    )]
    #[case("the answer misses the point", "the answer misses the point")]
    #[case("failed: novel=1", "a check fails")]
    fn a_rationale_is_told_in_words(#[case] rationale: &str, #[case] expect: &str) {
        assert_eq!(in_words(rationale), expect);
    }

    #[rstest]
    #[case("failed: contains=xyzzy")]
    #[case("failed: regex=xyz{2}y")]
    #[case("failed: not_contains=xyzzy, contains=xyzzy")]
    #[case("failed: unheard_of=xyzzy")]
    fn c59_what_an_answer_is_searched_for_stays_with_the_judge(#[case] rationale: &str) {
        assert!(!in_words(rationale).contains("xyz"), "{rationale}");
        assert!(counted([rationale].into_iter()).iter().all(|words| !words.contains("xyz")));
    }

    #[test]
    fn criteria_are_counted_and_the_most_missed_come_first() {
        let rationales = ["failed: max_chars=9", "failed: min_chars=3, max_chars=9", "fine"];
        let counted = counted(rationales.into_iter());
        assert_eq!(counted[0], "the answer is longer than 9 characters (missed by 2)");
        assert_eq!(counted.len(), 2);
    }
}
