//! A structured question to the optimizer: ask, read, and ask once more with the error when that failed.

use crate::ports::{ChatRequest, Finish, Message, Purpose};
use crate::prompts::cut_middle;
use crate::python;
use crate::reply::{Parsed, ReplyError, parse_object};
use crate::run::{Run, TrainError};
use skillopt_domain::event::EventKind;
use skillopt_domain::hash::Sha256Hex;
use skillopt_domain::outcome::Sample;
use skillopt_domain::spend::Role;

/// Longest part of an unusable reply that is shown to the model again, in characters.
const MAX_ECHO_CHARS: usize = 8000;

/// A question with a JSON answer.
#[derive(Debug)]
pub(crate) struct Question {
    pub(crate) purpose: Purpose,
    pub(crate) phase: String,
    pub(crate) system: String,
    pub(crate) user: String,
    pub(crate) sample: Sample,
    /// Most tokens of the reply; those of the role when `None`.
    pub(crate) max_tokens: Option<u32>,
}

/// What came of it.
#[derive(Debug)]
pub(crate) enum Asked<T> {
    /// A readable answer.
    Answer {
        value: T,
        /// The first reply could not be used.
        reasked: bool,
        /// The reply was no strict JSON.
        repaired: bool,
    },
    /// The model answered, but not usably, and why.
    Lost { reason: String, reasked: bool },
    /// No answer came: a system failed. Nothing about the skill follows from it.
    Failed { call: Sha256Hex, error: String },
}

impl<T> Asked<T> {
    /// The answer, or why there is none. A call that failed for good is remembered.
    pub(crate) async fn or_reason(self, run: &Run<'_>) -> Result<Result<T, String>, TrainError> {
        Ok(match self {
            Self::Answer { value, .. } => Ok(value),
            Self::Lost { reason, .. } => Err(reason),
            Self::Failed { call, error } => {
                remember_failure(run, &call, &error).await?;
                Err(error)
            }
        })
    }
}

/// Remembers that a call failed for good, so that a resumed run takes the same way.
pub(crate) async fn remember_failure(
    run: &Run<'_>,
    call: &Sha256Hex,
    error: &str,
) -> Result<(), TrainError> {
    let event =
        EventKind::Warning { code: "optimizer_call_failed".into(), message: error.to_owned() };
    run.emit(&failure_key(call), event).await
}

fn failure_key(call: &Sha256Hex) -> String {
    format!("warning/call/{}", call.short())
}

/// Asks and reads with `read`. A reply that is cut, or that cannot be read, is asked for once more: cut ones
/// with twice the room, others with the error. Neither is ever used.
pub(crate) async fn ask<T>(
    run: &Run<'_>,
    question: Question,
    read: impl Fn(Parsed) -> Result<T, ReplyError>,
) -> Result<Asked<T>, TrainError> {
    // Only a reply that holds a whole skill has a limit of its own.
    let writes_skill = question.max_tokens.is_some();
    let mut request = ChatRequest {
        max_tokens: question.max_tokens,
        effort: run.input.config.optimizer.rewrite_effort.filter(|_| writes_skill),
        ..ChatRequest::new(
            question.purpose,
            question.phase,
            vec![Message::system(question.system), Message::user(question.user)],
        )
    };
    let mut reasked = false;
    loop {
        let call = run.calls.key_of(Role::Optimizer, &request, &question.sample);
        if let Some(EventKind::Warning { message, .. }) =
            run.ports.journal.find(&failure_key(&call)).await?
        {
            return Ok(Asked::Failed { call, error: message });
        }
        let answer = match run.calls.ask(Role::Optimizer, &request, &question.sample).await {
            Ok(answer) => answer,
            Err(error) => {
                let error = TrainError::of_call(error)?;
                return Ok(Asked::Failed { call, error: error.to_string() });
            }
        };
        let reason = match answer.reply.finish {
            Finish::Refused => {
                return Ok(Asked::Lost {
                    reason: format!("refused: {}", answer.reply.text),
                    reasked,
                });
            }
            Finish::Length if !run.is_python() => {
                "truncated: the reply hit the token limit".to_owned()
            }
            Finish::Length | Finish::Stop => match parse(run, &answer.reply.text)
                .and_then(|parsed| Ok((parsed.repaired, read(parsed)?)))
            {
                Ok((repaired, value)) => return Ok(Asked::Answer { value, reasked, repaired }),
                Err(error) => error.to_string(),
            },
        };
        // The Python system drops what it cannot read.
        if reasked || run.is_python() {
            return Ok(Asked::Lost { reason, reasked });
        }
        reasked = true;
        if answer.reply.finish == Finish::Length {
            let room = question.max_tokens.unwrap_or(run.input.config.optimizer_model.max_tokens);
            request.max_tokens = Some(room.saturating_mul(2));
            request.messages.push(Message::user(
                "Your reply was cut off. Reply again, shorter: the JSON object and nothing else.",
            ));
        } else {
            request
                .messages
                .push(Message::assistant(cut_middle(&answer.reply.text, MAX_ECHO_CHARS)));
            request.messages.push(Message::user(format!(
                "Your reply could not be used: {reason}. Reply again with the one JSON object that was asked \
                 for and nothing else."
            )));
        }
    }
}

fn parse(run: &Run<'_>, text: &str) -> Result<Parsed, ReplyError> {
    if run.is_python() { python::parse_object(text) } else { parse_object(text) }
}
