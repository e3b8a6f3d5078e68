//! The servers that this process calls, as they are now: asked again every few seconds while the page is shown.

use crate::api;
use crate::components::dynamic::{CollectAny, nothing};
use crate::components::loaded::{Frame, loaded};
use crate::components::look::Look;
use crate::components::status::Status;
use crate::fmt;
use crate::state::load::Load;
use crate::time;
use leptos::prelude::*;
use skillopt_domain::api::{EndpointList, EndpointState};
use skillopt_domain::outage::BreakerState;
use std::time::Duration;

const EVERY: Duration = Duration::from_secs(3);

#[component]
pub(super) fn Endpoints() -> impl IntoView {
    let endpoints = Load::new(|| async { api::endpoints().await });
    let clock = set_interval_with_handle(move || endpoints.again(), EVERY).ok();
    on_cleanup(move || {
        if let Some(clock) = clock {
            clock.clear();
        }
    });
    loaded(
        endpoints,
        Frame::new("The state of the endpoints could not be loaded."),
        |list: &EndpointList| section(&list.endpoints),
    )
}

fn section(endpoints: &[EndpointState]) -> AnyView {
    let body = if endpoints.is_empty() {
        view! { <p class="second">"No endpoint was called since the server started."</p> }
            .into_any()
    } else {
        table(endpoints)
    };
    view! {
        <section class="section" aria-labelledby="endpoints-title">
            <div class="section__head">
                <h2 id="endpoints-title">"Endpoints"</h2>
                <span>"limits are shared by all runs"</span>
            </div>
            {body}
        </section>
    }
    .into_any()
}

fn table(endpoints: &[EndpointState]) -> AnyView {
    let rows = endpoints.iter().map(row).collect_any();
    view! {
        <div class="panel">
            <div class="scroll-x" tabindex="0" role="region" aria-label="Endpoints">
                <table class="table">
                    <thead>
                        <tr>
                            <th scope="col">"Endpoint"</th>
                            <th scope="col">"Circuit"</th>
                            <th scope="col" data-num title="Calls in flight of the limit now">"In flight"</th>
                            <th scope="col" data-num>"Waiting"</th>
                            <th scope="col" data-num title="Calls that were answered">"Answers"</th>
                            <th scope="col" data-num title="Refused as one too many; made again">"429"</th>
                            <th scope="col">"Last error"</th>
                        </tr>
                    </thead>
                    <tbody>{rows}</tbody>
                </table>
            </div>
            <div class="panel__foot">
                <span>"The limit falls when calls are refused as too many, and grows again with answers."</span>
            </div>
        </div>
    }
    .into_any()
}

fn row(one: &EndpointState) -> AnyView {
    let key = one.key.as_ref().map(|key| format!(", key {key}"));
    let learned = (!one.adaptations.is_empty()).then(|| {
        view! { <br/><span class="small muted">{one.adaptations.join(", ")}</span> }.into_any()
    });
    let limit = match one.limit_now == one.limit_configured {
        true => format!("{} of {}", one.in_flight, one.limit_now),
        false => format!("{} of {} (up to {})", one.in_flight, one.limit_now, one.limit_configured),
    };
    let pause =
        one.paused_until_ms.map(|until| format!("paused until {}", time::clock_seconds(until)));
    view! {
        <tr>
            <td>
                <span class="table__main">{one.model.clone()}</span><br/>
                <span class="small muted">{one.address.clone()}{key}</span>
                {learned}
            </td>
            <td>{circuit(one)}{pause.map(|pause| view! { <br/><span class="small muted">{pause}</span> }.into_any())}</td>
            <td data-num>{limit}</td>
            <td data-num>{fmt::count(u64::from(one.waiting))}</td>
            <td data-num>{fmt::count(one.answers)}</td>
            <td data-num>{fmt::count(one.refusals)}</td>
            <td class="table__wrap small">{last_error(one)}</td>
        </tr>
    }
    .into_any()
}

fn circuit(one: &EndpointState) -> AnyView {
    let look = match one.breaker {
        BreakerState::Closed => Look { status: "done", icon: "check", word: "closed" },
        BreakerState::HalfOpen => Look { status: "warning", icon: "unverified", word: "trying" },
        BreakerState::Open => Look { status: "failed", icon: "error", word: "open" },
    };
    let text = match (&one.outage, one.breaker) {
        (Some(outage), BreakerState::Open) => {
            format!("open, next try {}", time::clock_seconds(outage.next_try_ms))
        }
        _ => look.word.to_owned(),
    };
    view! { <Status look text/> }.into_any()
}

fn last_error(one: &EndpointState) -> AnyView {
    let Some(last) = one.errors.first() else {
        return view! { <span class="table__dim">"none"</span> }.into_any();
    };
    let earlier = one.errors.len() - 1;
    let earlier = if earlier == 0 {
        nothing()
    } else {
        let items = one.errors.iter().skip(1).map(|error| {
            view! { <li>{time::clock_seconds(error.at_ms)}" "{error.message.clone()}</li> }
        });
        view! {
            <details>
                <summary class="link">{fmt::plural(u64::try_from(earlier).unwrap_or(0), "earlier error", "earlier errors")}</summary>
                <ul class="second">{items.collect_any()}</ul>
            </details>
        }
        .into_any()
    };
    view! { {time::clock_seconds(last.at_ms)}" "{last.message.clone()}{earlier} }.into_any()
}
