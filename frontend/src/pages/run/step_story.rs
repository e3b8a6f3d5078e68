//! One step as a story: the verdict in words, then what led to it, in the order in which it happened.

use super::edits_table::edits_table;
use super::journal_event::JournalEvent;
use super::state::{RunState, find};
use super::step_outcome::{candidate, gate, time_and_cost};
use super::step_update::{appendix, budget, new_text, order_words, proposals};
use super::step_words as words;
use super::story_parts::{
    bullets, labelled, part, second, sentence, together, verdict_box, versions_link,
};
use super::tab::RunTab;
use super::update_words::{Item, Said, budget_words};
use crate::components::dynamic::CollectAny;
use crate::components::look::Look;
use crate::fmt;
use leptos::prelude::*;
use skillopt_domain::edit::{EditReport, EditStatus};
use skillopt_domain::event::{EventKind, FailurePattern, ReflectionSummary, StepSummary};
use skillopt_domain::hash::Sha256Hex;
use skillopt_domain::ids::TaskId;
use skillopt_domain::run::RunStatus;
use skillopt_domain::verdict::Verdict;

/// Names the words that the story is about.
const TITLE: &str = "step-title";

/// What is known about a step.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct StepFacts {
    pub(super) step: u32,
    pub(super) events: Vec<JournalEvent>,
    pub(super) before: Option<Sha256Hex>,
    pub(super) before_version: Option<u32>,
}

impl StepFacts {
    pub(super) fn find<'a, T>(&'a self, pick: impl Fn(&'a EventKind) -> Option<T>) -> Option<T> {
        find(&self.events, pick)
    }

    pub(super) fn summary(&self) -> Option<&StepSummary> {
        self.find(|kind| if let EventKind::StepFinished(step) = kind { Some(step) } else { None })
    }

    pub(super) fn verdict(&self) -> Option<&Verdict> {
        self.find(
            |kind| if let EventKind::Gated { verdict, .. } = kind { Some(verdict) } else { None },
        )
    }

    pub(super) fn before_name(&self) -> String {
        self.before_version
            .map_or_else(|| "the current skill".to_owned(), |version| format!("v{version}"))
    }
}

/// The whole story.
pub(super) fn step_story(run: RunState, facts: &StepFacts) -> AnyView {
    let head = match facts.summary() {
        Some(summary) => verdict_head(run, summary, facts),
        None => under_way(facts.step),
    };
    let parts = [
        batch(run, facts),
        what_failed(run, facts),
        merged(facts),
        budget(facts),
        proposals(facts).or_else(|| ranked(facts)),
        new_text(facts),
        appendix(facts),
        candidate(run, facts),
        gate(run, facts),
        time_and_cost(facts),
    ];
    view! {
        <article aria-labelledby=TITLE>
            {head}
            <ol class="timeline story">{parts.into_iter().flatten().collect::<Vec<_>>()}</ol>
        </article>
    }
    .into_any()
}

fn under_way(step: u32) -> AnyView {
    let said = words::VerdictWords {
        scores: format!("Step {step}"),
        middle: " is under way.".to_owned(),
        bold: "",
        end: "",
        note: "Each part appears when its stage is over.".to_owned(),
    };
    verdict_box(Some(TITLE), Look::from(RunStatus::Running), said, None, None)
}

fn verdict_head(run: RunState, summary: &StepSummary, facts: &StepFacts) -> AnyView {
    let look = Look::from(summary.action);
    let said = words::verdict_words(summary, facts.verdict());
    let link = summary.action.is_accepted().then(|| {
        let (old, new) = (summary.version.saturating_sub(1), summary.version);
        versions_link(run, facts.before_version.unwrap_or(old), new)
    });
    verdict_box(Some(TITLE), look, said, None, link)
}

fn batch(run: RunState, facts: &StepFacts) -> Option<AnyView> {
    let (score, counts) = facts.find(|kind| match kind {
        EventKind::RolledOut { score, counts, .. } => Some((*score, *counts)),
        _ => None,
    })?;
    let (passed, rest) = words::counts_words(&counts);
    let href = format!("{}?step={}&purpose=train", run.href(RunTab::Trajectories), facts.step);
    let tasks = u64::from(counts.total());
    let inner = view! {
        <p>
            <b>{passed}</b>{rest}" "{words::mean_words(score)}" "
            <a class="link" href=href>{fmt::plural(tasks, "trajectory", "trajectories")}</a>
        </p>
    };
    let note =
        format!("{}, {}", fmt::plural(tasks, "train task", "train tasks"), facts.before_name());
    Some(part("batch", "Batch", note, None, inner.into_any()))
}

fn what_failed(run: RunState, facts: &StepFacts) -> Option<AnyView> {
    let reflection = facts.find(|kind| {
        if let EventKind::Reflected { reflection, .. } = kind { Some(reflection) } else { None }
    })?;
    let most = reflection.patterns.iter().map(|pattern| pattern.count).max().unwrap_or(0);
    let bars = reflection
        .patterns
        .iter()
        .map(|pattern| pattern_bar(run, facts.step, pattern, most))
        .collect_any();
    let bars = (most > 0).then(|| view! { <div class="bars story__bars">{bars}</div> }.into_any());
    let said = second(words::reflection_words(reflection, Item::of(&facts.events)));
    let inner =
        together([bars, Some(said), lost(reflection), worked(reflection), lapses(reflection)]);
    let count = u64::try_from(reflection.patterns.len()).unwrap_or(0);
    let note = fmt::plural(
        count,
        "pattern as the optimizer describes it",
        "patterns as the optimizer describes them",
    );
    Some(part("search", "What failed", note, None, inner))
}

fn pattern_bar(
    run: RunState,
    step: u32,
    pattern: &FailurePattern,
    most: u32,
) -> impl IntoView + use<> {
    let tasks = pattern.tasks.iter().map(TaskId::as_str).collect::<Vec<_>>().join(", ");
    let href =
        format!("{}?step={step}&purpose=train&outcome=failed", run.href(RunTab::Trajectories));
    view! {
        <span>{pattern.pattern.clone()}</span>
        <span class="bars__track"><i style:width=fmt::share(pattern.count, most)></i></span>
        <a class="bars__n link" href=href title=tasks>{fmt::plural(u64::from(pattern.count), "trajectory", "trajectories")}</a>
    }
}

fn lost(reflection: &ReflectionSummary) -> Option<AnyView> {
    if reflection.lost.is_empty() {
        return None;
    }
    let count = u64::try_from(reflection.lost.len()).unwrap_or(0);
    let reasons = reflection.lost.join("; ");
    let said = format!(
        "{} without a usable reply: {reasons}",
        fmt::plural(count, "call was", "calls were")
    );
    Some(view! { <p class="text-warn">{said}</p> }.into_any())
}

fn worked(reflection: &ReflectionSummary) -> Option<AnyView> {
    labelled("What worked", &reflection.success_patterns.join("; "))
}

fn lapses(reflection: &ReflectionSummary) -> Option<AnyView> {
    let count = u64::try_from(reflection.lapse_notes.len()).unwrap_or(0);
    let notes = bullets(&reflection.lapse_notes)?;
    let said = Said {
        bold: fmt::plural(count, "lapse", "lapses"),
        rest: ": a rule stands in the skill and was not followed, so a reminder is proposed for the appendix.".to_owned(),
    };
    Some(together([Some(sentence(said)), Some(notes)]))
}

fn merged(facts: &StepFacts) -> Option<AnyView> {
    let (n_in, levels, fallbacks, n_out) = facts.find(|kind| match kind {
        EventKind::Aggregated { n_edits_in, levels, n_fallbacks, edits, proposals, .. } => {
            Some((*n_edits_in, *levels, *n_fallbacks, edits.len() + proposals.len()))
        }
        _ => None,
    })?;
    let note = match levels {
        0 => "no merge call was needed".to_owned(),
        levels => fmt::plural(u64::from(levels), "level", "levels"),
    };
    let fallbacks = (fallbacks > 0).then(|| {
        let replies = fmt::plural(u64::from(fallbacks), "merge reply", "merge replies");
        view! { <span class="text-warn">{format!(" {replies} could not be used; what they should have merged was joined as it was.")}</span> }
    });
    let item = Item::of(&facts.events);
    let before = item.count(usize::try_from(n_in).unwrap_or(usize::MAX));
    let inner = view! { <p><b>{format!("{before} → {n_out}.")}</b>{fallbacks}</p> };
    let title = match item {
        Item::Edit => "Patches merged",
        Item::Suggestion => "Suggestions merged",
        Item::WholeText => "Whole texts merged",
        Item::Proposal => "Proposals merged",
    };
    Some(part("merge", title, note, None, inner.into_any()))
}

fn ranked(facts: &StepFacts) -> Option<AnyView> {
    let (budget, ranking, selected, control) = facts.find(|kind| match kind {
        EventKind::Selected { budget, ranking, edits, control, .. } => {
            Some((*budget, *ranking, edits, *control))
        }
        _ => None,
    })?;
    let updated = facts
        .find(|kind| if let EventKind::Updated { edits, .. } = kind { Some(edits) } else { None });
    let edits = updated.cloned().unwrap_or_else(|| {
        let report = |edit: &skillopt_domain::edit::Edit| EditReport {
            edit: edit.clone(),
            status: EditStatus::OverBudget,
            detail: "not tried yet".into(),
            resembles_rejected_step: None,
        };
        selected.iter().map(report).collect()
    });
    let count = u64::try_from(edits.len()).unwrap_or(0);
    let note = format!(
        "{}, {}, {}",
        fmt::plural(count, "edit", "edits"),
        budget_words(control, budget),
        order_words(ranking, control)
    );
    let inner = if edits.is_empty() {
        view! { <p class="muted">"There was no edit to rank."</p> }.into_any()
    } else {
        edits_table(edits)
    };
    Some(part("filter", "Edits ranked", note, None, inner))
}
