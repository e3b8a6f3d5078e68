//! What the latest night read, source by source.

use crate::api;
use crate::components::dynamic::{dynamic, nothing};
use crate::components::loaded::{Frame, loaded};
use crate::components::night_cells::{night_href, night_name};
use crate::components::night_sources::SourcesTable;
use crate::state::load::Load;
use crate::state::memo::Memo;
use crate::state::signal::RwSignal;
use leptos::prelude::*;
use skillopt_domain::api::{NightDetail, NightItem};
use skillopt_domain::ids::NightId;
use skillopt_domain::night::NightStatus;

#[component]
pub(super) fn LatestSources(nights: RwSignal<Vec<NightItem>>) -> impl IntoView {
    let latest = Memo::new(move || nights.with(|nights| latest_over(nights)));
    dynamic(move || match latest.get() {
        Some(id) => view! { <Sources id/> }.into_any(),
        None => nothing(),
    })
}

/// The newest night that is over: its harvest is whole.
fn latest_over(nights: &[NightItem]) -> Option<NightId> {
    nights.iter().find(|night| night.status != NightStatus::Running).map(|night| night.id.clone())
}

#[component]
fn Sources(id: NightId) -> impl IntoView {
    let detail = Load::new(move || {
        let id = id.clone();
        async move { api::night(&id).await }
    });
    let frame = Frame::new("The sources of the latest night could not be loaded.");
    loaded(detail, frame, |detail: &NightDetail| {
        let of = night_name(&detail.night);
        let href = night_href(&detail.night.id);
        let table = if detail.sources.is_empty() {
            let words =
                "This night harvested nothing: it ended before, or its tasks came from a file.";
            view! { <p class="muted">{words}</p> }.into_any()
        } else {
            view! { <SourcesTable sources=detail.sources.clone()/> }.into_any()
        };
        view! {
            <section class="section" aria-labelledby="sources-title">
                <div class="section__head">
                    <h2 id="sources-title">"Sources"</h2>
                    <span>"as the latest night read them"</span>
                    <div class="section__end"><a class="link" href=href>{of}</a></div>
                </div>
                {table}
            </section>
        }
        .into_any()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::components::night_cells::tests::night;

    #[test]
    fn a_night_that_runs_has_no_whole_harvest_yet() {
        assert_eq!(latest_over(&[night(NightStatus::Running)]), None);
        let nights = [night(NightStatus::Running), night(NightStatus::Failed)];
        assert_eq!(latest_over(&nights), Some(nights[1].id.clone()));
    }
}
