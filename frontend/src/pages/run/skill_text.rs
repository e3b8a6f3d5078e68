//! The text of a version: rendered, raw, or as the difference to another one. Loads what it shows.

use super::parts::run_skill_blame;
use super::skill::SkillView;
use super::skill_blame::Blamed;
use super::state::RunState;
use crate::api::{self, ApiError};
use crate::components::copy_button::CopyButton;
use crate::components::diff_view::{DiffLayout, DiffView};
use crate::components::dynamic::{CollectAny, nothing, when};
use crate::components::icon::Icon;
use crate::components::loaded::{Frame, loaded};
use crate::components::markdown::SkillRendered;
use crate::components::protected::{Band, bands};
use crate::fmt;
use crate::state::load::Load;
use crate::state::memo::Memo;
use leptos::prelude::*;
use skillopt_domain::api::SkillText;
use skillopt_domain::diff::diff;
use skillopt_domain::skill::{Eol, SkillWarning};
use skillopt_domain::view::SkillVersion;

/// Lines of raw text that are drawn.
const MAX_LINES: usize = 1000;

#[component]
pub(super) fn SkillTexts(
    run: RunState,
    old: Memo<Option<SkillVersion>>,
    new: Memo<Option<SkillVersion>>,
    view_as: Memo<SkillView>,
) -> impl IntoView {
    let is_diff = Memo::new(move || view_as.get().is_diff());
    let texts = Load::new(move || {
        let (id, old, new) = (run.id(), old.get().filter(|_| is_diff.get()), new.get());
        async move {
            let mut loaded = Loaded::default();
            if let Some(new) = new {
                loaded.new = Some(api::skill(&id, &new.skill).await?);
            }
            if let Some(old) = old {
                loaded.old = Some(api::skill(&id, &old.skill).await?);
            }
            Ok::<_, ApiError>(loaded)
        }
    });
    loaded(texts, Frame::new("The skill could not be loaded."), move |texts: &Loaded| {
        view! { <Shown run loaded=texts.clone() view_as shown=new/> }.into_any()
    })
}

/// The texts that a view needs.
#[derive(Clone, Debug, Default, PartialEq)]
struct Loaded {
    old: Option<SkillText>,
    new: Option<SkillText>,
}

#[component]
fn Shown(
    run: RunState,
    loaded: Loaded,
    view_as: Memo<SkillView>,
    shown: Memo<Option<SkillVersion>>,
) -> impl IntoView {
    let Some(new) = loaded.new else { return ().into_any() };
    let warnings = new.warnings.clone();
    let href = api::skill_raw_href(&run.id(), &new.sha);
    let file = run
        .version_of(&new.sha)
        .map_or_else(|| "SKILL.md".to_owned(), |version| format!("SKILL-v{version}.md"));
    let eol = match new.eol {
        Eol::Lf => "LF",
        Eol::CrLf => "CRLF",
        Eol::Cr => "CR",
    };
    let facts = format!("UTF-8, {eol}, {} tokens", fmt::count(u64::from(new.tokens)));
    let copied = new.text.clone();
    let texts = StoredValue::new((loaded.old, new));
    view! {
        <Lint warnings/>
        <div class="panel" data-clip>
            <div class="panel__head">
                <span class="mono second">"SKILL.md"</span>
                <span class="muted small hide-narrow">{facts}</span>
                <div class="section__end">
                    <CopyButton text=copied what="text"/>
                    <a class="button" data-variant="quiet" data-size="sm" href=href download=file>
                        <Icon name="download"/>"Export .md"
                    </a>
                </div>
            </div>
            {move || texts.with_value(|(old, new)| body(old.as_ref(), new, view_as.get()))}
            {when(move || view_as.get() == SkillView::Blame, move || run_skill_blame::show(Blamed { run, version: shown }), nothing)}
        </div>
    }
    .into_any()
}

fn body(old: Option<&SkillText>, new: &SkillText, view_as: SkillView) -> AnyView {
    match (view_as, old) {
        (SkillView::Rendered, _) => {
            view! { <div class="panel__body"><SkillRendered rendered=new.rendered.clone()/></div> }
                .into_any()
        }
        (SkillView::Unified, Some(old)) => difference(old, new, DiffLayout::Unified),
        (SkillView::SideBySide, Some(old)) => difference(old, new, DiffLayout::SideBySide),
        (SkillView::Blame, _) => nothing(),
        (SkillView::Raw | SkillView::Unified | SkillView::SideBySide, _) => raw(&new.text),
    }
}

fn difference(old: &SkillText, new: &SkillText, layout: DiffLayout) -> AnyView {
    if old.sha == new.sha {
        return view! { <p class="panel__body muted">"Both sides are the same text."</p> }
            .into_any();
    }
    let all = diff(&old.text, &new.text);
    let lines = |count: u32| fmt::plural(u64::from(count), "line", "lines");
    let added = format!("+{}", lines(all.n_added));
    let removed = format!("\u{2212}{}", lines(all.n_removed));
    view! {
        <p class="small diff__note"><span class="text-accept">{added}</span>" "<span class="text-reject">{removed}</span></p>
        <DiffView diff=all layout label="Difference of the two versions"/>
    }
    .into_any()
}

fn raw(text: &str) -> AnyView {
    let count = text.lines().count();
    let bands = bands(text);
    let row = |(number, line): (u32, &str)| raw_row(number, line, &bands);
    let rows = (1..).zip(text.lines()).take(MAX_LINES).map(row).collect_any();
    let rest = (count > MAX_LINES).then(|| {
        let words = format!("{} more lines are in the exported file.", count - MAX_LINES);
        view! { <tr class="diff__row-note"><td colspan="2">{words}</td></tr> }
    });
    view! {
        <div class="scroll-x" tabindex="0" role="region" aria-label="Text">
            <table class="diff" data-layout="raw" aria-label="Raw text">
                <colgroup><col class="diff__num"/><col/></colgroup>
                <tbody>{rows}{rest}</tbody>
            </table>
        </div>
    }
    .into_any()
}

/// A line; the first one of a protected part says so.
fn raw_row(number: u32, line: &str, bands: &[Band]) -> AnyView {
    let band = bands.iter().find(|band| (band.first..=band.last).contains(&number));
    let label = band.filter(|band| band.first == number).map(|band| {
        view! { <span class="protected-label" title="No edit can change this text"><Icon name="lock"/>{band.part.label()}</span> }
            .into_any()
    });
    view! {
        <tr data-protected=band.map(|_| "")><td class="diff__num">{number}</td><td>{label}{line.to_owned()}</td></tr>
    }
    .into_any()
}

#[component]
fn Lint(warnings: Vec<SkillWarning>) -> impl IntoView {
    let row = |warning: SkillWarning| {
        view! {
            <li class="checks__item" data-status="warning">
                <Icon name="warning"/>
                <span>{warning.message}</span>
                <span>{format!("line {}", warning.line)}</span>
            </li>
        }
    };
    if warnings.is_empty() {
        return nothing();
    }
    view! { <ul class="checks">{warnings.into_iter().map(row).collect_any()}</ul> }.into_any()
}
