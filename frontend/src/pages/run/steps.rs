//! The Steps tab: all steps at the left, the story of one at the right. `j` and `k` move.

use super::query::{QueryValue, query_value};
use super::state::{RunState, running_step};
use super::step_story::{StepFacts, step_story};
use super::words::stage_so_far;
use crate::api;
use crate::charts::score::{ScorePoint, merged, points};
use crate::components::icon::Icon;
use crate::components::look::Look;
use crate::components::numbers::Delta;
use crate::components::states::{BoundaryError, Empty, ErrorCallout, SkeletonRows};
use crate::fmt;
use crate::state::keys::{KeyUse, on_single_key};
use leptos::prelude::*;
use leptos::task::spawn_local;
use skillopt_domain::event::StepSummary;

/// Steps that are loaded at once when the older ones are asked for.
const OLDER: u32 = 500;

/// A row of the rail.
#[derive(Clone, Debug, PartialEq)]
struct RailRow {
    point: ScorePoint,
    epoch: u32,
    /// The epoch starts here, seen from above.
    opens_epoch: bool,
}

#[component]
pub(super) fn StepsTab(run: RunState) -> impl IntoView {
    let older = RwSignal::new(Vec::<StepSummary>::new());
    let live = run.steps();
    let steps = Memo::new(move |_| older.with(|older| live.with(|live| merged(older, live))));
    let running = Memo::new(move |_| run.view.with(running_step));
    let picked = query_value::<u32>("step");
    let step = Memo::new(move |_| {
        let newest = steps.with(|steps| steps.last().map(|step| step.step));
        picked.get().or(newest).or(running.get())
    });
    let all = Memo::new(move |_| {
        let done = steps.with(|steps| steps.iter().map(|step| step.step).collect::<Vec<_>>());
        done.into_iter().chain(running.get()).collect::<Vec<_>>()
    });
    on_single_key(move |key| match key {
        "j" => go(picked, neighbour(&all.get_untracked(), step.get_untracked(), Way::Older)),
        "k" => go(picked, neighbour(&all.get_untracked(), step.get_untracked(), Way::Newer)),
        _ => KeyUse::Ignored,
    });
    keep_in_view(step);
    view! {
        <Show when=move || step.get().is_some() fallback=move || view! { <NoSteps run/> }>
            <div class="split" data-side="start" data-width="steps">
                <Rail run steps older step running/>
                <div>
                    <PhoneNav run step all picked/>
                    <Story run step running/>
                </div>
            </div>
        </Show>
    }
}

/// The chosen step stays visible in the rail while one moves.
fn keep_in_view(step: Memo<Option<u32>>) {
    Effect::new(move || {
        let _ = step.get();
        // The rail marks the new step after this effect.
        request_animation_frame(|| {
            let item = document().query_selector(".steps__item[aria-current]").ok().flatten();
            if let Some(item) = item {
                let options = web_sys::ScrollIntoViewOptions::new();
                options.set_block(web_sys::ScrollLogicalPosition::Nearest);
                item.scroll_into_view_with_scroll_into_view_options(&options);
            }
        });
    });
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
    let is_over = Memo::new(move |_| run.view.with(|view| view.status.is_over()));
    move || {
        let text = if is_over.get() {
            "The run ended before its first step began. Resume it, or look at its events for the reason."
        } else {
            "The first step begins when the initial skill has been measured on the selection split."
        };
        view! { <Empty title="No steps yet" text/> }
    }
}

#[component]
fn Rail(
    run: RunState,
    steps: Memo<Vec<StepSummary>>,
    older: RwSignal<Vec<StepSummary>>,
    step: Memo<Option<u32>>,
    running: Memo<Option<u32>>,
) -> impl IntoView {
    let rows = Memo::new(move |_| {
        run.view.with(|view| steps.with(|steps| rail_rows(&points(view, steps), steps)))
    });
    view! {
        <nav class="steps split__side hide-narrow" aria-label="Steps">
            {move || running.get().map(|number| view! { <RunningItem run number step/> })}
            <For each=move || rows.get() key=|row| (row.point.step, row.point.action, row.opens_epoch) let:row>
                {rail_row(run, &row, step)}
            </For>
            <Older run steps older/>
        </nav>
    }
}

fn rail_rows(points: &[ScorePoint], steps: &[StepSummary]) -> Vec<RailRow> {
    let mut rows: Vec<RailRow> = Vec::with_capacity(steps.len());
    let points = points.iter().filter(|point| point.step > 0);
    for (point, step) in points.zip(steps).collect::<Vec<_>>().into_iter().rev() {
        let opens_epoch = rows.last().is_none_or(|row| row.epoch != step.epoch);
        rows.push(RailRow { point: point.clone(), epoch: step.epoch, opens_epoch });
    }
    rows
}

fn rail_row(run: RunState, row: &RailRow, step: Memo<Option<u32>>) -> impl IntoView + use<> {
    let number = row.point.step;
    let look =
        row.point.action.map_or(Look::from(skillopt_domain::run::RunStatus::Queued), Look::from);
    let is_current = move || (step.get() == Some(number)).then_some("page");
    let epoch = row
        .opens_epoch
        .then(|| view! { <p class="steps__epoch">{format!("Epoch {}", row.epoch)}</p> });
    view! {
        {epoch}
        <a class="steps__item" data-status=look.status aria-current=is_current href=run.step_href(number) title=look.word>
            <Icon name=look.icon/>
            <span>{number}<span class="visually-hidden">", "{look.word}</span></span>
            <span class="steps__score">{fmt::score(row.point.candidate)}</span>
            <span class="steps__delta"><Delta before=row.point.current_before after=row.point.candidate/></span>
        </a>
    }
}

#[component]
fn RunningItem(run: RunState, number: u32, step: Memo<Option<u32>>) -> impl IntoView {
    let so_far = Memo::new(move |_| {
        let count = run.view.with(|view| stage_so_far(view.progress.as_ref()));
        format!("{} {}", count.bold, count.rest)
    });
    let is_current = move || (step.get() == Some(number)).then_some("page");
    view! {
        <a class="steps__item" data-status="running" aria-current=is_current href=run.step_href(number)>
            <Icon name="running"/>
            <span>{number}<span class="visually-hidden">", running"</span></span>
            <span class="steps__score muted">{so_far}</span>
        </a>
    }
}

/// A long run comes with its last steps; the older ones are loaded when asked for.
#[component]
fn Older(
    run: RunState,
    steps: Memo<Vec<StepSummary>>,
    older: RwSignal<Vec<StepSummary>>,
) -> impl IntoView {
    let failure = RwSignal::new(None);
    let is_loading = RwSignal::new(false);
    let first = move || steps.with(|steps| steps.first().map_or(1, |step| step.step));
    let load = move || {
        let from = first().saturating_sub(OLDER).max(1);
        let count = first() - from;
        is_loading.set(true);
        failure.set(None);
        spawn_local(async move {
            match api::steps(&run.id(), from, count).await {
                Ok(loaded) => _ = older.try_update(|older| *older = merged(&loaded.items, older)),
                Err(error) => _ = failure.try_set(Some(error)),
            }
            let _ = is_loading.try_set(false);
        });
    };
    view! {
        {move || failure.get().map(|error| view! {
            <ErrorCallout what="Older steps could not be loaded." error on_retry=Callback::new(move |()| load())/>
        })}
        {move || (first() > 1).then(|| view! {
            <button class="button" data-size="sm" data-variant="quiet" type="button" disabled=move || is_loading.get() on:click=move |_| load()>
                {move || format!("Steps before {}", first())}
            </button>
        })}
    }
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
                disabled=move || older().is_none() on:click=move |_| _ = go(picked, older())>
                <Icon name="down"/>
            </button>
            <b class="medium">{words}</b>
            <button class="icon-button" type="button" aria-label="Newer step" title="Newer step"
                disabled=move || newer().is_none() on:click=move |_| _ = go(picked, newer())>
                <Icon name="up"/>
            </button>
        </div>
    }
}

/// The story of the chosen step; the one that is under way grows while one reads.
#[component]
fn Story(run: RunState, step: Memo<Option<u32>>, running: Memo<Option<u32>>) -> impl IntoView {
    let is_running = Memo::new(move |_| step.get().is_some() && step.get() == running.get());
    let loaded = LocalResource::new(move || {
        let (id, step) = (run.id(), step.get());
        // A step that has just finished is loaded whole.
        let _ = is_running.get();
        async move {
            let step = step.unwrap_or(1);
            let detail = api::step(&id, step).await?;
            Ok::<_, api::ApiError>(StepFacts {
                step,
                events: detail.events,
                before: detail.before,
                before_version: detail.before_version,
            })
        }
    });
    view! {
        <Transition fallback=|| view! { <SkeletonRows rows=12/> }>
            <ErrorBoundary fallback=move |errors| view! {
                <BoundaryError what="The step could not be loaded.".to_owned() errors on_retry=move |()| loaded.refetch()/>
            }>
                {move || Suspend::new(async move { loaded.await.map(|facts| view! { <LiveStory run facts running/> }) })}
            </ErrorBoundary>
        </Transition>
    }
}

#[component]
fn LiveStory(run: RunState, facts: StepFacts, running: Memo<Option<u32>>) -> impl IntoView {
    let facts = StoredValue::new(facts);
    let now = Memo::new(move |_| {
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
    move || now.with(|facts| step_story(run, facts))
}

#[cfg(test)]
mod tests {
    use super::super::charts_data::tests::step;
    use super::*;
    use skillopt_domain::view::RunView;

    #[test]
    fn j_goes_to_older_steps_and_k_to_newer_ones() {
        let all = [1, 2, 5];
        assert_eq!(neighbour(&all, Some(5), Way::Older), Some(2));
        assert_eq!(neighbour(&all, Some(2), Way::Newer), Some(5));
        assert_eq!(neighbour(&all, Some(1), Way::Older), None);
        assert_eq!(neighbour(&all, None, Way::Older), None);
    }

    #[test]
    fn the_rail_is_newest_first_and_opens_each_epoch_once() {
        let mut steps = vec![step(1), step(2), step(3)];
        steps[2].epoch = 2;
        let rows = rail_rows(&points(&RunView::default(), &steps), &steps);
        let shape: Vec<_> = rows.iter().map(|row| (row.point.step, row.opens_epoch)).collect();
        assert_eq!(shape, [(3, true), (2, true), (1, false)]);
        assert_eq!(rows[0].point.current_before, Some(0.5));
    }
}
