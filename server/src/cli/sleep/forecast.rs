//! A night's forecast in words.

use skillopt_domain::night::forecast::NightForecast;

/// Said of every forecast.
const ON_TOP: &str = "what has to be asked again comes on top; what the ledger knows costs nothing";

/// What a night can come to; nothing for a simulation.
pub(super) fn forecast_lines(forecast: &NightForecast) -> Vec<String> {
    if forecast.is_simulated {
        return Vec::new();
    }
    let parts = [
        ("mining", forecast.mining),
        ("training", forecast.training),
        ("validation", forecast.validation),
        ("reflection", forecast.reflection),
        ("test", forecast.test),
        ("skills of their own", forecast.fan_out),
    ];
    let told = parts.iter().filter(|(_, n)| *n > 0).map(|(name, n)| format!("{name} {n}"));
    let told: Vec<String> = told.collect();
    let (most, of) = match forecast.is_bound {
        true => ("at most", ""),
        false => ("about", " at most"),
    };
    let parts = match told.is_empty() {
        true => String::new(),
        false => format!(" ({})", told.join(", ")),
    };
    let mut lines =
        vec![format!("forecast: {most} {} calls{of}{parts}; {ON_TOP}", forecast.calls_max)];
    lines.extend(forecast.assumptions.iter().map(|one| format!("  assumed: {one}")));
    lines
}

/// What an experiment can come to.
pub(super) fn calls_line(calls: u64) -> String {
    format!("forecast: at most {calls} calls; {ON_TOP}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f51_parts_that_cost_something_are_named() {
        let mut forecast = NightForecast {
            is_bound: true,
            calls_max: 12,
            training: 8,
            test: 4,
            ..NightForecast::default()
        };
        let said = forecast_lines(&forecast).join("\n");
        assert!(said.starts_with("forecast: at most 12 calls (training 8, test 4); "), "{said}");
        forecast.is_bound = false;
        forecast.assumptions = vec!["two tasks".to_owned()];
        let said = forecast_lines(&forecast).join("\n");
        assert!(said.starts_with("forecast: about 12 calls at most ("), "{said}");
        assert!(said.ends_with("  assumed: two tasks"), "{said}");
        let nothing = NightForecast { is_bound: true, ..NightForecast::default() };
        let said = forecast_lines(&nothing).join("\n");
        assert!(said.starts_with("forecast: at most 0 calls; "), "{said}");
        forecast.is_simulated = true;
        assert!(forecast_lines(&forecast).is_empty());
    }
}
