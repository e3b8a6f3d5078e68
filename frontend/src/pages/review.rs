//! Review: nights whose proposals wait for a decision, and runs whose better skill is not adopted. A decision is made where
//! the change is shown: on the page of the night, or of the run.

mod queue;
mod runs;

use crate::api::{self, ApiError};
use crate::components::copy_button::Command;
use crate::components::dynamic::{dynamic, nothing, when};
use crate::components::handler::handler;
use crate::components::loaded::{Frame, loaded};
use crate::components::states::{Empty, ErrorCallout, SkeletonBlock, SkeletonRows};
use crate::fmt;
use crate::live::nights::on_night;
use crate::live::runs::use_runs_live;
use crate::state::load::Load;
use crate::state::memo::Memo;
use crate::state::page::{self, Crumb};
use crate::state::signal::RwSignal;
use leptos::prelude::*;
use leptos::task::spawn_local;
use queue::{Queue, count};
use runs::BetterRuns;
use skillopt_domain::api::{NightDecision, NightItem, ReviewItem, ReviewPage as Answer};
use skillopt_domain::ids::NightId;
use skillopt_domain::night::NightStatus;

#[component]
pub(crate) fn ReviewPage() -> impl IntoView {
    page::set(|| vec![Crumb::here("Review")]);
    let cursor = RwSignal::new(None::<NightId>);
    let live = use_runs_live();
    let answer = Load::new(move || {
        live.back();
        async move { api::review(None).await }
    });
    let shown = RwSignal::new(Vec::<ReviewItem>::new());
    on_night(move |night| {
        if shown.try_with_untracked(|shown| is_news(shown, night)).unwrap_or(false) {
            answer.again();
        }
    });
    let frame = Frame::new("What waits for review could not be loaded.")
        .loading(|| view! { <Loading/> }.into_any())
        .head(|| view! { <div class="page-head"><h1>"Review"</h1></div> }.into_any());
    loaded(answer, frame, move |answer: &Answer| {
        shown.set(answer.items.clone());
        view! { <Body answer=answer.clone() items=shown cursor/> }.into_any()
    })
}

/// A night that came to wait, or one that is shown and changed.
fn is_news(shown: &[ReviewItem], night: &NightItem) -> bool {
    match shown.iter().find(|item| item.night.id == night.id) {
        Some(item) => item.night != *night,
        None => {
            night.status != NightStatus::Running
                && matches!(night.decision, NightDecision::Waiting | NightDecision::Stale)
        }
    }
}

#[component]
fn Loading() -> impl IntoView {
    view! {
        <div class="stack" data-gap="lg" aria-busy="true">
            <SkeletonBlock height="title"/>
            <SkeletonRows rows=6/>
        </div>
    }
}

#[component]
fn Body(
    answer: Answer,
    items: RwSignal<Vec<ReviewItem>>,
    cursor: RwSignal<Option<NightId>>,
) -> impl IntoView {
    let next = RwSignal::new(answer.next);
    let n_waiting = answer.n_waiting;
    let words = move || items.with(|items| head_words(n_waiting, items));
    let is_empty = Memo::new(move || items.with(Vec::is_empty));
    let runs = StoredValue::new(answer.runs);
    view! {
        <div class="page-head">
            <div class="page-head__main">
                <h1>"Review"</h1>
                <div class="page-head__meta"><span>{move || words()}</span></div>
            </div>
        </div>
        {when(move || is_empty.get(), || view! { <NothingWaits/> }.into_any(), move || view! {
            <Queue items cursor/>
            <More items next/>
        }.into_any())}
        {runs.with_value(|runs| match runs.is_empty() {
            true => nothing(),
            false => view! { <BetterRuns runs=runs.as_slice()/> }.into_any(),
        })}
    }
}

fn head_words(n_waiting: u64, items: &[ReviewItem]) -> String {
    let n_stale = count(items, NightDecision::Stale);
    let mut words = match n_waiting {
        0 => "nothing waits for you".to_owned(),
        1 => "1 night waits for you".to_owned(),
        n => format!("{} nights wait for you", fmt::count(n)),
    };
    if n_stale > 0 {
        words.push_str(&format!(", {} cannot be adopted any more", fmt::count(n_stale)));
    }
    words
}

/// Further nights, asked for by hand.
#[component]
fn More(items: RwSignal<Vec<ReviewItem>>, next: RwSignal<Option<String>>) -> impl IntoView {
    let is_asking = RwSignal::new(false);
    let failed = RwSignal::new(None::<ApiError>);
    let ask = move |_| {
        let Some(cursor) = next.get_untracked() else { return };
        is_asking.set(true);
        failed.set(None);
        spawn_local(async move {
            match api::review(Some(&cursor)).await {
                Ok(page) => {
                    items.update(|items| items.extend(page.items));
                    next.set(page.next);
                }
                Err(error) => failed.set(Some(error)),
            }
            is_asking.set(false);
        });
    };
    dynamic(move || {
        let failed = failed.get().map(|error| {
            view! { <ErrorCallout what="Further nights could not be loaded." error/> }.into_any()
        });
        let button = next.with(Option::is_some).then(|| view! {
            <button class="button" type="button" disabled=move || is_asking.get() on:click=handler(ask)>
                "Older nights"
            </button>
        }
        .into_any());
        view! { <div class="stack section" data-space="tight">{failed}{button}</div> }.into_any()
    })
}

#[component]
fn NothingWaits() -> impl IntoView {
    view! {
        <Empty
            title="Nothing waits for review"
            text="Nights of Sleep bring proposals here when their edits pass the gate. Start one on the page Sleep, or in a terminal."
        >
            <a class="button" href="/sleep">"Sleep"</a>
            <Command text="skillopt sleep run --project DIR"/>
        </Empty>
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::components::review_words::tests::item;

    #[test]
    fn the_head_counts_what_can_be_adopted_and_what_cannot() {
        assert_eq!(head_words(0, &[]), "nothing waits for you");
        let all = [item(NightDecision::Waiting), item(NightDecision::Stale)];
        assert_eq!(head_words(1, &all), "1 night waits for you, 1 cannot be adopted any more");
    }

    #[test]
    fn only_a_night_that_comes_to_wait_or_changes_is_news() {
        let shown = [item(NightDecision::Waiting)];
        let same = shown[0].night.clone();
        assert!(!is_news(&shown, &same));
        let adopted = NightItem { decision: NightDecision::Adopted, ..same.clone() };
        assert!(is_news(&shown, &adopted) && !is_news(&[], &adopted));
        assert!(is_news(&[], &same));
        assert!(!is_news(&[], &NightItem { status: NightStatus::Running, ..same }));
    }
}
