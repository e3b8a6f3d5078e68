//! Beside the form: what the run will do, whether it would work, and the button.

use super::CheckSignal;
use super::derived::Differences;
use super::draft::Draft;
use super::parts::launch_forecast;
use super::start::{StartButton, StartNote};
use crate::api::{self, ApiError};
use crate::components::dynamic::{CollectAny, dynamic};
use crate::components::handler::handler;
use crate::components::icon::Icon;
use crate::components::look::Look;
use crate::components::states::ErrorCallout;
use crate::state::effect::on_change;
use crate::state::memo::Memo;
use crate::state::signal::RwSignal;
use crate::time;
use leptos::prelude::*;
use leptos::task::spawn_local;
use skillopt_domain::api::Check;

#[component]
pub(super) fn Aside(draft: Draft, checking: CheckSignal) -> impl IntoView {
    view! {
        <aside class="split__side stack" data-gap="lg">
            <Differences draft=draft checking=checking/>
            <ForecastPanel checking=checking/>
            <Checks checking=checking/>
            <TestCalls draft=draft checking=checking/>
            <div class="stack only-wide">
                <StartButton draft=draft checking=checking/>
                <StartNote draft=draft checking=checking/>
            </div>
        </aside>
    }
}

#[component]
fn ForecastPanel(checking: CheckSignal) -> impl IntoView {
    let forecast = Memo::new(move || checking.with(|now| now.answer.forecast.clone()));
    let body = move || {
        match forecast.get() {
        Some(forecast) => launch_forecast::show(StoredValue::new(forecast)),
        None => view! {
            <p class="muted">"Told once skill, data and models are named and every field is valid."</p>
        }
        .into_any(),
    }
    };
    view! {
        <section class="panel" aria-labelledby="forecast-title">
            <div class="panel__head">
                <h3 id="forecast-title">"Forecast"</h3>
                <span class="end small">"likely, and the range"</span>
            </div>
            <div class="panel__body">{move || body()}</div>
        </section>
    }
}

#[component]
fn Checks(checking: CheckSignal) -> impl IntoView {
    let checks = Memo::new(move || checking.with(|now| now.answer.checks.clone()));
    dynamic(move || {
        checks
            .with(|checks| !checks.is_empty())
            .then(|| {
                view! {
                    <section aria-labelledby="checks-title">
                        <div class="section__head"><h3 id="checks-title">"Checks"</h3></div>
                        <CheckList checks=checks.get()/>
                    </section>
                }
                .into_any()
            })
            .into_any()
    })
}

#[component]
fn CheckList(checks: Vec<Check>) -> impl IntoView {
    let line = |check: Check| {
        let look = Look::from(check.state);
        let detail = Some(check.detail).filter(|detail| !detail.is_empty());
        view! {
            <li class="checks__item" data-status=look.status>
                <Icon name=look.icon/>
                <span>{check.label}<span class="visually-hidden">": "{look.word}</span></span>
                <span>{check.figure}</span>
                {detail.map(|detail| view! { <p class="checks__note">{detail}</p> }.into_any())}
            </li>
        }
    };
    view! { <ul class="checks">{checks.into_iter().map(line).collect_any()}</ul> }
}

/// Where the test calls are.
#[derive(Clone)]
enum Calls {
    NotMade,
    Going,
    Made { checks: Vec<Check>, at_ms: u64 },
    Failed(ApiError),
}

#[component]
fn TestCalls(draft: Draft, checking: CheckSignal) -> impl IntoView {
    let calls = RwSignal::new(Calls::NotMade);
    // What was tested is not what the form shows any more.
    on_change(move || draft.request(), move |_| calls.set(Calls::NotMade));
    let is_going = move || calls.with(|calls| matches!(calls, Calls::Going));
    let test = move |_| {
        let request = draft.request();
        let known = checking.with_untracked(|now| now.answer.checks.clone());
        calls.set(Calls::Going);
        spawn_local(async move {
            let made = match api::preflight(&request).await {
                Ok(made) => {
                    Calls::Made { checks: without(made.checks, &known), at_ms: time::now_ms() }
                }
                Err(error) => Calls::Failed(error),
            };
            let _ = calls.try_update(|calls| {
                if matches!(calls, Calls::Going) {
                    *calls = made;
                }
            });
        });
    };
    let cannot = move || {
        is_going() || checking.with(|now| !now.is_current || !now.answer.problems.is_empty())
    };
    let said = move || {
        match calls.get() {
        Calls::NotMade => view! {
            <p class="small muted">"One test call per role shows whether the models answer, before anything is spent."</p>
        }
        .into_any(),
        Calls::Going => view! { <p class="small muted" role="status">"Waiting for both models…"</p> }.into_any(),
        Calls::Made { checks, at_ms } => view! {
            <CheckList checks=checks/>
            <p class="small muted" role="status">"Made at " {time::clock(at_ms)}</p>
        }
        .into_any(),
        Calls::Failed(error) => {
            view! { <ErrorCallout what="The test calls could not be made." error=error/> }.into_any()
        }
    }
    };
    view! {
        <section class="stack" aria-labelledby="calls-title">
            <div class="section__head">
                <h3 id="calls-title">"Preflight"</h3>
                <div class="section__end">
                    <button
                        class="button"
                        data-size="sm"
                        type="button"
                        disabled=move || cannot()
                        aria-busy=move || is_going().then_some("true")
                        on:click=handler(test)
                    >
                        <Icon name="check"/>
                        "Make test calls"
                    </button>
                </div>
            </div>
            {move || said()}
        </section>
    }
}

/// The checks that are not listed above already.
fn without(mut checks: Vec<Check>, known: &[Check]) -> Vec<Check> {
    checks.retain(|check| !known.contains(check));
    checks
}
