//! What is gathered from a program's output, whichever dialect it speaks. Bounded; decides nothing.

use serde_json::Value;
use skillopt_domain::spend::Usage;
use skillopt_engine::ports::AgentStep;

/// What a program said so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Heard {
    /// The answer, as far as it is known: each complete message of the model takes the place of the one before.
    pub(super) answer: String,
    /// It says that it failed, in its words.
    pub(super) error: Option<String>,
    /// It says that it is done.
    pub(super) is_done: bool,
    /// The reply was cut at a limit.
    pub(super) is_cut: bool,
    /// The model declined.
    pub(super) is_refused: bool,
    /// Tokens, where told.
    pub(super) usage: Option<Usage>,
    /// Money in millionths of a dollar, where told.
    pub(super) cost_usd_micros: Option<u64>,
    /// What it did on the way.
    pub(super) steps: Steps,
    /// Stand-ins that were called, in order.
    pub(super) called: Vec<String>,
    /// The first line that is no event.
    pub(super) noise: String,
    /// Events that were understood as such.
    pub(super) n_events: usize,
}

impl Heard {
    /// A complete message of the model. What it said before was a thought on the way.
    pub(super) fn say(&mut self, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        let before = std::mem::replace(&mut self.answer, text.to_owned());
        if !before.is_empty() {
            self.steps.push("message", &before);
        }
    }

    /// The model turns to a tool: what it said before was no answer yet.
    pub(super) fn turn_to_tool(&mut self) {
        let before = std::mem::take(&mut self.answer);
        if !before.is_empty() {
            self.steps.push("message", &before);
        }
    }

    pub(super) fn add_usage(&mut self, usage: Usage) {
        let mut total = self.usage.unwrap_or_default();
        total += usage;
        self.usage = Some(total);
    }

    /// Dollars, as programs tell them.
    pub(super) fn add_cost(&mut self, dollars: f64) {
        if dollars.is_finite() && (0.0..1e6).contains(&dollars) {
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "checked above to lie between 0 and 1e12"
            )]
            let micros = (dollars * 1e6).ceil() as u64;
            self.cost_usd_micros = Some(self.cost_usd_micros.unwrap_or_default() + micros);
        }
    }
}

/// Most steps that are kept; what comes later is counted.
const MOST_STEPS: usize = 200;
/// Most characters of what a step did.
const MOST_TEXT: usize = 2000;
/// Most characters of what came of it.
const MOST_RESULT: usize = 2000;

/// What an agent did, in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Steps {
    kept: Vec<AgentStep>,
    /// For each kept step, the call whose result is still to come.
    calls: Vec<String>,
    n_more: usize,
}

impl Steps {
    pub(super) fn push(&mut self, kind: &str, text: &str) {
        self.push_call(kind, text, "");
    }

    /// A step whose result comes later, under the name of its call.
    pub(super) fn push_call(&mut self, kind: &str, text: &str, call: &str) {
        if self.kept.len() >= MOST_STEPS {
            self.n_more += 1;
            return;
        }
        let text = cut(text, MOST_TEXT);
        self.kept.push(AgentStep { kind: kind.to_owned(), text, result: String::new() });
        self.calls.push(call.to_owned());
    }

    /// What came of a call.
    pub(super) fn result(&mut self, call: &str, result: &str) {
        let at = self.calls.iter().rposition(|known| !call.is_empty() && known == call);
        if let Some(at) = at {
            self.kept[at].result = cut(result, MOST_RESULT);
            self.calls[at].clear();
        }
    }

    /// All that was kept, with a word about what was not.
    pub(super) fn take(self) -> Vec<AgentStep> {
        let mut steps = self.kept;
        if self.n_more > 0 {
            let text = format!("{} more steps were not kept", self.n_more);
            steps.push(AgentStep { kind: "note".to_owned(), text, result: String::new() });
        }
        steps
    }
}

/// At most so many characters, from both ends.
fn cut(text: &str, most: usize) -> String {
    let text = text.trim();
    let n = text.chars().count();
    if n <= most {
        return text.to_owned();
    }
    let half = most / 2;
    let start: String = text.chars().take(half).collect();
    let end: String = text.chars().skip(n - half).collect();
    format!("{start} […{} characters…] {end}", n - 2 * half)
}

/// A field of an event as text, by its path; empty when it is not there.
pub(super) fn text<'a>(event: &'a Value, path: &str) -> &'a str {
    event.pointer(path).and_then(Value::as_str).unwrap_or_default()
}

/// A count in an event.
pub(super) fn count(event: &Value, path: &str) -> Option<u64> {
    event.pointer(path).and_then(Value::as_u64)
}

/// What a tool was given or gave back, for people: the one text that matters where it is known, else the JSON.
pub(super) fn gist(value: Option<&Value>) -> String {
    let Some(value) = value else { return String::new() };
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(parts) if parts.iter().all(|part| part.get("text").is_some()) => {
            parts.iter().map(|part| text(part, "/text")).collect::<Vec<_>>().join("\n")
        }
        Value::Object(fields) => {
            const TELLING: [&str; 9] = [
                "command",
                "file_path",
                "filePath",
                "path",
                "pattern",
                "query",
                "url",
                "content",
                "output",
            ];
            let known = TELLING.iter().find_map(|name| fields.get(*name));
            known
                .filter(|known| !known.is_object())
                .map_or_else(|| value.to_string(), |known| gist(Some(known)))
        }
        other => other.to_string(),
    }
}
