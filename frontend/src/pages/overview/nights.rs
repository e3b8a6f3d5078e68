//! Nights on the overview: what runs, what was, and what comes.

use crate::components::dynamic::CollectAny;
use crate::components::look::Look;
use crate::components::night_cells::{
    decision_look, folder, inbox_href, money_words, night_href, night_name, state_words,
};
use crate::components::status::{SimulatedBadge, Status};
use crate::fmt;
use crate::state::memo::Memo;
use crate::time;
use leptos::prelude::*;
use skillopt_domain::api::{NextNight, NightItem, NightsOverview};

#[component]
pub(super) fn Nights(nights: Memo<NightsOverview>) -> impl IntoView {
    let facts = move || nights.with(|nights| facts(nights));
    view! {
        <section aria-labelledby="nights-title">
            <div class="section__head">
                <h2 id="nights-title">"Nights"</h2>
                <div class="section__end"><a class="link" href="/sleep">"Sleep"</a></div>
            </div>
            <dl class="facts">{move || facts()}</dl>
        </section>
    }
}

fn facts(nights: &NightsOverview) -> Vec<AnyView> {
    let mut all = nights.running.iter().map(running).collect_any();
    all.extend(nights.asking.iter().map(asking));
    // One that asks stands above.
    let is_told = |last: &&NightItem| nights.asking.iter().any(|night| night.id == last.id);
    if let Some(last) = nights.last.as_ref().filter(|last| !is_told(last)) {
        all.push(over(last));
    }
    if let Some(next) = &nights.next {
        let words = next_words(next, &time::moment(next.at_ms));
        let title = time::full(next.at_ms);
        all.push(view! { <dt>"Next"</dt><dd><span title=title>{words}</span></dd> }.into_any());
    }
    all
}

fn running(night: &NightItem) -> AnyView {
    let label = format!("Now, {}", folder(&night.project));
    view! {
        <dt>{label}</dt>
        <dd><a href=night_href(&night.id)><Status look=night.status text=state_words(night)/></a></dd>
    }
    .into_any()
}

/// A night that cannot go on before a person has answered.
fn asking(night: &NightItem) -> AnyView {
    let label = format!("Asks you, {}", folder(&night.project));
    view! {
        <dt>{label}</dt>
        <dd><a class="link" href=inbox_href(&night.project, night.is_dry)>"Answer its prompts"</a></dd>
    }
    .into_any()
}

fn over(night: &NightItem) -> AnyView {
    let label = format!("Last, {}", folder(&night.project));
    let look = decision_look(night).unwrap_or_else(|| Look::from(night.status));
    let words = format!("{}, {}", night_name(night), look.word);
    let took = night.ended_at_ms.map(|end| {
        let took = fmt::duration(end.saturating_sub(night.started_at_ms));
        let words = format!(
            "{}, {took}, {}",
            time::moment(night.started_at_ms),
            money_words(&night.progress.spend)
        );
        view! { <dt>"Took"</dt><dd>{words}</dd> }.into_any()
    });
    view! {
        <dt>{label}</dt>
        <dd>
            {night.is_simulated.then(|| view! { <SimulatedBadge/> " " }.into_any())}
            <a href=night_href(&night.id)><Status look text=words/></a>
        </dd>
        {took}
    }
    .into_any()
}

/// `1 Dec 03:17, billing-api`, with the number of projects when there are several.
fn next_words(next: &NextNight, moment: &str) -> String {
    match next.n_projects {
        0 | 1 => format!("{moment}, {}", folder(&next.project)),
        n => format!("{moment}, {}, {n} projects", folder(&next.project)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_night_names_its_project_and_how_many_there_are() {
        let next = NextNight { at_ms: 1, project: "/w/billing-api".into(), n_projects: 1 };
        assert_eq!(next_words(&next, "03:17"), "03:17, billing-api");
        let several = NextNight { n_projects: 3, ..next };
        assert_eq!(next_words(&several, "03:17"), "03:17, billing-api, 3 projects");
    }
}
