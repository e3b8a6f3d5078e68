//! A machine with fake programs on PATH, and a model that is made from one of them.

use serde_json::{Value, json};
use skillopt_domain::config::{BackendKind, Place, RunConfig, Setting, Value as Raw, resolve};
use skillopt_domain::outcome::Sample;
use skillopt_domain::spend::Role;
use skillopt_engine::ports::{
    ChatReply, ChatRequest, Message, Model, ModelError, Purpose, Workspace,
};
use skillopt_models::{Endpoints, ProgramModel, ProgramSetup, program_of};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tokio_util::sync::CancellationToken;

/// Every backend that is a program, in every role that it serves.
pub(crate) const ALL: [(BackendKind, Role); 14] = [
    (BackendKind::ClaudeChat, Role::Target),
    (BackendKind::ClaudeChat, Role::Optimizer),
    (BackendKind::ClaudeCodeExec, Role::Target),
    (BackendKind::CodexExec, Role::Target),
    (BackendKind::CodexExec, Role::Optimizer),
    (BackendKind::CursorExec, Role::Target),
    (BackendKind::CursorExec, Role::Optimizer),
    (BackendKind::CopilotChat, Role::Target),
    (BackendKind::CopilotChat, Role::Optimizer),
    (BackendKind::CopilotExec, Role::Target),
    (BackendKind::PiChat, Role::Target),
    (BackendKind::PiChat, Role::Optimizer),
    (BackendKind::OpencodeChat, Role::Target),
    (BackendKind::OpencodeChat, Role::Optimizer),
];

const PROGRAMS: [&str; 6] = ["claude", "codex", "cursor-agent", "copilot", "pi", "opencode"];

/// A folder that stands on PATH, with every program in it.
#[derive(Debug)]
pub(crate) struct Scene {
    folder: tempfile::TempDir,
    pub(crate) env: BTreeMap<String, String>,
}

impl Scene {
    /// `script` says what the programs do.
    pub(crate) fn new(script: &Value) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        for name in PROGRAMS {
            let at = folder.path().join(name);
            std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_fake-agent"), at).expect("a link");
        }
        std::fs::write(folder.path().join("script.json"), script.to_string()).expect("a script");
        let path = format!("{}:/usr/bin:/bin", folder.path().display());
        let env = [("PATH".to_owned(), path), ("HOME".to_owned(), "/nowhere".to_owned())].into();
        Self { folder, env }
    }

    /// A scene whose programs fail in this way, every time.
    pub(crate) fn with_fault(fault: &str) -> Self {
        Self::new(&json!({"fault": fault, "answer": "<answer>42</answer>"}))
    }

    pub(crate) fn with_env(mut self, pairs: &[(&str, &str)]) -> Self {
        self.env.extend(pairs.iter().map(|(name, value)| ((*name).into(), (*value).into())));
        self
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The calls that reached a program, in order.
    pub(crate) fn seen(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.folder.path().join("seen.jsonl"));
        let text = text.unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
    }

    /// The model of a role with more settings.
    pub(crate) fn model_with(
        &self,
        kind: BackendKind,
        role: Role,
        more: &[(&str, &str)],
    ) -> ProgramModel {
        let config = config(kind, role, more);
        let setup = ProgramSetup {
            role,
            config: config.role(role),
            agents: &config.agents,
            env: &self.env,
            max_concurrency: 4,
            is_run: true,
            may_start: true,
        };
        ProgramModel::new(setup, &Endpoints::new()).expect("the program is on PATH")
    }

    /// The model of a role that soon loses its patience.
    pub(crate) fn model(&self, kind: BackendKind, role: Role) -> ProgramModel {
        self.model_with(kind, role, &[])
    }
}

/// The config of a run with a program in a role.
pub(crate) fn config(kind: BackendKind, role: Role, more: &[(&str, &str)]) -> RunConfig {
    let set = |path: &str, value: &str| Setting {
        path: path.to_owned(),
        value: Raw::Text(value.to_owned()),
        place: Place::flag(path),
    };
    let other = if role == Role::Target { "optimizer" } else { "target" };
    let mut settings = vec![
        set(&format!("model.{role}_backend"), kind.as_str()),
        set(&format!("model.{other}_backend"), "mock"),
        set("model.max_retries", "1"),
        set("env.split_dir", "unused"),
    ];
    settings.extend(more.iter().map(|(path, value)| set(path, value)));
    let resolved = resolve(&settings).expect("valid settings");
    RunConfig::from_resolved(&resolved).expect("a valid config")
}

/// A question, and the same as files for a model that works in a folder.
pub(crate) fn request(model: &dyn Model, question: &str) -> ChatRequest {
    let messages = vec![Message::system("Answer in tags."), Message::user(question)];
    let mut request = ChatRequest::new(Purpose::Qa, "test", messages);
    if model.works_in_folder() {
        request.workspace = Some(Workspace {
            skill: "# Skill\n\nBe brief.\n".to_owned(),
            task: question.to_owned(),
            instructions: "Answer in tags.".to_owned(),
        });
    }
    request
}

pub(crate) async fn ask(model: &dyn Model, question: &str) -> Result<ChatReply, ModelError> {
    let request = request(model, question);
    chat(model, &request, &CancellationToken::new()).await
}

pub(crate) async fn chat(
    model: &dyn Model,
    request: &ChatRequest,
    cancel: &CancellationToken,
) -> Result<ChatReply, ModelError> {
    let sample = Sample { seed: 0, epoch: 0, repeat: 0, fresh: None };
    model.chat(request, &sample, cancel).await
}

/// The name of a backend's program.
pub(crate) fn program(kind: BackendKind) -> &'static str {
    program_of(kind).expect("a program").name
}

/// The folder in which a seen call took place.
pub(crate) fn folder_of(seen: &Value) -> PathBuf {
    PathBuf::from(seen["folder"].as_str().expect("a folder"))
}
