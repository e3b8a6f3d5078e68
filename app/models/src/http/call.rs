//! One call: attempts until there is an answer, or no further attempt is worth it.

use super::HttpModel;
use super::adapt::recognise;
use super::dialect::Completion;
use super::error_body::shorten;
use super::failure::{Again, Failure};
use super::request::Body;
use crate::limiter::{GaveUp, Patience, Permit};
use crate::retry::{backoff, retries_of, spread};
use skillopt_domain::spend::Usage;
use skillopt_engine::ports::{
    Billed, ChatReply, ChatRequest, Finish, ModelError, ModelErrorKind, Purpose,
};
use std::time::{Duration, Instant};

/// An endpoint that answers others may refuse a call so often, whatever `model.max_retries` says.
const MOST_ATTEMPTS: u32 = 100;
const MOST_MESSAGE_CHARS: usize = 300;

/// The state of a call between its attempts.
#[derive(Debug)]
pub(crate) struct Call<'a> {
    model: &'a HttpModel,
    request: &'a ChatRequest,
    attempts: u32,
    failures: u32,
    /// Answers of the endpoint when the last attempt failed; at first, when the first one began.
    answers_before: u64,
    /// Tokens of attempts that were counted but brought no answer.
    billed: Usage,
    /// Such attempts.
    billed_answers: u32,
    /// Time that counts against `model.total_timeout_seconds`: attempts, and waits that the endpoint is the reason
    /// of. The wait for a place is not one: others are answered meanwhile.
    spent: Duration,
}

enum Next {
    Attempt { after: Duration },
    Reply(ChatReply),
    GiveUp(ModelError),
}

impl<'a> Call<'a> {
    pub(crate) fn new(model: &'a HttpModel, request: &'a ChatRequest) -> Self {
        let billed = Usage::default();
        Self {
            model,
            request,
            attempts: 0,
            failures: 0,
            answers_before: 0,
            billed,
            billed_answers: 0,
            spent: Duration::ZERO,
        }
    }

    /// Runs to the end. May be dropped between attempts or within one; then nothing is kept.
    pub(crate) async fn run(&mut self) -> Result<ChatReply, ModelError> {
        loop {
            match self.attempt().await {
                Next::Reply(reply) => return Ok(reply),
                Next::GiveUp(error) => return Err(error),
                Next::Attempt { after } if after.is_zero() => {}
                Next::Attempt { after } => {
                    self.spent += after;
                    self.model.endpoints.timer().sleep(after).await;
                }
            }
        }
    }

    /// The error of a call that is not to go on.
    pub(crate) fn cancelled(&self) -> ModelError {
        self.error(ModelErrorKind::Cancelled, "the run was cancelled")
    }

    async fn attempt(&mut self) -> Next {
        let (model, request) = (self.model, self.request);
        let permit = match model.limiter.acquire(self.patience()).await {
            Ok(permit) => permit,
            Err(gave_up) => return Next::GiveUp(self.not_called(gave_up)),
        };
        self.spent += permit.waited();
        if self.attempts == 0 {
            self.answers_before = model.limiter.answers();
        }
        let learned = model.learned.snapshot();
        let body = Body::new(&model.policy, request, &learned);
        self.attempts += 1;
        let (start, began) = (Instant::now(), model.endpoints.timer().monotonic());
        let end = model.attempt(request, &body, self.left()).await;
        self.spent += model.endpoints.timer().monotonic().saturating_sub(began);
        match end {
            Ok(completion) => {
                permit.answered();
                Next::Reply(self.reply(completion, start.elapsed(), &body))
            }
            Err(failure) => {
                self.settle(permit, &failure);
                self.after(&failure, start.elapsed(), &body)
            }
        }
    }

    fn left(&self) -> Duration {
        self.model.total_timeout.saturating_sub(self.spent)
    }

    fn patience(&self) -> Patience {
        let outage = (!self.is_preflight()).then_some(self.model.total_timeout);
        Patience { left: self.left(), is_back: self.attempts > 0, outage }
    }

    fn is_preflight(&self) -> bool {
        self.request.purpose == Purpose::Preflight
    }

    /// Tells the limiter what the failure says about the endpoint.
    fn settle(&self, permit: Permit<'_>, failure: &Failure) {
        let wait = failure.again.named_wait();
        if failure.is_of_endpoint() {
            permit.failed(&self.safe(&failure.message), wait);
        } else if failure.is_one_too_many() {
            permit.refused(wait);
        } else if failure.kind != ModelErrorKind::Connection {
            permit.replied();
        }
    }

    /// The error of a call whose patience ended while the endpoint took none.
    fn not_called(&self, gave_up: GaveUp) -> ModelError {
        let (host, total) = (&self.model.address.host, self.model.total_timeout.as_secs_f64());
        let allowed = format!("a call may take {total} s in all (model.total_timeout_seconds)");
        match gave_up.down_for {
            Some(down_for) => {
                let seconds = down_for.as_secs();
                let last = self.model.limiter.last_outage_error();
                let message = format!("{host} has not answered for {seconds} s, {allowed}: {last}");
                self.error(ModelErrorKind::Connection, &message)
            }
            None => {
                let message = format!("{host} asks to wait for longer than that: {allowed}");
                self.error(ModelErrorKind::RateLimited, &message)
            }
        }
    }

    fn after(&mut self, failure: &Failure, latency: Duration, body: &Body<'_>) -> Next {
        if let Some(usage) = &failure.billed {
            self.billed_answers += 1;
            self.billed += **usage;
        }
        if self.is_preflight() && failure.kind == ModelErrorKind::ReasoningOnly {
            return Next::Reply(self.sign_of_life(failure, latency, body));
        }
        if self.adapt(failure, body) {
            return Next::Attempt { after: Duration::ZERO };
        }
        self.count_failure(failure);
        tracing::debug!(
            model = %self.model.policy.model,
            kind = failure.kind.as_str(),
            attempt = self.attempts,
            "model call failed"
        );
        if failure.kind != ModelErrorKind::RateLimited {
            let words = self.safe(&failure.message);
            self.model.limiter.note_error(failure.kind.as_str(), &words);
        }
        match self.wait_after(failure.again) {
            Some(after) if after < self.left() => Next::Attempt { after },
            Some(_) => {
                let (spent, total) = (self.spent, self.model.total_timeout.as_secs_f64());
                let message = format!(
                    "gave up after {} s, a call may take {total} s in all (model.total_timeout_seconds): {}",
                    spent.as_secs(),
                    failure.message
                );
                Next::GiveUp(self.error(failure.kind, &message))
            }
            None => {
                let mut error = self.error(failure.kind, &failure.message);
                error.billed.worth_another = failure.again == Again::Twice;
                Next::GiveUp(error)
            }
        }
    }

    /// Learns from a refused request; true when a changed one is worth an attempt.
    fn adapt(&self, failure: &Failure, body: &Body<'_>) -> bool {
        let Some(complaint) = &failure.complaint else { return false };
        let Some(adaptation) = recognise(complaint, body.sent()) else {
            return false;
        };
        tracing::info!(model = %self.model.policy.model, ?adaptation, "adapting to the provider");
        self.model.learned.add(adaptation);
        true
    }

    /// An endpoint that is busy with others refuses nothing for good: a refusal counts only if nobody was
    /// answered since the call's last failure, or since it began. And an outage is no fault of the call: while it
    /// lasts, only the time counts. Other failures of the endpoint may come from this very request.
    fn count_failure(&mut self, failure: &Failure) {
        let answers = self.model.limiter.answers();
        let others_got_through = answers != self.answers_before;
        self.answers_before = answers;
        let is_busy = failure.is_one_too_many() && others_got_through;
        let is_outage = failure.is_outage
            && self.model.limiter.is_down()
            && self.retries() > 0
            && !self.is_preflight();
        if !is_busy && !is_outage {
            self.failures += 1;
        }
    }

    fn retries(&self) -> u32 {
        retries_of(self.request.purpose, self.model.max_retries)
    }

    /// How long to wait for the next attempt; `None` when there is none. A wait that the provider named holds
    /// this call; whether it holds the endpoint is the limiter's to say.
    fn wait_after(&mut self, again: Again) -> Option<Duration> {
        if self.failures > self.retries() || self.attempts >= MOST_ATTEMPTS {
            return None;
        }
        let backoff = || backoff(self.failures.max(1), self.model.endpoints.jitter());
        match again {
            Again::Never => None,
            Again::After(wait) => Some(spread(wait, self.model.endpoints.jitter())),
            Again::Backoff => Some(backoff()),
            // It was answered and paid for: whether another one is asked for is for those to say who count the cost.
            Again::Twice => None,
        }
    }

    fn reply(&self, completion: Completion, latency: Duration, body: &Body<'_>) -> ChatReply {
        let usage = completion.usage.map(|mut usage| {
            usage += self.billed;
            usage
        });
        let cost =
            usage.zip(self.model.prices).and_then(|(usage, prices)| prices.cost_usd_micros(usage));
        ChatReply {
            text: self.model.mask_answer(completion.text),
            finish: completion.finish,
            usage,
            cost_usd_micros: cost,
            latency_ms: millis(latency),
            first_token_ms: completion.first_token.map(millis),
            attempts: self.attempts,
            adaptations: body.changes(),
            tool_calls: completion.tool_calls,
            ..ChatReply::default()
        }
    }

    /// A preflight asks whether address, key and model are right. A model that is still reasoning when its
    /// few tokens are used up has answered that.
    fn sign_of_life(&self, failure: &Failure, latency: Duration, body: &Body<'_>) -> ChatReply {
        let completion = Completion {
            finish: Finish::Length,
            usage: (self.billed != Usage::default()).then(Usage::default),
            first_token: failure.first_token,
            ..Completion::default()
        };
        self.reply(completion, latency, body)
    }

    fn error(&self, kind: ModelErrorKind, message: &str) -> ModelError {
        let message = self.safe(message);
        let prices = self.model.prices;
        let billed = Billed {
            answers: self.billed_answers,
            unmetered: 0,
            usage: self.billed,
            cost_usd_micros: prices.and_then(|prices| prices.cost_usd_micros(self.billed)),
            worth_another: false,
        };
        ModelError { kind, message, attempts: self.attempts, billed }
    }

    /// A provider's words, shortened and without the key.
    fn safe(&self, words: &str) -> String {
        shorten(&self.model.mask(words), MOST_MESSAGE_CHARS)
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
