//! The Epochs tab: what happened between epochs, newest first, and the last look at last and best skill.

use super::epoch_story::epoch_story;
use super::epoch_words::{EpochEnd, epoch_ends, final_words, has_epochs};
use super::state::RunState;
use super::story_parts::{verdict_box, versions_link};
use super::tab::RunTab;
use super::trajectories::purpose_href;
use crate::components::dynamic::{Item, dynamic, each, nothing, when};
use crate::components::look::Look;
use crate::components::states::Empty;
use crate::fmt;
use crate::state::memo::Memo;
use leptos::prelude::*;
use skillopt_domain::epoch::FinalSelection;
use skillopt_domain::event::Measured;
use skillopt_domain::hash::Sha256Hex;
use skillopt_domain::view::RunView;

#[component]
pub(super) fn EpochsTab(run: RunState) -> impl IntoView {
    let ends = Memo::new(move || run.view.with(epoch_ends));
    let item = move |end: &EpochEnd| {
        let end = end.clone();
        let has = (end.comparison.is_some(), end.update.is_some(), end.memory.is_some());
        Item::new(format!("{} {has:?}", end.epoch), move || epoch_story(run, &end))
    };
    let full = move || {
        view! {
            <LastLook run/>
            {each(move || ends.with(|ends| ends.iter().map(item).collect()))}
        }
        .into_any()
    };
    when(move || run.view.with(has_epochs), full, move || view! { <Nothing run/> }.into_any())
}

#[component]
fn Nothing(run: RunState) -> impl IntoView {
    view! {
        <Empty
            title="Nothing between epochs"
            text="Two epochs are compared when optimizer.use_slow_update: true (guidance is written into the skill) or optimizer.use_meta_skill: true (the optimizer keeps a memory) stands in the config, after the second epoch and each later one."
        >
            <a class="button" href=run.href(RunTab::Config)>"Config of this run"</a>
        </Empty>
    }
}

/// Last against best skill, at the end of a run in which they differ.
#[component]
fn LastLook(run: RunState) -> impl IntoView {
    let seen = Memo::new(move || run.view.with(LastSeen::of));
    dynamic(move || {
        seen.with(|seen| seen.as_ref().map_or_else(nothing, |seen| last_look(run, seen)))
    })
}

/// What the last look rests on.
#[derive(Clone, Debug, PartialEq)]
struct LastSeen {
    selection: FinalSelection,
    last: Option<u32>,
    best: Option<u32>,
    tests: Vec<(&'static str, Measured)>,
}

impl LastSeen {
    fn of(view: &RunView) -> Option<Self> {
        let selection = view.final_selection.clone()?;
        let number = |skill: &Sha256Hex| {
            view.versions.iter().rev().find(|one| one.skill == *skill).map(|one| one.version)
        };
        let (last, best) = (number(&selection.last), number(&selection.best));
        let tests =
            [("initial", &view.test_initial), ("best", &view.test_best), ("last", &view.test_last)];
        let tests = tests
            .into_iter()
            .filter_map(|(name, measured)| Some((name, measured.clone()?)))
            .collect();
        Some(Self { selection, last, best, tests })
    }

    fn test_words(&self) -> Option<String> {
        let one = |(name, measured): &(&str, Measured)| {
            let n = measured.score.map(|score| score.n);
            format!("{name} {} ({})", fmt::score(measured.gate_score), fmt::n(n))
        };
        let all: Vec<String> = self.tests.iter().map(one).collect();
        (!all.is_empty()).then(|| all.join(", "))
    }
}

fn last_look(run: RunState, seen: &LastSeen) -> AnyView {
    let said = final_words(&seen.selection);
    let (status, icon) =
        if seen.selection.promoted { ("accepted", "accepted") } else { ("skipped", "noimp") };
    let look = Look { status, icon, word: "" };
    let versions = seen.best.zip(seen.last).filter(|(best, last)| best != last);
    let link = versions.map(|(best, last)| versions_link(run, best, last));
    let tests = seen.test_words().map(|words| {
        let href = purpose_href(run, "test", None, None);
        view! { <p class="verdict__note">"On the test split: "<a class="link" href=href>{words}</a></p> }
            .into_any()
    });
    view! {
        <section class="section" data-space="none" aria-labelledby="last-look">
            <div class="section__head"><h2 id="last-look">"At the end"</h2><span>"last against best skill"</span></div>
            {verdict_box(None, look, said, tests, link)}
        </section>
    }
    .into_any()
}
