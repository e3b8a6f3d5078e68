//! A state: shape, word and colour together; and the mark of simulated models.

use super::icon::Icon;
use super::look::Look;
use leptos::prelude::*;

/// Plain in tables, a pill once in the head of a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum StatusForm {
    #[default]
    Plain,
    Pill,
}

#[component]
pub(crate) fn Status(
    #[prop(into)] look: Look,
    #[prop(optional)] form: StatusForm,
    /// Says more than the word, such as `step 15 of 24`.
    #[prop(optional, into)]
    text: Option<String>,
    /// Why, on hover.
    #[prop(optional, into)]
    title: Option<String>,
) -> impl IntoView {
    let variant = (form == StatusForm::Pill).then_some("pill");
    view! {
        <span class="status" data-status=look.status data-variant=variant title=title>
            <Icon name=look.icon/>
            {text.unwrap_or_else(|| look.word.to_owned())}
        </span>
    }
}

/// Stands wherever a number rests on a simulated model.
#[component]
pub(crate) fn SimulatedBadge() -> impl IntoView {
    view! {
        <span class="badge" data-kind="simulated" title="The models are simulations, no real model was called">
            "simulated"
        </span>
    }
}
