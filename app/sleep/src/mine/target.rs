//! Which tasks a given skill is about, by the words that they share.

use crate::task::TaskRecord;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Words of the body that count, the most common ones.
const N_WEAK: usize = 180;
const MIN_WORD_CHARS: usize = 3;

/// Words that are in every skill and every request.
const STOP_WORDS: [&str; 66] = [
    "about", "after", "agent", "all", "also", "and", "any", "are", "before", "but", "can",
    "claude", "code", "does", "each", "every", "file", "files", "for", "from", "has", "have",
    "how", "into", "its", "make", "may", "more", "must", "never", "not", "one", "only", "other",
    "our", "out", "please", "project", "run", "should", "skill", "skills", "some", "task", "tasks",
    "than", "that", "the", "their", "them", "then", "these", "this", "use", "used", "user",
    "using", "was", "what", "when", "where", "which", "will", "with", "you", "your",
];

/// Words that stand for others.
const EXPANSIONS: [(&str, &[&str]); 3] = [
    ("mcp", &["server", "servers", "tool", "tools"]),
    ("conflict", &["merge", "rebase", "conflicts", "конфликт", "конфликты", "слияние"]),
    ("conflicts", &["merge", "rebase", "conflict", "конфликт", "конфликты", "слияние"]),
];

/// What a skill is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetTerms {
    /// Words of its name and its headings.
    pub strong: BTreeSet<String>,
    /// The commonest words of its body.
    pub weak: BTreeSet<String>,
}

impl TargetTerms {
    /// Reads a skill. Of the path only the file and its folder count: what lies above says where a person keeps
    /// things, not what the skill is about.
    #[must_use]
    pub fn of(path: &Path, text: &str) -> Self {
        let name = path.file_stem().into_iter();
        let folder = path.parent().and_then(Path::file_name).into_iter();
        let mut strong: BTreeSet<String> =
            name.chain(folder).flat_map(|part| words(&part.to_string_lossy())).collect();
        let is_heading = |line: &&str| line.starts_with('#');
        strong.extend(text.lines().map(str::trim_start).filter(is_heading).flat_map(words));
        for (word, others) in EXPANSIONS {
            if strong.contains(word) {
                strong.extend(others.iter().map(|other| (*other).to_owned()));
            }
        }
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for word in words(text) {
            *counts.entry(word).or_default() += 1;
        }
        let mut common: Vec<(String, usize)> = counts.into_iter().collect();
        common.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
        let weak = common.into_iter().take(N_WEAK).map(|(word, _)| word);
        let weak = weak.filter(|word| !strong.contains(word)).collect();
        Self { strong, weak }
    }

    /// How much a task is about it; `None` for not enough.
    fn score(&self, task: &TaskRecord) -> Option<usize> {
        let text = format!("{} {} {}", task.intent, task.context_excerpt, task.tags.join(" "));
        let words: BTreeSet<String> = words(&text).into_iter().collect();
        let n_strong = words.intersection(&self.strong).count();
        let n_weak = words.intersection(&self.weak).count();
        (n_strong >= 1 || n_weak >= 2).then_some(3 * n_strong + n_weak)
    }
}

/// The tasks that a skill is about, the closest first, equally close ones in their order; all tasks when it seems to be
/// about none.
#[must_use]
pub fn filter_for_target(tasks: Vec<TaskRecord>, target: &TargetTerms) -> Vec<TaskRecord> {
    let mut scored: Vec<(usize, usize)> = tasks
        .iter()
        .enumerate()
        .filter_map(|(at, task)| target.score(task).map(|score| (score, at)))
        .collect();
    if scored.is_empty() {
        return tasks;
    }
    scored.sort_by_key(|(score, at)| (std::cmp::Reverse(*score), *at));
    let mut tasks: Vec<Option<TaskRecord>> = tasks.into_iter().map(Some).collect();
    scored.into_iter().filter_map(|(_, at)| tasks[at].take()).collect()
}

fn words(text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    lower
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.chars().count() >= MIN_WORD_CHARS && !STOP_WORDS.contains(word))
        .map(str::to_owned)
        .collect()
}
