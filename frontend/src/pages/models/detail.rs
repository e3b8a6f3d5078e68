//! One model in full: what is sent with each call, what its last test call said, and what its server accepts.

use super::calls::{CallState, Calls, latency_words};
use super::table::{name_of, place_of, used_by};
use crate::components::dynamic::{CollectAny, dynamic, nothing};
use crate::components::handler::handler;
use crate::components::icon::Icon;
use crate::components::look::Look;
use crate::components::states::ErrorCallout;
use crate::components::status::Status;
use crate::fmt;
use crate::state::memo::Memo;
use crate::time;
use leptos::prelude::*;
use skillopt_domain::api::{CheckState, ModelTest, ModelUse, Probe};

/// The model that is shown.
#[component]
pub(super) fn Detail(
    uses: StoredValue<Vec<ModelUse>>,
    calls: Calls,
    shown: Memo<String>,
) -> impl IntoView {
    dynamic(move || {
        let shown = shown.get();
        let found = uses.with_value(|uses| uses.iter().find(|one| one.id == shown).cloned());
        found.map_or_else(nothing, |one| view! { <One one calls/> }.into_any())
    })
}

#[component]
fn One(one: ModelUse, calls: Calls) -> impl IntoView {
    let problem = (!one.problem.is_empty()).then(|| {
        view! {
            <div class="callout" data-status="warning">
                <Icon name="warning"/>
                <div>
                    <span class="callout__title">"It cannot be called as it is."</span>" "
                    <span class="callout__text">{one.problem.clone()}</span>
                </div>
                <a class="button" data-size="sm" href="/launch?preset=openai_compatible">"Connect a model"</a>
            </div>
        }
        .into_any()
    });
    let body = one.problem.is_empty().then(|| {
        let (wire, test) = (wire(&one), test(&one, calls));
        view! {
            <div class="split" data-width="aside">
                {wire}
                <div class="stack">{test}</div>
            </div>
        }
        .into_any()
    });
    view! {
        <section class="section" aria-labelledby="model-title">
            <div class="section__head">
                <h2 id="model-title">{name_of(&one)}</h2>
                <span>{place_of(&one)}", used by "{used_by(&one)}</span>
            </div>
            {problem}
            {body}
        </section>
    }
}

fn wire(one: &ModelUse) -> AnyView {
    let rows = one.wire.iter().map(|field| {
        let value = match field.value.as_str() {
            "" => view! { <span class="table__dim">"not sent"</span> }.into_any(),
            value => view! { <span class="mono">{value.to_owned()}</span> }.into_any(),
        };
        view! { <tr><td class="mono second">{field.name.clone()}</td><td class="table__wrap">{value}</td></tr> }
    });
    let key = match one.key.as_str() {
        "" => one.key_place.clone(),
        key => format!("{key}, from {}", one.key_place),
    };
    view! {
        <div class="panel">
            <div class="panel__head"><h3>"What shapes an answer"</h3><span>"part of each recorded call"</span></div>
            <div class="scroll-x" tabindex="0" role="region" aria-label="What shapes an answer">
                <table class="table"><tbody>{rows.collect_any()}</tbody></table>
            </div>
            <div class="panel__foot"><span>"Key: "{key}</span></div>
        </div>
    }
    .into_any()
}

fn test(one: &ModelUse, calls: Calls) -> AnyView {
    let id = one.id.clone();
    let (for_probe, for_state) = (id.clone(), id.clone());
    let told = one.clone();
    let probe = (!one.is_simulated).then(|| {
        view! {
            <button
                class="button"
                data-size="sm"
                type="button"
                disabled=move || calls.is_going(&for_state)
                on:click=handler(move |_| calls.make(&for_probe, true))
            >
                "See what it accepts"
            </button>
        }
        .into_any()
    });
    let cost_note = (!one.is_simulated).then(|| {
        let words = "A test call is one call. Seeing what it accepts takes up to six more. Your provider may charge for them.";
        view! { <p class="small muted">{words}</p> }.into_any()
    });
    let for_busy = id.clone();
    view! {
        <section class="panel" aria-labelledby="test-title">
            <div class="panel__head"><h3 id="test-title">"Test call"</h3></div>
            <div class="panel__body stack" aria-live="polite">
                {dynamic(move || said(calls.of(&told)))}
                <div class="row">
                    <button
                        class="button"
                        data-size="sm"
                        type="button"
                        disabled=move || calls.is_going(&for_busy)
                        on:click=handler(move |_| calls.make(&id, false))
                    >
                        <Icon name="play"/>
                        "Test call"
                    </button>
                    {probe}
                </div>
                {cost_note}
            </div>
        </section>
    }
    .into_any()
}

fn said(state: Option<CallState>) -> AnyView {
    match state {
        None => view! { <p class="second">"Not called since the server started."</p> }.into_any(),
        Some(CallState::Going) => {
            let look = Look { status: "running", icon: "running", word: "Calling" };
            view! { <p><Status look/></p> }.into_any()
        }
        Some(CallState::NotMade(error)) => {
            view! { <ErrorCallout what="The call was not made." error/> }.into_any()
        }
        Some(CallState::Told(test)) => told(&test),
    }
}

fn told(test: &ModelTest) -> AnyView {
    let look = match test.ok {
        true => Look { status: "done", icon: "accepted", word: "Answered" },
        false => Look { status: "failed", icon: "error", word: "No answer" },
    };
    let text = match test.latency_ms.filter(|_| test.ok) {
        Some(latency) => format!("Answered in {}", latency_words(latency)),
        None => look.word.to_owned(),
    };
    let error = (!test.error.is_empty())
        .then(|| view! { <p class="small models__said">{test.error.clone()}</p> }.into_any());
    let probes = (!test.probes.is_empty()).then(|| probes(&test.probes));
    view! {
        <p><Status look text/></p>
        {error}
        <dl class="facts">{facts(test)}</dl>
        {probes}
    }
    .into_any()
}

fn facts(test: &ModelTest) -> Vec<AnyView> {
    let tokens = |count: Option<u64>| count.map_or_else(|| fmt::MISSING.to_owned(), fmt::count);
    let mut rows = vec![("At", time::moment(test.at_ms))];
    if !test.reply.is_empty() {
        rows.push(("Replied", format!("“{}”", test.reply)));
    }
    let counted = test.prompt_tokens.or(test.completion_tokens).is_some();
    rows.push(match counted {
        true => (
            "Tokens",
            format!(
                "{} read, {} written",
                tokens(test.prompt_tokens),
                tokens(test.completion_tokens)
            ),
        ),
        false => ("Tokens", fmt::MISSING.to_owned()),
    });
    rows.push(("Cost", fmt::usd(test.cost_usd_micros)));
    rows.push(("Attempts", fmt::count(u64::from(test.attempts))));
    if !test.adaptations.is_empty() {
        rows.push(("To be understood", test.adaptations.join(", ")));
    }
    rows.into_iter().map(|(what, value)| view! { <dt>{what}</dt><dd>{value}</dd> }).collect_any()
}

/// One row a thing that was asked for.
fn probes(probes: &[Probe]) -> AnyView {
    let row = |probe: &Probe| {
        let look = match probe.state {
            CheckState::Ok => Look { status: "done", icon: "check", word: "accepted" },
            CheckState::Warning => Look { status: "warning", icon: "warning", word: "refused" },
            CheckState::Failed => Look { status: "failed", icon: "error", word: "not known" },
        };
        let words = probe.words.clone();
        view! { <dt>{probe.name.clone()}</dt><dd><Status look title=words/></dd> }
    };
    view! {
        <h4 class="medium">"What it accepts"</h4>
        <dl class="facts">{probes.iter().map(row).collect_any()}</dl>
    }
    .into_any()
}
