//! The backend over models: puts the night's questions into prompts, asks, and reads what comes back. Strict first,
//! tolerant second, asked again once, and never guessed.

mod attempt;
mod optimize;
mod score;

use super::{
    AnswerEnd, Asker, Attempt, Attempted, Backend, BackendError, Draw, Judged, Judging, Proposed,
    Reflection, Reply, Said, SleepRole, SlowQuestion, TextQuestion,
};
use crate::evidence::Evidence;
use crate::prompts::{Prompts, Rendered};
use async_trait::async_trait;
use serde_json::json;
use skillopt_domain::hash::Sha256Hex;
use skillopt_domain::own_call::PROMPT_MARK;
use skillopt_domain::spend::SpendByRole;
use skillopt_engine::ports::{ChatRequest, Finish, Message, Purpose, Speaker};
use skillopt_engine::prompts::cut_middle;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Longest part of an unusable reply that is shown to the model again, in characters.
const MAX_ECHO_CHARS: usize = 4000;

/// Models, with prompts and the log of what is said.
#[derive(Debug)]
pub struct Modelled {
    asker: Arc<dyn Asker>,
    prompts: Prompts,
    evidence: Arc<Evidence>,
    limits: TokenLimits,
    /// Targets that can run stand-ins get them.
    stand_ins: bool,
    /// What the last call of a role failed with, until one is answered.
    errors: Mutex<BTreeMap<&'static str, String>>,
}

/// Most tokens of each kind of call; as the role is configured where there is none. Programs take it for advice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TokenLimits {
    /// Of an attempt at a task.
    pub attempt: Option<u32>,
    /// Of a judgement.
    pub judge: Option<u32>,
    /// Of what a miner says about a session.
    pub miner: Option<u32>,
    /// Of proposed edits.
    pub reflect: Option<u32>,
}

/// What is asked of whom.
struct Question {
    /// The word in the evidence log.
    kind: &'static str,
    role: SleepRole,
    purpose: Purpose,
    draw: Draw,
    max_tokens: Option<u32>,
}

/// A reply that was read.
struct Read<T> {
    value: T,
    raw: String,
    tokens: Option<u64>,
}

impl Modelled {
    /// Models behind `asker`.
    #[must_use]
    pub fn new(asker: Arc<dyn Asker>, prompts: Prompts, evidence: Arc<Evidence>) -> Self {
        let (limits, errors) = (TokenLimits::default(), Mutex::default());
        Self { asker, prompts, evidence, limits, stand_ins: true, errors }
    }

    /// Tools are named in the text alone, whatever the target could run.
    #[must_use]
    pub fn without_stand_ins(self) -> Self {
        Self { stand_ins: false, ..self }
    }

    /// Calls with these limits.
    #[must_use]
    pub fn with_limits(self, limits: TokenLimits) -> Self {
        Self { limits, ..self }
    }

    fn note_error(&self, role: SleepRole, error: &str) {
        let mut errors = self.errors.lock().unwrap_or_else(PoisonError::into_inner);
        match error {
            "" => errors.remove(role.as_str()),
            error => errors.insert(role.as_str(), error.to_owned()),
        };
    }

    /// One exchange, logged whether it worked or not.
    async fn exchange(
        &self,
        question: &Question,
        request: &ChatRequest,
    ) -> Result<Reply, BackendError> {
        let result = self.asker.ask(question.role, request, question.draw).await;
        let (response, error) = match &result {
            Ok(reply) => (reply.reply.text.as_str(), String::new()),
            Err(error) => ("", error.to_string()),
        };
        self.note_error(question.role, &error);
        let known = result.as_ref().ok();
        let fields = json!({
            "kind": question.kind,
            "role": question.role,
            "model": self.asker.name(question.role),
            "cache_hit": known.is_some_and(|reply| reply.cached),
            "key": known.and_then(|reply| reply.key.as_ref()).map(Sha256Hex::short),
            "phase": question.draw.phase,
            "draw": question.draw.repeat,
            "prompt": text_of(request),
            "response": response,
            "tokens": known.and_then(tokens_of),
            "error": error,
        });
        let (stage, event) = match question.purpose {
            Purpose::Mine => ("mine", "miner_exchange"),
            Purpose::Reflect | Purpose::Contrast | Purpose::SlowUpdate => ("reflect", "exchange"),
            _ => ("replay", "model_call"),
        };
        self.evidence.record(stage, event, fields);
        result
    }

    /// Asks and reads. A reply that is cut or cannot be read is asked for once more, with the reason; after that there
    /// is no answer.
    async fn ask<T: Send>(
        &self,
        question: Question,
        rendered: &Rendered,
        read: impl Fn(&str) -> Result<T, String> + Send + Sync,
    ) -> Result<Read<T>, BackendError> {
        let mut request = ChatRequest {
            max_tokens: question.max_tokens,
            ..ChatRequest::new(question.purpose, question.draw.phase.as_str(), messages(rendered))
        };
        let mut tokens = Some(0);
        let mut asked_again = false;
        loop {
            let reply = self.exchange(&question, &request).await?;
            tokens = plus(tokens, tokens_of(&reply));
            let text = reply.reply.text;
            let reason = match reply.reply.finish {
                Finish::Refused => {
                    return Err(BackendError::Unusable(format!("the model declined: {text}")));
                }
                Finish::Length => "it was cut off at the token limit".to_owned(),
                Finish::Stop => match read(&text) {
                    Ok(value) => return Ok(Read { value, raw: text, tokens }),
                    Err(reason) => reason,
                },
            };
            if asked_again {
                return Err(BackendError::Unusable(reason));
            }
            asked_again = true;
            request.max_tokens = match reply.reply.finish {
                Finish::Length => request.max_tokens.map(|limit| limit.saturating_mul(2)),
                Finish::Stop | Finish::Refused => request.max_tokens,
            };
            request.messages.push(Message::assistant(cut_middle(&text, MAX_ECHO_CHARS)));
            request.messages.push(Message::user(format!(
                "Your reply could not be used: {reason}. Reply again with the JSON that was asked for and \
                 nothing else."
            )));
        }
    }
}

#[async_trait]
impl Backend for Modelled {
    fn label(&self) -> String {
        let target = self.asker.name(SleepRole::Target);
        let others =
            [SleepRole::Optimizer, SleepRole::Judge].map(|role| (role, self.asker.name(role)));
        let mut label = target.clone();
        for (role, name) in others {
            if name != target {
                label.push_str(&format!(", {role} {name}"));
            }
        }
        match self.is_simulated() {
            true => format!("{label} (simulated)"),
            false => label,
        }
    }

    fn is_simulated(&self) -> bool {
        self.asker.is_simulated()
    }

    async fn attempt(&self, attempt: &Attempt<'_>) -> Result<Attempted, BackendError> {
        self.perform(attempt).await
    }

    async fn judge(&self, judging: &Judging<'_>) -> Result<Judged, BackendError> {
        self.score(judging).await
    }

    async fn reflect(&self, reflection: &Reflection<'_>) -> Result<Proposed, BackendError> {
        self.propose(reflection).await
    }

    async fn guide(&self, question: &SlowQuestion<'_>) -> Result<Said, BackendError> {
        self.write_guidance(question).await
    }

    async fn mine(&self, asked: &TextQuestion<'_>) -> Result<Said, BackendError> {
        let question = Question {
            kind: "miner",
            role: SleepRole::Optimizer,
            purpose: Purpose::Mine,
            draw: asked.draw,
            max_tokens: asked.max_tokens.or(self.limits.miner),
        };
        let rendered = Rendered { system: asked.system.to_owned(), user: asked.user.to_owned() };
        let request = ChatRequest {
            max_tokens: question.max_tokens,
            ..ChatRequest::new(Purpose::Mine, asked.draw.phase.as_str(), messages(&rendered))
        };
        let reply = self.exchange(&question, &request).await?;
        let tokens = tokens_of(&reply);
        Ok(Said { end: end_of(reply.reply.finish), tokens, text: reply.reply.text })
    }

    fn last_error(&self) -> String {
        let errors = self.errors.lock().unwrap_or_else(PoisonError::into_inner);
        let told = errors.iter().map(|(role, error)| format!("{role}: {error}"));
        told.collect::<Vec<_>>().join("; ")
    }

    fn spend(&self) -> SpendByRole {
        self.asker.spend()
    }
}

/// The question as messages. The mark tells harvesters that no person asked.
fn messages(rendered: &Rendered) -> Vec<Message> {
    let mut messages = Vec::new();
    if !rendered.system.is_empty() {
        messages.push(Message::system(rendered.system.clone()));
    }
    messages.push(Message::user(format!("{PROMPT_MARK}\n{}", rendered.user)));
    messages
}

fn text_of(request: &ChatRequest) -> String {
    let said = |message: &Message| match message.role {
        Speaker::System | Speaker::User => message.content.clone(),
        Speaker::Assistant => format!("[reply] {}", message.content),
        Speaker::Tool => format!("[tool] {}", message.content),
    };
    request.messages.iter().map(said).collect::<Vec<_>>().join("\n\n")
}

fn end_of(finish: Finish) -> AnswerEnd {
    match finish {
        Finish::Stop => AnswerEnd::Done,
        Finish::Length => AnswerEnd::Cut,
        Finish::Refused => AnswerEnd::Declined,
    }
}

fn tokens_of(reply: &Reply) -> Option<u64> {
    reply.reply.usage.map(|usage| usage.prompt_tokens + usage.completion_tokens)
}

/// A sum of which a part is unknown is unknown.
fn plus(left: Option<u64>, right: Option<u64>) -> Option<u64> {
    Some(left? + right?)
}

#[cfg(test)]
mod tests;
