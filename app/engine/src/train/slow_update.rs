//! The slow update: guidance that the comparison of two epochs calls for, written into a marked region of the skill.
//! It is measured on the selection split like any candidate. Unless a config forces it, it stays only if it wins.

use super::TrainState;
use super::epoch_end::{Stopwatch, key};
use super::judge::{JudgeOrder, Judged, judge};
use super::longitudinal::Pairs;
use super::python::{force, forces};
use crate::patch::text;
use crate::ports::Purpose;
use crate::prompts::{Prompt, PromptVars, section, system_message};
use crate::run::{Run, TrainError};
use crate::structured::{Question, ask};
use skillopt_domain::config::{Evaluation, SlowUpdateMode};
use skillopt_domain::epoch::{EpochAction, SlowUpdate};
use skillopt_domain::event::EventKind;
use skillopt_domain::python::with_guidance;
use skillopt_domain::run::Phase;
use skillopt_domain::skill::{Region, SkillDoc};
use skillopt_domain::verdict::{Action, Verdict};

/// What the guidance rests on.
#[derive(Debug)]
pub(super) struct SlowOrder<'a> {
    pub(super) epoch: u32,
    pub(super) pairs: &'a Pairs,
    pub(super) stopwatch: Stopwatch,
}

struct Guidance {
    content: String,
    reasoning: String,
}

/// Asks for guidance, puts it in a candidate, and decides.
pub(super) async fn update_slowly(
    run: &Run<'_>,
    state: &mut TrainState,
    order: SlowOrder<'_>,
) -> Result<(), TrainError> {
    let known = match run.ports.journal.find(&key(order.epoch, "slow_updated")).await? {
        Some(EventKind::SlowUpdated(known)) => Some(known),
        _ => None,
    };
    let mut update = ask_for_guidance(run, state, &order).await?;
    let candidate = match run.is_python() {
        true => candidate_as_python(&state.skills.current, &update),
        false => candidate_of(&state.skills.current, &mut update),
    };
    if let Some(candidate) = &candidate {
        update.candidate = Some(candidate.sha());
        run.ports.journal.keep_skill(candidate.text()).await?;
        run.write(&file(order.epoch, "candidate_skill.md"), candidate.text().to_owned()).await?;
        if forces(run) {
            force(state, &mut update, candidate);
        } else {
            let decided =
                known.as_ref().and_then(|known| known.verdict.clone().zip(known.set.clone()));
            let judged = judge_guidance(run, state, &order, candidate, decided).await?;
            settle(run, state, &mut update, candidate, judged);
        }
    }
    fill_in(run, state, &mut update, &order.stopwatch);
    if known.is_some() {
        // What an earlier attempt took and paid for is what counts, and its files must not be set back.
        return Ok(());
    }
    state.artifacts.write_slow_update(run, &update, order.pairs.means(), &state.skills).await?;
    run.emit(&key(order.epoch, "slow_updated"), EventKind::SlowUpdated(update)).await
}

async fn ask_for_guidance(
    run: &Run<'_>,
    state: &TrainState,
    order: &SlowOrder<'_>,
) -> Result<SlowUpdate, TrainError> {
    let (guidance, reason) = if order.pairs.len() == 0 && !run.is_python() {
        (Guidance::none(), "no task shows a difference to learn from".to_owned())
    } else {
        guidance(run, question(run, state, order)).await?
    };
    Ok(SlowUpdate {
        epoch: order.epoch,
        step: state.step,
        action: EpochAction::NoContent,
        content: guidance.content,
        reasoning: guidance.reasoning,
        candidate: None,
        verdict: None,
        set: None,
        version: state.skills.version,
        current_score: None,
        current_n: None,
        skill_tokens: 0,
        wall_ms: 0,
        spend: skillopt_domain::spend::SpendByRole::default(),
        reason,
    })
}

/// Guidance, or why there is none.
async fn guidance(run: &Run<'_>, question: Question) -> Result<(Guidance, String), TrainError> {
    let asked = ask(run, question, |parsed| {
        Ok(Guidance {
            content: text(&parsed.object, "slow_update_content").trim().to_owned(),
            reasoning: text(&parsed.object, "reasoning"),
        })
    })
    .await?;
    Ok(match asked.or_reason(run).await? {
        Ok(guidance) => (guidance, "the optimizer wrote no guidance".to_owned()),
        Err(reason) => (Guidance::none(), reason),
    })
}

impl Guidance {
    fn none() -> Self {
        Self { content: String::new(), reasoning: String::new() }
    }
}

fn question(run: &Run<'_>, state: &TrainState, order: &SlowOrder<'_>) -> Question {
    let current = &state.skills.current;
    let mut user = section("previous_skill", state.epoch_skill.text());
    user.push('\n');
    user.push_str(&section("current_skill", current.text()));
    if let Some(earlier) = current.region(Region::SlowUpdate) {
        user.push('\n');
        user.push_str(&section("previous_guidance", earlier));
    }
    user.push('\n');
    user.push_str(&section("comparison", &order.pairs.text()));
    let vars = PromptVars { n_tasks: order.pairs.len(), ..PromptVars::default() };
    Question {
        purpose: Purpose::SlowUpdate,
        phase: format!("slow_update_{:02}", order.epoch),
        system: system_message(Prompt::SlowUpdate, vars),
        user,
        sample: run.sample(order.epoch, 0),
        max_tokens: None,
    }
}

/// The skill with the guidance, wherever that leads; `None` when there is none.
fn candidate_as_python(current: &SkillDoc, update: &SlowUpdate) -> Option<SkillDoc> {
    (!update.content.is_empty()).then(|| with_guidance(current, &update.content))
}

/// The skill with the guidance; `None` when there is none, or when nothing would change.
fn candidate_of(current: &SkillDoc, update: &mut SlowUpdate) -> Option<SkillDoc> {
    if update.content.is_empty() {
        return None;
    }
    match current.with_region(Region::SlowUpdate, &update.content) {
        Ok(candidate) if candidate.text() == current.text() => {
            update.action = EpochAction::NoChange;
            update.reason = "the guidance says what the skill says already".to_owned();
            None
        }
        Ok(candidate) => Some(candidate),
        Err(refusal) => {
            update.reason = refusal.to_string();
            None
        }
    }
}

async fn judge_guidance(
    run: &Run<'_>,
    state: &mut TrainState,
    order: &SlowOrder<'_>,
    candidate: &SkillDoc,
    known: Option<(Verdict, String)>,
) -> Result<Judged, TrainError> {
    let own = &run.input.config.evaluation;
    let forced = run.input.config.optimizer.slow_update == SlowUpdateMode::Forced;
    // Forced guidance is measured as well: a score always belongs to the text that stands.
    let use_gate = !forced && (own.use_gate || run.is_python());
    let evaluation = Evaluation { use_gate, ..own.clone() };
    let judge_order = JudgeOrder {
        known,
        candidate,
        evaluation: &evaluation,
        phase: Phase::SlowUpdate { epoch: order.epoch },
        dir: file(order.epoch, "selection_eval"),
    };
    judge(run, state, judge_order).await
}

fn settle(
    run: &Run<'_>,
    state: &mut TrainState,
    update: &mut SlowUpdate,
    candidate: &SkillDoc,
    judged: Judged,
) {
    let action = judged.verdict.action;
    update.action = match action {
        Action::AcceptNewBest => EpochAction::AcceptNewBest,
        Action::Accept => EpochAction::Accept,
        Action::ForceAccept => EpochAction::ForceAccept,
        Action::Inconclusive => EpochAction::Inconclusive,
        Action::Reject | Action::SkipNoPatches | Action::SkipNoChange | Action::SkipNoRewrite => {
            EpochAction::Reject
        }
    };
    let forced = run.input.config.optimizer.slow_update == SlowUpdateMode::Forced;
    update.reason = match update.action {
        EpochAction::ForceAccept if forced => {
            format!("{} (optimizer.slow_update_gate_with_selection is off)", judged.verdict.reason)
        }
        _ => judged.verdict.reason.clone(),
    };
    state.last_was_inconclusive = action == Action::Inconclusive;
    if action.is_accepted() {
        state.skills.accept(candidate.clone(), format!("slow_update_epoch_{:02}", update.epoch));
    }
    if judged.is_best {
        state.skills.crown(state.step);
    }
    update.verdict = Some(judged.verdict);
    update.set = Some(judged.set);
}

fn fill_in(run: &Run<'_>, state: &TrainState, update: &mut SlowUpdate, stopwatch: &Stopwatch) {
    let current = state.current_measurement(run);
    update.version = state.skills.version;
    update.current_score = current.as_ref().and_then(|measured| measured.gate_score);
    update.current_n = current.and_then(|measured| measured.score).map(|score| score.n);
    update.skill_tokens = state.skills.current.estimated_tokens();
    (update.wall_ms, update.spend) = stopwatch.read(run);
}

fn file(epoch: u32, name: &str) -> String {
    format!("slow_update/epoch_{epoch:02}/{name}")
}
