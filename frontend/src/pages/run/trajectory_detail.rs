//! One trajectory beside the list: loads it and moves to its neighbours.

use super::query::QueryValue;
use super::state::RunState;
use crate::api;
use crate::components::loaded::{Frame, loaded};
use crate::components::states::SkeletonRows;
use crate::components::trajectory_view::TrajectoryView;
use crate::state::effect::effect;
use crate::state::load::Load;
use crate::state::memo::Memo;
use crate::state::signal::RwSignal;
use leptos::html;
use leptos::prelude::*;
use skillopt_domain::api::{Trajectory, TrajectoryRow};

#[component]
pub(super) fn TrajectoryDetail(
    run: RunState,
    number: u64,
    rows: RwSignal<Vec<TrajectoryRow>>,
    picked: QueryValue<u64>,
) -> impl IntoView {
    let trajectory = Load::new(move || {
        let id = run.id();
        async move { api::trajectory(&id, number).await }
    });
    let by = move |by: isize| {
        rows.with(|rows| {
            let at = rows.iter().position(|row| row.id == number)?.checked_add_signed(by)?;
            rows.get(at).map(|row| row.id)
        })
    };
    let holder = NodeRef::<html::Div>::new();
    // On a phone the trajectory stands below the list: what was chosen must come into view.
    effect(move || {
        if let Some(holder) = holder.get() {
            let area = holder.get_bounding_client_rect();
            let height =
                window().inner_height().ok().and_then(|height| height.as_f64()).unwrap_or(0.0);
            if area.top() > height - 80.0 {
                holder.scroll_into_view();
            }
        }
    });
    let version = move |skill: &skillopt_domain::hash::Sha256Hex| {
        run.version_of(skill).map(|version| format!("v{version}"))
    };
    let frame = Frame::new("The trajectory could not be loaded.")
        .loading(|| view! { <div class="panel"><SkeletonRows rows=10/></div> }.into_any());
    let full = loaded(trajectory, frame, move |trajectory: &Trajectory| {
        let skill = version(&trajectory.row.skill)
            .unwrap_or_else(|| format!("candidate of step {}", trajectory.row.step));
        view! {
            <TrajectoryView
                trajectory=trajectory.clone() skill
                previous=Memo::new(move || by(-1)) next=Memo::new(move || by(1))
                on_go=Callback::new(move |id| picked.set(Some(id)))
            />
        }
        .into_any()
    });
    view! { <div node_ref=holder>{full}</div> }
}
