//! What a night proposes: document by document the change, the edits behind it with their reasons, and what speaks
//! against adopting without a look.

use super::state::NightState;
use super::words::{document_name, lines_words, op_word, target_word};
use crate::components::diff_view::DiffView;
use crate::components::dynamic::{CollectAny, dynamic, nothing};
use crate::components::handler::handler;
use crate::components::icon::Icon;
use crate::fmt;
use leptos::prelude::*;
use skillopt_domain::api::NightProposal;
use skillopt_domain::diff::diff;
use skillopt_domain::night::edit::EditRecord;

#[component]
pub(super) fn Proposals(night: NightState) -> impl IntoView {
    let proposals = night.memo(|detail| detail.proposals.clone());
    dynamic(move || {
        proposals.with(|all| {
            if all.is_empty() {
                return view! { <p class="muted">"Nothing is proposed."</p> }.into_any();
            }
            let n = u64::try_from(all.len()).unwrap_or_default();
            let is_choice = all.len() > 1;
            let documents = all.iter().map(|one| document(night, one, is_choice)).collect_any();
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

fn document(night: NightState, proposal: &NightProposal, is_choice: bool) -> AnyView {
    let change = diff(&proposal.before, &proposal.after);
    let words = lines_words(change.n_added, change.n_removed);
    let name = document_name(&proposal.key);
    let label = format!("Change to {}", proposal.live_path);
    let region = label.clone();
    let title = if is_choice {
        choice(night, proposal.key.clone(), name)
    } else {
        view! { <h3>{name}</h3> }.into_any()
    };
    let risks = proposal.risks.iter().map(|risk| risk_callout(risk)).collect_any();
    let has_risks = !risks.is_empty();
    let edits = proposal.edits.iter().map(edit_item).collect_any();
    view! {
        <article class="panel night-document">
            <header class="panel__head">
                {title}
                <span class="mono path">{proposal.live_path.clone()}</span>
                <span class="end small">{words}</span>
            </header>
            {has_risks.then(|| view! { <div class="panel__body stack">{risks}</div> }.into_any())}
            <div class="night-document__diff" tabindex="0" role="region" aria-label=region>
                <DiffView diff=change label=label/>
            </div>
            {edit_list("Edits", edits)}
        </article>
    }
    .into_any()
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

fn risk_callout(risk: &str) -> AnyView {
    view! {
        <div class="callout" data-status="warning">
            <Icon name="warning"/>
            <div><span class="callout__title">"Look at this."</span>" "<span class="callout__text">{fmt::capital(risk)}</span></div>
        </div>
    }
    .into_any()
}

/// A list of edits below a head; nothing without any.
pub(super) fn edit_list(title: &'static str, edits: Vec<AnyView>) -> AnyView {
    if edits.is_empty() {
        return nothing();
    }
    let n = u64::try_from(edits.len()).unwrap_or_default();
    view! {
        <div class="panel__body">
            <p class="muted small">{title}" ("{fmt::count(n)}")"</p>
            <ol class="night-edits">{edits}</ol>
        </div>
    }
    .into_any()
}

/// An edit: what it does, its text, and why.
pub(super) fn edit_item(edit: &EditRecord) -> AnyView {
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
    view! {
        <li class="night-edits__item">
            <p><span class="badge">{op_word(edit.op)}</span>" "<span class="muted small">{target_word(edit.target)}</span></p>
            {anchor}{content}{why}
        </li>
    }
    .into_any()
}
