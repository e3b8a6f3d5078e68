//! Stage 4: edits that can be applied are ordered, the best first. The budget itself is spent in stage 5.

use crate::ports::Purpose;
use crate::prompts::{Prompt, one_line, section, system_message};
use crate::reply::{Parsed, ReplyError};
use crate::run::{Run, TrainError};
use crate::structured::{Asked, Question, ask, remember_failure};
use serde_json::Value;
use skillopt_domain::edit::{Edit, EditReport, apply_one};
use skillopt_domain::event::Ranking;
use skillopt_domain::outcome::Sample;
use skillopt_domain::run::{Phase, Stage};
use skillopt_domain::skill::SkillDoc;
use std::fmt::Write;

/// What to order.
#[derive(Debug)]
pub(crate) struct SelectOrder<'a> {
    pub(crate) step: u32,
    pub(crate) skill: &'a SkillDoc,
    pub(crate) edits: Vec<Edit>,
    pub(crate) budget: u32,
    pub(crate) sample: Sample,
}

/// Edits in the order in which they are tried, and those that could not be applied anyway.
#[derive(Clone, Debug)]
pub(crate) struct Selection {
    pub(crate) ordered: Vec<Edit>,
    pub(crate) unusable: Vec<EditReport>,
    pub(crate) ranking: Ranking,
    pub(crate) reasoning: String,
}

/// Tries each edit alone on the current skill; what cannot apply is reported and never ranked. When more are
/// left than the budget allows, the optimizer orders them. Those that it does not name follow in the order of
/// the merge: a slot that a failed edit leaves free goes to them.
pub(crate) async fn select(run: &Run<'_>, order: SelectOrder<'_>) -> Result<Selection, TrainError> {
    run.check_cancelled()?;
    let ticker = run.tick(Phase::Step { step: order.step, stage: Stage::Select }, 1);
    let mut selection = Selection {
        ordered: Vec::new(),
        unusable: Vec::new(),
        ranking: Ranking::NotNeeded,
        reasoning: String::new(),
    };
    for edit in order.edits {
        run.check_cancelled()?;
        match apply_one(order.skill, &edit) {
            Ok(_) => selection.ordered.push(edit),
            Err(refusal) => selection.unusable.push(EditReport {
                edit,
                status: refusal.status,
                detail: refusal.detail,
                resembles_rejected_step: None,
            }),
        }
    }
    let budget = usize::try_from(order.budget).unwrap_or(usize::MAX);
    if selection.ordered.len() > budget {
        let question =
            question(order.step, order.skill, &selection.ordered, order.budget, order.sample);
        let n = selection.ordered.len();
        match ask(run, question, |parsed| read_indices(&parsed, n)).await? {
            Asked::Answer { value: (indices, reasoning), .. } => {
                selection.ordered = reordered(&selection.ordered, &indices);
                selection.ranking = Ranking::ByOptimizer;
                selection.reasoning = reasoning;
            }
            Asked::Failed { call, error } => {
                remember_failure(run, &call, &error).await?;
                selection.ranking = Ranking::FallbackOrder;
                selection.reasoning = format!("the order of the merge was kept: {error}");
            }
            Asked::Lost { reason, .. } => {
                selection.ranking = Ranking::FallbackOrder;
                selection.reasoning = format!("the order of the merge was kept: {reason}");
            }
        }
    }
    ticker.done(false);
    Ok(selection)
}

fn question(step: u32, skill: &SkillDoc, edits: &[Edit], budget: u32, sample: Sample) -> Question {
    let mut user = section("current_skill", skill.text());
    user.push('\n');
    let mut list = String::new();
    let field = |text: Option<&str>| one_line(text.unwrap_or_default());
    for (at, edit) in edits.iter().enumerate() {
        let _ = writeln!(
            list,
            "[{at}] op={} target={} content={} support={}",
            one_line(edit.op.as_str()),
            field(edit.target.as_deref()),
            field(edit.content.as_deref()),
            edit.support_count
        );
    }
    user.push_str(&section("proposed_edits", &list));
    let _ = writeln!(
        user,
        "\nSelect the {budget} most important edits: 0-based indices, most important first."
    );
    Question {
        purpose: Purpose::Ranking,
        phase: format!("step_{step:04}"),
        system: system_message(Prompt::Ranking, budget),
        user,
        sample,
    }
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

fn reordered(edits: &[Edit], first: &[usize]) -> Vec<Edit> {
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
