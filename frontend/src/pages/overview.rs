//! The overview: what runs and how well, what waits for a decision, what needs a hand, what was last; three ways in for who
//! is new.

mod attention;
mod first_visit;
mod load;
mod nights;
mod recent;
mod review;
mod running;
mod ways;

use crate::api;
use crate::components::dynamic::{nothing, when};
use crate::components::icon::Icon;
use crate::components::loaded::{Frame, loaded};
use crate::components::states::{SkeletonBlock, SkeletonRows};
use crate::fmt;
use crate::live::nights::on_night;
use crate::live::runs::use_runs_live;
use crate::state::effect::effect;
use crate::state::load::Load;
use crate::state::memo::Memo;
use crate::state::page::{self, Crumb};
use crate::state::signal::RwSignal;
use crate::time;
use attention::Attention;
use first_visit::FirstVisit;
use leptos::prelude::*;
use leptos::task::spawn_local;
use load::{Snapshot, load};
use nights::Nights;
use recent::RecentRuns;
use review::Waiting;
use running::RunningNow;
use ways::{Size, Ways};

#[component]
pub(crate) fn OverviewPage() -> impl IntoView {
    page::set(|| vec![Crumb::here("Overview")]);
    let live = use_runs_live();
    let snapshot = Load::new(move || {
        live.back();
        load()
    });
    let frame = Frame::new("The overview could not be loaded.")
        .loading(|| view! { <Loading/> }.into_any())
        .head(|| view! { <div class="page-head"><h1>"Overview"</h1></div> }.into_any());
    loaded(snapshot, frame, |snapshot| view! { <Loaded snapshot=snapshot.clone()/> }.into_any())
}

#[component]
fn Loading() -> impl IntoView {
    view! {
        <Head text=String::new()/>
        <SkeletonBlock height="panel"/>
        <section class="section">
            <div class="panel"><SkeletonRows/></div>
        </section>
    }
}

/// Owns the rows while the page is shown; the stream keeps them current.
#[component]
fn Loaded(snapshot: Snapshot) -> impl IntoView {
    let snapshot = RwSignal::new(snapshot);
    let live = use_runs_live();
    live.on_run(move |run| snapshot.update(|snapshot| snapshot.put(run)));
    effect(move || {
        let running = live.running().get();
        snapshot.update(|snapshot| snapshot.put_running(&running));
    });
    on_night(move |night| {
        let is_followed = snapshot.try_update(|snapshot| snapshot.put_night(night));
        if is_followed == Some(false) {
            ask_for_nights(snapshot);
        }
    });
    let is_first_visit = Memo::new(move || snapshot.with(Snapshot::is_first_visit));
    when(
        move || is_first_visit.get(),
        || view! { <FirstVisit/> }.into_any(),
        move || view! { <Full snapshot=snapshot/> }.into_any(),
    )
}

/// What waits and what was may be other nights now. Without an answer the old ones stay.
fn ask_for_nights(snapshot: RwSignal<Snapshot>) {
    spawn_local(async move {
        if let Ok(overview) = api::overview().await {
            snapshot.update(|snapshot| snapshot.nights = overview.nights);
        }
    });
}

#[component]
fn Full(snapshot: RwSignal<Snapshot>) -> impl IntoView {
    let running = Memo::new(move || snapshot.with(Snapshot::going));
    let attention = Memo::new(move || snapshot.with(Snapshot::need_attention));
    let recent = Memo::new(move || snapshot.with(Snapshot::recent));
    let total = Memo::new(move || snapshot.with(|snapshot| snapshot.total));
    let is_quiet = Memo::new(move || running.with(Vec::is_empty));
    let nights = Memo::new(move || snapshot.with(|snapshot| snapshot.nights.clone()));
    let has_nights = Memo::new(move || snapshot.with(Snapshot::has_nights));
    let has_waiting = Memo::new(move || nights.with(|nights| !nights.waiting.is_empty()));
    let has_attention = Memo::new(move || attention.with(|runs| !runs.is_empty()));
    let has_aside = Memo::new(move || has_attention.get() || has_waiting.get() || has_nights.get());
    let head = move || {
        let going = match u64::try_from(running.with(Vec::len)).unwrap_or_default() {
            0 => "no run going".to_owned(),
            n => format!("{} going", fmt::plural(n, "run", "runs")),
        };
        let waiting = match nights.with(|nights| nights.n_waiting) {
            0 => String::new(),
            1 => ", 1 proposal waits for you".to_owned(),
            n => format!(", {} proposals wait for you", fmt::count(n)),
        };
        format!("{going}, {} in all{waiting}", fmt::count(total.get()))
    };
    let main = move || {
        view! {
            <div>
                <RunningNow runs=running/>
                <RecentRuns runs=recent total=total is_first=is_quiet/>
            </div>
        }
        .into_any()
    };
    let side = move || {
        view! {
            {when(move || has_waiting.get(), move || view! { <Waiting nights/> }.into_any(), nothing)}
            {when(move || has_attention.get(), move || view! { <Attention runs=attention/> }.into_any(), nothing)}
            {when(move || has_nights.get(), move || view! { <Nights nights/> }.into_any(), nothing)}
        }
        .into_any()
    };
    let both = move || {
        view! {
            <div class="split" data-flat data-width="aside">
                {main()}
                <aside class="split__side stack" data-gap="xl">{side()}</aside>
            </div>
        }
        .into_any()
    };
    // Nights before the first run: nothing stands beside them.
    let has_runs = Memo::new(move || total.get() > 0);
    let with_aside = move || {
        when(
            move || has_runs.get(),
            both,
            move || view! { <div class="stack" data-gap="xl">{side()}</div> }.into_any(),
        )
    };
    view! {
        {move || view! { <Head text=head()/> }.into_any()}
        {when(move || has_aside.get(), with_aside, main)}
        <section class="section" aria-labelledby="ways-title">
            <div class="section__head"><h2 id="ways-title">"Start another"</h2></div>
            <Ways size=Size::Small/>
        </section>
    }
}

#[component]
fn Head(text: String) -> impl IntoView {
    view! {
        <div class="page-head">
            <div class="page-head__main">
                <h1>"Overview"</h1>
                <div class="page-head__meta"><span>{time::today()}</span><span>{text}</span></div>
            </div>
            <div class="page-head__actions">
                <a class="button" data-variant="primary" href="/launch"><Icon name="plus"/>"New run"</a>
            </div>
        </div>
    }
}
