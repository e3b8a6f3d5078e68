//! How emphatic a skill is: the share of words such as "must" and "never". It is no measure of quality.

use crate::skill::SkillDoc;

/// The share of `words` (lower case) among all words outside marked regions, `0..=1`; 0 for no words at all.
#[must_use]
pub fn density(doc: &SkillDoc, words: &[String]) -> f64 {
    let mut at = 0;
    let (mut hits, mut total) = (0u32, 0u32);
    let mut count = |part: &str| {
        let part = part.to_lowercase();
        for word in part.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty())
        {
            total = total.saturating_add(1);
            hits = hits.saturating_add(u32::from(words.iter().any(|known| known == word)));
        }
    };
    for region in doc.regions() {
        count(doc.text().get(at..region.start).unwrap_or_default());
        at = at.max(region.end);
    }
    count(doc.text().get(at..).unwrap_or_default());
    if total == 0 { 0.0 } else { f64::from(hits) / f64::from(total) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::LEADING_WORDS;
    use rstest::rstest;

    #[rstest]
    #[case("You MUST, always: verify it.", 3.0 / 5.0)]
    #[case("", 0.0)]
    #[case("one two\n<!-- APPENDIX_START -->\nmust must\n<!-- APPENDIX_END -->\n", 0.0)]
    fn emphatic_words_outside_regions_are_counted(#[case] text: &str, #[case] expect: f64) {
        let words: Vec<String> = LEADING_WORDS.map(str::to_owned).to_vec();
        assert!((density(&SkillDoc::parse(text), &words) - expect).abs() < 1e-12);
    }
}
