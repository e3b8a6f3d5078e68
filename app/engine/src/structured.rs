//! A structured question to the optimizer: ask, read, and ask once more with the error when that failed.

use crate::ports::{ChatRequest, Finish, Message, Purpose};
use crate::reply::{Parsed, ReplyError, parse_object};
use crate::run::{Run, TrainError};
use skillopt_domain::outcome::Sample;
use skillopt_domain::spend::Role;

/// A question with a JSON answer.
#[derive(Debug)]
pub(crate) struct Question {
    pub(crate) purpose: Purpose,
    pub(crate) phase: String,
    pub(crate) system: String,
    pub(crate) user: String,
    pub(crate) sample: Sample,
}

/// What came of it.
#[derive(Debug)]
pub(crate) enum Asked<T> {
    /// A readable answer.
    Answer {
        value: T,
        /// The first reply could not be used.
        reasked: bool,
    },
    /// No usable answer, and why.
    Lost { reason: String, reasked: bool },
}

/// Asks and reads with `read`. A reply that is cut, or that cannot be read, is asked for once more: cut ones
/// with twice the room, others with the error. Neither is ever used.
pub(crate) async fn ask<T>(
    run: &Run<'_>,
    question: Question,
    read: impl Fn(Parsed) -> Result<T, ReplyError>,
) -> Result<Asked<T>, TrainError> {
    let mut request = ChatRequest {
        messages: vec![Message::system(question.system), Message::user(question.user)],
        max_tokens: None,
        purpose: question.purpose,
        phase: question.phase,
    };
    let mut reasked = false;
    loop {
        let answer = match run.calls.ask(Role::Optimizer, &request, &question.sample).await {
            Ok(answer) => answer,
            Err(error) => {
                let error = TrainError::of_call(error)?;
                return Ok(Asked::Lost { reason: error.to_string(), reasked });
            }
        };
        let reason = match answer.reply.finish {
            Finish::Refused => {
                return Ok(Asked::Lost {
                    reason: format!("refused: {}", answer.reply.text),
                    reasked,
                });
            }
            Finish::Length => "truncated: the reply hit the token limit".to_owned(),
            Finish::Stop => match parse_object(&answer.reply.text).and_then(&read) {
                Ok(value) => return Ok(Asked::Answer { value, reasked }),
                Err(error) => error.to_string(),
            },
        };
        if reasked {
            return Ok(Asked::Lost { reason, reasked });
        }
        reasked = true;
        if answer.reply.finish == Finish::Length {
            let room = run.input.config.optimizer_model.max_tokens;
            request.max_tokens = Some(room.saturating_mul(2));
            request.messages.push(Message::user(
                "Your reply was cut off. Reply again, shorter: the JSON object and nothing else.",
            ));
        } else {
            request.messages.push(Message::assistant(answer.reply.text));
            request.messages.push(Message::user(format!(
                "Your reply could not be used: {reason}. Reply again with the one JSON object that was asked \
                 for and nothing else."
            )));
        }
    }
}
