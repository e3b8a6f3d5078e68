//! What a night shows in one line, the same wherever nights are listed.

use super::look::{Look, night_stage_name};
use super::status::{SimulatedBadge, Status};
use crate::api::encode;
use crate::fmt;
use leptos::prelude::*;
use skillopt_domain::api::{NightDecision, NightItem};
use skillopt_domain::ids::NightId;
use skillopt_domain::night::NightStatus;
use skillopt_domain::spend::Spend;

/// The page of a night.
pub(crate) fn night_href(id: &NightId) -> String {
    format!("/sleep/nights/{id}")
}

/// The prompts of a project that wait: those of its dry run, or those of its night.
pub(crate) fn inbox_href(project: &str, is_dry: bool) -> String {
    format!("/sleep/handoff?project={}&dry={is_dry}", encode(project))
}

/// The curated tasks of a project.
pub(crate) fn tasks_href(project: &str) -> String {
    format!("/sleep/tasks?project={}", encode(project))
}

/// `Night 12`; a night without a number is told by its id.
pub(crate) fn night_name(night: &NightItem) -> String {
    match night.night {
        Some(number) => format!("Night {number}"),
        None if night.is_dry => format!("Dry run {}", night.id.short()),
        None => format!("Night {}", night.id.short()),
    }
}

/// The last folder of a path.
pub(crate) fn folder(path: &str) -> &str {
    let mut parts = path.split(['/', '\\']).filter(|part| !part.is_empty());
    parts.next_back().unwrap_or(path)
}

/// The document of a proposal, as a person calls it.
pub(crate) fn document_name(key: &str) -> String {
    match key {
        "skill" => "Skill".to_owned(),
        "memory" => "Memory".to_owned(),
        other => match other.strip_prefix("skill:") {
            Some(name) => format!("Skill {name}"),
            None => other.to_owned(),
        },
    }
}

/// The state in a few words: where a running night is, else the word of its state.
pub(crate) fn state_words(night: &NightItem) -> String {
    if night.status != NightStatus::Running {
        return Look::from(night.status).word.to_owned();
    }
    let stage = night_stage_name(night.progress.stage);
    match night.progress.total {
        Some(total) => format!("{stage} {} of {total}", night.progress.done),
        None => stage.to_owned(),
    }
}

/// What a person has to do; nothing where there is nothing to decide.
pub(crate) fn decision_look(night: &NightItem) -> Option<Look> {
    (night.decision != NightDecision::None).then(|| night.decision.into())
}

/// Money so far; unknown when some call had no price.
pub(crate) fn money_words(spend: &Spend) -> String {
    fmt::usd(spend.known_cost_usd_micros())
}

/// `12 calls, 4.1 k tokens`, for the title on hover.
pub(crate) fn spend_title(spend: &Spend) -> String {
    let reused = match spend.cached {
        0 => String::new(),
        n => format!(", {} reused", fmt::count(n)),
    };
    let calls = fmt::plural(spend.calls, "call", "calls");
    format!("{calls}, {} tokens{reused}", fmt::short(spend.tokens()))
}

/// The name as a link, with the mark of simulated models.
#[component]
pub(crate) fn NightName<'a>(night: &'a NightItem) -> impl IntoView + use<> {
    let is_dry = night.is_dry && night.night.is_some();
    view! {
        <span class="row" data-nowrap>
            <a class="table__main" href=night_href(&night.id)>{night_name(night)}</a>
            {is_dry.then(|| view! { <span class="badge">"dry run"</span> }.into_any())}
            {night.is_simulated.then(|| view! { <SimulatedBadge/> }.into_any())}
        </span>
    }
}

/// The state with its words, and why on hover.
#[component]
pub(crate) fn NightState<'a>(night: &'a NightItem) -> impl IntoView + use<> {
    view! { <Status look=night.status text=state_words(night) title=night.detail.clone()/> }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use skillopt_domain::night::{NightProgress, NightStage};

    /// A night with this state, everything else empty.
    pub(crate) fn night(status: NightStatus) -> NightItem {
        NightItem {
            id: NightId::parse("0190a0c2-7b1e-7c33-8f00-00000000000a").expect("is a night id"),
            project: "/home/u/work/billing-api".into(),
            night: Some(12),
            is_dry: false,
            is_simulated: false,
            models: "mock".into(),
            actor: "local".into(),
            status,
            detail: String::new(),
            decision: NightDecision::None,
            started_at_ms: 0,
            ended_at_ms: None,
            progress: NightProgress::start(),
            baseline_score: None,
            candidate_score: None,
            accepted: false,
        }
    }

    #[test]
    fn a_night_without_a_number_is_told_by_its_id() {
        let mut one = night(NightStatus::Rehearsed);
        assert_eq!(night_name(&one), "Night 12");
        (one.night, one.is_dry) = (None, true);
        assert_eq!(night_name(&one), "Dry run 0000000a");
    }

    #[test]
    fn a_running_night_tells_where_it_is() {
        let mut one = night(NightStatus::Running);
        assert_eq!(state_words(&one), "Harvest");
        one.progress.stage = NightStage::Replay;
        (one.progress.done, one.progress.total) = (3, Some(14));
        assert_eq!(state_words(&one), "Replay 3 of 14");
        assert_eq!(state_words(&night(NightStatus::Empty)), "no tasks");
    }

    #[test]
    fn a_project_is_told_by_its_last_folder() {
        assert_eq!(folder("/home/u/work/billing-api/"), "billing-api");
        assert_eq!(folder("C:\\work\\api"), "api");
        assert_eq!(folder("/"), "/");
    }

    #[test]
    fn unpriced_calls_make_the_money_unknown() {
        let spend = Spend { calls: 2, unpriced_calls: 1, ..Spend::default() };
        assert_eq!(money_words(&spend), "unknown");
        assert_eq!(spend_title(&spend), "2 calls, 0 tokens");
    }
}
