//! The decision about a proposal: adopt, with what will be written where, or reject with a reason. What the server
//! refuses is told beside the button.

use super::choice::{Shown, on_key, taken_words};
use super::receipts::adopted;
use super::reject::Reject;
use super::state::{Deciding, NightState};
use super::words::{document_name, lines_words};
use crate::api;
use crate::components::confirm::{Confirm, Question};
use crate::components::dynamic::{CollectAny, dynamic, nothing};
use crate::components::handler::handler;
use crate::components::icon::Icon;
use crate::fmt;
use crate::state::keys::{KeyUse, on_single_key};
use crate::state::memo::Memo;
use crate::state::signal::RwSignal;
use leptos::prelude::*;
use skillopt_domain::api::{NightAdoption, NightDecision, NightDetail, NightProposal};
use skillopt_domain::diff::diff;
use wasm_bindgen::JsCast;
use web_sys::HtmlElement;

#[component]
pub(super) fn Decide(night: NightState) -> impl IntoView {
    let is_open = night.memo(|detail| is_open(detail));
    on_single_key(move |key| match (on_key(night, key), key) {
        (KeyUse::Used, _) => KeyUse::Used,
        (KeyUse::Ignored, "a") => focus("night-adopt"),
        (KeyUse::Ignored, "r") => focus("night-reject"),
        (KeyUse::Ignored, _) => KeyUse::Ignored,
    });
    dynamic(move || if is_open.get() { view! { <Panel night/> }.into_any() } else { nothing() })
}

/// There is something to decide, or to be told why there is not. What was put back can be decided again.
fn is_open(detail: &NightDetail) -> bool {
    let is_undecided = matches!(
        detail.night.decision,
        NightDecision::None
            | NightDecision::Waiting
            | NightDecision::Stale
            | NightDecision::Reverted
    );
    is_undecided && !detail.proposals.is_empty()
}

/// Why it cannot be adopted now; empty when it can.
fn why_not(detail: &NightDetail) -> String {
    if !detail.refusal.is_empty() {
        return detail.refusal.clone();
    }
    match detail.night.decision {
        NightDecision::Waiting | NightDecision::Reverted => "",
        NightDecision::Stale => "a live file changed since the night",
        NightDecision::None if detail.night.is_dry => "a dry run keeps nothing; run a night",
        NightDecision::None => "the gate did not accept it",
        NightDecision::Adopted | NightDecision::Rejected => "it is decided already",
    }
    .to_owned()
}

fn focus(id: &str) -> KeyUse {
    let element = document().get_element_by_id(id);
    match element.and_then(|element| element.dyn_into::<HtmlElement>().ok()) {
        Some(element) => {
            let _ = element.focus();
            KeyUse::Used
        }
        None => KeyUse::Ignored,
    }
}

/// A file that an adoption would write.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Write {
    key: String,
    name: String,
    path: String,
    words: String,
    n_risks: usize,
    /// What will be written is known: the server has answered, and does not refuse the chosen edits.
    is_known: bool,
    /// The gate measured what will be written.
    is_measured: bool,
}

impl Write {
    fn of(proposal: &NightProposal, shown: &Shown) -> Self {
        let (after, n_risks, is_measured) = match shown {
            Shown::Derived(derived) => (&derived.after, derived.risks.len(), derived.is_measured),
            Shown::Whole | Shown::Asked | Shown::Refused(_) => {
                (&proposal.after, proposal.risks.len(), true)
            }
        };
        let change = diff(&proposal.before, after);
        let lines = lines_words(change.n_added, change.n_removed);
        let is_new = proposal.before.is_empty();
        Self {
            key: proposal.key.clone(),
            name: document_name(&proposal.key),
            path: proposal.live_path.clone(),
            words: if is_new {
                format!("New file: {lines}")
            } else {
                format!("Overwritten: {lines}")
            },
            n_risks,
            is_known: matches!(shown, Shown::Whole | Shown::Derived(_)),
            is_measured,
        }
    }
}

/// What can still be written: documents that are adopted already are not offered again.
fn open_writes(detail: &NightDetail, shown: impl Fn(&str) -> Shown) -> Vec<Write> {
    let done = adopted(&detail.receipts);
    let is_open = |proposal: &&NightProposal| done.iter().all(|one| one.key != proposal.key);
    let open = detail.proposals.iter().filter(is_open);
    open.map(|proposal| Write::of(proposal, &shown(&proposal.key))).collect()
}

/// Keys for the request: none of them means all documents of the night.
fn keys(n_proposals: usize, chosen: &[Write]) -> Vec<String> {
    if n_proposals == chosen.len() {
        return Vec::new();
    }
    chosen.iter().map(|write| write.key.clone()).collect()
}

#[component]
fn Panel(night: NightState) -> impl IntoView {
    let all = night.memo(move |detail| open_writes(detail, |key| night.shown(key)));
    let chosen = Memo::new(move || {
        let mut chosen = all.get();
        chosen.retain(|write| night.left_out.with(|left_out| !left_out.contains(&write.key)));
        chosen
    });
    let refusal = night.memo(why_not);
    view! {
        <section class="panel" aria-labelledby="adopt-title">
            <div class="panel__head"><h3 id="adopt-title">"Adopt"</h3></div>
            <div class="panel__body stack">
                {dynamic(move || writes(&chosen.get()))}
                <AdoptButton night all chosen refusal/>
                {dynamic(move || refusal.with(|refusal| refused(refusal)))}
                <p class="small muted">"You can revert at any time: the same bytes come back."</p>
                <Reject night/>
            </div>
        </section>
    }
}

fn writes(chosen: &[Write]) -> AnyView {
    if chosen.is_empty() {
        return view! { <p class="second">"No document is chosen."</p> }.into_any();
    }
    let row = |write: &Write| {
        let unmeasured = (!write.is_measured).then(|| {
            view! { <p class="small">"This combination was not measured."</p> }.into_any()
        });
        view! {
            <li><Icon name="file"/><div>
                <span>{write.name.clone()}</span><br/>
                <span class="mono path">{write.path.clone()}</span>
                <p class="small muted">{write.words.clone()}</p>
                {unmeasured}
            </div></li>
        }
    };
    view! {
        <p class="second">"What will be written:"</p>
        <ul class="writes">
            {chosen.iter().map(row).collect_any()}
            <li><Icon name="archive"/><div>"A copy of each file as it is now, and a receipt"</div></li>
        </ul>
    }
    .into_any()
}

fn refused(refusal: &str) -> AnyView {
    if refusal.is_empty() {
        return nothing();
    }
    view! {
        <div class="callout" data-status="warning" id="night-refusal" role="status">
            <Icon name="lock"/>
            <div><span class="callout__title">"It cannot be adopted now."</span>" "<span class="callout__text">{fmt::capital(refusal)}</span></div>
        </div>
    }
    .into_any()
}

#[component]
fn AdoptButton(
    night: NightState,
    all: Memo<Vec<Write>>,
    chosen: Memo<Vec<Write>>,
    refusal: Memo<String>,
) -> impl IntoView {
    let question = RwSignal::new(None::<Question>);
    let adopt = Callback::new(move |()| {
        let n_proposals = night.detail.with_untracked(|detail| detail.proposals.len());
        let keys = chosen.with_untracked(|chosen| keys(n_proposals, chosen));
        let edits = night.choices.with_untracked(|choices| {
            let is_chosen = |key: &str| {
                chosen.with_untracked(|chosen| chosen.iter().any(|write| write.key == key))
            };
            choices.iter().filter(|choice| is_chosen(&choice.key)).cloned().collect()
        });
        let id = night.id();
        let deciding: Deciding =
            Box::pin(async move { api::adopt_night(&id, &NightAdoption { keys, edits }).await });
        night.decide("Nothing was adopted.", deciding);
    });
    // One click where nothing speaks against it; one question where something does.
    let ask = move |_| match chosen.with_untracked(|chosen| risk_question(chosen)) {
        Some(words) => question.set(Some(words)),
        None => adopt.run(()),
    };
    let cannot = move || {
        night.is_deciding.get()
            || chosen.with(|chosen| chosen.is_empty() || chosen.iter().any(|one| !one.is_known))
            || refusal.with(|refusal| !refusal.is_empty())
    };
    let words = move || {
        let taken =
            night.choices.with(|choices| night.detail.with(|detail| taken_words(detail, choices)));
        adopt_words(all.with(Vec::len), chosen.with(Vec::len), taken)
    };
    view! {
        <button
            class="button" data-variant="primary" data-block type="button" id="night-adopt"
            aria-describedby="night-refusal" disabled=move || cannot()
            aria-busy=move || night.is_deciding.get().then_some("true") on:click=handler(ask)
        >
            <Icon name="check"/>
            {move || words()}
        </button>
        <Confirm question on_go=adopt/>
    }
}

fn adopt_words(all: usize, chosen: usize, taken: Option<String>) -> String {
    match (all, chosen) {
        (all, chosen) if all == chosen && taken.is_some() => {
            format!("Adopt {}", taken.unwrap_or_default())
        }
        (1, 1) => "Adopt".to_owned(),
        (all, chosen) if all == chosen => format!("Adopt all {all} documents"),
        (all, chosen) => format!("Adopt {chosen} of {all} documents"),
    }
}

/// What is asked before something with flags is adopted; `None` without flags.
fn risk_question(chosen: &[Write]) -> Option<Question> {
    let n: usize = chosen.iter().map(|write| write.n_risks).sum();
    if n == 0 {
        return None;
    }
    let flags = fmt::plural(u64::try_from(n).unwrap_or(u64::MAX), "flag", "flags");
    Some(Question {
        title: format!("Adopt with {flags}?"),
        text: "Each flag stands above the change of its document. Adopt only if you have looked at them.".to_owned(),
        keep: "Look again",
        go: "Adopt all the same",
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::night::words::tests::detail;
    use skillopt_domain::api::DerivedDocument;
    use skillopt_domain::night::NightStatus;

    fn proposal(key: &str, risks: &[&str]) -> NightProposal {
        NightProposal {
            key: key.into(),
            live_path: "/w/SKILL.md".into(),
            before: "a\n".into(),
            after: "a\nb\n".into(),
            edits: Vec::new(),
            needs: Vec::new(),
            whole: String::new(),
            guidance: None,
            risks: risks.iter().map(|risk| (*risk).to_owned()).collect(),
        }
    }

    fn whole(proposal: &NightProposal) -> Write {
        Write::of(proposal, &Shown::Whole)
    }

    #[test]
    fn all_documents_are_asked_for_by_no_key() {
        let all = [whole(&proposal("skill", &[])), whole(&proposal("memory", &[]))];
        assert_eq!(keys(2, &all), Vec::<String>::new());
        assert_eq!(keys(2, &all[1..]), ["memory"]);
        assert_eq!(adopt_words(2, 2, None), "Adopt all 2 documents");
        assert_eq!(adopt_words(2, 1, None), "Adopt 1 of 2 documents");
        assert_eq!(adopt_words(1, 1, None), "Adopt");
        assert_eq!(adopt_words(1, 1, Some("1 of 2 edits".into())), "Adopt 1 of 2 edits");
        assert_eq!(adopt_words(2, 1, Some("1 of 2 edits".into())), "Adopt 1 of 2 documents");
    }

    #[test]
    fn what_chosen_edits_make_is_written_once_it_is_known_and_said_not_to_be_measured() {
        let one = proposal("skill", &["a new command"]);
        let derived = DerivedDocument {
            key: "skill".into(),
            edits: vec![1],
            after: "a\nx\ny\n".into(),
            risks: Vec::new(),
            is_measured: false,
        };
        let write = Write::of(&one, &Shown::Derived(derived));
        assert_eq!(write.words, "Overwritten: 2 lines added, 0 lines removed");
        assert_eq!((write.n_risks, write.is_known, write.is_measured), (0, true, false));
        assert!(!Write::of(&one, &Shown::Asked).is_known);
        assert!(!Write::of(&one, &Shown::Refused("no".into())).is_known);
    }

    #[test]
    fn a_flagged_document_is_asked_about_and_a_clean_one_is_not() {
        assert_eq!(risk_question(&[whole(&proposal("skill", &[]))]), None);
        let flagged = [whole(&proposal("skill", &["a new command", "a new address"]))];
        assert_eq!(risk_question(&flagged).expect("asks").title, "Adopt with 2 flags?");
    }

    #[test]
    fn a_new_file_is_said_to_be_new() {
        let mut one = proposal("skill", &[]);
        assert_eq!(whole(&one).words, "Overwritten: 1 line added, 0 lines removed");
        one.before.clear();
        assert_eq!(whole(&one).words, "New file: 2 lines added, 0 lines removed");
    }

    #[test]
    fn what_is_decided_is_not_asked_again() {
        let mut night = detail(NightStatus::Staged);
        night.night.decision = NightDecision::Waiting;
        assert!(!is_open(&night), "nothing is proposed");
        night.proposals = vec![proposal("skill", &[])];
        assert!(is_open(&night));
        night.night.decision = NightDecision::Adopted;
        assert!(!is_open(&night));
        night.night.decision = NightDecision::Reverted;
        assert!(is_open(&night) && why_not(&night).is_empty(), "it can be adopted again");
    }

    #[test]
    fn what_the_server_refuses_and_what_the_gate_dropped_cannot_be_adopted() {
        let mut night = detail(NightStatus::Staged);
        assert_eq!(why_not(&night), "the gate did not accept it");
        night.night.decision = NightDecision::Waiting;
        assert_eq!(why_not(&night), "");
        night.refusal = "the proposal is not verified".into();
        assert_eq!(why_not(&night), "the proposal is not verified");
    }
}
