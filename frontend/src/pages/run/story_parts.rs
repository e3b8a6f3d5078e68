//! What the stories of steps and of epochs are made of, one kind of view for each.

use super::state::RunState;
use super::step_words::VerdictWords;
use super::tab::RunTab;
use super::update_words::Said;
use crate::components::dynamic::CollectAny;
use crate::components::icon::Icon;
use crate::components::look::Look;
use leptos::prelude::*;

/// The verdict in words at reading size (`id` names them), with what it rests on and where it leads.
pub(super) fn verdict_box(
    id: Option<&'static str>,
    look: Look,
    said: VerdictWords,
    more: Option<AnyView>,
    link: Option<AnyView>,
) -> AnyView {
    view! {
        <div class="verdict" data-status=look.status>
            <Icon name=look.icon/>
            <div>
                <p class="verdict__words" id=id><b>{said.scores}</b>{said.middle}<b>{said.bold}</b>{said.end}</p>
                <p class="verdict__note">{said.note}</p>
                {more}
            </div>
            {link.map(|link| view! { <div class="row">{link}</div> }.into_any())}
        </div>
    }
    .into_any()
}

/// Leads to the difference of two versions.
pub(super) fn versions_link(run: RunState, old: u32, new: u32) -> AnyView {
    let href = format!("{}?old={old}&new={new}", run.href(RunTab::Skill));
    view! { <a class="button" data-size="sm" href=href><Icon name="swap"/>{format!("v{old} to v{new}")}</a> }
        .into_any()
}

/// One part of the story: its mark, its head, what it shows.
pub(super) fn part(
    icon: &'static str,
    title: &'static str,
    note: String,
    status: Option<&'static str>,
    inner: AnyView,
) -> AnyView {
    view! {
        <li class="timeline__item" data-status=status>
            <span class="timeline__mark"><Icon name=icon/></span>
            <div>
                <div class="timeline__head"><h3>{title}</h3><span>{note}</span></div>
                {inner}
            </div>
        </li>
    }
    .into_any()
}

/// Views one below the other.
pub(super) fn together(views: impl IntoIterator<Item = Option<AnyView>>) -> AnyView {
    views.into_iter().flatten().collect::<Vec<_>>().into_any()
}

pub(super) fn sentence(said: Said) -> AnyView {
    view! { <p><b>{said.bold}</b>{said.rest}</p> }.into_any()
}

/// A line in quiet ink.
pub(super) fn second(text: String) -> AnyView {
    view! { <p class="second">{text}</p> }.into_any()
}

/// Words of the optimizer behind what they are; `None` when it said nothing.
pub(super) fn labelled(label: &'static str, text: &str) -> Option<AnyView> {
    (!text.is_empty()).then(|| {
        view! { <p class="second story__why"><span class="muted">{label}": "</span>{text.to_owned()}</p> }
            .into_any()
    })
}

/// Text of a model as it is, line for line.
pub(super) fn quoted(text: &str) -> AnyView {
    view! { <pre class="quoted">{text.to_owned()}</pre> }.into_any()
}

/// Lines of the optimizer, as they are.
pub(super) fn bullets(lines: &[String]) -> Option<AnyView> {
    if lines.is_empty() {
        return None;
    }
    let items = lines.iter().map(|line| view! { <li>{line.clone()}</li> }).collect_any();
    Some(view! { <ul class="bullets">{items}</ul> }.into_any())
}
