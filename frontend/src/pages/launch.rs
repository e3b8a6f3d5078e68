//! A new run: a form made from the config schema, checked while one types; what it will do before it starts.

mod aside;
mod checking;
mod draft;
mod field;
mod form;
mod head;
mod relevance;
mod start;
mod yaml;

use crate::api::{self, ApiResult, SchemaAvailability, SchemaKey, Values};
use crate::components::loaded::{Frame, loaded};
use crate::components::states::{SkeletonBlock, SkeletonRows};
use crate::state::effect::effect;
use crate::state::load::Load;
use crate::state::memo::Memo;
use crate::state::page::{self, Crumb};
use crate::state::signal::RwSignal;
use aside::Aside;
use checking::{Checking, keep_checking};
use draft::Draft;
use form::LaunchForm;
use head::Head;
use leptos::prelude::*;
use leptos_router::hooks::use_query_map;
use skillopt_domain::api::Preset;
use skillopt_domain::config::Origin;
use skillopt_domain::ids::RunId;
use start::StartBar;

/// What the page needs before it can show a form.
#[derive(Clone, Debug)]
struct Setup {
    keys: Vec<SchemaKey>,
    presets: Vec<Preset>,
    /// Values to start from: those of a preset or of another run.
    start: Values,
}

#[component]
pub(crate) fn LaunchPage() -> impl IntoView {
    page::set(|| vec![Crumb::link("Runs", "/runs"), Crumb::here("New run")]);
    let query = use_query_map();
    let wanted = Memo::new(move || query.with(|query| (query.get("preset"), query.get("from"))));
    let setup = Load::new(move || {
        let (preset, from) = wanted.get();
        async move { load(preset, from).await }
    });
    let frame = Frame::new("The form could not be loaded.")
        .loading(|| view! { <Loading/> }.into_any())
        .head(|| view! { <div class="page-head"><h1>"New run"</h1></div> }.into_any());
    loaded(setup, frame, move |setup: &Setup| {
        let focus = query.with_untracked(|query| query.get("focus"));
        view! { <Loaded setup=setup.clone() focus=focus/> }.into_any()
    })
}

async fn load(preset: Option<String>, from: Option<String>) -> ApiResult<Setup> {
    let mut keys = api::config_schema().await?;
    keys.retain(|key| key.availability == SchemaAvailability::Built);
    let presets = api::config_presets().await?;
    let start = match (preset, from.and_then(|id| RunId::parse(&id).ok())) {
        (_, Some(run)) => values_of_run(&run).await?,
        (Some(word), None) => draft::find_preset(&presets, &word)
            .map(|preset| preset.values.clone())
            .unwrap_or_default(),
        (None, None) => Values::new(),
    };
    Ok(Setup { keys, presets, start })
}

/// What somebody set for another run. Its folder is not taken over: two runs never share one.
async fn values_of_run(run: &RunId) -> ApiResult<Values> {
    let config = api::run_config(run).await?;
    let set = config
        .rows
        .into_iter()
        .filter(|row| row.place.origin != Origin::Default && row.path != "env.out_root");
    Ok(set.filter_map(|row| Some((row.path, row.value?))).collect())
}

#[component]
fn Loaded(setup: Setup, focus: Option<String>) -> impl IntoView {
    let draft = Draft::new(&setup.keys, setup.start);
    let checking = keep_checking(draft);
    focus_field(focus);
    view! {
        <Head draft=draft presets=setup.presets/>
        <div class="split" data-width="aside">
            <LaunchForm keys=setup.keys draft=draft checking=checking/>
            <Aside draft=draft checking=checking/>
        </div>
        <StartBar draft=draft checking=checking/>
    }
}

/// Puts the cursor into the field that the link was about.
fn focus_field(path: Option<String>) {
    let Some(path) = path else { return };
    effect(move || {
        let id = field::field_id(&path);
        request_animation_frame(move || focus_by_id(&id));
    });
}

/// Moves the focus, and with it the page, to an element.
fn focus_by_id(id: &str) {
    use wasm_bindgen::JsCast;
    let element = document().get_element_by_id(id);
    if let Some(element) =
        element.and_then(|element| element.dyn_into::<web_sys::HtmlElement>().ok())
    {
        let _ = element.focus();
    }
}

#[component]
fn Loading() -> impl IntoView {
    view! {
        <div class="page-head"><div class="page-head__main"><h1>"New run"</h1></div></div>
        <div class="split" data-width="aside">
            <div><SkeletonRows rows=14/></div>
            <aside class="split__side"><SkeletonBlock height="panel"/></aside>
        </div>
    }
}

/// What is checked now, as the parts of the page see it.
type CheckSignal = RwSignal<Checking>;
