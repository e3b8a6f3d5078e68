//! Why no answer came, and what was paid for it.

use serde::{Deserialize, Serialize};
use skillopt_domain::spend::{Spend, Usage};

/// Why no answer came. The adapter has retried already what is worth a retry.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind}: {message}")]
pub struct ModelError {
    /// What kind of failure.
    pub kind: ModelErrorKind,
    /// The provider's words, shortened; never a secret.
    pub message: String,
    /// Attempts that were made.
    pub attempts: u32,
    /// What the provider took for answers that could not be used.
    pub billed: Billed,
}

/// Answers that were paid for and could not be used, such as reasoning without an answer, and programs that were started
/// and failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Billed {
    /// Such answers.
    pub answers: u32,
    /// Of these, those whose tokens nobody told. Small, so that the errors that carry this stay so.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unmetered: u16,
    /// Their tokens, where told.
    pub usage: Usage,
    /// Their cost in millionths of a dollar; `None` when the cost of any is not known.
    pub cost_usd_micros: Option<u64>,
    /// The same call may well be answered when it is made, and paid for, once more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub worth_another: bool,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
fn is_zero(n: &u16) -> bool {
    *n == 0
}

impl Billed {
    /// Counts one more answer: its tokens and its cost, each as far as it is known.
    pub fn add(&mut self, usage: Option<Usage>, cost_usd_micros: Option<u64>) {
        let cost = if self.answers == 0 { Some(0) } else { self.cost_usd_micros };
        self.cost_usd_micros = cost.zip(cost_usd_micros).map(|(before, more)| before + more);
        self.answers += 1;
        self.unmetered += u16::from(usage.is_none());
        self.usage += usage.unwrap_or_default();
    }

    /// Counts the answers of another failure as well; the money is known while that of all answers is.
    pub fn add_all(&mut self, other: &Self) {
        if other.answers == 0 {
            return;
        }
        let cost = if self.answers == 0 { Some(0) } else { self.cost_usd_micros };
        self.cost_usd_micros = cost.zip(other.cost_usd_micros).map(|(one, more)| one + more);
        self.answers += other.answers;
        self.unmetered = self.unmetered.saturating_add(other.unmetered);
        self.usage += other.usage;
    }

    /// Adds it to what a role spent.
    pub fn add_to(&self, spend: &mut Spend, attempts: u64) {
        let answers = self.answers.into();
        spend.add_failure(attempts, answers, self.usage, self.cost_usd_micros);
        spend.unmetered_calls += u64::from(self.unmetered);
    }
}

/// Kinds of failure, by what has to happen next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelErrorKind {
    /// 401 or 403: the key is wrong. Ends the run.
    Authentication,
    /// The quota or the balance is used up, or a longer wait is asked for than allowed. Ends the run resumably.
    QuotaExhausted,
    /// 400 or 404: the request can never work. Ends the run unless the role has answered before.
    BadRequest,
    /// Too many requests, even after all retries.
    RateLimited,
    /// No answer in time, even after all retries.
    Timeout,
    /// The connection failed, even after all retries.
    Connection,
    /// 5xx, or an answer that is not the API's.
    Server,
    /// An empty reply.
    Empty,
    /// Reasoning without an answer.
    ReasoningOnly,
    /// The run was cancelled while waiting.
    Cancelled,
    /// A recording has no such call. Ends the run.
    NotRecorded,
    /// The question waits for somebody to answer it. Other questions can be asked meanwhile.
    Pending,
}

impl ModelErrorKind {
    /// The stable word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Authentication => "authentication",
            Self::QuotaExhausted => "quota_exhausted",
            Self::BadRequest => "bad_request",
            Self::RateLimited => "rate_limited",
            Self::Timeout => "timeout",
            Self::Connection => "connection",
            Self::Server => "server",
            Self::Empty => "empty",
            Self::ReasoningOnly => "reasoning_only",
            Self::Cancelled => "cancelled",
            Self::NotRecorded => "not_recorded",
            Self::Pending => "pending",
        }
    }

    /// No further call of the role can succeed. A bad request says so only while the role has never
    /// answered: later it is the fault of one request, such as a task that is too long for the model.
    #[must_use]
    pub fn is_fatal(self, has_answered: bool) -> bool {
        match self {
            Self::Authentication | Self::QuotaExhausted | Self::NotRecorded => true,
            Self::BadRequest => !has_answered,
            _ => false,
        }
    }
}

impl std::fmt::Display for ModelErrorKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}
