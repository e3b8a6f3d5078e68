//! Tells whether a reply declines the request. Pure; errs on the side of "it is an answer", because a
//! refusal leaves the mean.

/// Ways to open with regret. Longest first, so that the comma goes with the word.
const REGRETS: [&str; 10] = [
    "i'm very sorry",
    "i'm really sorry",
    "i am sorry",
    "i'm sorry",
    "my apologies",
    "i apologize",
    "i apologise",
    "unfortunately",
    "sorry",
    "i'm afraid",
];

const INABILITIES: [&str; 9] = [
    "i can't",
    "i cannot",
    "i can not",
    "i won't",
    "i will not",
    "i'm unable to",
    "i am unable to",
    "i'm not able to",
    "i am not able to",
];

/// What is refused in so many words. "Find", "determine" or "answer" are not here: a model that misses
/// something in its context has answered badly, it has not declined.
const DECLINED: [&str; 10] = [
    "help",
    "assist",
    "comply",
    "fulfill",
    "fulfil",
    "do that",
    "do this",
    "engage",
    "participate",
    "support that",
];

/// Refused only after an apology: alone these words are ordinary.
const DECLINED_WITH_REGRET: [&str; 7] =
    ["provide", "share", "discuss", "create", "generate", "continue", "write"];

const WHOLE_SENTENCES: [&str; 4] =
    ["i must decline", "i have to decline", "i must respectfully decline", "this request violates"];

/// The reply opens with a refusal, perhaps behind quote marks or list bullets.
#[must_use]
pub fn is_refusal(text: &str) -> bool {
    let opening = opening_of(text);
    let (rest, regrets) = after_regret(&opening);
    if WHOLE_SENTENCES.iter().any(|sentence| rest.starts_with(sentence)) {
        return true;
    }
    let Some(rest) = INABILITIES.iter().find_map(|words| rest.strip_prefix(words)) else {
        return false;
    };
    let deed = rest.trim_start();
    let begins = |verbs: &[&str]| verbs.iter().any(|verb| starts_with_word(deed, verb));
    begins(&DECLINED) || (regrets && (ends_here(rest) || begins(&DECLINED_WITH_REGRET)))
}

/// The first line in lower case with plain apostrophes, without quote marks and bullets in front.
fn opening_of(text: &str) -> String {
    const LONGEST: usize = 160;
    let start = text.trim_start_matches(|c: char| c.is_whitespace() || "> -*•\"'“_#".contains(c));
    let line = start.lines().next().unwrap_or_default();
    line.chars()
        .take(LONGEST)
        .map(|c| if c == '’' { '\'' } else { c.to_ascii_lowercase() })
        .collect()
}

fn after_regret(opening: &str) -> (&str, bool) {
    match REGRETS.iter().find_map(|words| opening.strip_prefix(words)) {
        Some(rest) => {
            let rest = rest.trim_start_matches([',', '.', ';', ':', '!', ' ', '—', '-']);
            (rest.strip_prefix("but ").unwrap_or(rest), true)
        }
        None => (opening, false),
    }
}

fn starts_with_word(text: &str, word: &str) -> bool {
    text.strip_prefix(word).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
}

fn ends_here(rest: &str) -> bool {
    rest.trim().is_empty() || rest.starts_with(['.', '!', ',', ';'])
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("I'm sorry, but I can't help with that.")]
    #[case("I’m sorry, but I can’t assist with this request.")]
    #[case("I cannot help with that.")]
    #[case("I'm sorry, but I can't.")]
    #[case("Sorry, I can't provide instructions for that.")]
    #[case("> I'm sorry, but I can't help with that.")]
    #[case("- I cannot assist with this.")]
    #[case("> - I'm unable to comply with the request.")]
    #[case("Unfortunately, I must decline.")]
    #[case("  \nI won't do that.")]
    fn c32_a_refusal_is_recognised(#[case] text: &str) {
        assert!(is_refusal(text));
    }

    #[rstest]
    #[case("Sorry, I can help: the answer is Paris.")]
    #[case("I can't find the answer in the context.")]
    #[case("I'm sorry, but I can't determine it. <answer>unknown</answer>")]
    #[case("I cannot answer from the context; <answer>Paris</answer>")]
    #[case("Paris. I cannot help with more.")]
    #[case("Sorry for the delay! Paris.")]
    #[case("I can't helpfully narrow it down, so: Paris")]
    #[case("")]
    #[case("> quoted text\n\nI cannot help with that.")]
    fn c32_an_answer_is_not_taken_for_a_refusal(#[case] text: &str) {
        assert!(!is_refusal(text));
    }
}
