//! Which edits of a proposal are taken: what is asked of the server for them, and moving between them by keys. Pure but
//! for the signals of the page.

use super::receipts::adopted;
use super::state::NightState;
use crate::state::keys::KeyUse;
use skillopt_domain::api::{
    DerivedDocument, EditChoice, NightDecision, NightDetail, NightPreview, NightProposal,
};

/// An edit of a document: its key and the edit's number, from 1.
pub(crate) type EditPlace = (String, u32);

/// What was asked of one document, and what the server says to it.
pub(super) type Answered = (EditChoice, Result<NightPreview, String>);

/// What stands in the place of a proposal when some of its edits are left out.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Shown {
    /// All edits are taken.
    Whole,
    /// The server is asked what the chosen ones make.
    Asked,
    /// They make this.
    Derived(DerivedDocument),
    /// They cannot be taken so, and why.
    Refused(String),
}

/// Edits of this document can be left out.
pub(super) fn is_choice(detail: &NightDetail, proposal: &NightProposal) -> bool {
    let is_open = matches!(detail.night.decision, NightDecision::Waiting | NightDecision::Reverted)
        && detail.refusal.is_empty();
    let last = detail.receipts.iter().rfind(|receipt| receipt.key == proposal.key);
    let is_decided = last.is_some_and(|receipt| receipt.deed != "reverted");
    is_open && !is_decided && proposal.whole.is_empty() && proposal.edits.len() > 1
}

/// The numbers of the edits of a document.
fn numbers(proposal: &NightProposal) -> std::ops::RangeInclusive<u32> {
    1..=u32::try_from(proposal.edits.len()).unwrap_or_default()
}

/// All edits that can be left out, in the order of the page.
pub(super) fn places(detail: &NightDetail) -> Vec<EditPlace> {
    let of = |proposal: &NightProposal| -> Vec<EditPlace> {
        numbers(proposal).map(|number| (proposal.key.clone(), number)).collect()
    };
    let choices = detail.proposals.iter().filter(|proposal| is_choice(detail, proposal));
    choices.flat_map(of).collect()
}

/// What the request says of documents of which some edits are left out.
pub(super) fn choices(detail: &NightDetail, left_out: &[EditPlace]) -> Vec<EditChoice> {
    let mut choices = Vec::new();
    for proposal in detail.proposals.iter().filter(|proposal| is_choice(detail, proposal)) {
        let is_in =
            |number: &u32| !left_out.iter().any(|(key, out)| *key == proposal.key && out == number);
        let edits: Vec<u32> = numbers(proposal).filter(is_in).collect();
        if edits.len() < proposal.edits.len() {
            choices.push(EditChoice { key: proposal.key.clone(), edits });
        }
    }
    choices
}

/// What is shown of a document. An answer to an older choice is none.
pub(super) fn shown(key: &str, choices: &[EditChoice], answers: &[Answered]) -> Shown {
    let Some(choice) = choices.iter().find(|choice| choice.key == key) else { return Shown::Whole };
    match answers.iter().find(|(asked, _)| asked == choice) {
        None => Shown::Asked,
        Some((_, Err(words))) => Shown::Refused(words.clone()),
        Some((_, Ok(preview))) => {
            let of = |one: &&DerivedDocument| one.key == key && one.edits == choice.edits;
            preview.documents.iter().find(of).cloned().map_or(Shown::Asked, Shown::Derived)
        }
    }
}

/// `2 of 3 edits`, over all documents that are chosen; `None` when no edit is left out.
pub(super) fn taken_words(detail: &NightDetail, choices: &[EditChoice]) -> Option<String> {
    if choices.is_empty() {
        return None;
    }
    let done = adopted(&detail.receipts);
    let open = detail.proposals.iter().filter(|one| done.iter().all(|done| done.key != one.key));
    let (mut taken, mut all) = (0, 0);
    for proposal in open {
        let choice = choices.iter().find(|choice| choice.key == proposal.key);
        taken += choice.map_or(proposal.edits.len(), |choice| choice.edits.len());
        all += proposal.edits.len();
    }
    Some(format!("{taken} of {all} edits"))
}

/// `builds on edit 1`; nothing for an edit that can be taken alone.
pub(super) fn needs_words(needs: &[u32]) -> Option<String> {
    let list: Vec<String> = needs.iter().map(ToString::to_string).collect();
    match list.as_slice() {
        [] => None,
        [one] => Some(format!("builds on edit {one}")),
        [several @ .., last] => {
            Some(format!("builds on the edits {} and {last}", several.join(", ")))
        }
    }
}

/// Takes an edit, or leaves it out.
pub(super) fn turn(night: NightState, place: &EditPlace, is_taken: bool) {
    night.left_out_edits.update(|left_out| {
        left_out.retain(|known| known != place);
        if !is_taken {
            left_out.push(place.clone());
        }
    });
}

/// `j` and `k` move between edits; `a` takes the marked one, `r` leaves it out, `Escape` marks none.
pub(super) fn on_key(night: NightState, key: &str) -> KeyUse {
    let all = night.detail.with_untracked(places);
    let now = night.cursor.get_untracked().filter(|now| all.contains(now));
    match (key, now) {
        ("j" | "k", now) if !all.is_empty() => {
            night.cursor.set(moved(&all, now.as_ref(), key == "j"));
        }
        ("a", Some(place)) => turn(night, &place, true),
        ("r", Some(place)) => turn(night, &place, false),
        ("Escape", Some(_)) => night.cursor.set(None),
        _ => return KeyUse::Ignored,
    }
    KeyUse::Used
}

/// The edit below or above; the first one when none was marked.
fn moved(all: &[EditPlace], now: Option<&EditPlace>, is_down: bool) -> Option<EditPlace> {
    let at = now.and_then(|now| all.iter().position(|place| place == now));
    let next = match at {
        Some(at) if is_down => (at + 1).min(all.len().saturating_sub(1)),
        Some(at) => at.saturating_sub(1),
        None => 0,
    };
    all.get(next).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::night::words::tests::detail;
    use skillopt_domain::night::NightStatus;
    use skillopt_domain::night::edit::{EditOp, EditRecord, Target};

    fn proposal(key: &str, n_edits: usize) -> NightProposal {
        let edit = EditRecord {
            target: Target::Memory,
            op: EditOp::Add,
            content: "text".into(),
            anchor: String::new(),
            rationale: String::new(),
        };
        NightProposal {
            key: key.into(),
            live_path: "/w/CLAUDE.md".into(),
            before: String::new(),
            after: "text\n".into(),
            edits: vec![edit; n_edits],
            risks: Vec::new(),
            needs: vec![Vec::new(); n_edits],
            whole: String::new(),
            guidance: None,
        }
    }

    fn waiting(proposals: Vec<NightProposal>) -> NightDetail {
        let mut night = detail(NightStatus::Staged);
        night.night.decision = NightDecision::Waiting;
        night.proposals = proposals;
        night
    }

    fn out(key: &str, number: u32) -> EditPlace {
        (key.to_owned(), number)
    }

    #[test]
    fn only_documents_with_an_edit_left_out_are_asked_about() {
        let night = waiting(vec![proposal("skill", 2), proposal("memory", 3)]);
        assert_eq!(choices(&night, &[]), []);
        let asked = choices(&night, &[out("memory", 2)]);
        assert_eq!(asked, [EditChoice { key: "memory".into(), edits: vec![1, 3] }]);
        assert_eq!(taken_words(&night, &asked).as_deref(), Some("4 of 5 edits"));
        assert_eq!(taken_words(&night, &[]), None);
    }

    #[test]
    fn a_document_that_is_whole_decided_or_of_one_edit_leaves_no_choice() {
        let mut whole = proposal("skill", 2);
        whole.whole = "the night does not tell".into();
        let night = waiting(vec![whole, proposal("memory", 1)]);
        assert_eq!(places(&night), []);
        let mut stale = waiting(vec![proposal("skill", 2)]);
        assert_eq!(places(&stale).len(), 2);
        stale.refusal = "the file changed".into();
        assert_eq!(places(&stale), []);
    }

    #[test]
    fn an_answer_to_an_older_choice_is_not_shown() {
        let choice = |key: &str, edits| EditChoice { key: key.into(), edits };
        let asked = [choice("memory", vec![1])];
        let derived = |edits: Vec<u32>| DerivedDocument {
            key: "memory".into(),
            edits,
            after: "x\n".into(),
            risks: Vec::new(),
            is_measured: false,
        };
        let answer = |edits: Vec<u32>| -> [Answered; 1] {
            let preview = NightPreview { documents: vec![derived(edits.clone())] };
            [(choice("memory", edits), Ok(preview))]
        };
        assert_eq!(shown("skill", &asked, &[]), Shown::Whole);
        assert_eq!(shown("memory", &asked, &[]), Shown::Asked);
        assert_eq!(shown("memory", &asked, &answer(vec![1, 2])), Shown::Asked);
        assert_eq!(shown("memory", &asked, &answer(vec![1])), Shown::Derived(derived(vec![1])));
    }

    #[test]
    fn a_refusal_is_that_of_its_own_document_and_choice() {
        let choice = |key: &str, edits| EditChoice { key: key.into(), edits };
        let refused: [Answered; 1] =
            [(choice("memory", vec![2]), Err("edit 2 builds on edit 1".into()))];
        let asked = [choice("memory", vec![2]), choice("skill", vec![1])];
        assert!(matches!(shown("memory", &asked, &refused), Shown::Refused(_)));
        assert_eq!(shown("skill", &asked, &refused), Shown::Asked);
        assert_eq!(shown("memory", &[choice("memory", vec![1])], &refused), Shown::Asked);
    }

    #[test]
    fn keys_move_over_all_edits_and_stop_at_the_ends() {
        let all = places(&waiting(vec![proposal("skill", 2), proposal("memory", 2)]));
        let first = moved(&all, None, true);
        assert_eq!(first, Some(out("skill", 1)));
        assert_eq!(moved(&all, first.as_ref(), false), first);
        assert_eq!(moved(&all, Some(&out("skill", 2)), true), Some(out("memory", 1)));
        assert_eq!(moved(&all, Some(&out("memory", 2)), true), Some(out("memory", 2)));
        assert_eq!(moved(&[], None, true), None);
    }

    #[test]
    fn what_an_edit_builds_on_is_said_in_words() {
        assert_eq!(needs_words(&[]), None);
        assert_eq!(needs_words(&[1]).as_deref(), Some("builds on edit 1"));
        assert_eq!(needs_words(&[1, 2, 4]).as_deref(), Some("builds on the edits 1, 2 and 4"));
    }
}
