//! The chosen task: its texts, how answers are scored, and where it is from. What is typed is checked by the server with
//! the code that reads it for a night.

use super::checks::Checks;
use super::state::Desk;
use super::trial::{Trial, follow_findings};
use super::words::{JUDGES, finding_of, state_of};
use crate::components::dynamic::{CollectAny, Item, each, when};
use crate::components::handler::handler;
use crate::components::icon::Icon;
use crate::fmt;
use crate::state::memo::Memo;
use crate::state::signal::RwSignal;
use leptos::prelude::*;
use skillopt_domain::api::{CuratedTask, TaskFinding, TaskText};

/// The task in the form, and what is wrong with it as it is typed.
#[derive(Clone, Copy)]
pub(super) struct Form {
    pub(super) desk: Desk,
    pub(super) id: StoredValue<String>,
    pub(super) text: Memo<TaskText>,
    pub(super) findings: RwSignal<Vec<TaskFinding>>,
}

impl Form {
    pub(super) fn set(self, change: impl FnOnce(&mut TaskText)) {
        self.desk.typed(&self.id.get_value(), change);
    }

    pub(super) fn finding(self, field: &'static str) -> Memo<Option<TaskFinding>> {
        Memo::new(move || self.findings.with(|findings| finding_of(findings, field)))
    }
}

#[component]
pub(super) fn Detail(desk: Desk) -> impl IntoView {
    let chosen =
        Memo::new(move || desk.chosen().map(|task| (task.id, task.muted, task.sessions.len())));
    // Stays while only its texts change, so that the focus does.
    let shown = move || {
        let task = chosen.get().and_then(|_| untrack(|| desk.chosen()));
        let Some(task) = task else {
            return vec![Item::new("none", || view! { <NothingChosen/> }.into_any())];
        };
        let key = format!("{} {} {}", task.id, task.muted, task.sessions.len());
        vec![Item::new(key, move || view! { <Task desk task/> }.into_any())]
    };
    view! { <aside class="split__side curation-side">{each(shown)}</aside> }
}

#[component]
fn NothingChosen() -> impl IntoView {
    view! {
        <div class="panel panel__body muted">
            "Choose a task to see and edit it. Pick several with their boxes to mute, move, merge or delete them."
        </div>
    }
}

#[component]
fn Task(desk: Desk, task: CuratedTask) -> impl IntoView {
    let id = StoredValue::new(task.id.clone());
    let form = Form {
        desk,
        id,
        text: Memo::new(move || desk.text(&id.get_value())),
        findings: RwSignal::new(task.findings.clone()),
    };
    follow_findings(form);
    let close = move |_| desk.choose(None);
    let submit = move |event: web_sys::SubmitEvent| {
        event.prevent_default();
        desk.save(id.get_value());
    };
    let muted = task.muted.then(|| view! { <span class="badge">"muted"</span> }.into_any());
    view! {
        <section class="panel" aria-labelledby="task-title">
            <div class="panel__head">
                <h2 id="task-title">"Task"</h2>
                <code class="muted">{task.id.clone()}</code>
                {muted}
                <button class="icon-button end" type="button" aria-label="Close" title="Close" on:click=handler(close)><Icon name="x"/></button>
            </div>
            <form class="panel__body stack" data-gap="md" on:submit=handler(submit)>
                <Area form field="intent" label="What is asked" rows=4 read=|text| &text.intent write=|text, typed| text.intent = typed/>
                <Area form field="context" label="Said around it" rows=3 read=|text| &text.context write=|text, typed| text.context = typed/>
                <JudgeFields form/>
                <Buttons form/>
            </form>
            <Trial form/>
            <Origin task/>
        </section>
    }
}

#[component]
fn Area(
    form: Form,
    field: &'static str,
    label: &'static str,
    rows: u32,
    read: fn(&TaskText) -> &String,
    write: fn(&mut TaskText, String),
) -> impl IntoView {
    let finding = form.finding(field);
    let id = format!("task-{field}");
    let help = format!("{id}-help");
    let typed = move |event| form.set(|text| write(text, event_target_value(&event)));
    let state = move || finding.with(|finding| state_of(finding.as_ref()));
    let words =
        move || finding.with(|finding| finding.as_ref().map(|one| fmt::capital(&one.message)));
    view! {
        <div class="field" data-state=move || state()>
            <label class="field__label" for=id.clone()>{label}</label>
            <textarea
                class="input" id=id rows=rows.to_string() aria-describedby=help.clone()
                prop:value=move || form.text.with(|text| read(text).clone()) on:input=handler(typed)
            ></textarea>
            <p class="field__help" id=help>{move || words()}</p>
        </div>
    }
}

#[component]
fn JudgeFields(form: Form) -> impl IntoView {
    let judge = Memo::new(move || form.text.with(|text| text.judge.clone()));
    let finding = form.finding("judge");
    let first = judge.get_untracked();
    let known = JUDGES.iter().any(|(word, _)| *word == first);
    let own = (!known).then(|| {
        view! { <option value=first.clone() selected=true>{first.clone()}</option> }.into_any()
    });
    let option = |(word, words): &(&'static str, &'static str)| {
        let is_chosen = *word == first;
        view! { <option value=*word selected=is_chosen>{*words}</option> }
    };
    let options = JUDGES.iter().map(option).collect_any();
    let choose = move |event| form.set(|text| text.judge = event_target_value(&event));
    let reference = move || {
        let label = if judge.get() == "exact" { "The answer that it contains" } else { "Rubric" };
        view! { <Area form field="reference" label rows=4 read=|text| &text.reference write=|text, typed| text.reference = typed/> }.into_any()
    };
    let state = move || finding.with(|finding| state_of(finding.as_ref()));
    let words =
        move || finding.with(|finding| finding.as_ref().map(|one| fmt::capital(&one.message)));
    view! {
        <div class="field" data-state=move || state()>
            <label class="field__label" for="task-judge">"Scored by"</label>
            <div class="input">
                <select id="task-judge" aria-describedby="task-judge-help" prop:value=move || judge.get() on:change=handler(choose)>
                    {own}{options}
                </select>
                <Icon name="down"/>
            </div>
            <p class="field__help" id="task-judge-help">{move || words()}</p>
        </div>
        {when(move || judge.get() == "rule", move || view! { <Checks form/> }.into_any(), || ().into_any())}
        {each(move || {
            let judge = judge.get();
            let is_shown = matches!(judge.as_str(), "exact" | "rubric");
            is_shown.then(|| Item::new(judge, reference)).into_iter().collect()
        })}
    }
}

#[component]
fn Buttons(form: Form) -> impl IntoView {
    let desk = form.desk;
    let is_typed = Memo::new(move || desk.is_typed(&form.id.get_value()));
    let has_error = move || form.findings.with(|all| all.iter().any(|finding| finding.is_error));
    let cannot = move || !is_typed.get() || has_error() || desk.is_sending.get();
    let back = move |_| desk.forget(&form.id.get_value());
    view! {
        <div class="row" data-gap="tight">
            <button class="button" data-variant="primary" type="submit" id="task-save" disabled=move || cannot()>"Save"</button>
            <button class="button" type="button" disabled=move || !is_typed.get() on:click=handler(back)>"Undo changes"</button>
            <span class="muted" role="status">{move || is_typed.get().then(|| "Not saved yet.".to_owned())}</span>
        </div>
    }
}

/// Where it is from.
#[component]
fn Origin(task: CuratedTask) -> impl IntoView {
    let n =
        fmt::plural(u64::try_from(task.sessions.len()).unwrap_or_default(), "session", "sessions");
    let sessions =
        task.sessions.into_iter().map(|name| view! { <li class="mono path">{name}</li> });
    let tags = task.tags.into_iter().map(|tag| view! { <span class="badge">{tag}</span> });
    let hint = Some(task.skill_hint).filter(|hint| !hint.is_empty());
    view! {
        <details class="disclosure curation-origin">
            <summary class="disclosure__head"><Icon name="right"/>{format!("From {n}")}</summary>
            <div class="disclosure__body stack" data-gap="tight">
                <ul>{sessions.collect_any()}</ul>
                {hint.map(|hint| view! { <p class="muted">"Its session used the skill "<code>{hint}</code></p> }.into_any())}
                <div class="row" data-gap="tight">{tags.collect_any()}</div>
            </div>
        </details>
    }
}
