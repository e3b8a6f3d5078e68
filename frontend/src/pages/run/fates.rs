//! What was paid for by what became of it, what an accepted step cost, and how the run compares with what was foreseen.

use super::state::RunState;
use crate::components::dynamic::{CollectAny, dynamic, nothing};
use crate::components::ranges::{dollars, ends, money, range};
use crate::fmt;
use crate::state::memo::Memo;
use leptos::prelude::*;
use skillopt_domain::cost::{FateCost, StepFate};
use skillopt_domain::forecast::Estimate;
use skillopt_domain::spend::Spend;
use skillopt_domain::view::RunView;

/// Nothing before the first finished step.
pub(super) fn fates(run: RunState) -> AnyView {
    let rows = Memo::new(move || run.view.with(RunView::fate_rows));
    let per_accepted = Memo::new(move || run.view.with(accepted_words));
    dynamic(move || {
        let rows = rows.get();
        if rows.is_empty() {
            return foreseen(run);
        }
        let lines = rows.iter().map(line).collect_any();
        view! {
            <section class="section" data-space="tight" aria-labelledby="fates-title">
                <div class="section__head"><h2 id="fates-title">"Paid for steps, by what became of them"</h2></div>
                <div class="scroll-x" tabindex="0" role="region" aria-label="Cost of steps by their fate">
                    <table class="table" data-variant="plain">
                        <thead><tr>
                            <th scope="col">"Steps"</th>
                            <th scope="col" data-num>"n"</th>
                            <th scope="col" data-num>"Calls"</th>
                            <th scope="col" data-num>"Tokens"</th>
                            <th scope="col" data-num>"Cost"</th>
                            <th scope="col" data-num>"Time"</th>
                        </tr></thead>
                        <tbody>{lines}</tbody>
                    </table>
                </div>
                <p class="small muted">{move || per_accepted.get()}</p>
            </section>
            {foreseen(run)}
        }
        .into_any()
    })
}

fn line(row: &FateCost) -> AnyView {
    let (word, about) = match row.fate {
        StepFate::Accepted => ("Accepted", "Their candidate stayed"),
        StepFate::Rejected => ("Rejected", "Their candidate was measured and rejected"),
        StepFate::Skipped => ("Skipped", "They had no candidate"),
        StepFate::Undecided => ("Not decided", "Too many attempts failed for a comparison"),
    };
    let total = row.spend.total();
    let sure = if total.unmetered_calls > 0 { "> " } else { "" };
    view! {
        <tr>
            <th scope="row" title=about>{word}</th>
            <td data-num>{fmt::count(row.n_steps.into())}</td>
            <td data-num>{fmt::count(total.calls)}</td>
            <td data-num>{format!("{sure}{}", fmt::short(total.tokens()))}</td>
            <td data-num>{fmt::usd(total.known_cost_usd_micros())}</td>
            <td data-num>{fmt::duration(row.wall_ms)}</td>
        </tr>
    }
    .into_any()
}

fn accepted_words(view: &RunView) -> String {
    let accepted = view.fates.iter().find(|row| row.fate == StepFate::Accepted);
    let Some(n) = accepted.map(|row| row.n_steps) else {
        return "No step was accepted yet.".to_owned();
    };
    let n_steps = fmt::plural(n.into(), "accepted step", "accepted steps");
    match view.cost_per_accepted_step() {
        Some(cost) => format!("All steps together cost {} for each of {n_steps}.", dollars(cost)),
        None => format!("{n_steps}; what each cost is unknown, because a price is."),
    }
}

/// Spent against what was foreseen before the first call.
fn foreseen(run: RunState) -> AnyView {
    let both = Memo::new(move || {
        run.view.with(|view| {
            let forecast = view.plan.as_ref()?.forecast.as_ref()?;
            Some((
                forecast.total(),
                forecast.remaining(view).total(),
                view.spend.total(),
                view.status.is_over(),
            ))
        })
    });
    dynamic(move || {
        let Some((before, left, spent, is_over)) = both.get() else { return nothing() };
        let known = spent.known_cost_usd_micros();
        let row = |label: &'static str, foreseen: String, spent: String, left: String| {
            let left = (!is_over).then(|| view! { <td data-num>{left}</td> }.into_any());
            view! { <tr><th scope="row">{label}</th><td data-num>{foreseen}</td><td data-num>{spent}</td>{left}</tr> }.into_any()
        };
        let of = |label, before: Estimate, spent: u64, left: Estimate, words: fn(u64) -> String| {
            row(label, range(before, words), words(spent), range(left, words))
        };
        let head = (!is_over).then(|| view! { <th scope="col" data-num>"Left"</th> }.into_any());
        view! {
            <section class="section" data-space="tight" aria-labelledby="foreseen-title">
                <div class="section__head"><h2 id="foreseen-title">"Foreseen and spent"</h2></div>
                <div class="scroll-x" tabindex="0" role="region" aria-label="Foreseen and spent">
                    <table class="table" data-variant="plain">
                        <thead><tr>
                            <th scope="col"><span class="visually-hidden">"What"</span></th>
                            <th scope="col" data-num>"Before the run"</th>
                            <th scope="col" data-num>"Spent"</th>
                            {head}
                        </tr></thead>
                        <tbody>
                            {of("Calls", before.calls, spent.calls, left.calls, fmt::count)}
                            {of("Tokens read", before.prompt_tokens, spent.prompt_tokens, left.prompt_tokens, fmt::short)}
                            {of("Tokens written", before.completion_tokens, spent.completion_tokens, left.completion_tokens, fmt::short)}
                            {row("Cost", money(before.cost_usd_micros), fmt::usd(known), money(left.cost_usd_micros))}
                        </tbody>
                    </table>
                </div>
                <p class="small muted">{parts_words(&spent, left.wall_ms, is_over)}</p>
            </section>
        }
        .into_any()
    })
}

/// Cached and reasoning tokens, where told, and the time that is left.
fn parts_words(spent: &Spend, left_ms: Estimate, is_over: bool) -> String {
    let mut all = Vec::new();
    let share = |part: u64, whole: u64| {
        let small = |n: u64| u32::try_from(n / 1000).unwrap_or(u32::MAX);
        fmt::percent(small(part), small(whole).max(1))
    };
    match spent.cached_prompt_tokens {
        Some(n) => all.push(format!(
            "Of the tokens read {} came from the provider's cache ({}).",
            fmt::short(n),
            share(n, spent.prompt_tokens)
        )),
        None => all.push("Whether tokens came from a provider's cache is not told.".to_owned()),
    }
    if let Some(n) = spent.reasoning_tokens {
        all.push(format!(
            "Of the tokens written {} are reasoning ({}).",
            fmt::short(n),
            share(n, spent.completion_tokens)
        ));
    }
    if let Some(ends) = ends(left_ms, fmt::duration).filter(|_| !is_over) {
        all.push(format!("Time left: about {} ({ends}).", fmt::duration(left_ms.likely)));
    }
    all.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_provider_told_is_not_told_as_zero() {
        let words = parts_words(&Spend::default(), Estimate::default(), true);
        assert_eq!(words, "Whether tokens came from a provider's cache is not told.");
        let told = Spend {
            prompt_tokens: 1_000_000,
            completion_tokens: 100_000,
            cached_prompt_tokens: Some(400_000),
            reasoning_tokens: Some(0),
            ..Spend::default()
        };
        let words =
            parts_words(&told, Estimate { low: 1_000, likely: 60_000, high: 120_000 }, false);
        assert!(words.contains("400") && words.contains("40"), "{words}");
        assert!(words.contains("0 are reasoning") && words.contains("Time left"), "{words}");
    }

    #[test]
    fn an_accepted_step_without_a_price_has_an_unknown_cost() {
        assert_eq!(accepted_words(&RunView::default()), "No step was accepted yet.");
        let spend = Spend { calls: 2, unpriced_calls: 2, ..Spend::default() };
        let spend = skillopt_domain::spend::SpendByRole { target: spend, ..Default::default() };
        let row = FateCost { fate: StepFate::Accepted, n_steps: 1, wall_ms: 1, spend };
        let view = RunView { fates: vec![row], ..RunView::default() };
        assert_eq!(
            accepted_words(&view),
            "1 accepted step; what each cost is unknown, because a price is."
        );
    }
}
