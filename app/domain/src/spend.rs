//! What model calls cost: calls, tokens and money by role. Unknown is counted, never taken for zero.

use crate::json::from_fields;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::{Add, AddAssign};

/// Who is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Role {
    /// Performs tasks with the skill.
    Target,
    /// Reflects and proposes edits.
    Optimizer,
}

impl Role {
    /// Both roles.
    pub const ALL: [Self; 2] = [Self::Target, Self::Optimizer];

    /// The stable word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Target => "target",
            Self::Optimizer => "optimizer",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Tokens of one reply, as the provider reports them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Usage {
    /// Tokens read.
    pub prompt_tokens: u64,
    /// Tokens written.
    pub completion_tokens: u64,
    /// Of the tokens read, those that the provider had cached; `None` when it does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_prompt_tokens: Option<u64>,
    /// Of the tokens written, those of reasoning; `None` when the provider does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning_tokens: Option<u64>,
    /// Of the tokens read, those that the provider put into its cache and may charge more for; `None` when it does not
    /// say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write_tokens: Option<u64>,
}

impl Usage {
    /// Tokens read and written, with nothing known about caches and reasoning.
    #[must_use]
    pub fn new(prompt_tokens: u64, completion_tokens: u64) -> Self {
        Self { prompt_tokens, completion_tokens, ..Self::default() }
    }
}

impl AddAssign for Usage {
    /// A part that only one side knows counts as far as it is known.
    fn add_assign(&mut self, other: Self) {
        self.prompt_tokens += other.prompt_tokens;
        self.completion_tokens += other.completion_tokens;
        self.cached_prompt_tokens = sum(self.cached_prompt_tokens, other.cached_prompt_tokens);
        self.reasoning_tokens = sum(self.reasoning_tokens, other.reasoning_tokens);
        self.cache_write_tokens = sum(self.cache_write_tokens, other.cache_write_tokens);
    }
}

/// What is told together; `None` when nothing is.
fn sum(left: Option<u64>, right: Option<u64>) -> Option<u64> {
    match (left, right) {
        (None, None) => None,
        _ => Some(left.unwrap_or_default() + right.unwrap_or_default()),
    }
}

/// Totals over calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Spend {
    /// Calls that reached a model and were answered.
    pub calls: u64,
    /// Calls answered by the ledger, at no cost.
    pub cached: u64,
    /// Attempts that failed and were retried or given up.
    pub failed_attempts: u64,
    /// Tokens read, where reported.
    pub prompt_tokens: u64,
    /// Tokens written, where reported.
    pub completion_tokens: u64,
    /// Of the tokens read, those that the provider had cached; `None` while none says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_prompt_tokens: Option<u64>,
    /// Of the tokens written, those of reasoning; `None` while none says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning_tokens: Option<u64>,
    /// Calls whose provider did not report tokens.
    pub unmetered_calls: u64,
    /// Money in millionths of a US dollar, for calls with a known price.
    pub cost_usd_micros: u64,
    /// Calls without a known price: their cost is unknown, not zero.
    pub unpriced_calls: u64,
}

from_fields! { Spend {
    calls, cached, failed_attempts, prompt_tokens, completion_tokens, cached_prompt_tokens,
    reasoning_tokens, unmetered_calls, cost_usd_micros, unpriced_calls
} }

impl Spend {
    /// All tokens, where reported.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        self.prompt_tokens + self.completion_tokens
    }

    /// Adds the tokens of a reply.
    pub fn add_usage(&mut self, usage: Usage) {
        self.prompt_tokens += usage.prompt_tokens;
        self.completion_tokens += usage.completion_tokens;
        self.cached_prompt_tokens = sum(self.cached_prompt_tokens, usage.cached_prompt_tokens);
        self.reasoning_tokens = sum(self.reasoning_tokens, usage.reasoning_tokens);
    }

    /// Adds a call that brought no answer that can be used, with what was taken for it all the same.
    pub fn add_failure(&mut self, attempts: u64, answers: u64, usage: Usage, cost: Option<u64>) {
        self.calls += answers;
        self.failed_attempts += attempts;
        self.add_usage(usage);
        self.cost_usd_micros += cost.unwrap_or_default();
        if cost.is_none() {
            self.unpriced_calls += answers;
        }
    }

    /// Number by number the larger one: of two accounts of the same calls each may lack some.
    #[must_use]
    fn at_least(self, other: Self) -> Self {
        Self {
            calls: self.calls.max(other.calls),
            cached: self.cached.max(other.cached),
            failed_attempts: self.failed_attempts.max(other.failed_attempts),
            prompt_tokens: self.prompt_tokens.max(other.prompt_tokens),
            completion_tokens: self.completion_tokens.max(other.completion_tokens),
            cached_prompt_tokens: self.cached_prompt_tokens.max(other.cached_prompt_tokens),
            reasoning_tokens: self.reasoning_tokens.max(other.reasoning_tokens),
            unmetered_calls: self.unmetered_calls.max(other.unmetered_calls),
            cost_usd_micros: self.cost_usd_micros.max(other.cost_usd_micros),
            unpriced_calls: self.unpriced_calls.max(other.unpriced_calls),
        }
    }

    /// Money in millionths of a US dollar; `None` while any call has no known price.
    #[must_use]
    pub fn known_cost_usd_micros(&self) -> Option<u64> {
        (self.unpriced_calls == 0).then_some(self.cost_usd_micros)
    }
}

impl Add for Spend {
    type Output = Self;
    fn add(mut self, other: Self) -> Self {
        self += other;
        self
    }
}

impl AddAssign for Spend {
    fn add_assign(&mut self, other: Self) {
        self.calls += other.calls;
        self.cached += other.cached;
        self.failed_attempts += other.failed_attempts;
        self.prompt_tokens += other.prompt_tokens;
        self.completion_tokens += other.completion_tokens;
        self.cached_prompt_tokens = sum(self.cached_prompt_tokens, other.cached_prompt_tokens);
        self.reasoning_tokens = sum(self.reasoning_tokens, other.reasoning_tokens);
        self.unmetered_calls += other.unmetered_calls;
        self.cost_usd_micros += other.cost_usd_micros;
        self.unpriced_calls += other.unpriced_calls;
    }
}

/// Time and spend of a piece of work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Spent {
    /// Wall time in milliseconds.
    pub wall_ms: u64,
    /// Calls, tokens, money.
    pub spend: SpendByRole,
}

from_fields! { Spent { wall_ms, spend } }

/// Totals of both roles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SpendByRole {
    /// Calls of the target.
    pub target: Spend,
    /// Calls of the optimizer.
    pub optimizer: Spend,
}

from_fields! { SpendByRole { target, optimizer } }

impl SpendByRole {
    /// The totals of one role.
    #[must_use]
    pub fn of(&self, role: Role) -> Spend {
        match role {
            Role::Target => self.target,
            Role::Optimizer => self.optimizer,
        }
    }

    /// The totals of one role, to be changed.
    pub fn of_mut(&mut self, role: Role) -> &mut Spend {
        match role {
            Role::Target => &mut self.target,
            Role::Optimizer => &mut self.optimizer,
        }
    }

    /// Both roles together.
    #[must_use]
    pub fn total(&self) -> Spend {
        self.target + self.optimizer
    }

    /// Number by number the larger one: of two accounts of the same calls each may lack some.
    #[must_use]
    pub fn at_least(self, other: Self) -> Self {
        Self {
            target: self.target.at_least(other.target),
            optimizer: self.optimizer.at_least(other.optimizer),
        }
    }

    /// What was spent since `earlier`, a former state of the same totals.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            target: difference(self.target, earlier.target),
            optimizer: difference(self.optimizer, earlier.optimizer),
        }
    }
}

impl AddAssign for SpendByRole {
    fn add_assign(&mut self, other: Self) {
        self.target += other.target;
        self.optimizer += other.optimizer;
    }
}

fn difference(now: Spend, before: Spend) -> Spend {
    let rest = |now: Option<u64>, before: Option<u64>| {
        now.map(|now| now.saturating_sub(before.unwrap_or_default()))
    };
    Spend {
        cached_prompt_tokens: rest(now.cached_prompt_tokens, before.cached_prompt_tokens),
        reasoning_tokens: rest(now.reasoning_tokens, before.reasoning_tokens),
        calls: now.calls.saturating_sub(before.calls),
        cached: now.cached.saturating_sub(before.cached),
        failed_attempts: now.failed_attempts.saturating_sub(before.failed_attempts),
        prompt_tokens: now.prompt_tokens.saturating_sub(before.prompt_tokens),
        completion_tokens: now.completion_tokens.saturating_sub(before.completion_tokens),
        unmetered_calls: now.unmetered_calls.saturating_sub(before.unmetered_calls),
        cost_usd_micros: now.cost_usd_micros.saturating_sub(before.cost_usd_micros),
        unpriced_calls: now.unpriced_calls.saturating_sub(before.unpriced_calls),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c47_one_unpriced_call_makes_the_cost_unknown() {
        let mut spend = Spend { calls: 1, cost_usd_micros: 500, ..Spend::default() };
        assert_eq!(spend.known_cost_usd_micros(), Some(500));
        spend += Spend { calls: 1, unpriced_calls: 1, ..Spend::default() };
        assert_eq!(spend.known_cost_usd_micros(), None);
    }

    #[test]
    fn cached_and_reasoning_tokens_are_unknown_until_one_reply_tells_them() {
        let mut spend = Spend::default();
        spend.add_usage(Usage::new(100, 10));
        assert_eq!((spend.cached_prompt_tokens, spend.reasoning_tokens), (None, None));
        spend.add_usage(Usage { cached_prompt_tokens: Some(0), ..Usage::new(100, 10) });
        spend.add_usage(Usage { reasoning_tokens: Some(7), ..Usage::new(100, 10) });
        assert_eq!((spend.cached_prompt_tokens, spend.reasoning_tokens), (Some(0), Some(7)));
        assert_eq!(spend.tokens(), 330, "they are parts of the others, not more of them");
        let before = SpendByRole { target: spend, ..SpendByRole::default() };
        let mut after = before;
        after.target.add_usage(Usage { reasoning_tokens: Some(3), ..Usage::new(1, 3) });
        let since = after.since(&before).target;
        assert_eq!((since.reasoning_tokens, since.cached_prompt_tokens), (Some(3), Some(0)));
        assert_eq!(after.since(&after).optimizer, Spend::default());
    }

    #[test]
    fn totals_of_older_runs_read_as_unknown() {
        let old = r#"{"calls":1,"cached":0,"failed_attempts":0,"prompt_tokens":5,"completion_tokens":6,
            "unmetered_calls":0,"cost_usd_micros":0,"unpriced_calls":0}"#;
        let spend: Spend = crate::json::from_str(old).expect("readable");
        assert_eq!((spend.cached_prompt_tokens, spend.reasoning_tokens), (None, None));
        assert!(!serde_json::to_string(&spend).expect("JSON").contains("reasoning"));
    }
}
