//! Nights as a table, newest first. Only rows that changed are drawn anew.

use super::onward::ToPrompts;
use crate::components::dynamic::{Item, each};
use crate::components::night_cells::{
    NightName, NightState, decision_look, folder, money_words, night_href, spend_title,
};
use crate::components::numbers::{Delta, Score};
use crate::components::status::Status;
use crate::components::when::When;
use crate::fmt;
use crate::state::keys::{KeyUse, on_single_key};
use crate::state::signal::RwSignal;
use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::use_navigate;
use skillopt_domain::api::NightItem;
use skillopt_domain::ids::NightId;
use skillopt_domain::night::NightStatus;

#[component]
pub(super) fn NightsTable(nights: RwSignal<Vec<NightItem>>) -> impl IntoView {
    let cursor = RwSignal::new(None::<NightId>);
    move_by_keys(nights, cursor);
    let rows = move || nights.get().into_iter().map(|night| item(night, cursor)).collect();
    view! {
        <section class="section" data-space="tight" aria-labelledby="nights-title">
            <div class="section__head"><h2 id="nights-title">"Nights"</h2></div>
            <div class="panel scroll-x" tabindex="0" role="region" aria-label="Table of nights">
                <table class="table">
                    <thead><tr>
                        <th scope="col">"Night"</th>
                        <th scope="col">"State"</th>
                        <th scope="col">"Decision"</th>
                        <th scope="col" data-num title="Mean gate score of the live documents">"Before"</th>
                        <th scope="col" data-num title="Mean gate score of the proposal">"After"</th>
                        <th scope="col" data-num>"Change"</th>
                        <th scope="col" data-num title="Tasks of all splits">"Tasks"</th>
                        <th scope="col">"Project"</th>
                        <th scope="col">"Models"</th>
                        <th scope="col" data-num>"Spend"</th>
                        <th scope="col" data-num>"Started"</th>
                        <th scope="col" data-num>"Took"</th>
                    </tr></thead>
                    <tbody>{each(rows)}</tbody>
                </table>
            </div>
        </section>
    }
}

/// `j` and `k` move, `Enter` opens.
fn move_by_keys(nights: RwSignal<Vec<NightItem>>, cursor: RwSignal<Option<NightId>>) {
    let navigate = use_navigate();
    on_single_key(move |key| {
        let now = cursor.get_untracked();
        match (key, now) {
            ("j" | "k", now) => {
                cursor.set(nights.with_untracked(|nights| moved(nights, now.as_ref(), key == "j")));
            }
            ("Enter", Some(id)) => navigate(&night_href(&id), NavigateOptions::default()),
            _ => return KeyUse::Ignored,
        }
        KeyUse::Used
    });
}

/// The night below or above; the first one when none was marked.
fn moved(nights: &[NightItem], now: Option<&NightId>, is_down: bool) -> Option<NightId> {
    let at = now.and_then(|id| nights.iter().position(|night| night.id == *id));
    let next = match at {
        Some(at) if is_down => (at + 1).min(nights.len() - 1),
        Some(at) => at.saturating_sub(1),
        None => 0,
    };
    nights.get(next).map(|night| night.id.clone())
}

fn item(night: NightItem, cursor: RwSignal<Option<NightId>>) -> Item {
    Item::new(row_key(&night), move || row(&night, cursor))
}

/// Whatever of a night can change and is shown.
fn row_key(night: &NightItem) -> String {
    let NightItem { id, status, decision, progress, ended_at_ms, .. } = night;
    format!(
        "{id} {status} {decision:?} {:?} {} {:?} {} {ended_at_ms:?}",
        progress.stage, progress.done, progress.n_tasks, progress.spend.cost_usd_micros
    )
}

fn row(night: &NightItem, cursor: RwSignal<Option<NightId>>) -> AnyView {
    let id = night.id.clone();
    let mark = move || cursor.with(|cursor| cursor.as_ref() == Some(&id));
    let nothing = match night.status {
        NightStatus::Staged => "nothing to adopt",
        _ => fmt::MISSING,
    };
    let decision = decision_look(night).map_or_else(
        || view! { <span class="table__dim">{nothing}</span> }.into_any(),
        |look| view! { <Status look/> }.into_any(),
    );
    let took = night.ended_at_ms.map(|end| fmt::duration(end.saturating_sub(night.started_at_ms)));
    let tasks = night.progress.n_tasks.map(|n| fmt::count(n.into()));
    let missing = || fmt::MISSING.to_owned();
    let (before, after) = (night.baseline_score, night.candidate_score);
    view! {
        <tr data-cursor=move || mark()>
            <td><NightName night/></td>
            <td><NightState night/><ToPrompts night/></td>
            <td>{decision}</td>
            <td data-num><Score value=before/></td>
            <td data-num class="medium"><Score value=after/></td>
            <td data-num><Delta before after/></td>
            <td data-num class="second">{tasks.unwrap_or_else(missing)}</td>
            <td title=night.project.clone()>{folder(&night.project).to_owned()}</td>
            <td class="second">{night.models.clone()}</td>
            <td data-num title=spend_title(&night.progress.spend)>{money_words(&night.progress.spend)}</td>
            <td data-num class="table__dim"><When at_ms=night.started_at_ms/></td>
            <td data-num class="table__dim">{took.unwrap_or_else(missing)}</td>
        </tr>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::components::night_cells::tests::night;

    #[test]
    fn a_row_is_drawn_anew_when_the_night_moves() {
        let before = night(NightStatus::Running);
        let mut after = before.clone();
        assert_eq!(row_key(&before), row_key(&after));
        after.progress.done = 1;
        assert_ne!(row_key(&before), row_key(&after));
        assert_ne!(row_key(&before), row_key(&night(NightStatus::Staged)));
    }

    #[test]
    fn the_mark_stays_within_the_table() {
        let mut nights = vec![night(NightStatus::Staged), night(NightStatus::Empty)];
        nights[1].id = NightId::parse("0190a0c2-7b1e-7c33-8f00-00000000000b").expect("is an id");
        let (first, last) = (nights[0].id.clone(), nights[1].id.clone());
        assert_eq!(moved(&nights, None, true).as_ref(), Some(&first));
        assert_eq!(moved(&nights, Some(&first), true).as_ref(), Some(&last));
        assert_eq!(moved(&nights, Some(&last), true).as_ref(), Some(&last));
        assert_eq!(moved(&nights, Some(&first), false).as_ref(), Some(&first));
        assert_eq!(moved(&[], None, true), None);
    }
}
