//! The marks of a chart, small enough for a line of text.

use super::path::{cross, diamond, triangle};
use leptos::prelude::*;
use skillopt_domain::epoch::EpochAction;
use skillopt_domain::verdict::Action;

/// The mark of a verdict, small enough for a line of text.
pub(crate) fn mark_key(action: Action) -> AnyView {
    match action {
        Action::Accept | Action::AcceptNewBest => view! {
            <svg width="12" height="12" aria-hidden="true"><path class="mark-accept" d=triangle(6.0, 6.0, 4.5)/></svg>
        }
        .into_any(),
        Action::Reject => view! {
            <svg width="12" height="12" aria-hidden="true"><path class="mark-reject" d=cross(6.0, 6.0, 3.2)/></svg>
        }
        .into_any(),
        Action::ForceAccept
        | Action::Inconclusive
        | Action::SkipNoPatches
        | Action::SkipNoChange
        | Action::SkipNoRewrite => view! {
            <svg width="12" height="12" aria-hidden="true"><path class="mark-forced" d=diamond(6.0, 6.0, 4.5)/></svg>
        }
        .into_any(),
    }
}

/// The class of a slow update's diamond.
pub(crate) fn slow_class(action: EpochAction) -> &'static str {
    match action {
        EpochAction::AcceptNewBest | EpochAction::Accept => "mark-accept",
        EpochAction::ForceAccept | EpochAction::Inconclusive => "mark-forced",
        EpochAction::Reject
        | EpochAction::NoContent
        | EpochAction::NoChange
        | EpochAction::WriteMetaSkill => "mark-dropped",
    }
}

/// The mark of a slow update.
pub(crate) fn slow_key(action: EpochAction) -> AnyView {
    view! { <svg width="12" height="12" aria-hidden="true"><path class=slow_class(action) d=diamond(6.0, 6.0, 5.0)/></svg> }
        .into_any()
}

/// A piece of a line.
pub(crate) fn line_key(series: &'static str) -> AnyView {
    view! { <svg width="14" height="8" aria-hidden="true"><path class="chart__line" data-series=series d="M0 4h14"/></svg> }
        .into_any()
}
