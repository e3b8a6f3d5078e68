//! One exchange: what was asked, or when it applies, and what came back.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use skillopt_domain::outcome::Sample;
use skillopt_domain::spend::{Role, Usage};
use skillopt_engine::ports::{
    Billed, ChatReply, ChatRequest, Finish, Message, ModelError, ModelErrorKind, Purpose,
};

/// Which draw of an answer: the sample without a run's own word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Draw {
    /// `train.seed`.
    pub seed: u64,
    /// 0 for evaluations.
    pub epoch: u32,
    /// 0 for the first draw.
    pub repeat: u32,
}

impl Draw {
    /// The draw of a sample.
    #[must_use]
    pub fn of(sample: &Sample) -> Self {
        Self { seed: sample.seed, epoch: sample.epoch, repeat: sample.repeat }
    }
}

/// What an exchange answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Question {
    /// Exactly these messages, limit and draw.
    Recorded {
        /// What was sent.
        messages: Vec<Message>,
        /// The token limit of the request; `None` for that of the role.
        max_tokens: Option<u32>,
        /// Which draw.
        draw: Draw,
    },
    /// Every request whose messages hold all of the first texts and none of the others.
    Rule {
        /// All of them must occur.
        contains: Vec<String>,
        /// None of them may occur.
        lacks: Vec<String>,
    },
}

/// Why a recorded call brought no answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedFailure {
    /// What kind of failure.
    pub kind: ModelErrorKind,
    /// The provider's words.
    pub message: String,
}

/// What came back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// A reply.
    Reply {
        /// The text.
        text: String,
        /// Why it ended.
        finish: Finish,
        /// Tokens, where they are known.
        usage: Option<Usage>,
    },
    /// A failure.
    Failure(RecordedFailure),
}

/// One exchange.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// Who was asked.
    pub role: Role,
    /// Why; `None` for any purpose in an exchange with conditions.
    pub purpose: Option<Purpose>,
    /// Where in the run, such as `step_0003`; `None` for anywhere in an exchange with conditions.
    pub phase: Option<String>,
    /// Name of the model that answered; empty when nobody says.
    pub model: String,
    /// What it answers.
    pub question: Question,
    /// What came back.
    pub answer: Answer,
    /// Line in the file; 0 for one that was never in a file.
    pub line: usize,
}

impl Exchange {
    /// The conditions hold for this request; never true for a recorded exchange.
    #[must_use]
    pub fn holds_for(&self, role: Role, request: &ChatRequest) -> bool {
        let Question::Rule { contains, lacks } = &self.question else { return false };
        let occurs =
            |text: &String| request.messages.iter().any(|said| said.content.contains(text));
        self.role == role
            && self.purpose.is_none_or(|purpose| purpose == request.purpose)
            && self.phase.as_ref().is_none_or(|phase| *phase == request.phase)
            && contains.iter().all(occurs)
            && !lacks.iter().any(occurs)
    }

    /// The answer as a model gives it. It costs nothing.
    ///
    /// # Errors
    /// The recorded failure.
    pub fn to_reply(&self) -> Result<ChatReply, ModelError> {
        match &self.answer {
            Answer::Reply { text, finish, usage } => Ok(ChatReply {
                text: text.clone(),
                finish: *finish,
                usage: *usage,
                cost_usd_micros: Some(0),
                attempts: 1,
                ..ChatReply::default()
            }),
            Answer::Failure(failure) => Err(ModelError {
                kind: failure.kind,
                message: failure.message.clone(),
                attempts: 1,
                billed: Billed::default(),
            }),
        }
    }
}

/// An exchange as it stands in the file.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Line {
    role: Role,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    purpose: Option<Purpose>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    phase: Option<String>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    model: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    draw: Option<Draw>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    messages: Option<Vec<Message>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    contains: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    lacks: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reply: Option<String>,
    /// A reply that is this object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    json: Option<Value>,
    #[serde(default = "stop", skip_serializing_if = "is_stop")]
    finish: Finish,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    usage: Option<Usage>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<RecordedFailure>,
}

fn stop() -> Finish {
    Finish::Stop
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_stop(finish: &Finish) -> bool {
    *finish == Finish::Stop
}

impl Line {
    pub(super) fn of(exchange: &Exchange) -> Self {
        let mut line = Self {
            role: exchange.role,
            purpose: exchange.purpose,
            phase: exchange.phase.clone(),
            model: exchange.model.clone(),
            draw: None,
            max_tokens: None,
            messages: None,
            contains: Vec::new(),
            lacks: Vec::new(),
            reply: None,
            json: None,
            finish: Finish::Stop,
            usage: None,
            error: None,
        };
        match &exchange.question {
            Question::Recorded { messages, max_tokens, draw } => {
                line.messages = Some(messages.clone());
                line.max_tokens = *max_tokens;
                line.draw = Some(*draw);
            }
            Question::Rule { contains, lacks } => {
                line.contains.clone_from(contains);
                line.lacks.clone_from(lacks);
            }
        }
        match &exchange.answer {
            Answer::Reply { text, finish, usage } => {
                line.reply = Some(text.clone());
                line.finish = *finish;
                line.usage = *usage;
            }
            Answer::Failure(failure) => line.error = Some(failure.clone()),
        }
        line
    }

    /// Checks that the fields fit together.
    pub(super) fn into_exchange(self, line: usize) -> Result<Exchange, String> {
        let has_conditions = !self.contains.is_empty() || !self.lacks.is_empty();
        let question = match (self.messages, self.draw) {
            (Some(_), _) if has_conditions => {
                return Err("has `messages` and conditions; a recorded exchange has no `contains` or `lacks`".into());
            }
            (Some(messages), Some(draw)) => {
                Question::Recorded { messages, max_tokens: self.max_tokens, draw }
            }
            (Some(_), None) => return Err("has `messages` but no `draw`".into()),
            (None, Some(_)) => return Err("has a `draw` but no `messages`".into()),
            (None, None) if self.max_tokens.is_some() => {
                return Err("has `max_tokens` but no `messages`".into());
            }
            (None, None) => Question::Rule { contains: self.contains, lacks: self.lacks },
        };
        let text = match (self.reply, self.json) {
            (Some(_), Some(_)) => return Err("has both `reply` and `json`; one is enough".into()),
            (Some(text), None) => Some(text),
            (None, Some(object)) => Some(object.to_string()),
            (None, None) => None,
        };
        let answer = match (text, self.error) {
            (Some(text), None) => Answer::Reply { text, finish: self.finish, usage: self.usage },
            (None, Some(failure)) => Answer::Failure(failure),
            (Some(_), Some(_)) => return Err("has both a reply and an `error`".into()),
            (None, None) => return Err("has no answer; give `reply`, `json` or `error`".into()),
        };
        Ok(Exchange {
            role: self.role,
            purpose: self.purpose,
            phase: self.phase,
            model: self.model,
            question,
            answer,
            line,
        })
    }
}
