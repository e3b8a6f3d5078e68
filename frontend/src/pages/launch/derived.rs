//! Above and beside the form of a fork or a resume: which run it is about, from which version it starts, and what
//! differs.

use super::CheckSignal;
use super::draft::Draft;
use super::kept;
use super::source::{Purpose, Source, fork_draft};
use crate::components::differences::DifferenceList;
use crate::components::dynamic::{CollectAny, dynamic, nothing};
use crate::components::handler::handler;
use crate::components::icon::Icon;
use crate::fmt;
use crate::state::memo::Memo;
use leptos::prelude::*;
use skillopt_domain::config::{ChangeEffect, ConfigDifference};
use skillopt_domain::view::SkillVersion;

/// Which run, and the version from which a fork starts.
#[component]
pub(super) fn SourceCard(source: Source, draft: Draft) -> impl IntoView {
    let href = format!("/runs/{}", source.id);
    let (icon, words) = match draft.purpose {
        Purpose::Resume => (
            "play",
            "goes on from where it ended. Settings that are safe to change may change; all others need a fork.",
        ),
        Purpose::Fork | Purpose::New => (
            "fork",
            "is where this run starts from. What you change is listed under “Differences”.",
        ),
    };
    let cannot = (draft.purpose == Purpose::Resume && !source.is_resumable).then(|| {
        view! { <p class="text-error">"It cannot be resumed in its state."</p> }.into_any()
    });
    let versions = (draft.purpose == Purpose::Fork && !source.versions.is_empty()).then(|| {
        view! { <StartVersion versions=source.versions best=source.best draft/> }.into_any()
    });
    view! {
        <div class="callout launch-source" data-status="idle">
            <Icon name=icon/>
            <div class="stack" data-gap="sm">
                <p><a class="link medium" href=href>{source.name}</a>" "<span class="callout__text">{words}</span></p>
                {cannot}
                {versions}
            </div>
        </div>
    }
}

#[component]
fn StartVersion(versions: Vec<SkillVersion>, best: Option<u32>, draft: Draft) -> impl IntoView {
    let option = |version: SkillVersion| {
        let number = version.version;
        let mark = match (number, best == Some(number)) {
            (0, false) => ", the one that it began with",
            (0, true) => ", the one that it began with, best",
            (_, true) => ", best",
            (_, false) => "",
        };
        let words = format!("v{number}{mark} ({})", fmt::score(version.score));
        view! { <option value=number.to_string()>{words}</option> }
    };
    let chosen = move || draft.version.get().unwrap_or(0).to_string();
    let choose = move |event| {
        let number: Option<u32> = event_target_value(&event).parse().ok();
        // A version and another file at once would be two texts.
        draft.restore("env.skill_init");
        draft.version.set(number.filter(|number| *number > 0));
    };
    view! {
        <label class="row" data-gap="tight">
            <span class="second">"Initial skill"</span>
            <span class="input">
                <select prop:value=move || chosen() on:change=handler(choose)>
                    {versions.into_iter().map(option).collect_any()}
                </select>
                <Icon name="down"/>
            </span>
        </label>
    }
}

/// What differs from the other run, as the server says it.
#[component]
pub(super) fn Differences(draft: Draft, checking: CheckSignal) -> impl IntoView {
    let differences = Memo::new(move || checking.with(|now| now.answer.differences.clone()));
    dynamic(move || {
        if draft.purpose == Purpose::New {
            return nothing();
        }
        let all = differences.get();
        let n = u64::try_from(all.len()).unwrap_or_default();
        let count = (n > 0).then(|| view! { <span>{fmt::count(n)}</span> }.into_any());
        let words = summary(&all, draft.purpose);
        let fork = (draft.purpose == Purpose::Resume && has_results(&all))
            .then(|| view! { <ForkInstead draft/> }.into_any());
        view! {
            <section class="stack" aria-labelledby="differences-title">
                <div class="section__head"><h3 id="differences-title">"Differences"</h3>{count}</div>
                <p class="small second" role="status">{words}</p>
                <DifferenceList differences=all/>
                {fork}
            </section>
        }
        .into_any()
    })
}

/// Takes the draft along.
#[component]
fn ForkInstead(draft: Draft) -> impl IntoView {
    let Some(run) = draft.source.get_value() else { return nothing() };
    let href = format!("/launch?fork={run}");
    let take = move |_| kept::keep(&fork_draft(run.as_str()), &draft.request());
    view! {
        <a class="button" data-variant="primary" href=href on:click=handler(take)>
            <Icon name="fork"/>
            "Fork with these changes"
        </a>
    }
    .into_any()
}

pub(super) fn has_results(differences: &[ConfigDifference]) -> bool {
    differences.iter().any(|one| one.effect == ChangeEffect::Results)
}

fn summary(differences: &[ConfigDifference], purpose: Purpose) -> &'static str {
    match (purpose, differences.is_empty(), has_results(differences)) {
        (Purpose::Resume, true, _) => "Nothing differs: it goes on as it was.",
        (Purpose::Resume, false, false) => "All of it is safe: the run can go on with it.",
        (Purpose::Resume, false, true) => {
            "Some of it changes results: the run cannot go on with that, a fork can."
        }
        (_, true, _) => "Nothing differs yet: this would be the same run again.",
        (_, false, false) => "None of it changes results.",
        (_, false, true) => "Kept with the new run, so that a comparison can name it.",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resume_says_whether_it_can_take_what_differs() {
        let one = |effect| ConfigDifference {
            path: "a.b".into(),
            before: None,
            after: None,
            effect,
            why: String::new(),
        };
        assert!(summary(&[one(ChangeEffect::Safe)], Purpose::Resume).contains("can go on"));
        assert!(summary(&[one(ChangeEffect::Results)], Purpose::Resume).contains("a fork can"));
        assert!(summary(&[], Purpose::Fork).contains("the same run again"));
    }
}
