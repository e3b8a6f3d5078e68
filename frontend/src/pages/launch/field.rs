//! One field: label, key, control, unit, and under it the help or what is wrong.

use super::CheckSignal;
use super::draft::Draft;
use crate::api::{SchemaKey, SchemaKind};
use crate::components::dynamic::CollectAny;
use crate::components::handler::handler;
use crate::components::icon::Icon;
use crate::fmt;
use crate::state::memo::Memo;
use leptos::prelude::*;

/// Up to so many options stand side by side, when they are short.
const MAX_SEGMENTS: usize = 3;
const MAX_SEGMENT_CHARS: usize = 24;

/// The id of a field's control.
pub(super) fn field_id(path: &str) -> String {
    format!("field-{}", path.replace('.', "-"))
}

#[component]
pub(super) fn Field(spec: SchemaKey, draft: Draft, checking: CheckSignal) -> impl IntoView {
    let path = StoredValue::new(spec.path.clone());
    let problem = Memo::new(move || {
        path.with_value(|path| {
            checking.with(|now| now.problem(path)).filter(|_| draft.shows_problem(path))
        })
    });
    let warning = Memo::new(move || path.with_value(|path| checking.with(|now| now.warning(path))));
    let is_changed = Memo::new(move || path.with_value(|path| draft.is_changed(path)));
    let state = move || {
        if problem.with(Option::is_some) {
            Some("error")
        } else if warning.with(Option::is_some) {
            Some("warning")
        } else {
            is_changed.get().then_some("changed")
        }
    };
    let id = field_id(&spec.path);
    let help_id = format!("{id}-help");
    let help = spec.help.clone();
    let said = move || match (problem.get(), warning.get()) {
        (Some(problem), _) => view! { <Icon name="error"/> {problem} }.into_any(),
        (None, Some(warning)) => view! { <Icon name="warning"/> {warning} }.into_any(),
        (None, None) => view! { <Help text=help.clone()/> }.into_any(),
    };
    let touch = move |_| path.with_value(|path| draft.touch(path));
    if spec.kind == SchemaKind::Bool {
        return view! {
            <div class="field" data-state=move || state() on:focusout=handler(touch)>
                <label class="choice">
                    <Switch id=id path=path draft=draft help_id=help_id.clone()/>
                    <span>
                        <span class="medium">{spec.label}</span>
                        <br/>
                        <span class="field__help" id=help_id>{move || said()}</span>
                    </span>
                </label>
            </div>
        }
        .into_any();
    }
    let label = spec.label.clone();
    let (key, title) = (spec.path.clone(), spec.path.clone());
    let for_id = (!is_segmented(&spec)).then(|| id.clone());
    view! {
        <div class="field" data-state=move || state() on:focusout=handler(touch)>
            <label class="field__label" for=for_id>
                {label}
                <code title=title>{key}</code>
            </label>
            <Control spec=spec id=id help_id=help_id.clone() draft=draft problem=problem/>
            <p class="field__help" id=help_id>{move || said()}</p>
        </div>
    }
    .into_any()
}

fn is_segmented(spec: &SchemaKey) -> bool {
    let SchemaKind::Choice { options } = &spec.kind else { return false };
    let chars: usize = options.iter().map(String::len).sum();
    (2..=MAX_SEGMENTS).contains(&options.len())
        && chars <= MAX_SEGMENT_CHARS
        && !spec.default.is_empty()
}

/// Words between backticks are code.
#[component]
fn Help(text: String) -> impl IntoView {
    let piece = |(at, piece): (usize, &str)| {
        let piece = piece.to_owned();
        if at % 2 == 1 { view! { <code>{piece}</code> }.into_any() } else { piece.into_any() }
    };
    text.split('`').enumerate().map(piece).collect_any()
}

#[component]
fn Control(
    spec: SchemaKey,
    id: String,
    help_id: String,
    draft: Draft,
    problem: Memo<Option<String>>,
) -> impl IntoView {
    let segmented = is_segmented(&spec);
    let path = StoredValue::new(spec.path.clone());
    match spec.kind {
        SchemaKind::Choice { options } if segmented => {
            view! { <Segments label=spec.label options=options path=path draft=draft/> }.into_any()
        }
        SchemaKind::Choice { options } => {
            view! { <Select id=id help_id=help_id options=options default=spec.default path=path draft=draft/> }
                .into_any()
        }
        kind => {
            let is_text = matches!(kind, SchemaKind::Text | SchemaKind::Path | SchemaKind::Json);
            let input_mode = match kind {
                SchemaKind::Int => "numeric",
                SchemaKind::Float => "decimal",
                _ => "text",
            };
            let unit = Some(spec.unit).filter(|unit| !unit.is_empty());
            view! {
                <div class="input">
                    <input
                        id=id
                        class:mono=is_text
                        inputmode=input_mode
                        autocomplete="off"
                        spellcheck="false"
                        aria-invalid=move || problem.with(Option::is_some).then_some("true")
                        aria-describedby=help_id
                        prop:value=move || path.with_value(|path| draft.get(path))
                        on:input:target=move |event| {
                            path.with_value(|path| draft.set(path, event.target().value()));
                        }
                    />
                    {unit.map(|unit| view! { <span>{unit}</span> }.into_any())}
                </div>
            }
            .into_any()
        }
    }
}

#[component]
fn Switch(id: String, path: StoredValue<String>, draft: Draft, help_id: String) -> impl IntoView {
    let set = move |on: bool| path.with_value(|path| draft.set(path, on.to_string()));
    view! {
        <input
            id=id
            class="switch"
            type="checkbox"
            role="switch"
            aria-describedby=help_id
            prop:checked=move || path.with_value(|path| draft.get(path)) == "true"
            on:change:target=move |event| set(event.target().checked())
        />
    }
}

#[component]
fn Segments(
    label: String,
    options: Vec<String>,
    path: StoredValue<String>,
    draft: Draft,
) -> impl IntoView {
    let chosen = Memo::new(move || path.with_value(|path| draft.get(path)));
    let button = |option: String| {
        let text = fmt::capital(&option.replace('_', " "));
        let is_pressed = {
            let option = option.clone();
            move || chosen.with(|chosen| if *chosen == option { "true" } else { "false" })
        };
        let set = move |_| path.with_value(|path| draft.set(path, option.clone()));
        view! { <button type="button" aria-pressed=move || is_pressed() on:click=handler(set)>{text}</button> }
    };
    view! {
        <div>
            <div class="segmented" role="group" aria-label=label>
                {options.into_iter().map(button).collect_any()}
            </div>
        </div>
    }
}

#[component]
fn Select(
    id: String,
    help_id: String,
    options: Vec<String>,
    default: String,
    path: StoredValue<String>,
    draft: Draft,
) -> impl IntoView {
    let not_set =
        default.is_empty().then(|| view! { <option value="">"not set"</option> }.into_any());
    let option = |option: String| view! { <option value=option.clone()>{option.clone()}</option> };
    view! {
        <div class="input">
            <select
                id=id
                aria-describedby=help_id
                prop:value=move || path.with_value(|path| draft.get(path))
                on:change:target=move |event| path.with_value(|path| draft.set(path, event.target().value()))
            >
                {not_set}
                {options.into_iter().map(option).collect_any()}
            </select>
            <Icon name="down"/>
        </div>
    }
}
