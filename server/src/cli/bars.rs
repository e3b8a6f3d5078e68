//! Progress bars on a terminal: one for the steps of the run, one for the stage at work.

use super::narrate::{money, number};
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use skillopt_domain::event::{EventKind, Progress};
use skillopt_domain::run::Phase;

/// The two bars of a run.
#[derive(Debug)]
pub(super) struct Bars {
    multi: MultiProgress,
    steps: ProgressBar,
    stage: ProgressBar,
}

impl Bars {
    pub(super) fn new() -> Self {
        let multi = MultiProgress::new();
        let style = |template: &str| {
            ProgressStyle::with_template(template)
                .unwrap_or_else(|_| ProgressStyle::default_bar())
                .progress_chars("━━─")
        };
        let steps = multi.add(ProgressBar::new(0));
        steps.set_style(style("{prefix:9} {bar:28} {pos}/{len} steps · {msg}"));
        steps.set_prefix("run");
        let stage = multi.add(ProgressBar::new(0));
        stage.set_style(style("{prefix:9} {bar:28} {pos}/{len} {msg}"));
        Self { multi, steps, stage }
    }

    /// Writes something else while the bars step aside.
    pub(super) fn aside(&self, write: impl FnOnce()) {
        self.multi.suspend(write);
    }

    pub(super) fn event(&self, event: &EventKind) {
        match event {
            EventKind::Planned(plan) => self.steps.set_length(plan.total_steps.into()),
            EventKind::Baseline(measured) => self.say_scores(measured.gate_score),
            EventKind::StepFinished(step) => {
                self.steps.set_position(step.step.into());
                self.say_scores(step.best_score);
            }
            _ => {}
        }
    }

    fn say_scores(&self, best: Option<f64>) {
        self.steps.set_message(format!("best {}", number(best)));
    }

    pub(super) fn progress(&self, progress: &Progress) {
        self.stage.set_prefix(word(progress.phase));
        self.stage.set_length(progress.total.into());
        self.stage.set_position(progress.done.into());
        let total = progress.spend.total();
        let cost = total.known_cost_usd_micros().map_or_else(|| "cost unknown".to_owned(), money);
        let errors = match progress.errors {
            0 => String::new(),
            n => format!("{n} errors · "),
        };
        let (calls, cached) = (total.calls, total.cached);
        self.stage
            .set_message(format!("· {errors}{calls} calls, {cached} from the ledger · {cost}"));
    }

    pub(super) fn finish(&self) {
        self.stage.finish_and_clear();
        self.steps.finish_and_clear();
    }
}

fn word(phase: Phase) -> &'static str {
    match phase {
        Phase::Preflight => "preflight",
        Phase::Baseline => "baseline",
        Phase::Step { stage, .. } => stage.as_str(),
        Phase::SlowUpdate { .. } => "slow update",
        Phase::MetaSkill { .. } => "meta skill",
        Phase::FinalTest => "test",
    }
}
