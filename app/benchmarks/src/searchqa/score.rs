//! The scorer: which part of a reply is the answer, and how near it comes to the accepted ones.
//!
//! Normalisation, exact match and token F1 are those of the SQuAD evaluation. Pure.

use skillopt_domain::score::{Score, TaskScore};
use std::collections::HashMap;

const OPEN: &str = "<answer>";
const CLOSE: &str = "</answer>";
const SHOWN_CHARS: usize = 200;

/// How near an answer came to the best of the accepted ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Marks {
    pub(crate) exact: bool,
    pub(crate) f1: Score,
}

impl Marks {
    pub(crate) fn score(self) -> TaskScore {
        TaskScore { hard: Score::from_bool(self.exact), soft: self.f1 }
    }
}

/// The text in the last complete pair of answer tags; without one, the last line that is not empty.
pub(crate) fn extract_answer(reply: &str) -> String {
    let lower = reply.to_ascii_lowercase();
    let tagged = lower.rmatch_indices(OPEN).find_map(|(open, _)| {
        let start = open + OPEN.len();
        lower[start..].find(CLOSE).map(|length| &reply[start..start + length])
    });
    let last_line = || reply.lines().rev().find(|line| !line.trim().is_empty());
    tagged.or_else(last_line).unwrap_or_default().trim().to_owned()
}

/// Compares with each accepted answer and keeps the best.
pub(crate) fn marks(predicted: &str, answers: &[String]) -> Marks {
    let predicted = normalise(predicted);
    let mut best = Marks { exact: false, f1: Score::ZERO };
    for answer in answers.iter().map(|answer| normalise(answer)) {
        best.exact |= predicted == answer;
        let f1 = token_f1(&predicted, &answer);
        if f1.get() > best.f1.get() {
            best.f1 = f1;
        }
    }
    best
}

/// Why the answer does not count as right; empty when it does.
pub(crate) fn fail_reason(marks: &Marks, predicted: &str, answers: &[String]) -> String {
    if marks.exact {
        return String::new();
    }
    format!("EM=0: predicted '{}' expected '{}'", shown(predicted), shown(&listed(answers)))
}

/// What the optimizer may read.
pub(crate) fn note(marks: &Marks, predicted: &str, answers: &[String]) -> String {
    format!(
        "expected: {}; predicted: {}; exact match {}, F1 {:.2}",
        shown(&listed(answers)),
        shown(predicted),
        u8::from(marks.exact),
        marks.f1.get()
    )
}

fn listed(answers: &[String]) -> String {
    answers.join(" | ")
}

fn shown(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// Lower case, without ASCII punctuation, without `a`, `an` and `the`, single spaces.
fn normalise(text: &str) -> String {
    let lower = text.to_lowercase();
    let plain: String = lower.chars().filter(|c| !c.is_ascii_punctuation()).collect();
    let words = plain.split_whitespace().filter(|word| !matches!(*word, "a" | "an" | "the"));
    words.collect::<Vec<_>>().join(" ")
}

/// F1 over words with their number. An empty side matches only an empty side.
fn token_f1(left: &str, right: &str) -> Score {
    let mut unmatched: HashMap<&str, u32> = HashMap::new();
    let (mut n_left, mut n_right, mut common) = (0_u32, 0_u32, 0_u32);
    for word in right.split_whitespace() {
        *unmatched.entry(word).or_default() += 1;
        n_right += 1;
    }
    for word in left.split_whitespace() {
        n_left += 1;
        if let Some(count) = unmatched.get_mut(word).filter(|count| **count > 0) {
            *count -= 1;
            common += 1;
        }
    }
    if n_left == 0 || n_right == 0 {
        return Score::from_bool(n_left == n_right);
    }
    // 2PR / (P + R) with P = common / left and R = common / right.
    let f1 = f64::from(2 * common) / f64::from(n_left + n_right);
    Score::try_new(f1).unwrap_or(Score::ZERO)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::same("Enid Cadwell", &["Enid Cadwell"], true, 1.0)]
    #[case::case_and_punctuation("enid cadwell!", &["Enid Cadwell"], true, 1.0)]
    #[case::articles("The Errin", &["Errin"], true, 1.0)]
    #[case::punctuation_joins_words("well-known", &["wellknown"], true, 1.0)]
    #[case::any_answer_counts("UK", &["United Kingdom", "U.K."], true, 1.0)]
    #[case::longer("in the spring of 1853", &["1853"], false, 0.4)]
    #[case::shorter("Cadwell", &["Enid Cadwell"], false, 2.0 / 3.0)]
    #[case::repeats_count_once("rose rose rose", &["rose garden"], false, 0.4)]
    #[case::best_answer_sets_f1("red rose", &["tulip", "rose"], false, 2.0 / 3.0)]
    #[case::nothing_in_common("1854", &["1853"], false, 0.0)]
    #[case::empty("", &["1853"], false, 0.0)]
    #[case::only_an_article("the", &["1853"], false, 0.0)]
    #[case::empty_against_empty("", &["The"], true, 1.0)]
    #[case::unicode_case("ÉCLAIR", &["éclair"], true, 1.0)]
    #[case::word_order("Cadwell Enid", &["Enid Cadwell"], false, 1.0)]
    fn answers_get_these_marks(
        #[case] predicted: &str,
        #[case] answers: &[&str],
        #[case] exact: bool,
        #[case] f1: f64,
    ) {
        let answers: Vec<String> = answers.iter().map(ToString::to_string).collect();
        let marks = marks(predicted, &answers);
        assert_eq!(marks.exact, exact);
        assert!((marks.f1.get() - f1).abs() < 1e-12, "{marks:?}");
    }

    #[rstest]
    #[case("It says so. <answer>1853</answer>", "1853")]
    #[case("<answer>1852</answer> no: <Answer> 1853 </ANSWER> done", "1853")]
    #[case("<answer>first <answer>second</answer>", "second")]
    #[case("<answer>1853</answer> and then <answer>18", "1853")]
    #[case("<answer>two\nlines</answer>", "two\nlines")]
    #[case("I think\n\n  1853  \n\n", "1853")]
    #[case("<answer></answer>", "")]
    #[case("", "")]
    #[case("İ <answer>é</answer>", "é")]
    fn the_answer_is_the_last_tagged_text_or_the_last_line(
        #[case] reply: &str,
        #[case] answer: &str,
    ) {
        assert_eq!(extract_answer(reply), answer);
    }

    #[test]
    fn a_failure_is_told_in_one_line() {
        let answers = ["1853".to_owned(), "in 1853".to_owned()];
        let predicted = "in the\nspring of 1853";
        let marks = marks(predicted, &answers[..1]);
        assert_eq!(
            fail_reason(&marks, predicted, &answers),
            "EM=0: predicted 'in the spring of 1853' expected '1853 | in 1853'"
        );
        assert_eq!(
            note(&marks, predicted, &answers[..1]),
            "expected: 1853; predicted: in the spring of 1853; exact match 0, F1 0.40"
        );
    }

    #[test]
    fn long_answers_are_shortened_where_they_are_shown() {
        let reason =
            fail_reason(&marks("x", &["y".to_owned()]), &"é ".repeat(5000), &["y".to_owned()]);
        assert!(reason.chars().count() < 300, "{reason}");
    }

    proptest::proptest! {
        #[test]
        fn f1_is_symmetric_and_one_for_equal_texts(left in "[a-c ]{0,12}", right in "[a-c ]{0,12}") {
            let (left, right) = (normalise(&left), normalise(&right));
            proptest::prop_assert_eq!(token_f1(&left, &right), token_f1(&right, &left));
            proptest::prop_assert_eq!(token_f1(&left, &left), Score::ONE);
        }

        #[test]
        fn marks_stay_in_range_for_any_text(predicted in ".*", answer in ".*") {
            let marks = marks(&predicted, &[answer]);
            proptest::prop_assert!((0.0..=1.0).contains(&marks.f1.get()));
            proptest::prop_assert!(!marks.exact || marks.f1 == Score::ONE);
        }

        #[test]
        fn any_reply_has_an_answer_without_a_panic(reply in "(<answer>|</answer>|é|\\PC|\n){0,12}") {
            let answer = extract_answer(&reply);
            proptest::prop_assert!(reply.contains(&answer));
        }
    }
}
