//! The rail: only pages that exist. A popover on narrow screens.

use crate::components::dynamic::{CollectAny, dynamic, nothing};
use crate::components::handler::handler;
use crate::components::icon::Icon;
use crate::live::runs::use_runs_live;
use crate::state::effect::effect;
use crate::state::load::Load;
use crate::state::memo::Memo;
use crate::state::overlay::{Overlay, use_overlay};
use crate::{api, fmt};
use leptos::html;
use leptos::prelude::*;
use leptos_router::hooks::use_location;

const LINKS: [(&str, &str, &str); 6] = [
    ("/", "overview", "Overview"),
    ("/runs", "runs", "Runs"),
    ("/compare", "compare", "Compare"),
    ("/review", "review", "Review"),
    ("/launch", "launch", "Launch"),
    ("/sleep", "sleep", "Sleep"),
];

#[component]
pub(super) fn Rail() -> impl IntoView {
    let rail = NodeRef::<html::Nav>::new();
    let path = use_location().pathname;
    let live = use_runs_live();
    let running = Memo::new(move || u64::try_from(live.running().with(Vec::len)).unwrap_or(0));
    let overlay = use_overlay();
    effect(move || {
        path.track();
        hide(rail);
    });
    let links = LINKS.map(|(href, icon, label)| {
        view! {
            <a class="rail__link" href=href aria-current=move || is_current(href, &path.get()).then_some("page")>
                <Icon name=icon/>
                {label}
                {move || match href {
                    "/runs" => badge(running.get(), None, "Runs going now"),
                    "/review" => badge(live.n_waiting(), Some("accent"), "Nights that wait for your decision"),
                    _ => None,
                }}
            </a>
        }.into_any()
    });
    let settings = move || is_current("/settings", &path.get()).then_some("page");
    let open_keys = move |_| {
        hide(rail);
        overlay.open(Overlay::Keys);
    };
    view! {
        <nav class="rail" id="rail" popover aria-label="Main" node_ref=rail>
            <a class="rail__brand" href="/"><Mark/>"SkillOpt"</a>
            {links.into_iter().collect_any()}
            <span class="rail__gap"></span>
            <a class="rail__link" href="/settings/models" aria-current=settings>
                <Icon name="settings"/>
                "Settings"
            </a>
            <button class="rail__link" type="button" on:click=handler(open_keys)>
                <Icon name="help"/>
                "Keys"
                <span class="rail__count"><kbd>"?"</kbd></span>
            </button>
            <AboutNote/>
        </nav>
    }
}

/// A number beside a link; none for zero.
fn badge(n: u64, tone: Option<&'static str>, title: &'static str) -> Option<AnyView> {
    (n > 0).then(|| {
        view! { <span class="rail__count" data-tone=tone title=title>{fmt::count(n)}</span> }
            .into_any()
    })
}

/// On narrow screens the rail lies over the page; elsewhere hiding it fails and changes nothing.
fn hide(rail: NodeRef<html::Nav>) {
    if let Some(rail) = rail.get_untracked() {
        let _ = rail.hide_popover();
    }
}

fn is_current(href: &str, path: &str) -> bool {
    path == href
        || (href != "/" && path.strip_prefix(href).is_some_and(|rest| rest.starts_with('/')))
}

/// Which program this is and where it keeps its data. Nothing while it is not known.
#[component]
fn AboutNote() -> impl IntoView {
    let about = Load::new(|| async { api::about().await });
    dynamic(move || {
        match about.get() {
        Some(Ok(about)) => view! {
            <p class="rail__note" title=about.data_dir.clone()>"SkillOpt " {about.version.clone()}</p>
        }
        .into_any(),
        _ => nothing(),
    }
    })
}

#[component]
fn Mark() -> impl IntoView {
    view! {
        <svg width="20" height="20" viewBox="0 0 20 20" fill="none" stroke="currentColor" stroke-width="1.75" aria-hidden="true">
            <path d="M2 16.5h4.5V12H11V7.5h4.5" stroke-linejoin="round" stroke-linecap="round"/>
            <circle cx="16" cy="4" r="2" fill="var(--color-accent)" stroke="none"/>
        </svg>
    }
}

#[cfg(test)]
mod tests {
    use super::is_current;

    #[test]
    fn a_run_belongs_to_runs_and_nothing_but_itself_to_the_overview() {
        assert!(is_current("/runs", "/runs/abc/steps"));
        assert!(is_current("/", "/"));
        assert!(!is_current("/", "/runs"));
        assert!(!is_current("/runs", "/runsomething"));
    }
}
