//! What is learned from a provider that refuses part of a request: which change it takes to be understood.
//! Pure recognition of the refusal, and the memory of what was learned.

use super::failure::Complaint;
use super::request::Part;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

/// The name under which the token limit goes on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LimitName {
    Tokens,
    CompletionTokens,
    OutputTokens,
}

impl LimitName {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Tokens => "max_tokens",
            Self::CompletionTokens => "max_completion_tokens",
            Self::OutputTokens => "max_output_tokens",
        }
    }

    fn other(self) -> Self {
        match self {
            Self::Tokens => Self::CompletionTokens,
            Self::CompletionTokens => Self::Tokens,
            Self::OutputTokens => Self::OutputTokens,
        }
    }
}

/// One change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Adaptation {
    NameLimit(LimitName),
    LowerLimit(u32),
    LeaveOutTemperature,
    LeaveOut(String),
    UseResponses,
}

impl Adaptation {
    /// In words for the record.
    pub(crate) fn words(&self) -> String {
        match self {
            Self::NameLimit(name) => format!("sends {}", name.as_str()),
            Self::LowerLimit(limit) => format!("asks for at most {limit} tokens"),
            Self::LeaveOutTemperature => "leaves out temperature".to_owned(),
            Self::LeaveOut(field) => format!("leaves out {field}"),
            Self::UseResponses => "uses the Responses API".to_owned(),
        }
    }
}

/// All changes that one model at one address needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Adaptations {
    pub(crate) limit_name: Option<LimitName>,
    pub(crate) highest_limit: Option<u32>,
    pub(crate) without_temperature: bool,
    pub(crate) without: BTreeSet<String>,
    pub(crate) uses_responses: bool,
}

impl Adaptations {
    /// The changes one by one.
    pub(crate) fn each(&self) -> impl Iterator<Item = Adaptation> {
        let temperature = self.without_temperature.then_some(Adaptation::LeaveOutTemperature);
        self.limit_name
            .map(Adaptation::NameLimit)
            .into_iter()
            .chain(self.highest_limit.map(Adaptation::LowerLimit))
            .chain(temperature)
            .chain(self.without.iter().cloned().map(Adaptation::LeaveOut))
            .chain(self.uses_responses.then_some(Adaptation::UseResponses))
    }

    /// In words for the record.
    pub(crate) fn words(&self) -> Vec<String> {
        self.each().map(|adaptation| adaptation.words()).collect()
    }

    fn add(&mut self, adaptation: Adaptation) {
        match adaptation {
            Adaptation::NameLimit(name) => self.limit_name = Some(name),
            Adaptation::LowerLimit(limit) => self.highest_limit = Some(limit),
            Adaptation::LeaveOutTemperature => self.without_temperature = true,
            Adaptation::LeaveOut(field) => {
                self.without.insert(field);
            }
            Adaptation::UseResponses => self.uses_responses = true,
        }
    }
}

/// The memory for one model at one address, shared by all runs.
#[derive(Debug, Default)]
pub(crate) struct Learned(Mutex<Arc<Adaptations>>);

impl Learned {
    pub(crate) fn snapshot(&self) -> Arc<Adaptations> {
        Arc::clone(&self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn add(&self, adaptation: Adaptation) {
        let mut learned = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::make_mut(&mut learned).add(adaptation);
    }
}

/// The parts of a request that can be changed, as they were sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent<'a> {
    pub(crate) limit: u32,
    pub(crate) limit_name: LimitName,
    /// Neither fixed by the configuration nor changed before.
    pub(crate) may_rename_limit: bool,
    /// Not changed before.
    pub(crate) may_lower_limit: bool,
    /// It went to the chat completions of a service that has the Responses API too.
    pub(crate) may_use_responses: bool,
    pub(crate) temperature: bool,
    pub(crate) parts: &'a [&'static Part],
    pub(crate) extra: &'a [&'a str],
}

/// The change that would answer the complaint; `None` when it is about something else. Only something that
/// was sent can be changed, so that no change is made twice.
pub(crate) fn recognise(complaint: &Complaint, sent: Sent<'_>) -> Option<Adaptation> {
    if sent.may_use_responses && complaint.wants_responses() {
        return Some(Adaptation::UseResponses);
    }
    if complaint.is_about_the_model() {
        return None;
    }
    let limit_named = [sent.limit_name, sent.limit_name.other()]
        .into_iter()
        .any(|name| complaint.names(name.as_str()));
    if limit_named
        && sent.may_lower_limit
        && let Some(bound) = lower_bound(&complaint.text, sent.limit)
    {
        return Some(Adaptation::LowerLimit(bound));
    }
    let refused = complaint.refuses_a_field();
    let other = sent.limit_name.other();
    let wants_other = complaint.names(other.as_str()) && complaint.text.contains("required");
    if sent.may_rename_limit
        && ((refused && complaint.names(sent.limit_name.as_str())) || wants_other)
    {
        return Some(Adaptation::NameLimit(other));
    }
    if !refused {
        return None;
    }
    if sent.temperature && complaint.names("temperature") {
        return Some(Adaptation::LeaveOutTemperature);
    }
    // Names may hold each other, as `output_config.format` does: the longest one that is told is meant.
    let told = |part: &Part| {
        let words = part.words.iter().filter(|word| complaint.names(word));
        words.map(|word| word.len()).max()
    };
    let parts = sent.parts.iter().filter_map(|part| Some((told(part)?, part.name)));
    if let Some((_, name)) = parts.max_by_key(|(len, _)| *len) {
        return Some(Adaptation::LeaveOut(name.to_owned()));
    }
    let field = sent.extra.iter().find(|field| complaint.names(field))?;
    Some(Adaptation::LeaveOut((*field).to_owned()))
}

/// The number that stands behind words for an upper bound, if it is below what was asked for. The length of
/// a context is no such bound: it depends on the prompt.
fn lower_bound(text: &str, limit: u32) -> Option<u32> {
    const BOUNDS: [&str; 10] = [
        "at most",
        "less than or equal to",
        "<=",
        "maximum value",
        "maximum of",
        "maximum is",
        "up to",
        "cannot exceed",
        "must not exceed",
        "[1,",
    ];
    if text.contains("context length") || text.contains("context window") {
        return None;
    }
    let comparison = format!("{limit} >");
    BOUNDS
        .into_iter()
        .chain([comparison.as_str()])
        .flat_map(|words| text.match_indices(words).map(|(at, found)| &text[at + found.len()..]))
        .filter_map(first_number)
        .find(|bound| (1..limit).contains(bound))
}

/// A number within the next few words.
fn first_number(text: &str) -> Option<u32> {
    const NEAR: usize = 40;
    let start = text.char_indices().take(NEAR).find(|(_, c)| c.is_ascii_digit())?.0;
    let digits = &text[start..];
    let end = digits.find(|c: char| !c.is_ascii_digit() && c != ',').unwrap_or(digits.len());
    digits[..end].replace(',', "").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::super::request::{EFFORT, SCHEMA, STREAM, STREAM_USAGE};
    use super::*;
    use rstest::rstest;

    const EXTRA: &[&str] = &["chat_template_kwargs", "top_k"];

    fn sent(limit_name: LimitName) -> Sent<'static> {
        Sent {
            limit: 64_000,
            limit_name,
            may_rename_limit: true,
            may_lower_limit: true,
            may_use_responses: true,
            temperature: true,
            parts: &[&EFFORT, &SCHEMA, &STREAM_USAGE, &STREAM],
            extra: EXTRA,
        }
    }

    #[rstest]
    #[case::newer_model(
        LimitName::Tokens,
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        Some(Adaptation::NameLimit(LimitName::CompletionTokens))
    )]
    #[case::older_server(
        LimitName::CompletionTokens,
        "Unrecognized request argument supplied: max_completion_tokens",
        Some(Adaptation::NameLimit(LimitName::Tokens))
    )]
    #[case::validation_list(LimitName::CompletionTokens,
        r#"[{"type":"extra_forbidden","loc":["body","max_completion_tokens"],"msg":"extra inputs are not permitted"}]"#,
        Some(Adaptation::NameLimit(LimitName::Tokens)))]
    #[case::missing_limit(
        LimitName::CompletionTokens,
        "max_tokens: field required",
        Some(Adaptation::NameLimit(LimitName::Tokens))
    )]
    #[case::temperature(
        LimitName::Tokens,
        "Unsupported value: 'temperature' does not support 0.7 with this model. Only the default (1) value is supported.",
        Some(Adaptation::LeaveOutTemperature)
    )]
    #[case::temperature_out_of_range(
        LimitName::Tokens,
        "temperature must be between 0 and 1",
        None
    )]
    #[case::too_large(
        LimitName::Tokens,
        "max_tokens is too large: 64000. This model supports at most 16384 completion tokens, whereas you provided 64000.",
        Some(Adaptation::LowerLimit(16_384))
    )]
    #[case::too_large_as_comparison(
        LimitName::Tokens,
        "max_tokens: 64000 > 8192, which is the maximum allowed number of output tokens",
        Some(Adaptation::LowerLimit(8_192))
    )]
    #[case::too_large_as_range(
        LimitName::Tokens,
        "Invalid max_tokens value, the valid range of max_tokens is [1, 8192]",
        Some(Adaptation::LowerLimit(8_192))
    )]
    #[case::too_large_with_commas(
        LimitName::CompletionTokens,
        "max_completion_tokens must be less than or equal to 32,768",
        Some(Adaptation::LowerLimit(32_768))
    )]
    #[case::context_length(
        LimitName::Tokens,
        "max_tokens is too large: 64000. This model's maximum context length is 4096 tokens and your request has 100 input tokens (64000 > 4096 - 100).",
        None
    )]
    #[case::too_small(LimitName::Tokens, "max_tokens must be >= 1", None)]
    #[case::unknown(LimitName::Tokens, "messages: at least one message is needed", None)]
    #[case::unknown_field_of_ours(LimitName::Tokens, "unknown field `messages`", None)]
    fn c42_a_refused_parameter_is_recognised(
        #[case] limit_name: LimitName,
        #[case] words: &str,
        #[case] expected: Option<Adaptation>,
    ) {
        assert_eq!(recognise(&Complaint::of(words), sent(limit_name)), expected);
    }

    #[rstest]
    #[case("extra_forbidden: chat_template_kwargs", "chat_template_kwargs")]
    #[case("Unknown parameter: 'top_k'.", "top_k")]
    #[case("property 'chat_template_kwargs' is unsupported", "chat_template_kwargs")]
    fn c43_a_refused_extra_field_is_left_out(#[case] words: &str, #[case] field: &str) {
        let expected = Some(Adaptation::LeaveOut(field.to_owned()));
        assert_eq!(recognise(&Complaint::of(words), sent(LimitName::Tokens)), expected);
    }

    #[rstest]
    #[case(
        "Unsupported parameter: 'reasoning.effort' is not supported with this model.",
        "reasoning effort"
    )]
    #[case("Unrecognized request argument supplied: reasoning_effort", "reasoning effort")]
    #[case("This response_format type is unavailable now", "JSON schema")]
    #[case("extra fields not permitted: stream_options", "stream_options")]
    #[case("streaming is not supported by this model", "stream")]
    fn c42_a_refused_part_is_left_out(#[case] words: &str, #[case] part: &str) {
        let expected = Some(Adaptation::LeaveOut(part.to_owned()));
        assert_eq!(recognise(&Complaint::of(words), sent(LimitName::Tokens)), expected);
    }

    #[rstest]
    #[case("This model is only supported in v1/responses and not in v1/chat/completions.", true)]
    #[case("The requested operation is unsupported: use the Responses API.", true)]
    #[case("This is not a chat model. Did you mean to use v1/completions?", false)]
    fn c42_a_model_that_only_the_responses_api_serves_is_told(
        #[case] words: &str,
        #[case] switches: bool,
    ) {
        let found = recognise(&Complaint::of(words), sent(LimitName::Tokens));
        assert_eq!(found == Some(Adaptation::UseResponses), switches);
        let responses = Sent { may_use_responses: false, ..sent(LimitName::OutputTokens) };
        assert_ne!(recognise(&Complaint::of(words), responses), Some(Adaptation::UseResponses));
    }

    #[test]
    fn c42_nothing_is_changed_that_was_not_sent() {
        let bare = Sent {
            may_rename_limit: false,
            may_lower_limit: false,
            may_use_responses: false,
            temperature: false,
            parts: &[],
            extra: &[],
            ..sent(LimitName::Tokens)
        };
        for words in [
            "unsupported parameter: max_tokens",
            "unsupported parameter: temperature",
            "unknown parameter: top_k",
            "max_tokens: at most 16384",
        ] {
            assert_eq!(recognise(&Complaint::of(words), bare), None, "{words}");
        }
    }
}
