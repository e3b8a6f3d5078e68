//! Estimates in words and tables.

use crate::components::dynamic::CollectAny;
use crate::fmt;
use leptos::prelude::*;
use skillopt_domain::forecast::{Estimate, ForecastTotal, RunForecast};
use skillopt_domain::spend::Role;

/// `500`, or with its range `500 (420 to 640)`.
pub(crate) fn range(estimate: Estimate, words: fn(u64) -> String) -> String {
    match ends(estimate, words) {
        Some(ends) => format!("{} ({ends})", words(estimate.likely)),
        None => words(estimate.likely),
    }
}

/// `420 to 640`; `None` where both read the same.
pub(crate) fn ends(estimate: Estimate, words: fn(u64) -> String) -> Option<String> {
    let (low, high) = (words(estimate.low), words(estimate.high));
    (low != high).then(|| format!("{low} to {high}"))
}

/// Money, or that it is unknown.
pub(crate) fn money(cost: Option<Estimate>) -> String {
    cost.map_or_else(|| "unknown".to_owned(), |cost| range(cost, dollars))
}

pub(crate) fn dollars(micros: u64) -> String {
    fmt::usd(Some(micros))
}

/// What is left of a run, in a few words: `about 120 calls, $0.40, 3 min left`.
pub(crate) fn left_words(total: &ForecastTotal) -> Option<String> {
    if total.calls.high == 0 {
        return None;
    }
    let mut parts = vec![fmt::plural(total.calls.likely, "call", "calls")];
    if let Some(cost) = total.cost_usd_micros.filter(|cost| cost.high > 0) {
        parts.push(dollars(cost.likely));
    }
    parts.push(fmt::duration(total.wall_ms.likely));
    Some(format!("about {} left", parts.join(", ")))
}

/// The same with all ranges, for the title on hover.
pub(crate) fn left_title(total: &ForecastTotal) -> String {
    format!(
        "Left: {} calls, {} tokens, cost {}, {}",
        range(total.calls, fmt::count),
        range(total.tokens(), fmt::short),
        money(total.cost_usd_micros),
        range(total.wall_ms, fmt::duration)
    )
}

/// Roles by what they call, read, write and cost, each with its range.
pub(crate) fn role_table(forecast: &RunForecast) -> AnyView {
    let cell = |estimate: Estimate, words: fn(u64) -> String| {
        view! {
            <td data-num>
                {words(estimate.likely)}
                {ends(estimate, words).map(|ends| view! { <br/><span class="small muted nowrap">{ends}</span> }.into_any())}
            </td>
        }
        .into_any()
    };
    let rows = Role::ALL.map(|role| {
        let of = forecast.of(role);
        let cost = match of.cost_usd_micros {
            Some(cost) => cell(cost, dollars),
            None => view! { <td data-num>"unknown"</td> }.into_any(),
        };
        view! {
            <tr>
                <th scope="row">{role.as_str()}</th>
                {cell(of.calls, fmt::count)}
                {cell(of.prompt_tokens, fmt::short)}
                {cell(of.completion_tokens, fmt::short)}
                {cost}
            </tr>
        }
    });
    view! {
        <div class="scroll-x" tabindex="0" role="region" aria-label="Forecast by role">
            <table class="table" data-variant="plain">
                <thead><tr>
                    <th scope="col">"Role"</th>
                    <th scope="col" data-num>"Calls"</th>
                    <th scope="col" data-num title="Tokens read">"In"</th>
                    <th scope="col" data-num title="Tokens written">"Out"</th>
                    <th scope="col" data-num>"Cost"</th>
                </tr></thead>
                <tbody>{rows.into_iter().collect_any()}</tbody>
            </table>
        </div>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_said_where_there_is_one() {
        assert_eq!(range(Estimate::exactly(4), fmt::count), "4");
        assert_eq!(range(Estimate { low: 1, likely: 4, high: 9 }, fmt::count), "4 (1 to 9)");
    }

    #[test]
    fn what_is_left_has_units_and_an_unknown_cost_is_not_told_as_zero() {
        let mut total = RunForecast::default().total();
        assert_eq!(left_words(&total), None);
        total.calls = Estimate { low: 90, likely: 120, high: 200 };
        total.wall_ms = Estimate::exactly(180_000);
        total.cost_usd_micros = None;
        let words = left_words(&total).expect("words");
        assert!(words.starts_with("about 120 calls, ") && !words.contains('$'), "{words}");
        assert!(left_title(&total).contains("cost unknown"));
        total.cost_usd_micros = Some(Estimate::exactly(400_000));
        assert!(left_words(&total).expect("words").contains("$0.40"));
    }
}
