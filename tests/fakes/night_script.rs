//! A model server that makes sense of a night, and the sessions that the night is about. It knows what it is asked by the
//! words of our prompts, so that it answers whoever asks: a night of the command line, one of the dashboard, a person.

use crate::fake_server::{FakeServer, Seen};
use axum::http::StatusCode;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// The rule that the optimizer proposes, and that the target follows.
pub(crate) const RULE: &str = "End every answer with the line: checked and done.";
/// What tasks want to see.
pub(crate) const MARK: &str = "checked and done";

/// What a question is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    Mine,
    Reflect,
    Judge,
    Attempt,
}

impl Asked {
    /// By the words of the prompt.
    pub(crate) fn of(prompt: &str) -> Self {
        if prompt.contains("find tasks in it") {
            Self::Mine
        } else if prompt.contains("propose at most") {
            Self::Reflect
        } else if prompt.contains("You score how well") {
            Self::Judge
        } else {
            Self::Attempt
        }
    }
}

/// A server whose target follows the rule once it stands in what it is told, and whose optimizer proposes it.
pub(crate) fn scripted() -> FakeServer {
    scripted_after(|_| {})
}

/// The same; `before` is told of each question before it is answered, and may make it wait.
pub(crate) fn scripted_after(before: impl Fn(Asked) + Send + Sync + 'static) -> FakeServer {
    let answers = move |seen: &Seen, _| {
        let prompt = prompt_of(seen);
        before(Asked::of(&prompt));
        Some((StatusCode::OK, reply(&answer(&prompt))))
    };
    FakeServer::with(Duration::ZERO, Arc::new(answers))
}

/// All that was said in a request, one message after another.
pub(crate) fn prompt_of(seen: &Seen) -> String {
    let messages = seen.body["messages"].as_array().into_iter().flatten();
    messages.filter_map(|message| message["content"].as_str()).collect::<Vec<_>>().join("\n")
}

/// What the scripted model says to a prompt.
pub(crate) fn answer(prompt: &str) -> String {
    match Asked::of(prompt) {
        Asked::Mine => {
            let at = prompt.find("module number ").map_or(0, |at| at + "module number ".len());
            let number: String = prompt[at..].chars().take_while(char::is_ascii_digit).collect();
            json!([{
                "intent": request(&number),
                "checks": [{"op": "contains", "arg": MARK}],
                "satisfied": false,
            }])
            .to_string()
        }
        Asked::Reflect => {
            json!([{"op": "add", "content": RULE, "anchor": "", "rationale": "it is missing"}])
                .to_string()
        }
        Asked::Judge => {
            let score = if prompt.contains(MARK) { 1.0 } else { 0.25 };
            json!({"score": score, "reason": "the closing line"}).to_string()
        }
        Asked::Attempt if prompt.contains(RULE) => format!("The notes. {MARK}"),
        Asked::Attempt => "The notes.".to_owned(),
    }
}

/// A text as a chat server answers with it.
pub(crate) fn reply(text: &str) -> Value {
    json!({
        "id": "1", "object": "chat.completion", "model": "fake",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
    })
}

fn request(number: &str) -> String {
    format!("Write the release notes of module number {number} for the team")
}

/// Keeps a session of Claude Code in which the person asked for one thing and said that it was wrong.
pub(crate) fn write_session(home: &Path, project: &Path, number: u32) -> std::io::Result<()> {
    let turns = [
        ("user", request(&number.to_string())),
        ("assistant", format!("Here are the notes of module {number}.")),
        ("user", "That is still not working, you forgot the closing line.".to_owned()),
        ("assistant", "I added it.".to_owned()),
    ];
    write_transcript(home, project, &format!("s{number}"), &turns)
}

/// Keeps a transcript where Claude Code does, with a minute between turns.
pub(crate) fn write_transcript(
    home: &Path,
    project: &Path,
    id: &str,
    turns: &[(&str, String)],
) -> std::io::Result<()> {
    let folder = home.join(".claude/projects/work");
    std::fs::create_dir_all(&folder)?;
    let project = project.canonicalize()?;
    let record = |(minute, (kind, text)): (usize, &(&str, String))| {
        let record = json!({
            "type": kind, "cwd": project, "sessionId": id, "gitBranch": "main",
            "timestamp": format!("2026-01-02T03:{:02}:00.000Z", minute + 1),
            "uuid": format!("{id}-{minute}"),
            "message": {"role": kind, "content": text},
        });
        format!("{record}\n")
    };
    let text: String = turns.iter().enumerate().map(record).collect();
    std::fs::write(folder.join(format!("{id}.jsonl")), text)
}
