//! The Skill tab: all versions, any two of them compared, one of them adopted. Which ones stands in the URL.

use super::adopt::AdoptButton;
use super::query::{QueryValue, query_value};
use super::receipts::Receipts;
use super::skill_text::SkillTexts;
use super::state::RunState;
use super::versions::{VersionChoice, VersionPickers, VersionsList};
use crate::api;
use crate::components::dynamic::{CollectAny, when};
use crate::components::handler::handler;
use crate::components::icon::Icon;
use crate::components::numbers::Delta;
use crate::components::states::Empty;
use crate::fmt;
use crate::state::load::Load;
use crate::state::memo::Memo;
use leptos::prelude::*;
use skillopt_domain::view::SkillVersion;
use std::fmt::Display;
use std::str::FromStr;

/// How the text is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SkillView {
    Rendered,
    Raw,
    Unified,
    SideBySide,
    Blame,
}

impl SkillView {
    pub(super) const ALL: [Self; 5] =
        [Self::Rendered, Self::Raw, Self::Unified, Self::SideBySide, Self::Blame];

    pub(super) fn label(self) -> &'static str {
        match self {
            Self::Rendered => "Rendered",
            Self::Raw => "Raw",
            Self::Unified => "Unified",
            Self::SideBySide => "Side by side",
            Self::Blame => "Blame",
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Rendered => "rendered",
            Self::Raw => "raw",
            Self::Unified => "unified",
            Self::SideBySide => "split",
            Self::Blame => "blame",
        }
    }

    /// Two versions are shown.
    pub(super) fn is_diff(self) -> bool {
        matches!(self, Self::Unified | Self::SideBySide)
    }
}

impl Display for SkillView {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.word())
    }
}

impl FromStr for SkillView {
    type Err = ();
    fn from_str(word: &str) -> Result<Self, ()> {
        Self::ALL.into_iter().find(|view| view.word() == word).ok_or(())
    }
}

#[component]
pub(super) fn SkillTab(run: RunState) -> impl IntoView {
    let versions = run.versions();
    let has_versions = Memo::new(move || versions.with(|versions| !versions.is_empty()));
    when(
        move || has_versions.get(),
        move || view! { <Versions run versions/> }.into_any(),
        || {
            view! { <Empty title="No skill yet" text="The initial skill appears here when the run has read it."/> }.into_any()
        },
    )
}

#[component]
fn Versions(run: RunState, versions: Memo<Vec<SkillVersion>>) -> impl IntoView {
    let best =
        Memo::new(move || run.view.with(|view| view.best.as_ref().map_or(0, |best| best.version)));
    let asked = VersionChoice { old: query_value("old"), new: query_value("new") };
    let old = Memo::new(move || found(&versions.get(), asked.old.get().unwrap_or(0)));
    let new = Memo::new(move || found(&versions.get(), asked.new.get().unwrap_or(best.get())));
    let view_as = query_value::<SkillView>("view");
    let slow = Memo::new(move || {
        run.view.with(|view| {
            let kept = view.slow_updates.iter().filter(|update| update.action.is_accepted());
            kept.map(|update| (update.version, update.epoch)).collect::<Vec<_>>()
        })
    });
    let receipts = Load::new(move || {
        let id = run.id();
        async move { api::adoptions(&id).await }
    });
    let on_written = Callback::new(move |()| receipts.again());
    view! {
        <div class="split" data-side="start" data-width="versions">
            <VersionsList versions best slow choice=asked old new receipts/>
            <div class="stack" data-gap="md">
                <VersionPickers versions choice=asked old new/>
                <Head run old new view_as on_written/>
                <Receipts run receipts/>
                <SkillTexts run old new view_as=Memo::new(move || shown_as(view_as, old.get(), new.get()))/>
            </div>
        </div>
    }
}

/// A difference where there are two texts, else the text.
fn shown_as(
    asked: QueryValue<SkillView>,
    old: Option<SkillVersion>,
    new: Option<SkillVersion>,
) -> SkillView {
    let is_one = old.map(|old| old.version) == new.map(|new| new.version);
    asked.get().unwrap_or(if is_one { SkillView::Rendered } else { SkillView::SideBySide })
}

/// The version with this number, else the last one.
fn found(versions: &[SkillVersion], number: u32) -> Option<SkillVersion> {
    versions.iter().find(|version| version.version == number).or(versions.last()).cloned()
}

#[component]
fn Head(
    run: RunState,
    old: Memo<Option<SkillVersion>>,
    new: Memo<Option<SkillVersion>>,
    view_as: QueryValue<SkillView>,
    on_written: Callback<()>,
) -> impl IntoView {
    let now = move || shown_as(view_as, old.get(), new.get());
    let words = move || {
        let (old, new) = (old.get()?, new.get()?);
        let is_diff = now().is_diff();
        let title = if is_diff {
            format!("v{} → v{}", old.version, new.version)
        } else {
            format!("v{}", new.version)
        };
        let scores = if is_diff {
            format!("{} → {}, {}", fmt::score(old.score), fmt::score(new.score), fmt::n(new.n))
        } else {
            format!("{}, {}", fmt::score(new.score), fmt::n(new.n))
        };
        let tokens = if is_diff {
            format!(
                "{} → {} tokens",
                fmt::count(u64::from(old.tokens)),
                fmt::count(u64::from(new.tokens))
            )
        } else {
            format!("{} tokens", fmt::count(u64::from(new.tokens)))
        };
        let delta = is_diff.then(|| view! { <Delta before=old.score after=new.score/> }.into_any());
        let words = view! { <h2>{title}</h2><span class="second">{scores}</span>{delta}<span class="muted">{tokens}</span> };
        Some(words.into_any())
    };
    view! {
        <div class="row" data-gap="wide">
            {move || words()}
            <div class="section__end">
                <ViewSwitch now=Memo::new(now) view_as/>
                <ForkVersion run version=new/>
                <AdoptButton run version=new on_written/>
            </div>
        </div>
    }
}

/// A new run that starts from the version.
#[component]
fn ForkVersion(run: RunState, version: Memo<Option<SkillVersion>>) -> impl IntoView {
    let href = move || {
        let number = version.with(|version| version.as_ref().map_or(0, |version| version.version));
        format!("/launch?fork={}&version={number}", run.id())
    };
    view! { <a class="button" data-size="sm" href=move || href() title="A new run that starts from this version"><Icon name="fork"/>"Fork"</a> }
}

#[component]
fn ViewSwitch(now: Memo<SkillView>, view_as: QueryValue<SkillView>) -> impl IntoView {
    let buttons = SkillView::ALL.map(|one| {
        let narrow = if one == SkillView::SideBySide { "hide-narrow" } else { "" };
        view! {
            <button class=narrow type="button" aria-pressed=move || (now.get() == one).to_string() on:click=handler(move |_| view_as.set(Some(one)))>
                {one.label()}
            </button>
        }
    });
    view! { <div class="segmented" role="group" aria-label="View">{buttons.into_iter().collect_any()}</div> }
}

#[cfg(test)]
mod tests {
    use super::*;
    use skillopt_domain::hash::Sha256Hex;

    #[test]
    fn every_view_is_found_by_its_word() {
        for view in SkillView::ALL {
            assert_eq!(view.to_string().parse(), Ok(view));
        }
        assert!("other".parse::<SkillView>().is_err());
    }

    #[test]
    fn a_version_that_is_not_there_is_the_last_one() {
        let version = |version| SkillVersion {
            version,
            step: 0,
            skill: Sha256Hex::of("x"),
            score: None,
            n: None,
            tokens: 1,
        };
        let all = [version(0), version(1)];
        assert_eq!(found(&all, 7).map(|version| version.version), Some(1));
        assert_eq!(found(&all, 0).map(|version| version.version), Some(0));
        assert_eq!(found(&[], 0), None);
    }
}
