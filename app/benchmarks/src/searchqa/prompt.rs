//! How a task is put to the target. The words are in `prompts/`.

use super::{Item, SearchQa};
use skillopt_engine::prompts::BenchmarkPrompt;

const TARGET: &str = include_str!("prompts/target.md");
const SKILL_SECTION: &str = include_str!("prompts/skill_section.md");

/// What the target is told.
pub const PROMPTS: &[BenchmarkPrompt] = &[
    BenchmarkPrompt {
        name: "target",
        purpose: "Tells the target how to answer a question from passages. Holds the skill.",
        text: TARGET,
    },
    BenchmarkPrompt {
        name: "target/skill_section",
        purpose: "How the skill stands in the target's prompt; nothing stands there without one.",
        text: SKILL_SECTION,
    },
];

/// Raised when the prompt or the scorer changes in a way that files do not show. It stands in the prompt, so
/// recorded answers of another version are never taken for answers of this one.
const HARNESS_VERSION: u32 = 1;

/// Most characters of the passages.
pub(crate) const CONTEXT_CHARS: usize = 6000;

const DOC: &str = "[DOC]";

/// The system message. Without a skill there is no skill section.
pub(crate) fn system(skill: &str) -> String {
    let section = match skill.trim() {
        "" => "\n".to_owned(),
        text => SKILL_SECTION.replace("{skill}", text),
    };
    // The skill goes in last: whatever it holds, no placeholder in it is filled.
    TARGET
        .replace("{benchmark}", SearchQa::NAME)
        .replace("{harness_version}", &HARNESS_VERSION.to_string())
        .replace("{skill_section}", &section)
}

/// The user message.
pub(crate) fn user(item: &Item) -> String {
    let passages = cut_context(&item.context, CONTEXT_CHARS);
    format!("<passages>\n{passages}\n</passages>\n\nQuestion: {}", item.question.trim())
}

/// Where the character with this number begins; `None` when there are no more than so many.
fn place(text: &str, number: usize) -> Option<usize> {
    let is_plain = text.as_bytes().get(..number)?.is_ascii();
    match is_plain {
        true => (number < text.len()).then_some(number),
        false => text.char_indices().nth(number).map(|(at, _)| at),
    }
}

/// The first whole passages that fit. A first passage that is too long by itself is cut.
pub(crate) fn cut_context(context: &str, limit: usize) -> &str {
    let context = context.trim();
    let Some(end) = place(context, limit) else {
        return context;
    };
    let fits = &context[..end];
    let border = if context[end..].starts_with(DOC) { Some(end) } else { fits.rfind(DOC) };
    match border {
        Some(at) if !context[..at].trim().is_empty() => context[..at].trim_end(),
        _ => fits,
    }
}
