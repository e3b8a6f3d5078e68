//! Drives a run in this process and tells what happens: bars, lines or nothing.

use super::Exit;
use super::bars::Bars;
use super::foresee::Foresight;
use super::narrate::{Narrator, spend_line};
use super::output::Output;
use super::stop::Stop;
use super::summary::TrainSummary;
use crate::config::run_config;
use crate::host::Hosting;
use skillopt_domain::event::EventKind;
use skillopt_domain::ids::RunId;
use skillopt_domain::run::RunStatus;
use skillopt_engine::ctx::RunControl;
use skillopt_store::{Command, Signal};
use tokio::sync::broadcast::error::RecvError;
use tokio_util::sync::CancellationToken;

/// Events that are read at once.
const PAGE: u32 = 500;

/// What is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Report {
    /// Lines, and bars on a terminal.
    People,
    /// One JSON object at the end.
    Json,
}

impl Report {
    pub(super) fn of(json: bool) -> Self {
        if json { Self::Json } else { Self::People }
    }
}

/// Drives a run to its end and prints its summary.
pub(super) async fn follow(
    hosting: &Hosting,
    run: &RunId,
    report: Report,
    output: &Output,
) -> anyhow::Result<Exit> {
    let stop = Stop::watch("cancelling; what is paid for is kept (once more: stop at once)");
    let leash = RunControl::new();
    let control = leash.0.clone();
    let over = CancellationToken::new();
    let drive = async {
        let status = hosting.drive(run, leash, stop.terminated.clone()).await;
        over.cancel();
        status
    };
    let cancel = async {
        tokio::select! {
            () = stop.cancelled.cancelled() => {
                // So that a dashboard shows it too; the engine is told either way.
                let now_ms = hosting.clock().now_ms();
                if let Err(err) = hosting.store().request(run, Command::Cancel, "cli", now_ms).await {
                    tracing::debug!("the store did not take the cancellation: {err}");
                }
                control.cancel();
            }
            () = over.cancelled() => {}
        }
    };
    let tell = tell(hosting, run, report, output, &over);
    let (status, (), told) = tokio::join!(drive, cancel, tell);
    told?;
    finish(hosting, run, status?, report, output).await
}

/// Prints the end of a run: for machines one object, for people what it brought.
pub(super) async fn finish(
    hosting: &Hosting,
    run: &RunId,
    status: RunStatus,
    report: Report,
    output: &Output,
) -> anyhow::Result<Exit> {
    let detail = hosting.store().run_detail(run).await?;
    if report == Report::Json {
        let summary = TrainSummary::read(hosting.store(), &detail).await?;
        output.line(&serde_json::to_string(&summary)?);
    }
    let reason = detail.summary.detail.as_deref().unwrap_or_default();
    match status {
        RunStatus::Done => {}
        RunStatus::Cancelled => output.note(&format!("cancelled; {}", how_to_go_on(run))),
        RunStatus::Capped => output.error(&format!("{reason}; {}", how_to_go_on(run))),
        RunStatus::Interrupted => output.error(&format!("interrupted; {}", how_to_go_on(run))),
        RunStatus::Failed => output.error(&format!("the run failed: {reason}")),
        status => output.error(&format!("the run is {status}: {reason}")),
    }
    if report == Report::People {
        let best = detail.view.best.as_ref();
        if let (RunStatus::Done, Some(best)) = (status, best) {
            let from = match best.step {
                0 => "the initial skill stays the best one".to_owned(),
                step => format!("the best skill is that of step {step}"),
            };
            output.line(&format!("done: {from}; {}/best_skill.md", detail.summary.out_root));
        }
        output.line(&spend_line(&detail.summary.spend));
    }
    Ok(match status {
        RunStatus::Done => Exit::Done,
        RunStatus::Cancelled => Exit::Cancelled,
        _ => Exit::Failed,
    })
}

fn how_to_go_on(run: &RunId) -> String {
    format!("`skillopt runs resume {}` goes on from here", run.short())
}

/// Tells the journal as it grows, until the run is over and all of it is told.
async fn tell(
    hosting: &Hosting,
    run: &RunId,
    report: Report,
    output: &Output,
    over: &CancellationToken,
) -> anyhow::Result<()> {
    let store = hosting.store();
    let mut signals = store.subscribe();
    let row = store.run_row(run).await?;
    let config = run_config(&row.config)?;
    let evaluation = &config.evaluation;
    let mut narrator = Narrator::new(evaluation.gate_metric, evaluation.gate_mixed_weight);
    let mut foresight = Foresight::default();
    let bars = (report == Report::People && output.is_terminal()).then(Bars::new);
    if report == Report::People {
        output.line(&format!("run {run} ({}) in {}", row.name, row.out_root));
    }
    let seq_at_start = row.seq;
    let mut seq = 0;
    loop {
        let is_over = over.is_cancelled();
        loop {
            let events = store.events_after(run, seq, PAGE).await?;
            seq = events.last().map_or(seq, |event| event.seq);
            for event in events.iter().filter(|_| report == Report::People) {
                let left = foresight.line(event);
                if event.seq <= seq_at_start && matches!(event.kind, EventKind::Status { .. }) {
                    // Pauses and ends of earlier attempts are no news.
                    continue;
                }
                let mut lines = narrator.lines(&event.kind, event.at_ms);
                lines.extend(left);
                match &bars {
                    Some(bars) => {
                        bars.event(&event.kind);
                        bars.aside(|| lines.iter().for_each(|line| output.line(line)));
                    }
                    None => lines.iter().for_each(|line| output.line(line)),
                }
            }
            // A page that is not full is the last one.
            if u32::try_from(events.len()).is_ok_and(|read| read < PAGE) {
                break;
            }
        }
        if is_over {
            break;
        }
        wait_for_events(run, &mut signals, bars.as_ref(), over).await;
    }
    if let Some(bars) = &bars {
        bars.finish();
    }
    Ok(())
}

/// Returns when there may be new events, or the run is over; draws live counts meanwhile.
async fn wait_for_events(
    run: &RunId,
    signals: &mut tokio::sync::broadcast::Receiver<Signal>,
    bars: Option<&Bars>,
    over: &CancellationToken,
) {
    loop {
        // A lost signal is made good by the next one, or by the end.
        let signal = tokio::select! {
            signal = signals.recv() => signal,
            () = over.cancelled() => return,
        };
        match signal {
            Ok(Signal::Run(about)) if about == *run => return,
            Ok(Signal::Progress { run: about, progress }) if about == *run => {
                if let Some(bars) = bars {
                    bars.progress(&progress);
                }
            }
            Ok(_) => {}
            Err(RecvError::Lagged(_)) => return,
            Err(RecvError::Closed) => over.cancelled().await,
        }
    }
}
