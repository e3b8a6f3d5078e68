//! What the page of one night holds. While the night runs, it is asked for again and again.

use super::choice::{Answered, EditPlace, Shown, choices, shown};
use crate::api::{self, ApiError, ApiResult};
use crate::live::nights::{NightPlan, follow};
use crate::state::load::Load;
use crate::state::memo::Memo;
use crate::state::signal::RwSignal;
use leptos::prelude::*;
use leptos::task::spawn_local;
use skillopt_domain::api::{EditChoice, NightAdoption, NightDetail, NightItem, ProblemCode};
use skillopt_domain::ids::NightId;
use skillopt_domain::night::NightStatus;
use std::pin::Pin;

/// Handed to every part of the page.
#[derive(Clone, Copy)]
pub(crate) struct NightState {
    id: StoredValue<NightId>,
    pub(super) detail: RwSignal<NightDetail>,
    /// Documents that are not to be adopted, by key.
    pub(super) left_out: RwSignal<Vec<String>>,
    /// Edits that are not to be adopted.
    pub(super) left_out_edits: RwSignal<Vec<EditPlace>>,
    /// The edit that keys act on.
    pub(super) cursor: RwSignal<Option<EditPlace>>,
    /// Documents of which some edits are left out.
    pub(super) choices: Memo<Vec<EditChoice>>,
    /// What the server makes of them.
    preview: Load<Vec<Answered>>,
    /// A decision is on its way.
    pub(super) is_deciding: RwSignal<bool>,
    /// What the last decision failed with.
    pub(super) failure: RwSignal<Option<(&'static str, ApiError)>>,
}

/// The answer to a decision.
pub(super) type Deciding = Pin<Box<dyn Future<Output = ApiResult<NightDetail>>>>;

impl NightState {
    pub(super) fn new(detail: NightDetail) -> Self {
        let id = detail.night.id.clone();
        let detail = RwSignal::new(detail);
        let left_out_edits = RwSignal::new(Vec::<EditPlace>::new());
        let choices = Memo::new(move || {
            detail.with(|detail| left_out_edits.with(|left_out| choices(detail, left_out)))
        });
        let preview_id = id.clone();
        let preview = Load::new(move || {
            let (id, choices) = (preview_id.clone(), choices.get());
            async move { Ok(previewed(&id, choices).await) }
        });
        Self {
            id: StoredValue::new(id),
            detail,
            left_out: RwSignal::new(Vec::new()),
            left_out_edits,
            cursor: RwSignal::new(None),
            choices,
            preview,
            is_deciding: RwSignal::new(false),
            failure: RwSignal::new(None),
        }
    }

    pub(super) fn id(self) -> NightId {
        self.id.get_value()
    }

    /// Something of the night that is worked out again only when the night has changed.
    pub(super) fn memo<T: PartialEq + Send + Sync + 'static>(
        self,
        of: impl Fn(&NightDetail) -> T + Send + Sync + 'static,
    ) -> Memo<T> {
        Memo::new(move || self.detail.with(&of))
    }

    /// What stands in the place of a document; follows it.
    pub(super) fn shown(self, key: &str) -> Shown {
        let answers = self.preview.get().and_then(Result::ok);
        let answers = answers.as_deref().map(Vec::as_slice).unwrap_or_default();
        self.choices.with(|choices| shown(key, choices, answers))
    }

    /// Follows the night until it is over or the calling component is gone.
    pub(super) fn follow(self) {
        follow(NightPlan {
            is_running: Box::new(move || {
                self.detail.try_with_untracked(is_running).unwrap_or(false)
            }),
            ask: Box::new(move || {
                let id = self.id();
                Box::pin(async move { api::night(&id).await.map(|detail| self.detail.set(detail)) })
            }),
            on_night: Box::new(move |night| self.take(night)),
        });
    }

    /// Takes in that the night changed. What a stage leaves is asked for when the stage is over.
    fn take(self, night: &NightItem) {
        let known = self.detail.try_with_untracked(|detail| detail.night.clone());
        let Some(known) = known.filter(|known| known.id == night.id && known != night) else {
            return;
        };
        self.detail.update(|detail| detail.night.clone_from(night));
        if !has_more(&known, night) {
            return;
        }
        let id = self.id();
        spawn_local(async move {
            if let Ok(detail) = api::night(&id).await {
                self.detail.set(detail);
            }
        });
    }

    /// Sends a decision and shows what came of it; `what` says what failed, as a sentence.
    pub(super) fn decide(self, what: &'static str, deciding: Deciding) {
        self.is_deciding.set(true);
        self.failure.set(None);
        let id = self.id();
        spawn_local(async move {
            match deciding.await {
                Ok(detail) => self.detail.set(detail),
                Err(error) => {
                    let is_old = matches!(
                        error.problem.code,
                        ProblemCode::FileChanged | ProblemCode::Conflict
                    );
                    self.failure.set(Some((what, error)));
                    // What is shown is no longer so.
                    if is_old && let Ok(detail) = api::night(&id).await {
                        self.detail.set(detail);
                    }
                }
            }
            self.is_deciding.set(false);
        });
    }

    /// Ends the night.
    pub(super) fn cancel(self) {
        let id = self.id();
        self.decide(
            "The night was not cancelled.",
            Box::pin(async move {
                api::cancel_night(&id).await?;
                api::night(&id).await
            }),
        );
    }
}

/// The night has more to show than its row.
fn has_more(before: &NightItem, now: &NightItem) -> bool {
    (before.status, before.decision, before.progress.stage)
        != (now.status, now.decision, now.progress.stage)
}

/// Each document is asked about by itself, so that one refusal is not that of all. What the server refuses is an answer.
async fn previewed(id: &NightId, choices: Vec<EditChoice>) -> Vec<Answered> {
    let mut answers = Vec::new();
    for choice in choices {
        let wanted = NightAdoption { keys: Vec::new(), edits: vec![choice.clone()] };
        let answer = api::preview_night(id, &wanted).await.map_err(|error| error.problem.detail);
        answers.push((choice, answer));
    }
    answers
}

pub(super) fn is_running(detail: &NightDetail) -> bool {
    detail.night.status == NightStatus::Running
}

#[cfg(test)]
mod tests {
    use super::has_more;
    use crate::components::night_cells::tests::night;
    use skillopt_domain::night::{NightStage, NightStatus};

    #[test]
    fn counts_alone_ask_for_nothing_and_a_new_stage_does() {
        let before = night(NightStatus::Running);
        let mut now = before.clone();
        now.progress.done = 7;
        assert!(!has_more(&before, &now));
        now.progress.stage = NightStage::Mine;
        assert!(has_more(&before, &now));
        assert!(has_more(&before, &night(NightStatus::Staged)));
    }
}
