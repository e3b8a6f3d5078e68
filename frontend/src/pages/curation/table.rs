//! The tasks as a table. A row is drawn anew when something of its task changed.

use super::groups::toggled;
use super::state::Desk;
use super::words::judge_words;
use crate::components::dynamic::{Item, each};
use crate::components::handler::handler;
use crate::components::icon::Icon;
use crate::fmt;
use crate::state::memo::Memo;
use leptos::prelude::*;
use skillopt_domain::api::CuratedTask;

#[component]
pub(super) fn Table(desk: Desk) -> impl IntoView {
    let shown = Memo::new(move || desk.chosen().map(|task| task.id));
    let rows = move || {
        desk.with(|tasks| tasks.tasks.iter().map(|task| item(desk, shown, task.clone())).collect())
    };
    view! {
        <div class="panel scroll-x" tabindex="0" role="region" aria-label="Table of tasks">
            <table class="table curation">
                <thead><tr>
                    <th scope="col" data-col="check"><span class="visually-hidden">"Pick"</span></th>
                    <th scope="col">"What is asked"</th>
                    <th scope="col">"Split"</th>
                    <th scope="col" title="How an answer is scored">"Scored by"</th>
                    <th scope="col" data-num>"Sessions"</th>
                    <th scope="col" title="What became of it in the session">"Then"</th>
                    <th scope="col">"Look at"</th>
                </tr></thead>
                <tbody>{each(rows)}</tbody>
            </table>
        </div>
    }
}

fn item(desk: Desk, shown: Memo<Option<String>>, task: CuratedTask) -> Item {
    let CuratedTask { id, muted, split, sessions, findings, text, .. } = &task;
    let key = format!("{id} {muted} {split} {} {} {text:?}", sessions.len(), findings.len());
    Item::new(key, move || row(desk, shown, task))
}

fn row(desk: Desk, shown: Memo<Option<String>>, task: CuratedTask) -> AnyView {
    let look = look_words(&task);
    let CuratedTask { id, muted, split, sessions, outcome, text, .. } = task;
    let n_sessions = u64::try_from(sessions.len()).unwrap_or_default();
    let (of_box, of_row, of_button, of_click) = (id.clone(), id.clone(), id.clone(), id.clone());
    let is_picked = move || desk.picked.with(|ids| ids.contains(&of_box));
    let is_shown = move || shown.with(|shown| shown.as_ref() == Some(&of_row)).then_some("true");
    let pick = move |_| desk.picked.update(|ids| *ids = toggled(ids, &id));
    let open = move |_| desk.choose(Some(of_click.clone()));
    let label = format!("Pick {}", text.intent.chars().take(60).collect::<String>());
    view! {
        <tr aria-selected=move || is_shown() data-muted=muted.then_some("true")>
            <td data-col="check">
                <input class="check" type="checkbox" aria-label=label prop:checked=move || is_picked() on:change=handler(pick)/>
            </td>
            <td class="table__wrap">
                <button class="table__main curation__intent" type="button" data-task=of_button on:click=handler(open)>{text.intent}</button>
                {muted.then(|| view! { <span class="badge">"muted"</span> }.into_any())}
            </td>
            <td>{split_words(&split).to_owned()}</td>
            <td class="second">{judge_words(&text.judge).to_owned()}</td>
            <td data-num title=sessions.join("\n")>{fmt::count(n_sessions)}</td>
            <td class="second">{outcome}</td>
            <td>{look}</td>
        </tr>
    }
    .into_any()
}

fn split_words(split: &str) -> &str {
    if split == "val" { "validation" } else { split }
}

/// What was found about it.
fn look_words(task: &CuratedTask) -> AnyView {
    let n_errors = task.findings.iter().filter(|finding| finding.is_error).count();
    let words: Vec<String> = task
        .findings
        .iter()
        .map(|finding| format!("{}: {}", finding.field, finding.message))
        .collect();
    let title = words.join("\n");
    match (n_errors, words.len()) {
        (0, 0) => view! { <span class="table__dim">{fmt::MISSING}</span> }.into_any(),
        (0, _) => view! { <span class="status" data-status="warning" title=title><Icon name="warning"/>"weak"</span> }.into_any(),
        _ => view! { <span class="status" data-status="error" title=title><Icon name="error"/>"cannot be used"</span> }.into_any(),
    }
}
