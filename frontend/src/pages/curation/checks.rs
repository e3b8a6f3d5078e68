//! The checks of a task: a row each, with what is wrong with it under it.

use super::detail::Form;
use super::words::{CHECKS, finding_of, state_of};
use crate::components::dynamic::{CollectAny, Item, each};
use crate::components::handler::handler;
use crate::components::icon::Icon;
use crate::fmt;
use crate::state::memo::Memo;
use leptos::prelude::*;
use skillopt_domain::api::TaskCheck;

#[component]
pub(super) fn Checks(form: Form) -> impl IntoView {
    let n = Memo::new(move || form.text.with(|text| text.checks.len()));
    let rows =
        move || (0..n.get()).map(|at| Item::new(at.to_string(), move || row(form, at))).collect();
    let add = move |_| {
        let check = TaskCheck { op: CHECKS[0].0.to_owned(), arg: String::new() };
        form.set(|text| text.checks.push(check));
    };
    view! {
        <fieldset class="curation-checks">
            <legend class="field__label">"Checks"</legend>
            {each(rows)}
            <button class="button" data-size="sm" type="button" on:click=handler(add)><Icon name="plus"/>"Add a check"</button>
        </fieldset>
    }
}

fn row(form: Form, at: usize) -> AnyView {
    let check =
        Memo::new(move || form.text.with(|text| text.checks.get(at).cloned().unwrap_or_default()));
    let finding =
        Memo::new(move || form.findings.with(|all| finding_of(all, &format!("checks[{at}]"))));
    let state = move || finding.with(|finding| state_of(finding.as_ref()));
    let about = move || check.with(|check| about(&check.op));
    let words = move || {
        finding
            .with(|finding| finding.as_ref().map(|one| fmt::capital(&one.message)))
            .unwrap_or_else(|| about().to_owned())
    };
    let put = move |change: fn(&mut TaskCheck, String), typed: String| {
        form.set(|text| {
            if let Some(check) = text.checks.get_mut(at) {
                change(check, typed);
            }
        });
    };
    let op = check.with_untracked(|check| check.op.clone());
    let option = |(word, _): &(&'static str, &'static str)| {
        view! { <option value=*word selected=*word == op>{*word}</option> }
    };
    let is_known = CHECKS.iter().any(|(word, _)| *word == op);
    let own = (!is_known)
        .then(|| view! { <option value=op.clone() selected=true>{op.clone()}</option> }.into_any());
    let options = CHECKS.iter().map(option).collect_any();
    let choose = move |event| put(|check, op| check.op = op, event_target_value(&event));
    let typed = move |event| put(|check, arg| check.arg = arg, event_target_value(&event));
    let remove = move |_| {
        form.set(|text| {
            if at < text.checks.len() {
                text.checks.remove(at);
            }
        });
    };
    let number = at + 1;
    let help = format!("check-{at}-help");
    view! {
        <div class="field curation-check" data-state=move || state()>
            <div class="curation-check__row">
                <div class="input">
                    <select aria-label=format!("Operation of check {number}") prop:value=move || check.with(|check| check.op.clone()) on:change=handler(choose)>
                        {own}{options}
                    </select>
                    <Icon name="down"/>
                </div>
                <div class="input">
                    <input
                        class="mono" aria-label=format!("Argument of check {number}") aria-describedby=help.clone() autocomplete="off" spellcheck="false"
                        disabled=move || check.with(|check| check.op == "no_refusal")
                        prop:value=move || check.with(|check| check.arg.clone()) on:input=handler(typed)
                    />
                </div>
                <button class="icon-button" type="button" aria-label=format!("Remove check {number}") title="Remove" on:click=handler(remove)><Icon name="x"/></button>
            </div>
            <p class="field__help" id=help>{move || words()}</p>
        </div>
    }
    .into_any()
}

fn about(op: &str) -> &'static str {
    CHECKS
        .iter()
        .find(|(word, _)| *word == op)
        .map_or("This operation is not known", |(_, about)| about)
}
