//! What a night proposes: document by document the change, the edits behind it with their reasons, to be taken one by one,
//! and what speaks against adopting without a look.

use super::choice::{EditPlace, Shown, is_choice, needs_words, turn};
use super::state::NightState;
use super::words::{document_name, lines_words, op_word, target_word};
use crate::components::diff_view::DiffView;
use crate::components::dynamic::{CollectAny, dynamic, nothing};
use crate::components::handler::handler;
use crate::components::icon::Icon;
use crate::components::in_view::keep_in_view;
use crate::fmt;
use crate::state::effect::effect;
use crate::state::memo::Memo;
use leptos::prelude::*;
use skillopt_domain::api::NightProposal;
use skillopt_domain::diff::{Diff, diff};
use skillopt_domain::night::edit::{EditRecord, GuidanceRecord, Target};

#[component]
pub(super) fn Proposals(night: NightState) -> impl IntoView {
    // What can be chosen depends on what is decided.
    let proposals = night.memo(|detail| {
        let is_open: Vec<bool> =
            detail.proposals.iter().map(|proposal| is_choice(detail, proposal)).collect();
        (detail.proposals.clone(), is_open)
    });
    keep_in_view(move || night.cursor.get(), ".night-edits__item[data-cursor]");
    show_what_is_named();
    dynamic(move || {
        proposals.with(|(all, _)| {
            if all.is_empty() {
                return view! { <p class="muted">"Nothing is proposed."</p> }.into_any();
            }
            let n = u64::try_from(all.len()).unwrap_or_default();
            let is_choice = all.len() > 1;
            let documents = all.iter().map(|one| proposed(night, one, is_choice)).collect_any();
            view! {
                <section class="stack" data-gap="md" aria-labelledby="proposal-title">
                    <div class="section__head">
                        <h2 id="proposal-title">"Proposal"</h2>
                        <span>{fmt::plural(n, "document", "documents")}</span>
                    </div>
                    {documents}
                </section>
            }
            .into_any()
        })
    })
}

/// The queue leads to the proposal, which is there only after the night was loaded.
fn show_what_is_named() {
    effect(|| {
        request_animation_frame(|| {
            let is_named = location().hash().is_ok_and(|hash| hash == "#proposal-title");
            if let (true, Some(title)) = (is_named, document().get_element_by_id("proposal-title"))
            {
                title.scroll_into_view();
            }
        });
    });
}

fn proposed(night: NightState, proposal: &NightProposal, is_choice: bool) -> AnyView {
    let name = document_name(&proposal.key);
    let label = format!("Change to {}", proposal.live_path);
    let title = if is_choice {
        choice(night, proposal.key.clone(), name)
    } else {
        view! { <h3>{name}</h3> }.into_any()
    };
    let one = StoredValue::new(proposal.clone());
    let asked = Memo::new(move || one.with_value(|one| night.shown(&one.key)));
    // Nothing jumps while the server is asked.
    let last = StoredValue::new(Shown::Whole);
    let shown = Memo::new(move || {
        let now = asked.get();
        if now != Shown::Asked {
            last.set_value(now);
        }
        last.get_value()
    });
    let words = move || {
        let change = one.with_value(|one| shown.with(|shown| change(one, shown)));
        lines_words(change.n_added, change.n_removed)
    };
    let region = label.clone();
    let change_now = move || {
        let change = one.with_value(|one| shown.with(|shown| change(one, shown)));
        view! { <DiffView diff=change label=label.clone()/> }.into_any()
    };
    view! {
        <article class="panel night-document">
            <header class="panel__head">
                {title}
                <span class="mono path">{proposal.live_path.clone()}</span>
                <span class="end small">{move || words()}</span>
            </header>
            {dynamic(move || one.with_value(|one| shown.with(|shown| callouts(one, shown))))}
            <div
                class="night-document__diff" tabindex="0" role="region" aria-label=region
                aria-busy=move || asked.with(|asked| *asked == Shown::Asked).then_some("true")
            >
                {dynamic(change_now)}
            </div>
            {edits(night, proposal)}
            {guidance_list(proposal.guidance.iter().map(|one| ("", one)))}
        </article>
    }
    .into_any()
}

/// The change that would be written; where the server refuses, that of all edits.
fn change(proposal: &NightProposal, shown: &Shown) -> Diff {
    match shown {
        Shown::Derived(derived) => diff(&proposal.before, &derived.after),
        Shown::Whole | Shown::Asked | Shown::Refused(_) => diff(&proposal.before, &proposal.after),
    }
}

/// What must be known before the change is adopted.
fn callouts(proposal: &NightProposal, shown: &Shown) -> AnyView {
    let risks = match shown {
        Shown::Derived(derived) => &derived.risks,
        Shown::Whole | Shown::Asked | Shown::Refused(_) => &proposal.risks,
    };
    let mut all: Vec<AnyView> = Vec::new();
    match shown {
        Shown::Derived(derived) if !derived.is_measured => all.push(callout(
            "unverified",
            "This combination was not measured.",
            "The gate's scores are for all edits together.",
        )),
        Shown::Refused(words) => {
            all.push(callout("x", "These edits cannot be taken so.", &fmt::capital(words)));
        }
        Shown::Derived(_) | Shown::Whole | Shown::Asked => {}
    }
    all.extend(risks.iter().map(|risk| callout("warning", "Look at this.", &fmt::capital(risk))));
    if all.is_empty() {
        return nothing();
    }
    view! { <div class="panel__body stack">{all}</div> }.into_any()
}

/// The edits of a document: to be taken one by one, or to be read.
fn edits(night: NightState, proposal: &NightProposal) -> AnyView {
    if !night.detail.with_untracked(|detail| is_choice(detail, proposal)) {
        let whole = Some(&proposal.whole)
            .filter(|whole| !whole.is_empty() && proposal.edits.len() > 1)
            .map(|whole| format!("All or none: {whole}."));
        return edit_list("Edits", whole, proposal.edits.iter().map(edit_item).collect_any());
    }
    let of = |(at, edit): (usize, &EditRecord)| {
        let number = u32::try_from(at + 1).unwrap_or(u32::MAX);
        let needs = proposal.needs.get(at).map_or(&[][..], Vec::as_slice);
        edit_choice(night, (proposal.key.clone(), number), needs, edit)
    };
    let items = proposal.edits.iter().enumerate().map(of).collect_any();
    let n = u64::try_from(items.len()).unwrap_or_default();
    view! {
        <div class="panel__body">
            <div class="row">
                <p class="muted small">{fmt::plural(n, "edit", "edits")}</p>
                <p class="end small muted only-wide">
                    <kbd>"j"</kbd>" "<kbd>"k"</kbd>" move, "<kbd>"a"</kbd>" take, "<kbd>"r"</kbd>" leave out"
                </p>
            </div>
            <ol class="night-edits">{items}</ol>
        </div>
    }
    .into_any()
}

/// An edit with whether it is taken.
fn edit_choice(night: NightState, place: EditPlace, needs: &[u32], edit: &EditRecord) -> AnyView {
    let number = place.1;
    let place = StoredValue::new(place);
    let is_in = move || {
        place.with_value(|place| night.left_out_edits.with(|left_out| !left_out.contains(place)))
    };
    let is_marked = move || {
        place.with_value(|place| night.cursor.with(|cursor| cursor.as_ref() == Some(place)))
    };
    let turned = move |_| {
        let is_taken = !place.with_value(|place| {
            night.left_out_edits.with_untracked(|left_out| !left_out.contains(place))
        });
        place.with_value(|place| turn(night, place, is_taken));
        night.cursor.set(Some(place.get_value()));
    };
    let needs = needs_words(needs)
        .map(|words| view! { <span class="small muted">{words}</span> }.into_any());
    let head = view! {
        <label class="row" data-nowrap>
            <input class="check" type="checkbox" prop:checked=move || is_in() on:change=handler(turned)/>
            <b>{format!("Edit {number}")}</b>
        </label>
        <span class="badge">{op_word(edit.op)}</span>
        {needs}
        <span class="end small muted">{move || choice_words(is_in())}</span>
    };
    view! {
        <li
            class="night-edits__item"
            data-choice=move || choice_words(is_in()).replace(' ', "-")
            data-cursor=move || is_marked()
        >
            <div class="row night-edits__choice">{head}</div>
            {edit_body(edit)}
        </li>
    }
    .into_any()
}

fn choice_words(is_in: bool) -> String {
    if is_in { "taken" } else { "left out" }.to_owned()
}

/// The name of a document with whether it is adopted.
fn choice(night: NightState, key: String, name: String) -> AnyView {
    let key = StoredValue::new(key);
    let is_in =
        move || key.with_value(|key| night.left_out.with(|left_out| !left_out.contains(key)));
    let turn = move |_| {
        let key = key.get_value();
        night.left_out.update(|left_out| {
            if left_out.contains(&key) {
                left_out.retain(|one| *one != key);
            } else {
                left_out.push(key);
            }
        });
    };
    view! {
        <h3>
            <label class="row" data-nowrap>
                <input class="check" type="checkbox" prop:checked=move || is_in() on:change=handler(turn)/>
                {name}
            </label>
        </h3>
    }
    .into_any()
}

fn callout(icon: &'static str, title: &'static str, text: &str) -> AnyView {
    view! {
        <div class="callout" data-status="warning">
            <Icon name=icon/>
            <div><span class="callout__title">{title}</span>" "<span class="callout__text">{text.to_owned()}</span></div>
        </div>
    }
    .into_any()
}

/// A list of edits below a head; nothing without any.
pub(super) fn edit_list(title: &'static str, note: Option<String>, edits: Vec<AnyView>) -> AnyView {
    if edits.is_empty() {
        return nothing();
    }
    let n = u64::try_from(edits.len()).unwrap_or_default();
    view! {
        <div class="panel__body">
            <p class="muted small">{title}" ("{fmt::count(n)}")"</p>
            {note.map(|note| view! { <p class="muted small">{note}</p> }.into_any())}
            <ol class="night-edits">{edits}</ol>
        </div>
    }
    .into_any()
}

/// An edit: what it does, its text, and why.
pub(super) fn edit_item(edit: &EditRecord) -> AnyView {
    view! {
        <li class="night-edits__item">
            <p><span class="badge">{op_word(edit.op)}</span>" "<span class="muted small">{target_word(edit.target)}</span></p>
            {edit_body(edit)}
        </li>
    }
    .into_any()
}

/// Guidance of the slow update, each with the skill of its own that it is for (empty for the documents of the night), which
/// is counted with no edits; nothing without any.
pub(super) fn guidance_list<'a>(
    guidance: impl Iterator<Item = (&'a str, &'a GuidanceRecord)>,
) -> AnyView {
    let items = guidance.map(|(skill, one)| guidance_item(skill, one)).collect_any();
    edit_list("Guidance of the slow update", None, items)
}

fn guidance_item(skill: &str, guidance: &GuidanceRecord) -> AnyView {
    let end = if guidance.accepted { "part of the change" } else { "not kept" };
    let of = guidance_of(skill, guidance.target);
    let before = Some(&guidance.before).filter(|before| !before.is_empty()).map(|before| {
        view! { <p class="small second">"in place of "<code>{before.clone()}</code></p> }.into_any()
    });
    view! {
        <li class="night-edits__item">
            <p>
                <span class="badge">"guidance"</span>" "
                <span class="muted small">{of}", "{end}</span>
            </p>
            {before}
            <pre class="night-edits__text">{guidance.content.clone()}</pre>
        </li>
    }
    .into_any()
}

/// The document that guidance is for.
fn guidance_of(skill: &str, target: Target) -> String {
    match skill {
        "" => target_word(target).to_owned(),
        skill => format!("skill {skill}"),
    }
}

fn edit_body(edit: &EditRecord) -> AnyView {
    let anchor = Some(&edit.anchor).filter(|anchor| !anchor.is_empty()).map(|anchor| {
        view! { <p class="small second">"where an entry contains "<code>{anchor.clone()}</code></p> }
            .into_any()
    });
    let content = Some(&edit.content)
        .filter(|content| !content.is_empty())
        .map(|content| view! { <pre class="night-edits__text">{content.clone()}</pre> }.into_any());
    let why = Some(&edit.rationale)
        .filter(|why| !why.is_empty())
        .map(|why| view! { <p><span class="muted">"Why "</span>{why.clone()}</p> }.into_any());
    view! { {anchor}{content}{why} }.into_any()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guidance_of_a_skill_of_its_own_names_it() {
        assert_eq!(guidance_of("", Target::Memory), "memory");
        assert_eq!(guidance_of("letters", Target::Skill), "skill letters");
    }
}
