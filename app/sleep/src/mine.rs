//! Tasks out of digests: miners, merging, the filter for a target skill, and how often something was asked. Everything
//! in a digest is data of strangers: it goes into prompts behind bars, and what comes back is checked. Calls no model:
//! who mines passes in how to ask one.

mod choose;
mod clean;
mod heuristic;
mod merge;
mod model;
mod prompt;
mod read;
mod recur;
mod slash;
mod target;

pub use choose::{ChosenTasks, choose_tasks};
pub use heuristic::mine_heuristically;
pub(crate) use merge::join;
pub use merge::{agreed_hints, merge_tasks};
pub use model::{AskMiner, ModelMined, mine_with_model};
pub use prompt::{MINER_PROMPT, miner_prompt};
pub use read::{DropReason, Dropped, MinedReply, read_miner_reply};
pub use recur::{Recurrence, recurrences};
pub use slash::is_slash_command;
pub use target::{TargetTerms, filter_for_target};

use crate::digest::SessionDigest;
use skillopt_domain::hash::Sha256Hex;

/// Shortest intent, in characters.
const MIN_INTENT_CHARS: usize = 8;
/// Longest intent, in characters.
const MAX_INTENT_CHARS: usize = 800;

/// The first `n` characters.
fn cut(text: &str, n: usize) -> String {
    text.chars().take(n).collect()
}

/// `prefix` and the first 12 hex digits of the hash.
fn task_id(prefix: &str, hashed: &str) -> String {
    format!("{prefix}{}", &Sha256Hex::of(hashed).as_str()[..12])
}

/// The only skill that the session used, or nothing.
fn skill_hint(digest: &SessionDigest) -> String {
    let mut names: Vec<&str> =
        digest.skills_used.iter().map(|name| name.trim()).filter(|name| !name.is_empty()).collect();
    names.sort_unstable();
    names.dedup();
    if let [only] = names.as_slice() { (*only).to_owned() } else { String::new() }
}

/// What the person asked, in order, without blanks and commands of the agent's own interface.
fn requests(digest: &SessionDigest) -> impl Iterator<Item = &str> {
    let prompts = digest.user_prompts.iter().map(|prompt| prompt.trim());
    prompts.filter(|prompt| !prompt.is_empty() && !is_slash_command(prompt))
}

#[cfg(test)]
mod tests;
