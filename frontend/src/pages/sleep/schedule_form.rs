//! The form of a schedule: time and zone. What its nights do is what the form of a night says.

use super::draft::{PROJECT, request};
use super::schedule::{Form, Schedules};
use super::schedule_words::{clock_parts, clock_text, option_words};
use crate::api;
use crate::components::dynamic::nothing;
use crate::components::handler::handler;
use crate::components::icon::Icon;
use crate::components::night_cells::folder;
use crate::state::memo::Memo;
use crate::state::signal::RwSignal;
use crate::time;
use leptos::prelude::*;
use skillopt_domain::api::{NightRequest, ScheduleChange, ScheduleItem, ScheduleRequest};

/// What is typed.
#[derive(Clone, Copy)]
struct Typed {
    clock: RwSignal<String>,
    zone: RwSignal<String>,
    /// An edit also takes the options of the form of a night.
    takes_options: RwSignal<bool>,
}

impl Typed {
    fn new(of: Option<&ScheduleItem>) -> Self {
        let (clock, zone) = match of {
            Some(item) => (clock_text(item.hour, item.minute), item.zone.clone()),
            None => ("03:30".to_owned(), time::zone_name()),
        };
        Self {
            clock: RwSignal::new(clock),
            zone: RwSignal::new(zone),
            takes_options: RwSignal::new(of.is_none()),
        }
    }
}

#[component]
pub(super) fn ScheduleForm(all: Schedules, open: Form) -> impl IntoView {
    let of = match open {
        Form::Of(item) => Some(*item),
        Form::New | Form::Closed => None,
    };
    let typed = Typed::new(of.as_ref());
    let title = match &of {
        Some(item) => format!("The schedule of {}", folder(&item.project)),
        None => "A new schedule".to_owned(),
    };
    let label = title.clone();
    let is_edit = of.is_some();
    let night = Memo::new(move || all.draft.texts.with(|texts| request(texts, false)));
    let is_time = Memo::new(move || typed.clock.with(|text| clock_parts(text).is_some()));
    let needs_night = move || typed.takes_options.get() && night.with(Option::is_none);
    let cannot = move || !is_time.get() || needs_night() || all.is_busy.get();
    let submit = move |event: web_sys::SubmitEvent| {
        event.prevent_default();
        send(all, typed, of.as_ref());
    };
    let go = if is_edit { "Save the schedule" } else { "Add the schedule" };
    view! {
        <form class="panel schedule-form" aria-label=label on:submit=handler(submit)>
            <div class="panel__head"><h3>{title}</h3></div>
            <div class="schedule-form__fields">{clock(typed, is_time)} {zone(typed)}</div>
            {options(all, typed, night, is_edit)}
            <div class="panel__foot">
                <span class="row end" data-gap="tight">
                    <button class="button" type="button" on:click=handler(move |_| all.form.set(Form::Closed))>
                        "Cancel"
                    </button>
                    <button
                        class="button" data-variant="primary" type="submit" disabled=move || cannot()
                        aria-busy=move || all.is_busy.get().then_some("true")
                    >
                        <Icon name="clock"/>{go}
                    </button>
                </span>
            </div>
        </form>
    }
}

fn send(all: Schedules, typed: Typed, of: Option<&ScheduleItem>) {
    let Some((hour, minute)) = typed.clock.with_untracked(|text| clock_parts(text)) else { return };
    let zone = typed.zone.with_untracked(|zone| zone.trim().to_owned());
    let night = all.draft.texts.with_untracked(|texts| request(texts, false));
    let close = move |_| all.form.set(Form::Closed);
    let Some(item) = of else {
        let Some(night) = night else { return };
        let request = ScheduleRequest { hour, minute, zone, enabled: true, night };
        let adding = async move { api::add_schedule(&request).await };
        return all.act("The schedule was not added.", adding, close);
    };
    let takes_options = typed.takes_options.with_untracked(|takes| *takes);
    let of_project = |night: NightRequest| NightRequest { project: item.project.clone(), ..night };
    let change = ScheduleChange {
        revision: Some(item.revision),
        hour: Some(hour),
        minute: Some(minute),
        zone: Some(zone),
        enabled: None,
        night: night.filter(|_| takes_options).map(of_project),
    };
    let id = item.id.clone();
    let changing = async move { api::change_schedule(&id, &change).await };
    all.act("The schedule was not changed.", changing, close);
}

fn clock(typed: Typed, is_time: Memo<bool>) -> AnyView {
    let text = move || typed.clock.get();
    let said = move || if is_time.get() { "By the clock of the zone" } else { "Which time?" };
    let state = move || (!is_time.get()).then_some("error");
    let type_in = move |event| typed.clock.set(event_target_value(&event));
    view! {
        <div class="field" data-state=move || state()>
            <label class="field__label" for="schedule-clock">"Every day at"</label>
            <div class="input">
                <input
                    id="schedule-clock" type="time" required=true aria-describedby="schedule-clock-help"
                    prop:value=move || text() on:input=handler(type_in)
                />
            </div>
            <p class="field__help" id="schedule-clock-help">{move || said()}</p>
        </div>
    }
    .into_any()
}

fn zone(typed: Typed) -> AnyView {
    let text = move || typed.zone.get();
    let type_in = move |event| typed.zone.set(event_target_value(&event));
    view! {
        <div class="field">
            <label class="field__label" for="schedule-zone">"Time zone"</label>
            <div class="input">
                <input
                    id="schedule-zone" required=true autocomplete="off" spellcheck="false"
                    aria-describedby="schedule-zone-help" prop:value=move || text() on:input=handler(type_in)
                />
            </div>
            <p class="field__help" id="schedule-zone-help">
                "An IANA name, such as Europe/Berlin or UTC; summer time is minded"
            </p>
        </div>
    }
    .into_any()
}

/// What its nights will do. A new schedule takes the form of a night; an edit does so on demand.
fn options(
    all: Schedules,
    typed: Typed,
    night: Memo<Option<NightRequest>>,
    is_edit: bool,
) -> AnyView {
    let words = move || match night.get() {
        _ if !typed.takes_options.get() => "The options stay as they are.".to_owned(),
        None => "The form above needs a look first: the project, or a number in it.".to_owned(),
        Some(night) => {
            let project = all.draft.texts.with(|texts| texts[PROJECT].trim().to_owned());
            let of = if is_edit { String::new() } else { format!("{project}: ") };
            format!("From the form above: {of}{}.", option_words(&night, &[]))
        }
    };
    let turn = move |event| typed.takes_options.set(event_target_checked(&event));
    let choice = if is_edit {
        view! {
            <label class="choice">
                <input class="check" type="checkbox" prop:checked=false on:change=handler(turn)/>
                <span>"Take the options of the form above, in place of those it has"</span>
            </label>
        }
        .into_any()
    } else {
        nothing()
    };
    view! { <div class="schedule-form__options">{choice}<p class="muted">{move || words()}</p></div> }
        .into_any()
}
