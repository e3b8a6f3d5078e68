//! A forecast in plain lines: what a run is likely to come to, and what is left of it. Pure.

use super::narrate::money;
use skillopt_domain::api::Forecast;
use skillopt_domain::cost::total_of;
use skillopt_domain::event::{EventKind, RunEvent};
use skillopt_domain::forecast::{Estimate, ForecastTotal, RunForecast};
use skillopt_domain::run::RunStatus;
use skillopt_domain::spend::Role;
use skillopt_domain::view::RunView;

/// What a run will do and come to, for `--dry-run`.
pub(super) fn forecast_lines(forecast: &Forecast) -> Vec<String> {
    let estimate = &forecast.estimate;
    let mut lines = vec![
        format!(
            "{} steps; at most {} target and {} optimizer calls, questions that are asked again not counted",
            forecast.total_steps, forecast.target_calls_max, forecast.optimizer_calls_max
        ),
        format!("forecast: {}", total_words(&estimate.total())),
    ];
    for role in Role::ALL {
        let of = estimate.of(role);
        let cost =
            of.cost_usd_micros.map_or_else(|| "cost unknown".to_owned(), |cost| range(cost, money));
        lines.push(format!(
            "  {role}: {} calls, {} tokens read, {} written, {cost}",
            range(of.calls, plain),
            range(of.prompt_tokens, short),
            range(of.completion_tokens, short),
        ));
    }
    lines.extend(estimate.assumptions.iter().map(|one| format!("  assumed: {one}")));
    lines
}

/// Follows a run for the line that says what is left.
#[derive(Debug, Default)]
pub(super) struct Foresight {
    view: RunView,
}

impl Foresight {
    /// What is left, after each step and once the plan is known; nothing else is news.
    pub(super) fn line(&mut self, event: &RunEvent) -> Option<String> {
        self.view.apply(event);
        let forecast = self.view.plan.as_ref()?.forecast.as_ref()?;
        match event.kind {
            EventKind::Planned(_) => Some(format!("forecast: {}", total_words(&forecast.total()))),
            EventKind::StepFinished(_) => {
                let spend = total_of(&self.view.cost_rows());
                let view = RunView { spend, status: RunStatus::Running, ..self.view.clone() };
                Some(left_words(forecast, &view))
            }
            _ => None,
        }
    }
}

fn left_words(forecast: &RunForecast, view: &RunView) -> String {
    format!("  left: {}", total_words(&forecast.remaining(view).total()))
}

fn total_words(total: &ForecastTotal) -> String {
    let cost = total
        .cost_usd_micros
        .map_or_else(|| "cost unknown (a price is missing)".to_owned(), |cost| range(cost, money));
    format!(
        "about {} calls, {} tokens, {cost}, {}",
        range(total.calls, plain),
        range(total.tokens(), short),
        range(total.wall_ms, duration),
    )
}

/// The likely value, and the range where it says more.
fn range(estimate: Estimate, words: impl Fn(u64) -> String) -> String {
    let (low, likely, high) = (words(estimate.low), words(estimate.likely), words(estimate.high));
    if low == high { likely } else { format!("{likely} ({low} to {high})") }
}

fn plain(n: u64) -> String {
    n.to_string()
}

/// Thousands and millions with one digit.
fn short(n: u64) -> String {
    match n {
        0..10_000 => n.to_string(),
        10_000..10_000_000 => format!("{}.{} k", n / 1_000, n % 1_000 / 100),
        _ => format!("{}.{} M", n / 1_000_000, n % 1_000_000 / 100_000),
    }
}

fn duration(ms: u64) -> String {
    match ms / 1000 {
        seconds @ 0..120 => format!("{seconds} s"),
        seconds @ 120..7200 => format!("{} min", seconds / 60),
        seconds => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_said_only_where_there_is_one() {
        assert_eq!(range(Estimate::exactly(4), plain), "4");
        assert_eq!(range(Estimate { low: 1, likely: 4, high: 9 }, plain), "4 (1 to 9)");
    }

    #[test]
    fn c47_an_unknown_price_is_no_zero_in_a_forecast() {
        let total = ForecastTotal { cost_usd_micros: None, ..RunForecast::default().total() };
        assert!(total_words(&total).contains("cost unknown"));
    }

    #[test]
    fn numbers_are_short_and_have_units() {
        assert_eq!(
            (short(9_999), short(12_345), short(12_345_678)),
            ("9999".into(), "12.3 k".into(), "12.3 M".into())
        );
        assert_eq!(
            (duration(119_000), duration(600_000), duration(7_260_000)),
            ("119 s".into(), "10 min".into(), "2 h 1 min".into())
        );
    }
}
