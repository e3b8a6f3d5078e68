//! What the parts of a reply amount to, whichever API they came over: an answer is text, a cut text, a refusal or calls
//! of tools; everything else is a [`Failure`]. Pure.

use crate::http::error_body::{ErrorBody, is_html};
use crate::http::failure::{Again, Failure, Refusal, classify};
use crate::reasoning::{Stripped, strip_reasoning};
use crate::refusal::is_refusal;
use serde_json::Value;
use skillopt_domain::spend::Usage;
use skillopt_engine::ports::{Finish, ModelErrorKind, ToolCall};
use std::time::Duration;

/// An answer as it came over the wire.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Completion {
    pub(crate) text: String,
    pub(crate) finish: Finish,
    pub(crate) usage: Option<Usage>,
    pub(crate) tool_calls: Vec<ToolCall>,
    /// When the first piece of a streamed reply came, from the beginning of the attempt.
    pub(crate) first_token: Option<Duration>,
}

/// How a reply ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    Done,
    Cut,
    Filtered,
}

/// What a reply holds.
#[derive(Debug, Default)]
pub(super) struct Parts {
    pub(super) text: String,
    pub(super) refusal: Option<String>,
    pub(super) reasoned: bool,
    pub(super) tool_calls: Vec<ToolCall>,
}

/// The answer that the parts are; a failure keeps what was counted for it.
pub(super) fn completion(
    parts: Parts,
    ending: Ending,
    usage: Option<Usage>,
) -> Result<Completion, Failure> {
    let Parts { text, refusal, reasoned, tool_calls } = parts;
    if let Some(text) = refusal {
        return Ok(Completion { text, finish: Finish::Refused, usage, ..Completion::default() });
    }
    answer(text, reasoned, ending, !tool_calls.is_empty())
        .map(|(text, finish)| Completion { text, finish, usage, tool_calls, first_token: None })
        .map_err(|failure| Failure { billed: usage.map(Box::new), ..failure })
}

fn answer(
    mut text: String,
    reasoned: bool,
    ending: Ending,
    calls_tools: bool,
) -> Result<(String, Finish), Failure> {
    if ending == Ending::Filtered {
        let words = "stopped by the provider's content filter";
        let text = if text.trim().is_empty() { words.to_owned() } else { text };
        return Ok((text, Finish::Refused));
    }
    match strip_reasoning(&text) {
        Stripped::ReasoningOnly if calls_tools => text.clear(),
        Stripped::ReasoningOnly => return Err(nothing_said(true, ending)),
        Stripped::Answer(answer) if answer.trim().is_empty() && !calls_tools => {
            return Err(nothing_said(reasoned, ending));
        }
        Stripped::Answer(answer) => drop(text.drain(..text.len() - answer.len())),
    }
    let finish = match ending {
        _ if is_refusal(&text) => Finish::Refused,
        Ending::Cut => Finish::Length,
        Ending::Done | Ending::Filtered => Finish::Stop,
    };
    Ok((text, finish))
}

/// Whether the limit cut it matters: then the same request would be cut again.
fn nothing_said(reasoned: bool, ending: Ending) -> Failure {
    match (reasoned, ending) {
        (_, Ending::Cut) => Failure::new(
            ModelErrorKind::ReasoningOnly,
            Again::Never,
            "the token limit was used up before the answer began: raise the limit, or turn \
             reasoning down",
        ),
        (true, _) => Failure::new(
            ModelErrorKind::ReasoningOnly,
            Again::Twice,
            "the reply holds reasoning without an answer",
        ),
        (false, _) => Failure::new(ModelErrorKind::Empty, Again::Twice, "the reply holds no text"),
    }
}

/// The call of a tool, from where an API puts its parts. Arguments are a JSON text, or JSON itself.
pub(super) fn tool_call(id: &Value, name: &Value, arguments: &Value) -> Option<ToolCall> {
    let name = name.as_str().filter(|name| !name.is_empty())?;
    let arguments = match arguments {
        Value::String(text) => text.clone(),
        Value::Null => "{}".to_owned(),
        other => other.to_string(),
    };
    let id = id.as_str().unwrap_or_default().to_owned();
    Some(ToolCall { id, name: name.to_owned(), arguments })
}

pub(super) fn is_filled(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::String(text) => !text.trim().is_empty(),
        _ => true,
    }
}

/// What came is not what the API sends.
pub(super) fn malformed(what: &str) -> Failure {
    Failure::new(ModelErrorKind::Server, Again::Backoff, what)
}

/// A page instead of JSON means that the address is wrong; broken JSON may be a broken connection.
pub(super) fn not_the_api(body: &[u8]) -> Failure {
    let page = is_html(&String::from_utf8_lossy(&body[..body.len().min(200)]));
    let again = if page { Again::Never } else { Again::Backoff };
    let words = ErrorBody::parse(body).words();
    let message =
        if page { format!("got {words}") } else { format!("the reply is no JSON: {words}") };
    Failure::new(ModelErrorKind::Server, again, message)
}

/// The error decides what the status did not.
pub(super) fn error_in_success(error: &Value) -> Failure {
    let body = ErrorBody::from_json(error);
    let status = body.code.filter(|code| *code >= 400).unwrap_or_else(|| {
        let kinds: [(&[&str], u16); 4] = [
            (&["rate_limit", "quota", "too_many", "resource_exhausted"], 429),
            (&["auth", "api_key", "permission"], 401),
            (&["overloaded"], 529),
            (&["invalid", "not_found", "bad_request", "unsupported"], 400),
        ];
        kinds.iter().find(|(words, _)| body.is_labelled(words)).map_or(500, |(_, status)| *status)
    });
    classify(Refusal {
        status,
        label: "an error with status 200",
        body: &body,
        retry_after: None,
        longest_wait: Duration::MAX,
    })
}
