//! The Steps tab: all steps at the left, the story of one at the right. `j` and `k` move.

use super::journal_event::held;
use super::query::{QueryValue, query_value};
use super::state::{RunState, running_step};
use super::step_story::{StepFacts, step_story};
use super::steps_rail::{PAGE, Rail};
use crate::api;
use crate::components::dynamic::{dynamic, when};
use crate::components::handler::handler;
use crate::components::icon::Icon;
use crate::components::in_view::keep_in_view;
use crate::components::loaded::{Frame, loaded};
use crate::components::states::{Empty, SkeletonRows};
use crate::state::keys::{KeyUse, on_single_key};
use crate::state::load::Load;
use crate::state::memo::Memo;
use leptos::prelude::*;
use skillopt_domain::event::StepSummary;

#[component]
pub(super) fn StepsTab(run: RunState) -> impl IntoView {
    let live = run.steps();
    let running = Memo::new(move || run.view.with(running_step));
    let picked = query_value::<u32>("step");
    let newest = Memo::new(move || live.with(|live| newest_page(live)));
    let page = Memo::new(move || newest.with(|newest| page_of(newest, picked.get())));
    let loaded = Load::new(move || {
        let (id, page) = (run.id(), page.get());
        async move {
            match page {
                Some(from) => Ok(api::steps(&id, from, PAGE).await?.items),
                None => Ok::<_, api::ApiError>(Vec::new()),
            }
        }
    });
    let steps = Memo::new(move || match page.get() {
        None => newest.get(),
        // The page before stays until the new one is there.
        Some(_) => loaded.get().and_then(Result::ok).map_or_else(Vec::new, |steps| steps.to_vec()),
    });
    let step = Memo::new(move || {
        let newest = newest.with(|newest| newest.last().map(|step| step.step));
        picked.get().or(newest).or(running.get())
    });
    let all = Memo::new(move || {
        let done = steps.with(|steps| steps.iter().map(|step| step.step).collect::<Vec<_>>());
        let n_steps = run.view.with(|view| view.n_steps);
        // The neighbours beyond the page open the next one.
        let before = done.first().and_then(|first| first.checked_sub(1)).filter(|step| *step > 0);
        let after = done.last().map(|last| last + 1).filter(|step| *step <= n_steps);
        let all = before.into_iter().chain(done).chain(after);
        all.chain(running.get().filter(|step| Some(*step) != after)).collect::<Vec<_>>()
    });
    on_single_key(move |key| match key {
        "j" => go(picked, neighbour(&all.get_untracked(), step.get_untracked(), Way::Older)),
        "k" => go(picked, neighbour(&all.get_untracked(), step.get_untracked(), Way::Newer)),
        _ => KeyUse::Ignored,
    });
    keep_in_view(move || step.get(), ".steps__item[aria-current]");
    let split = move || {
        view! {
            <div class="split" data-side="start" data-width="steps">
                <Rail run steps loaded page step running/>
                <div>
                    <PhoneNav run step all picked/>
                    <Story run step running/>
                </div>
            </div>
        }
        .into_any()
    };
    when(move || step.get().is_some(), split, move || view! { <NoSteps run/> }.into_any())
}

/// The newest steps, one page at most: a run that one watches for long adds to them.
fn newest_page(live: &[StepSummary]) -> Vec<StepSummary> {
    let page = usize::try_from(PAGE).unwrap_or(usize::MAX);
    live[live.len().saturating_sub(page)..].to_vec()
}

/// The first step of the page that has the chosen one; `None` for the newest page.
fn page_of(newest: &[StepSummary], picked: Option<u32>) -> Option<u32> {
    let first = newest.first()?.step;
    let picked = picked.filter(|picked| *picked < first && *picked > 0)?;
    Some((picked - 1) / PAGE * PAGE + 1)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Older,
    Newer,
}

/// The step before or after `now` among rising numbers.
fn neighbour(all: &[u32], now: Option<u32>, way: Way) -> Option<u32> {
    let now = now?;
    match way {
        Way::Older => all.iter().rev().copied().find(|step| *step < now),
        Way::Newer => all.iter().copied().find(|step| *step > now),
    }
}

fn go(picked: QueryValue<u32>, step: Option<u32>) -> KeyUse {
    if step.is_some() {
        picked.set(step);
    }
    KeyUse::Used
}

#[component]
fn NoSteps(run: RunState) -> impl IntoView {
    let is_over = Memo::new(move || run.view.with(|view| view.status.is_over()));
    dynamic(move || {
        let text = if is_over.get() {
            "The run ended before its first step began. Resume it, or look at its events for the reason."
        } else {
            "The first step begins when the initial skill has been measured on the selection split."
        };
        view! { <Empty title="No steps yet" text/> }.into_any()
    })
}

/// On a phone the rail is one line.
#[component]
fn PhoneNav(
    run: RunState,
    step: Memo<Option<u32>>,
    all: Memo<Vec<u32>>,
    picked: QueryValue<u32>,
) -> impl IntoView {
    let total = move || run.view.with(|view| view.plan.as_ref().map(|plan| plan.total_steps));
    let words = move || {
        let of = total().map_or_else(String::new, |total| format!(" of {total}"));
        step.get().map(|step| format!("Step {step}{of}"))
    };
    let older = move || all.with(|all| neighbour(all, step.get(), Way::Older));
    let newer = move || all.with(|all| neighbour(all, step.get(), Way::Newer));
    view! {
        <div class="step-nav only-narrow">
            <button class="icon-button" type="button" aria-label="Older step" title="Older step"
                disabled=move || older().is_none() on:click=handler(move |_| _ = go(picked, older()))>
                <Icon name="down"/>
            </button>
            <b class="medium">{move || words()}</b>
            <button class="icon-button" type="button" aria-label="Newer step" title="Newer step"
                disabled=move || newer().is_none() on:click=handler(move |_| _ = go(picked, newer()))>
                <Icon name="up"/>
            </button>
        </div>
    }
}

/// The story of the chosen step; the one that is under way grows while one reads.
#[component]
fn Story(run: RunState, step: Memo<Option<u32>>, running: Memo<Option<u32>>) -> impl IntoView {
    let is_running = Memo::new(move || step.get().is_some() && step.get() == running.get());
    let story = Load::new(move || {
        let (id, step) = (run.id(), step.get());
        // A step that has just finished is loaded whole.
        let _ = is_running.get();
        async move {
            let step = step.unwrap_or(1);
            let detail = api::step(&id, step).await?;
            Ok::<_, api::ApiError>(StepFacts {
                step,
                events: held(detail.events),
                before: detail.before,
                before_version: detail.before_version,
            })
        }
    });
    let frame = Frame::new("The step could not be loaded.")
        .loading(|| view! { <SkeletonRows rows=12/> }.into_any());
    loaded(story, frame, move |facts: &StepFacts| {
        view! { <LiveStory run facts=facts.clone() running/> }.into_any()
    })
}

#[component]
fn LiveStory(run: RunState, facts: StepFacts, running: Memo<Option<u32>>) -> impl IntoView {
    let facts = StoredValue::new(facts);
    let now = Memo::new(move || {
        let mut now = facts.get_value();
        if running.get() == Some(now.step) {
            let last = now.events.last().map_or(0, |event| event.seq);
            run.step_events.with(|events| {
                now.events.extend(
                    events
                        .iter()
                        .filter(|event| event.seq > last && event.kind.step() == Some(now.step))
                        .cloned(),
                );
            });
        }
        now
    });
    dynamic(move || now.with(|facts| step_story(run, facts)))
}

#[cfg(test)]
mod tests {
    use super::super::charts_data::tests::step as test_step;
    use super::*;

    #[test]
    fn j_goes_to_older_steps_and_k_to_newer_ones() {
        let all = [1, 2, 5];
        assert_eq!(neighbour(&all, Some(5), Way::Older), Some(2));
        assert_eq!(neighbour(&all, Some(2), Way::Newer), Some(5));
        assert_eq!(neighbour(&all, Some(1), Way::Older), None);
        assert_eq!(neighbour(&all, None, Way::Older), None);
    }

    #[test]
    fn a_step_that_is_not_among_the_newest_opens_its_page() {
        let newest: Vec<StepSummary> = (9_901..=10_000).map(test_step).collect();
        assert_eq!(page_of(&newest, None), None);
        assert_eq!(page_of(&newest, Some(9_950)), None);
        assert_eq!(page_of(&newest, Some(9_900)), Some(9_801));
        assert_eq!(page_of(&newest, Some(1)), Some(1));
        assert_eq!(page_of(&[], Some(1)), None);
        let live: Vec<StepSummary> = (1..=250).map(test_step).collect();
        assert_eq!(newest_page(&live).first().map(|step| step.step), Some(151));
    }
}
