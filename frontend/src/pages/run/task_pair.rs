//! Two attempts at one task beside each other: what the target said with either skill, what the scorer said, and what
//! differs between the skills. Messages that are the same are folded.

use super::state::RunState;
use super::tab::RunTab;
use super::task_words::{skill_name, state_word};
use super::tasks_matrix::Picked;
use crate::api;
use crate::components::diff_view::DiffView;
use crate::components::dynamic::CollectAny;
use crate::components::handler::handler;
use crate::components::icon::Icon;
use crate::components::loaded::{Frame, loaded};
use crate::components::states::SkeletonRows;
use crate::components::status::{Status, StatusForm};
use crate::components::trajectory_view::{Turn, evaluation, speaker};
use crate::fmt;
use crate::state::load::Load;
use crate::state::signal::RwSignal;
use leptos::prelude::*;
use skillopt_domain::api::{TaskMatrix, Trajectory, TrajectoryPair};

#[component]
pub(super) fn PairPane(
    run: RunState,
    page: StoredValue<TaskMatrix>,
    picked: Picked,
    right: u64,
) -> impl IntoView {
    let pair = Load::new(move || {
        // Without another attempt the one that is there stands alone.
        let (id, left) = (run.id(), picked.left.get().unwrap_or(right));
        async move { api::trajectory_pair(&id, left, right).await }
    });
    let frame = Frame::new("The two attempts could not be loaded.")
        .loading(|| view! { <div class="panel"><SkeletonRows rows=12/></div> }.into_any());
    let full = loaded(pair, frame, move |pair: &TrajectoryPair| pair_view(run, page, picked, pair));
    view! { <div class="split__side">{full}</div> }
}

fn name_of(run: RunState, trajectory: &Trajectory) -> String {
    skill_name(run.version_of(&trajectory.row.skill), trajectory.row.step)
}

fn pair_view(
    run: RunState,
    page: StoredValue<TaskMatrix>,
    picked: Picked,
    pair: &TrajectoryPair,
) -> AnyView {
    let (left, right) = (&pair.left, &pair.right);
    let is_one = left.row.id == right.row.id;
    let (old, new) = (name_of(run, left), name_of(run, right));
    let task = right.row.outcome.task.to_string();
    let title = if is_one { format!("{task}, {new}") } else { format!("{task}, {old} → {new}") };
    let about = right.row.outcome.title.clone();
    let close = move |_| {
        picked.right.set(None);
        picked.left.set(None);
    };
    let link = |trajectory: &Trajectory, name: &str| {
        let id = trajectory.row.id;
        let href = format!("{}?id={id}&task={}", run.href(RunTab::Trajectories), encoded(&task));
        view! { <a class="link" href=href>{format!("Trajectory with {name}")}</a> }.into_any()
    };
    let step = (right.row.step > 0).then(|| {
        let words = format!("Step {}", right.row.step);
        view! { <a class="link" href=run.step_href(right.row.step)>{words}</a> }.into_any()
    });
    view! {
        <article class="panel" aria-labelledby="pair-title">
            <div class="panel__head">
                <h3 id="pair-title">{title}</h3>
                <span class="truncate" title=about.clone()>{about.clone()}</span>
                <div class="section__end">
                    {other_picker(page, picked, &task, (left.row.id, right.row.id))}
                    <button class="icon-button" type="button" aria-label="Close" title="Close (Esc)" on:click=handler(close)><Icon name="x"/></button>
                </div>
            </div>
            <p class="panel__body row small" data-gap="wide">
                {step}
                {(!is_one).then(|| link(left, &old))}
                {link(right, &new)}
            </p>
            {if is_one { alone(right) } else { beside(pair, &old, &new) }}
            {(!is_one).then(|| skill_change(pair, &old, &new))}
        </article>
    }
    .into_any()
}

fn encoded(text: &str) -> String {
    String::from(js_sys::encode_uri_component(text))
}

/// Another attempt at the same task to compare with, of those on this page.
fn other_picker(
    page: StoredValue<TaskMatrix>,
    picked: Picked,
    task: &str,
    (left, right): (u64, u64),
) -> AnyView {
    let options = page.with_value(|page| {
        let row = page.rows.iter().find(|row| row.task == task)?;
        let others = row.cells.iter().zip(&page.columns).filter_map(|(cell, column)| {
            let id = cell.id.filter(|id| *id != right)?;
            let name =
                format!("{}, {}", skill_name(column.version, column.step), state_word(cell.state));
            Some(view! { <option value=id.to_string() selected=id == left>{name}</option> })
        });
        Some(others.collect_any())
    });
    let choose = move |event| picked.left.set(event_target_value(&event).parse().ok());
    options
        .filter(|options| !options.is_empty())
        .map(|options| {
            view! {
                <label class="input pair__other">
                    <select aria-label="Compare with" on:change=handler(choose)>{options}</select>
                    <Icon name="down"/>
                </label>
            }
            .into_any()
        })
        .into_any()
}

fn head(trajectory: &Trajectory, name: &str) -> AnyView {
    view! {
        <div class="pair__head">
            <b class="medium">{name.to_owned()}</b>
            <span class="end"><Status look=trajectory.row.outcome.outcome.kind() form=StatusForm::Plain/></span>
        </div>
    }
    .into_any()
}

fn facts(trajectory: &Trajectory) -> AnyView {
    let tokens = match (trajectory.prompt_tokens, trajectory.completion_tokens) {
        (Some(read), Some(written)) => format!("{} tokens", fmt::count(read + written)),
        _ => "tokens unknown".to_owned(),
    };
    let latency = trajectory.latency_ms.map(fmt::duration);
    let ledger = if trajectory.row.outcome.cached { "reused" } else { "called" };
    let ledger = trajectory.row.outcome.call.as_ref().map(|_| ledger);
    view! {
        <div class="turn pair__facts"><span>{tokens}</span><span>{latency}</span><span>{ledger}</span></div>
    }
    .into_any()
}

fn beside(pair: &TrajectoryPair, old: &str, new: &str) -> AnyView {
    let (left, right) = (&pair.left, &pair.right);
    let n = left.messages.len().max(right.messages.len());
    let place = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    let is_system = |at: &usize| {
        let role = |one: &Trajectory| one.messages.get(*at).is_some_and(|one| one.role == "system");
        role(left) && role(right)
    };
    let differs = (0..n).filter(|at| !pair.same.contains(&place(*at)));
    // The system message holds the skill, whose difference is shown below: it would only push the answers down.
    let (system, said): (Vec<usize>, Vec<usize>) =
        differs.partition(|at| pair.skill.is_some() && is_system(at));
    let turns = |at: usize| {
        let side = |trajectory: &Trajectory, name: &str| {
            match trajectory.messages.get(at) {
            Some(message) => {
                let who = format!("{name}, {}", speaker(&message.role).to_ascii_lowercase());
                view! { <Turn message=message.clone() who/> }.into_any()
            }
            None => view! { <div class="turn"><span class="turn__who">{name.to_owned()}</span><p class="muted">"Nothing more was said."</p></div> }.into_any(),
        }
        };
        row(side(left, old), side(right, new))
    };
    let silent = (n == 0).then(|| {
        view! { <p class="pair__fold">"No call was answered, so there is nothing to read."</p> }
            .into_any()
    });
    let system: Vec<AnyView> = system.into_iter().map(turns).collect();
    let said: Vec<AnyView> = said.into_iter().map(turns).collect();
    view! {
        <div class="pair">
            {row(head(left, old), head(right, new))}
            {same_turns(pair)}
            {folded_system(system)}
            {silent}
            {said}
            {row(scored(left), scored(right))}
            {row(facts(left), facts(right))}
        </div>
    }
    .into_any()
}

/// Two views beside each other.
fn row(left: AnyView, right: AnyView) -> AnyView {
    view! { <div class="pair__row">{left}{right}</div> }.into_any()
}

/// The two system messages, shown when asked for.
fn folded_system(rows: Vec<AnyView>) -> Option<AnyView> {
    if rows.is_empty() {
        return None;
    }
    Some(
        view! {
            <details class="pair__system">
                <summary><span class="link">"The system messages hold the skills; what differs is shown below"</span></summary>
                {rows}
            </details>
        }
        .into_any(),
    )
}

fn scored(trajectory: &Trajectory) -> AnyView {
    let outcome = trajectory.row.outcome.outcome.clone();
    view! { <div class="turn pair__score">{evaluation(outcome)}</div> }.into_any()
}

/// What both were told alike is said once, and shown when asked for.
fn same_turns(pair: &TrajectoryPair) -> Option<AnyView> {
    let same: Vec<_> = pair
        .same
        .iter()
        .filter_map(|at| pair.right.messages.get(usize::try_from(*at).ok()?).cloned())
        .collect();
    if same.is_empty() {
        return None;
    }
    let count = u64::try_from(same.len()).unwrap_or(0);
    let words = format!("{} the same in both", fmt::plural(count, "message is", "messages are"));
    let is_open = RwSignal::new(false);
    let label = move || if is_open.get() { "Hide" } else { "Show" };
    let same = StoredValue::new(same);
    let shown = move || {
        is_open.get().then(|| {
            let turns = same.get_value().into_iter().map(|message| {
                let who = speaker(&message.role);
                view! { <Turn message who/> }
            });
            view! { <div class="pair__same">{turns.collect_any()}</div> }.into_any()
        })
    };
    Some(
        view! {
            <div class="pair__fold">
                {words}
                <button class="link" type="button" aria-expanded=move || is_open.get().to_string() on:click=handler(move |_| is_open.update(|open| *open = !*open))>{move || label()}</button>
                {move || shown()}
            </div>
        }
        .into_any(),
    )
}

fn alone(trajectory: &Trajectory) -> AnyView {
    let turns = trajectory.messages.iter().map(|message| {
        let who = speaker(&message.role);
        view! { <Turn message=message.clone() who/> }
    });
    view! {
        <p class="pair__fold">"There is no earlier result to compare with."</p>
        <div class="trajectory__turns">{turns.collect_any()}<div class="turn pair__score">{evaluation(trajectory.row.outcome.outcome.clone())}</div></div>
    }
    .into_any()
}

fn skill_change(pair: &TrajectoryPair, old: &str, new: &str) -> AnyView {
    let title = format!("The skill, {old} → {new}");
    let inner = match &pair.skill {
        None => view! { <p class="panel__body muted">"One of the texts is not known."</p> }.into_any(),
        Some(diff) if diff.n_added + diff.n_removed == 0 => {
            view! { <p class="panel__body muted">"Both attempts had the same skill: they differ by the draw."</p> }.into_any()
        }
        Some(diff) => view! { <div class="scroll-x"><DiffView diff=diff.clone() label=title.clone()/></div> }.into_any(),
    };
    view! { <h4 class="pair__title">{title}</h4>{inner} }.into_any()
}
