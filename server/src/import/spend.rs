//! Calls, tokens and times as a folder tells them. It never tells money: the cost of an imported run is unknown,
//! not zero.

use super::findings::Findings;
use super::json::{Fields, whole};
use serde_json::Value;
use skillopt_domain::event::StageCost;
use skillopt_domain::run::Stage;
use skillopt_domain::spend::{Role, Spend, SpendByRole};
use std::time::Duration;

/// Longer times are errors of a clock.
const MAX_SECONDS: f64 = 1e9;

/// What a history row says about cost.
#[derive(Debug, Default)]
pub(super) struct StepCost {
    pub(super) spend: SpendByRole,
    pub(super) stages: Vec<StageCost>,
    pub(super) wall_ms: u64,
}

/// Reads `tokens`, `timing` and `wall_time_s`. `n_rollouts` calls of the target were made at least, whatever
/// the row counts.
pub(super) fn of_row(
    fields: &Fields<'_>,
    is_ours: bool,
    n_rollouts: u32,
    findings: &mut Findings,
) -> StepCost {
    let mut by_stage: Vec<(Option<Stage>, SpendByRole)> = Vec::new();
    if let Some(tokens) = fields.within("tokens", findings) {
        for word in tokens.object.keys() {
            let Some(counts) = tokens.within(word, findings) else { continue };
            let (stage, role) = place_of(word);
            let mut spend = SpendByRole::default();
            *spend.of_mut(role) = counted(&counts, findings);
            by_stage.push((stage, spend));
        }
    }
    let mut cost = StepCost::default();
    for (_, spend) in &by_stage {
        cost.spend += *spend;
    }
    if !is_ours && cost.spend.target.calls == 0 {
        // Agents that run programs are not counted by the Python system, nor are skipped steps.
        let calls = u64::from(n_rollouts);
        cost.spend.target.unmetered_calls += calls;
        cost.spend.target.unpriced_calls += calls;
    }
    let timing = fields.within("timing", findings);
    for stage in Stage::ALL {
        let wall_ms = timing
            .as_ref()
            .and_then(|timing| milliseconds(timing, &format!("{}_s", stage.as_str()), findings));
        let Some(wall_ms) = wall_ms else { continue };
        let mut spend = SpendByRole::default();
        for (_, of_stage) in by_stage.iter().filter(|(of, _)| *of == Some(stage)) {
            spend += *of_stage;
        }
        cost.stages.push(StageCost { stage, wall_ms, spend });
    }
    cost.wall_ms = milliseconds(fields, "wall_time_s", findings).unwrap_or_default();
    cost
}

/// `token_summary` of `summary.json`, which covers more than the steps, but only the last process of a run.
pub(super) fn of_summary(summary: &Fields<'_>, findings: &mut Findings) -> SpendByRole {
    let mut spend = SpendByRole::default();
    let Some(tokens) = summary.within("token_summary", findings) else { return spend };
    for word in tokens.object.keys().filter(|word| word.as_str() != "_total") {
        if let Some(counts) = tokens.within(word, findings) {
            *spend.of_mut(place_of(word).1) += counted(&counts, findings);
        }
    }
    spend
}

/// The larger of two counts of the same thing, role by role.
pub(super) fn larger(left: SpendByRole, right: SpendByRole) -> SpendByRole {
    let pick = |role| {
        let (left, right): (Spend, Spend) = (left.of(role), right.of(role));
        if right.calls > left.calls { right } else { left }
    };
    SpendByRole { target: pick(Role::Target), optimizer: pick(Role::Optimizer) }
}

/// Seconds as milliseconds.
pub(super) fn milliseconds(fields: &Fields<'_>, key: &str, findings: &mut Findings) -> Option<u64> {
    let seconds = fields.number(key, findings)?;
    if !(0.0..MAX_SECONDS).contains(&seconds) {
        findings.add(
            fields.file,
            &fields.place,
            format!("{key}: {seconds} s is no time; left out"),
        );
        return None;
    }
    u64::try_from(Duration::from_secs_f64(seconds).as_millis()).ok()
}

fn counted(counts: &Fields<'_>, findings: &mut Findings) -> Spend {
    let count = |key: &str| counts.get(key).and_then(Value::as_u64).unwrap_or_default();
    if counts.get("calls").is_some_and(|calls| whole(calls).is_none()) {
        findings.add(counts.file, &counts.place, "calls: expected a whole number; left out");
    }
    let calls = count("calls");
    Spend {
        calls,
        prompt_tokens: count("prompt_tokens"),
        completion_tokens: count("completion_tokens"),
        unpriced_calls: calls,
        cached_prompt_tokens: counts.get("cached_prompt_tokens").and_then(Value::as_u64),
        reasoning_tokens: counts.get("reasoning_tokens").and_then(Value::as_u64),
        ..Spend::default()
    }
}

/// Stage and role of a word: the Python system's stages, or ours.
fn place_of(word: &str) -> (Option<Stage>, Role) {
    match word {
        "rollout" => (Some(Stage::Rollout), Role::Target),
        "evaluate" => (Some(Stage::Evaluate), Role::Target),
        "target" => (None, Role::Target),
        "analyst" | "reflect" => (Some(Stage::Reflect), Role::Optimizer),
        "merge" | "aggregate" => (Some(Stage::Aggregate), Role::Optimizer),
        "ranking" | "lr_autonomous" | "select" => (Some(Stage::Select), Role::Optimizer),
        "rewrite" | "appendix_consolidate" | "update" => (Some(Stage::Update), Role::Optimizer),
        _ => (None, Role::Optimizer),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn cost(row: &Value, is_ours: bool) -> (StepCost, Vec<String>) {
        let mut findings = Findings::default();
        let object = row.as_object().expect("object");
        let fields = Fields { file: "history.json", place: "row 1".into(), object };
        (of_row(&fields, is_ours, 40, &mut findings), findings.texts())
    }

    #[test]
    fn tokens_go_to_their_role_and_money_stays_unknown() {
        let row = json!({"tokens": {"rollout": {"calls": 40, "prompt_tokens": 9, "completion_tokens": 1},
            "analyst": {"calls": 5, "prompt_tokens": 50, "completion_tokens": 4}},
            "timing": {"rollout_s": 1.5, "reflect_s": -1}, "wall_time_s": 2});
        let (cost, findings) = cost(&row, false);
        assert_eq!((cost.spend.target.calls, cost.spend.optimizer.tokens()), (40, 54));
        assert_eq!(cost.spend.total().known_cost_usd_micros(), None);
        assert_eq!((cost.stages.len(), cost.stages[0].wall_ms, cost.wall_ms), (1, 1500, 2000));
        assert_eq!(findings.len(), 1, "{findings:?}");
    }

    #[test]
    fn a_skipped_step_without_counts_still_has_an_unknown_cost() {
        let (cost, _) = cost(&json!({"tokens": {}}), false);
        assert_eq!(cost.spend.total().known_cost_usd_micros(), None);
        assert_eq!((cost.spend.target.calls, cost.spend.target.unmetered_calls), (0, 40));
    }
}
