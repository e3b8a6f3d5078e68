//! The form in its groups. Keys for few are folded away, with the count of those that were changed.

use super::CheckSignal;
use super::draft::Draft;
use super::field::Field;
use super::relevance::is_relevant;
use super::source::Purpose;
use crate::api::SchemaKey;
use crate::components::dynamic::{CollectAny, nothing, when};
use crate::components::handler::handler;
use crate::components::icon::Icon;
use crate::state::effect::effect;
use crate::state::memo::Memo;
use leptos::ev::SubmitEvent;
use leptos::html;
use leptos::prelude::*;
use skillopt_domain::config::Group;

const GROUPS: [Group; 5] =
    [Group::Data, Group::Models, Group::Training, Group::Gate, Group::Limits];

fn title(group: Group) -> (&'static str, &'static str) {
    match group {
        Group::Data => {
            ("Skill and data", "What is trained, and on which tasks. Splits never share a task.")
        }
        Group::Models => (
            "Models",
            "The target does the tasks, the optimizer reads the results and proposes edits.",
        ),
        Group::Training => ("Training", "How long, and how bold each step may be."),
        Group::Gate => ("Gate", "When an edit may stay. Ties never pass."),
        Group::Limits => ("Limits", "When the run must stop. What was paid is kept."),
        Group::Advanced => ("Advanced", "Rarely needed: the defaults are right for most runs."),
    }
}

#[component]
pub(super) fn LaunchForm(
    keys: Vec<SchemaKey>,
    draft: Draft,
    checking: CheckSignal,
) -> impl IntoView {
    let (advanced, plain): (Vec<_>, Vec<_>) =
        keys.into_iter().partition(|key| key.group == Group::Advanced);
    let groups = GROUPS.map(|group| {
        let own: Vec<_> = plain.iter().filter(|key| key.group == group).cloned().collect();
        view! { <Fieldset group=group keys=own draft=draft checking=checking/> }
    });
    view! {
        <form on:submit=handler(|event: SubmitEvent| event.prevent_default()) aria-label="Run">
            {groups.into_iter().collect_any()}
            <Advanced keys=advanced draft=draft checking=checking/>
        </form>
    }
}

#[component]
fn Fieldset(
    group: Group,
    keys: Vec<SchemaKey>,
    draft: Draft,
    checking: CheckSignal,
) -> impl IntoView {
    let (name, about) = title(group);
    view! {
        <fieldset class="fieldset">
            <div class="fieldset__about"><h2>{name}</h2><p>{about}</p></div>
            <div class="fieldset__fields">
                {(group == Group::Data && draft.purpose != Purpose::Resume).then(|| view! { <NameField draft=draft/> }.into_any())}
                <Fields keys=keys draft=draft checking=checking/>
            </div>
        </fieldset>
    }
}

#[component]
fn Fields(keys: Vec<SchemaKey>, draft: Draft, checking: CheckSignal) -> impl IntoView {
    let field = move |key: SchemaKey| {
        let path = key.path.clone();
        let field =
            move || view! { <Field spec=key.clone() draft=draft checking=checking/> }.into_any();
        // A fork from a version starts from its text, whatever the file says.
        let is_overruled = path == "env.skill_init" && draft.purpose == Purpose::Fork;
        let is_shown = move || {
            is_relevant(&path, |other| draft.get(other))
                && !(is_overruled && draft.version.get().is_some())
        };
        when(is_shown, field, nothing)
    };
    keys.into_iter().map(field).collect_any()
}

#[component]
fn NameField(draft: Draft) -> impl IntoView {
    view! {
        <div class="field">
            <label class="field__label" for="field-name">"Name"</label>
            <div class="input">
                <input
                    id="field-name"
                    autocomplete="off"
                    aria-describedby="field-name-help"
                    prop:value=move || draft.name.get()
                    on:input:target=move |event| draft.name.set(event.target().value())
                />
            </div>
            <p class="field__help" id="field-name-help">{match draft.purpose {
                Purpose::Fork => "For people. That of the other run with “fork” behind it when empty.",
                Purpose::New | Purpose::Resume => "For people. Made from the benchmark and the seed when empty.",
            }}</p>
        </div>
    }
}

#[component]
fn Advanced(keys: Vec<SchemaKey>, draft: Draft, checking: CheckSignal) -> impl IntoView {
    let n_keys = keys.len() + 1;
    let paths: Vec<String> = keys.iter().map(|key| key.path.clone()).collect();
    let problems = paths.clone();
    let n_changed = move || {
        let keys = paths.iter().filter(|path| draft.is_changed(path)).count();
        keys + usize::from(draft.fresh.get())
    };
    let fold = NodeRef::<html::Details>::new();
    let has_problem = Memo::new(move || {
        checking.with(|now| problems.iter().any(|path| now.problem(path).is_some()))
    });
    // A problem must not hide: the fold opens with it, and closing stays the person's choice.
    effect(move || {
        if let (true, Some(fold)) = (has_problem.get(), fold.get()) {
            fold.set_open(true);
        }
    });
    let rest = if draft.purpose == Purpose::New { "at their default" } else { "as in that run" };
    let words = move || match n_changed() {
        0 => format!("{n_keys} {rest}"),
        n => format!("{n} of {n_keys} changed"),
    };
    view! {
        <details class="disclosure" node_ref=fold>
            <summary class="disclosure__head">
                <Icon name="right"/>
                "More keys"
                <span class="muted">{move || words()}</span>
            </summary>
            <div class="disclosure__body">
                <fieldset class="fieldset">
                    <div class="fieldset__about"><p>{title(Group::Advanced).1}</p></div>
                    <div class="fieldset__fields">
                        {(draft.purpose != Purpose::Resume).then(|| view! { <FreshField draft=draft/> }.into_any())}
                        <Fields keys=keys draft=draft checking=checking/>
                    </div>
                </fieldset>
            </div>
        </details>
    }
}

#[component]
fn FreshField(draft: Draft) -> impl IntoView {
    let state = move || draft.fresh.get().then_some("changed");
    view! {
        <div class="field" data-state=move || state()>
            <label class="choice">
                <input
                    class="switch"
                    type="checkbox"
                    role="switch"
                    prop:checked=move || draft.fresh.get()
                    on:change:target=move |event| draft.fresh.set(event.target().checked())
                />
                <span>
                    <span class="medium">"Draw anew"</span>
                    <br/>
                    <span class="field__help">"Make every call again, even those that the ledger knows."</span>
                </span>
            </label>
        </div>
    }
}
