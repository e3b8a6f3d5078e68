//! Writes the body of a request, with what was learned about the provider applied. Pure.

use super::adapt::{Adaptation, Adaptations, LimitName, Sent};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value};
use skillopt_domain::config::TokenLimitParam;
use skillopt_engine::ports::Message;

/// What the configuration fixes for each request of a model.
#[derive(Clone, Debug)]
pub(crate) struct WirePolicy {
    pub(crate) model: String,
    pub(crate) temperature: Option<f64>,
    pub(crate) max_tokens: u32,
    pub(crate) limit_param: TokenLimitParam,
    pub(crate) extra: Map<String, Value>,
}

/// One request as it goes on the wire.
#[derive(Debug)]
pub(crate) struct Body<'a> {
    policy: &'a WirePolicy,
    messages: &'a [Message],
    learned: &'a Adaptations,
    asked_limit: u32,
    limit: u32,
    limit_name: LimitName,
}

impl<'a> Body<'a> {
    pub(crate) fn new(
        policy: &'a WirePolicy,
        messages: &'a [Message],
        max_tokens: Option<u32>,
        learned: &'a Adaptations,
    ) -> Self {
        let asked_limit = max_tokens.unwrap_or(policy.max_tokens);
        let limit = learned.highest_limit.map_or(asked_limit, |highest| highest.min(asked_limit));
        let limit_name = match policy.limit_param {
            TokenLimitParam::MaxTokens => LimitName::MaxTokens,
            TokenLimitParam::MaxCompletionTokens => LimitName::MaxCompletionTokens,
            TokenLimitParam::Auto => learned.limit_name.unwrap_or(LimitName::MaxCompletionTokens),
        };
        Self { policy, messages, learned, asked_limit, limit, limit_name }
    }

    fn temperature(&self) -> Option<f64> {
        self.policy.temperature.filter(|_| !self.learned.without_temperature)
    }

    fn extra(&self) -> impl Iterator<Item = (&'a String, &'a Value)> {
        let without = &self.learned.without;
        self.policy.extra.iter().filter(|(field, _)| !without.contains(*field))
    }

    /// The names of the extra fields that are sent.
    pub(crate) fn extra_names(&self) -> Vec<&'a str> {
        self.extra().map(|(field, _)| field.as_str()).collect()
    }

    /// What could still be changed about it.
    pub(crate) fn sent<'b>(&self, extra: &'b [&'b str]) -> Sent<'b> {
        Sent {
            limit: self.limit,
            limit_name: self.limit_name,
            may_rename_limit: self.policy.limit_param == TokenLimitParam::Auto
                && self.learned.limit_name.is_none(),
            may_lower_limit: self.learned.highest_limit.is_none(),
            temperature: self.temperature().is_some(),
            extra,
        }
    }

    /// What was changed about this request, in words for the record.
    pub(crate) fn changes(&self) -> Vec<String> {
        let concerns = |adaptation: &Adaptation| match adaptation {
            Adaptation::NameLimit(_) => self.policy.limit_param == TokenLimitParam::Auto,
            Adaptation::LowerLimit(_) => self.limit < self.asked_limit,
            Adaptation::LeaveOutTemperature => self.policy.temperature.is_some(),
            Adaptation::LeaveOut(field) => self.policy.extra.contains_key(field),
        };
        self.learned.each().filter(concerns).map(|adaptation| adaptation.words()).collect()
    }
}

impl Serialize for Body<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("model", &self.policy.model)?;
        map.serialize_entry("messages", self.messages)?;
        map.serialize_entry(self.limit_name.as_str(), &self.limit)?;
        if let Some(temperature) = self.temperature() {
            map.serialize_entry("temperature", &temperature)?;
        }
        for (field, value) in self.extra() {
            map.serialize_entry(field, value)?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn policy() -> WirePolicy {
        WirePolicy {
            model: "m".to_owned(),
            temperature: Some(0.5),
            max_tokens: 100,
            limit_param: TokenLimitParam::Auto,
            extra: Map::from_iter([("top_k".to_owned(), json!(3))]),
        }
    }

    #[test]
    fn a_request_carries_what_is_configured_and_nothing_else() {
        let (policy, learned) = (policy(), Adaptations::default());
        let messages = [Message::system("Be brief."), Message::user("Hi")];
        let body = Body::new(&policy, &messages, Some(7), &learned);
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
        assert_eq!(serde_json::to_value(&body).unwrap(), expected);
        assert!(body.changes().is_empty());
    }

    #[test]
    fn c43_by_default_no_extra_field_and_no_temperature_is_sent() {
        let policy = WirePolicy { temperature: None, extra: Map::new(), ..policy() };
        let learned = Adaptations::default();
        let body = serde_json::to_value(Body::new(&policy, &[], None, &learned)).unwrap();
        assert_eq!(body, json!({"model": "m", "messages": [], "max_completion_tokens": 100}));
    }

    #[test]
    fn c42_what_was_learned_is_applied_and_told() {
        let policy = policy();
        let learned = Adaptations {
            limit_name: Some(LimitName::MaxTokens),
            highest_limit: Some(50),
            without_temperature: true,
            without: ["top_k".to_owned()].into(),
        };
        let body = Body::new(&policy, &[], None, &learned);
        assert_eq!(
            serde_json::to_value(&body).unwrap(),
            json!({"model": "m", "messages": [], "max_tokens": 50})
        );
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
