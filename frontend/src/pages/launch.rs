//! A new run: a form made from the config schema, checked while one types; what it will do before it starts.

mod aside;
mod checking;
mod derived;
mod draft;
mod field;
mod forecast;
mod form;
mod head;
mod kept;
mod parts;
mod relevance;
mod source;
mod start;
mod yaml;

use crate::api::{self, ApiError, ApiResult, SchemaAvailability, SchemaKey, Values};
use crate::components::loaded::{Frame, loaded};
use crate::components::states::{Empty, SkeletonBlock, SkeletonRows};
use crate::state::effect::effect;
use crate::state::load::Load;
use crate::state::memo::Memo;
use crate::state::page::{self, Crumb};
use crate::state::signal::RwSignal;
use aside::Aside;
use checking::{Checking, keep_checking};
use derived::SourceCard;
use draft::{Draft, Start};
use form::LaunchForm;
use head::Head;
use leptos::prelude::*;
use leptos_router::hooks::use_query_map;
use skillopt_domain::api::Preset;
use skillopt_domain::ids::RunId;
use source::{Purpose, Source, Wanted};
use start::StartBar;

/// What the page needs before it can show a form.
#[derive(Clone, Debug)]
struct Setup {
    keys: Vec<SchemaKey>,
    presets: Vec<Preset>,
    wanted: Wanted,
    /// Values to start from: those of a preset or of another run.
    start: Values,
    /// The run that is forked or resumed.
    source: Option<Source>,
}

#[component]
pub(crate) fn LaunchPage() -> impl IntoView {
    let query = use_query_map();
    let wanted = Memo::new(move || query.with(|query| Wanted::read(|name| query.get(name))));
    page::set(move || vec![Crumb::link("Runs", "/runs"), Crumb::here(title(&wanted.get(), None))]);
    let setup = Load::new(move || {
        let wanted = wanted.get();
        async move { load(wanted).await }
    });
    let frame = Frame::new("The form could not be loaded.")
        .loading(|| view! { <Loading/> }.into_any())
        .missing(|| view! { <NoSuchRun/> }.into_any())
        .head(|| view! { <div class="page-head"><h1>"New run"</h1></div> }.into_any());
    loaded(setup, frame, move |setup: &Setup| {
        let focus = query.with_untracked(|query| query.get("focus"));
        view! { <Loaded setup=setup.clone() focus=focus/> }.into_any()
    })
}

#[component]
fn NoSuchRun() -> impl IntoView {
    view! {
        <div class="page-head"><h1>"New run"</h1></div>
        <Empty title="No such run" text="The run from which this one should start is not there. The address may have been mistyped.">
            <a class="button" href="/runs">"All runs"</a>
        </Empty>
    }
}

fn title(wanted: &Wanted, source: Option<&Source>) -> String {
    let name = source.map_or("a run", |source| source.name.as_str());
    match wanted.purpose() {
        Purpose::New => "New run".to_owned(),
        Purpose::Fork => format!("Fork of {name}"),
        Purpose::Resume => format!("Resume {name}"),
    }
}

async fn load(wanted: Wanted) -> ApiResult<Setup> {
    let mut keys = api::config_schema().await?;
    keys.retain(|key| key.availability == SchemaAvailability::Built);
    let presets = api::config_presets().await?;
    let id = |text: &Option<String>| text.as_deref().and_then(|id| RunId::parse(id).ok());
    let source = match id(&wanted.resume).or(id(&wanted.fork)) {
        Some(run) => Some(source::load(&run).await?),
        None if wanted.purpose() != Purpose::New => return Err(ApiError::not_found()),
        None => None,
    };
    let start = match (&source, id(&wanted.from), &wanted.preset) {
        (Some(source), ..) => source.values.clone(),
        (None, Some(run), _) => source::load(&run).await?.values,
        (None, None, Some(word)) => draft::find_preset(&presets, word)
            .map(|preset| preset.values.clone())
            .unwrap_or_default(),
        (None, None, None) => Values::new(),
    };
    Ok(Setup { keys, presets, wanted, start, source })
}

#[component]
fn Loaded(setup: Setup, focus: Option<String>) -> impl IntoView {
    let title = title(&setup.wanted, setup.source.as_ref());
    let start = Start {
        purpose: setup.wanted.purpose(),
        source: setup.source.as_ref().map(|source| source.id.clone()),
        version: setup.wanted.version.filter(|version| *version > 0),
        values: setup.start,
        kept_as: setup.wanted.draft_name(),
    };
    let draft = Draft::new(&setup.keys, start);
    draft.keep_in_browser();
    let checking = keep_checking(draft);
    focus_field(focus);
    view! {
        <Head title draft=draft presets=setup.presets/>
        {setup.source.map(|source| view! { <SourceCard source draft/> }.into_any())}
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
