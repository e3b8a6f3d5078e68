//! What parts of the work took, role by role: calls, tokens, money, time. The last row is the sum of the others.

use crate::components::dynamic::CollectAny;
use crate::fmt;
use leptos::prelude::*;
use skillopt_domain::spend::{Role, Spend, SpendByRole};

/// One part.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CostRow {
    pub(crate) label: &'static str,
    /// Says more, on hover.
    pub(crate) about: &'static str,
    /// `None` where the time was not measured.
    pub(crate) wall_ms: Option<u64>,
    pub(crate) spend: SpendByRole,
}

/// A line of the table: a part or a role of it.
struct Line {
    label: &'static str,
    about: &'static str,
    role: &'static str,
    spend: Spend,
    /// Only the first line of a part has its time.
    wall_ms: Option<Option<u64>>,
    series: &'static str,
}

pub(crate) fn cost_table(rows: &[CostRow]) -> AnyView {
    let longest = rows.iter().filter_map(|row| row.wall_ms).max().unwrap_or(0);
    let lines = rows.iter().flat_map(lines_of).map(|line| line_view(&line, longest)).collect_any();
    let mut total = SpendByRole::default();
    for row in rows {
        total += row.spend;
    }
    let times: Vec<u64> = rows.iter().filter_map(|row| row.wall_ms).collect();
    let time = (!times.is_empty()).then(|| fmt::duration(times.iter().sum()));
    view! {
        <div class="scroll-x" tabindex="0" role="region" aria-label="Calls, tokens, cost and time by stage">
            <table class="table costs" data-variant="plain">
                <thead><tr>
                    <th scope="col">"Stage"</th>
                    <th scope="col">"Role"</th>
                    <th scope="col" data-num>"Calls"</th>
                    <th scope="col" data-num title="Answered by the ledger, at no cost">"Reused"</th>
                    <th scope="col" data-num>"Tokens in"</th>
                    <th scope="col" data-num>"Tokens out"</th>
                    <th scope="col" data-num>"Cost"</th>
                    <th scope="col" data-num>"Time"</th>
                    <th scope="col" class="hide-narrow"><span class="visually-hidden">"Share of the time"</span></th>
                </tr></thead>
                <tbody>{lines}</tbody>
                <tfoot><tr>
                    <th scope="row">"Total"</th><td></td>
                    {numbers(&total.total())}
                    <td data-num>{time.unwrap_or_else(|| fmt::MISSING.to_owned())}</td>
                    <td class="hide-narrow"></td>
                </tr></tfoot>
            </table>
        </div>
    }
    .into_any()
}

/// A part without calls is one line; else each role that was called has one.
fn lines_of(row: &CostRow) -> Vec<Line> {
    let line = |role: &'static str, spend: Spend, series: &'static str| Line {
        label: row.label,
        about: row.about,
        role,
        spend,
        wall_ms: Some(row.wall_ms),
        series,
    };
    let called = Role::ALL.into_iter().filter(|role| row.spend.of(*role) != Spend::default());
    let mut lines: Vec<Line> = called
        .map(|role| {
            let series = if role == Role::Target { "1" } else { "2" };
            line(role.as_str(), row.spend.of(role), series)
        })
        .collect();
    if lines.is_empty() {
        lines.push(line("no call", Spend::default(), "8"));
    }
    for later in lines.iter_mut().skip(1) {
        (later.label, later.wall_ms) = ("", None);
    }
    lines
}

fn line_view(line: &Line, longest: u64) -> AnyView {
    let shorten = |ms: u64| u32::try_from(ms / 10).unwrap_or(u32::MAX);
    let time = line.wall_ms.map(|ms| ms.map_or_else(|| fmt::MISSING.to_owned(), fmt::duration));
    let bar = line.wall_ms.flatten().map(|ms| {
        let width = fmt::share(shorten(ms), shorten(longest));
        view! { <span class="bars__track"><i data-series=line.series style:width=width></i></span> }
            .into_any()
    });
    view! {
        <tr>
            <th scope="row" title=line.about>{line.label}</th>
            <td class="second">{line.role}</td>
            {numbers(&line.spend)}
            <td data-num>{time}</td>
            <td class="hide-narrow costs__bar">{bar}</td>
        </tr>
    }
    .into_any()
}

fn numbers(spend: &Spend) -> AnyView {
    let (read, written) = tokens(spend);
    view! {
        <td data-num>{fmt::count(spend.calls)}</td>
        <td data-num>{fmt::count(spend.cached)}</td>
        <td data-num>{read}</td>
        <td data-num>{written}</td>
        <td data-num>{cost(spend)}</td>
    }
    .into_any()
}

/// Tokens where they are reported; a sum that lacks some is a lower bound.
fn tokens(spend: &Spend) -> (String, String) {
    let words = |n: u64| match (n, spend.unmetered_calls) {
        (n, 0) => fmt::short(n),
        (0, _) => "unknown".to_owned(),
        (n, _) => format!("> {}", fmt::short(n)),
    };
    (words(spend.prompt_tokens), words(spend.completion_tokens))
}

/// Money where it is known; a sum that lacks some is a lower bound.
fn cost(spend: &Spend) -> String {
    match (spend.cost_usd_micros, spend.unpriced_calls) {
        (micros, 0) => fmt::usd(Some(micros)),
        (0, _) => fmt::usd(None),
        (micros, _) => format!("> {}", fmt::usd(Some(micros))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_money_and_tokens_are_no_zero() {
        let unknown = Spend { calls: 2, unpriced_calls: 2, unmetered_calls: 2, ..Spend::default() };
        assert_eq!(cost(&unknown), "unknown");
        assert_eq!(tokens(&unknown), ("unknown".into(), "unknown".into()));
        let partly = Spend { cost_usd_micros: 2_500_000, prompt_tokens: 12_000, ..unknown };
        assert_eq!((cost(&partly), tokens(&partly).0), ("> $2.50".into(), "> 12.0 k".into()));
        assert_eq!(cost(&Spend::default()), "$0.00");
    }

    #[test]
    fn each_role_has_a_line_and_the_time_is_told_once() {
        let spend = Spend { calls: 1, ..Spend::default() };
        let row = |spend| CostRow { label: "Evaluate", about: "", wall_ms: Some(5), spend };
        let both = lines_of(&row(SpendByRole { target: spend, optimizer: spend }));
        let shape: Vec<_> = both.iter().map(|line| (line.label, line.role, line.wall_ms)).collect();
        assert_eq!(shape, [("Evaluate", "target", Some(Some(5))), ("", "optimizer", None)]);
        assert_eq!(lines_of(&row(SpendByRole::default()))[0].role, "no call");
    }
}
