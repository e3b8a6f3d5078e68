//! What speaks against a comparison, and runs that are not there.

use crate::components::dynamic::{CollectAny, nothing};
use crate::components::icon::Icon;
use leptos::prelude::*;
use skillopt_domain::compare::{Caution, CautionKind};

pub(super) fn notes(cautions: Vec<Caution>, missing: &[String]) -> AnyView {
    if missing.is_empty() && cautions.is_empty() {
        return nothing();
    }
    let missing = (!missing.is_empty()).then(|| {
        let text = format!("Not there, and left out: {}.", missing.join(", "));
        callout("error", "error", "Some runs were not found.", text)
    });
    let cautions = cautions.into_iter().map(|caution| {
        let (status, icon) = match caution.kind {
            CautionKind::Unfinished => ("idle", "clock"),
            _ => ("warning", "warning"),
        };
        callout(status, icon, title(caution.kind), caution.message)
    });
    view! { <div class="stack run-detail">{missing}{cautions.collect_any()}</div> }.into_any()
}

fn title(kind: CautionKind) -> &'static str {
    match kind {
        CautionKind::Benchmark => "Other benchmarks.",
        CautionKind::Data => "Other data.",
        CautionKind::Splits => "Other splits.",
        CautionKind::Simulated => "Simulated beside real models.",
        CautionKind::Metric => "Other metrics.",
        CautionKind::Target => "Other targets.",
        CautionKind::Unfinished => "Not finished.",
    }
}

fn callout(status: &'static str, icon: &'static str, title: &'static str, text: String) -> AnyView {
    view! {
        <div class="callout" data-status=status>
            <Icon name=icon/>
            <div><span class="callout__title">{title}</span>" "<span class="callout__text">{text}</span></div>
        </div>
    }
    .into_any()
}
