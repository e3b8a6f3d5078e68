//! Blame in the Skill tab: beside each line what brought it, and for a chosen line the way back: edit, step,
//! trajectories, what stood there before.

use super::edits_table::{first_line, op_words};
use super::query::{QueryValue, query_value};
use super::state::RunState;
use super::tab::RunTab;
use crate::api;
use crate::components::dynamic::{Item, dynamic, each, nothing};
use crate::components::handler::handler;
use crate::components::icon::Icon;
use crate::components::loaded::{Frame, loaded};
use crate::components::protected::{Band, bands};
use crate::components::states::Empty;
use crate::fmt;
use crate::state::load::Load;
use crate::state::memo::Memo;
use crate::state::signal::RwSignal;
use leptos::prelude::*;
use skillopt_domain::api::{BlamedLine, OriginNote, SkillBlame};
use skillopt_domain::blame::Origin;
use skillopt_domain::edit::SourceType;
use skillopt_domain::view::SkillVersion;

/// Lines drawn at once.
const WINDOW: usize = 200;

/// The version whose lines are followed.
#[derive(Clone, Copy)]
pub(crate) struct Blamed {
    pub(super) run: RunState,
    pub(super) version: Memo<Option<SkillVersion>>,
}

#[component]
pub(super) fn BlameView(of: Blamed) -> impl IntoView {
    let Blamed { run, version } = of;
    let chosen = query_value::<u32>("line");
    let blame = Load::new(move || {
        let (id, version) = (run.id(), version.get().map_or(0, |version| version.version));
        async move { api::blame(&id, version).await }
    });
    let frame = Frame::new("The origins of the lines could not be loaded.").missing(|| {
        let text = "The text of this version, or of one before it, is not kept, so that no line can be followed.";
        view! { <Empty title="Not known" text/> }.into_any()
    });
    loaded(blame, frame, move |blame: &SkillBlame| {
        let blame = StoredValue::new(blame.clone());
        view! {
            <div class="stack" data-gap="md">
                {lines(blame, chosen)}
                {dynamic(move || why(run, blame, chosen.get()))}
            </div>
        }
        .into_any()
    })
}

/// The origin in short.
fn origin_name(origin: Origin) -> String {
    match origin {
        Origin::Initial => "start".to_owned(),
        Origin::Edit { step, number } => format!("s{step}·e{number}"),
        Origin::Rewrite { step } => format!("s{step}·text"),
        Origin::Notes { step } => format!("s{step}·notes"),
        Origin::Step { step } => format!("s{step}·?"),
        Origin::SlowUpdate { epoch } => format!("epoch {epoch}"),
        Origin::Unknown => "unknown".to_owned(),
    }
}

/// The origin in a sentence.
fn origin_words(origin: Origin) -> String {
    match origin {
        Origin::Initial => "It stands in the initial skill.".to_owned(),
        Origin::Edit { step, number } => format!("Edit {number} of step {step}."),
        Origin::Rewrite { step } => format!("The new text that was written in step {step}."),
        Origin::Notes { step } => {
            format!("Notes on rules that were not followed, taken in at step {step}.")
        }
        Origin::Step { step } => format!("Step {step}; which of its edits is not known."),
        Origin::SlowUpdate { epoch } => format!("Guidance that was written after epoch {epoch}."),
        Origin::Unknown => "Not known: a text in between is missing.".to_owned(),
    }
}

/// How long ago a line came, by its version: the newest version, the newer half, the older one.
fn age(version: Option<u32>, newest: u32) -> &'static str {
    match version {
        Some(version) if version > 0 && version == newest => "new",
        Some(version) if version > 0 && version * 2 > newest => "mid",
        _ => "old",
    }
}

fn lines(blame: StoredValue<SkillBlame>, chosen: QueryValue<u32>) -> AnyView {
    let shown = RwSignal::new(WINDOW);
    let total = blame.with_value(|blame| blame.lines.len());
    let text = blame.with_value(|blame| {
        blame.lines.iter().map(|line| line.text.as_str()).collect::<Vec<_>>().join("\n")
    });
    let bands = StoredValue::new(bands(&text));
    let row = move |at: usize| {
        Item::new(at.to_string(), move || {
            blame.with_value(|blame| bands.with_value(|bands| line_row(blame, at, bands, chosen)))
        })
    };
    let more = move || {
        let left = total.saturating_sub(shown.get());
        if left == 0 {
            return nothing();
        }
        view! {
            <tr class="diff__fold"><td colspan="3">
                <button class="link" type="button" on:click=handler(move |_| shown.update(|n| *n += WINDOW))>
                    {format!("Show {} more of {left} lines", left.min(WINDOW))}
                </button>
            </td></tr>
        }
        .into_any()
    };
    view! {
        <div class="scroll-x blame__text" tabindex="0" role="region" aria-label="Text with the origin of each line">
            <table class="diff" data-layout="raw" aria-label="Origin of each line">
                <colgroup><col class="diff__blame"/><col class="diff__num"/><col/></colgroup>
                <tbody>
                    {each(move || (0..shown.get().min(total)).map(row).collect())}
                    {move || more()}
                </tbody>
            </table>
        </div>
    }
    .into_any()
}

fn line_row(blame: &SkillBlame, at: usize, bands: &[Band], chosen: QueryValue<u32>) -> AnyView {
    let number = u32::try_from(at + 1).unwrap_or(u32::MAX);
    let line = &blame.lines[at];
    let band = bands.iter().find(|band| (band.first..=band.last).contains(&number));
    let label = band.filter(|band| band.first == number).map(|band| {
        view! { <span class="protected-label" title="No edit can change this text"><Icon name="lock"/>{band.part.label()}</span> }
            .into_any()
    });
    let is_chosen = move || chosen.get() == Some(number);
    let note = note_of(blame, line.origin);
    let name = note.map_or_else(|| "unknown".to_owned(), |note| origin_name(note.origin));
    let title = note.map(|note| origin_words(note.origin));
    let age = note.map(|note| age(note.version, blame.version));
    view! {
        <tr data-protected=band.map(|_| "") data-selected=move || is_chosen().then_some("")>
            <td class="diff__blame">
                <button class="blame" type="button" data-age=age title=title aria-pressed=move || is_chosen().to_string()
                    on:click=handler(move |_| chosen.set(Some(number).filter(|_| !is_chosen())))>{name}</button>
            </td>
            <td class="diff__num">{number}</td>
            <td>{label}{line.text.clone()}</td>
        </tr>
    }
    .into_any()
}

fn note_of(blame: &SkillBlame, place: u32) -> Option<&OriginNote> {
    blame.origins.get(usize::try_from(place).ok()?)
}

/// Why the chosen line reads as it does.
fn why(run: RunState, blame: StoredValue<SkillBlame>, chosen: Option<u32>) -> AnyView {
    let found = blame.with_value(|blame| {
        let at = usize::try_from(chosen?.checked_sub(1)?).ok()?;
        let line = blame.lines.get(at)?.clone();
        let note = note_of(blame, line.origin)?.clone();
        let before = line.before.and_then(|before| note_of(blame, before).cloned());
        Some((line, note, before))
    });
    let Some(((line, note, before), number)) = found.zip(chosen) else {
        return view! { <p class="muted small blame__hint">"Choose the origin of a line to see what led to it."</p> }.into_any();
    };
    let step = step_of(note.origin);
    let link = step.map(|step| {
        view! { <a class="link" href=run.step_href(step)>{format!("Open step {step}")}</a> }
            .into_any()
    });
    view! {
        <section class="panel" aria-labelledby="why-title">
            <div class="panel__head">
                <h3 id="why-title">{format!("Why line {number} reads this way")}</h3>
                <span>{note.version.map(|version| format!("since v{version}"))}</span>
                <div class="section__end">{link}</div>
            </div>
            <ol class="chain">
                {link_of_chain("Came with", edit_words(&note), edit_text(&line, &note))}
                {link_of_chain("Step", step_words(run, &note), note.reason.clone().into_any())}
                {link_of_chain("Seen in", seen_words(&note), seen_link(run, &note))}
                {link_of_chain("Before", before.as_ref().map_or_else(|| "A new line".to_owned(), |before| origin_name(before.origin)), before_text(before.as_ref()))}
            </ol>
        </section>
    }
    .into_any()
}

fn link_of_chain(label: &'static str, bold: String, rest: AnyView) -> AnyView {
    view! {
        <li><span class="chain__k">{label}</span><b class="medium">{bold}</b><div class="second">{rest}</div></li>
    }
    .into_any()
}

fn step_of(origin: Origin) -> Option<u32> {
    match origin {
        Origin::Edit { step, .. }
        | Origin::Rewrite { step }
        | Origin::Notes { step }
        | Origin::Step { step } => Some(step),
        Origin::Initial | Origin::SlowUpdate { .. } | Origin::Unknown => None,
    }
}

fn edit_words(note: &OriginNote) -> String {
    let name = origin_name(note.origin);
    match &note.edit {
        Some(edit) => format!("{name}, {}", op_words(&edit.op)),
        None => name,
    }
}

fn edit_text(line: &BlamedLine, note: &OriginNote) -> AnyView {
    match &note.edit {
        Some(edit) if first_line(edit.gist()) != line.text.trim() => {
            format!("“{}”", first_line(edit.gist())).into_any()
        }
        _ => origin_words(note.origin).into_any(),
    }
}

fn step_words(run: RunState, note: &OriginNote) -> String {
    let score = note.version.and_then(|version| {
        run.view.with_untracked(|view| {
            let found = view.versions.iter().find(|one| one.version == version)?;
            Some(format!("{}, {}", fmt::score(found.score), fmt::n(found.n)))
        })
    });
    let version =
        note.version.map_or_else(|| "not known".to_owned(), |version| format!("v{version}"));
    match (step_of(note.origin), score) {
        (Some(step), Some(score)) => format!("Step {step}, {version}: {score}"),
        (Some(step), None) => format!("Step {step}"),
        (None, Some(score)) => format!("{version}: {score}"),
        (None, None) => version,
    }
}

fn seen_words(note: &OriginNote) -> String {
    let support = note.edit.as_ref().map(|edit| edit.support_count).filter(|count| *count > 0);
    match support {
        Some(count) => fmt::plural(u64::from(count), "trajectory", "trajectories"),
        None => fmt::MISSING.to_owned(),
    }
}

/// The trajectories from which the edit was made: those of its step's batch that ended in the same way.
fn seen_link(run: RunState, note: &OriginNote) -> AnyView {
    let Some(step) = step_of(note.origin) else { return nothing() };
    let kind = note.edit.as_ref().map(|edit| match edit.source_type {
        SourceType::Failure => ("failed", "&outcome=failed"),
        SourceType::Success => ("passed", "&outcome=passed"),
    });
    let (word, filter) = kind.unwrap_or(("scored", ""));
    let href = format!("{}?purpose=train&step={step}{filter}", run.href(RunTab::Trajectories));
    let words = match note.n_trajectories {
        Some(n) => format!(
            "{} of the batch of step {step}",
            fmt::plural(
                u64::from(n),
                &format!("{word} trajectory"),
                &format!("{word} trajectories")
            )
        ),
        None => format!("Trajectories of step {step}"),
    };
    view! { <a class="link" href=href>{words}</a> }.into_any()
}

fn before_text(before: Option<&OriginNote>) -> AnyView {
    match before {
        None => "It took no other line's place.".into_any(),
        Some(note) => {
            let gist = note.edit.as_ref().map(|edit| format!(" “{}”", first_line(edit.gist())));
            format!("{}{}", origin_words(note.origin), gist.unwrap_or_default()).into_any()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_that_is_not_known_says_so() {
        assert_eq!(origin_name(Origin::Unknown), "unknown");
        assert_eq!(origin_name(Origin::Edit { step: 14, number: 2 }), "s14·e2");
        assert_eq!(origin_name(Origin::Step { step: 3 }), "s3·?");
        assert!(origin_words(Origin::Step { step: 3 }).contains("not known"));
        assert_eq!((step_of(Origin::Notes { step: 3 }), step_of(Origin::Initial)), (Some(3), None));
    }

    #[test]
    fn the_newest_lines_stand_out() {
        let ages = [Some(0), None, Some(2), Some(5), Some(8)].map(|version| age(version, 8));
        assert_eq!(ages, ["old", "old", "old", "mid", "new"]);
        assert_eq!(age(Some(0), 0), "old");
    }
}
