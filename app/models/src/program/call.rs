//! One call: attempts until there is an answer, or no further attempt is worth it.

use super::ProgramModel;
use super::ask::read_tool_calls;
use super::dialect::{Order, Spoken};
use super::failure::{Again, Failure, classify, is_limit_notice};
use super::folder::Folder;
use super::heard::Heard;
use super::helper::is_passing;
use super::process::{self, End, Launch};
use super::stand_ins;
use super::tree::GRACE;
use crate::limiter::Patience;
use crate::refusal::is_refusal;
use crate::retry::{backoff, retries_of};
use serde_json::Value;
use skillopt_domain::own_call::VARIABLE;
use skillopt_engine::ports::{
    Billed, ChatReply, ChatRequest, Finish, ModelError, ModelErrorKind, ToolCall,
};
use std::process::ExitStatus;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// A program on this machine has no outages to wait for: its turn always comes.
const PATIENCE: Patience = Patience { left: Duration::MAX, is_back: false, outage: None };
const MOST_MESSAGE_CHARS: usize = 600;
const MOST_NOISE_CHARS: usize = 200;

/// The state of a call between its attempts.
#[derive(Debug)]
pub(super) struct Call<'a> {
    model: &'a ProgramModel,
    request: &'a ChatRequest,
    cancel: &'a CancellationToken,
    attempts: u32,
    failures: u32,
    empty_answers: u32,
    /// Time of attempts and of waits between them.
    spent: Duration,
    /// What attempts took that brought no answer.
    billed: Billed,
    /// Kind and words of the last failure, for the record.
    last_failure: (ModelErrorKind, String),
}

impl<'a> Call<'a> {
    pub(super) fn new(
        model: &'a ProgramModel,
        request: &'a ChatRequest,
        cancel: &'a CancellationToken,
    ) -> Self {
        Self {
            model,
            request,
            cancel,
            attempts: 0,
            failures: 0,
            empty_answers: 0,
            spent: Duration::ZERO,
            billed: Billed::default(),
            last_failure: (ModelErrorKind::Empty, String::new()),
        }
    }

    /// Runs to the end. May be dropped at any time: the process is killed, and nothing is kept.
    pub(super) async fn run(&mut self) -> Result<ChatReply, ModelError> {
        let limiter = &self.model.limiter;
        loop {
            let patience = Patience { is_back: self.attempts > 0, ..PATIENCE };
            let turn = self.cancel.run_until_cancelled(limiter.acquire(patience)).await;
            let Some(Ok(permit)) = turn else {
                return Err(self.cancelled());
            };
            self.attempts += 1;
            let start = Instant::now();
            let failure = match self.attempt().await {
                Ok(answer) => {
                    permit.answered();
                    return Ok(self.reply(answer, start.elapsed()));
                }
                Err(failure) => failure,
            };
            if failure.is_one_too_many() {
                permit.refused(None);
            } else {
                drop(permit);
            }
            tracing::debug!(
                model = %self.model.name,
                kind = failure.kind.as_str(),
                attempt = self.attempts,
                "call of a program failed"
            );
            self.spent += start.elapsed();
            self.last_failure = (failure.kind, self.safe(&failure.message));
            let Some(wait) = self.wait_after(&failure) else {
                return Err(self.error(failure.kind, &failure.message));
            };
            self.spent += wait;
            if self.spent >= self.model.total {
                let total = self.model.total.as_secs_f64();
                let message = format!(
                    "{}; a call may take {total} s in all (model.total_timeout_seconds)",
                    failure.message
                );
                return Err(self.error(failure.kind, &message));
            }
            let sleep = self.model.endpoints.timer().sleep(wait);
            if self.cancel.run_until_cancelled(sleep).await.is_none() {
                return Err(self.cancelled());
            }
        }
    }

    /// How long to wait for the next attempt; `None` when there is none.
    fn wait_after(&mut self, failure: &Failure) -> Option<Duration> {
        let retries = retries_of(self.request.purpose, self.model.max_retries);
        match failure.again {
            Again::Never => None,
            Again::Amended => {
                self.empty_answers += 1;
                (self.empty_answers <= self.model.empty_retries).then_some(Duration::ZERO)
            }
            Again::Wait => {
                self.failures += 1;
                let wait = backoff(self.failures, self.model.endpoints.jitter());
                (self.failures <= retries).then_some(wait)
            }
        }
    }

    async fn attempt(&mut self) -> Result<Answer, Failure> {
        let here = |err: std::io::Error| {
            let message = format!("cannot prepare the folder of the call: {err}");
            Failure::new(ModelErrorKind::Connection, Again::Wait, message)
        };
        let folder = Folder::new().map_err(here)?;
        let model = self.model;
        let order = Order {
            request: self.request,
            folder: &folder,
            model: &model.model,
            again: self.empty_answers > 0,
            effort: self.request.effort.or(model.role_effort),
        };
        let Spoken { arguments, input, calls_tools, env } =
            model.dialect.speak(&order).map_err(here)?;
        let env = with(&model.env.pairs, env);
        let purpose = self.request.purpose.as_str();
        let mark = format!("{}/{}/{purpose}", folder.name(), model.role);
        let launch = Launch {
            program: &model.program,
            arguments: &arguments,
            env: &env,
            mark: (VARIABLE, &mark),
            folder: folder.work(),
            input,
            time_limit: model.time_limit.min(model.total.saturating_sub(self.spent)),
            grace: GRACE,
        };
        let mut heard = Heard::default();
        let ended = process::run(launch, self.cancel, |line| hear(model, line, &mut heard)).await;
        let ended = ended.map_err(|err| self.not_started(&err))?;
        heard.called.extend(stand_ins::called(&folder, &self.request.stand_ins));
        self.judge(ended.end, &ended.stderr, heard, calls_tools)
    }

    /// What came of an attempt.
    fn judge(
        &mut self,
        end: End,
        stderr: &str,
        heard: Heard,
        calls_tools: bool,
    ) -> Result<Answer, Failure> {
        let failure = self.failure_of(end, stderr, &heard);
        let answer = Answer::of(heard, calls_tools);
        let failure = failure.or_else(|| {
            let asks = calls_tools && !answer.tool_calls.is_empty();
            let is_empty = answer.text.trim().is_empty() && !asks;
            let message = "it ended well, and without an answer";
            is_empty.then(|| Failure::new(ModelErrorKind::Empty, Again::Amended, message))
        });
        let Some(failure) = failure else { return Ok(answer) };
        // It ran, so that its provider may have taken something for it, whether it tells so or not.
        self.billed.add(answer.heard.usage, self.cost_of(&answer.heard));
        Err(failure)
    }

    fn failure_of(&self, end: End, stderr: &str, heard: &Heard) -> Option<Failure> {
        let program = self.model.info.name;
        let status = match end {
            End::Exited(status) => status,
            End::Cancelled => {
                let message = "the run was cancelled";
                return Some(Failure::new(ModelErrorKind::Cancelled, Again::Never, message));
            }
            End::TimedOut => {
                let limit = self.model.time_limit.as_secs_f64();
                let message =
                    format!("{program} did not end within {limit} s{}", behind(&tidy(stderr)));
                return Some(Failure::new(ModelErrorKind::Timeout, Again::Wait, message));
            }
            End::TooMuch => {
                let message = format!("{program} wrote more than can be its answer");
                return Some(Failure::new(ModelErrorKind::Server, Again::Never, message));
            }
        };
        let stderr = tidy(stderr);
        if let Some(error) = &heard.error {
            let told = tidy(error);
            let words = if status.success() { told.clone() } else { format!("{told} {stderr}") };
            let message = format!("{program}{}: {words}", how(status));
            return Some(self.with_hint(classify(&told, message)).or_by(&stderr, status));
        }
        if !status.success() {
            let words = if stderr.is_empty() { tidy(&heard.noise) } else { stderr };
            let message = format!("{program}{}{}", how(status), behind(&words));
            return Some(self.with_hint(classify(&words, message)));
        }
        if heard.n_events == 0 {
            let words = tidy(&heard.noise);
            let shown = if words.is_empty() { stderr } else { words };
            let message = format!("{program} said nothing that could be read{}", behind(&shown));
            return Some(self.with_hint(classify(&shown, message)));
        }
        if !heard.is_done {
            let message = format!("the output of {program} ended before its answer did");
            return Some(Failure::new(ModelErrorKind::Server, Again::Wait, message));
        }
        is_limit_notice(&heard.answer).then(|| {
            Failure::new(ModelErrorKind::QuotaExhausted, Again::Never, tidy(&heard.answer))
        })
    }

    /// Who is not logged in reads how to.
    fn with_hint(&self, mut failure: Failure) -> Failure {
        if failure.kind == ModelErrorKind::Authentication {
            failure.message = format!("{} ({})", self.model.info.login, failure.message);
        }
        failure
    }

    fn not_started(&self, error: &std::io::Error) -> Failure {
        let program = self.model.program.display();
        let message = format!("cannot start {program}: {error}");
        if is_passing(error) {
            Failure::new(ModelErrorKind::Connection, Again::Wait, message)
        } else {
            Failure::new(ModelErrorKind::BadRequest, Again::Never, message)
        }
    }

    /// What the program told, else what the prices say.
    fn cost_of(&self, heard: &Heard) -> Option<u64> {
        let by_price = || self.model.prices?.cost_usd_micros(heard.usage?);
        heard.cost_usd_micros.or_else(by_price)
    }

    fn reply(&self, answer: Answer, latency: Duration) -> ChatReply {
        let cost_usd_micros = self.cost_of(&answer.heard);
        let earlier = (self.billed.answers > 0).then(|| {
            let (kind, message) = self.last_failure.clone();
            Box::new(ModelError { kind, message, attempts: 0, billed: self.billed })
        });
        let finish = match &answer.heard {
            heard if heard.is_refused => Finish::Refused,
            heard if heard.is_cut => Finish::Length,
            _ if is_refusal(&answer.text) => Finish::Refused,
            _ => Finish::Stop,
        };
        // Answers and steps were masked as they were heard; a call of a tool is JSON within a text, where a key may have
        // been written otherwise.
        let mut tool_calls = answer.tool_calls;
        for call in &mut tool_calls {
            call.arguments = self.model.env.mask_answer(std::mem::take(&mut call.arguments));
        }
        ChatReply {
            text: self.model.env.mask_answer(answer.text),
            finish,
            usage: answer.heard.usage,
            cost_usd_micros,
            latency_ms: u64::try_from(latency.as_millis()).unwrap_or(u64::MAX),
            first_token_ms: None,
            attempts: self.attempts,
            adaptations: Vec::new(),
            tool_calls,
            steps: answer.heard.steps.take(),
            earlier,
        }
    }

    fn cancelled(&self) -> ModelError {
        self.error(ModelErrorKind::Cancelled, "the run was cancelled")
    }

    fn error(&self, kind: ModelErrorKind, message: &str) -> ModelError {
        let message = self.safe(message);
        ModelError { kind, message, attempts: self.attempts, billed: self.billed }
    }

    /// A program's words, shortened and without keys.
    fn safe(&self, words: &str) -> String {
        let masked = self.model.env.mask(words);
        match masked.char_indices().nth(MOST_MESSAGE_CHARS) {
            None => masked,
            Some((end, _)) => format!("{}…", &masked[..end]),
        }
    }
}

/// An answer with what was heard around it.
#[derive(Debug)]
struct Answer {
    text: String,
    tool_calls: Vec<ToolCall>,
    heard: Heard,
}

impl Answer {
    fn of(mut heard: Heard, calls_tools: bool) -> Self {
        let said = std::mem::take(&mut heard.answer);
        let (text, mut tool_calls) =
            if calls_tools { read_tool_calls(&said) } else { (said, Vec::new()) };
        tool_calls.extend((1..).zip(std::mem::take(&mut heard.called)).map(|(at, name)| {
            ToolCall { id: format!("stand_in_{at}"), name, arguments: "{}".to_owned() }
        }));
        Self { text, tool_calls, heard }
    }
}

impl Failure {
    /// An error that says nothing of its kind is judged by what stands on stderr.
    fn or_by(self, stderr: &str, status: ExitStatus) -> Self {
        let says_nothing = self.kind == ModelErrorKind::Server && self.again == Again::Never;
        if says_nothing && !status.success() {
            let Self { message, .. } = self;
            classify(stderr, message)
        } else {
            self
        }
    }
}

/// The environment of a call: what the program always gets, and what this call gets instead.
fn with(always: &[(String, String)], own: Vec<(&'static str, String)>) -> Vec<(String, String)> {
    let is_own = |name: &str| own.iter().any(|(known, _)| *known == name);
    let mut env: Vec<(String, String)> =
        always.iter().filter(|(name, _)| !is_own(name)).cloned().collect();
    env.extend(own.into_iter().map(|(name, value)| (name.to_owned(), value)));
    env
}

fn hear(model: &ProgramModel, line: &[u8], heard: &mut Heard) {
    let line = line.trim_ascii();
    if line.is_empty() {
        return;
    }
    match serde_json::from_slice::<Value>(line) {
        Ok(mut event) if event.get("type").is_some() => {
            heard.n_events += 1;
            // An agent can read its environment, and be asked to tell what stands there.
            model.env.mask_event(&mut event);
            model.dialect.hear(&event, heard);
        }
        _ if heard.noise.is_empty() => {
            heard.noise = String::from_utf8_lossy(line).chars().take(MOST_NOISE_CHARS).collect();
        }
        _ => {}
    }
}

/// How it ended, in words.
fn how(status: ExitStatus) -> String {
    #[cfg(unix)]
    {
        use std::os::unix::process::ExitStatusExt;
        if let Some(signal) = status.signal() {
            return format!(" was ended by signal {signal}");
        }
    }
    match status.code() {
        Some(0) => " failed".to_owned(),
        Some(code) => format!(" ended with exit code {code}"),
        None => " ended".to_owned(),
    }
}

fn behind(words: &str) -> String {
    if words.is_empty() { String::new() } else { format!(": {words}") }
}

/// On one line, without colours and other control characters; the end of what is long, because there the reason stands.
fn tidy(text: &str) -> String {
    const MOST: usize = 400;
    let mut plain = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter == '\u{1b}' && letters.peek() == Some(&'[') {
            // A colour ends with a letter.
            let _ = letters.by_ref().skip(1).find(char::is_ascii_alphabetic);
        } else {
            plain.push(if letter.is_control() { ' ' } else { letter });
        }
    }
    let words: Vec<&str> = plain.split_whitespace().collect();
    let line = words.join(" ");
    let n = line.chars().count();
    if n <= MOST { line } else { format!("…{}", line.chars().skip(n - MOST).collect::<String>()) }
}
