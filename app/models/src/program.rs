//! Programs on this machine as models: coding agents with a command line. A call is a process: it starts in an empty
//! folder of its own without a shell, gets its prompt on stdin and the few variables that it needs, may do as little as
//! serves, and is ended with all that it started when its time is over or its run is cancelled.

mod ask;
mod call;
mod command;
mod dialect;
mod environment;
mod failure;
mod find;
mod folder;
mod heard;
mod helper;
mod process;
mod stand_ins;
mod tree;
mod version;
mod workspace;

pub(crate) use helper::{NoOutput, output_of};

pub use command::{CommandEnd, CommandRun, run_command};
pub use find::{ProgramName, ProgramNotFound, find_program, program_of};

use crate::http::Endpoints;
use crate::limiter::{Limiter, Size};
use crate::retry::retries_of;
use crate::timer::time_limit;
use async_trait::async_trait;
use call::Call;
use dialect::{Dialect, dialect_of};
use environment::ChildEnvironment;
use serde_json::{Value, json};
use skillopt_domain::config::{Agents, BackendKind, Capability, Effort, ModelRole};
use skillopt_domain::outcome::Sample;
use skillopt_domain::price::Price;
use skillopt_domain::spend::{Role, Usage};
use skillopt_engine::ports::{ChatReply, ChatRequest, Model, ModelError, WorstCase};
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// What [`ProgramModel::new`] needs.
#[derive(Clone, Copy, Debug)]
pub struct ProgramSetup<'a> {
    /// Which role the program plays.
    pub role: Role,
    /// How the role is called.
    pub config: &'a ModelRole,
    /// How programs are run.
    pub agents: &'a Agents,
    /// Our environment, of which the program gets a part.
    pub env: &'a BTreeMap<String, String>,
    /// Processes at once, for each program and model.
    pub max_concurrency: u32,
    /// A run is going to call it: only then the limit of others that call the same program is set anew.
    pub is_run: bool,
    /// The program may be started to ask for its version. What is only looked at starts nothing: its config may come
    /// from somebody else.
    pub may_start: bool,
}

/// A program cannot serve the role.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProgramSetupError {
    /// The backend is no program.
    #[error("`{}` is no program", .0.as_str())]
    NoProgram(BackendKind),
    /// It is not there.
    #[error(transparent)]
    NotFound(#[from] ProgramNotFound),
}

/// One role's model behind a command line.
pub struct ProgramModel {
    kind: BackendKind,
    role: Role,
    program: PathBuf,
    info: ProgramName,
    version: Option<String>,
    model: String,
    name: String,
    max_tokens: u32,
    dialect: Box<dyn Dialect>,
    /// What the role says about effort, where the program can be told.
    role_effort: Option<Effort>,
    env: ChildEnvironment,
    /// Of one attempt.
    time_limit: Duration,
    /// Of a call with all its attempts and waits.
    total: Duration,
    max_retries: u32,
    empty_retries: u32,
    prices: Option<Price>,
    limiter: Arc<Limiter>,
    endpoints: Arc<Endpoints>,
}

impl ProgramModel {
    /// Finds the program and asks once for its version; makes no call.
    ///
    /// # Errors
    /// [`ProgramSetupError`] when there is none.
    pub fn new(
        setup: ProgramSetup<'_>,
        endpoints: &Arc<Endpoints>,
    ) -> Result<Self, ProgramSetupError> {
        let ProgramSetup { role, config, agents, env, max_concurrency, is_run, may_start } = setup;
        let kind = config.backend;
        let missing = || ProgramSetupError::NoProgram(kind);
        let info = program_of(kind).ok_or_else(missing)?;
        let program = find_program(kind, agents, env).ok_or_else(missing)??;
        let dialect = dialect_of(kind, role, agents).ok_or_else(missing)?;
        let env =
            ChildEnvironment::new(env, dialect.variables(), &config.api_key_env, &dialect.fixed());
        let model = config.model.trim();
        Ok(Self {
            kind,
            role,
            version: version::version_of(&program, &env.pairs, may_start)
                .map(|version| env.mask(&version)),
            model: model.to_owned(),
            name: if model.is_empty() { info.name.to_owned() } else { model.to_owned() },
            max_tokens: config.max_tokens,
            dialect,
            role_effort: config
                .provider
                .effort
                .filter(|_| kind.spec().can(Capability::ReasoningEffort)),
            env,
            time_limit: time_limit(config.timeout_s),
            total: time_limit(config.total_timeout_s),
            max_retries: config.max_retries,
            empty_retries: agents.empty_retries,
            prices: config.price(),
            limiter: endpoints.limiter_of_program(
                &program.to_string_lossy(),
                model,
                Size::new(max_concurrency, is_run),
            ),
            endpoints: Arc::clone(endpoints),
            program,
            info,
        })
    }

    /// Where the program is.
    #[must_use]
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// What the program says to `--version`; `None` when it says nothing.
    #[must_use]
    pub fn version(&self) -> Option<&str> {
        self.version.as_deref()
    }
}

#[async_trait]
impl Model for ProgramModel {
    /// Another version of the program is another model: it has other prompts of its own.
    fn identity(&self) -> Value {
        let mut identity = json!({
            "kind": self.kind.as_str(),
            "program": self.info.name,
            "version": self.version,
            "model": self.model,
            "settings": self.dialect.settings(),
        });
        // What is not set adds nothing, so that what was paid before this was known stays findable.
        if let Some(effort) = self.role_effort {
            identity["reasoning_effort"] = effort.as_str().into();
        }
        identity
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn is_simulated(&self) -> bool {
        false
    }

    fn works_in_folder(&self) -> bool {
        self.dialect.works_in_folder()
    }

    fn runs_stand_ins(&self) -> bool {
        self.dialect.runs_stand_ins()
    }

    /// An estimate: half a token for each byte of the prompt and of the files, and the role's limit of tokens, for each
    /// attempt that may be made: also one that fails may be paid for. Programs have no such limit, and add prompts of
    /// their own.
    fn worst_case(&self, request: &ChatRequest) -> WorstCase {
        const FRAME_TOKENS: usize = 8;
        let said: usize =
            request.messages.iter().map(|message| message.content.len() / 2 + FRAME_TOKENS).sum();
        let files = request.workspace.as_ref().map_or(0, |workspace| {
            (workspace.skill.len() + workspace.task.len() + workspace.instructions.len()) / 2
        });
        let usage = Usage::new(
            u64::try_from(said.max(files)).unwrap_or(u64::MAX),
            u64::from(request.max_tokens.unwrap_or(self.max_tokens)),
        );
        let retries = retries_of(request.purpose, self.max_retries);
        let calls = retries.saturating_add(self.empty_retries).saturating_add(1);
        let times = u64::from(calls);
        let tokens = usage.prompt_tokens.saturating_add(usage.completion_tokens);
        let cost = self.prices.map(|prices| prices.most_usd_micros(usage).saturating_mul(times));
        WorstCase { calls, tokens: tokens.saturating_mul(times), cost_usd_micros: cost }
    }

    /// The sample does not reach the program: it draws anew by itself.
    async fn chat(
        &self,
        request: &ChatRequest,
        _sample: &Sample,
        cancel: &CancellationToken,
    ) -> Result<ChatReply, ModelError> {
        Call::new(self, request, cancel).run().await
    }
}

impl fmt::Debug for ProgramModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProgramModel")
            .field("kind", &self.kind)
            .field("program", &self.program)
            .field("model", &self.model)
            .finish_non_exhaustive()
    }
}
