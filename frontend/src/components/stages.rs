//! The six stages of a step: small with live counts on the overview, with their meaning on a first visit.

use super::icon::Icon;
use super::look::stage_look;
use crate::components::dynamic::CollectAny;
use leptos::prelude::*;
use skillopt_domain::run::{Phase, Stage};

/// How far a stage is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StageState {
    Done,
    Running,
    Waiting,
}

impl StageState {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Running => "running",
            Self::Waiting => "waiting",
        }
    }

    /// The state of `stage` while the run is in `phase`.
    pub(crate) fn of(stage: Stage, phase: Option<Phase>) -> Self {
        match phase {
            Some(Phase::Step { stage: now, .. }) if stage < now => Self::Done,
            Some(Phase::Step { stage: now, .. }) if stage == now => Self::Running,
            _ => Self::Waiting,
        }
    }
}

/// Six short bars.
#[component]
pub(crate) fn StageBars(
    phase: Option<Phase>,
    /// How much of the running stage is done, as a CSS percentage.
    done: &'static str,
) -> impl IntoView {
    view! {
        <ol class="stages6" aria-label="Stage">
            {Stage::ALL
                .map(|stage| {
                    let state = StageState::of(stage, phase);
                    let is_running = state == StageState::Running;
                    let done = if is_running { done } else { "0%" };
                    view! {
                        <li data-status=state.as_str() aria-current=is_running.then_some("step") style:--done=done>
                            <i></i>
                            <span>{stage_look(stage).0}</span>
                        </li>
                    }
                })
                .into_iter()
                .collect_any()}
        </ol>
    }
}

/// What each stage does, for who sees it the first time.
#[component]
pub(crate) fn StagesAbout() -> impl IntoView {
    view! {
        <ol class="pipeline" data-variant="about">
            {Stage::ALL
                .map(|stage| {
                    let (name, icon) = stage_look(stage);
                    view! {
                        <li class="stage">
                            <span class="stage__name"><Icon name=icon/>{name}</span>
                            <span class="stage__about">{about(stage)}</span>
                        </li>
                    }
                })
                .into_iter()
                .collect_any()}
        </ol>
    }
}

fn about(stage: Stage) -> &'static str {
    match stage {
        Stage::Rollout => "The target model tries a batch of tasks with the current skill.",
        Stage::Reflect => "The optimizer reads what failed and what worked.",
        Stage::Aggregate => "Its edits are merged into one list without doubles.",
        Stage::Select => "The best few stay, as many as the edit budget allows.",
        Stage::Update => "They are applied where their anchor matches exactly once.",
        Stage::Evaluate => "The candidate stays only if the held-out score rises.",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_before_the_running_one_are_done() {
        let phase = Some(Phase::Step { step: 3, stage: Stage::Select });
        assert_eq!(StageState::of(Stage::Reflect, phase), StageState::Done);
        assert_eq!(StageState::of(Stage::Select, phase), StageState::Running);
        assert_eq!(StageState::of(Stage::Update, phase), StageState::Waiting);
        assert_eq!(StageState::of(Stage::Rollout, None), StageState::Waiting);
    }
}
