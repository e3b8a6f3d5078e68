//! What is wrong with a task, or to look at, found by the code that reads it for a night; and how it scores a reply.

use crate::judge::{Judge, Judged, ProblemPlace, inspect};
use crate::split::overlaps;
use crate::task::{ReferenceKind, Split, TaskRecord};
use crate::tasks_file::TasksFile;

/// Something about a field of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// `intent`, `judge`, `reference`, or `checks[0]` and so on.
    pub field: String,
    /// What it is.
    pub message: String,
    /// No night can use the task so.
    pub is_error: bool,
}

impl Finding {
    fn new(field: &str, message: &str, is_error: bool) -> Self {
        Self { field: field.to_owned(), message: message.to_owned(), is_error }
    }
}

/// Everything about a task.
#[must_use]
pub fn look_at(task: &TaskRecord) -> Vec<Finding> {
    let mut findings = Vec::new();
    if task.intent.trim().is_empty() {
        findings.push(Finding::new("intent", "say what is asked", true));
    }
    if is_rule(task) {
        let found = inspect(&task.judge);
        let of = |problems: Vec<crate::judge::JudgeProblem>, is_error: bool| {
            problems.into_iter().map(move |problem| Finding {
                field: field_of(&problem.place),
                message: problem.message,
                is_error,
            })
        };
        findings.extend(of(found.errors, true));
        findings.extend(of(found.warnings, false));
        return findings;
    }
    let has_reference = !task.reference.trim().is_empty();
    match task.reference_kind {
        ReferenceKind::Exact if !has_reference => {
            let message = "the reference is empty, so no reply can pass";
            findings.push(Finding::new("reference", message, false));
        }
        ReferenceKind::Rubric if !has_reference => {
            let message = "without a rubric the judge goes by what is asked";
            findings.push(Finding::new("reference", message, false));
        }
        ReferenceKind::Answer => {
            let message = "it needs an evaluator of its own, which is not there";
            findings.push(Finding::new("judge", message, false));
        }
        _ => {}
    }
    findings
}

/// Checks count before anything else, as when a night reads the task.
pub(super) fn is_rule(task: &TaskRecord) -> bool {
    task.reference_kind == ReferenceKind::Rule
        || task.judge.as_object().is_some_and(|judge| !judge.is_empty())
}

fn field_of(place: &ProblemPlace) -> String {
    match place {
        ProblemPlace::Judge => "judge".to_owned(),
        ProblemPlace::Check { number, .. } => format!("checks[{}]", number - 1),
    }
}

/// The score of a reply, and for each check whether it passed. Calls no model.
///
/// # Errors
/// In words, why there is no score.
pub fn score(task: &TaskRecord, reply: &str) -> Result<(Judged, Vec<bool>), String> {
    let judge = Judge::of(task).map_err(|error| error.problem.to_string())?;
    let by_model = |what: &str| format!("a model scores it by {what}; none is called here");
    match &judge {
        Judge::Rule(rule) => Ok((rule.score(reply, &[]), rule.passed(reply, &[]))),
        Judge::Rubric { .. } => Err(by_model("the rubric")),
        Judge::Answer => Err("it needs an evaluator of its own, which is not there".to_owned()),
        Judge::Outcome => Err(by_model("what is asked")),
        Judge::Exact { .. } => match judge.score(reply, &[]) {
            Some(judged) => Ok((judged, Vec::new())),
            None => Err("nothing scores it".to_owned()),
        },
    }
}

/// What a person should look at in the tasks as a whole.
#[must_use]
pub fn warnings(file: &TasksFile) -> Vec<String> {
    let n = |split| file.tasks.iter().filter(|task| task.split == split).count();
    let (n_train, n_val, n_test) = (n(Split::Train), n(Split::Val), n(Split::Test));
    let mut words: Vec<String> = Vec::new();
    if file.tasks.is_empty() {
        return words;
    }
    if n_val == 0 && n_test == 0 && n_train > 1 {
        words.push(
            "All tasks train, so a night splits them anew; move one to validation to decide it yourself"
                .to_owned(),
        );
    } else if n_val == 0 {
        words.push("No task validates, so a night can prove nothing".to_owned());
    }
    if n_train == 0 {
        words.push("No task trains, so there is nothing to make edits from".to_owned());
    }
    words.extend(overlaps(&file.tasks).iter().map(ToString::to_string));
    words
}
