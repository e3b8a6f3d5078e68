//! Sentences about a run: what stages did, how far it is, what it spends. Pure, tested.

use super::journal_event::JournalEvent;
use super::state::find;
use super::update_words::{Item, rewrite_report};
use crate::components::ranges::{self, left_words};
use crate::fmt;
use skillopt_domain::api::Caps;
use skillopt_domain::edit::EditStatus;
use skillopt_domain::event::{EventKind, Progress, StepSummary};
use skillopt_domain::run::{Phase, RunStatus, Stage};
use skillopt_domain::spend::SpendByRole;
use skillopt_domain::view::RunView;

/// A count with what it counts: `23` `of 40, 1 error`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StageCount {
    pub(crate) bold: String,
    pub(crate) rest: String,
}

fn counted(bold: impl Into<String>, rest: impl Into<String>) -> StageCount {
    StageCount { bold: bold.into(), rest: rest.into() }
}

/// What a finished stage of a step did; `None` when its event is not known.
pub(crate) fn stage_result(stage: Stage, events: &[JournalEvent]) -> Option<StageCount> {
    match stage {
        Stage::Rollout => find(events, |kind| match kind {
            EventKind::RolledOut { counts, .. } => {
                let scored = counts.passed + counts.failed;
                let errors = errors_words(counts.errors);
                Some(counted(scored.to_string(), format!("of {} scored{errors}", counts.total())))
            }
            _ => None,
        }),
        Stage::Reflect => find(events, |kind| match kind {
            EventKind::Reflected { reflection, .. } => {
                let calls = reflection.n_failure_minibatches + reflection.n_success_minibatches;
                let calls = fmt::plural(u64::from(calls), "minibatch", "minibatches");
                let items = Item::of(events).noun().1;
                Some(counted(reflection.n_edits.to_string(), format!("{items} from {calls}")))
            }
            _ => None,
        }),
        Stage::Aggregate => find(events, |kind| match kind {
            EventKind::Aggregated { n_edits_in, edits, proposals, levels, .. } => {
                let levels = fmt::plural(u64::from(*levels), "level", "levels");
                let (n_out, items) = (edits.len() + proposals.len(), Item::of(events).noun().1);
                Some(counted(format!("{n_edits_in} → {n_out}"), format!("{items}, {levels}")))
            }
            _ => None,
        }),
        Stage::Select => find(events, |kind| match kind {
            EventKind::Selected { budget, edits, proposals, .. } => {
                let all = edits.len() + proposals.len();
                let within = all.min(usize::try_from(*budget).unwrap_or(usize::MAX));
                Some(counted(within.to_string(), format!("of {all} in budget")))
            }
            _ => None,
        }),
        Stage::Update => rewritten(events).or_else(|| {
            find(events, |kind| match kind {
                EventKind::Updated { edits, .. } => {
                    let applied =
                        edits.iter().filter(|edit| edit.status == EditStatus::Applied).count();
                    let tried =
                        edits.iter().filter(|edit| edit.status != EditStatus::OverBudget).count();
                    Some(counted(applied.to_string(), format!("of {tried} applied")))
                }
                _ => None,
            })
        }),
        Stage::Evaluate => find(events, |kind| match kind {
            EventKind::Gated { verdict, .. } => {
                let n = verdict.candidate.map(|score| score.n);
                Some(counted(fmt::score(verdict.candidate_score), fmt::n(n)))
            }
            _ => None,
        }),
    }
}

/// What became of the new text, in modes that have one in place of edits.
fn rewritten(events: &[JournalEvent]) -> Option<StageCount> {
    find(events, rewrite_report).map(|report| {
        if report.status == EditStatus::Applied {
            counted("new text", "taken")
        } else {
            counted("no", "new text")
        }
    })
}

/// What a running stage has done so far.
pub(crate) fn stage_so_far(progress: Option<&Progress>) -> StageCount {
    progress.filter(|progress| progress.total > 0).map_or_else(
        || counted("", "started"),
        |progress| {
            counted(
                progress.done.to_string(),
                format!("of {}{}", progress.total, errors_words(progress.errors)),
            )
        },
    )
}

fn errors_words(errors: u32) -> String {
    if errors == 0 {
        String::new()
    } else {
        format!(", {}", fmt::plural(u64::from(errors), "error", "errors"))
    }
}

/// Where a run is, for the pill: `Running, step 15 of 24`.
pub(crate) fn status_words(view: &RunView) -> String {
    let word = match view.status {
        RunStatus::Done => "Finished",
        RunStatus::Capped => "Cap reached",
        other => return with_phase(&fmt::capital(other.as_str()), view),
    };
    word.to_owned()
}

fn with_phase(word: &str, view: &RunView) -> String {
    let total = view.plan.as_ref().map(|plan| plan.total_steps);
    match (view.phase.filter(|_| view.status.is_live()), total) {
        (Some(Phase::Preflight), _) => format!("{word}, preflight"),
        (Some(Phase::Baseline), _) => format!("{word}, baseline"),
        (Some(phase @ (Phase::SlowUpdate { .. } | Phase::MetaSkill { .. })), _) => {
            format!("{word}, {}", phase_words(phase))
        }
        (Some(Phase::FinalTest), _) => format!("{word}, final test"),
        (Some(Phase::Step { step, .. }), Some(total)) => format!("{word}, step {step} of {total}"),
        (Some(Phase::Step { step, .. }), None) => format!("{word}, step {step}"),
        (None, _) => word.to_owned(),
    }
}

/// The name of a phase that is no step, with the epoch that it ends.
pub(crate) fn phase_words(phase: Phase) -> String {
    match phase {
        Phase::Preflight => "preflight".to_owned(),
        Phase::Baseline => "baseline".to_owned(),
        Phase::Step { step, .. } => format!("step {step}"),
        Phase::SlowUpdate { epoch } => format!("slow update after epoch {epoch}"),
        Phase::MetaSkill { epoch } => format!("meta skill after epoch {epoch}"),
        Phase::FinalTest => "final test".to_owned(),
    }
}

/// What is left, as the run shows it beside what was foreseen.
pub(crate) fn left(view: &RunView) -> Option<String> {
    let forecast = view.plan.as_ref().and_then(|plan| plan.forecast.as_ref());
    match forecast.filter(|_| view.status.is_live()) {
        Some(forecast) => left_words(&forecast.remaining(view).total()),
        None => left_ms(view).map(|ms| format!("about {} left", fmt::duration(ms))),
    }
}

/// The same with its ranges, for who points at it.
pub(crate) fn left_title(view: &RunView) -> Option<String> {
    let forecast = view.plan.as_ref().and_then(|plan| plan.forecast.as_ref());
    let left = forecast.filter(|_| view.status.is_live())?.remaining(view).total();
    Some(ranges::left_title(&left))
}

/// What is left, from the mean wall time of the finished steps; `None` while nobody can tell.
pub(crate) fn left_ms(view: &RunView) -> Option<u64> {
    let total = view.plan.as_ref()?.total_steps;
    let wall = |step: &StepSummary| step.stages.iter().map(|stage| stage.wall_ms).sum::<u64>();
    let measured: Vec<u64> = view.steps.iter().map(wall).filter(|ms| *ms > 0).collect();
    let count = u64::try_from(measured.len()).ok().filter(|count| *count > 0)?;
    let left = u64::from(total.saturating_sub(view.n_steps));
    (left > 0 && view.status.is_live()).then(|| measured.iter().sum::<u64>() / count * left)
}

/// A kind of spend that is shown as a bar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SpendBar {
    /// `$6.10`, `unknown`, `812 calls`.
    pub(crate) spent: String,
    /// `of $12.00 cap`; empty without a cap.
    pub(crate) cap: String,
    pub(crate) target: String,
    pub(crate) optimizer: String,
    /// Widths in hundredths of a percent of the cap, or of the whole without a cap.
    pub(crate) shares: (u64, u64),
    /// Where it will end, in hundredths of a percent of the cap, and in words.
    pub(crate) end: Option<(u64, String)>,
}

/// Picks what is capped; else money, where it is known; else calls.
pub(crate) fn spend_bar(
    spend: &SpendByRole,
    caps: &Caps,
    done: u32,
    total: Option<u32>,
) -> SpendBar {
    let (target, optimizer) = (spend.target, spend.optimizer);
    let money = target.known_cost_usd_micros().zip(optimizer.known_cost_usd_micros());
    let forecast = total.filter(|total| done > 0 && done < *total).map(|total| (done, total));
    if let Some(roles) =
        money.filter(|roles| caps.max_cost_usd_micros.is_some() || roles.0 + roles.1 > 0)
    {
        return bar(roles, caps.max_cost_usd_micros, forecast, |micros| fmt::usd(Some(micros)));
    }
    if caps.max_tokens.is_some() && caps.max_calls.is_none() {
        let roles = (target.tokens(), optimizer.tokens());
        return bar(roles, caps.max_tokens, forecast, |tokens| {
            format!("{} tokens", fmt::short(tokens))
        });
    }
    let roles = (target.calls, optimizer.calls);
    bar(roles, caps.max_calls, forecast, |calls| fmt::plural(calls, "call", "calls"))
}

fn bar(
    (target, optimizer): (u64, u64),
    cap: Option<u64>,
    forecast: Option<(u32, u32)>,
    words: impl Fn(u64) -> String,
) -> SpendBar {
    let all = target + optimizer;
    let whole = cap.unwrap_or(all).max(1);
    let share = |part: u64| part.saturating_mul(10_000) / whole;
    let end = forecast.filter(|_| all > 0 && cap.is_some()).map(|(done, total)| {
        let end = all / u64::from(done) * u64::from(total);
        (share(end), words(end))
    });
    SpendBar {
        spent: words(all),
        cap: cap.map_or_else(String::new, |cap| format!("of {} cap", words(cap))),
        target: words(target),
        optimizer: words(optimizer),
        shares: (share(target), share(optimizer)),
        end,
    }
}

/// What the money is not: said beside the bar.
pub(crate) fn unpriced_words(spend: &SpendByRole) -> Option<String> {
    let unpriced = spend.total().unpriced_calls;
    (unpriced > 0).then(|| {
        format!("cost unknown, {} without a price", fmt::plural(unpriced, "call", "calls"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use skillopt_domain::event::RunEvent;
    use skillopt_domain::outcome::OutcomeCounts;
    use skillopt_domain::spend::Spend;

    fn event(kind: EventKind) -> JournalEvent {
        RunEvent { seq: 1, at_ms: 0, key: "k".into(), kind }.into()
    }

    #[test]
    fn a_finished_rollout_says_how_many_were_scored() {
        let counts = OutcomeCounts { passed: 28, failed: 11, refused: 0, errors: 1 };
        let rolled = event(EventKind::RolledOut { step: 1, score: None, counts, sets: Vec::new() });
        assert_eq!(
            stage_result(Stage::Rollout, &[rolled]),
            Some(counted("39", "of 40 scored, 1 error"))
        );
        assert_eq!(stage_result(Stage::Reflect, &[]), None);
    }

    #[test]
    fn unknown_money_is_never_shown_as_zero() {
        let target = Spend { calls: 10, unpriced_calls: 10, ..Spend::default() };
        let spend = SpendByRole { target, optimizer: Spend::default() };
        let bar = spend_bar(&spend, &Caps::default(), 0, None);
        assert_eq!((bar.spent.as_str(), bar.cap.as_str()), ("10 calls", ""));
        assert_eq!(
            unpriced_words(&spend).as_deref(),
            Some("cost unknown, 10 calls without a price")
        );
    }

    #[test]
    fn a_cap_gets_a_forecast() {
        let target = Spend { calls: 5, cost_usd_micros: 4_000_000, ..Spend::default() };
        let optimizer = Spend { calls: 5, cost_usd_micros: 2_000_000, ..Spend::default() };
        let caps = Caps { max_cost_usd_micros: Some(12_000_000), ..Caps::default() };
        let bar = spend_bar(&SpendByRole { target, optimizer }, &caps, 12, Some(24));
        assert_eq!(bar.shares, (3333, 1666));
        assert_eq!(bar.end, Some((10_000, "$12.00".into())));
        assert_eq!(bar.cap, "of $12.00 cap");
    }

    #[test]
    fn a_pill_says_where_a_run_is() {
        let view = RunView {
            status: RunStatus::Running,
            phase: Some(Phase::Step { step: 15, stage: Stage::Evaluate }),
            ..RunView::default()
        };
        assert_eq!(status_words(&view), "Running, step 15");
        let paused = RunView {
            status: RunStatus::Paused,
            phase: Some(Phase::Baseline),
            ..RunView::default()
        };
        assert_eq!(status_words(&paused), "Paused, baseline");
        let between = RunView { phase: Some(Phase::SlowUpdate { epoch: 2 }), ..paused };
        assert_eq!(status_words(&between), "Paused, slow update after epoch 2");
    }
}
