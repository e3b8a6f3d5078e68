//! `skillopt eval`: a skill on one split, once or several times.

use super::Exit;
use super::args::EvalArgs;
use super::follow::Report;
use super::narrate::{number, outage_line, spend_line, up_line};
use super::output::Output;
use super::refusal::refuse;
use super::stop::Stop;
use super::summary::in_units;
use crate::config::{BadConfig, Environment, flag};
use crate::host::{HostError, Hosting, MeasureRequest, MeasureState, Measured};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;
use skillopt_domain::api::EvalRow;
use skillopt_domain::config::Resolved;
use skillopt_domain::outage::Outage;
use skillopt_domain::run::RunTransition;
use skillopt_domain::spend::SpendByRole;
use skillopt_engine::TrainError;
use skillopt_engine::ctx::RunControl;
use skillopt_engine::ports::Clock;
use skillopt_engine::train::Measurement;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

pub(super) async fn run(args: EvalArgs, data_dir: &Path, output: &Output) -> anyhow::Result<Exit> {
    let env = Environment::of_process(data_dir);
    let resolved = match config_of(&args, &env) {
        Ok(resolved) => resolved,
        Err(problems) => return Ok(refuse(output, Report::of(args.json), &problems)),
    };
    let hosting = Hosting::open(data_dir, env).await?;
    let exit = measure(&args, &hosting, resolved, output).await;
    hosting.store().close().await;
    exit
}

/// No optimizer is called, so that none needs to be set up.
fn config_of(args: &EvalArgs, env: &Environment) -> Result<Resolved, BadConfig> {
    let no_optimizer = flag("model.optimizer_backend", "eval", "mock");
    let resolved = args.config.load(env, &[no_optimizer])?;
    crate::config::check_but_prices(&resolved)?;
    Ok(resolved)
}

async fn measure(
    args: &EvalArgs,
    hosting: &Hosting,
    resolved: Resolved,
    output: &Output,
) -> anyhow::Result<Exit> {
    let request = MeasureRequest {
        out_root: args.config.out_root(&resolved).map(Path::to_path_buf),
        skill: args.skill.clone(),
        split: args.split.into(),
        repeats: args.repeats,
        fresh: args.fresh,
        resolved,
    };
    let started = Instant::now();
    let stop = Stop::watch("cancelling; what is paid for is kept (once more: stop at once)");
    let (control, ctx) = RunControl::new();
    let (state, watched) = watch::channel(MeasureState::default());
    let over = CancellationToken::new();
    let work = async {
        let measured = hosting.measure(&request, &ctx, &state).await;
        over.cancel();
        measured
    };
    let cancel = async {
        tokio::select! {
            () = stop.cancelled.cancelled() => control.cancel(),
            () = stop.terminated.cancelled() => control.cancel(),
            () = over.cancelled() => {}
        }
    };
    let clock = hosting.clock();
    let screen = Screen { bar: bar(output.is_terminal() && !args.json), output, clock: &*clock };
    let draw = screen.follow(watched, &over);
    let (measured, (), ()) = tokio::join!(work, cancel, draw);
    let measured = match measured {
        Ok(measured) => measured,
        Err(HostError::BadConfig(problems)) => {
            return Ok(refuse(output, Report::of(args.json), &problems));
        }
        Err(err) => return Err(err.into()),
    };
    let evaluation = Evaluation::of(&measured);
    if args.json {
        let wall_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        output.line(&evaluation.json(args, &measured, in_units(wall_ms, 3)).to_string());
    } else {
        evaluation.tell(args, &measured, output);
    }
    Ok(match &measured.failure {
        None => Exit::Done,
        Some(failure) if matches!(failure.error, TrainError::Cancelled) => Exit::Cancelled,
        Some(failure) => {
            output.error(&why(&failure.error));
            if let Some(outage) = &state.borrow().outage {
                output.error(&outage_line(outage, clock.now_ms()));
            }
            Exit::Failed
        }
    })
}

/// A bar that is not drawn where nobody looks.
fn bar(is_shown: bool) -> ProgressBar {
    if !is_shown {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:28} {pos}/{len} tasks {msg}");
    ProgressBar::new(0).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// Where it is shown how far a measurement is.
struct Screen<'a> {
    bar: ProgressBar,
    output: &'a Output,
    clock: &'a dyn Clock,
}

impl Screen<'_> {
    async fn follow(&self, mut state: watch::Receiver<MeasureState>, over: &CancellationToken) {
        let mut told = None;
        // What is missed is overtaken by what comes next.
        while let Some(Ok(())) = over.run_until_cancelled(state.changed()).await {
            let MeasureState { progress, outage } = state.borrow_and_update().clone();
            if let Some(now) = progress {
                self.bar.set_length(now.total.into());
                self.bar.set_position(now.done.into());
            }
            if outage != told {
                self.tell(told.as_ref(), outage.as_ref());
                told = outage;
            }
        }
        self.bar.finish_and_clear();
    }

    fn tell(&self, before: Option<&Outage>, now: Option<&Outage>) {
        let at_ms = self.clock.now_ms();
        let line = match (before, now) {
            (_, Some(outage)) => outage_line(outage, at_ms),
            (Some(over), None) => up_line(&over.endpoint, &over.model, over.since_ms, at_ms),
            (None, None) => return,
        };
        self.bar.suspend(|| self.output.note(&line));
    }
}

/// What several measurements of one skill say together.
#[derive(Debug)]
struct Evaluation {
    hard: Spread,
    soft: Spread,
    /// Share of tasks that passed in one repeat and failed in another; `None` for a single repeat.
    flip_rate: Option<f64>,
    spend: SpendByRole,
}

/// Mean and standard deviation of the scores of repeats.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Spread {
    mean: Option<f64>,
    sd: Option<f64>,
}

impl Evaluation {
    fn of(measured: &Measured) -> Self {
        let scores = || measured.measurements.iter().filter_map(|measurement| measurement.score);
        let mut spend = SpendByRole::default();
        for measurement in &measured.measurements {
            spend += measurement.spend;
        }
        if let Some(failure) = &measured.failure {
            spend += failure.spend;
        }
        Self {
            hard: Spread::of(&scores().map(|score| score.hard).collect::<Vec<_>>()),
            soft: Spread::of(&scores().map(|score| score.soft).collect::<Vec<_>>()),
            flip_rate: flip_rate(&measured.measurements),
            spend,
        }
    }

    fn json(&self, args: &EvalArgs, measured: &Measured, wall_s: f64) -> serde_json::Value {
        let first = measured.measurements.first();
        let rows: Vec<EvalRow> = first
            .map(|first| first.set.outcomes.as_slice())
            .unwrap_or_default()
            .iter()
            .map(|row| EvalRow { task: row.task.to_string(), outcome: row.outcome.clone() })
            .collect();
        let total = self.spend.total();
        json!({
            "status": status_word(measured),
            "detail": measured.failure.as_ref().map(|failure| why(&failure.error)),
            "skill": args.skill,
            "skill_sha256": measured.skill.sha(),
            "split": skillopt_engine::splits::SplitName::from(args.split).folder(),
            "score": first.and_then(|first| first.score),
            "counts": first.map(|first| first.counts),
            "repeats": measured.measurements.iter().map(|one| one.score).collect::<Vec<_>>(),
            "mean_hard": self.hard.mean,
            "sd_hard": self.hard.sd,
            "mean_soft": self.soft.mean,
            "sd_soft": self.soft.sd,
            "flip_rate": self.flip_rate,
            "calls": {"target": self.spend.target.calls, "cached": total.cached},
            "tokens": total.tokens(),
            "cost_usd": total.known_cost_usd_micros().map(|micros| in_units(micros, 6)),
            "wall_s": wall_s,
            "rows": rows,
        })
    }

    fn tell(&self, args: &EvalArgs, measured: &Measured, output: &Output) {
        let split = skillopt_engine::splits::SplitName::from(args.split);
        for (at, one) in measured.measurements.iter().enumerate() {
            let head = if measured.measurements.len() > 1 {
                format!("{split} {}: ", at + 1)
            } else {
                format!("{split}: ")
            };
            let counts = one.counts;
            let score = one.score.map_or_else(
                || "nothing was scored".to_owned(),
                |score| format!("hard {:.3}, soft {:.3} (n {})", score.hard, score.soft, score.n),
            );
            output.line(&format!(
                "{head}{score}; {} passed, {} failed, {} refused, {} errors",
                counts.passed, counts.failed, counts.refused, counts.errors
            ));
        }
        if let Some(flip_rate) = self.flip_rate {
            output.line(&format!(
                "over {} repeats: hard {} ± {}, soft {} ± {}; {:.1} % of tasks do not always end the same",
                measured.measurements.len(),
                number(self.hard.mean),
                number(self.hard.sd),
                number(self.soft.mean),
                number(self.soft.sd),
                flip_rate * 100.0
            ));
        }
        output.line(&spend_line(&self.spend));
    }
}

impl Spread {
    fn of(scores: &[f64]) -> Self {
        let Some(n) = count(scores.len()).filter(|n| *n > 0.0) else { return Self::default() };
        let mean = scores.iter().sum::<f64>() / n;
        let squares: f64 = scores.iter().map(|score| (score - mean).powi(2)).sum();
        let sd = (scores.len() > 1).then(|| (squares / (n - 1.0)).sqrt());
        Self { mean: Some(mean), sd }
    }
}

fn flip_rate(measurements: &[Measurement]) -> Option<f64> {
    if measurements.len() < 2 {
        return None;
    }
    let mut by_task: BTreeMap<&str, (bool, bool)> = BTreeMap::new();
    for outcome in measurements.iter().flat_map(|measurement| &measurement.set.outcomes) {
        if let Some(score) = outcome.outcome.score() {
            let ends = by_task.entry(outcome.task.as_str()).or_default();
            let passed = score.hard.get() >= 1.0;
            *ends = (ends.0 || passed, ends.1 || !passed);
        }
    }
    let flipped = count(by_task.values().filter(|ends| ends.0 && ends.1).count())?;
    count(by_task.len()).filter(|n| *n > 0.0).map(|n| flipped / n)
}

fn count(n: usize) -> Option<f64> {
    u32::try_from(n).ok().map(f64::from)
}

/// Why a measurement ended early. There is nothing to resume: it is made again, and what is paid for costs nothing then.
fn why(error: &TrainError) -> String {
    match error {
        TrainError::Cancelled => "cancelled; everything that was paid for is kept".to_owned(),
        TrainError::CapReached(reached) => {
            format!("stopped by a cap: {reached} and run the same command again")
        }
        TrainError::QuotaExhausted { role, error } => format!(
            "the {role}'s quota is used up, run the same command again when it is filled: {error}"
        ),
        error => error.to_string(),
    }
}

/// `done`, `cancelled` or `failed`.
fn status_word(measured: &Measured) -> &'static str {
    match &measured.failure {
        None => "done",
        Some(failure) if failure.error.transition() == RunTransition::ConfirmCancel => "cancelled",
        Some(_) => "failed",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_score_has_no_spread_and_none_has_no_mean() {
        assert_eq!(Spread::of(&[]), Spread::default());
        assert_eq!(Spread::of(&[0.5]), Spread { mean: Some(0.5), sd: None });
        let spread = Spread::of(&[0.4, 0.6]);
        assert!((spread.sd.expect("a spread") - 0.141_421).abs() < 1e-5);
    }
}
