//! The overview: what runs and how well, what needs a hand, what was last; three ways in for who is new.

mod attention;
mod first_visit;
mod load;
mod recent;
mod running;
mod ways;

use crate::components::icon::Icon;
use crate::components::states::{BoundaryError, SkeletonBlock, SkeletonRows};
use crate::fmt;
use crate::live::runs::use_runs_live;
use crate::state::page::{self, Crumb};
use crate::time;
use attention::Attention;
use first_visit::FirstVisit;
use leptos::either::Either;
use leptos::prelude::*;
use load::{Snapshot, load};
use recent::RecentRuns;
use running::RunningNow;
use ways::{Size, Ways};

#[component]
pub(crate) fn OverviewPage() -> impl IntoView {
    page::set(|| vec![Crumb::here("Overview")]);
    let live = use_runs_live();
    let snapshot = LocalResource::new(move || {
        live.back();
        load()
    });
    let failed = move |errors| {
        view! {
            <div class="page-head"><h1>"Overview"</h1></div>
            <BoundaryError
                what="The overview could not be loaded."
                errors=errors
                on_retry=move |()| snapshot.refetch()
            />
        }
    };
    let full = move || {
        Suspend::new(
            async move { snapshot.await.map(|snapshot| view! { <Loaded snapshot=snapshot/> }) },
        )
    };
    view! {
        <Transition fallback=Loading>
            <ErrorBoundary fallback=failed>{full}</ErrorBoundary>
        </Transition>
    }
    .into_any()
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
    use_runs_live().on_run(move |run| snapshot.update(|snapshot| snapshot.put(run)));
    let is_first_visit = Memo::new(move |_| snapshot.with(|snapshot| snapshot.total == 0));
    move || {
        if is_first_visit.get() {
            Either::Left(view! { <FirstVisit/> })
        } else {
            Either::Right(view! { <Full snapshot=snapshot/> })
        }
    }
}

#[component]
fn Full(snapshot: RwSignal<Snapshot>) -> impl IntoView {
    let running = Memo::new(move |_| snapshot.with(Snapshot::going));
    let attention = Memo::new(move |_| snapshot.with(Snapshot::need_attention));
    let recent = Memo::new(move |_| snapshot.with(Snapshot::recent));
    let total = Memo::new(move |_| snapshot.with(|snapshot| snapshot.total));
    let is_quiet = Memo::new(move |_| running.with(Vec::is_empty));
    let has_aside = Memo::new(move |_| attention.with(|runs| !runs.is_empty()));
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
    };
    view! {
        {move || view! { <Head text=head()/> }}
        {move || {
            if has_aside.get() {
                Either::Left(view! {
                    <div class="split" data-flat data-width="aside">
                        {main()}
                        <aside class="split__side stack" data-gap="xl"><Attention runs=attention/></aside>
                    </div>
                })
            } else {
                Either::Right(main())
            }
        }}
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
