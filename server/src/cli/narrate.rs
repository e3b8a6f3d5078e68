//! A run in plain lines, made from its journal. Pure.

use skillopt_domain::event::{EventKind, Measured, RunPlan, StepSummary, TestedSkill};
use skillopt_domain::outage::Outage;
use skillopt_domain::prompt::{PromptOrigin, PromptUse};
use skillopt_domain::run::RunStatus;
use skillopt_domain::score::{GateMetric, MeanScore};
use skillopt_domain::spend::{Spend, SpendByRole};
use skillopt_domain::verdict::Action;

/// What must be remembered from line to line.
#[derive(Clone, Debug)]
pub(super) struct Narrator {
    metric: GateMetric,
    total_steps: u32,
    current: Option<f64>,
    test_initial: Option<f64>,
    mixed_weight: f64,
}

impl Narrator {
    pub(super) fn new(metric: GateMetric, mixed_weight: f64) -> Self {
        Self { metric, total_steps: 0, current: None, test_initial: None, mixed_weight }
    }

    /// The lines of an event that happened at `at_ms`; most have none.
    pub(super) fn lines(&mut self, event: &EventKind, at_ms: u64) -> Vec<String> {
        match event {
            EventKind::Status { status, detail } => status_line(*status, detail.as_deref()),
            EventKind::Planned(plan) => {
                self.total_steps = plan.total_steps;
                plan_lines(plan)
            }
            EventKind::Baseline(measured) => {
                self.current = measured.gate_score;
                vec![format!("baseline {}", with_n(measured.gate_score, measured.score))]
            }
            EventKind::StepFinished(step) => vec![self.step_line(step)],
            EventKind::SlowUpdated(update) => {
                if update.action.is_accepted() {
                    self.current = update.current_score;
                }
                let (epoch, action) = (update.epoch, update.action.as_str());
                vec![format!("slow update after epoch {epoch}: {action}: {}", update.reason)]
            }
            EventKind::FinalSelected(selection) => {
                vec![format!("last skill: {}", selection.reason)]
            }
            EventKind::Tested { which, measured } => self.test_line(*which, measured),
            EventKind::Warning { message, .. } => vec![format!("warning: {message}")],
            EventKind::PromptsChosen { prompts } => own_prompts(prompts),
            EventKind::Adapted { role, change } => {
                vec![format!(
                    "the {role}'s provider did not take a request as it was; now it {change}"
                )]
            }
            EventKind::EndpointDown(outage) => vec![outage_line(outage, at_ms)],
            EventKind::EndpointUp { endpoint, model, since_ms } => {
                vec![up_line(endpoint, model, *since_ms, at_ms)]
            }
            EventKind::PreflightPassed { .. }
            | EventKind::PhaseStarted(_)
            | EventKind::RolledOut { .. }
            | EventKind::Reflected { .. }
            | EventKind::Aggregated { .. }
            | EventKind::LrDecided { .. }
            | EventKind::Selected { .. }
            | EventKind::Rewritten { .. }
            | EventKind::Noted { .. }
            | EventKind::Compared(_)
            | EventKind::MetaSkillWritten(_)
            | EventKind::Updated { .. }
            | EventKind::Gated { .. } => Vec::new(),
        }
    }

    fn step_line(&mut self, step: &StepSummary) -> String {
        let before = self.current;
        self.current = step.current_score;
        let head = format!("step {}/{}", step.step, self.total_steps);
        let counts = match step.n_fixed.zip(step.n_broke) {
            Some((fixed, broke)) => format!("{fixed} fixed, {broke} broke"),
            None => "which tasks changed is not known".to_owned(),
        };
        let change = format!(
            "{} → {} (n {})",
            number(before),
            number(step.candidate_score),
            step.n_selection.unwrap_or_default()
        );
        match step.action {
            Action::AcceptNewBest | Action::Accept => {
                format!("{head} accepted {change}: {counts}")
            }
            Action::ForceAccept => format!("{head} kept without the gate {change}: {counts}"),
            Action::Reject => format!("{head} rejected {change}: {counts}"),
            Action::SkipNoPatches | Action::SkipNoChange | Action::SkipNoRewrite => {
                format!("{head} skipped: {}", step.reason)
            }
            Action::Inconclusive => format!("{head} inconclusive: {}", step.reason),
        }
    }

    fn test_line(&mut self, which: TestedSkill, measured: &Measured) -> Vec<String> {
        let project =
            |mean: MeanScore| self.metric.project(mean.hard, mean.soft, self.mixed_weight);
        let score = measured.score.map(project);
        match which {
            TestedSkill::Initial => {
                self.test_initial = score;
                Vec::new()
            }
            TestedSkill::Best => {
                let before = number(self.test_initial);
                vec![format!("test {before} → {}", with_n(score, measured.score))]
            }
            TestedSkill::Last => {
                vec![format!("test of the last skill {}", with_n(score, measured.score))]
            }
        }
    }
}

fn status_line(status: RunStatus, detail: Option<&str>) -> Vec<String> {
    match (status, detail) {
        // The end is told by the command itself.
        (status, _) if status.is_over() => Vec::new(),
        (RunStatus::Queued | RunStatus::Running, _) => Vec::new(),
        (status, Some(detail)) => vec![format!("{status}: {detail}")],
        (status, None) => vec![status.to_string()],
    }
}

/// An endpoint does not answer.
pub(super) fn outage_line(outage: &Outage, at_ms: u64) -> String {
    let Outage { endpoint, model, since_ms, next_try_ms, error } = outage;
    let (down, wait) = (seconds(*since_ms, at_ms), seconds(at_ms, *next_try_ms));
    format!("{model} at {endpoint} has not answered for {down} s, next try in {wait} s: {error}")
}

/// It answers again.
pub(super) fn up_line(endpoint: &str, model: &str, since_ms: u64, at_ms: u64) -> String {
    format!("{model} at {endpoint} answers again, after {} s", seconds(since_ms, at_ms))
}

/// Whole seconds from one moment to another, rounded up.
fn seconds(from_ms: u64, to_ms: u64) -> u64 {
    to_ms.saturating_sub(from_ms).div_ceil(1000)
}

fn plan_lines(plan: &RunPlan) -> Vec<String> {
    let simulated = |is_simulated| if is_simulated { " (simulated)" } else { "" };
    vec![
        format!(
            "target {}{}, optimizer {}{}",
            plan.target_model,
            simulated(plan.target_simulated),
            plan.optimizer_model,
            simulated(plan.optimizer_simulated)
        ),
        format!(
            "{}: {} train, {} val, {} test tasks; {} steps in {} epochs; seed {}",
            plan.benchmark,
            plan.n_train,
            plan.n_selection,
            plan.n_test,
            plan.total_steps,
            plan.epochs,
            plan.seed
        ),
    ]
}

/// A score with three decimals; a dash when it is missing.
pub(super) fn number(score: Option<f64>) -> String {
    score.map_or_else(|| "-".to_owned(), |score| format!("{score:.3}"))
}

fn with_n(score: Option<f64>, mean: Option<MeanScore>) -> String {
    match mean {
        Some(mean) => format!("{} (n {})", number(score), mean.n),
        None => "not measured".to_owned(),
    }
}

/// Says which prompts are the user's; nothing about those that everybody has.
fn own_prompts(prompts: &[PromptUse]) -> Vec<String> {
    let own: Vec<&str> = prompts
        .iter()
        .filter(|prompt| prompt.origin == PromptOrigin::User)
        .map(|prompt| prompt.name.as_str())
        .collect();
    if own.is_empty() {
        Vec::new()
    } else {
        vec![format!("prompts of your own: {}", own.join(", "))]
    }
}

/// Calls, tokens and money in one line. Unknown is said, never shown as zero.
pub(super) fn spend_line(spend: &SpendByRole) -> String {
    let total = spend.total();
    let mut parts = vec![format!(
        "{} target and {} optimizer calls, {} from the ledger",
        spend.target.calls, spend.optimizer.calls, total.cached
    )];
    parts.push(format!("{} tokens{}{}", total.tokens(), told_parts(total), unmetered(total)));
    parts.push(match total.known_cost_usd_micros() {
        Some(micros) => money(micros),
        None => "cost unknown (no prices set)".to_owned(),
    });
    parts.join(", ")
}

/// Cached and reasoning tokens where a provider told them; nothing where none did.
fn told_parts(total: Spend) -> String {
    let parts = [(total.cached_prompt_tokens, "cached"), (total.reasoning_tokens, "of reasoning")];
    let told: Vec<String> =
        parts.into_iter().filter_map(|(n, word)| Some(format!("{} {word}", n?))).collect();
    if told.is_empty() { String::new() } else { format!(" ({})", told.join(", ")) }
}

fn unmetered(total: Spend) -> String {
    match total.unmetered_calls {
        0 => String::new(),
        n => format!(" ({n} calls did not report theirs)"),
    }
}

/// Dollars with four decimals.
pub(super) fn money(micros: u64) -> String {
    format!("${}.{:04}", micros / 1_000_000, micros % 1_000_000 / 100)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use skillopt_domain::hash::Sha256Hex;

    fn step(action: Action) -> StepSummary {
        StepSummary {
            step: 3,
            epoch: 1,
            action,
            rollout: None,
            candidate_score: Some(0.643),
            current_score: Some(0.643),
            current_n: Some(56),
            best_score: Some(0.643),
            best_n: Some(56),
            n_selection: Some(56),
            n_fixed: Some(5),
            n_broke: Some(1),
            edit_budget: 4,
            n_applied: 2,
            n_not_applied: 0,
            skill: Sha256Hex::of("s"),
            candidate: None,
            version: 1,
            skill_tokens: 10,
            n_errors: 0,
            n_attempts: 14,
            spend: SpendByRole::default(),
            stages: Vec::new(),
            reason: "no edit was proposed".into(),
        }
    }

    #[rstest]
    #[case(Action::AcceptNewBest, "step 3/8 accepted 0.571 → 0.643 (n 56): 5 fixed, 1 broke")]
    #[case(Action::Reject, "step 3/8 rejected 0.571 → 0.643 (n 56): 5 fixed, 1 broke")]
    #[case(Action::SkipNoPatches, "step 3/8 skipped: no edit was proposed")]
    fn a_step_is_one_line(#[case] action: Action, #[case] expect: &str) {
        let mut narrator = Narrator { total_steps: 8, current: Some(0.571), ..narrator() };
        assert_eq!(narrator.lines(&EventKind::StepFinished(step(action)), 0), [expect]);
    }

    fn narrator() -> Narrator {
        Narrator::new(GateMetric::Hard, 0.5)
    }

    #[test]
    fn an_outage_is_told_with_its_length_and_the_next_try() {
        let (endpoint, model) = ("http://x.example/v1".to_owned(), "small".to_owned());
        let down = EventKind::EndpointDown(Outage {
            endpoint: endpoint.clone(),
            model: model.clone(),
            since_ms: 10_000,
            next_try_ms: 17_500,
            error: "cannot connect".to_owned(),
        });
        assert_eq!(
            narrator().lines(&down, 13_600),
            [
                "small at http://x.example/v1 has not answered for 4 s, next try in 4 s: cannot connect"
            ]
        );
        let up = EventKind::EndpointUp { endpoint, model, since_ms: 10_000 };
        assert_eq!(
            narrator().lines(&up, 17_600),
            ["small at http://x.example/v1 answers again, after 8 s"]
        );
    }

    #[test]
    fn c47_an_unknown_cost_is_said() {
        let target = Spend { calls: 1, unpriced_calls: 1, unmetered_calls: 1, ..Spend::default() };
        let spend = SpendByRole { target, ..SpendByRole::default() };
        let line = spend_line(&spend);
        assert!(line.contains("cost unknown") && line.contains("1 calls did not report"), "{line}");
    }

    #[test]
    fn cached_and_reasoning_tokens_are_said_where_they_are_told() {
        let mut target = Spend { prompt_tokens: 100, completion_tokens: 10, ..Spend::default() };
        let line = |target| spend_line(&SpendByRole { target, ..SpendByRole::default() });
        assert!(line(target).contains("110 tokens,"), "{}", line(target));
        (target.cached_prompt_tokens, target.reasoning_tokens) = (Some(60), Some(0));
        assert!(
            line(target).contains("110 tokens (60 cached, 0 of reasoning),"),
            "{}",
            line(target)
        );
    }

    #[test]
    fn money_is_exact() {
        assert_eq!(money(1_234_500), "$1.2345");
        assert_eq!(money(99), "$0.0000");
    }
}
