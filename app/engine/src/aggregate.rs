//! Stage 3: patches are merged level by level until one is left. A merge that cannot be used is replaced by
//! joining its inputs, and that is counted and shown.

use crate::patch::{Patch, read_items, text};
use crate::ports::Purpose;
use crate::prompts::{Prompt, PromptVars, push_section, section};
use crate::proposal::Proposal;
use crate::python;
use crate::reflect::{Reflection, reply_limit};
use crate::reply::ReplyError;
use crate::run::{Run, Ticker, TrainError, Work, in_order};
use crate::structured::{Question, ask};
use serde_json::Value;
use skillopt_domain::config::UpdateMode;
use skillopt_domain::edit::SourceType;
use skillopt_domain::outcome::Sample;
use skillopt_domain::run::{Phase, Stage};
use skillopt_domain::skill::SkillDoc;
use std::fmt::Write;

/// What to merge.
#[derive(Debug)]
pub(crate) struct MergeOrder<'a> {
    pub(crate) step: u32,
    pub(crate) skill: &'a SkillDoc,
    /// The optimizer's memory of earlier epochs; empty for none.
    pub(crate) memory: &'a str,
    pub(crate) sample: Sample,
}

/// The merged patch and how it came about.
#[derive(Clone, Debug, Default)]
pub(crate) struct Merged {
    pub(crate) patch: Patch,
    pub(crate) levels: u32,
    pub(crate) n_fallbacks: u32,
}

/// Merges failure patches and success patches apart, both sides at once, then both into one.
pub(crate) async fn aggregate(
    run: &Run<'_>,
    order: &MergeOrder<'_>,
    reflection: Reflection,
) -> Result<Merged, TrainError> {
    run.check_cancelled()?;
    let group = usize::try_from(run.input.config.gradient.merge_batch_size).unwrap_or(2).max(2);
    let n_calls =
        calls_of(reflection.failure.len(), group) + calls_of(reflection.success.len(), group);
    let final_call = usize::from(!reflection.failure.is_empty() && !reflection.success.is_empty());
    let ticker =
        run.tick(Phase::Step { step: order.step, stage: Stage::Aggregate }, n_calls + final_call);
    let (failure, success) = futures::future::join(
        merge_side(run, order, &ticker, reflection.failure, SourceType::Failure),
        merge_side(run, order, &ticker, reflection.success, SourceType::Success),
    )
    .await;
    let (failure, success) = (failure?, success?);
    let mut merged = Merged {
        levels: failure.levels.max(success.levels),
        n_fallbacks: failure.n_fallbacks + success.n_fallbacks,
        patch: Patch::default(),
    };
    match (failure.patch.items.is_empty(), success.patch.items.is_empty()) {
        (_, true) => merged.patch = failure.patch,
        (true, false) => merged.patch = success.patch,
        (false, false) => {
            let sides = [failure.patch, success.patch];
            let (patch, fell_back) = merge_once(run, order, Purpose::MergeFinal, &sides, 0).await?;
            ticker.done(fell_back);
            merged.patch = patch;
            merged.levels += 1;
            merged.n_fallbacks += u32::from(fell_back);
        }
    }
    Ok(merged)
}

/// Merge calls of one side over all levels.
pub(crate) fn calls_of(mut patches: usize, group: usize) -> usize {
    let mut calls = 0;
    while patches > 1 {
        calls += patches / group + usize::from(patches % group > 1);
        patches = patches.div_ceil(group);
    }
    calls
}

async fn merge_side(
    run: &Run<'_>,
    order: &MergeOrder<'_>,
    ticker: &Ticker<'_>,
    mut patches: Vec<Patch>,
    source: SourceType,
) -> Result<Merged, TrainError> {
    let config = &run.input.config.gradient;
    let group = usize::try_from(config.merge_batch_size).unwrap_or(2).max(2);
    let purpose = match source {
        SourceType::Failure => Purpose::MergeFailure,
        SourceType::Success => Purpose::MergeSuccess,
    };
    let mut merged = Merged::default();
    while patches.len() > 1 {
        merged.levels += 1;
        let level = merged.levels;
        let merges = patches.chunks(group).map(|chunk| -> Work<'_, (Patch, bool)> {
            Box::pin(async move {
                if let [single] = chunk {
                    return Ok((single.clone(), false));
                }
                let (patch, fell_back) = merge_once(run, order, purpose, chunk, level).await?;
                ticker.done(fell_back);
                Ok((patch, fell_back))
            })
        });
        let results = in_order(config.analyst_workers, merges).await?;
        merged.n_fallbacks +=
            results.iter().map(|(_, fell_back)| u32::from(*fell_back)).sum::<u32>();
        patches = results.into_iter().map(|(patch, _)| patch).collect();
    }
    merged.patch = patches.pop().unwrap_or_default();
    Ok(merged)
}

/// One merge call; true when its reply could not be used and the inputs were joined instead.
async fn merge_once(
    run: &Run<'_>,
    order: &MergeOrder<'_>,
    purpose: Purpose,
    patches: &[Patch],
    level: u32,
) -> Result<(Patch, bool), TrainError> {
    let mode = run.input.config.optimizer.update_mode;
    let question = Question {
        purpose,
        phase: format!("step_{:04}", order.step),
        system: run
            .system_message(prompt_of(purpose), PromptVars { mode, ..PromptVars::default() })?,
        user: merge_message(order, mode, purpose, patches, level),
        sample: order.sample.clone(),
        max_tokens: reply_limit(run),
    };
    let asked = ask(run, question, |parsed| {
        if run.is_python() {
            return python::read_merged(&parsed.object, mode);
        }
        let items = read_items(&parsed.object, mode)?;
        if items.iter().any(Proposal::is_hollow) {
            return Err(ReplyError::Shape("an edit has no known `op`".into()));
        }
        if items.is_empty() {
            return Err(ReplyError::Shape(format!(
                "`{0}` is empty, though there were {0} to merge",
                mode.items_key()
            )));
        }
        Ok(Patch { reasoning: text(&parsed.object, "reasoning"), items })
    })
    .await?;
    Ok(match asked.or_reason(run).await? {
        Ok(mut patch) => {
            if run.is_python() {
                patch.items.iter_mut().for_each(|item| *item.level_mut() = level);
            } else {
                stamp(&mut patch.items, patches, purpose, level);
            }
            (patch, false)
        }
        Err(_) => (joined(patches, level), true),
    })
}

fn prompt_of(purpose: Purpose) -> Prompt {
    match purpose {
        Purpose::MergeSuccess => Prompt::MergeSuccess,
        Purpose::MergeFinal => Prompt::MergeFinal,
        _ => Prompt::MergeFailure,
    }
}

/// Support and source cannot exceed what went in; merge levels are counted, not believed.
fn stamp(items: &mut [Proposal], inputs: &[Patch], purpose: Purpose, level: u32) {
    let total: u32 = inputs
        .iter()
        .map(|patch| patch.items.iter().map(Proposal::support).max().unwrap_or_default())
        .sum();
    let deepest = inputs.iter().flat_map(|patch| &patch.items).map(Proposal::level).max();
    for item in items {
        *item.support_mut() = item.support().clamp(1, total.max(1));
        match purpose {
            Purpose::MergeFailure => *item.source_mut() = SourceType::Failure,
            Purpose::MergeSuccess => *item.source_mut() = SourceType::Success,
            _ => {}
        }
        *item.level_mut() = level.max(deepest.unwrap_or_default());
    }
}

fn joined(patches: &[Patch], level: u32) -> Patch {
    let mut items: Vec<Proposal> =
        patches.iter().flat_map(|patch| patch.items.iter().cloned()).collect();
    for item in &mut items {
        *item.level_mut() = item.level().max(level);
    }
    Patch {
        reasoning: "joined without a merge, because the merge reply could not be used".into(),
        items,
    }
}

fn merge_message(
    order: &MergeOrder<'_>,
    mode: UpdateMode,
    purpose: Purpose,
    patches: &[Patch],
    level: u32,
) -> String {
    let mut user = section("current_skill", order.skill.text());
    push_section(&mut user, "optimizer_memory", order.memory);
    if purpose == Purpose::MergeFinal {
        let word = mode.item_word();
        let sizes: Vec<String> =
            patches.iter().map(|patch| patch.items.len().to_string()).collect();
        let _ = writeln!(
            user,
            "\nTwo pre-merged patches: the first from failures ({} {word}s, high priority), the second from \
             successes ({} {word}s).\n",
            sizes.first().map_or("0", String::as_str),
            sizes.get(1).map_or("0", String::as_str)
        );
    } else {
        let _ = writeln!(user, "\nPatches to merge: {}, merge level {level}.\n", patches.len());
    }
    let json = serde_json::to_string_pretty(
        &patches.iter().map(|patch| patch.to_json(mode)).collect::<Vec<Value>>(),
    )
    .unwrap_or_default();
    user.push_str(&section("patches", &json));
    user
}
