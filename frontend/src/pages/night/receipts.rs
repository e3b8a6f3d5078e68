//! What was decided about a night, file by file, and the way back.

use super::state::{Deciding, NightState};
use super::words::document_name;
use crate::components::confirm::{Confirm, Question};
use crate::components::dynamic::{CollectAny, dynamic, nothing};
use crate::components::handler::handler;
use crate::components::icon::Icon;
use crate::components::when::When;
use crate::state::signal::RwSignal;
use crate::{api, fmt, time};
use leptos::prelude::*;
use skillopt_domain::api::NightReceipt;

#[component]
pub(super) fn Receipts(night: NightState) -> impl IntoView {
    let receipts = night.memo(|detail| detail.receipts.clone());
    let can_revert = night.memo(|detail| !adopted(&detail.receipts).is_empty());
    dynamic(move || {
        let all = receipts.get();
        if all.is_empty() {
            return nothing();
        }
        let revert = can_revert.get().then(|| view! { <Revert night/> }.into_any());
        view! {
            <section class="stack night-receipts" aria-labelledby="receipts-title">
                <h3 id="receipts-title">"Receipts"</h3>
                {all.into_iter().map(receipt).collect_any()}
                {revert}
            </section>
        }
        .into_any()
    })
}

#[component]
fn Revert(night: NightState) -> impl IntoView {
    let question = RwSignal::new(None::<Question>);
    let revert = Callback::new(move |()| {
        let id = night.id();
        let deciding: Deciding = Box::pin(async move { api::revert_night(&id).await });
        night.decide("Nothing was reverted.", deciding);
    });
    let ask = move |_| {
        let words =
            night.detail.with_untracked(|detail| revert_question(&adopted(&detail.receipts)));
        question.set(Some(words));
    };
    view! {
        <button class="button" type="button" disabled=move || night.is_deciding.get() on:click=handler(ask)>
            <Icon name="history"/>"Revert"
        </button>
        <Confirm question on_go=revert/>
    }
}

/// What is adopted now: the latest deed of each document counts.
pub(super) fn adopted(receipts: &[NightReceipt]) -> Vec<&NightReceipt> {
    let mut adopted: Vec<&NightReceipt> = Vec::new();
    for receipt in receipts {
        adopted.retain(|one| one.key != receipt.key);
        if receipt.deed == "adopted" {
            adopted.push(receipt);
        }
    }
    adopted
}

fn revert_question(adopted: &[&NightReceipt]) -> Question {
    let paths: Vec<&str> = adopted.iter().map(|receipt| receipt.live_path.as_str()).collect();
    Question {
        title: "Revert this adoption?".to_owned(),
        text: format!("As before the adoption will be: {}.", paths.join(", ")),
        keep: "Keep it",
        go: "Revert",
    }
}

/// State, icon and word of a deed.
fn deed_look(deed: &str) -> (&'static str, &'static str, String) {
    match deed {
        "adopted" => ("adopted", "accepted", "Adopted".to_owned()),
        "rejected" => ("reverted", "rejected", "Rejected".to_owned()),
        "reverted" => ("reverted", "history", "Reverted".to_owned()),
        other => ("reverted", "help", fmt::capital(other)),
    }
}

fn receipt(receipt: NightReceipt) -> AnyView {
    let (state, icon, word) = deed_look(&receipt.deed);
    let at = time::parse(&receipt.at);
    let when = at.map(|at_ms| view! { " "<When at_ms/> }.into_any());
    let document = Some(&receipt.key).filter(|key| !key.is_empty()).map(|key| document_name(key));
    let path =
        some(receipt.live_path).map(|path| view! { <p class="mono path">{path}</p> }.into_any());
    let edits = edits_words(&receipt.edits, receipt.n_left_out)
        .map(|words| view! { <p class="second">{words}</p> }.into_any());
    let reason =
        some(receipt.reason).map(|reason| view! { <p class="second">{reason}</p> }.into_any());
    let hashes = some(receipt.after).map(|after| {
        let before = some(receipt.before).map_or_else(|| "no file".to_owned(), |sha| short(&sha));
        let words = format!("{before} → {}", short(&after));
        view! { <div><dt>"Before → after"</dt><dd class="mono small">{words}</dd></div> }.into_any()
    });
    let backup = some(receipt.backup).map(|backup| {
        view! { <div><dt>"Copy"</dt><dd class="mono small path">{backup}</dd></div> }.into_any()
    });
    let actor = some(receipt.actor)
        .map(|actor| view! { <div><dt>"By"</dt><dd>{actor}</dd></div> }.into_any());
    view! {
        <section class="receipt" data-state=state aria-label="Receipt">
            <Icon name=icon/>
            <div>
                <p class="receipt__title">{word}" "{document}{when}</p>
                {path}{edits}{reason}
                <dl class="facts-row">
                    {hashes}{backup}
                    {actor}
                </dl>
            </div>
        </section>
    }
    .into_any()
}

/// Which edits were adopted, when not all were.
fn edits_words(edits: &[u32], n_left_out: u32) -> Option<String> {
    let list: Vec<String> = edits.iter().map(ToString::to_string).collect();
    let taken = match list.as_slice() {
        [] => return None,
        [one] => format!("Edit {one}"),
        [several @ .., last] => format!("Edits {} and {last}", several.join(", ")),
    };
    let left_out = fmt::plural(n_left_out.into(), "edit", "edits");
    Some(format!("{taken}; {left_out} left out. This combination was not measured."))
}

fn some(text: String) -> Option<String> {
    Some(text).filter(|text| !text.is_empty())
}

/// Enough of a hash to tell two apart.
fn short(sha: &str) -> String {
    sha.chars().take(7).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn receipt(deed: &str, key: &str) -> NightReceipt {
        NightReceipt {
            deed: deed.into(),
            key: key.into(),
            live_path: format!("/{key}"),
            before: String::new(),
            after: "0123456789".into(),
            backup: String::new(),
            actor: "local".into(),
            at: String::new(),
            reason: String::new(),
            edits: Vec::new(),
            n_left_out: 0,
        }
    }

    #[test]
    fn a_receipt_says_which_edits_when_not_all_were_adopted() {
        assert_eq!(edits_words(&[], 0), None);
        assert_eq!(
            edits_words(&[1, 3], 1).as_deref(),
            Some("Edits 1 and 3; 1 edit left out. This combination was not measured.")
        );
    }

    #[test]
    fn only_what_is_adopted_now_is_reverted() {
        let all = [receipt("adopted", "a"), receipt("adopted", "b"), receipt("reverted", "a")];
        let keys: Vec<&str> = adopted(&all).iter().map(|one| one.key.as_str()).collect();
        assert_eq!(keys, ["b"]);
        assert!(revert_question(&adopted(&all)).text.ends_with("/b."));
    }

    #[test]
    fn a_deed_of_a_newer_server_is_told_as_it_is() {
        assert_eq!(deed_look("merged").2, "Merged");
        assert_eq!(short("0123456789"), "0123456");
    }
}
