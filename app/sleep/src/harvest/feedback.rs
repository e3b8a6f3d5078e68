//! Praise and blame in what a person says about the work so far.

/// Phrases of blame.
const NEGATIVE: [&str; 26] = [
    "still broken",
    "still not",
    "still wrong",
    "doesn't work",
    "does not work",
    "not working",
    "that's wrong",
    "thats wrong",
    "incorrect",
    "wrong",
    "no,",
    "nope",
    "fix it",
    "didn't",
    "did not",
    "broken",
    "error again",
    "still failing",
    "still fails",
    "not fixed",
    "revert",
    "undo",
    "not correct",
    "not right",
    "not what i",
    "didnt",
];

/// Phrases of praise.
const POSITIVE: [&str; 13] = [
    "thanks",
    "thank you",
    "perfect",
    "great",
    "works now",
    "fixed",
    "that works",
    "lgtm",
    "looks good",
    "nice",
    "awesome",
    "correct",
    "well done",
];

/// Words before a phrase of praise that take the praise away.
const TAKE_AWAY: [&str; 20] = [
    "not", "isn't", "isnt", "wasn't", "aren't", "never", "hardly", "be", "please", "get", "until",
    "if", "cannot", "can't", "no", "doesn't", "don't", "should", "must", "to",
];

/// What counts as praise and as blame.
#[derive(Clone, Debug)]
pub(crate) struct Phrases {
    negative: Vec<String>,
    positive: Vec<String>,
}

impl Phrases {
    /// The known phrases and the person's own.
    pub(crate) fn new(negative: &[String], positive: &[String]) -> Self {
        Self { negative: all(&NEGATIVE, negative), positive: all(&POSITIVE, positive) }
    }

    /// `neg:…` and `pos:…` for what `text` says, each once. Blame covers the praise in its words: "not fixed" is blame.
    pub(crate) fn find(&self, text: &str) -> Vec<String> {
        let lower = text.to_lowercase().replace('\u{2019}', "'");
        let mut covered: Vec<(usize, usize)> = Vec::new();
        let mut signals = Vec::new();
        for phrase in &self.negative {
            let mut hits = hits(&lower, phrase).filter(|hit| !overlaps(&covered, *hit)).peekable();
            if hits.peek().is_some() {
                signals.push(format!("neg:{phrase}"));
            }
            let found: Vec<(usize, usize)> = hits.collect();
            covered.extend(found);
        }
        for phrase in &self.positive {
            let is_praise = hits(&lower, phrase)
                .any(|hit| !overlaps(&covered, hit) && !is_taken_away(&lower[..hit.0]));
            if is_praise {
                signals.push(format!("pos:{phrase}"));
            }
        }
        signals
    }
}

/// Longer phrases first, so that "still broken" is not "broken" as well.
fn all(known: &[&str], own: &[String]) -> Vec<String> {
    let own = own.iter().map(|phrase| phrase.trim().to_lowercase());
    let mut phrases: Vec<String> =
        known.iter().map(|phrase| (*phrase).to_owned()).chain(own).collect();
    phrases.retain(|phrase| !phrase.is_empty());
    phrases.sort_by_key(|phrase| std::cmp::Reverse(phrase.len()));
    phrases.dedup();
    phrases
}

/// Where `phrase` stands as words of its own.
fn hits<'a>(text: &'a str, phrase: &'a str) -> impl Iterator<Item = (usize, usize)> + 'a {
    text.match_indices(phrase).map(|(at, hit)| (at, at + hit.len())).filter(move |&(start, end)| {
        let before = text[..start].chars().next_back();
        let after = text[end..].chars().next();
        let opens = phrase.starts_with(char::is_alphanumeric);
        let closes = phrase.ends_with(char::is_alphanumeric);
        let is_inside =
            opens && before.is_some_and(is_word) || closes && after.is_some_and(is_word);
        !is_inside
    })
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn overlaps(covered: &[(usize, usize)], hit: (usize, usize)) -> bool {
    covered.iter().any(|span| hit.0 < span.1 && span.0 < hit.1)
}

fn is_taken_away(before: &str) -> bool {
    let last = before.split_whitespace().next_back().unwrap_or_default();
    TAKE_AWAY.contains(&last) || last.ends_with("n't")
}

#[cfg(test)]
mod tests {
    use super::Phrases;
    use rstest::rstest;

    #[rstest]
    #[case::incorrect("That is incorrect.", &["neg:incorrect"])]
    #[case::not_fixed("It is not fixed", &["neg:not fixed"])]
    #[case::still_broken("still broken!", &["neg:still broken"])]
    #[case::correct("Correct.", &["pos:correct"])]
    #[case::fixed("OK, fixed", &["pos:fixed"])]
    #[case::to_be_fixed("This has to be fixed", &[])]
    #[case::not_great("Not great", &[])]
    #[case::inside_a_word("The greatest wrongdoing is unbroken", &[])]
    #[case::both("No, revert that. The rest looks good, thanks", &["neg:revert", "neg:no,", "pos:looks good", "pos:thanks"])]
    #[case::curly("It didn\u{2019}t help", &["neg:didn't"])]
    #[case::nothing("Add a flag", &[])]
    fn f14_a_phrase_is_whole_words_and_blame_covers_praise(
        #[case] text: &str,
        #[case] expected: &[&str],
    ) {
        assert_eq!(Phrases::new(&[], &[]).find(text), expected);
    }

    #[test]
    fn own_phrases_count_too() {
        let phrases = Phrases::new(&["kaputt".to_owned()], &[" Danke ".to_owned()]);
        assert_eq!(phrases.find("Danke, aber kaputt"), ["neg:kaputt", "pos:danke"]);
    }
}
