//! What a run will call, read, write, cost and take, before it begins: the run's own planning, walked through without a
//! model. Batches, minibatches, prompts and budgets are made by the very functions that the run uses; what only a
//! model can tell stands in the scenarios, and what was assumed is said.

mod known;
mod planned;
mod scenario;
mod tally;
mod walk;

pub use known::{CallHistory, Known, ReplyLength};

use crate::batches::PlanError;
use crate::ports::Benchmark;
use crate::prompts::PromptSet;
use crate::splits::Splits;
use crate::train::TrainInput;
use planned::Planned;
use scenario::{LIKELY, extremes};
use skillopt_domain::config::RunConfig;
use skillopt_domain::forecast::RunForecast;
use skillopt_domain::skill::SkillDoc;
use tally::Tally;
use walk::walk;

/// What a run is planned from.
#[derive(Clone, Copy, Debug)]
pub struct ForecastInput<'a> {
    /// The config.
    pub config: &'a RunConfig,
    /// The data.
    pub splits: &'a Splits,
    /// The initial skill.
    pub skill: &'a SkillDoc,
    /// The prompts.
    pub prompts: &'a PromptSet,
    /// What earlier calls of the models showed.
    pub known: &'a Known,
}

impl<'a> From<&'a TrainInput> for ForecastInput<'a> {
    fn from(input: &'a TrainInput) -> Self {
        let TrainInput { config, splits, skill, prompts, known, .. } = input;
        Self { config, splits, skill, prompts, known }
    }
}

/// Forecasts a run. The ranges span what comes of the best and of the worst that is likely.
///
/// # Errors
/// [`PlanError`] when config and data do not fit.
pub fn forecast(
    input: ForecastInput<'_>,
    benchmark: &dyn Benchmark,
) -> Result<RunForecast, PlanError> {
    let planned = Planned::of(input, benchmark)?;
    let likely = walk(&planned, &LIKELY);
    let others: Vec<Tally> = extremes().map(|scenario| walk(&planned, &scenario)).collect();
    Ok(RunForecast {
        parts: tally::parts(&planned, &likely, &others),
        assumptions: planned.assumptions(),
    })
}
