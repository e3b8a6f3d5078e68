//! The journeys in the order in which they run. Each is a sentence; each file tells one story.

mod clean_pages;
mod compare;
mod curation;
mod deep_link;
mod evidence;
mod handoff;
mod keyboard;
mod long_run;
mod models;
mod night;
mod night_troubles;
mod parts;
mod rejected;
mod restart;
mod review;
mod sample_run;
mod schedule;

use crate::harness::Stage;
use futures::FutureExt;
use futures::future::LocalBoxFuture;

type Journey = for<'a> fn(&'a mut Stage) -> LocalBoxFuture<'a, anyhow::Result<()>>;

pub(crate) const ALL: [(&str, Journey); 19] = [
    ("sample_run_from_click_to_adopt_and_revert", |stage| sample_run::run(stage).boxed_local()),
    ("a_rejected_edits_reason_can_be_read", |stage| rejected::run(stage).boxed_local()),
    ("a_deep_link_survives_reload", |stage| deep_link::run(stage).boxed_local()),
    ("a_number_leads_to_its_evidence", |stage| evidence::run(stage).boxed_local()),
    ("no_page_complains_or_overflows", |stage| clean_pages::run(stage).boxed_local()),
    ("a_fork_is_compared_with_its_run", |stage| compare::run(stage).boxed_local()),
    ("a_test_call_tells_whether_a_model_answers", |stage| models::run(stage).boxed_local()),
    ("a_night_from_the_form_to_adopt_and_revert", |stage| night::run(stage).boxed_local()),
    ("a_night_that_fails_says_why", |stage| night_troubles::refused(stage).boxed_local()),
    ("an_empty_night_says_what_to_do", |stage| night_troubles::empty(stage).boxed_local()),
    ("prompts_of_a_night_are_answered_in_the_browser", |stage| handoff::run(stage).boxed_local()),
    ("a_night_runs_with_the_tasks_that_a_person_chose", |stage| curation::run(stage).boxed_local()),
    ("one_edit_of_two_is_adopted_from_the_queue", |stage| review::run(stage).boxed_local()),
    ("a_night_every_day_is_scheduled_run_and_deleted", |stage| schedule::run(stage).boxed_local()),
    ("keyboard_only", |stage| keyboard::run(stage).boxed_local()),
    ("a_page_fetches_its_own_code_only", |stage| parts::fetched_when_shown(stage).boxed_local()),
    ("a_part_that_does_not_come_can_be_asked_for_again", |stage| {
        parts::missing_part(stage).boxed_local()
    }),
    ("ten_thousand_steps_open_like_a_few", |stage| long_run::run(stage).boxed_local()),
    ("a_server_restart_under_an_open_tab_is_healed", |stage| restart::run(stage).boxed_local()),
];
