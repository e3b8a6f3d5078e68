//! The evidence of a night: everything that led to its decision, row by row, a page at a time.

use super::evidence_words::{EvidenceRow, add};
use super::state::{NightState, is_running};
use crate::api::{self, ApiError};
use crate::components::dynamic::{Item, dynamic, each, nothing};
use crate::components::handler::handler;
use crate::components::icon::Icon;
use crate::components::loaded::{Frame, loaded};
use crate::components::states::ErrorCallout;
use crate::state::load::Load;
use crate::state::memo::Memo;
use crate::state::signal::RwSignal;
use crate::{fmt, time};
use leptos::prelude::*;
use leptos::task::spawn_local;
use skillopt_domain::api::Page;
use skillopt_domain::json::Json;

/// Rows of a page.
const PAGE: u32 = 100;

#[component]
pub(super) fn Evidence(night: NightState) -> impl IntoView {
    let first = Load::new(move || {
        let id = night.id();
        async move { api::night_evidence(&id, 0, PAGE).await }
    });
    let frame = Frame::new("The evidence could not be loaded.").missing(no_rows);
    let rows = loaded(first, frame, move |page: &Page<Json>| {
        view! { <Rows night page=page.clone()/> }.into_any()
    });
    view! {
        <section class="section" aria-labelledby="evidence-title">
            <div class="section__head">
                <h2 id="evidence-title">"Evidence"</h2>
                <span>"everything that led to the decision, oldest first"</span>
            </div>
            {rows}
        </section>
    }
}

fn no_rows() -> AnyView {
    let words = "No row was written: the log of evidence is off, or the night did not come so far.";
    view! { <p class="muted">{words}</p> }.into_any()
}

#[component]
fn Rows(night: NightState, page: Page<Json>) -> impl IntoView {
    let has_more = RwSignal::new(page.next.is_some());
    let mut first = Vec::new();
    add(&mut first, page.items);
    let rows = RwSignal::new(first);
    let open = RwSignal::new(None::<u64>);
    let items = move || {
        let item = |row: EvidenceRow| {
            Item::new(row.seq.to_string(), move || view! { <Row row open/> }.into_any())
        };
        rows.get().into_iter().map(item).collect()
    };
    let is_empty = Memo::new(move || rows.with(Vec::is_empty));
    let list = move || {
        if is_empty.get() {
            let words =
                "No row was written: the log of evidence is off, or the night did not come so far.";
            return view! { <p class="muted">{words}</p> }.into_any();
        }
        view! { <div class="panel" data-clip>{each(items)}</div> }.into_any()
    };
    view! {
        {dynamic(list)}
        <More night rows has_more/>
    }
}

#[component]
fn Row(row: EvidenceRow, open: RwSignal<Option<u64>>) -> impl IntoView {
    let seq = row.seq;
    let is_open = move || open.get() == Some(seq);
    let toggle =
        move |_| open.update(|open| *open = if *open == Some(seq) { None } else { Some(seq) });
    let at = time::parse(&row.ts);
    let kind = format!("{} {}", row.stage, row.event);
    let gist = row.gist.clone();
    let kept = StoredValue::new(row);
    let data = move || {
        is_open().then(|| {
            let text = kept.with_value(EvidenceRow::text);
            view! { <pre class="journal__data">{text}</pre> }.into_any()
        })
    };
    view! {
        <button class="journal__row" type="button" aria-expanded=move || is_open().to_string() on:click=handler(toggle)>
            <Icon name="right"/>
            <time class="journal__time" datetime=at.map(time::iso) title=at.map(time::full)>{at.map(time::clock_seconds)}</time>
            <span class="journal__kind mono">{kind}</span>
            <span class="journal__words">{gist}</span>
            <span class="journal__seq">{format!("#{seq}")}</span>
        </button>
        {move || data()}
    }
}

/// Loads the rows after the last one that is shown.
#[component]
fn More(
    night: NightState,
    rows: RwSignal<Vec<EvidenceRow>>,
    has_more: RwSignal<bool>,
) -> impl IntoView {
    let failure = RwSignal::new(None::<ApiError>);
    let is_loading = RwSignal::new(false);
    let is_live = night.memo(is_running);
    let load = move || {
        is_loading.set(true);
        failure.set(None);
        let id = night.id();
        let after = rows.with_untracked(|rows| rows.last().map_or(0, |row| row.seq));
        spawn_local(async move {
            match api::night_evidence(&id, after, PAGE).await {
                Ok(page) => {
                    has_more.set(page.next.is_some());
                    rows.update(|rows| add(rows, page.items));
                }
                Err(error) => failure.set(Some(error)),
            }
            is_loading.set(false);
        });
    };
    let shown = Memo::new(move || u64::try_from(rows.with(Vec::len)).unwrap_or(u64::MAX));
    let words = Memo::new(move || more_words(shown.get(), has_more.get(), is_live.get()));
    let button = move || {
        match words.get() {
        None => nothing(),
        Some(words) => view! {
            <p class="row night-more">
                <button class="button" data-size="sm" type="button" disabled=move || is_loading.get() on:click=handler(move |_| load())>{words}</button>
            </p>
        }
        .into_any(),
    }
    };
    view! {
        {move || failure.get().map(|error| view! {
            <ErrorCallout what="More evidence could not be loaded." error on_retry=Callback::new(move |()| load())/>
        }
        .into_any())}
        {dynamic(button)}
    }
}

/// What the button says; `None` when all is shown and no more can come.
fn more_words(shown: u64, has_more: bool, is_live: bool) -> Option<String> {
    if has_more {
        return Some(format!("Show more, {} shown", fmt::count(shown)));
    }
    is_live.then(|| "Look for newer rows".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_button_offers_what_is_left_and_what_may_come() {
        assert_eq!(more_words(100, true, false).as_deref(), Some("Show more, 100 shown"));
        assert_eq!(more_words(250, false, false), None);
        assert!(more_words(250, false, true).is_some());
    }
}
