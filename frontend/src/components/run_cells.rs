//! What a run shows in one line, the same wherever runs are listed.

use super::look::Look;
use super::status::{SimulatedBadge, Status};
use crate::fmt;
use leptos::prelude::*;
use skillopt_domain::api::RunSummary;
use skillopt_domain::run::{Phase, RunStatus};

/// The page of a run.
pub(crate) fn run_href(run: &RunSummary) -> String {
    format!("/runs/{}", run.id)
}

/// Some number of the run rests on a simulated model.
pub(crate) fn is_simulated(run: &RunSummary) -> bool {
    run.target_simulated || run.optimizer_simulated
}

/// The state in a few words: where a live run is, else the word of its state.
pub(crate) fn status_words(run: &RunSummary) -> String {
    match (run.status, run.phase) {
        (RunStatus::Running, Some(Phase::Preflight)) => "preflight".to_owned(),
        (RunStatus::Running, Some(Phase::Baseline)) => "baseline".to_owned(),
        (RunStatus::Running, Some(Phase::SlowUpdate { .. })) => "slow update".to_owned(),
        (RunStatus::Running, Some(Phase::MetaSkill { .. })) => "meta skill".to_owned(),
        (RunStatus::Running, Some(Phase::FinalTest)) => "final test".to_owned(),
        (RunStatus::Running, Some(Phase::Step { step, .. })) => match run.total_steps {
            Some(total) => format!("step {step} of {total}"),
            None => format!("step {step}"),
        },
        (status, _) => Look::from(status).word.to_owned(),
    }
}

/// Money so far; unknown when some call had no price.
pub(crate) fn spend_words(run: &RunSummary) -> String {
    fmt::usd(run.spend.total().known_cost_usd_micros())
}

/// The curve of the best score, from the initial skill on.
pub(crate) fn best_so_far(run: &RunSummary) -> Vec<f64> {
    run.baseline_score.into_iter().chain(run.spark.iter().copied()).collect()
}

/// The name as a link, with the mark of simulated models.
#[component]
pub(crate) fn RunName<'a>(run: &'a RunSummary) -> impl IntoView + use<> {
    view! {
        <span class="row" data-nowrap>
            <a class="table__main" href=run_href(run)>{run.name.clone()}</a>
            {is_simulated(run).then(|| view! { <SimulatedBadge/> }.into_any())}
        </span>
    }
}

/// The state with its words, and why on hover.
#[component]
pub(crate) fn RunState<'a>(run: &'a RunSummary) -> impl IntoView + use<> {
    view! { <Status look=run.status text=status_words(run) title=run.detail.clone().unwrap_or_default()/> }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use skillopt_domain::ids::RunId;
    use skillopt_domain::run::Stage;
    use skillopt_domain::spend::SpendByRole;

    /// A run with this number and state, everything else empty.
    pub(crate) fn run(number: u8, status: RunStatus) -> RunSummary {
        let id = format!("0190a0c2-7b1e-7c33-8f00-0000000000{number:02x}");
        RunSummary {
            id: RunId::parse(&id).expect("is a run id"),
            name: format!("run-{number}"),
            status,
            detail: None,
            benchmark: "searchqa".into(),
            target_model: String::new(),
            optimizer_model: String::new(),
            target_simulated: false,
            optimizer_simulated: false,
            created_at_ms: u64::from(number),
            started_at_ms: None,
            ended_at_ms: None,
            phase: None,
            n_steps: 0,
            total_steps: Some(24),
            n_accepted: 0,
            n_rejected: 0,
            baseline_score: None,
            best_score: None,
            n_selection: None,
            test_initial: None,
            test_best: None,
            spark: Vec::new(),
            spend: SpendByRole::default(),
            out_root: String::new(),
            actor: String::new(),
        }
    }

    #[test]
    fn a_live_run_tells_where_it_is() {
        let phase = Some(Phase::Step { step: 15, stage: Stage::Evaluate });
        let live = RunSummary { phase, ..run(1, RunStatus::Running) };
        assert_eq!(status_words(&live), "step 15 of 24");
        assert_eq!(status_words(&run(1, RunStatus::Done)), "finished");
    }
}
