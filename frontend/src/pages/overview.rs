//! The overview: what runs and how well, what needs a hand, what was last; three ways in for who is new.

mod attention;
mod first_visit;
mod load;
mod recent;
mod running;
mod ways;

use crate::components::dynamic::when;
use crate::components::icon::Icon;
use crate::components::loaded::{Frame, loaded};
use crate::components::states::{SkeletonBlock, SkeletonRows};
use crate::fmt;
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
use load::{Snapshot, load};
use recent::RecentRuns;
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
    let is_first_visit = Memo::new(move || snapshot.with(|snapshot| snapshot.total == 0));
    when(
        move || is_first_visit.get(),
        || view! { <FirstVisit/> }.into_any(),
        move || view! { <Full snapshot=snapshot/> }.into_any(),
    )
}

#[component]
fn Full(snapshot: RwSignal<Snapshot>) -> impl IntoView {
    let running = Memo::new(move || snapshot.with(Snapshot::going));
    let attention = Memo::new(move || snapshot.with(Snapshot::need_attention));
    let recent = Memo::new(move || snapshot.with(Snapshot::recent));
    let total = Memo::new(move || snapshot.with(|snapshot| snapshot.total));
    let is_quiet = Memo::new(move || running.with(Vec::is_empty));
    let has_aside = Memo::new(move || attention.with(|runs| !runs.is_empty()));
    let head = move || {
        let going = match u64::try_from(running.with(Vec::len)).unwrap_or_default() {
            0 => "no run going".to_owned(),
            n => format!("{} going", fmt::plural(n, "run", "runs")),
        };
        format!("{going}, {} in all", fmt::count(total.get()))
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
    view! {
        {move || view! { <Head text=head()/> }.into_any()}
        {when(
            move || has_aside.get(),
            move || view! {
                <div class="split" data-flat data-width="aside">
                    {main()}
                    <aside class="split__side stack" data-gap="xl"><Attention runs=attention/></aside>
                </div>
            }
            .into_any(),
            main,
        )}
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
