//! A schedule as it is shown.

use super::daily_of;
use super::kept::KeptNight;
use crate::adopt::Adopter;
use skillopt_domain::api::{NightRequest, ScheduleItem, ScheduleOutcome};
use skillopt_sleep::schedule::Daily;
use skillopt_store::{OutcomeRow, ScheduleRow};

/// A schedule with its next time, and why its nights cannot begin as things are. Looks at its folder, so it blocks.
pub(crate) fn schedule_item(
    row: ScheduleRow,
    outcomes: Vec<OutcomeRow>,
    adopter: &Adopter,
    now_ms: u64,
) -> ScheduleItem {
    let daily = daily_of(&row);
    let kept = KeptNight::parse(&row.terms.options_json);
    let folder = adopter.readable_folder(&row.project);
    let next_ms = daily.as_ref().ok().filter(|_| row.terms.is_enabled);
    let next_ms = next_ms.map(|daily| next_of(daily, &row.served, now_ms));
    let problem = match (&daily, &kept, folder) {
        (Err(err), _, _) => err.to_string(),
        (_, Err(err), _) => format!("its options cannot be read: {err}"),
        (_, _, Err(err)) => err.to_string(),
        (Ok(_), Ok(_), Ok(_)) => String::new(),
    };
    let bare = NightRequest { project: row.project.clone(), ..NightRequest::default() };
    let (night, more) =
        kept.map_or((bare, Vec::new()), |kept| (kept.request(&row.project), kept.more()));
    ScheduleItem {
        id: row.id,
        project: row.project,
        hour: row.terms.time.hour.into(),
        minute: row.terms.time.minute.into(),
        zone: row.terms.time.zone,
        enabled: row.terms.is_enabled,
        next_ms,
        problem,
        night,
        more,
        created_at_ms: row.created_at_ms,
        created_by: row.created_by,
        changed_at_ms: row.changed_at_ms,
        changed_by: row.changed_by,
        revision: row.revision,
        outcomes: outcomes.into_iter().map(outcome).collect(),
    }
}

fn next_of(daily: &Daily, served: &str, now_ms: u64) -> u64 {
    let plan = daily.plan(Some(served), now_ms);
    plan.run.map_or(plan.next_ms, |due| due.due_ms)
}

fn outcome(row: OutcomeRow) -> ScheduleOutcome {
    let OutcomeRow { kind, due_ms, at_ms, night, words } = row;
    ScheduleOutcome { kind, due_ms, at_ms, night, words }
}
