//! An extractive reader: finds in plain passages what a question asks for, in a short form and in the wordy
//! forms that tempt. It knows kinds of questions and turns of phrase, and no names, numbers or places.

use super::rules::Rule;

/// What a question asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Kind {
    Year,
    Person,
    Place,
    Count,
    Object,
    Edition,
    River,
    /// None of these.
    Other,
}

impl Kind {
    /// The rule that helps with this kind.
    pub(super) fn rule(self) -> Option<Rule> {
        match self {
            Self::Year => Some(Rule::Year),
            Self::Person => Some(Rule::Person),
            Self::Place => Some(Rule::Place),
            Self::Count => Some(Rule::Count),
            Self::Object => Some(Rule::Object),
            Self::Edition => Some(Rule::Edition),
            Self::River | Self::Other => None,
        }
    }
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reading {
    pub(super) kind: Kind,
    /// What the question is about, as it is worded there.
    pub(super) subject: String,
    /// The short form.
    pub(super) short: String,
    /// Wordy or outdated forms; never empty.
    pub(super) tempting: Vec<String>,
}

/// A question, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Question<'a> {
    kind: Kind,
    subject: &'a str,
    /// The noun that is counted, or what a river does.
    detail: &'a str,
}

const YEAR_ENDS: &[&str] = &[" first lit?", " first held?", " opened?", " founded?", " launched?"];
const WHO: &[&str] =
    &["Who designed the ", "Who led the ", "Who wrote the ", "Who founded the ", "Who built the "];
const COUNT_LINKS: &[&str] =
    &[" lead up to the ", " hang in the ", " are kept in the ", " belong to the ", " does the "];
const OBJECT_STARTS: &[&str] =
    &["Which object is shown on the ", "Which object appears on the ", "What is shown on the "];
const RIVER_VERBS: &[&str] = &["runs past", "flows through", "drives", "passes under"];
const TIMES: &[&str] = &[
    "in the spring of",
    "in the early summer of",
    "in the autumn of",
    "in the first weeks of",
    "in the closing days of",
    "towards the end of",
    "at the beginning of",
    "late in the winter of",
];
const TITLES: &[&str] = &[
    "the architect",
    "the engineer",
    "the stonemason",
    "the surveyor",
    "the botanist",
    "the poet",
    "the shipwright",
    "the boatbuilder",
    "the schoolmistress",
    "the apothecary",
    "Captain",
    "Admiral",
    "Professor",
    "Doctor",
    "Sister",
];
const PLACE_LINKS: &[&str] =
    &[", in the county of ", ", a market town in ", ", a fishing port in ", ", on the edge of "];
const ABOUT: &[&str] =
    &["about", "some", "roughly", "around", "nearly", "close to", "an estimated"];
const BUNCHES: &[&str] =
    &["sets of ", "pairs of ", "rows of ", "strings of ", "trays of ", "boxes of "];

/// The kind of a question.
pub(super) fn kind_of(question: &str) -> Kind {
    parse(question.trim()).map_or(Kind::Other, |question| question.kind)
}

/// Reads passages that each start with `[DOC]`; `None` when the question or the passages are of another sort.
pub(super) fn read(context: &str, question: &str) -> Option<Reading> {
    let asked = parse(question.trim())?;
    let passages: Vec<&str> = context
        .split("[DOC]")
        .map(str::trim)
        .filter(|passage| passage.contains(asked.subject))
        .collect();
    let home = *passages.first()?;
    let (short, tempting) = match asked.kind {
        Kind::Year => year(home)?,
        Kind::Person => person(home)?,
        Kind::Place => place(home)?,
        Kind::Count => count(home, asked.detail)?,
        Kind::Object => object(home)?,
        Kind::Edition => edition(&passages)?,
        Kind::River => river(&passages, &asked)?,
        Kind::Other => return None,
    };
    Some(Reading { kind: asked.kind, subject: asked.subject.to_owned(), short, tempting })
}

fn parse(question: &str) -> Option<Question<'_>> {
    let simple = |kind, subject| Question { kind, subject, detail: "" };
    if let Some(subject) = between(question, &["In which year was the "], YEAR_ENDS) {
        return Some(simple(Kind::Year, subject));
    }
    if let Some(subject) = between(question, WHO, &["?"]) {
        return Some(simple(Kind::Person, subject));
    }
    let met = between(question, &["Where does the "], &[" meet?"]);
    if let Some(subject) =
        met.or_else(|| between(question, &["Where is the "], &[" kept?", " held?", "?"]))
    {
        return Some(simple(Kind::Place, subject));
    }
    let shown = between(question, OBJECT_STARTS, &["?"]);
    if let Some(subject) = shown.or_else(|| between(question, &["What does the "], &[" show?"])) {
        return Some(simple(Kind::Object, subject));
    }
    if let Some(rest) = between(question, &["What is the official "], &["?"]) {
        let (detail, subject) = rest.split_once(" of the ")?;
        return Some(Question { kind: Kind::Edition, subject, detail });
    }
    if let Some(rest) = between(question, &["How many "], &[" have?", "?"]) {
        let (detail, subject) = COUNT_LINKS.iter().find_map(|link| rest.split_once(link))?;
        return Some(Question { kind: Kind::Count, subject, detail });
    }
    let rest = between(question, &["Which river "], &["?"])?;
    let verb = RIVER_VERBS.iter().find(|verb| rest.starts_with(**verb))?;
    let subject = rest[verb.len()..].strip_prefix(" the ")?;
    Some(Question { kind: Kind::River, subject, detail: verb })
}

fn between<'a>(text: &'a str, starts: &[&str], ends: &[&str]) -> Option<&'a str> {
    let rest = starts.iter().find_map(|start| text.strip_prefix(start))?;
    ends.iter().find_map(|end| rest.strip_suffix(end)).filter(|subject| !subject.is_empty())
}

type Forms = (String, Vec<String>);

fn year(passage: &str) -> Option<Forms> {
    let (start, digits) = digit_runs(passage).find(|(_, digits)| digits.len() == 4)?;
    let time = ending(passage[..start].trim_end(), TIMES).unwrap_or("in");
    Some((digits.to_owned(), vec![format!("{time} {digits}")]))
}

fn person(passage: &str) -> Option<Forms> {
    TITLES.iter().find_map(|title| {
        either_case(passage, &format!("{title} ")).find_map(|(at, end)| {
            let (given, rest) = capitalised(&passage[end..])?;
            let (family, _) = capitalised(rest.strip_prefix(' ')?)?;
            let titled = format!("{}{given} {family}", &passage[at..end]);
            Some((format!("{given} {family}"), vec![titled, family.to_owned()]))
        })
    })
}

fn place(passage: &str) -> Option<Forms> {
    let (at, link) =
        PLACE_LINKS.iter().find_map(|link| passage.find(link).map(|at| (at, *link)))?;
    let town = passage[..at].rsplit(' ').next()?;
    let county = letters(&passage[at + link.len()..]);
    Some((town.to_owned(), vec![format!("{town}{link}{county}")]))
}

fn count(passage: &str, noun: &str) -> Option<Forms> {
    let (start, digits) = digit_runs(passage).find(|(start, digits)| {
        passage[start + digits.len()..].strip_prefix(' ').is_some_and(|rest| rest.starts_with(noun))
    })?;
    let about = ending(passage[..start].trim_end(), ABOUT).unwrap_or("about");
    Some((digits.to_owned(), vec![format!("{about} {digits} {noun}")]))
}

fn object(passage: &str) -> Option<Forms> {
    let (at, bunch) =
        BUNCHES.iter().find_map(|bunch| passage.find(bunch).map(|at| (at, *bunch)))?;
    let adjective = letters(&passage[at + bunch.len()..]);
    let plural = letters(passage[at + bunch.len() + adjective.len()..].trim_start());
    let caption = ["a", "an"].iter().find_map(|article| {
        let lead = format!(" {article} {adjective} ");
        let start = passage.find(&lead)? + lead.len();
        passage[start..].split('.').next()
    })?;
    let short = format!("{adjective} {}", letters(caption));
    let tempting = vec![format!("{bunch}{adjective} {plural}"), format!("{adjective} {caption}")];
    Some((short, tempting))
}

fn edition(passages: &[&str]) -> Option<Forms> {
    let mut values: Vec<(&str, String)> =
        passages.iter().filter_map(|passage| quoted_value(passage)).collect();
    values.sort();
    let (_, newest) = values.pop()?;
    let older: Vec<String> = values.into_iter().map(|(_, value)| value).collect();
    (!older.is_empty()).then_some((newest, older))
}

/// The year of the edition that a passage quotes, and the value that it gives.
fn quoted_value(passage: &str) -> Option<(&str, String)> {
    let sentence = passage.split('.').find(|sentence| sentence.contains(" edition of "))?;
    let at = sentence.find(" edition of ")?;
    let year = sentence.get(at.checked_sub(4)?..at)?;
    let start = sentence.rfind(" as ").max(sentence.rfind(" is "))? + 4;
    Some((year, sentence[start..].replace('"', "").trim().to_owned()))
}

fn river(passages: &[&str], asked: &Question<'_>) -> Option<Forms> {
    let clause = format!("{} the {}", asked.detail, asked.subject);
    let before =
        passages.iter().find_map(|passage| passage.find(&clause).map(|at| &passage[..at]))?;
    let name = before.rmatch_indices("he ").find_map(|(at, found)| {
        let article = before[..at].ends_with(['t', 'T']);
        capitalised(&before[at + found.len()..]).filter(|_| article).map(|(name, _)| name)
    })?;
    Some((name.to_owned(), vec![format!("the river {name}")]))
}

/// Runs of digits with their places.
pub(super) fn digit_runs(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let start = from + text[from..].find(|c: char| c.is_ascii_digit())?;
        let rest = &text[start..];
        let length = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        from = start + length;
        Some((start, &text[start..from]))
    })
}

/// The leading letters of a text.
fn letters(text: &str) -> &str {
    &text[..text.find(|c: char| !c.is_alphabetic()).unwrap_or(text.len())]
}

/// A word that starts with a capital, and what follows it.
fn capitalised(text: &str) -> Option<(&str, &str)> {
    let word = letters(text);
    word.starts_with(char::is_uppercase).then(|| (word, &text[word.len()..]))
}

/// The phrase that a text ends with, whatever its case, as it stands there.
fn ending<'a>(text: &'a str, phrases: &[&str]) -> Option<&'a str> {
    phrases.iter().find_map(|phrase| {
        let start = text.len().checked_sub(phrase.len())?;
        text.get(start..).filter(|tail| tail.eq_ignore_ascii_case(phrase))
    })
}

/// Where a phrase stands, as it is or with a capital at its start: start and end.
fn either_case(text: &str, phrase: &str) -> impl Iterator<Item = (usize, usize)> {
    let mut capital = phrase.to_owned();
    capital[..1].make_ascii_uppercase();
    let found =
        |words: &str| -> Vec<usize> { text.match_indices(words).map(|(at, _)| at).collect() };
    let mut places = found(phrase);
    if capital != phrase {
        places.extend(found(&capital));
    }
    let length = phrase.len();
    places.into_iter().map(move |at| (at, at + length))
}
