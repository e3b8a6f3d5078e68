//! How tasks are told, and whether a night may have them. Pure.

use crate::fmt;
use skillopt_domain::api::{CuratedTask, CuratedTasks, TaskFinding};

/// Judges that a person can choose, by the word of the API.
pub(super) const JUDGES: [(&str, &str); 4] = [
    ("rubric", "A rubric, by a judge"),
    ("rule", "Checks"),
    ("exact", "An exact answer"),
    ("none", "What is asked, by a judge"),
];

/// The judge in a word or two.
pub(super) fn judge_words(judge: &str) -> &str {
    match judge {
        "rubric" => "rubric",
        "rule" => "checks",
        "exact" => "exact answer",
        "answer" => "own evaluator",
        "none" => "what is asked",
        other => other,
    }
}

/// The operations of checks, and what their argument is.
pub(super) const CHECKS: [(&str, &str); 9] = [
    ("contains", "A text that the answer contains"),
    ("not_contains", "A text that it does not contain"),
    ("regex", "A pattern that matches in it"),
    ("section_present", "A section that it has"),
    ("section_contains", "A word in one of its headings"),
    ("min_chars", "At least so many characters"),
    ("max_chars", "At most so many characters"),
    ("no_refusal", "It does more than decline"),
    ("tool_called", "A tool that it calls"),
];

/// `12 tasks: 7 train, 4 validation, 1 test, 2 muted`.
pub(super) fn head_words(tasks: &CuratedTasks) -> String {
    let used: Vec<&CuratedTask> = tasks.tasks.iter().filter(|task| !task.muted).collect();
    let n = |split: &str| used.iter().filter(|task| task.split == split).count();
    let mut parts = vec![format!("{} train", n("train")), format!("{} validation", n("val"))];
    if n("test") > 0 {
        parts.push(format!("{} test", n("test")));
    }
    let n_muted = tasks.tasks.len() - used.len();
    if n_muted > 0 {
        parts.push(format!("{n_muted} muted"));
    }
    let all = fmt::plural(u64::try_from(used.len()).unwrap_or_default(), "task", "tasks");
    format!("{all}: {}", parts.join(", "))
}

/// Why a night cannot have the tasks; `None` when it can. A simulation sends nothing to anybody.
pub(super) fn refusal(tasks: &CuratedTasks, backend: &str) -> Option<&'static str> {
    if tasks.tasks.iter().all(|task| task.muted) {
        return Some("There is no task to run with.");
    }
    let has_error = |task: &CuratedTask| task.findings.iter().any(|finding| finding.is_error);
    if tasks.tasks.iter().any(|task| !task.muted && has_error(task)) {
        return Some("A task cannot be used as it is: mend it, or mute it.");
    }
    if !tasks.reviewed && backend != "mock" {
        return Some("A model would see these tasks: look at them, and mark them as reviewed.");
    }
    None
}

/// What was found about a field.
pub(super) fn finding_of(findings: &[TaskFinding], field: &str) -> Option<TaskFinding> {
    let mut of = findings.iter().filter(|finding| finding.field == field);
    let first = of.next();
    of.find(|finding| finding.is_error).or(first).cloned()
}

/// For `data-state` of a field.
pub(super) fn state_of(finding: Option<&TaskFinding>) -> Option<&'static str> {
    finding.map(|finding| if finding.is_error { "error" } else { "warning" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::curation::groups::tests::tasks;

    #[test]
    fn the_head_counts_what_a_night_would_use() {
        let mut all = tasks(&[1, 2, 3]);
        all.tasks[1].split = "val".into();
        assert_eq!(head_words(&all), "3 tasks: 2 train, 1 validation");
        all.tasks[0].muted = true;
        assert_eq!(head_words(&all), "2 tasks: 1 train, 1 validation, 1 muted");
    }

    #[test]
    fn no_model_sees_what_nobody_reviewed() {
        let mut all = tasks(&[1]);
        assert_eq!(refusal(&all, "mock"), None);
        assert!(refusal(&all, "claude").is_some() && refusal(&all, "").is_some());
        all.reviewed = true;
        assert_eq!(refusal(&all, "claude"), None);
        let broken = TaskFinding { is_error: true, ..TaskFinding::default() };
        all.tasks[0].findings.push(broken);
        assert!(refusal(&all, "mock").is_some_and(|words| words.contains("mend")));
        all.tasks[0].muted = true;
        assert!(refusal(&all, "mock").is_some_and(|words| words.contains("no task")));
    }

    #[test]
    fn an_error_is_told_before_a_warning() {
        let of = |message: &str, is_error| TaskFinding {
            field: "judge".into(),
            message: message.into(),
            is_error,
        };
        let found = finding_of(&[of("weak", false), of("broken", true)], "judge");
        assert_eq!(found.as_ref().map(|one| one.message.as_str()), Some("broken"));
        assert_eq!((state_of(found.as_ref()), finding_of(&[], "judge")), (Some("error"), None));
    }
}
