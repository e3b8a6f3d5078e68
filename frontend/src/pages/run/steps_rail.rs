//! All steps of a run at the left of their stories, newest first, by epoch.

use super::state::RunState;
use super::words::stage_so_far;
use crate::charts::score::{ScorePoint, points};
use crate::components::dynamic::{Item, each};
use crate::components::icon::Icon;
use crate::components::look::Look;
use crate::components::numbers::Delta;
use crate::components::states::ErrorCallout;
use crate::fmt;
use crate::state::load::Load;
use crate::state::memo::Memo;
use leptos::prelude::*;
use skillopt_domain::event::StepSummary;
use skillopt_domain::run::RunStatus;
use skillopt_domain::verdict::Action;

/// Steps of a page.
pub(super) const PAGE: u32 = 100;

/// A row of the rail.
#[derive(Clone, Debug, PartialEq)]
struct RailRow {
    point: ScorePoint,
    epoch: u32,
    /// The epoch starts here, seen from above.
    opens_epoch: bool,
}

#[component]
pub(super) fn Rail(
    run: RunState,
    steps: Memo<Vec<StepSummary>>,
    loaded: Load<Vec<StepSummary>>,
    page: Memo<Option<u32>>,
    step: Memo<Option<u32>>,
    running: Memo<Option<u32>>,
) -> impl IntoView {
    let rows = Memo::new(move || {
        run.view.with(|view| steps.with(|steps| rail_rows(&points(view, steps), steps)))
    });
    // A page at a time: what is chosen decides which one.
    let turn = move |label: &'static str, to: u32| {
        view! { <a class="button steps__turn" data-size="sm" data-variant="quiet" href=run.step_href(to)>{format!("{label} {to}")}</a> }
            .into_any()
    };
    let newer = move || {
        let last = steps.with(|steps| steps.last().map(|step| step.step))?;
        page.get().map(|_| turn("Steps from", last + 1))
    };
    let older = move || {
        let first = steps.with(|steps| steps.first().map(|step| step.step))?;
        (first > 1).then(|| turn("Steps up to", first - 1))
    };
    let failed = move || {
        let error = loaded.get()?.err()?;
        let retry = Callback::new(move |()| loaded.again());
        Some(
            view! { <ErrorCallout what="The steps could not be loaded." error on_retry=retry/> }
                .into_any(),
        )
    };
    view! {
        <nav class="steps split__side hide-narrow" aria-label="Steps">
            {move || running.get().map(|number| view! { <RunningItem run number step/> }.into_any())}
            {move || newer()}
            {each(move || rows.with(|rows| rows.iter().map(|row| rail_item(run, row, step)).collect()))}
            {move || failed()}
            {move || older()}
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

fn rail_item(run: RunState, row: &RailRow, step: Memo<Option<u32>>) -> Item {
    let row = row.clone();
    let action = row.point.action.map_or("", Action::as_str);
    Item::new(format!("{} {action} {}", row.point.step, row.opens_epoch), move || {
        rail_row(run, &row, step).into_any()
    })
}

fn rail_row(run: RunState, row: &RailRow, step: Memo<Option<u32>>) -> impl IntoView + use<> {
    let number = row.point.step;
    let look = row.point.action.map_or(Look::from(RunStatus::Queued), Look::from);
    let is_current = move || (step.get() == Some(number)).then_some("page");
    let epoch = row
        .opens_epoch
        .then(|| view! { <p class="steps__epoch">{format!("Epoch {}", row.epoch)}</p> }.into_any());
    view! {
        {epoch}
        <a class="steps__item" data-status=look.status aria-current=move || is_current() href=run.step_href(number) title=look.word>
            <Icon name=look.icon/>
            <span>{number}<span class="visually-hidden">", "{look.word}</span></span>
            <span class="steps__score">{fmt::score(row.point.candidate)}</span>
            <span class="steps__delta"><Delta before=row.point.current_before after=row.point.candidate/></span>
        </a>
    }
}

#[component]
fn RunningItem(run: RunState, number: u32, step: Memo<Option<u32>>) -> impl IntoView {
    let so_far = Memo::new(move || {
        let count = run.view.with(|view| stage_so_far(view.progress.as_ref()));
        format!("{} {}", count.bold, count.rest)
    });
    let is_current = move || (step.get() == Some(number)).then_some("page");
    view! {
        <a class="steps__item" data-status="running" aria-current=move || is_current() href=run.step_href(number)>
            <Icon name="running"/>
            <span>{number}<span class="visually-hidden">", running"</span></span>
            <span class="steps__score muted">{move || so_far.get()}</span>
        </a>
    }
}

#[cfg(test)]
mod tests {
    use super::super::charts_data::tests::step;
    use super::*;
    use skillopt_domain::view::RunView;

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
