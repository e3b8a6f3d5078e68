//! Writes the body of a request, with what was learned about the provider applied. Pure.

use super::adapt::{Adaptation, Adaptations, LimitName, Sent};
use super::dialect::Api;
use serde_json::{Map, Value};
use skillopt_domain::config::{Effort, TokenLimitParam};
use skillopt_engine::ports::ChatRequest;
use std::collections::BTreeSet;

/// What the configuration fixes for each request of a model.
#[derive(Clone, Debug)]
pub(crate) struct WirePolicy {
    pub(crate) api: Api,
    /// It is a service of OpenAI's kind, where a model may turn out to be served by the Responses API alone.
    pub(crate) may_use_responses: bool,
    pub(crate) model: String,
    pub(crate) temperature: Option<f64>,
    pub(crate) max_tokens: u32,
    pub(crate) limit_param: TokenLimitParam,
    /// The name of the limit that is tried first where it may be learned.
    pub(crate) first_limit_name: LimitName,
    pub(crate) effort: Option<Effort>,
    /// OpenAI knows no effort above this one.
    pub(crate) highest_effort: Effort,
    pub(crate) stream: bool,
    pub(crate) extra: Map<String, Value>,
}

/// A part of a request that can be left out when it is refused.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Part {
    /// For the record.
    pub(crate) name: &'static str,
    /// By which a complaint may name it.
    pub(crate) words: &'static [&'static str],
}

pub(crate) const EFFORT: Part = Part {
    name: "reasoning effort",
    words: &["reasoning_effort", "reasoning.effort", "reasoning", "effort"],
};
pub(crate) const ADAPTIVE: Part = Part {
    name: "adaptive thinking",
    words: &["adaptive", "thinking", "effort", "output_config", "output_config.effort"],
};
pub(crate) const BUDGET: Part = Part { name: "thinking", words: &["thinking", "budget_tokens"] };
pub(crate) const SCHEMA: Part = Part {
    name: "JSON schema",
    words: &[
        "response_format",
        "json_schema",
        "text.format",
        "output_config",
        "output_config.format",
        "output_format",
    ],
};
pub(crate) const CACHE: Part = Part { name: "cache marks", words: &["cache_control"] };
pub(crate) const STREAM_USAGE: Part =
    Part { name: "stream_options", words: &["stream_options", "include_usage"] };
pub(crate) const STREAM: Part = Part { name: "stream", words: &["stream", "streaming"] };

/// What is asked for in one request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wish<'a> {
    pub(crate) request: &'a ChatRequest,
    pub(crate) limit: u32,
    pub(crate) limit_name: LimitName,
    pub(crate) temperature: Option<f64>,
    pub(crate) effort_level: Option<Effort>,
    /// The same as OpenAI spells it.
    pub(crate) effort: Option<&'static str>,
    pub(crate) stream: bool,
}

/// A body that is being written.
#[derive(Debug)]
pub(crate) struct Draft<'a> {
    fields: Map<String, Value>,
    without: &'a BTreeSet<String>,
    sent: Vec<&'static Part>,
    left_out: Vec<&'static Part>,
}

impl Draft<'_> {
    pub(crate) fn set(&mut self, name: &str, value: Value) {
        self.fields.insert(name.to_owned(), value);
    }

    /// Whether a part may be sent; it is remembered as sent, or as left out.
    pub(crate) fn sends(&mut self, part: &'static Part) -> bool {
        let is_sent = !self.without.contains(part.name);
        let list = if is_sent { &mut self.sent } else { &mut self.left_out };
        list.push(part);
        is_sent
    }

    pub(crate) fn set_part(
        &mut self,
        part: &'static Part,
        name: &str,
        value: impl FnOnce() -> Value,
    ) -> bool {
        let is_sent = self.sends(part);
        if is_sent {
            self.set(name, value());
        }
        is_sent
    }
}

/// One request as it goes on the wire.
#[derive(Debug)]
pub(crate) struct Body<'a> {
    policy: &'a WirePolicy,
    learned: &'a Adaptations,
    draft: Draft<'a>,
    extra: Vec<&'a str>,
    asked_limit: u32,
    limit: u32,
    limit_name: LimitName,
    pub(crate) api: Api,
}

impl<'a> Body<'a> {
    pub(crate) fn new(
        policy: &'a WirePolicy,
        request: &'a ChatRequest,
        learned: &'a Adaptations,
    ) -> Self {
        let switches = policy.may_use_responses && learned.uses_responses;
        let api = if switches { Api::Responses } else { policy.api };
        let asked_limit = request.max_tokens.unwrap_or(policy.max_tokens);
        let limit = learned.highest_limit.map_or(asked_limit, |highest| highest.min(asked_limit));
        let limit_name = match (api, policy.limit_param) {
            (Api::Responses, _) => LimitName::OutputTokens,
            (Api::Messages, _) | (Api::Chat, TokenLimitParam::MaxTokens) => LimitName::Tokens,
            (Api::Chat, TokenLimitParam::MaxCompletionTokens) => LimitName::CompletionTokens,
            (Api::Chat, TokenLimitParam::Auto) => {
                learned.limit_name.unwrap_or(policy.first_limit_name)
            }
        };
        let effort_level = request.effort.or(policy.effort);
        let wish = Wish {
            request,
            limit,
            limit_name,
            temperature: policy.temperature.filter(|_| !learned.without_temperature),
            effort_level,
            effort: effort_level.map(|effort| effort.min(policy.highest_effort).as_str()),
            stream: policy.stream,
        };
        let mut draft = Draft {
            fields: Map::new(),
            without: &learned.without,
            sent: Vec::new(),
            left_out: Vec::new(),
        };
        draft.set("model", policy.model.as_str().into());
        api.write(&mut draft, &wish);
        let extra = policy.extra.iter().filter(|(field, _)| !learned.without.contains(*field));
        let extra = extra.map(|(field, value)| {
            draft.set(field, value.clone());
            field.as_str()
        });
        let extra = extra.collect();
        Self { policy, learned, draft, extra, asked_limit, limit, limit_name, api }
    }

    /// The JSON of it.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        // A map with texts as keys always has a text.
        serde_json::to_vec(&self.draft.fields).unwrap_or_default()
    }

    /// The reply is to come in pieces.
    pub(crate) fn is_streamed(&self) -> bool {
        self.draft.fields.get("stream") == Some(&Value::Bool(true))
    }

    /// What could still be changed about it.
    pub(crate) fn sent(&self) -> Sent<'_> {
        Sent {
            limit: self.limit,
            limit_name: self.limit_name,
            may_rename_limit: self.may_rename_limit() && self.learned.limit_name.is_none(),
            may_lower_limit: self.learned.highest_limit.is_none(),
            may_use_responses: self.policy.may_use_responses && self.api == Api::Chat,
            temperature: self.draft.fields.contains_key("temperature"),
            parts: &self.draft.sent,
            extra: &self.extra,
        }
    }

    fn may_rename_limit(&self) -> bool {
        self.api == Api::Chat && self.policy.limit_param == TokenLimitParam::Auto
    }

    /// What was changed about this request, in words for the record.
    pub(crate) fn changes(&self) -> Vec<String> {
        let concerns = |adaptation: &Adaptation| match adaptation {
            Adaptation::NameLimit(_) => self.may_rename_limit(),
            Adaptation::LowerLimit(_) => self.limit < self.asked_limit,
            Adaptation::LeaveOutTemperature => self.policy.temperature.is_some(),
            Adaptation::LeaveOut(field) => {
                self.policy.extra.contains_key(field)
                    || self.draft.left_out.iter().any(|part| part.name == field)
            }
            Adaptation::UseResponses => self.api != self.policy.api,
        };
        self.learned.each().filter(concerns).map(|adaptation| adaptation.words()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use skillopt_engine::ports::{Message, Purpose};

    fn policy() -> WirePolicy {
        WirePolicy {
            api: Api::Chat,
            may_use_responses: true,
            model: "m".to_owned(),
            temperature: Some(0.5),
            max_tokens: 100,
            limit_param: TokenLimitParam::Auto,
            first_limit_name: LimitName::CompletionTokens,
            effort: None,
            highest_effort: Effort::Max,
            stream: false,
            extra: Map::from_iter([("top_k".to_owned(), json!(3))]),
        }
    }

    fn asks(messages: Vec<Message>, max_tokens: Option<u32>) -> ChatRequest {
        ChatRequest { max_tokens, ..ChatRequest::new(Purpose::Qa, "", messages) }
    }

    fn json_of(body: &Body<'_>) -> Value {
        serde_json::from_slice(&body.to_bytes()).unwrap()
    }

    #[test]
    fn a_request_carries_what_is_configured_and_nothing_else() {
        let (policy, learned) = (policy(), Adaptations::default());
        let request = asks(vec![Message::system("Be brief."), Message::user("Hi")], Some(7));
        let body = Body::new(&policy, &request, &learned);
        let expected = json!({
            "model": "m",
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "Hi"},
            ],
            "max_completion_tokens": 7,
            "temperature": 0.5,
            "top_k": 3,
        });
        assert_eq!(json_of(&body), expected);
        assert!(body.changes().is_empty());
    }

    #[test]
    fn c43_by_default_no_extra_field_and_no_temperature_is_sent() {
        let policy = WirePolicy { temperature: None, extra: Map::new(), ..policy() };
        let learned = Adaptations::default();
        let request = asks(Vec::new(), None);
        let bytes = Body::new(&policy, &request, &learned).to_bytes();
        let expected = r#"{"model":"m","messages":[],"max_completion_tokens":100}"#;
        assert_eq!(String::from_utf8(bytes).unwrap(), expected);
    }

    #[test]
    fn c42_what_was_learned_is_applied_and_told() {
        let policy = policy();
        let learned = Adaptations {
            limit_name: Some(LimitName::Tokens),
            highest_limit: Some(50),
            without_temperature: true,
            without: ["top_k".to_owned()].into(),
            uses_responses: false,
        };
        let request = asks(Vec::new(), None);
        let body = Body::new(&policy, &request, &learned);
        assert_eq!(json_of(&body), json!({"model": "m", "messages": [], "max_tokens": 50}));
        assert_eq!(
            body.changes(),
            [
                "sends max_tokens",
                "asks for at most 50 tokens",
                "leaves out temperature",
                "leaves out top_k"
            ]
        );
    }
}
