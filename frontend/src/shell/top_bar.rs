//! The top bar: where one is, how to get elsewhere, whether what is shown is live, and the theme.

use crate::components::dynamic::CollectAny;
use crate::components::handler::handler;
use crate::components::icon::Icon;
use crate::live::{LiveState, use_live_states};
use crate::state::memo::Memo;
use crate::state::overlay::{Overlay, use_overlay};
use crate::state::page::{self, Crumb};
use crate::state::signal::RwSignal;
use crate::state::theme::{Theme, use_theme};
use crate::{fmt, time};
use leptos::prelude::*;
use std::time::Duration;

#[component]
pub(super) fn TopBar() -> impl IntoView {
    let overlay = use_overlay();
    view! {
        <header class="top">
            <button class="icon-button top__menu" type="button" popovertarget="rail" aria-label="Menu">
                <Icon name="menu"/>
            </button>
            <Breadcrumb/>
            <div class="top__end">
                <button
                    class="cmdk"
                    type="button"
                    title="Search or run a command (Ctrl K)"
                    aria-keyshortcuts="Control+K Meta+K"
                    on:click=handler(move |_| overlay.open(Overlay::Palette))
                >
                    <Icon name="search"/>
                    <span>"Search or run a command"</span>
                    <kbd aria-hidden="true">"Ctrl K"</kbd>
                </button>
                <LiveBadge/>
                <ThemeSwitch/>
            </div>
        </header>
    }
}

#[component]
fn Breadcrumb() -> impl IntoView {
    let crumbs = page::crumbs();
    let part = |crumb: Crumb| match crumb.href {
        Some(href) => view! { <a href=href>{crumb.text}</a> <Icon name="right"/> }.into_any(),
        None => view! { <span aria-current="page">{crumb.text}</span> }.into_any(),
    };
    view! {
        <nav class="crumbs" aria-label="Breadcrumb">
            {move || crumbs.get().into_iter().map(part).collect_any()}
        </nav>
    }
}

#[component]
fn LiveBadge() -> impl IntoView {
    let states = use_live_states();
    let state = Memo::new(move || states.worst());
    let now = RwSignal::new(time::now_ms());
    let clock =
        set_interval_with_handle(move || now.set(time::now_ms()), Duration::from_secs(1)).ok();
    on_cleanup(move || {
        if let Some(clock) = clock {
            clock.clear();
        }
    });
    // Only a stale badge reads the clock, so that a live page does no work each second.
    let words = move || match state.get() {
        LiveState::Stale { since_ms } => words(state.get(), now.get().saturating_sub(since_ms)),
        other => words(other, 0),
    };
    view! {
        <span class="live" data-state=move || word(state.get()) role="status" title=move || words()>
            <span class="live__text">{move || words()}</span>
        </span>
    }
}

fn word(state: LiveState) -> &'static str {
    match state {
        LiveState::Idle => "idle",
        LiveState::Live => "live",
        LiveState::Connecting => "connecting",
        LiveState::Stale { .. } => "stale",
        LiveState::Offline => "offline",
    }
}

fn words(state: LiveState, for_ms: u64) -> String {
    match state {
        LiveState::Idle => "Idle".to_owned(),
        LiveState::Live => "Live".to_owned(),
        LiveState::Connecting => "Connecting".to_owned(),
        LiveState::Stale { .. } => {
            // Whole seconds: a tenth that ticks would only unsettle.
            format!("Stale since {}, reconnecting", whole_seconds(for_ms))
        }
        LiveState::Offline => "Offline".to_owned(),
    }
}

fn whole_seconds(ms: u64) -> String {
    if ms < 60_000 { format!("{} s", ms / 1000) } else { fmt::duration(ms) }
}

#[component]
fn ThemeSwitch() -> impl IntoView {
    let theme = use_theme();
    let buttons = Theme::ALL.map(|choice| {
        let is_pressed = move || if theme.get() == choice { "true" } else { "false" };
        view! {
            <button
                class="icon-button"
                type="button"
                data-theme-choice=choice.as_str()
                aria-pressed=move || is_pressed()
                aria-label=choice.label()
                title=choice.label()
                on:click=handler(move |_| theme.set(choice.pressed(theme.get())))
            >
                <Icon name=choice.icon()/>
            </button>
        }
    });
    view! { <div class="theme" role="group" aria-label="Theme">{buttons.into_iter().collect_any()}</div> }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broken_stream_tells_for_how_long() {
        let stale = LiveState::Stale { since_ms: 0 };
        assert_eq!(words(stale, 12_400), "Stale since 12 s, reconnecting");
        assert_eq!(words(stale, 180_000), "Stale since 3 min, reconnecting");
    }
}
