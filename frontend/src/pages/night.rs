//! One night: how far it is, what it found, what it proposes, and what is decided about it. Loads it, and asks again
//! while it runs.

mod choice;
mod decide;
mod evidence;
mod evidence_words;
mod head;
mod onward;
mod parts;
mod pipeline;
mod proposal;
mod receipts;
mod reject;
mod rest;
mod state;
mod tasks;
mod trials;
mod verdict;
mod words;

use crate::api;
use crate::components::dynamic::{dynamic, nothing, when};
use crate::components::loaded::{Frame, loaded};
use crate::components::night_cells::night_name;
use crate::components::states::{Empty, SkeletonBlock, SkeletonRows};
use crate::state::effect::effect;
use crate::state::load::Load;
use crate::state::memo::Memo;
use crate::state::page::{self, Crumb};
use crate::state::signal::RwSignal;
use decide::Decide;
use head::Head;
use leptos::prelude::*;
use parts::night_evidence;
use pipeline::Pipeline;
use proposal::Proposals;
use receipts::Receipts;
use rest::{OtherEdits, SkillGroups, Sources};
use skillopt_domain::api::NightDetail;
use skillopt_domain::ids::NightId;
use state::NightState;
use tasks::Tasks;
use trials::Trials;
use verdict::Verdict;

#[component]
pub(crate) fn NightPage(id: Memo<String>) -> impl IntoView {
    let id = Memo::new(move || id.with(|id| NightId::parse(id).ok()));
    let name = RwSignal::new(None::<String>);
    page::set(move || {
        let name = name.get().unwrap_or_else(|| "Night".to_owned());
        vec![Crumb::link("Sleep", "/sleep"), Crumb::here(name)]
    });
    dynamic(move || match id.get() {
        Some(id) => view! { <LoadedNight id name/> }.into_any(),
        None => no_such_night(),
    })
}

fn no_such_night() -> AnyView {
    view! {
        <Empty title="No such night" text="The address names no night. It may have been mistyped.">
            <a class="button" href="/sleep">"All nights"</a>
        </Empty>
    }
    .into_any()
}

#[component]
fn LoadedNight(id: NightId, name: RwSignal<Option<String>>) -> impl IntoView {
    let detail = Load::new(move || {
        let id = id.clone();
        async move { api::night(&id).await }
    });
    let frame = Frame::new("The night could not be loaded.")
        .loading(|| view! { <Loading/> }.into_any())
        .missing(no_such_night);
    loaded(detail, frame, move |detail: &NightDetail| {
        view! { <Body detail=detail.clone() name/> }.into_any()
    })
}

#[component]
fn Loading() -> impl IntoView {
    view! {
        <div class="stack" data-gap="lg" aria-busy="true">
            <SkeletonBlock height="title"/>
            <SkeletonBlock height="row"/>
            <SkeletonBlock height="panel"/>
            <SkeletonRows rows=4/>
        </div>
    }
}

#[component]
fn Body(detail: NightDetail, name: RwSignal<Option<String>>) -> impl IntoView {
    let night = NightState::new(detail);
    night.follow();
    // A night gets its number on the way.
    let name_now = night.memo(|detail| night_name(&detail.night));
    effect(move || name.set(Some(name_now.get())));
    let has_side = night.memo(|detail| !detail.proposals.is_empty() || !detail.receipts.is_empty());
    let has_folder = night.memo(|detail| !detail.staging.is_empty());
    let side = move || {
        if !has_side.get() {
            return nothing();
        }
        view! {
            <div class="split section" data-space="tight" data-width="aside">
                <Proposals night/>
                <aside class="split__side stack" data-gap="lg"><Decide night/><Receipts night/></aside>
            </div>
        }
        .into_any()
    };
    view! {
        <Head night/>
        <Pipeline night/>
        <Verdict night/>
        {dynamic(side)}
        <Trials night/>
        <SkillGroups night/>
        <OtherEdits night/>
        <Tasks night/>
        <Sources night/>
        {when(move || has_folder.get(), move || night_evidence::show(night), nothing)}
    }
}
