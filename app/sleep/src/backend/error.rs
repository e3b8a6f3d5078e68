//! Why a backend gave no answer, and whether that ends the night.

use super::SleepRole;
use skillopt_engine::meter::{Cap, CapReached};

/// Why nothing came.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BackendError {
    /// The night was cancelled.
    #[error("the night was cancelled")]
    Cancelled,
    /// A budget of the night is used up.
    #[error("a budget of the night is used up: {}", budget_words(.0))]
    Budget(CapReached),
    /// No further call of the role can succeed.
    #[error("the {role} cannot be called: {message}")]
    Fatal {
        /// Who.
        role: SleepRole,
        /// The other side's words.
        message: String,
    },
    /// This call failed; others may succeed.
    #[error("{code}: {message}")]
    Failed {
        /// A stable word, such as `timeout`.
        code: String,
        /// The other side's words.
        message: String,
    },
    /// Somebody has to answer the question first.
    #[error("a question waits for an answer")]
    Pending,
    /// An answer came that is none, even after asking again.
    #[error("unusable reply: {0}")]
    Unusable(String),
    /// This backend has no such ability.
    #[error("{0}")]
    Unsupported(&'static str),
    /// The ledger failed.
    #[error("the ledger failed: {0}")]
    Ledger(String),
}

fn budget_words(reached: &CapReached) -> String {
    let unit = match reached.cap {
        Cap::Calls => "calls",
        Cap::Tokens => "tokens",
        Cap::Cost => "millionths of a dollar",
        Cap::Time => "milliseconds",
    };
    let CapReached { limit, spent, next_call, .. } = reached;
    format!("{spent} of {limit} {unit} are spent, and the next call could take {next_call}")
}

impl BackendError {
    /// The night cannot go on: it is no result about one task.
    #[must_use]
    pub fn ends_night(&self) -> bool {
        match self {
            Self::Cancelled
            | Self::Budget(_)
            | Self::Fatal { .. }
            | Self::Pending
            | Self::Ledger(_) => true,
            Self::Failed { .. } | Self::Unusable(_) | Self::Unsupported(_) => false,
        }
    }

    /// The stable word for evidence and outcomes.
    #[must_use]
    pub fn code(&self) -> &str {
        match self {
            Self::Cancelled => "cancelled",
            Self::Budget(_) => "budget",
            Self::Fatal { .. } => "fatal",
            Self::Failed { code, .. } => code,
            Self::Pending => "pending",
            Self::Unusable(_) => "unusable",
            Self::Unsupported(_) => "unsupported",
            Self::Ledger(_) => "ledger",
        }
    }
}
