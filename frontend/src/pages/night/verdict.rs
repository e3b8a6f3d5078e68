//! The verdict of a night, said in words, with what must be known beside it.

use super::state::NightState;
use super::words::{verdict_notes, verdict_words};
use crate::components::dynamic::{CollectAny, dynamic, nothing};
use crate::components::icon::Icon;
use crate::components::look::Look;
use leptos::prelude::*;
use skillopt_domain::night::report::SleepReport;

#[component]
pub(super) fn Verdict(night: NightState) -> impl IntoView {
    let report = night.memo(|detail| detail.report.clone());
    dynamic(move || report.with(|report| report.as_ref().map_or_else(nothing, verdict)))
}

fn verdict(report: &SleepReport) -> AnyView {
    let look = Look::from(report.gate_action);
    let (bold, rest) = verdict_words(report);
    let notes = verdict_notes(report)
        .into_iter()
        .map(|note| view! { <p class="verdict__note">{note}</p> })
        .collect_any();
    view! {
        <section class="section" data-space="tight" aria-label="Verdict">
            <div class="verdict" data-status=look.status>
                <Icon name=look.icon/>
                <div>
                    <p class="verdict__words"><b>{bold}</b>{rest}</p>
                    {notes}
                </div>
            </div>
        </section>
    }
    .into_any()
}
