//! The tasks of a night: where they are from, how they are checked, and what became of them.

use super::onward::ToTasks;
use super::state::NightState;
use super::words::{Fate, val_and_train};
use crate::components::dynamic::{CollectAny, dynamic, nothing};
use crate::components::numbers::{Delta, Score};
use crate::components::status::Status;
use crate::fmt;
use leptos::prelude::*;
use skillopt_domain::api::NightTask;

#[component]
pub(super) fn Tasks(night: NightState) -> impl IntoView {
    let tasks = night.memo(|detail| detail.tasks.clone());
    dynamic(move || {
        let tasks = tasks.get();
        if tasks.is_empty() {
            return nothing();
        }
        view! {
            <section class="section" aria-labelledby="tasks-title">
                <div class="section__head"><h2 id="tasks-title">"Tasks"</h2><span>{head_words(&tasks)}</span><ToTasks night/></div>
                <div class="panel scroll-x" tabindex="0" role="region" aria-label="Tasks">
                    <table class="table">
                        <thead><tr>
                            <th scope="col">"Task"</th>
                            <th scope="col">"What was asked"</th>
                            <th scope="col">"Split"</th>
                            <th scope="col">"Check"</th>
                            <th scope="col" data-num>"Sessions"</th>
                            <th scope="col" title="What became of it in the session">"Then"</th>
                            <th scope="col" data-num>"Before"</th>
                            <th scope="col" data-num>"After"</th>
                            <th scope="col" data-num>"Change"</th>
                            <th scope="col">"Result"</th>
                        </tr></thead>
                        <tbody>{tasks.into_iter().map(row).collect_any()}</tbody>
                    </table>
                </div>
            </section>
        }
        .into_any()
    })
}

fn head_words(tasks: &[NightTask]) -> String {
    let all = u64::try_from(tasks.len()).unwrap_or_default();
    let (val, train) = val_and_train(tasks).unwrap_or_default();
    let test = tasks.iter().filter(|task| task.split == "test").count();
    let test = if test > 0 { format!(" / {test} test") } else { String::new() };
    format!("{}: {train} train / {val} validation{test}", fmt::plural(all, "task", "tasks"))
}

/// The check in words.
fn check_words(check: &str) -> &str {
    match check {
        "rule" => "rules",
        "rubric" => "rubric, by a judge",
        "exact" => "exact answer",
        "answer" => "reference answer",
        other => other,
    }
}

fn row(task: NightTask) -> AnyView {
    let NightTask { before, after, .. } = task;
    let result = match Fate::of(before, after) {
        Fate::Changed(change) => view! { <Status look=change/> }.into_any(),
        Fate::Same => view! { <span class="table__dim">"the same"</span> }.into_any(),
        // Training tasks are not measured with the proposal.
        Fate::Unscored => view! { <span class="table__dim">{fmt::MISSING}</span> }.into_any(),
    };
    let sessions = u64::try_from(task.sessions.len()).unwrap_or_default();
    view! {
        <tr>
            <td class="mono muted">{task.id}</td>
            <td class="table__wrap">{task.intent}</td>
            <td>{task.split}</td>
            <td class="second">{check_words(&task.check).to_owned()}</td>
            <td data-num title=task.sessions.join("\n")>{fmt::count(sessions)}</td>
            <td class="second">{task.outcome}</td>
            <td data-num><Score value=before/></td>
            <td data-num class="medium"><Score value=after/></td>
            <td data-num><Delta before after/></td>
            <td>{result}</td>
        </tr>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_head_counts_each_split() {
        let task = |split: &str| NightTask { split: split.into(), ..NightTask::default() };
        let tasks = [task("train"), task("train"), task("val")];
        assert_eq!(head_words(&tasks), "3 tasks: 2 train / 1 validation");
        let with_test = [task("val"), task("test")];
        assert_eq!(head_words(&with_test), "2 tasks: 0 train / 1 validation / 1 test");
    }

    #[test]
    fn a_judge_is_not_taken_for_a_rule() {
        assert_eq!(check_words("rubric"), "rubric, by a judge");
        assert_eq!(check_words("new_kind"), "new_kind");
    }
}
