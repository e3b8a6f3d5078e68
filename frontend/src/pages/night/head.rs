//! The head of a night: name, state, facts, the way to end it, and why it ended as it did.

use super::onward::ToPrompts;
use super::state::{NightState, is_running};
use crate::components::confirm::{Confirm, Question};
use crate::components::dynamic::{CollectAny, dynamic, nothing};
use crate::components::handler::handler;
use crate::components::icon::Icon;
use crate::components::look::Look;
use crate::components::night_cells::{
    decision_look, money_words, night_name, spend_title, state_words,
};
use crate::components::states::ErrorCallout;
use crate::components::status::{SimulatedBadge, Status, StatusForm};
use crate::components::when::When;
use crate::fmt;
use crate::state::signal::RwSignal;
use leptos::prelude::*;
use skillopt_domain::api::NightItem;
use skillopt_domain::night::NightStatus;

#[component]
pub(super) fn Head(night: NightState) -> impl IntoView {
    let item = night.memo(|detail| detail.night.clone());
    view! {
        <div class="page-head">
            <div class="page-head__main">
                {dynamic(move || item.with(|night| view! { <Title night/> <Facts night/> }.into_any()))}
            </div>
            <Actions night/>
        </div>
        <Detail night/>
        {move || night.failure.get().map(|(what, error)| view! {
            <div class="run-detail"><ErrorCallout what=what error/></div>
        }
        .into_any())}
    }
}

#[component]
fn Title<'a>(night: &'a NightItem) -> impl IntoView + use<> {
    let decision =
        decision_look(night).map(|look| view! { <Status look form=StatusForm::Pill/> }.into_any());
    let is_dry = night.is_dry && night.night.is_some();
    view! {
        <div class="page-head__title">
            <h1>{night_name(night)}</h1>
            <Status look=night.status form=StatusForm::Pill text=state_words(night)/>
            {decision}
            {is_dry.then(|| view! { <span class="badge">"dry run"</span> }.into_any())}
            {night.is_simulated.then(|| view! { <SimulatedBadge/> }.into_any())}
        </div>
    }
}

#[component]
fn Facts<'a>(night: &'a NightItem) -> impl IntoView + use<> {
    let took = night
        .ended_at_ms
        .map(|end| format!(", took {}", fmt::duration(end.saturating_sub(night.started_at_ms))));
    let spend = &night.progress.spend;
    view! {
        <div class="page-head__meta">
            <span>"Project "<span class="mono path">{night.project.clone()}</span></span>
            <span>"started "<When at_ms=night.started_at_ms/>" by "{night.actor.clone()}{took}</span>
            <span>{night.models.clone()}</span>
            <span>{money_words(spend)}" spent, "{spend_title(spend)}</span>
        </div>
    }
}

#[component]
fn Actions(night: NightState) -> impl IntoView {
    let question = RwSignal::new(None::<Question>);
    let can_cancel = night.memo(is_running);
    let ask = move |_| question.set(Some(cancel_question()));
    view! {
        <div class="page-head__actions">
            {move || can_cancel.get().then(|| view! {
                <button class="button" type="button" disabled=move || night.is_deciding.get() on:click=handler(ask)>
                    <Icon name="stop"/>"Cancel"
                </button>
            }
            .into_any())}
            <ToPrompts night/>
            <a class="button" href="/sleep"><Icon name="sleep"/>"All nights"</a>
        </div>
        <Confirm question on_go=Callback::new(move |()| night.cancel())/>
    }
}

fn cancel_question() -> Question {
    Question {
        title: "Cancel this night?".to_owned(),
        text: "It proposes nothing. What it has paid for is kept: the next night repeats no call that was answered.".to_owned(),
        keep: "Let it run",
        go: "Cancel night",
    }
}

/// Why the night is in its state, where there is something to say.
#[component]
fn Detail(night: NightState) -> impl IntoView {
    let told = night.memo(|detail| (detail.night.status, detail.night.detail.clone()));
    let notes = night
        .memo(|detail| detail.report.as_ref().map_or_else(Vec::new, |report| report.notes.clone()));
    dynamic(move || {
        let (status, detail) = told.get();
        let why = status_title(status).map(|title| callout(status, title, &detail));
        let notes = notes.get();
        if why.is_none() && notes.is_empty() {
            return nothing();
        }
        let items = notes.into_iter().map(|note| view! { <li>{note}</li> }).collect_any();
        let notes = (!items.is_empty())
            .then(|| view! { <ul class="night-notes second">{items}</ul> }.into_any());
        view! { <div class="stack run-detail">{why}{notes}</div> }.into_any()
    })
}

fn callout(status: NightStatus, title: &'static str, detail: &str) -> AnyView {
    let look = Look::from(status);
    view! {
        <div class="callout" data-status=look.status role="status">
            <Icon name=look.icon/>
            <div>
                <span class="callout__title">{title}</span>
                " "
                <span class="callout__text">{fmt::capital(detail)}</span>
                {(status == NightStatus::Empty).then(what_to_do)}
            </div>
        </div>
    }
    .into_any()
}

/// After a night that found nothing.
fn what_to_do() -> AnyView {
    view! {
        <p class="callout__text">
            "Work with your agent in this project, or read other sources, or look further back. "
            <a class="link" href="/sleep">"Begin another night"</a>
        </p>
    }
    .into_any()
}

/// What is said of a night that did not simply come to its end.
fn status_title(status: NightStatus) -> Option<&'static str> {
    match status {
        NightStatus::Running | NightStatus::Staged | NightStatus::Rehearsed => None,
        NightStatus::Empty => Some("There were no tasks to learn from."),
        NightStatus::Pending => Some("Its prompts wait for answers."),
        NightStatus::Failed => Some("The night failed."),
        NightStatus::Cancelled => Some("The night was cancelled."),
        NightStatus::Capped => Some("A cap was reached."),
        NightStatus::Interrupted => Some("The process that worked on it is gone."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_night_with_a_trouble_is_explained() {
        let told = NightStatus::ALL.into_iter().filter(|status| status_title(*status).is_some());
        assert_eq!(told.count(), NightStatus::ALL.len() - 3);
    }
}
