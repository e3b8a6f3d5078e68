//! What experiments come to, for people and as JSON. Every score has its n, and a simulation says that it is one.

use crate::cli::narrate::money;
use crate::cli::sleep::report::n_of;
use crate::sleep::Lab;
use serde_json::{Value, json};
use skillopt_sleep::experiment::{BenchReport, NightTrace, TestScore, TransferReport};

/// How much of a skill's end is shown.
const TAIL_CHARS: usize = 400;

pub(super) fn score(value: Option<f64>) -> String {
    value.map_or("not measured".to_owned(), |value| format!("{value:.4}"))
}

/// A test score with what it rests on.
pub(super) fn tested(score: Option<TestScore>) -> String {
    score.map_or("not measured".to_owned(), |score| format!("{:.4} (n {})", score.score, score.n))
}

pub(super) fn night_line(night: &NightTrace) -> String {
    format!(
        "  night {}: {} -> {} (n {}), {}, {}",
        night.night,
        score(night.baseline),
        score(night.candidate),
        night.n_validated,
        n_of(&night.n_edits, "edit"),
        if night.accepted { "accepted" } else { "not accepted" }
    )
}

/// What real models cost; `null` when none was asked.
pub(super) fn spend_json(lab: &Lab) -> Value {
    lab.spend().map_or(Value::Null, |spend| {
        let total = spend.total();
        json!({
            "calls": total.calls, "cached": total.cached, "tokens": total.tokens(),
            "unmetered_calls": total.unmetered_calls,
            "cost_usd_micros": total.known_cost_usd_micros(),
        })
    })
}

/// The same for people; nothing when none was asked.
pub(super) fn spend_line(lab: &Lab) -> Option<String> {
    let total = lab.spend()?.total();
    let cost = match total.known_cost_usd_micros() {
        Some(cost) => money(cost),
        None => "cost unknown (a price is missing)".to_owned(),
    };
    let mut line = format!(
        "spent: {} calls, {} from the ledger, {} tokens, {cost}",
        total.calls,
        total.cached,
        total.tokens()
    );
    if total.unmetered_calls > 0 {
        line.push_str(&format!("; {} calls did not tell their tokens", total.unmetered_calls));
    }
    Some(line)
}

/// A folder's result: the reference system's fields, which are of passed tasks, and further ones.
pub(super) fn bench_json(report: &BenchReport, rollouts_k: u32) -> Value {
    json!({
        "seed": report.name,
        "held_out_before": passed(report.before),
        "held_out_after": passed(report.after),
        "n_held_out": n_scored(report.after),
        "improved": report.change().is_some_and(|change| change > 0.0),
        "nights": report.trace.len(),
        "rollouts_k": rollouts_k,
        "trace": report.trace,
        "slow_update": report.slow_update,
        "final_skill_tail": tail(&report.skill),
        "before": report.before,
        "after": report.after,
        "change": report.change(),
        "simulated": report.simulated,
    })
}

/// A transfer's result, as [`bench_json`].
pub(super) fn transfer_json(report: &TransferReport, rollouts_k: u32) -> Value {
    let (before, after) = (passed(report.baseline_target), passed(report.transferred));
    json!({
        "seed": report.name,
        "baseline_target": before,
        "direct_target": passed(report.direct_target),
        "transferred": after,
        "transfer_gain": before.zip(after).map(|(before, after)| after - before),
        "n_held_out": n_scored(report.transferred),
        "learned_skill_tail": tail(&report.skill),
        "nights": report.trace.len(),
        "rollouts_k": rollouts_k,
        "trace": report.trace,
        "before": report.baseline_target,
        "direct": report.direct_target,
        "after": report.transferred,
        "change": report.transfer_gain,
        "simulated": report.simulated,
    })
}

fn passed(score: Option<TestScore>) -> Option<f64> {
    score.map(|score| score.hard)
}

fn n_scored(score: Option<TestScore>) -> u32 {
    score.map_or(0, |score| score.n)
}

fn tail(skill: &str) -> String {
    let n = skill.chars().count();
    skill.chars().skip(n.saturating_sub(TAIL_CHARS)).collect()
}
