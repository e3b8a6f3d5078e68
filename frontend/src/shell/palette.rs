//! The palette: type to find a run or a command, arrows to choose, Enter to go.

use crate::api::{self, ApiResult};
use crate::components::dynamic::CollectAny;
use crate::components::handler::handler;
use crate::components::icon::Icon;
use crate::components::look::Look;
use crate::fmt;
use crate::state::effect::effect;
use crate::state::load::Load;
use crate::state::memo::Memo;
use crate::state::overlay::{Overlay, OverlayState, use_overlay};
use crate::state::signal::RwSignal;
use crate::state::theme::{ThemeState, use_theme};
use crate::text::lower;
use gloo_timers::future::TimeoutFuture;
use leptos::ev::KeyboardEvent;
use leptos::html;
use leptos::prelude::*;
use leptos_router::hooks::use_navigate;
use skillopt_domain::api::{RunQuery, RunSummary};

const MAX_RUNS: u32 = 8;

/// What a row does.
#[derive(Clone, Debug, PartialEq)]
enum Act {
    Go(String),
    TurnTheme,
    ShowKeys,
}

/// A row of the list.
#[derive(Clone, Debug, PartialEq)]
struct Row {
    group: &'static str,
    status: Option<&'static str>,
    icon: &'static str,
    text: String,
    note: String,
    end: String,
    act: Act,
}

fn commands() -> [Row; 10] {
    let row = |icon, text: &str, end: &str, act| Row {
        group: "Commands",
        status: None,
        icon,
        text: text.to_owned(),
        note: String::new(),
        end: end.to_owned(),
        act,
    };
    [
        row("overview", "Open the overview", "g o", Act::Go("/".into())),
        row("runs", "Open runs", "g r", Act::Go("/runs".into())),
        row("compare", "Compare runs", "g c", Act::Go("/compare".into())),
        row("review", "Review what waits for you", "g v", Act::Go("/review".into())),
        row("plus", "Launch a new run", "g l", Act::Go("/launch".into())),
        row("sleep", "Nights of Sleep: run one, review one", "g n", Act::Go("/sleep".into())),
        row("settings", "Models and their keys", "g s", Act::Go("/settings/models".into())),
        row("settings", "Prices of models", "", Act::Go("/settings/prices".into())),
        row("moon", "Change the theme", "Shift T", Act::TurnTheme),
        row("help", "Show keys", "?", Act::ShowKeys),
    ]
}

fn run_row(run: &RunSummary) -> Row {
    let look = Look::from(run.status);
    Row {
        group: "Runs",
        status: Some(look.status),
        icon: look.icon,
        text: run.name.clone(),
        note: look.word.to_owned(),
        end: fmt::score(run.best_score),
        act: Act::Go(format!("/runs/{}", run.id)),
    }
}

/// What a search found, and what was typed when it began.
#[derive(Clone, Debug, Default)]
struct Found {
    typed: String,
    runs: Vec<RunSummary>,
}

/// Runs first, then the commands that contain all typed words. Runs of an earlier search are sifted here until the
/// new one answers: Enter must never open what was not typed.
fn rows(typed: &str, found: &Found) -> Vec<Row> {
    let words: Vec<String> = typed.split_whitespace().map(lower).collect();
    let fits = |text: &str| words.iter().all(|word| lower(text).contains(word.as_str()));
    let is_answer = found.typed == typed;
    let runs = found.runs.iter().filter(|run| is_answer || fits(&run.name)).map(run_row);
    runs.chain(commands().into_iter().filter(|row| fits(&row.text))).collect()
}

#[component]
pub(super) fn Palette() -> impl IntoView {
    let overlay = use_overlay();
    let typed = RwSignal::new(String::new());
    let chosen = RwSignal::new(0_usize);
    let found = Load::new(move || find_runs(typed.get()));
    let list = Memo::new(move || {
        typed.with(|typed| rows(typed, &found.get().and_then(Result::ok).unwrap_or_default()))
    });
    let pick = picker(overlay, use_theme());
    let pick_key = pick.clone();
    let on_key = move |event: KeyboardEvent| {
        let last = list.with_untracked(Vec::len).saturating_sub(1);
        match event.key().as_str() {
            "ArrowDown" => chosen.update(|at| *at = (*at + 1).min(last)),
            "ArrowUp" => chosen.update(|at| *at = at.saturating_sub(1)),
            "Enter" => {
                if let Some(row) =
                    list.with_untracked(|rows| rows.get(chosen.get_untracked()).cloned())
                {
                    pick_key(row.act);
                }
            }
            _ => return,
        }
        event.prevent_default();
    };
    let on_input = move |value: String| {
        chosen.set(0);
        typed.set(value);
    };
    let dialog = NodeRef::<html::Dialog>::new();
    effect(move || {
        if let Some(dialog) = dialog.get() {
            // Fails only when the element has left the page.
            let _ = dialog.show_modal();
        }
    });
    view! {
        <dialog
            class="dialog palette"
            aria-label="Search or run a command"
            node_ref=dialog
            on:close=handler(move |_| overlay.close())
        >
            <label class="palette__input">
                <Icon name="search"/>
                <input
                    type="text"
                    role="combobox"
                    autofocus=true
                    autocomplete="off"
                    aria-label="Search or run a command"
                    aria-expanded="true"
                    aria-controls="palette-list"
                    aria-activedescendant=move || format!("palette-{}", chosen.get())
                    on:input:target=move |event| on_input(event.target().value())
                    on:keydown=handler(on_key)
                />
                <kbd>"Esc"</kbd>
            </label>
            <PaletteList list=list chosen=chosen on_pick=Callback::new(pick)/>
            <div class="palette__foot">
                <span><kbd>"↑"</kbd> " " <kbd>"↓"</kbd> " move"</span>
                <span><kbd>"Enter"</kbd> " open"</span>
            </div>
        </dialog>
    }
}

#[component]
fn PaletteList(
    list: Memo<Vec<Row>>,
    chosen: RwSignal<usize>,
    on_pick: Callback<Act>,
) -> impl IntoView {
    let row = move |(at, row): (usize, Row), group: Option<&'static str>| {
        let act = row.act.clone();
        view! {
            {group.map(|group| view! { <li class="palette__group" role="presentation">{group}</li> }.into_any())}
            <li
                class="palette__row"
                id=format!("palette-{at}")
                role="option"
                data-status=row.status
                aria-selected=move || if chosen.get() == at { "true" } else { "false" }
                on:pointermove=handler(move |_| {
                    if chosen.get_untracked() != at {
                        chosen.set(at);
                    }
                })
                on:click=handler(move |_| on_pick.run(act.clone()))
            >
                <Icon name=row.icon/>
                <span class="truncate">{row.text} <span class="muted">{row.note}</span></span>
                <span class="palette__end">{row.end}</span>
            </li>
        }
    };
    let all = move || -> Vec<AnyView> {
        let mut group = "";
        let with_head = |(at, next): (usize, Row)| {
            let head = (next.group != group).then_some(next.group);
            group = next.group;
            row((at, next), head)
        };
        list.get().into_iter().enumerate().map(with_head).collect_any()
    };
    view! {
        <ul role="listbox" id="palette-list" aria-label="Results">
            {move || all()}
            {move || list.with(Vec::is_empty).then(|| view! {
                <li class="palette__group" role="presentation">"Nothing has this name"</li>
            }
            .into_any())}
        </ul>
    }
}

fn picker(
    overlay: OverlayState,
    theme: ThemeState,
) -> impl Fn(Act) + Clone + Send + Sync + 'static {
    let navigate = use_navigate();
    move |act: Act| {
        overlay.close();
        match act {
            Act::Go(href) => navigate(&href, leptos_router::NavigateOptions::default()),
            Act::TurnTheme => theme.turn(),
            Act::ShowKeys => overlay.open(Overlay::Keys),
        }
    }
}

/// The newest runs whose name contains what was typed. A failed search shows no runs: the commands still work.
async fn find_runs(typed: String) -> ApiResult<Found> {
    TimeoutFuture::new(if typed.is_empty() { 0 } else { 120 }).await;
    let q = Some(typed.trim().to_owned()).filter(|q| !q.is_empty());
    let query = RunQuery { q, limit: Some(MAX_RUNS), ..RunQuery::default() };
    let runs = api::runs(&query).await.map(|page| page.items).unwrap_or_default();
    Ok(Found { typed, runs })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::components::run_cells::tests::run;
    use skillopt_domain::run::RunStatus;

    #[test]
    fn commands_are_found_by_any_of_their_words() {
        let found = rows("run new", &Found::default());
        assert_eq!(
            found.iter().map(|row| row.text.as_str()).collect::<Vec<_>>(),
            ["Launch a new run"]
        );
        assert_eq!(rows("", &Found::default()).len(), commands().len());
    }

    #[test]
    fn runs_of_an_earlier_search_stay_only_where_they_fit() {
        let found = Found { typed: String::new(), runs: vec![run(1, RunStatus::Done)] };
        assert_eq!(rows("", &found)[0].text, "run-1");
        assert_eq!(rows("RUN-1", &found)[0].text, "run-1");
        assert_eq!(rows("launch", &found)[0].text, "Launch a new run");
        let answer = Found { typed: "simulated".to_owned(), ..found };
        assert_eq!(rows("simulated", &answer)[0].text, "run-1");
    }
}
