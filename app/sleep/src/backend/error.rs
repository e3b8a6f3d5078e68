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
    #[error("it goes on when all prompts are answered")]
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
    let key = match reached.cap {
        Cap::Calls => "the most calls of a night",
        Cap::Tokens => "max_tokens_per_night",
        Cap::Cost => "max_cost_usd_per_night",
        Cap::Time => "max_minutes_per_night",
    };
    let amount = |n: u64| match reached.cap {
        Cap::Calls => format!("{n} calls"),
        Cap::Tokens => format!("{n} tokens"),
        Cap::Cost => format!("${}.{:06}", n / 1_000_000, n % 1_000_000),
        Cap::Time => format!("{}.{} s", n / 1000, n % 1000 / 100),
    };
    let CapReached { limit, spent, next_call, .. } = reached;
    format!(
        "{} of {} are spent, and the next call could take {} ({key}); with more the night goes on from here, since what \
         is paid for is kept",
        amount(*spent),
        amount(*limit),
        amount(*next_call)
    )
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

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case(Cap::Tokens, "900 tokens of 1000 tokens are spent", "(max_tokens_per_night)")]
    #[case(Cap::Cost, "$0.000900 of $0.001000 are spent", "(max_cost_usd_per_night)")]
    #[case(Cap::Time, "0.9 s of 1.0 s are spent", "(max_minutes_per_night)")]
    #[case(Cap::Calls, "900 calls of 1000 calls are spent", "(the most calls of a night)")]
    fn f51_a_cap_says_how_much_of_what_is_spent_and_which_key_it_is(
        #[case] cap: Cap,
        #[case] spent: &str,
        #[case] key: &str,
    ) {
        let reached = CapReached { cap, limit: 1000, spent: 900, next_call: 200 };
        let words = BackendError::Budget(reached).to_string();
        assert!(words.contains(spent) && words.contains(key), "{words}");
    }
}
