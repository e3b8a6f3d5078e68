//! Performing a task with a model, with stand-ins for the tools that it needs: tools that the model calls by its
//! protocol, or small programs in its own folder that note that they were called. No tool does anything.

use super::{Modelled, Question, end_of, messages, plus, tokens_of};
use crate::backend::{Attempt, Attempted, BackendError, SleepRole};
use crate::judge::{ToolName, calls_in_text};
use crate::prompts::{ATTEMPT, Rendered};
use crate::task::TaskRecord;
use serde_json::json;
use skillopt_domain::own_call::PROMPT_MARK;
use skillopt_engine::ports::{
    ChatRequest, Message, Purpose, Speaker, ToolCall, ToolSpec, Workspace,
};

/// A target that goes on calling stand-ins has nothing to say.
const MAX_TOOL_ROUNDS: u32 = 4;
/// Names that providers take.
const MAX_TOOL_NAME: usize = 64;

const TOOL_RESULT: &str =
    "The call was noted. This is a rehearsal: no live result exists. Go on with the task.";

impl Modelled {
    pub(super) async fn perform(&self, attempt: &Attempt<'_>) -> Result<Attempted, BackendError> {
        let question = Question {
            kind: "attempt",
            role: SleepRole::Target,
            purpose: Purpose::Qa,
            draw: attempt.draw,
            max_tokens: self.limits.attempt,
        };
        let mut request = self.request(attempt);
        let mut done = Attempted { tokens: Some(0), ..Attempted::default() };
        for round in 0..=MAX_TOOL_ROUNDS {
            let reply = self.exchange(&question, &request).await?;
            done.tokens = plus(done.tokens, tokens_of(&reply));
            done.latency_ms += reply.reply.latency_ms;
            done.end = end_of(reply.reply.finish);
            done.cached = reply.cached;
            done.call = reply.key;
            let calls = reply.reply.tool_calls;
            note_calls(&mut done.tools_called, calls.iter().map(|call| call.name.as_str()));
            // A program has run its stand-ins by itself.
            let is_over = calls.is_empty() || !request.stand_ins.is_empty();
            if is_over || round == MAX_TOOL_ROUNDS {
                done.text = reply.reply.text;
                break;
            }
            answer_calls(&mut request.messages, &reply.reply.text, calls);
        }
        let is_marked = |name: &&ToolName| calls_in_text(name, &done.text);
        let marked: Vec<&ToolName> = attempt.tools.iter().filter(is_marked).collect();
        note_calls(&mut done.tools_called, marked.into_iter().map(ToolName::as_str));
        Ok(done)
    }

    fn request(&self, attempt: &Attempt<'_>) -> ChatRequest {
        let Attempt { task, docs, tools, draw } = *attempt;
        let mut rendered = match task.system.is_empty() {
            true => self.rendered(attempt),
            false => with_own_system(task, docs.skill, docs.memory),
        };
        let offered: Vec<ToolSpec> = tools
            .iter()
            .map(ToolName::as_str)
            .filter(|tool| is_offered(tool))
            .map(stand_in)
            .collect();
        let runs = self.stand_ins && self.asker.runs_stand_ins();
        let stand_ins: Vec<String> = match runs {
            true => offered.iter().map(|tool| tool.name.clone()).collect(),
            false => Vec::new(),
        };
        let named = names_of(&offered);
        rendered.user.push_str(&named);
        let phase = draw.phase.as_str();
        let mut request = ChatRequest::new(Purpose::Qa, phase, messages(&rendered));
        request.max_tokens = self.limits.attempt;
        let in_folder = self.asker.works_in_folder();
        match runs {
            true => request.stand_ins = stand_ins,
            // Who reads the task in a file reads of its tools there.
            false if in_folder => {}
            false => request.tools = offered,
        }
        if in_folder {
            let named = if runs { "" } else { named.as_str() };
            request.workspace = Some(Workspace {
                skill: docs.skill.to_owned(),
                task: format!("{PROMPT_MARK}\n{}{named}", task_text(task)),
                instructions: format!("{}\n\n{}", docs.memory, task.system).trim().to_owned(),
            });
        }
        request
    }

    fn rendered(&self, attempt: &Attempt<'_>) -> Rendered {
        let Attempt { task, docs, .. } = *attempt;
        let values = [
            ("__SKILL__", docs.skill),
            ("__MEMORY__", docs.memory),
            ("__INTENT__", task.intent.as_str()),
            ("__CONTEXT__", task.context_excerpt.as_str()),
        ];
        self.prompts.render(&ATTEMPT, &values)
    }
}

/// A benchmark's own system prompt, with the documents where it wants them, else before it.
fn with_own_system(task: &TaskRecord, skill: &str, memory: &str) -> Rendered {
    const PLACE: &str = "{skill_section}";
    let documents = [skill.trim(), memory.trim()];
    let documents: Vec<&str> = documents.into_iter().filter(|text| !text.is_empty()).collect();
    let documents = documents.join("\n\n");
    let system = match task.system.contains(PLACE) {
        true => task.system.replacen(PLACE, &documents, 1),
        false => format!("{documents}\n\n{}", task.system).trim_start().to_owned(),
    };
    Rendered { system, user: task_text(task) }
}

fn task_text(task: &TaskRecord) -> String {
    match task.context_excerpt.trim() {
        "" => task.intent.clone(),
        context => format!("{context}\n\n{}", task.intent),
    }
}

/// A name that providers take. Others can be called by their mark only.
fn is_offered(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    (1..=MAX_TOOL_NAME).contains(&name.len()) && name.chars().all(is_plain)
}

/// The tools of a task in its text; empty without any.
fn names_of(offered: &[ToolSpec]) -> String {
    if offered.is_empty() {
        return String::new();
    }
    let names: Vec<&str> = offered.iter().map(|tool| tool.name.as_str()).collect();
    format!(
        "\n\nTools: {}. Where you have no way to call them, write a line `TOOL_CALL: name` instead.",
        names.join(", ")
    )
}

fn stand_in(name: &str) -> ToolSpec {
    ToolSpec {
        name: name.to_owned(),
        description: format!("The tool {name}."),
        parameters: json!({"type": "object", "properties": {"input": {"type": "string"}}}),
    }
}

fn answer_calls(messages: &mut Vec<Message>, said: &str, calls: Vec<ToolCall>) {
    let ids: Vec<String> = calls.iter().map(|call| call.id.clone()).collect();
    messages.push(Message { tool_calls: calls, ..Message::assistant(said) });
    messages.extend(
        ids.into_iter().map(|id| Message {
            tool_call_id: Some(id),
            ..Message::new(Speaker::Tool, TOOL_RESULT)
        }),
    );
}

fn note_calls<'n>(known: &mut Vec<String>, names: impl Iterator<Item = &'n str>) {
    for name in names {
        if !known.iter().any(|other| other == name) {
            known.push(name.to_owned());
        }
    }
}
