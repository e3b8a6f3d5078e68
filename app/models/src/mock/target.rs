//! The simulated target: reads passages, and answers in the form that the skill asks for, or in the one that
//! tempts. All that it knows stands in the request.

use super::dice::{pick, roll, sample_word};
use super::numbers::in_words;
use super::reader::{Kind, Reading};
use super::rules::{Rule, recognise};
use super::sections::{said_by, section};
use super::simulation::{Simulation, tokens};
use super::{general_reader, rates, reader};
use async_trait::async_trait;
use skillopt_domain::config::ModelRole;
use skillopt_domain::outcome::Sample;
use skillopt_domain::spend::Role;
use skillopt_engine::ports::{
    ChatReply, ChatRequest, Model, ModelError, Purpose, Speaker, WorstCase,
};
use std::collections::BTreeSet;
use tokio_util::sync::CancellationToken;

/// A target that needs no key and no network.
#[derive(Clone, Debug)]
pub struct MockTarget {
    simulation: Simulation,
}

impl MockTarget {
    /// A target with the name, limits and latency of a role.
    #[must_use]
    pub fn new(role: &ModelRole) -> Self {
        Self { simulation: Simulation::new(Role::Target, role) }
    }
}

#[async_trait]
impl Model for MockTarget {
    fn identity(&self) -> serde_json::Value {
        self.simulation.identity()
    }

    fn name(&self) -> &str {
        self.simulation.name()
    }

    fn is_simulated(&self) -> bool {
        true
    }

    fn worst_case(&self, request: &ChatRequest) -> WorstCase {
        self.simulation.worst_case(request)
    }

    async fn chat(
        &self,
        request: &ChatRequest,
        sample: &Sample,
        cancel: &CancellationToken,
    ) -> Result<ChatReply, ModelError> {
        let text = match request.purpose {
            Purpose::Preflight => "OK".to_owned(),
            _ => answer(request, sample),
        };
        self.simulation.reply(request, sample, cancel, text).await
    }
}

fn answer(request: &ChatRequest, sample: &Sample) -> String {
    let system = said_by(&request.messages, Speaker::System);
    let user = said_by(&request.messages, Speaker::User);
    let skill = section(&system, "skill").unwrap_or_default();
    let (before, question) = user.rsplit_once("Question:").unwrap_or((&user, &user));
    let context = section(before, "passages").unwrap_or(before);
    let question = question.trim();
    let reading =
        reader::read(context, question).unwrap_or_else(|| general_reader::read(context, question));
    let draw = Draw { question, rules: recognise(skill), sample: sample_word(sample) };
    let given = draw.form(&reading, loss_by_length(skill));
    draw.in_a_reply(&reading, &given)
}

/// What a long skill costs.
fn loss_by_length(skill: &str) -> f64 {
    let surplus = tokens(skill.len()).saturating_sub(u64::from(rates::LONG_SKILL_TOKENS));
    let thousands = f64::from(u32::try_from(surplus).unwrap_or(u32::MAX)) / 1000.0;
    (thousands * rates::LOSS_PER_1000_TOKENS).min(rates::LOSS_BY_LENGTH_MAX)
}

/// The luck of one answer.
#[derive(Debug)]
struct Draw<'a> {
    question: &'a str,
    rules: BTreeSet<Rule>,
    sample: String,
}

impl Draw<'_> {
    fn form(&self, reading: &Reading, loss: f64) -> String {
        let chance = self.chance(reading.kind) - loss;
        let right = self.luck() < chance;
        let stale =
            reading.kind == Kind::Edition && self.follows(Rule::Oldest, rates::FOLLOWS_OLDEST);
        let plain = if right && !stale {
            reading.short.clone()
        } else {
            let at = pick(&["tempting", self.question, &self.sample], reading.tempting.len());
            reading.tempting.get(at).unwrap_or(&reading.short).clone()
        };
        self.spoiled(reading.kind, plain)
    }

    /// How probable the right form is.
    fn chance(&self, kind: Kind) -> f64 {
        let brief = self.rules.contains(&Rule::Brief);
        match kind.rule() {
            Some(rule) if self.rules.contains(&rule) => rates::RIGHT_WITH_RULE,
            Some(Rule::Edition) => rates::RIGHT_WITHOUT_RULE,
            Some(_) if brief => rates::RIGHT_WHEN_BRIEF,
            Some(_) => rates::RIGHT_WITHOUT_RULE,
            None if kind == Kind::River => rates::RIGHT_WHEN_EASY,
            None if brief => rates::SHORT_WHEN_UNKNOWN_KIND_AND_BRIEF,
            None => rates::SHORT_WHEN_UNKNOWN_KIND,
        }
    }

    /// Mostly how hard the task is; now and then drawn anew for these rules and this sample. So a rule moves
    /// its own tasks, and a few others flip by chance.
    fn luck(&self) -> f64 {
        let rules: Vec<&str> = self.rules.iter().map(|rule| rule.word()).collect();
        let rules = rules.join(",");
        if roll(&["noise", self.question, &rules, &self.sample]) < rates::NOISE {
            return roll(&["luck", self.question, &rules, &self.sample]);
        }
        roll(&["difficulty", self.question])
    }

    fn follows(&self, rule: Rule, rate: f64) -> bool {
        self.rules.contains(&rule) && roll(&["follows", rule.word(), self.question]) < rate
    }

    /// What harmful rules make of an answer.
    fn spoiled(&self, kind: Kind, answer: String) -> String {
        if kind != Kind::Edition && self.follows(Rule::Unknown, rates::FOLLOWS_UNKNOWN) {
            return "unknown".to_owned();
        }
        let numeric = matches!(kind, Kind::Year | Kind::Count);
        if numeric && self.follows(Rule::Words, rates::FOLLOWS_WORDS) {
            return in_words(&answer);
        }
        if !numeric && self.follows(Rule::Sentence, rates::FOLLOWS_SENTENCE) {
            return format!("The answer to the question is {answer}.");
        }
        if kind != Kind::Object && self.follows(Rule::Source, rates::FOLLOWS_SOURCE) {
            return format!("{answer} (as the passage says)");
        }
        answer
    }

    fn in_a_reply(&self, reading: &Reading, answer: &str) -> String {
        let subject = &reading.subject;
        let thought = match pick(&["thought", self.question, &self.sample], 3) {
            0 => format!(
                "One passage speaks of \"{subject}\". It states what the question asks for."
            ),
            1 => format!(
                "The question is about \"{subject}\"; I looked for the passage that names it."
            ),
            _ => format!(
                "Only part of the passages mention \"{subject}\", and the fact stands there."
            ),
        };
        format!("{thought}\n\n<answer>{answer}</answer>")
    }
}
