//! What the page of one night holds. While the night runs, it is asked for again and again.

use crate::api::{self, ApiError, ApiResult};
use crate::live::nights::{NightPlan, follow};
use crate::state::memo::Memo;
use crate::state::signal::RwSignal;
use leptos::prelude::*;
use leptos::task::spawn_local;
use skillopt_domain::api::{NightDetail, ProblemCode};
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
    /// A decision is on its way.
    pub(super) is_deciding: RwSignal<bool>,
    /// What the last decision failed with.
    pub(super) failure: RwSignal<Option<(&'static str, ApiError)>>,
}

/// The answer to a decision.
pub(super) type Deciding = Pin<Box<dyn Future<Output = ApiResult<NightDetail>>>>;

impl NightState {
    pub(super) fn new(detail: NightDetail) -> Self {
        Self {
            id: StoredValue::new(detail.night.id.clone()),
            detail: RwSignal::new(detail),
            left_out: RwSignal::new(Vec::new()),
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

pub(super) fn is_running(detail: &NightDetail) -> bool {
    detail.night.status == NightStatus::Running
}
