//! Nights every day: what the server runs, a form to add or change one, and the jobs of the system's own schedulers.

use super::draft::Draft;
use super::schedule_form::ScheduleForm;
use super::schedule_jobs::SystemJobs;
use super::schedule_row::schedule_row;
use crate::api::{self, ApiError, ApiResult};
use crate::components::confirm::{Confirm, Question};
use crate::components::dynamic::{CollectAny, dynamic, nothing};
use crate::components::handler::handler;
use crate::components::icon::Icon;
use crate::components::loaded::{Frame, loaded};
use crate::components::night_cells::folder;
use crate::components::states::ErrorCallout;
use crate::state::load::Load;
use crate::state::signal::RwSignal;
use leptos::prelude::*;
use leptos::task::spawn_local;
use skillopt_domain::api::{ScheduleItem, SchedulePage};
use std::future::Future;

/// What the form is open for.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Form {
    Closed,
    New,
    Of(Box<ScheduleItem>),
}

/// What went wrong: what could not be done, and why.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Failure {
    what: &'static str,
    error: ApiError,
}

/// The section as long as it is shown.
#[derive(Clone, Copy)]
pub(super) struct Schedules {
    pub(super) draft: Draft,
    pub(super) form: RwSignal<Form>,
    pub(super) is_busy: RwSignal<bool>,
    page: Load<SchedulePage>,
    failure: RwSignal<Option<Failure>>,
    /// Asked about: is it to go?
    leaving: RwSignal<Option<ScheduleItem>>,
    question: RwSignal<Option<Question>>,
}

impl Schedules {
    /// Does something and shows what came of it: the list anew, and why it failed. `after` is for a success.
    pub(super) fn act<T: 'static>(
        self,
        what: &'static str,
        doing: impl Future<Output = ApiResult<T>> + 'static,
        after: impl FnOnce(T) + 'static,
    ) {
        self.is_busy.set(true);
        self.failure.set(None);
        spawn_local(async move {
            let done = doing.await;
            // The page may be gone by now.
            if self.is_busy.try_with_untracked(|_| ()).is_none() {
                return;
            }
            self.is_busy.set(false);
            match done {
                Ok(done) => after(done),
                Err(error) => self.failure.set(Some(Failure { what, error })),
            }
            self.page.core().again();
        });
    }

    /// Asks before a schedule goes.
    pub(super) fn ask_to_remove(self, item: &ScheduleItem) {
        self.leaving.set(Some(item.clone()));
        self.question.set(Some(Question {
            title: format!("Delete the schedule of {}?", folder(&item.project)),
            text: "No further night of it begins. Nights that it began stay, and so does what they proposed.".to_owned(),
            keep: "Keep it",
            go: "Delete the schedule",
        }));
    }

    fn remove(self) {
        let Some(item) = self.leaving.with_untracked(Clone::clone) else { return };
        let is_edited =
            self.form.with_untracked(|form| matches!(form, Form::Of(of) if of.id == item.id));
        if is_edited {
            self.form.set(Form::Closed);
        }
        let removing = async move { api::remove_schedule(&item.id).await };
        self.act("The schedule was not deleted.", removing, |_| ());
    }
}

#[component]
pub(super) fn ScheduleSection(draft: Draft) -> impl IntoView {
    let all = Schedules {
        draft,
        form: RwSignal::new(Form::Closed),
        is_busy: RwSignal::new(false),
        page: Load::new(|| async { api::schedules().await }),
        failure: RwSignal::new(None),
        leaving: RwSignal::new(None),
        question: RwSignal::new(None),
    };
    let frame = Frame::new("The schedules could not be loaded.");
    let is_open = move || all.form.with(|form| *form != Form::Closed);
    view! {
        <section class="section" data-space="tight" aria-labelledby="schedule-title">
            <div class="section__head">
                <h2 id="schedule-title">"Schedule"</h2>
                <div class="section__end">
                    <button
                        class="button" data-size="sm" type="button" disabled=move || is_open()
                        on:click=handler(move |_| all.form.set(Form::New))
                    >
                        <Icon name="plus"/>"Add a schedule"
                    </button>
                </div>
            </div>
            <p class="muted schedule-lede">
                "These nights begin only while " <code>"skillopt serve"</code>
                " runs. After nights that were missed, one is caught up as soon as it runs again."
            </p>
            {dynamic(move || match all.form.get() {
                Form::Closed => nothing(),
                open => view! { <ScheduleForm all open/> }.into_any(),
            })}
            {move || all.failure.get().map(|Failure { what, error }| view! {
                <div class="schedule-failure"><ErrorCallout what error/></div>
            }
            .into_any())}
            {loaded(all.page, frame, move |page: &SchedulePage| full(all, page))}
            <Confirm question=all.question on_go=move |()| all.remove()/>
        </section>
    }
}

fn full(all: Schedules, page: &SchedulePage) -> AnyView {
    let rows = page.schedules.iter().map(|item| schedule_row(all, item)).collect_any();
    let list = if rows.is_empty() {
        let words = "No night is scheduled in this server. Fill in the form above as for one night, try a dry run, and then add a schedule with the same options.";
        view! { <p class="panel panel__body second">{words}</p> }.into_any()
    } else {
        view! { <ul class="panel schedule-list">{rows}</ul> }.into_any()
    };
    let warnings = [page.twice.as_slice(), page.unread.as_slice()].concat();
    view! { {list} <SystemJobs jobs=page.jobs.clone() warnings/> }.into_any()
}
