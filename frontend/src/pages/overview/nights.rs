//! Nights on the overview: proposals that wait for review, and the last night. Nothing without any night.

use crate::api;
use crate::components::dynamic::{CollectAny, dynamic, nothing};
use crate::components::icon::Icon;
use crate::components::look::Look;
use crate::components::night_cells::{decision_look, folder, night_href, night_name, state_words};
use crate::components::when::When;
use crate::fmt;
use crate::parts::part::part;
use crate::state::load::Load;
use leptos::prelude::*;
use skillopt_domain::api::{NightDecision, NightItem};

part!(overview_nights, (), |()| view! { <Nights/> }.into_any(), nothing);

/// Most that are shown.
const N_SHOWN: usize = 4;

#[component]
fn Nights() -> impl IntoView {
    let page = Load::new(|| async { api::sleep(None).await });
    // A failure shows on the page of Sleep; here it would only stand in the way of the runs.
    dynamic(move || match page.get() {
        Some(Ok(page)) if !page.nights.is_empty() => section(&page.nights),
        _ => nothing(),
    })
}

fn section(nights: &[NightItem]) -> AnyView {
    let rows = shown(nights).into_iter().map(row).collect_any();
    view! {
        <section class="section" aria-labelledby="nights-title">
            <div class="section__head">
                <h2 id="nights-title">"Sleep"</h2>
                <div class="section__end"><a class="link" href="/sleep">"All nights"</a></div>
            </div>
            {rows}
        </section>
    }
    .into_any()
}

/// Those that wait for review, then the last night if it is none of them.
fn shown(nights: &[NightItem]) -> Vec<&NightItem> {
    let is_waiting = |night: &&NightItem| night.decision == NightDecision::Waiting;
    let mut shown: Vec<_> = nights.iter().filter(is_waiting).take(N_SHOWN).collect();
    shown.extend(nights.first().filter(|night| !is_waiting(night)));
    shown
}

fn row(night: &NightItem) -> AnyView {
    let look = decision_look(night).unwrap_or_else(|| Look::from(night.status));
    let word = match decision_look(night) {
        Some(look) => look.word.to_owned(),
        None => state_words(night),
    };
    let simulated = if night.is_simulated { ", simulated" } else { "" };
    let end = if night.decision == NightDecision::Waiting { "Review" } else { "Open" };
    view! {
        <a class="list__row" href=night_href(&night.id) data-status=look.status>
            <Icon name=look.icon/>
            <span>
                <span class="list__title">{night_name(night)}" of "{folder(&night.project).to_owned()}" "{word}</span>
                <br/>
                <span class="list__sub">{score_words(night)}{simulated}", "<When at_ms=night.started_at_ms/></span>
            </span>
            <span class="list__end"><span class="link">{end}</span></span>
        </a>
    }
    .into_any()
}

fn score_words(night: &NightItem) -> String {
    match (night.baseline_score, night.candidate_score) {
        (None, None) => "not measured".to_owned(),
        (before, after) => format!("{} → {}", fmt::score(before), fmt::score(after)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::components::night_cells::tests::night;
    use skillopt_domain::night::NightStatus;

    #[test]
    fn what_waits_stands_before_the_last_night_and_nothing_stands_twice() {
        let waiting = NightItem { decision: NightDecision::Waiting, ..night(NightStatus::Staged) };
        let last = night(NightStatus::Empty);
        let both = [last.clone(), waiting.clone()];
        let decisions: Vec<_> = shown(&both).iter().map(|night| night.decision).collect();
        assert_eq!(decisions, [NightDecision::Waiting, NightDecision::None]);
        assert_eq!(shown(&[waiting, last]).len(), 1);
    }

    #[test]
    fn a_night_without_scores_is_not_told_as_zero() {
        assert_eq!(score_words(&night(NightStatus::Empty)), "not measured");
    }
}
