//! Schedules in words, and what is typed about them. Pure.

use super::draft::{BACKENDS, SOURCES};
use crate::components::look::Look;
use skillopt_domain::api::{NightRequest, ScheduleItem, ScheduleOutcome};
use skillopt_domain::night::ScheduleOutcomeKind as Kind;

/// `03:30`, as a field for a time holds it.
pub(super) fn clock_text(hour: u32, minute: u32) -> String {
    format!("{hour:02}:{minute:02}")
}

/// Hour and minute of a field for a time; some browsers add seconds.
pub(super) fn clock_parts(text: &str) -> Option<(u32, u32)> {
    let mut parts = text.trim().split(':').map(|part| part.parse::<u32>().ok());
    let (hour, minute) = (parts.next()??, parts.next()??);
    (hour < 24 && minute < 60).then_some((hour, minute))
}

/// `every day at 03:30, Europe/Berlin`.
pub(super) fn when_words(item: &ScheduleItem) -> String {
    format!("every day at {}, {}", clock_text(item.hour, item.minute), item.zone)
}

/// What its nights do, in a few words.
pub(super) fn option_words(night: &NightRequest, more: &[String]) -> String {
    let label = |options: &[(&str, &'static str)], word: &str| {
        let found = options.iter().find(|(known, _)| *known == word);
        found.map_or_else(|| word.to_owned(), |(_, label)| (*label).to_owned())
    };
    let mut words = Vec::new();
    match night.backend.as_deref().unwrap_or_default() {
        "" => words.push("backend of the config".to_owned()),
        backend => words.push(label(&BACKENDS, backend)),
    }
    words.extend(night.model.clone());
    words.extend(
        night
            .source
            .as_deref()
            .map(|source| format!("sessions: {}", label(&SOURCES, source).to_lowercase())),
    );
    words.extend(night.lookback_hours.map(|hours| format!("look back {hours} h")));
    words.extend(night.max_tasks.map(|n| format!("at most {n} tasks")));
    words.extend(night.edit_budget.map(|n| format!("at most {n} edits")));
    words.extend(night.target_skill_path.clone());
    words.extend(night.preferences.as_ref().map(|text| format!("“{text}”")));
    if night.dry_run {
        words.push("dry run".to_owned());
    }
    words.extend(more.iter().cloned());
    words.join(", ")
}

impl From<Kind> for Look {
    fn from(kind: Kind) -> Self {
        let (status, icon, word) = match kind {
            Kind::Begun => ("done", "check", "begun"),
            Kind::Claimed => ("warning", "warning", "not begun"),
            Kind::Missed | Kind::ClockSetBack | Kind::Busy => ("skipped", "noimp", "skipped"),
            Kind::Failed => ("failed", "error", "failed"),
        };
        Self { status, icon, word }
    }
}

/// Why it became that; empty where there is nothing to say.
pub(super) fn reason(outcome: &ScheduleOutcome) -> String {
    match outcome.kind {
        Kind::Claimed => "the server ended before the night began".to_owned(),
        Kind::Busy if outcome.words.is_empty() => {
            "another night still worked on the project".to_owned()
        }
        _ => outcome.words.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use skillopt_domain::night::ScheduleOutcomeKind;

    #[test]
    fn a_time_is_read_as_browsers_write_it() {
        assert_eq!(clock_parts("03:30"), Some((3, 30)));
        assert_eq!(clock_parts(" 23:59:00 "), Some((23, 59)));
        for wrong in ["", "3", "24:00", "12:60", "x:10"] {
            assert_eq!(clock_parts(wrong), None, "{wrong}");
        }
        assert_eq!(clock_parts(&clock_text(7, 5)), Some((7, 5)));
    }

    #[test]
    fn options_are_told_by_their_names_in_the_form() {
        let night = NightRequest {
            backend: Some("claude".into()),
            max_tasks: Some(7),
            source: Some("auto".into()),
            ..NightRequest::default()
        };
        let words = option_words(&night, &["gate_metric=hard".into()]);
        assert_eq!(
            words,
            "Claude Code, sessions: all that are found, at most 7 tasks, gate_metric=hard"
        );
        assert_eq!(option_words(&NightRequest::default(), &[]), "backend of the config");
    }

    #[test]
    fn a_night_that_did_not_begin_is_never_shown_as_begun() {
        for kind in ScheduleOutcomeKind::ALL {
            let outcome =
                ScheduleOutcome { kind, due_ms: 1, at_ms: 2, night: None, words: String::new() };
            let is_begun = kind == ScheduleOutcomeKind::Begun;
            assert_eq!(Look::from(kind).word == "begun", is_begun);
            assert_eq!(Look::from(kind).status == "done", is_begun);
            assert!(reason(&outcome).is_empty() || !is_begun);
        }
    }
}
