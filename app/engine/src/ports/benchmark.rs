//! A benchmark: tasks, how they are put, and how answers are scored.

use super::{Message, Speaker};
use crate::prompts::BenchmarkPrompt;
use skillopt_domain::hash::Sha256Hex;
use skillopt_domain::ids::TaskId;
use skillopt_domain::outcome::Outcome;
use std::fmt::Debug;

/// A task as the engine sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// Unique within the benchmark.
    pub id: TaskId,
    /// A line that names it for people.
    pub title: String,
    /// The benchmark's type of task.
    pub task_type: String,
    /// Hash of everything that makes the task what it is, the id left out.
    pub content: Sha256Hex,
}

/// What a benchmark makes of a reply.
#[derive(Clone, Debug, PartialEq)]
pub struct Graded {
    /// The outcome: scored, or a judge error.
    pub outcome: Outcome,
    /// What the optimizer may read about the grading, such as the expected answer.
    pub evaluation_note: String,
}

/// A benchmark: how its tasks are put to a model and how answers are scored. Pure.
pub trait Benchmark: Send + Sync + Debug {
    /// The name in configs.
    fn name(&self) -> &'static str;

    /// The messages that put a task to the target with a skill. The skill stands in the system message.
    fn prompt(&self, task: &Task, skill: &str) -> Vec<Message>;

    /// The task alone, without a skill, for an agent that finds the skill as a file in its folder.
    fn task_text(&self, task: &Task) -> String {
        let of_user = |message: &Message| message.role == Speaker::User;
        let messages = self.prompt(task, "");
        let texts = messages.into_iter().filter(of_user).map(|message| message.content);
        texts.collect::<Vec<_>>().join("\n\n")
    }

    /// What is said about every task, without a skill: the form of an answer above all.
    fn task_instructions(&self, task: &Task) -> String {
        let of_system = |message: &Message| message.role == Speaker::System;
        let messages = self.prompt(task, "");
        let texts = messages.into_iter().filter(of_system).map(|message| message.content);
        texts.collect::<Vec<_>>().join("\n\n")
    }

    /// What it says to the target, and prompts of the optimizer in its own words.
    fn prompts(&self) -> &'static [BenchmarkPrompt] {
        &[]
    }

    /// Scores a reply. `truncated` tells that the token limit cut it.
    fn grade(&self, task: &Task, reply: &str, truncated: bool) -> Graded;
}
