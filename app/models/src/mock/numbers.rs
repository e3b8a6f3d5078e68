//! Numbers in words, for the rule that asks for them.

const DIGITS: [&str; 10] =
    ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"];

/// Each digit in words; other characters stay.
pub(super) fn in_words(text: &str) -> String {
    let spelled = text.chars().map(|c| match c.to_digit(10) {
        Some(digit) => DIGITS
            .get(usize::try_from(digit).unwrap_or_default())
            .map_or(String::new(), |word| format!("{word} ")),
        None => c.to_string(),
    });
    spelled.collect::<String>().trim().to_owned()
}
