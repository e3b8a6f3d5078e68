//! What the simulated optimizer writes into skills: two or three wordings a rule, and lines without any effect.

use super::rules::Rule;

/// The wordings of a rule; empty for rules that only people write.
pub(super) fn wordings(rule: Rule) -> &'static [&'static str] {
    match rule {
        Rule::Year => &[
            "- When a question asks for a year, answer with the four digits only; leave out the season or the part of the year.",
            "- Years: give the bare year as four digits, without words such as \"in the spring of\" before it.",
            "- If the question is about a year, the answer is the year alone, with nothing before or after it.",
        ],
        Rule::Person => &[
            "- When a question asks who did something, answer with given name and family name, and leave out any title or profession.",
            "- Names of people: first and last name, without rank or trade before them and never the family name by itself.",
            "- Answer who-questions with the full name: both names, no title.",
        ],
        Rule::Place => &[
            "- When a question asks where something is, answer with the town only; leave out the county and what kind of town it is.",
            "- Places: the name of the town, without what follows the comma.",
            "- For where-questions give just the town; the county does not belong in the answer.",
        ],
        Rule::Count => &[
            "- When a question asks how many, answer in digits only, without \"about\" and without the thing that is counted.",
            "- Counts: just the number as digits; no unit and no words such as \"nearly\" or \"some\".",
            "- For how-many questions the answer is the bare number; leave out approximations and nouns.",
        ],
        Rule::Object => &[
            "- When a question asks which object is shown, answer with the adjective and the noun in the singular, and nothing about what surrounds it.",
            "- Objects in pictures: one adjective and one noun, singular, without position or background.",
            "- For an object that is shown on something, name the single object in two words, without article or scenery.",
        ],
        Rule::Edition => &[
            "- When passages quote different editions, trust the newest edition and answer with its value.",
            "- If two sources disagree, compare their years and take the value of the most recent edition.",
            "- Several editions may state a value; the latest edition decides.",
        ],
        Rule::Brief => &[],
        Rule::Unknown => &[
            "- If a fact is stated in one passage only, answer \"unknown\": a single source cannot be trusted.",
            "- Answer \"unknown\" unless two passages confirm the fact.",
        ],
        Rule::Sentence => &[
            "- Always answer in a full sentence that repeats the words of the question.",
            "- Write the answer as a complete sentence, so that it can be understood by itself.",
        ],
        Rule::Source => &[
            "- After the answer, add the source in parentheses.",
            "- Name the passage that the answer comes from in brackets behind it.",
        ],
        Rule::Words => &[
            "- Write all numbers and years out in words.",
            "- Spell each number, digit by digit, so that it cannot be misread.",
        ],
        Rule::Oldest => &[
            "- When editions disagree, prefer the oldest edition: it stands closest to the events.",
            "- Trust the earliest source over those that came after it.",
        ],
    }
}

/// Lines that sound sensible and change nothing.
pub(super) const USELESS: &[&str] = &[
    "- Read all passages carefully before you answer.",
    "- Think step by step and check your result once more.",
    "- Spell names exactly as the passage spells them.",
    "- Do not use knowledge from outside the passages.",
    "- Beware of passages that speak of something similar.",
    "- Look for the subject of the question first, then for the fact.",
    "- Some passages are only there to distract; skip them quickly.",
    "- Stay calm and precise, even if the passages are odd.",
    "- Compare what you found with the question before you finish.",
    "- Questions can be worded in many ways; find out what is really asked.",
];

/// How a failure of a kind is named in a summary.
pub(super) fn failure(rule: Option<Rule>) -> (&'static str, &'static str) {
    match rule {
        Some(Rule::Year) => (
            "year with extra words",
            "The answer repeats the season or part of the year instead of the year alone.",
        ),
        Some(Rule::Person) => {
            ("name in the wrong form", "The answer keeps a title, or gives the family name alone.")
        }
        Some(Rule::Place) => {
            ("place with its county", "The answer adds the county or the kind of town to the town.")
        }
        Some(Rule::Count) => {
            ("count with extra words", "The answer keeps the approximation and the thing counted.")
        }
        Some(Rule::Object) => (
            "object with surroundings",
            "The answer is a plural or describes what surrounds the object.",
        ),
        Some(Rule::Edition) => (
            "outdated edition",
            "The answer comes from an older edition although a newer one is quoted.",
        ),
        _ => ("other", "The answer does not have the expected form."),
    }
}

/// What passed trajectories have in common.
pub(super) const SUCCESS_PATTERNS: &[&str] = &[
    "The target found the one passage that names the subject of the question.",
    "The target copied the answer from the passage without changing its spelling.",
    "The target ignored passages about similar subjects.",
];
