//! The best skills of any two of the runs, as a diff that the server makes.

use crate::api;
use crate::components::diff_view::{DiffLayout, DiffView};
use crate::components::dynamic::{CollectAny, when};
use crate::components::handler::handler;
use crate::components::icon::Icon;
use crate::components::loaded::{Frame, loaded};
use crate::fmt;
use crate::state::load::Load;
use crate::state::memo::Memo;
use crate::state::query::{QueryValue, query_value};
use leptos::prelude::*;
use skillopt_domain::compare::{ComparedRun, SkillPair};
use skillopt_domain::ids::RunId;

#[component]
pub(super) fn Skills(
    runs: StoredValue<Vec<ComparedRun>>,
    names: StoredValue<Vec<String>>,
) -> impl IntoView {
    let asked = [query_value::<String>("left"), query_value::<String>("right")];
    let place = move |asked: QueryValue<String>, default: usize| {
        let wanted = asked.get();
        runs.with_value(|runs| {
            let found =
                runs.iter().position(|run| Some(run.summary.id.as_str()) == wanted.as_deref());
            found.unwrap_or(default.min(runs.len().saturating_sub(1)))
        })
    };
    let left = Memo::new(move || place(asked[0], 0));
    let right = Memo::new(move || place(asked[1], 1));
    let unified = query_value::<bool>("unified");
    let is_unified = Memo::new(move || unified.get().unwrap_or(false));
    let has_skills = move |at: usize| {
        runs.with_value(|runs| runs.get(at).is_some_and(|run| run.best_skill.is_some()))
    };
    view! {
        <section class="section" aria-labelledby="skills-title">
            <div class="section__head">
                <h2 id="skills-title">"Best skills"</h2>
                <div class="section__end">
                    <div class="segmented hide-narrow" role="group" aria-label="Layout">
                        <button type="button" aria-pressed=move || (!is_unified.get()).to_string() on:click=handler(move |_| unified.set(None))>"Side by side"</button>
                        <button type="button" aria-pressed=move || is_unified.get().to_string() on:click=handler(move |_| unified.set(Some(true)))>"Unified"</button>
                    </div>
                </div>
            </div>
            <div class="compare__pick">
                <Choice label="From" runs names at=left asked=asked[0]/>
                <Icon name="arrow"/>
                <Choice label="To" runs names at=right asked=asked[1]/>
            </div>
            {when(
                move || has_skills(left.get()) && has_skills(right.get()),
                move || view! { <Texts runs left right is_unified/> }.into_any(),
                || view! { <p class="second">"One of the two has no skill yet."</p> }.into_any(),
            )}
        </section>
    }
}

#[component]
fn Choice(
    label: &'static str,
    runs: StoredValue<Vec<ComparedRun>>,
    names: StoredValue<Vec<String>>,
    at: Memo<usize>,
    asked: QueryValue<String>,
) -> impl IntoView {
    let options = runs.with_value(|runs| {
        let names = names.get_value();
        let option = |(at, run): (usize, &ComparedRun)| {
            let size = run
                .best_tokens
                .map_or(String::new(), |n| format!(", {} tokens", fmt::count(n.into())));
            let version = run
                .best_version
                .map_or_else(|| "no skill".to_owned(), |number| format!("v{number}"));
            let words = format!("{}: {version}{size}", names[at]);
            view! { <option value=run.summary.id.to_string()>{words}</option> }
        };
        runs.iter().enumerate().map(option).collect_any()
    });
    let chosen = move || {
        runs.with_value(|runs| runs.get(at.get()).map(|run| run.summary.id.to_string()))
            .unwrap_or_default()
    };
    view! {
        <label>
            <span class="second">{label}</span>
            <span class="input">
                <select aria-label=label prop:value=move || chosen() on:change=handler(move |event| asked.set(Some(event_target_value(&event))))>
                    {options}
                </select>
                <Icon name="down"/>
            </span>
        </label>
    }
}

#[component]
fn Texts(
    runs: StoredValue<Vec<ComparedRun>>,
    left: Memo<usize>,
    right: Memo<usize>,
    is_unified: Memo<bool>,
) -> impl IntoView {
    let id = move |at: usize| -> Option<RunId> {
        runs.with_value(|runs| runs.get(at).map(|run| run.summary.id.clone()))
    };
    let pair = Load::new(move || {
        let ids = id(left.get()).zip(id(right.get()));
        async move {
            match ids {
                Some((left, right)) => api::compare_skills(&left, &right).await,
                None => Err(api::ApiError::not_found()),
            }
        }
    });
    loaded(pair, Frame::new("The skills could not be compared."), move |pair: &SkillPair| {
        if pair.is_same {
            return view! { <p class="second">"Both texts are the same, byte for byte."</p> }
                .into_any();
        }
        let diff = pair.diff.clone();
        let words = format!(
            "{} added, {} removed",
            fmt::plural(diff.n_added.into(), "line", "lines"),
            fmt::plural(diff.n_removed.into(), "line", "lines")
        );
        let layout = if is_unified.get() { DiffLayout::Unified } else { DiffLayout::SideBySide };
        view! {
            <div class="stack">
                <p class="small muted">{words}</p>
                <div class="panel scroll-x" tabindex="0" role="region" aria-label="Difference of the skills">
                    <DiffView diff layout label="Best skills of two runs"/>
                </div>
            </div>
        }
        .into_any()
    })
}
