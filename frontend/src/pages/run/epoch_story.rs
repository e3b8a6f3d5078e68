//! The end of one epoch as a story: the verdict on its guidance, the comparison that it rests on, its text, the tasks
//! that changed, the optimizer's memory.

use super::epoch_words::{
    EpochEnd, asides, category_look, compared_words, memory_words, policy_words, update_words,
};
use super::state::RunState;
use super::step_outcome::{CandidateDiff, gate_part};
use super::step_words as words;
use super::story_parts::{
    labelled, part, quoted, second, sentence, together, verdict_box, versions_link,
};
use super::trajectories::purpose_href;
use crate::components::diff_view::DiffView;
use crate::components::dynamic::{CollectAny, when};
use crate::components::handler::handler;
use crate::components::look::Look;
use crate::components::status::Status;
use crate::fmt;
use crate::state::signal::RwSignal;
use leptos::prelude::*;
use skillopt_domain::diff::diff;
use skillopt_domain::epoch::{Comparison, PairCategory, SlowUpdate};
use skillopt_domain::hash::Sha256Hex;
use skillopt_domain::ids::TaskId;
use skillopt_domain::spend::SpendByRole;

/// Tasks of a category that are named; the others are counted.
const MAX_TASKS: usize = 60;

pub(super) fn epoch_story(run: RunState, end: &EpochEnd) -> AnyView {
    let parts = [
        compared(run, end),
        end.update.as_ref().and_then(guidance),
        end.update.as_ref().and_then(|update| {
            Some(gate_part(run, update.verdict.as_ref()?, Look::from(update.action)))
        }),
        memory(end),
        time_and_cost(end),
    ];
    let id = format!("epoch-{}", end.epoch);
    let labelled_by = id.clone();
    let step = end.step.map(|step| {
        view! { <span><a class="link" href=run.step_href(step)>{format!("step {step}")}</a></span> }
            .into_any()
    });
    let head = end.update.as_ref().map(|update| verdict(run, end, update));
    view! {
        <section class="section epoch" aria-labelledby=labelled_by>
            <div class="section__head"><h2 id=id>{format!("After epoch {}", end.epoch)}</h2>{step}</div>
            {head}
            <ol class="timeline story">{parts.into_iter().flatten().collect::<Vec<_>>()}</ol>
        </section>
    }
    .into_any()
}

fn verdict(run: RunState, end: &EpochEnd, update: &SlowUpdate) -> AnyView {
    let look = Look::from(update.action);
    let said = update_words(update);
    let link = update
        .action
        .is_accepted()
        .then(|| versions_link(run, update.version.saturating_sub(1), update.version));
    let before = end.comparison.as_ref().map(|comparison| comparison.current.clone());
    let change = before
        .zip(update.candidate.clone())
        .map(|(before, after)| view! { <Change run before after/> }.into_any());
    together([Some(verdict_box(None, look, said, None, link)), change])
}

/// The change that the guidance makes, loaded when it is asked for.
#[component]
fn Change(run: RunState, before: Sha256Hex, after: Sha256Hex) -> impl IntoView {
    let is_open = RwSignal::new(false);
    let shas = StoredValue::new((before, after));
    let diff = move || {
        let (before, after) = shas.get_value();
        view! { <CandidateDiff run before after/> }.into_any()
    };
    let words = move || if is_open.get() { "Hide the change" } else { "Show the change" };
    view! {
        <div class="stack epoch__change">
            <p>
                <button class="link" type="button" aria-expanded=move || is_open.get().to_string()
                    on:click=handler(move |_| is_open.update(|open| *open = !*open))>{move || words().to_owned()}</button>
            </p>
            {when(move || is_open.get(), diff, || ().into_any())}
        </div>
    }
}

fn compared(run: RunState, end: &EpochEnd) -> Option<AnyView> {
    let comparison = end.comparison.as_ref()?;
    let name = |skill| {
        run.version_of(skill)
            .map_or_else(|| "an unnamed version".to_owned(), |version| format!("v{version}"))
    };
    let said = compared_words(comparison, &name(&comparison.previous), &name(&comparison.current));
    let groups =
        PairCategory::ALL.map(|category| category_row(run, end.step, comparison, category));
    let beside = asides(comparison)
        .into_iter()
        .map(|aside| pair_row(aside.word.into_any(), aside.n.to_string(), aside.text.into_any()));
    let all = purpose_href(run, "longitudinal", end.step, None);
    let inner = view! {
        {sentence(said)}
        <div class="scroll-x epoch__pairs" tabindex="0" role="region" aria-label="Tasks by category">
            <table class="table" data-variant="plain">
                <thead><tr>
                    <th scope="col">"Result"</th>
                    <th scope="col" data-num>"n"</th>
                    <th scope="col">"Tasks"</th>
                </tr></thead>
                <tbody>{groups.into_iter().chain(beside).collect::<Vec<_>>()}</tbody>
            </table>
        </div>
        <p class="small"><a class="link" href=all>"Trajectories with both skills"</a></p>
    };
    let note = policy_words(comparison.policy).to_owned();
    Some(part("compare", "Two epochs compared", note, None, inner.into_any()))
}

fn category_row(
    run: RunState,
    step: Option<u32>,
    comparison: &Comparison,
    category: PairCategory,
) -> AnyView {
    let of_category = comparison.groups.iter().filter(|group| group.category == category);
    let tasks: Vec<&TaskId> = of_category.flat_map(|group| &group.tasks).collect();
    let count = tasks.len();
    let links = tasks.into_iter().take(MAX_TASKS).map(|task| {
        let href = purpose_href(run, "longitudinal", step, Some(task.as_str()));
        view! { <a class="link mono" href=href>{task.to_string()}</a>" " }
    });
    let more = (count > MAX_TASKS).then(|| format!("and {} more", count - MAX_TASKS));
    let none = (count == 0).then_some(fmt::MISSING);
    let status = view! { <Status look=category_look(category)/> }.into_any();
    let tasks = view! { {links.collect_any()}{more}{none} }.into_any();
    pair_row(status, count.to_string(), tasks)
}

fn pair_row(result: AnyView, n: String, about: AnyView) -> AnyView {
    view! {
        <tr>
            <td>{result}</td>
            <td data-num class="medium">{n}</td>
            <td class="table__wrap second epoch__tasks">{about}</td>
        </tr>
    }
    .into_any()
}

fn guidance(update: &SlowUpdate) -> Option<AnyView> {
    if update.content.is_empty() {
        return None;
    }
    let note = if update.action.is_accepted() {
        format!("in the skill since v{}, no edit can change it", update.version)
    } else {
        "not in the skill".to_owned()
    };
    let inner =
        together([Some(quoted(&update.content)), labelled("Its reason", &update.reasoning)]);
    Some(part("pencil", "Guidance", note, None, inner))
}

fn memory(end: &EpochEnd) -> Option<AnyView> {
    let memory = end.memory.as_ref()?;
    let text = if memory.content.is_empty() {
        None
    } else if end.memory_before.is_empty() || end.memory_before == memory.content {
        Some(quoted(&memory.content))
    } else {
        let change = diff(&whole(&end.memory_before), &whole(&memory.content));
        Some(
            view! { <div class="panel scroll-x" data-clip><DiffView diff=change label="Memory before and after"/></div> }
                .into_any(),
        )
    };
    let said = sentence(memory_words(memory));
    let inner = together([Some(said), text, labelled("Its reason", &memory.reasoning)]);
    let note = "what the optimizer remembers from epoch to epoch".to_owned();
    Some(part("history", "Memory", note, None, inner))
}

fn time_and_cost(end: &EpochEnd) -> Option<AnyView> {
    let update = end.update.as_ref().map(|one| ("Comparison and guidance", one.wall_ms, one.spend));
    let alone = if end.update.is_some() { "Memory" } else { "Comparison and memory" };
    let memory = end.memory.as_ref().map(|one| (alone, one.wall_ms, one.spend));
    let row = |(name, wall_ms, spend): (&'static str, u64, SpendByRole)| {
        second(format!("{name}: {}, {}", fmt::duration(wall_ms), words::cost_words(&spend)))
    };
    let rows: Vec<_> = update.into_iter().chain(memory).collect();
    let total: u64 = rows.iter().map(|row| row.1).sum();
    let rows = rows.into_iter().map(row).collect::<Vec<_>>();
    Some(part("clock", "Time and cost", fmt::duration(total), None, rows.into_any()))
        .filter(|_| end.update.is_some() || end.memory.is_some())
}

/// Both sides end in a line end, so that a missing one is no difference.
fn whole(text: &str) -> String {
    format!("{}\n", text.trim_end())
}
