//! `sleep run` and `sleep dry-run`: a night with its progress, and what it came to.

use super::args::CommonArgs;
use super::forecast::forecast_lines;
use super::report::{night_json, one_line, tell_night};
use super::waits::prompts_wait;
use super::{order, refuse, refuse_order};
use crate::cli::Exit;
use crate::cli::output::Output;
use crate::cli::stop::Stop;
use crate::config::{Environment, cfg_options};
use crate::host::Hosting;
use crate::sleep::{BegunNight, NightCommand, NightRunError, Nights};
use serde_json::json;
use skillopt_domain::night::NightProgress;
use skillopt_sleep::handoff::{Handoff, HandoffError, HandoffErrorKind};
use skillopt_sleep::night::NightFailure;
use skillopt_store::BeginNightError;
use std::path::Path;
use tokio::sync::watch::Receiver;
use tokio_util::sync::CancellationToken;

/// Who began it, until there are users.
const ACTOR: &str = "local";

/// What is kept of a night.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kept {
    All,
    Nothing,
}

pub(super) async fn run(
    args: &CommonArgs,
    kept: Kept,
    (data_dir, env): (&Path, Environment),
    output: &Output,
) -> anyhow::Result<Exit> {
    let cfg_options = match cfg_options(&args.cfg_options) {
        Ok(settings) => settings,
        Err(problems) => return Ok(refuse(output, args.json, "bad_config", &problems.to_string())),
    };
    let order = match order(args) {
        Ok(order) => order,
        Err(err) => return Ok(refuse_order(output, args.json, &err)),
    };
    let command = NightCommand {
        order,
        is_dry: kept == Kept::Nothing,
        tasks_file: args.tasks_file.clone(),
        cfg_options,
        fresh: false,
        actor: ACTOR.to_owned(),
    };
    let hosting = Hosting::open(data_dir, env).await?;
    let nights = Nights::new(hosting.clone());
    let exit = match nights.begin(&command).await {
        Ok(begun) => work(args, &nights, begun, output).await,
        Err(err) => Ok(failed(output, args, None, &err)),
    };
    hosting.store().close().await;
    exit
}

async fn work(
    args: &CommonArgs,
    nights: &Nights,
    begun: BegunNight,
    output: &Output,
) -> anyhow::Result<Exit> {
    let stop = Stop::watch("ending the night; what is paid for is kept (once more: stop at once)");
    let cancel = CancellationToken::new();
    let over = CancellationToken::new();
    let (watch, setup, given) = (begun.watch.clone(), begun.setup.clone(), begun.given.clone());
    let (forecast, handoff, told) =
        (begun.forecast.clone(), begun.handoff.clone(), begun.told.clone());
    if !args.json {
        forecast_lines(&forecast).iter().for_each(|line| output.note(line));
    }
    if let Some(given) = &given {
        given.warnings.iter().for_each(|warning| output.note(&format!("warning: {warning}")));
    }
    let work = async {
        let done = nights.run(begun, &cancel).await;
        over.cancel();
        done
    };
    let stopping = async {
        tokio::select! {
            () = stop.cancelled.cancelled() => cancel.cancel(),
            () = stop.terminated.cancelled() => cancel.cancel(),
            () = over.cancelled() => {}
        }
    };
    let telling = tell_progress(setup.config.progress, watch.subscribe(), output, &over);
    let (done, (), ()) = tokio::join!(work, stopping, telling);
    let result = match done {
        Ok(result) => result,
        Err(err) => {
            // A night that came to its end has it in its report.
            told.iter().for_each(|words| output.note(&format!("warning: {words}")));
            return Ok(failed(output, args, handoff.as_ref(), &err));
        }
    };
    if args.json {
        let file = args.tasks_file.as_deref();
        let reviewed = given.as_ref().map(|given| given.file.reviewed);
        let mut night = night_json(&result, file.zip(reviewed));
        night["forecast"] = json!(forecast);
        output.line(&night.to_string());
    } else {
        tell_night(&result, &setup, output);
    }
    Ok(Exit::Done)
}

/// A line on standard error for each new thing that a night does, until it is over.
pub(super) async fn tell_progress(
    is_wanted: bool,
    mut counts: Receiver<NightProgress>,
    output: &Output,
    over: &CancellationToken,
) {
    if !is_wanted {
        return;
    }
    let mut said = String::new();
    loop {
        // A count that is missed is overtaken by the next one; the last one is told in any case.
        let goes_on = matches!(over.run_until_cancelled(counts.changed()).await, Some(Ok(())));
        if goes_on || counts.has_changed().unwrap_or(false) {
            let line = progress_line(&counts.borrow_and_update());
            if line != said {
                output.note(&line);
                said = line;
            }
        }
        if !goes_on {
            return;
        }
    }
}

fn progress_line(now: &NightProgress) -> String {
    let count = match now.total {
        Some(total) => format!(" {}/{total}", now.done),
        None => String::new(),
    };
    // It may quote what a provider said.
    format!("[sleep] {}: {}{count}", now.stage.as_str(), one_line(&now.doing))
}

fn failed(
    output: &Output,
    args: &CommonArgs,
    handoff: Option<&Handoff>,
    err: &NightRunError,
) -> Exit {
    let (word, exit) = match err {
        NightRunError::Order(err) => return refuse_order(output, args.json, err),
        NightRunError::Models(_) | NightRunError::Tasks(_) => ("bad_config", Exit::Usage),
        NightRunError::NotReviewed(_) => ("not_reviewed", Exit::Usage),
        NightRunError::Night(failure) if failure.is_pending() => {
            return pending(output, args, handoff);
        }
        NightRunError::Night(failure) if failure.is_cancelled() => ("cancelled", Exit::Cancelled),
        NightRunError::Night(NightFailure::Busy(_))
        | NightRunError::Begin(BeginNightError::Running(_)) => ("night_running", Exit::Failed),
        NightRunError::Handoff(err) | NightRunError::Night(NightFailure::Handoff(err)) => {
            (handoff_word(err), Exit::Failed)
        }
        NightRunError::Night(failure) if failure.is_refusal() => ("staging_refused", Exit::Failed),
        NightRunError::Night(_) => ("backend_failed", Exit::Failed),
        NightRunError::LeaseLost => ("lease_lost", Exit::Failed),
        NightRunError::Begin(BeginNightError::Store(_)) | NightRunError::Store(_) => {
            ("store_failed", Exit::Failed)
        }
    };
    if args.json {
        output.line(&json!({"ok": false, "error": word, "message": err.to_string()}).to_string());
    } else {
        output.error(&err.to_string());
    }
    exit
}

fn handoff_word(err: &HandoffError) -> &'static str {
    match err.kind() {
        HandoffErrorKind::FileSystem => "handoff_failed",
        HandoffErrorKind::NotThere | HandoffErrorKind::BadAnswer | HandoffErrorKind::Refused => {
            "handoff_refused"
        }
    }
}

/// Prompts wait: where they are, and what to do.
fn pending(output: &Output, args: &CommonArgs, handoff: Option<&Handoff>) -> Exit {
    let pending = handoff.and_then(|handoff| {
        let pending = handoff.pending().ok()?;
        Some((pending.len(), handoff.dir().to_owned()))
    });
    let (n, dir) = pending.unwrap_or_default();
    if args.json {
        let text = json!({
            "handoff_pending": n, "prompts": dir.join("PROMPTS.md"), "answers_dir": dir.join("answers"),
        });
        output.line(&text.to_string());
    } else {
        output.line(&format!(
            "{} for answers in {}; put each answer into answers/<id>.md and run the same command again",
            prompts_wait(n),
            dir.join("PROMPTS.md").display()
        ));
    }
    Exit::Pending
}

#[cfg(test)]
mod tests {
    use super::*;
    use skillopt_domain::night::NightStage;

    #[test]
    fn a_line_of_progress_has_its_stage_and_counts_what_can_be_counted() {
        let mut now = NightProgress {
            stage: NightStage::Replay,
            doing: "performing tasks".to_owned(),
            done: 2,
            total: Some(5),
            ..NightProgress::start()
        };
        assert_eq!(progress_line(&now), "[sleep] replay: performing tasks 2/5");
        now.total = None;
        assert_eq!(progress_line(&now), "[sleep] replay: performing tasks");
    }
}
