//! Which rules a skill holds, by key words in one line, so that any wording of a person counts as well.

use std::collections::BTreeSet;

/// A rule that changes what the simulated target does. Anything else in a skill is without effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Rule {
    /// Years are four digits.
    Year,
    /// People have a given and a family name, and no title.
    Person,
    /// Places are towns without their county.
    Place,
    /// Counts are digits without words.
    Count,
    /// Objects are an adjective and a noun.
    Object,
    /// The newest edition is right.
    Edition,
    /// Answers are short.
    Brief,
    /// Harmful: "unknown" when a fact is stated once.
    Unknown,
    /// Harmful: answers are full sentences.
    Sentence,
    /// Harmful: answers name their source.
    Source,
    /// Harmful: numbers are written in words.
    Words,
    /// Harmful: the oldest edition is right.
    Oldest,
}

impl Rule {
    pub(super) const HELPFUL: [Self; 6] =
        [Self::Year, Self::Person, Self::Place, Self::Count, Self::Object, Self::Edition];
    pub(super) const HARMFUL: [Self; 5] =
        [Self::Unknown, Self::Sentence, Self::Source, Self::Words, Self::Oldest];

    pub(super) fn is_harmful(self) -> bool {
        Self::HARMFUL.contains(&self)
    }

    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Year => "year",
            Self::Person => "person",
            Self::Place => "place",
            Self::Count => "count",
            Self::Object => "object",
            Self::Edition => "edition",
            Self::Brief => "brief",
            Self::Unknown => "unknown",
            Self::Sentence => "sentence",
            Self::Source => "source",
            Self::Words => "words",
            Self::Oldest => "oldest",
        }
    }
}

/// A line holds a rule when it has one of each group, and none of the words that turn it round.
struct Sign {
    rule: Rule,
    groups: &'static [&'static [&'static str]],
    unless: &'static [&'static str],
}

const NEGATIONS: &[&str] = &[
    " never ",
    " not ",
    " no ",
    " avoid",
    " without ",
    " don t ",
    " instead of ",
    " rather than ",
    " leave out ",
    " omit",
];

const SIGNS: &[Sign] = &[
    Sign {
        rule: Rule::Year,
        groups: &[
            &[" year"],
            &[
                " four digit",
                " 4 digit",
                " digits only",
                " only the year",
                " year only",
                " bare year",
                " just the year",
                " year alone",
                " only the digits",
                " just the digits",
            ],
        ],
        unless: &[],
    },
    Sign {
        rule: Rule::Person,
        groups: &[
            &[" who ", " person", " people", " name"],
            &[
                " full name",
                " given name and ",
                " given and family",
                " first and last name",
                " first name and ",
                " both names",
                " no title",
                " without title",
                " without a title",
                " without the title",
                " leave out any title",
                " leave out the title",
                " leave out title",
                " drop the title",
                " drop title",
                " omit the title",
                " omit title",
                " without rank",
                " without profession",
            ],
        ],
        unless: &[
            " include the title",
            " with the title",
            " with title",
            " keep the title",
            " add the title",
        ],
    },
    Sign {
        rule: Rule::Place,
        groups: &[
            &[" where ", " place", " town", " location"],
            &[
                " town only",
                " only the town",
                " town alone",
                " just the town",
                " town name only",
                " name of the town",
                " without the county",
                " without county",
                " leave out the county",
                " omit the county",
                " drop the county",
                " no county",
                " county does not belong",
                " without the region",
                " leave out the region",
            ],
        ],
        unless: &[" with the county", " include the county", " add the county"],
    },
    Sign {
        rule: Rule::Count,
        groups: &[
            &[" how many ", " count ", " counts ", " quantit", " amount", " number of "],
            &[
                " digits only",
                " in digits",
                " as digits",
                " bare number",
                " plain number",
                " just the number",
                " only the number",
                " number only",
                " number alone",
                " digits alone",
                " only digits",
                " only the digits",
                " without the unit",
                " no unit",
                " leave out approximations",
            ],
        ],
        unless: &[" in words"],
    },
    Sign {
        rule: Rule::Object,
        groups: &[
            &[" object", " picture", " shown", " emblem", " depict"],
            &[
                " singular",
                " single object",
                " two words",
                " adjective and noun",
                " adjective and the noun",
                " adjective and one noun",
                " without position",
                " without its surroundings",
                " without surroundings",
            ],
        ],
        unless: &[],
    },
    Sign {
        rule: Rule::Edition,
        groups: &[
            &[" edition", " source", " passages disagree", " passages differ", " conflict"],
            &[" newest", " latest", " most recent", " more recent", " newer"],
        ],
        unless: &[
            " oldest",
            " earliest",
            " bracket",
            " parenthes",
            " not the newest",
            " not the latest",
        ],
    },
    Sign {
        rule: Rule::Brief,
        groups: &[
            &[
                " shortest",
                " brief",
                " concise",
                " as short as ",
                " short phrase",
                " nothing but the answer",
            ],
            &[" answer", " phrase", " repl"],
        ],
        unless: &[" not "],
    },
    Sign {
        rule: Rule::Unknown,
        groups: &[
            &[" unknown"],
            &[
                " once",
                " one passage",
                " single ",
                " two passages",
                " twice",
                " confirm",
                " second passage",
                " unless ",
                " not certain",
                " not sure",
                " in doubt",
            ],
        ],
        unless: &[
            " never answer unknown",
            " do not answer unknown",
            " don t answer unknown",
            " never say unknown",
            " instead of unknown",
        ],
    },
    Sign {
        rule: Rule::Sentence,
        groups: &[&[
            " full sentence",
            " complete sentence",
            " whole sentence",
            " polite sentence",
            " full sentences",
            " complete sentences",
        ]],
        unless: NEGATIONS,
    },
    Sign {
        rule: Rule::Source,
        groups: &[
            &[" source", " passage", " book", " reference"],
            &[" in parenthes", " in brackets", " in round brackets"],
        ],
        unless: NEGATIONS,
    },
    Sign {
        rule: Rule::Words,
        groups: &[&[" number", " year", " digit"], &[" in words", " out in words", " spell"]],
        unless: &[
            " never in words",
            " not in words",
            " do not spell",
            " don t spell",
            " never spell",
            " avoid",
            " instead of words",
        ],
    },
    Sign {
        rule: Rule::Oldest,
        groups: &[
            &[" edition", " source"],
            &[" oldest", " earliest", " first edition", " original edition", " older edition"],
        ],
        unless: &[" newest", " latest", " most recent", " never ", " not the ", " do not "],
    },
];

/// The rules of a skill.
pub(super) fn recognise(skill: &str) -> BTreeSet<Rule> {
    skill.lines().flat_map(recognise_line).collect()
}

/// The rules in one line.
pub(super) fn recognise_line(line: &str) -> impl Iterator<Item = Rule> {
    let plain = plain(line);
    let holds = move |sign: &&Sign| {
        let has = |words: &&[&str]| words.iter().any(|word| plain.contains(word));
        sign.groups.iter().all(&has) && !has(&sign.unless)
    };
    SIGNS.iter().filter(holds).map(|sign| sign.rule)
}

// Words in lower case between single spaces, with one at each end.
fn plain(line: &str) -> String {
    let lower = line.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let mut out = " ".to_owned();
    for word in words {
        out.push_str(word);
        out.push(' ');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("- **Years**: four-digit year only.", &[Rule::Year])]
    #[case("Give just the year, e.g. 1853", &[Rule::Year])]
    #[case("* People: first and last name, no titles", &[Rule::Person])]
    #[case("Where something is: answer with the town alone.", &[Rule::Place])]
    #[case("How many? Write the bare number.", &[Rule::Count])]
    #[case("For objects, use the singular.", &[Rule::Object])]
    #[case("If sources conflict, use the latest edition.", &[Rule::Edition])]
    #[case("Keep each answer as short as possible.", &[Rule::Brief])]
    #[case("Answer unknown when the fact is stated only once.", &[Rule::Unknown])]
    #[case("Always answer in a full sentence.", &[Rule::Sentence])]
    #[case("Never answer in a full sentence.", &[])]
    #[case("Add the source in parentheses.", &[Rule::Source])]
    #[case("Do not add the source in parentheses.", &[])]
    #[case("Write numbers out in words.", &[Rule::Words])]
    #[case("Prefer the oldest edition.", &[Rule::Oldest])]
    #[case("Read all passages carefully.", &[])]
    #[case("Find the passage that speaks of what the question asks about, and answer from it alone.", &[])]
    #[case("No rules have been learned yet.", &[])]
    fn a_line_holds_these_rules(#[case] line: &str, #[case] expected: &[Rule]) {
        assert_eq!(recognise_line(line).collect::<Vec<_>>(), expected);
    }
}
