//! A command that was asked wrongly: what is wrong, for people on standard error, and for machines as the one object
//! that they asked for. The commands of `sleep` have an object of their own.

use super::Exit;
use super::follow::Report;
use super::output::Output;
use crate::config::BadConfig;
use serde_json::json;

/// Tells the problems of a config, one a line.
pub(super) fn refuse(output: &Output, report: Report, problems: &BadConfig) -> Exit {
    for problem in &problems.0 {
        output.error(&problem.to_string());
    }
    tell_machines(output, report, "bad_config", &problems.to_string())
}

/// Tells what is wrong; `word` is the stable one for machines.
pub(super) fn refuse_as(output: &Output, report: Report, word: &str, message: &str) -> Exit {
    output.error(message);
    tell_machines(output, report, word, message)
}

fn tell_machines(output: &Output, report: Report, word: &str, message: &str) -> Exit {
    if report == Report::Json {
        let told = json!({"status": "failed", "error": word, "message": message});
        output.line(&told.to_string());
    }
    Exit::Usage
}
