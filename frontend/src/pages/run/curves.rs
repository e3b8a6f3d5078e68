//! The Curves tab: is it improving, which steps won, what it takes. All charts share one cross-line and one zoom.

use super::charts_data as data;
use super::costs::run_costs;
use super::query::{QueryValue, query_value};
use super::stands_out::{Note, notes};
use super::state::{RunState, running_step};
use super::tab::RunTab;
use super::words::left_ms;
use crate::api;
use crate::charts::multiple::{Multiple, SmallPlan, Words, shown_steps};
use crate::charts::pointer::Pointer;
use crate::charts::score::{merged, points};
use crate::charts::score_chart::{ScoreChart, ScoreChoices, ScorePlan, toggled};
use crate::charts::series::SmallPlot;
use crate::components::dynamic::{CollectAny, dynamic, nothing, when};
use crate::components::icon::Icon;
use crate::components::loaded::{Frame, loaded};
use crate::components::states::Empty;
use crate::fmt;
use crate::state::load::Load;
use crate::state::memo::Memo;
use crate::state::signal::RwSignal;
use crate::text::number;
use leptos::prelude::*;
use leptos_router::hooks::use_navigate;
use skillopt_domain::api::{CurveQuery, Curves};
use skillopt_domain::event::StepSummary;
use skillopt_domain::view::RunView;

const SMOOTHING: f64 = 0.4;
/// Longer runs come thinned.
const MAX_POINTS: u32 = 2000;

#[component]
pub(super) fn CurvesTab(run: RunState) -> impl IntoView {
    let zoom = Zoom { from: query_value("from"), to: query_value("to") };
    let is_thinned = run.view.with_untracked(|view| view.n_steps > MAX_POINTS);
    // A zoom into a thinned run asks again, so that no point is left out.
    let curves = Load::new(move || {
        let id = run.id();
        let range = if is_thinned { zoom.get() } else { None };
        async move {
            let query = CurveQuery {
                from: range.map(|r| r.0),
                to: range.map(|r| r.1),
                max_points: Some(MAX_POINTS),
            };
            api::curves(&id, &query).await
        }
    });
    loaded(curves, Frame::new("The curves could not be loaded."), move |curves: &Curves| {
        view! { <Charts run steps=curves.steps.clone() zoom/> }.into_any()
    })
}

/// The steps that are shown, in the URL.
#[derive(Clone, Copy)]
struct Zoom {
    from: QueryValue<u32>,
    to: QueryValue<u32>,
}

impl Zoom {
    fn get(self) -> Option<(u32, u32)> {
        self.from.get().zip(self.to.get()).filter(|(from, to)| from < to)
    }

    fn set(self, zoom: Option<(u32, u32)>) {
        self.from.set(zoom.map(|zoom| zoom.0));
        self.to.set(zoom.map(|zoom| zoom.1));
    }
}

#[component]
fn Charts(run: RunState, steps: Vec<StepSummary>, zoom: Zoom) -> impl IntoView {
    let loaded = StoredValue::new(steps);
    let live = run.steps();
    let steps =
        Memo::new(move || loaded.with_value(|loaded| live.with(|live| merged(loaded, live))));
    let is_started =
        move || run.view.with(|view| view.baseline.is_some() || !view.steps.is_empty());
    let charts = move || {
        view! {
            <section class="panel" aria-labelledby="score-title">
                <AllCharts run steps zoom/>
            </section>
            {run_costs(run)}
        }
        .into_any()
    };
    when(is_started, charts, move || view! { <NothingYet run/> }.into_any())
}

#[component]
fn NothingYet(run: RunState) -> impl IntoView {
    let is_over = Memo::new(move || run.view.with(|view| view.status.is_over()));
    dynamic(move || {
        let text = if is_over.get() {
            "The run ended before the initial skill was measured, so there is no curve. Its events tell why."
        } else {
            "The first point comes when the initial skill has been measured on the selection split."
        };
        view! {
            <Empty title="No score yet" text>
                <a class="button" href=run.href(RunTab::Events)>"Events"</a>
            </Empty>
        }
        .into_any()
    })
}

#[component]
fn AllCharts(run: RunState, steps: Memo<Vec<StepSummary>>, zoom: Zoom) -> impl IntoView {
    let pointer = Pointer {
        cross: RwSignal::new(None),
        brush: RwSignal::new(None),
        on_zoom: Callback::new(move |range| zoom.set(range)),
    };
    let smoothing = query_value::<String>("smooth");
    let hidden = query_value::<String>("hide");
    let on_toggle = move |name| {
        let now = toggled(&hidden.get_untracked().unwrap_or_default(), name);
        hidden.set(Some(now).filter(|now| !now.is_empty()));
    };
    let navigate = use_navigate();
    let choices = ScoreChoices {
        pointer,
        zoom: Memo::new(move || zoom.get()),
        smoothing: Memo::new(move || {
            smoothing.get().and_then(|text| number(&text)).unwrap_or(SMOOTHING)
        }),
        on_smoothing: Callback::new(move |weight: f64| smoothing.set(Some(weight.to_string()))),
        on_open: Callback::new(move |step| navigate(&run.step_href(step), Default::default())),
        hidden: Memo::new(move || hidden.get().unwrap_or_default()),
        on_toggle: Callback::new(on_toggle),
    };
    let score_points =
        Memo::new(move || run.view.with(|view| steps.with(|steps| points(view, steps))));
    let plan = Memo::new(move || score_plan(run));
    let shown = Memo::new(move || {
        let total = plan.with(|plan| plan.total_steps);
        shown_steps(zoom.get(), total, steps.with(|steps| steps.last().map_or(0, |step| step.step)))
    });
    view! {
        <ScoreChart points=score_points plan choices step_href=Callback::new(move |step| run.step_href(step))/>
        <div class="multiples">
            <Small run plan=ROLLOUT steps shown pointer of=|_, steps| data::rollout(steps)/>
            <Small run plan=SIZE steps shown pointer of=data::skill_size/>
            <Small run plan=EDITS steps shown pointer of=|_, steps| data::edits(steps)/>
            <SpendCharts run steps shown pointer/>
            <Small run plan=ERRORS steps shown pointer of=|_, steps| data::error_share(steps)/>
            <StandsOut run steps/>
        </div>
    }
}

fn score_plan(run: RunState) -> ScorePlan {
    run.view.with(|view| ScorePlan {
        metric: run.metric.get_value(),
        n: view.plan.as_ref().map(|plan| plan.n_selection),
        total_steps: view.plan.as_ref().map_or(0, |plan| plan.total_steps),
        steps_per_epoch: view.plan.as_ref().map_or(0, |plan| plan.steps_per_epoch),
        running: running_step(view),
        left: left_ms(view).map(|ms| format!("about {}", fmt::duration(ms))),
        name: run.summary.with_value(|summary| summary.name.clone()),
    })
}

const fn plan(
    title: &'static str,
    note: &'static str,
    file: &'static str,
    words: Words,
) -> SmallPlan {
    SmallPlan { title, note, unit: "", words, file }
}

const ROLLOUT: SmallPlan = plan("Rollout", "", "rollout", three_digits);
const SIZE: SmallPlan = plan("Skill size", "tokens", "skill-size", whole);
const EDITS: SmallPlan = plan("Edits", "", "edits", whole);
const COST: SmallPlan = plan("Cost", "", "cost", dollars);
const TOKENS: SmallPlan = plan("Tokens", "", "tokens", whole);
const CALLS: SmallPlan = plan("Calls", "", "calls", whole);
const ERRORS: SmallPlan =
    SmallPlan { unit: " %", ..plan("Error share", "of attempts", "error-share", percent) };

fn three_digits(value: f64) -> String {
    fmt::score(Some(value))
}

fn whole(value: f64) -> String {
    fmt::short(u64::from(crate::charts::scale::to_count(value)))
}

fn dollars(value: f64) -> String {
    format!("${value:.2}")
}

fn percent(value: f64) -> String {
    format!("{value:.1} %")
}

/// Makes a plot of the steps; the view has the plan.
type PlotOf = fn(&RunView, &[StepSummary]) -> SmallPlot;

#[component]
fn Small(
    run: RunState,
    plan: SmallPlan,
    steps: Memo<Vec<StepSummary>>,
    shown: Memo<(u32, u32)>,
    pointer: Pointer,
    of: PlotOf,
) -> impl IntoView {
    let plot =
        Memo::new(move || steps.with(|steps| run.view.with_untracked(|view| of(view, steps))));
    view! { <Multiple plan plot steps=shown pointer/> }
}

/// Money where it is known; else tokens where they are reported; else calls.
#[component]
fn SpendCharts(
    run: RunState,
    steps: Memo<Vec<StepSummary>>,
    shown: Memo<(u32, u32)>,
    pointer: Pointer,
) -> impl IntoView {
    let has_cost = Memo::new(move || steps.with(|steps| data::has_cost(steps)));
    let has_tokens = Memo::new(move || {
        steps.with(|steps| steps.iter().any(|step| step.spend.total().tokens() > 0))
    });
    dynamic(move || {
        let (plan, of): (_, PlotOf) = if has_cost.get() {
            (COST, |_, steps| data::cost(steps))
        } else if has_tokens.get() {
            (TOKENS, |_, steps| data::tokens(steps))
        } else {
            (CALLS, |_, steps| data::calls(steps))
        };
        view! { <Small run plan steps shown pointer of/> }.into_any()
    })
}

#[component]
fn StandsOut(run: RunState, steps: Memo<Vec<StepSummary>>) -> impl IntoView {
    let all = Memo::new(move || {
        run.view.with(|view| steps.with(|steps| notes(view, steps, &run.metric.get_value())))
    });
    let note = |note: Note| {
        view! {
            <p>
                <span class="status" data-status=note.status><Icon name=note.icon/><b class="medium">{note.title}</b></span>
                " "{note.text}
            </p>
        }
    };
    dynamic(move || {
        let all = all.get();
        if all.is_empty() {
            return nothing();
        }
        view! {
            <div class="multiple" data-span="3">
                <div class="multiple__head"><h3>"What stands out"</h3></div>
                <div class="notes">{all.into_iter().map(note).collect_any()}</div>
            </div>
        }
        .into_any()
    })
}
