//! The meta skill: what the optimizer remembers from epoch to epoch. Only optimizer prompts hold it; the target
//! never sees it, and no skill does.

use super::TrainState;
use super::epoch_end::{Stopwatch, key};
use super::longitudinal::Pairs;
use crate::patch::text;
use crate::ports::Purpose;
use crate::prompts::{Prompt, PromptVars, push_section, section, system_message};
use crate::run::{Run, TrainError};
use crate::structured::{Question, ask};
use serde_json::json;
use skillopt_domain::epoch::{EpochAction, MetaSkill};
use skillopt_domain::event::EventKind;
use skillopt_domain::skill::SkillDoc;

/// What the memory rests on.
#[derive(Debug)]
pub(super) struct MemoryOrder<'a> {
    pub(super) epoch: u32,
    pub(super) pairs: &'a Pairs,
    /// The skill at the end of the epoch, before any guidance was written.
    pub(super) current: &'a SkillDoc,
    pub(super) stopwatch: Stopwatch,
}

/// Asks for a new memory. When none comes, the earlier one stays.
pub(super) async fn renew(
    run: &Run<'_>,
    state: &mut TrainState,
    order: MemoryOrder<'_>,
) -> Result<(), TrainError> {
    let (content, reasoning, reason) = if order.pairs.len() == 0 && !run.is_python() {
        let reason = "no task shows a difference to learn from".to_owned();
        (String::new(), String::new(), reason)
    } else {
        written(run, question(run, state, &order)).await?
    };
    let (wall_ms, spend) = order.stopwatch.read(run);
    let written = !content.is_empty();
    // The Python system reads the memory of the epoch before, and nothing older.
    if written || run.is_python() {
        state.memory = content;
    }
    let memory = MetaSkill {
        epoch: order.epoch,
        action: if written { EpochAction::WriteMetaSkill } else { EpochAction::NoContent },
        content: state.memory.clone(),
        reasoning,
        wall_ms,
        spend,
        reason: if written { String::new() } else { reason },
    };
    let file = json!({
        "reasoning": memory.reasoning,
        "meta_skill_content": memory.content,
        "action": memory.action.as_str(),
        "epoch": memory.epoch,
        "time_s": std::time::Duration::from_millis(wall_ms).as_secs_f64(),
    });
    let key = key(order.epoch, "meta_skill");
    if run.ports.journal.find(&key).await?.is_some() {
        // An earlier attempt wrote it, with the time that it took.
        return Ok(());
    }
    let path = format!("meta_skill/epoch_{:02}/meta_skill_result.json", order.epoch);
    run.write_json(&path, &file).await?;
    run.emit(&key, EventKind::MetaSkillWritten(memory)).await
}

/// A memory, the reasoning behind it, and why there is none where there is none.
async fn written(
    run: &Run<'_>,
    question: Question,
) -> Result<(String, String, String), TrainError> {
    let asked = ask(run, question, |parsed| {
        let content = text(&parsed.object, "meta_skill_content").trim().to_owned();
        Ok((content, text(&parsed.object, "reasoning")))
    })
    .await?;
    Ok(match asked.or_reason(run).await? {
        Ok((content, reasoning)) => {
            (content, reasoning, "the optimizer wrote no memory".to_owned())
        }
        Err(reason) => (String::new(), String::new(), reason),
    })
}

fn question(run: &Run<'_>, state: &TrainState, order: &MemoryOrder<'_>) -> Question {
    let mut user = section("previous_skill", state.epoch_skill.text());
    user.push('\n');
    user.push_str(&section("current_skill", order.current.text()));
    push_section(&mut user, "optimizer_memory", &state.memory);
    user.push('\n');
    user.push_str(&section("comparison", &order.pairs.text()));
    let vars = PromptVars { n_tasks: order.pairs.len(), ..PromptVars::default() };
    Question {
        purpose: Purpose::MetaSkill,
        phase: format!("meta_skill_{:02}", order.epoch),
        system: system_message(Prompt::MetaSkill, vars),
        user,
        sample: run.sample(order.epoch, 0),
        max_tokens: None,
    }
}
