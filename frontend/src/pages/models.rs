//! Settings, Models: which models there are, whether they answer, what is sent to them, how their servers stand, and
//! which backends this machine can use. Nothing is called until a button is pressed.

mod backends;
mod calls;
mod detail;
mod endpoints;
mod table;

use crate::api;
use crate::components::dynamic::CollectAny;
use crate::components::icon::Icon;
use crate::components::loaded::{Frame, loaded};
use crate::components::settings_head::SettingsHead;
use crate::components::states::{SkeletonBlock, SkeletonRows};
use crate::fmt;
use crate::state::load::Load;
use crate::state::memo::Memo;
use crate::state::page::{self, Crumb};
use crate::state::query::query_value;
use backends::Backends;
use calls::Calls;
use detail::Detail;
use endpoints::Endpoints;
use leptos::prelude::*;
use skillopt_domain::api::{ModelUse, Models};
use table::UsesTable;

#[component]
pub(crate) fn ModelsPage() -> impl IntoView {
    page::set(|| vec![Crumb::link("Settings", "/settings/models"), Crumb::here("Models")]);
    let models = Load::new(|| async { api::models().await });
    let frame = Frame::new("The models could not be loaded.")
        .loading(|| {
            view! {
                <Head/>
                <SkeletonBlock height="line"/>
                <div class="panel"><SkeletonRows rows=4/></div>
            }
            .into_any()
        })
        .head(|| view! { <Head/> }.into_any());
    loaded(models, frame, |models: &Models| view! { <Full models=models.clone()/> }.into_any())
}

#[component]
fn Head() -> impl IntoView {
    view! { <SettingsHead here="Models"/> }
}

#[component]
fn Full(models: Models) -> impl IntoView {
    let Models { uses, notes, backends } = models;
    let calls = Calls::new();
    let chosen = query_value::<String>("model");
    let first = uses.iter().find(|one| one.problem.is_empty()).or(uses.first());
    let first = first.map(|one| one.id.clone()).unwrap_or_default();
    let ids: Vec<String> = uses.iter().map(|one| one.id.clone()).collect();
    // An address may name a model that is not listed any more.
    let shown = Memo::new(move || {
        chosen.get().filter(|id| ids.contains(id)).unwrap_or_else(|| first.clone())
    });
    let lede = sentence(&uses);
    let notes = notes.into_iter().map(|note| {
        view! {
            <div class="callout models__note" data-status="warning">
                <Icon name="warning"/>
                <div><span class="callout__title">"Keys were left out."</span>" "<span class="callout__text">{note}</span></div>
            </div>
        }
    });
    let uses = StoredValue::new(uses);
    view! {
        <Head/>
        <p class="lede models__lede">
            <b>{lede}</b>
            " "
            <span>"Keys are named here, never shown and never stored."</span>
        </p>
        {notes.collect_any()}
        <UsesTable uses=uses calls=calls shown=shown chosen=chosen/>
        <Detail uses=uses calls=calls shown=shown/>
        <Endpoints/>
        <Backends ready=backends/>
    }
}

/// How many can be called as they are.
fn sentence(uses: &[ModelUse]) -> String {
    let n = |count: usize| fmt::count(u64::try_from(count).unwrap_or_default());
    let ready = uses.iter().filter(|one| one.problem.is_empty()).count();
    match (ready, uses.len()) {
        (ready, all) if ready == all => format!("All {} models can be called.", n(all)),
        (ready, all) => format!("{} of {} models can be called.", n(ready), n(all)),
    }
}
