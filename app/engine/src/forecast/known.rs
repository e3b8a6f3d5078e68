//! What is known of a role's model before the run: earlier calls where there are any, else stated assumptions.

use crate::ports::Purpose;
use crate::trajectory::weight;
use skillopt_domain::config::{BackendKind, ModelRole};
use skillopt_domain::forecast::Estimate;
use skillopt_domain::price::Price;
use skillopt_domain::spend::Role;

/// What earlier calls showed, by role.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Known {
    /// Calls of the target's model.
    pub target: CallHistory,
    /// Calls of the optimizer's model.
    pub optimizer: CallHistory,
}

impl Known {
    /// One role, to be filled in.
    pub fn of_mut(&mut self, role: Role) -> &mut CallHistory {
        match role {
            Role::Target => &mut self.target,
            Role::Optimizer => &mut self.optimizer,
        }
    }
}

/// What earlier calls of one model in one role showed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CallHistory {
    /// Calls that were looked at.
    pub n: u32,
    /// Bytes of a prompt for each token; `None` when no tokens were reported.
    pub bytes_per_token: Option<f64>,
    /// Time of a call in milliseconds: the quick ones, the mean, the slow ones. `None` when nothing was measured.
    pub latency_ms: Option<[f64; 3]>,
    /// Lengths of replies by what was asked.
    pub replies: Vec<ReplyLength>,
}

/// How long replies are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReplyLength {
    /// What was asked.
    pub purpose: Purpose,
    /// Replies with reported tokens.
    pub n: u32,
    /// Tokens in the mean.
    pub mean_tokens: f64,
}

/// Fewer replies than this say nothing.
const FEW_REPLIES: u32 = 5;

/// One role's model as the forecast sees it.
#[derive(Debug)]
pub(super) struct RoleModel<'a> {
    role: Role,
    settings: &'a ModelRole,
    history: &'a CallHistory,
    price: Option<Price>,
    /// Calls at once.
    pub(super) workers: f64,
}

impl<'a> RoleModel<'a> {
    pub(super) fn new(
        role: Role,
        settings: &'a ModelRole,
        history: &'a CallHistory,
        workers: u32,
    ) -> Self {
        let price = match settings.is_simulated() {
            true => Price::new(Some(0.0), None, Some(0.0)),
            false => settings.price(),
        };
        Self { role, settings, history, price, workers: f64::from(workers.max(1)) }
    }

    /// Tokens of a text.
    pub(super) fn tokens(&self, text: &str) -> f64 {
        match self.bytes_per_token() {
            Some(bytes) => count(text.len()) / bytes,
            None => count(weight(text)) / 4.0,
        }
    }

    /// Tokens of a text of this weight, as [`weight`] counts.
    pub(super) fn tokens_of_weight(&self, weight: usize) -> f64 {
        count(weight) / self.bytes_per_token().unwrap_or(4.0)
    }

    fn bytes_per_token(&self) -> Option<f64> {
        let told = self.history.bytes_per_token.filter(|_| !self.settings.is_simulated());
        told.filter(|bytes| *bytes > 0.5)
    }

    /// Tokens of a reply, which holds `items` where it holds items.
    pub(super) fn reply(&self, purpose: Purpose, items: f64) -> f64 {
        let most = f64::from(self.settings.max_tokens);
        let told = self.told(purpose).map(|told| told.mean_tokens);
        told.unwrap_or_else(|| self.assumed(purpose, items)).min(most)
    }

    fn told(&self, purpose: Purpose) -> Option<&ReplyLength> {
        let is_one = |told: &&ReplyLength| told.purpose == purpose && told.n >= FEW_REPLIES;
        self.history.replies.iter().filter(|_| !self.settings.is_simulated()).find(is_one)
    }

    fn assumed(&self, purpose: Purpose, items: f64) -> f64 {
        let (head, item) = match (purpose, self.settings.backend == BackendKind::Mock) {
            (Purpose::Preflight, _) => (1.0, 0.0),
            (Purpose::Qa, true) => (30.0, 0.0),
            (Purpose::Qa, false) => (150.0, 0.0),
            (_, true) => (50.0, 60.0),
            (Purpose::Ranking | Purpose::LrControl, false) => (180.0, 0.0),
            (Purpose::SlowUpdate | Purpose::MetaSkill, false) => (400.0, 0.0),
            (_, false) => (200.0, 90.0),
        };
        items.mul_add(item, head)
    }

    /// Time of a call in milliseconds: at best, likely, at worst.
    pub(super) fn latency_ms(&self, purpose: Purpose) -> [f64; 3] {
        match self.settings.backend {
            BackendKind::Mock => {
                let mean = count(usize::try_from(self.settings.mock_latency_ms).unwrap_or(0));
                [mean * 0.8, mean + 4.0, mean.mul_add(1.3, 15.0)]
            }
            BackendKind::Replay => [0.2, 2.0, 10.0],
            _ => self.history.latency_ms.unwrap_or_else(|| {
                let likely =
                    self.reply(purpose, 2.0).mul_add(1000.0 / ASSUMED_TOKENS_A_SECOND, 1000.0);
                [likely / 4.0, likely, likely * 4.0]
            }),
        }
    }

    /// What so many tokens cost; `None` without a price.
    pub(super) fn cost(&self, read: Estimate, written: Estimate) -> Option<Estimate> {
        let price = self.price?;
        let cost = |read, written| price.plain_usd_micros(read, written);
        Some(Estimate {
            low: cost(read.low, written.low),
            likely: cost(read.likely, written.likely),
            high: cost(read.high, written.high),
        })
    }

    /// How far the counted tokens of prompts may be off.
    pub(super) fn prompt_doubt(&self) -> f64 {
        match (self.settings.is_simulated(), self.bytes_per_token().is_some()) {
            (true, _) => 1.0,
            (false, true) => 1.1,
            (false, false) => 1.3,
        }
    }

    /// How far the lengths of replies may be off.
    pub(super) fn reply_doubt(&self) -> f64 {
        match (self.settings.backend, self.told(Purpose::Qa).or(self.told(Purpose::AnalystFailure)))
        {
            (BackendKind::Mock | BackendKind::Replay, _) | (_, Some(_)) => 1.4,
            (_, None) => 3.0,
        }
    }

    /// What the numbers rest on.
    pub(super) fn assumptions(&self) -> Vec<String> {
        let (role, model) = (self.role, &self.settings.model);
        match self.settings.backend {
            BackendKind::Mock => {
                let latency = self.settings.mock_latency_ms;
                return vec![format!(
                    "the {role} is simulated: free, {latency} ms a call, replies of known length"
                )];
            }
            BackendKind::Replay => {
                return vec![format!("the {role} is a recording: free, at once")];
            }
            _ => {}
        }
        let n = self.history.n;
        let mut all = Vec::new();
        all.push(match self.bytes_per_token() {
            Some(bytes) => format!(
                "{role}: a token of {model} is {bytes:.1} bytes of a prompt, from {n} earlier calls"
            ),
            None => format!(
                "{role}: a token is taken for 4 bytes of a prompt, which may be off by 30 %"
            ),
        });
        let told: Vec<String> = self
            .history
            .replies
            .iter()
            .filter(|told| told.n >= FEW_REPLIES)
            .map(|told| {
                format!("{:.0} for {} (n {})", told.mean_tokens, told.purpose.as_str(), told.n)
            })
            .collect();
        all.push(if told.is_empty() {
            let reply = self.assumed(if self.role == Role::Target { Purpose::Qa } else { Purpose::AnalystFailure }, 2.0);
            format!("{role}: no reply of {model} was seen yet; {reply:.0} tokens are assumed, a third to three times of it")
        } else {
            format!("{role}: tokens of replies of {model}, from earlier calls: {}", told.join(", "))
        });
        all.push(match self.history.latency_ms {
            Some([low, mean, high]) => format!(
                "{role}: a call takes {:.1} s ({:.1} to {:.1}), from {n} earlier calls", mean / 1e3, low / 1e3, high / 1e3
            ),
            None => format!("{role}: no call was timed yet; 1 s and {ASSUMED_TOKENS_A_SECOND:.0} tokens a second are assumed"),
        });
        if self.price.is_none() {
            all.push(format!("{role}: no price of {model} is known, so that the cost is not"));
        }
        all
    }
}

const ASSUMED_TOKENS_A_SECOND: f64 = 60.0;

/// A number of things for arithmetic with shares.
pub(super) fn count(n: usize) -> f64 {
    f64::from(u32::try_from(n).unwrap_or(u32::MAX))
}
