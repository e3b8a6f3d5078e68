//! What the run of the form is likely to come to, with ranges and what they rest on.

use crate::components::dynamic::CollectAny;
use crate::components::icon::Icon;
use crate::components::ranges::{dollars, ends, role_table};
use crate::fmt;
use leptos::prelude::*;
use skillopt_domain::api::Forecast;
use skillopt_domain::forecast::Estimate;

pub(super) fn body(forecast: &Forecast) -> AnyView {
    let estimate = &forecast.estimate;
    let total = estimate.total();
    let per_epoch = format!("{} an epoch", forecast.steps_per_epoch);
    let cost = match total.cost_usd_micros {
        Some(cost) => stat("Cost", dollars(cost.likely), ends(cost, dollars)),
        None => stat("Cost", "unknown".to_owned(), Some("a price is missing".to_owned())),
    };
    let assumptions =
        estimate.assumptions.iter().map(|one| view! { <li>{fmt::capital(one)}</li> }).collect_any();
    let at_most = forecast.target_calls_max + forecast.optimizer_calls_max;
    view! {
        <div class="forecast">
            {stat("Steps", fmt::count(forecast.total_steps.into()), Some(per_epoch))}
            {of("Calls", total.calls, fmt::count)}
            {of("Tokens", total.tokens(), fmt::short)}
            {cost}
            {of("Time", total.wall_ms, fmt::duration)}
        </div>
        {role_table(estimate)}
        <details class="disclosure">
            <summary class="disclosure__head"><Icon name="right"/>"What this rests on"</summary>
            <ul class="disclosure__body small forecast__basis">
                {assumptions}
                <li>{format!("At most {} calls by the plan, questions that are asked again not counted", fmt::count(at_most))}</li>
            </ul>
        </details>
        <p class="small muted">{tasks_words(forecast)}</p>
        <p class="small muted">"Calls that the ledger knows already cost nothing."</p>
    }
    .into_any()
}

fn of(label: &'static str, estimate: Estimate, words: fn(u64) -> String) -> AnyView {
    stat(label, words(estimate.likely), ends(estimate, words))
}

fn stat(label: &'static str, value: String, unit: Option<String>) -> AnyView {
    view! {
        <div>
            <div class="stat__label">{label}</div>
            <div class="stat__value">{value}</div>
            <div class="stat__unit small muted">{unit}</div>
        </div>
    }
    .into_any()
}

fn tasks_words(forecast: &Forecast) -> String {
    let Forecast { n_train, n_selection, n_test, .. } = forecast;
    let sizes = format!("{n_train} train, {n_selection} selection, {n_test} test tasks.");
    if *n_selection == 0 {
        return sizes;
    }
    format!(
        "{sizes} The smallest gain that {n_selection} tasks can show is {:.3}.",
        1.0 / f64::from(*n_selection)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use skillopt_domain::forecast::RunForecast;

    #[test]
    fn the_smallest_visible_gain_is_one_task() {
        let forecast = Forecast {
            n_train: 56,
            n_selection: 40,
            n_test: 120,
            steps_per_epoch: 4,
            total_steps: 16,
            target_calls_max: 1,
            optimizer_calls_max: 1,
            estimate: RunForecast::default(),
        };
        assert!(
            tasks_words(&forecast).ends_with("The smallest gain that 40 tasks can show is 0.025.")
        );
    }
}
