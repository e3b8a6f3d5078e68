//! Stage 4: what can be used is ordered, the best first. The budget is settled here and spent in stage 5.

use crate::lr::{Evidence, LrOrder, decide};
use crate::ports::Purpose;
use crate::prompts::{Prompt, PromptVars, section, system_message};
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

/// Settles which items are used, and in which order.
pub(crate) async fn select(run: &Run<'_>, order: SelectOrder<'_>) -> Result<Selection, TrainError> {
    run.check_cancelled()?;
    let ticker = run.tick(Phase::Step { step: order.step, stage: Stage::Select }, 1);
    let selection = match run.is_python() {
        true => select_as_python(run, order).await?,
        false => select_usable(run, order).await?,
    };
    ticker.done(false);
    Ok(selection)
}

/// Tries each edit alone on the current skill; what cannot apply is reported and never ranked. Then the budget
/// is settled, and when more is left than it allows, the optimizer orders it. Items that it does not name follow
/// in the order of the merge: a slot that a failed edit leaves free goes to them. A budget of nothing needs no order.
async fn select_usable(run: &Run<'_>, mut order: SelectOrder<'_>) -> Result<Selection, TrainError> {
    let mut selection = Selection::of(Vec::new());
    for item in std::mem::take(&mut order.items) {
        run.check_cancelled()?;
        match usable(order.skill, &item) {
            None => selection.ordered.push(item),
            Some(report) => selection.unusable.push(report),
        }
    }
    settle_budget(run, &mut selection, &order).await?;
    if selection.budget > 0 && selection.available() > selection.budget {
        match rank(run, &selection, &order).await? {
            Ok((indices, reasoning)) => {
                selection.ordered = reordered(&selection.ordered, &indices);
                selection.ranking = Ranking::ByOptimizer;
                selection.reasoning = reasoning;
            }
            Err(reason) => selection.keep_order(&reason),
        }
    }
    Ok(selection)
}

/// All items compete, those that cannot apply too. What is not chosen is dropped. A budget of nothing is asked for
/// like any other and, when the reply can be read, one item is used.
async fn select_as_python(
    run: &Run<'_>,
    mut order: SelectOrder<'_>,
) -> Result<Selection, TrainError> {
    let mut selection = Selection::of(std::mem::take(&mut order.items));
    settle_budget(run, &mut selection, &order).await?;
    if selection.available() > selection.budget {
        let budget = usize::try_from(selection.budget).unwrap_or(usize::MAX);
        match rank(run, &selection, &order).await? {
            Ok((indices, reasoning)) => {
                let chosen = indices.into_iter().take(budget.max(1));
                selection.ordered = chosen.map(|at| selection.ordered[at].clone()).collect();
                selection.ranking = Ranking::ByOptimizer;
                selection.reasoning = reasoning;
            }
            Err(reason) => {
                selection.keep_order(&reason);
                selection.ordered.truncate(budget);
            }
        }
    }
    Ok(selection)
}

impl Selection {
    fn of(items: Vec<Proposal>) -> Self {
        Self {
            ordered: items,
            unusable: Vec::new(),
            budget: 0,
            decision: None,
            ranking: Ranking::NotNeeded,
            reasoning: String::new(),
        }
    }

    fn available(&self) -> u32 {
        u32::try_from(self.ordered.len()).unwrap_or(u32::MAX)
    }

    fn keep_order(&mut self, reason: &str) {
        self.ranking = Ranking::FallbackOrder;
        self.reasoning = format!("the order of the merge was kept: {reason}");
    }
}

async fn settle_budget(
    run: &Run<'_>,
    selection: &mut Selection,
    order: &SelectOrder<'_>,
) -> Result<(), TrainError> {
    let available = selection.available();
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
    Ok(())
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

/// Indices of the best items with the reasoning, or why there are none.
async fn rank(
    run: &Run<'_>,
    selection: &Selection,
    order: &SelectOrder<'_>,
) -> Result<Result<(Vec<usize>, String), String>, TrainError> {
    let mode = run.input.config.optimizer.update_mode;
    let max_items = Some(selection.budget);
    let question = Question {
        purpose: Purpose::Ranking,
        phase: format!("step_{:04}", order.step),
        system: system_message(
            Prompt::Ranking,
            PromptVars { mode, max_items, ..PromptVars::default() },
        ),
        user: message(order, selection, mode.item_word()),
        sample: order.sample.clone(),
        max_tokens: None,
    };
    let n = selection.ordered.len();
    let asked = ask(run, question, |parsed| read_indices(&parsed, n)).await?;
    asked.or_reason(run).await
}

fn message(context: &SelectOrder<'_>, selection: &Selection, word: &str) -> String {
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
