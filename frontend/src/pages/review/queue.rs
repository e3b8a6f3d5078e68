//! The queue as a table: first what can be adopted, then what cannot any more. `j` and `k` move, `Enter` opens.

use crate::components::dynamic::{Item, each};
use crate::components::icon::Icon;
use crate::components::in_view::keep_in_view;
use crate::components::look::Look;
use crate::components::night_cells::{folder, night_name};
use crate::components::review_words::{
    age_words, documents_words, edits_words, lines, n_risks, proposal_href, risks_words,
    scores_words,
};
use crate::components::status::{SimulatedBadge, Status};
use crate::fmt;
use crate::state::keys::{KeyUse, on_single_key};
use crate::state::signal::RwSignal;
use crate::time;
use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::use_navigate;
use skillopt_domain::api::{NightDecision, ReviewItem};
use skillopt_domain::ids::NightId;

const GROUPS: [(NightDecision, &str); 2] =
    [(NightDecision::Waiting, "Waits for you"), (NightDecision::Stale, "Cannot be adopted")];

/// Nights of a kind.
pub(super) fn count(items: &[ReviewItem], decision: NightDecision) -> u64 {
    let of_kind = items.iter().filter(|item| item.night.decision == decision);
    u64::try_from(of_kind.count()).unwrap_or_default()
}

/// In the order of the page.
fn in_order(items: &[ReviewItem]) -> Vec<ReviewItem> {
    let of = |decision: NightDecision| {
        items.iter().filter(move |item| item.night.decision == decision).cloned()
    };
    GROUPS.iter().flat_map(|(decision, _)| of(*decision)).collect()
}

#[component]
pub(super) fn Queue(
    items: RwSignal<Vec<ReviewItem>>,
    cursor: RwSignal<Option<NightId>>,
) -> impl IntoView {
    move_by_keys(items, cursor);
    keep_in_view(move || cursor.get(), ".review-queue tr[data-cursor]");
    view! {
        <section class="section" data-space="tight" aria-label="Nights that wait">
            <div class="panel">
                <div class="scroll-x" tabindex="0" role="region" aria-label="Table of nights that wait">
                    <table class="table review-queue">
                        <thead><tr>
                            <th scope="col">"Proposal"</th>
                            <th scope="col">"Changes"</th>
                            <th scope="col" data-num title="Mean gate score of the live documents and of the proposal">"Score"</th>
                            <th scope="col">"Risk flags"</th>
                            <th scope="col">"State"</th>
                            <th scope="col" data-num>"Age"</th>
                        </tr></thead>
                        <tbody>{each(move || items.with(|items| rows(items, cursor)))}</tbody>
                    </table>
                </div>
                <div class="panel__foot">
                    <span class="only-wide"><kbd>"j"</kbd>" "<kbd>"k"</kbd>" move, "<kbd>"Enter"</kbd>" open"</span>
                    <span class="end">"Adopt or reject where the change is shown"</span>
                </div>
            </div>
        </section>
    }
}

fn move_by_keys(items: RwSignal<Vec<ReviewItem>>, cursor: RwSignal<Option<NightId>>) {
    let navigate = use_navigate();
    on_single_key(move |key| {
        let order = items.with_untracked(|items| in_order(items));
        let now = cursor.get_untracked();
        match key {
            "j" | "k" => cursor.set(moved(&order, now.as_ref(), key == "j")),
            "Enter" => {
                let Some(item) = order.iter().find(|item| Some(&item.night.id) == now.as_ref())
                else {
                    return KeyUse::Ignored;
                };
                navigate(&proposal_href(item), NavigateOptions::default());
            }
            _ => return KeyUse::Ignored,
        }
        KeyUse::Used
    });
}

/// The night below or above; the first one when none was marked.
fn moved(order: &[ReviewItem], now: Option<&NightId>, is_down: bool) -> Option<NightId> {
    let at = now.and_then(|id| order.iter().position(|item| item.night.id == *id));
    let next = match at {
        Some(at) if is_down => (at + 1).min(order.len().saturating_sub(1)),
        Some(at) => at.saturating_sub(1),
        None => 0,
    };
    order.get(next).map(|item| item.night.id.clone())
}

fn rows(items: &[ReviewItem], cursor: RwSignal<Option<NightId>>) -> Vec<Item> {
    let mut rows = Vec::new();
    for (decision, title) in GROUPS {
        let n = count(items, decision);
        if n == 0 {
            continue;
        }
        rows.push(Item::new(format!("{title} {n}"), move || {
            view! {
                <tr class="table__group"><td colspan="6">{title}" "<span class="muted">{fmt::count(n)}</span></td></tr>
            }
            .into_any()
        }));
        let of_kind = items.iter().filter(|item| item.night.decision == decision).cloned();
        rows.extend(of_kind.map(|item| Item::new(key(&item), move || row(&item, cursor))));
    }
    rows
}

/// Whatever of a night can change and is shown.
fn key(item: &ReviewItem) -> String {
    format!("{} {:?} {} {:?}", item.night.id, item.night.decision, item.why, item.documents)
}

fn row(item: &ReviewItem, cursor: RwSignal<Option<NightId>>) -> AnyView {
    let night = &item.night;
    let id = night.id.clone();
    let mark = move || cursor.with(|cursor| cursor.as_ref() == Some(&id));
    let (n_added, n_removed) = lines(&item.documents);
    let changes = documents_words(&item.documents);
    let edits = edits_words(&item.documents).map(|words| format!(", {words}"));
    let at_ms = night.ended_at_ms.unwrap_or(night.started_at_ms);
    let look = Look::from(night.decision);
    let why = Some(&item.why).filter(|why| !why.is_empty()).map(|why| {
        view! { <p class="small muted review-queue__why">{fmt::capital(why)}</p> }.into_any()
    });
    view! {
        <tr data-cursor=move || mark()>
            <td>
                <span class="row" data-nowrap>
                    <a class="table__main" href=proposal_href(item)>{night_name(night)}</a>
                    {night.is_simulated.then(|| view! { <SimulatedBadge/> }.into_any())}
                </span>
                <span class="small muted" title=night.project.clone()>{folder(&night.project).to_owned()}</span>
            </td>
            <td>
                <span>{changes}</span><br/>
                <span class="small muted">
                    <span class="delta" data-sign="up">{format!("+{n_added}")}</span>" "
                    <span class="delta" data-sign="down">{format!("−{n_removed}")}</span>" lines"{edits}
                </span>
            </td>
            <td data-num>
                <span class="medium">{scores_words(night.baseline_score, night.candidate_score)}</span><br/>
                <span class="small muted">{fmt::n(item.n_tasks)}</span>
            </td>
            <td>{flags(item)}</td>
            <td class="review-queue__state"><Status look/>{why}</td>
            <td data-num class="table__dim">
                <time datetime=time::iso(at_ms) title=time::full(at_ms)>{age_words(at_ms, time::now_ms())}</time>
            </td>
        </tr>
    }
    .into_any()
}

fn flags(item: &ReviewItem) -> AnyView {
    let words = risks_words(&item.documents);
    match n_risks(&item.documents) {
        0 => view! { <span class="muted">{words}</span> }.into_any(),
        _ => view! {
            <span class="status" data-status="warning"><Icon name="warning"/>{words}</span>
        }
        .into_any(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::components::review_words::tests::item;

    fn numbered(number: u8, decision: NightDecision) -> ReviewItem {
        let mut one = item(decision);
        let id = format!("0190a0c2-7b1e-7c33-8f00-0000000000{number:02x}");
        one.night.id = NightId::parse(&id).expect("is an id");
        one
    }

    #[test]
    fn what_can_be_adopted_stands_first_and_keys_follow_that_order() {
        let all = [
            numbered(3, NightDecision::Stale),
            numbered(2, NightDecision::Waiting),
            numbered(1, NightDecision::Waiting),
        ];
        let order = in_order(&all);
        let ids: Vec<&NightId> = order.iter().map(|item| &item.night.id).collect();
        assert_eq!(ids, [&all[1].night.id, &all[2].night.id, &all[0].night.id]);
        let first = moved(&order, None, true);
        assert_eq!(first.as_ref(), Some(&all[1].night.id));
        assert_eq!(moved(&order, first.as_ref(), false), first);
        assert_eq!(moved(&order, Some(&all[2].night.id), true).as_ref(), Some(&all[0].night.id));
        assert_eq!(moved(&[], None, true), None);
    }

    #[test]
    fn a_row_is_drawn_anew_when_it_cannot_be_adopted_any_more() {
        let waiting = numbered(1, NightDecision::Waiting);
        let mut stale = numbered(1, NightDecision::Stale);
        assert_ne!(key(&waiting), key(&stale));
        stale.why = "the file changed".into();
        assert_ne!(key(&numbered(1, NightDecision::Stale)), key(&stale));
    }
}
