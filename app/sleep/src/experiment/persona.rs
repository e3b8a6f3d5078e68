//! People with recurring tasks that the simulation can learn. The numbers that they lead to are known.

use crate::backend::rule_tag;
use crate::split::{Fractions, SplitRule, assign_splits};
use crate::task::{ReferenceKind, TaskRecord};

/// Seed of the known numbers.
pub(super) const SEED: i64 = 42;

/// A person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Persona {
    /// Looks up papers.
    Researcher,
    /// Writes commit messages.
    Programmer,
}

impl Persona {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Researcher, Self::Programmer];

    /// The stable word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Researcher => "researcher",
            Self::Programmer => "programmer",
        }
    }

    /// The persona with this word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|persona| persona.as_str() == word)
    }

    /// The person's tasks, split by their ids; at most `limit` of them where one is given.
    #[must_use]
    pub fn tasks(self, limit: Option<usize>) -> Vec<TaskRecord> {
        let limit = limit.unwrap_or(usize::MAX);
        let mut tasks: Vec<TaskRecord> = match self {
            Self::Researcher => {
                let tags = [rule_tag("wrap-answer"), rule_tag("arxiv-id")];
                let topics = PAPERS.iter().enumerate();
                topics.map(|(at, topic)| lookup(at, topic, &tags)).take(limit).collect()
            }
            Self::Programmer => {
                let tags = [rule_tag("commit-imperative")];
                let commits = COMMITS.iter().enumerate();
                commits.map(|(at, commit)| commit_task(at, *commit, &tags)).take(limit).collect()
            }
        };
        assign_splits(&mut tasks, SEED, Fractions::default(), SplitRule::Python);
        tasks
    }
}

/// What the papers are about. Their identifiers are made up.
const PAPERS: [&str; 12] = [
    "sparse attention for long inputs",
    "distilling small language models",
    "retrieval beside generation",
    "low-rank adapters",
    "quantised training",
    "speculative decoding",
    "mixtures of experts",
    "learned optimizers",
    "self-consistency of reasoning",
    "tool use by agents",
    "prompt compression",
    "reward models without labels",
];

fn lookup(at: usize, topic: &str, tags: &[String]) -> TaskRecord {
    TaskRecord {
        id: format!("researcher_query_citation_{at}"),
        project: "/home/researcher/papers".into(),
        intent: format!("Which paper introduced {topic}? Give me its identifier."),
        reference_kind: ReferenceKind::Exact,
        reference: format!("arXiv:{}.{:05}", 2301 + at, 10_007 + 1234 * at),
        tags: tags.to_vec(),
        ..TaskRecord::default()
    }
}

/// What was changed, and the subject that is wanted.
const COMMITS: [(&str, &str); 8] = [
    ("the parser now accepts empty files", "Accept empty files"),
    ("a date helper was wrong in leap years", "Correct leap years"),
    ("tests for the cache were missing", "Test the cache"),
    ("uploads are tried again after a failure", "Repeat failed upload calls"),
    ("a field that nobody reads is gone", "Drop unread field"),
    ("log lines name the request", "Name request when logging"),
    ("the build runs on two machines", "Build twice"),
    ("the release is the next one", "Raise version"),
];

fn commit_task(at: usize, (change, subject): (&str, &str), tags: &[String]) -> TaskRecord {
    TaskRecord {
        id: format!("programmer_cases_{at}"),
        project: "/home/programmer/service".into(),
        intent: format!("Write the commit subject for this change: {change}."),
        reference_kind: ReferenceKind::Exact,
        reference: subject.to_owned(),
        tags: tags.to_vec(),
        ..TaskRecord::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::Split;

    fn val(persona: Persona) -> Vec<usize> {
        let tasks = persona.tasks(None);
        (0..tasks.len()).filter(|at| tasks[*at].split == Split::Val).collect()
    }

    #[test]
    fn the_tasks_fall_as_in_the_reference_system() {
        assert_eq!(val(Persona::Researcher), [0, 1, 2, 4, 6, 7]);
        assert_eq!(val(Persona::Programmer), [1, 3, 7]);
        assert_eq!(Persona::Researcher.tasks(None).len(), 12);
        assert_eq!(Persona::Programmer.tasks(None).len(), 8);
        assert_eq!(Persona::Programmer.tasks(Some(3)).len(), 3);
    }

    #[test]
    fn a_persona_is_found_by_its_word() {
        assert_eq!(Persona::parse("researcher"), Some(Persona::Researcher));
        assert_eq!(Persona::parse("gardener"), None);
    }
}
