//! SearchQA: a question with passages, answered by a short phrase that is compared with known answers.
//!
//! What the port asks for. Loading is in `load`, the prompt in `prompt`, scoring in `score`.

mod item;
mod load;
mod prompt;
mod score;

pub use item::Item;
pub use load::{Loaded, load, preview};
pub use prompt::PROMPTS;

use skillopt_domain::ids::TaskId;
use skillopt_domain::outcome::Outcome;
use skillopt_engine::ports::{Benchmark, Graded, Message, Task};
use skillopt_engine::prompts::BenchmarkPrompt;
use std::collections::HashMap;
use std::sync::Arc;

/// The items of one data set, by id. Cheap to clone.
#[derive(Clone, Debug)]
pub struct SearchQa {
    items: Arc<HashMap<TaskId, Item>>,
}

impl SearchQa {
    /// The name in configs.
    pub const NAME: &str = "searchqa";

    pub(crate) fn new(items: impl IntoIterator<Item = Item>) -> Self {
        let by_id = items.into_iter().map(|item| (item.id.clone(), item)).collect();
        Self { items: Arc::new(by_id) }
    }

    /// The item behind a task.
    #[must_use]
    pub fn item(&self, id: &TaskId) -> Option<&Item> {
        self.items.get(id)
    }

    /// How many items there are in all splits.
    #[must_use]
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// There is no item.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    fn of_task(&self, task: &Task) -> &Item {
        self.item(&task.id).expect("tasks and items come from the same load")
    }
}

impl Benchmark for SearchQa {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn prompt(&self, task: &Task, skill: &str) -> Vec<Message> {
        let item = self.of_task(task);
        vec![Message::system(prompt::system(skill)), Message::user(prompt::user(item))]
    }

    fn prompts(&self) -> &'static [BenchmarkPrompt] {
        PROMPTS
    }

    fn grade(&self, task: &Task, reply: &str, truncated: bool) -> Graded {
        let item = self.of_task(task);
        let predicted = score::extract_answer(reply);
        let marks = score::marks(&predicted, &item.answers);
        let evaluation_note = score::note(&marks, &predicted, &item.answers);
        let fail_reason = score::fail_reason(&marks, &predicted, &item.answers);
        let outcome = Outcome::Scored { score: marks.score(), predicted, fail_reason, truncated };
        Graded { outcome, evaluation_note }
    }
}

#[cfg(test)]
mod tests;
