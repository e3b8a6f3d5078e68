//! The Events tab: the journal as it was written, live, each row a sentence with its JSON below.

use super::event_words::{TYPES, event_look, event_words, type_word};
use super::journal_event::{JournalEvent, held};
use super::query::{QueryValue, query_value};
use super::state::RunState;
use crate::api::{self, ApiError};
use crate::components::dynamic::{CollectAny, Item, each, when};
use crate::components::handler::handler;
use crate::components::icon::Icon;
use crate::components::loaded::{Frame, loaded};
use crate::components::states::{Empty, ErrorCallout};
use crate::state::load::Load;
use crate::state::memo::Memo;
use crate::state::signal::RwSignal;
use crate::time;
use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use leptos::task::spawn_local;
use skillopt_domain::api::Page;
use skillopt_domain::event::RunEvent;

/// Events asked for at once.
const PAGE: u32 = 200;
/// Height of a row in pixels, as the style has it.
const ROW: f64 = 32.0;
/// Rows drawn above and below the view.
const SPARE: usize = 12;

#[component]
pub(super) fn EventsTab(run: RunState) -> impl IntoView {
    let first = Load::new(move || {
        let id = run.id();
        let newest = run.view.with_untracked(|view| view.seq);
        // The newest page first: what happened last is what one looks for.
        let after = newest.saturating_sub(u64::from(PAGE));
        async move { api::events(&id, after, PAGE).await }
    });
    loaded(first, Frame::new("The events could not be loaded."), move |page: &Page<RunEvent>| {
        view! { <Journal run events=held(page.items.clone())/> }.into_any()
    })
}

#[component]
fn Journal(run: RunState, events: Vec<JournalEvent>) -> impl IntoView {
    let loaded = RwSignal::new(events);
    let kind = query_value::<String>("type");
    let all = Memo::new(move || {
        let last = loaded.with(|loaded| loaded.last().map_or(0, |event| event.seq));
        let kind = kind.get();
        let is_wanted = |event: &&JournalEvent| {
            kind.as_deref().is_none_or(|kind| type_word(&event.kind) == kind)
        };
        let mut all: Vec<JournalEvent> =
            loaded.with(|loaded| loaded.iter().filter(is_wanted).cloned().collect());
        run.fresh.with(|fresh| {
            all.extend(fresh.iter().filter(|event| event.seq > last).filter(is_wanted).cloned());
        });
        all.reverse();
        all
    });
    view! {
        <div class="filters" data-flush><TypeSelect kind/></div>
        {when(
            move || all.with(|all| !all.is_empty()),
            move || view! { <div class="panel"><Rows run all/></div> }.into_any(),
            move || nothing(kind).into_any(),
        )}
        <Older run loaded/>
    }
}

fn nothing(kind: QueryValue<String>) -> impl IntoView {
    if kind.get_untracked().is_some() {
        view! {
            <Empty title="No event of this type" text="It may come later, or stand further back in the journal.">
                <button class="button" type="button" on:click=handler(move |_| kind.set(None))>"All events"</button>
            </Empty>
        }
        .into_any()
    } else {
        view! { <Empty title="No events yet" text="The journal begins when an engine takes the run."/> }.into_any()
    }
}

#[component]
fn TypeSelect(kind: QueryValue<String>) -> impl IntoView {
    let option = move |word: &'static str, label: String| {
        let is_chosen = move || kind.get().unwrap_or_default() == word;
        view! { <option value=word prop:selected=move || is_chosen()>{label}</option> }
    };
    let choose =
        move |event| kind.set(Some(event_target_value(&event)).filter(|word| !word.is_empty()));
    let words =
        TYPES.into_iter().chain(["warning"]).map(|word| option(word, word.replace('_', " ")));
    view! {
        <div class="input" data-size="search">
            <select aria-label="Type of event" on:change=handler(choose)>
                {option("", "All types".to_owned())}
                {words.collect_any()}
            </select>
            <Icon name="down"/>
        </div>
    }
}

/// Only the rows in view are drawn. One row at a time is open; it stands outside of the window's arithmetic
/// by being drawn with its row.
#[component]
fn Rows(run: RunState, all: Memo<Vec<JournalEvent>>) -> impl IntoView {
    let holder = NodeRef::<html::Div>::new();
    let scroll = RwSignal::new(0.0);
    let open = RwSignal::new(None::<u64>);
    let drawn = Memo::new(move || {
        // As much as a window can show at most: the box is never higher.
        let height = window().inner_height().ok().and_then(|height| height.as_f64());
        in_view(scroll.get(), height.unwrap_or(1000.0), all.with(Vec::len))
    });
    let on_scroll = move |_: ev::Event| {
        if let Some(holder) = holder.get_untracked() {
            scroll.set(f64::from(holder.scroll_top()));
        }
    };
    let pad = move |rows: usize| format!("{}px", pixels(rows));
    let rows = move || {
        let (from, to) = drawn.get();
        let item = |event: &JournalEvent| {
            let event = event.clone();
            Item::new(event.seq.to_string(), move || {
                view! { <EventRow run event open/> }.into_any()
            })
        };
        all.with(|all| all[from.min(all.len())..to.min(all.len())].iter().map(item).collect())
    };
    view! {
        <div class="journal virtual" node_ref=holder on:scroll=handler(on_scroll) tabindex="0" role="region" aria-label="Journal">
            <div class="virtual__pad" style:height=move || pad(drawn.get().0)></div>
            {each(rows)}
            <div class="virtual__pad" style:height=move || pad(all.with(Vec::len).saturating_sub(drawn.get().1))></div>
        </div>
    }
}

fn pixels(rows: usize) -> f64 {
    ROW * f64::from(u32::try_from(rows).unwrap_or(u32::MAX))
}

/// The rows to draw, from and up to.
fn in_view(scroll: f64, height: f64, total: usize) -> (usize, usize) {
    let row_at = |pixel: f64| {
        usize::try_from(crate::charts::scale::to_count((pixel / ROW).floor())).unwrap_or(0)
    };
    let from = row_at(scroll).saturating_sub(SPARE).min(total);
    let to = (row_at(scroll + height) + 1 + SPARE).min(total);
    (from, to)
}

#[component]
fn EventRow(run: RunState, event: JournalEvent, open: RwSignal<Option<u64>>) -> impl IntoView {
    let seq = event.seq;
    let (status, icon) = event_look(&event.kind);
    let is_open = move || open.get() == Some(seq);
    let toggle =
        move |_| open.update(|open| *open = if *open == Some(seq) { None } else { Some(seq) });
    let at = event.at_ms;
    let kind = type_word(&event.kind);
    let words = event_words(&event.kind);
    let hover = words.clone();
    view! {
        <button class="journal__row" type="button" data-status=status aria-expanded=move || is_open().to_string() on:click=handler(toggle)>
            <Icon name=icon/>
            <time class="journal__time" datetime=time::iso(at) title=time::full(at)>{time::clock_seconds(at)}</time>
            <span class="journal__kind mono">{kind}</span>
            <span class="journal__words" title=hover>{words}</span>
            <span class="journal__seq">{format!("#{seq}")}</span>
        </button>
        {move || is_open().then(|| row_data(run, seq))}
    }
}

/// The row as the journal keeps it.
fn row_data(run: RunState, seq: u64) -> AnyView {
    let row = Load::new(move || {
        let id = run.id();
        async move { api::event_row(&id, seq).await }
    });
    loaded(row, Frame::new("The event could not be loaded."), |rows| {
        let text = rows.items.first().map(|row| format!("{row:#}")).unwrap_or_default();
        view! { <pre class="journal__data">{text}</pre> }.into_any()
    })
}

/// Loads the page before the first one that is shown.
#[component]
fn Older(run: RunState, loaded: RwSignal<Vec<JournalEvent>>) -> impl IntoView {
    let failure = RwSignal::new(None::<ApiError>);
    let is_loading = RwSignal::new(false);
    let first =
        Memo::new(move || loaded.with(|loaded| loaded.first().map_or(1, |event| event.seq)));
    let load = move || {
        is_loading.set(true);
        failure.set(None);
        let before = first.get_untracked();
        let after = before.saturating_sub(u64::from(PAGE) + 1);
        spawn_local(async move {
            match api::events(&run.id(), after, PAGE).await {
                Ok(older) => {
                    let _ = loaded.try_update(|loaded| {
                        let newer = std::mem::take(loaded);
                        *loaded = held(older.items);
                        loaded.retain(|event| event.seq < before);
                        loaded.extend(newer);
                    });
                }
                Err(error) => failure.set(Some(error)),
            }
            is_loading.set(false);
        });
    };
    view! {
        {move || failure.get().map(|error| view! {
            <ErrorCallout what="Older events could not be loaded." error on_retry=Callback::new(move |()| load())/>
        }
        .into_any())}
        {move || (first.get() > 1).then(|| view! {
            <p class="row"><button class="button" data-size="sm" type="button" disabled=move || is_loading.get() on:click=handler(move |_| load())>
                {move || format!("Events before #{}", first.get())}
            </button></p>
        }
        .into_any())}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_rows_in_view_are_drawn() {
        assert_eq!(in_view(0.0, 320.0, 10_000), (0, 23));
        assert_eq!(in_view(3200.0, 320.0, 10_000), (88, 123));
        assert_eq!(in_view(320_000.0, 320.0, 10_000), (9988, 10_000));
        assert_eq!(in_view(0.0, 320.0, 3), (0, 3));
    }
}
