//! Stage 4: what can be used is ordered, the best first. The budget is settled here and spent in stage 5.

use crate::lr::{Evidence, LrOrder, decide};
use crate::ports::Purpose;
use crate::prompts::{Prompt, PromptVars, section};
use crate::proposal::{Proposal, numbered};
use crate::reply::{Parsed, ReplyError};
use crate::run::{Run, TrainError};
use crate::structured::{Question, ask};
use serde_json::Value;
use skillopt_domain::edit::{EditReport, apply_one};
use skillopt_domain::event::Ranking;
use skillopt_domain::outcome::Sample;
use skillopt_domain::proposal::LrDecision;
use skillopt_domain::run::{Phase, Stage};
use skillopt_domain::skill::SkillDoc;
use std::fmt::Write;

/// How many items may be used.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Budget<'a> {
    /// As the schedule says.
    Scheduled(u32),
    /// As the optimizer says.
    ByOptimizer(Evidence<'a>),
    /// All.
    Unlimited,
}

/// What to order.
#[derive(Debug)]
pub(crate) struct SelectOrder<'a> {
    pub(crate) step: u32,
    pub(crate) skill: &'a SkillDoc,
    pub(crate) items: Vec<Proposal>,
    pub(crate) budget: Budget<'a>,
    /// The optimizer's memory of earlier epochs; empty for none.
    pub(crate) memory: &'a str,
    pub(crate) sample: Sample,
}

/// Items in the order in which they are tried, and edits that could not be applied anyway.
#[derive(Clone, Debug)]
pub(crate) struct Selection {
    pub(crate) ordered: Vec<Proposal>,
    pub(crate) unusable: Vec<EditReport>,
    pub(crate) budget: u32,
    pub(crate) decision: Option<LrDecision>,
    pub(crate) ranking: Ranking,
    pub(crate) reasoning: String,
}

/// Tries each edit alone on the current skill; what cannot apply is reported and never ranked. Then the budget
/// is settled, and when more is left than it allows, the optimizer orders it. Items that it does not name follow
/// in the order of the merge: a slot that a failed edit leaves free goes to them. A budget of nothing needs no order.
pub(crate) async fn select(run: &Run<'_>, order: SelectOrder<'_>) -> Result<Selection, TrainError> {
    run.check_cancelled()?;
    let ticker = run.tick(Phase::Step { step: order.step, stage: Stage::Select }, 1);
    let mut selection = Selection {
        ordered: Vec::new(),
        unusable: Vec::new(),
        budget: 0,
        decision: None,
        ranking: Ranking::NotNeeded,
        reasoning: String::new(),
    };
    for item in order.items {
        run.check_cancelled()?;
        match usable(order.skill, &item) {
            None => selection.ordered.push(item),
            Some(report) => selection.unusable.push(report),
        }
    }
    let available = u32::try_from(selection.ordered.len()).unwrap_or(u32::MAX);
    selection.budget = match order.budget {
        Budget::Scheduled(budget) => budget,
        Budget::Unlimited => available,
        Budget::ByOptimizer(_) if available == 0 => 0,
        Budget::ByOptimizer(evidence) => {
            let (items, sample) = (&selection.ordered, order.sample.clone());
            let (step, skill, memory) = (order.step, order.skill, order.memory);
            let lr_order = LrOrder { step, skill, items, evidence, memory, sample };
            let decision = decide(run, lr_order).await?;
            let budget = decision.learning_rate;
            selection.decision = Some(decision);
            budget
        }
    };
    if selection.budget > 0 && available > selection.budget {
        let context = RankContext { step: order.step, skill: order.skill, memory: order.memory };
        rank(run, &mut selection, &context, order.sample).await?;
    }
    ticker.done(false);
    Ok(selection)
}

/// The report of an edit that cannot apply; `None` for what can be used.
fn usable(skill: &SkillDoc, item: &Proposal) -> Option<EditReport> {
    let edit = item.edit()?;
    let refusal = apply_one(skill, edit).err()?;
    Some(EditReport {
        edit: edit.clone(),
        status: refusal.status,
        detail: refusal.detail,
        resembles_rejected_step: None,
    })
}

struct RankContext<'a> {
    step: u32,
    skill: &'a SkillDoc,
    memory: &'a str,
}

async fn rank(
    run: &Run<'_>,
    selection: &mut Selection,
    context: &RankContext<'_>,
    sample: Sample,
) -> Result<(), TrainError> {
    let mode = run.input.config.optimizer.update_mode;
    let max_items = Some(selection.budget);
    let question = Question {
        purpose: Purpose::Ranking,
        phase: format!("step_{:04}", context.step),
        system: run.system_message(
            Prompt::Ranking,
            PromptVars { mode, max_items, ..PromptVars::default() },
        )?,
        user: message(context, selection, mode.item_word()),
        sample,
        max_tokens: None,
    };
    let n = selection.ordered.len();
    let asked = ask(run, question, |parsed| read_indices(&parsed, n)).await?;
    match asked.or_reason(run).await? {
        Ok((indices, reasoning)) => {
            selection.ordered = reordered(&selection.ordered, &indices);
            selection.ranking = Ranking::ByOptimizer;
            selection.reasoning = reasoning;
        }
        Err(reason) => {
            selection.ranking = Ranking::FallbackOrder;
            selection.reasoning = format!("the order of the merge was kept: {reason}");
        }
    }
    Ok(())
}

fn message(context: &RankContext<'_>, selection: &Selection, word: &str) -> String {
    let mut user = section("current_skill", context.skill.text());
    user.push('\n');
    if !context.memory.is_empty() {
        user.push_str(&section("optimizer_memory", context.memory));
        user.push('\n');
    }
    user.push_str(&section("proposed_edits", &numbered(&selection.ordered)));
    let budget = selection.budget;
    // Writing to a String cannot fail.
    let _ = writeln!(
        user,
        "\nSelect the {budget} most important {word}s: 0-based indices, most important first."
    );
    user
}

/// Unique indices within range, in the order given; at least one.
fn read_indices(parsed: &Parsed, n: usize) -> Result<(Vec<usize>, String), ReplyError> {
    let Some(Value::Array(items)) = parsed.object.get("selected_indices") else {
        return Err(ReplyError::Shape("the object has no list `selected_indices`".into()));
    };
    let mut indices = Vec::new();
    for item in items {
        let index = item.as_u64().and_then(|index| usize::try_from(index).ok());
        if let Some(index) = index.filter(|index| *index < n && !indices.contains(index)) {
            indices.push(index);
        }
    }
    if indices.is_empty() {
        return Err(ReplyError::Shape(format!(
            "`selected_indices` names none of 0 to {}",
            n.saturating_sub(1)
        )));
    }
    Ok((indices, crate::patch::text(&parsed.object, "reasoning")))
}

fn reordered(edits: &[Proposal], first: &[usize]) -> Vec<Proposal> {
    let rest = (0..edits.len()).filter(|at| !first.contains(at));
    first.iter().copied().chain(rest).map(|at| edits[at].clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reply::parse_object;
    use rstest::rstest;

    #[rstest]
    #[case(r#"{"selected_indices": [2, 0, 2, 9, -1, "1"]}"#, Some(vec![2, 0]))]
    #[case(r#"{"selected_indices": []}"#, None)]
    #[case(r#"{"selected_indices": [7]}"#, None)]
    #[case(r#"{"indices": [0]}"#, None)]
    fn indices_are_unique_and_in_range(#[case] text: &str, #[case] expect: Option<Vec<usize>>) {
        let parsed = parse_object(text).expect("object");
        assert_eq!(read_indices(&parsed, 3).ok().map(|(indices, _)| indices), expect);
    }
}
