//! What is done with the picked tasks.

use super::groups::{picked, with_their_group};
use super::state::Desk;
use crate::components::dynamic::{CollectAny, dynamic, nothing};
use crate::components::handler::handler;
use crate::components::icon::Icon;
use crate::fmt;
use crate::state::memo::Memo;
use crate::state::signal::RwSignal;
use leptos::prelude::*;
use skillopt_domain::api::TaskChange;

/// What decides which buttons there are: id, intent and whether it is muted of each picked task.
type Picked = Vec<(String, String, bool)>;

#[component]
pub(super) fn Bulk(desk: Desk) -> impl IntoView {
    let rows = Memo::new(move || {
        let ids = desk.picked.get();
        desk.with(|tasks| {
            let of = picked(tasks, &ids).into_iter();
            of.map(|task| (task.id.clone(), task.text.intent.clone(), task.muted))
                .collect::<Picked>()
        })
    });
    dynamic(move || {
        let rows = rows.get();
        if rows.is_empty() { nothing() } else { bar(desk, rows) }
    })
}

fn bar(desk: Desk, rows: Picked) -> AnyView {
    let ids: Vec<String> = rows.iter().map(|(id, ..)| id.clone()).collect();
    let of = |is_muted: bool| -> Vec<String> {
        rows.iter().filter(|(_, _, muted)| *muted == is_muted).map(|(id, ..)| id.clone()).collect()
    };
    let (used, muted) = (of(false), of(true));
    let n = fmt::plural(u64::try_from(ids.len()).unwrap_or_default(), "task", "tasks");
    let mute = (!used.is_empty()).then(|| {
        let change = TaskChange::Mute(used);
        button(
            desk,
            "minus",
            "Mute",
            "Kept, and used by no night",
            "The tasks were not muted.",
            change,
        )
    });
    let unmute = (!muted.is_empty()).then(|| {
        let change = TaskChange::Unmute(muted);
        button(
            desk,
            "plus",
            "Use again",
            "Used by the next night",
            "The tasks were not changed.",
            change,
        )
    });
    let delete = button(
        desk,
        "x",
        "Delete",
        "A later search finds it again: mute what should stay away",
        "The tasks were not deleted.",
        TaskChange::Delete(ids.clone()),
    );
    let merge = (rows.len() > 1).then(|| merge(desk, rows));
    let none = move |_| desk.picked.set(Vec::new());
    view! {
        <div class="panel curation-bulk" role="group" aria-label="Picked tasks">
            <b>{n}</b>
            {mute}{unmute}
            <Moves desk ids/>
            {merge}
            {delete}
            <button class="button end" data-variant="ghost" data-size="sm" type="button" on:click=handler(none)>"Pick none"</button>
        </div>
    }
    .into_any()
}

fn button(
    desk: Desk,
    icon: &'static str,
    word: &'static str,
    title: &'static str,
    what: &'static str,
    change: TaskChange,
) -> AnyView {
    let go = move |_| desk.change(what, change.clone());
    view! {
        <button class="button" data-size="sm" type="button" title=title disabled=move || desk.is_sending.get() on:click=handler(go)>
            <Icon name=icon/>{word}
        </button>
    }
    .into_any()
}

#[component]
fn Moves(desk: Desk, ids: Vec<String>) -> impl IntoView {
    let n_all = desk.with_untracked(|tasks| with_their_group(tasks, &ids).len());
    let title = if n_all > ids.len() {
        format!(
            "Moves {n_all} tasks: those of one session, and those that say the same, stay together"
        )
    } else {
        "Tasks of one session stay together".to_owned()
    };
    let ids = StoredValue::new(ids);
    let split = RwSignal::new(String::new());
    let choose = move |event| split.set(event_target_value(&event));
    let cannot = move || desk.is_sending.get() || split.with(String::is_empty);
    let go = move |_| desk.relocate(&ids.get_value(), split);
    view! {
        <span class="row curation-bulk__move" data-gap="tight">
            <label class="input">
                <span class="visually-hidden">"Move to"</span>
                <select prop:value=move || split.get() on:change=handler(choose)>
                    <option value="">"Move to…"</option>
                    <option value="train">"Training"</option>
                    <option value="val">"Validation"</option>
                    <option value="test">"Test"</option>
                </select>
                <Icon name="down"/>
            </label>
            <button class="button" data-size="sm" type="button" title=title disabled=move || cannot() on:click=handler(go)>"Move"</button>
        </span>
    }
}

/// One of the picked tasks keeps its texts.
fn merge(desk: Desk, rows: Picked) -> AnyView {
    let keep = RwSignal::new(rows[0].0.clone());
    let options = rows.iter().map(|(id, intent, _)| {
        let words: String = intent.chars().take(48).collect();
        view! { <option value=id.clone()>{words}</option> }
    });
    let options = options.collect_any();
    let ids: Vec<String> = rows.into_iter().map(|(id, ..)| id).collect();
    let choose = move |event| keep.set(event_target_value(&event));
    let go = move |_| {
        let change = TaskChange::Merge { ids: ids.clone(), keep: keep.get_untracked() };
        desk.change("The tasks were not merged.", change);
    };
    view! {
        <span class="row curation-bulk__merge" data-gap="tight">
            <button
                class="button" data-size="sm" type="button" title="One task with the sessions of all"
                disabled=move || desk.is_sending.get() on:click=handler(go)
            >
                <Icon name="merge"/>"Merge into"
            </button>
            <label class="input">
                <span class="visually-hidden">"The task that stays"</span>
                <select on:change=handler(choose)>{options}</select>
                <Icon name="down"/>
            </label>
        </span>
    }
    .into_any()
}
