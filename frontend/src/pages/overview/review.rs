//! Proposals of nights that wait for a decision: the newest, and the way to all of them.

use crate::components::dynamic::CollectAny;
use crate::components::icon::Icon;
use crate::components::night_cells::{folder, night_name};
use crate::components::review_words::{edits_words, proposal_href, risks_words, scores_words};
use crate::components::status::SimulatedBadge;
use crate::fmt;
use crate::state::memo::Memo;
use leptos::prelude::*;
use skillopt_domain::api::{NightsOverview, ReviewItem};

#[component]
pub(super) fn Waiting(nights: Memo<NightsOverview>) -> impl IntoView {
    let rows = move || nights.with(|nights| nights.waiting.iter().map(row).collect_any());
    let all = move || nights.with(|nights| format!("All {}", fmt::count(nights.n_waiting)));
    view! {
        <section aria-labelledby="review-title" data-second>
            <div class="section__head">
                <h2 id="review-title">"Waiting for review"</h2>
                <div class="section__end"><a class="link" href="/review">{move || all()}</a></div>
            </div>
            {move || rows()}
        </section>
    }
}

fn row(item: &ReviewItem) -> AnyView {
    let night = &item.night;
    let edits = edits_words(&item.documents).map(|words| format!("{words}, "));
    let words = format!(
        "{}, {}{}",
        night_name(night),
        edits.unwrap_or_default(),
        risks_words(&item.documents)
    );
    let sign = fmt::delta(night.baseline_score, night.candidate_score).map(|delta| delta.sign);
    view! {
        <a class="list__row" href=proposal_href(item) data-status="warning">
            <Icon name="review"/>
            <span>
                <span class="list__title">{folder(&night.project).to_owned()}</span>
                {night.is_simulated.then(|| view! { " "<SimulatedBadge/> }.into_any())}
                <br/>
                <span class="list__sub">{words}</span>
            </span>
            <span class="list__end">
                <span class="delta" data-sign=sign>{scores_words(night.baseline_score, night.candidate_score)}</span>
                <br/>
                {fmt::n(item.n_tasks)}
            </span>
        </a>
    }
    .into_any()
}
