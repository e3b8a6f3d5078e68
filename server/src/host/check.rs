//! Everything that can be said about a config before a call is made: files, plan, models.

use super::Hosting;
use super::inputs::{Inputs, problem};
use crate::causes::causes;
use crate::config::{BadConfig, RoleKey, run_config, withheld_key};
use skillopt_domain::api::{Check, CheckState, ConfigCheck, Forecast};
use skillopt_domain::config::{AzureAuth, BackendKind, ConfigProblem, Resolved, RunConfig};
use skillopt_domain::hash::Sha256Hex;
use skillopt_domain::prompt::{PromptOrigin, PromptUse};
use skillopt_domain::spend::Role;
use skillopt_engine::batches::{PlanError, plan};
use skillopt_engine::forecast::{ForecastInput, Known};
use skillopt_engine::splits::Splits;
use skillopt_engine::train::data_hash;
use skillopt_models::{find_program, program_of};

/// Selection tasks below which a gain of 0.05 cannot show.
const FEW_SELECTION_TASKS: usize = 20;

/// What a check read.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    /// Hash of all tasks.
    pub(super) data: Sha256Hex,
    /// The prompts that a run would use.
    pub(super) prompts: Vec<PromptUse>,
}

impl Hosting {
    /// Checks skill, data and models, and counts what the run would do. Makes no call, writes nothing.
    pub async fn check(&self, resolved: &Resolved) -> ConfigCheck {
        self.check_with(resolved, None).await.0
    }

    /// As [`Hosting::check`], with a text in the place of the skill's file. Says what was read too, where it could be.
    pub(super) async fn check_with(
        &self,
        resolved: &Resolved,
        skill: Option<String>,
    ) -> (ConfigCheck, Option<Seen>) {
        let resolved = &self.priced(resolved).await;
        let warnings = resolved.warnings.clone();
        let config = match run_config(resolved) {
            Ok(config) => config,
            Err(BadConfig(problems)) => {
                return (ConfigCheck { problems, warnings, ..Default::default() }, None);
            }
        };
        let for_reading = config.clone();
        let known = self.known(&config).await;
        let read = tokio::task::spawn_blocking(move || {
            let inputs = Inputs::preview(&for_reading, skill)?;
            let data = data_hash(&inputs.data.splits);
            let forecast = forecast(&for_reading, &inputs, &known);
            Ok((inputs, data, forecast))
        });
        let inputs = read.await.unwrap_or_else(|err| Err(vec![problem("", err.to_string())]));
        let mut check = ConfigCheck { warnings, ..Default::default() };
        let mut seen = None;
        match inputs {
            Ok((inputs, data, forecast)) => {
                describe_inputs(&mut check, &config, &inputs);
                match forecast {
                    Ok(forecast) => check.forecast = Some(forecast),
                    Err(problem) => check.problems.push(problem),
                }
                seen = Some(Seen { data, prompts: inputs.prompts.used(&config) });
            }
            Err(problems) => check.problems = problems,
        }
        for role in Role::ALL {
            match self.model_to_describe(&config, role) {
                Ok(_) => check.checks.push(self.describe_model(&config, role)),
                Err(problem) => check.problems.push(problem),
            }
        }
        check.warnings.extend(config.dangers());
        let found = check.problems.iter_mut().chain(&mut check.warnings);
        for problem in found.filter(|problem| problem.place.is_none()) {
            problem.place =
                resolved.place(&problem.path).filter(|place| !place.name.is_empty()).cloned();
        }
        if !check.problems.is_empty() {
            check.forecast = None;
        }
        (check, seen)
    }

    /// What earlier calls of the models of a config showed. Without the ledger the forecast only knows less.
    pub(super) async fn known(&self, config: &RunConfig) -> Known {
        let mut known = Known::default();
        for role in Role::ALL {
            let settings = config.role(role);
            if settings.is_simulated() {
                continue;
            }
            match self.shared.store.call_history(role, &settings.model).await {
                Ok(history) => *known.of_mut(role) = history,
                Err(err) => {
                    tracing::warn!("the forecast goes without earlier calls: {}", causes(&err));
                }
            }
        }
        known
    }

    fn describe_model(&self, config: &RunConfig, role: Role) -> Check {
        let model = config.role(role);
        let label = match role {
            Role::Target => "Target",
            Role::Optimizer => "Optimizer",
        };
        if model.backend == BackendKind::Replay {
            let detail = "Recorded replies: nothing is sent to any model, and nothing is paid.";
            return ok(label, format!("replays {}", config.cassette), detail);
        }
        if model.is_simulated() {
            let detail = "A simulation, no real model: needs no key and costs nothing.";
            return ok(label, format!("{} (simulated)", model.model), detail);
        }
        if let Some(program) = program_of(model.backend) {
            let found = find_program(model.backend, &config.agents, self.environment().all());
            let at = found.and_then(Result::ok).map_or_else(String::new, |path| {
                format!("Runs {} in an empty folder of its own for each call.", path.display())
            });
            let name = match model.model.as_str() {
                "" => program.name.to_owned(),
                model => format!("{model} by {}", program.name),
            };
            return ok(label, name, &at);
        }
        let figure = format!("{} at {}", model.model, model.base_url);
        match self.role_key(config, role).ok().flatten() {
            Some(RoleKey { variable, place }) => {
                let detail = format!("The key {variable} in {place} is sent to this address.");
                ok(label, figure, &detail)
            }
            None if model.provider.azure_auth.may_use_token() => {
                let source = match model.provider.azure_auth {
                    AzureAuth::ManagedIdentity => "this machine's identity",
                    _ => "the Azure CLI",
                };
                ok(label, figure, &format!("A token of {source} is sent to this address."))
            }
            None => {
                let withheld = withheld_key(&self.shared.env, role);
                let state = if withheld.is_some() { CheckState::Warning } else { CheckState::Ok };
                let detail = withheld.unwrap_or_else(|| {
                    format!(
                        "To send one to this address, name its variable in model.{role}_api_key_env, or set the \
                         address beside the key."
                    )
                });
                let detail = format!("No key is sent. {detail}");
                Check { label: label.to_owned(), state, figure, detail }
            }
        }
    }
}

fn describe_inputs(check: &mut ConfigCheck, config: &RunConfig, inputs: &Inputs) {
    let skill_warnings = inputs.skill.lint();
    let skill = if inputs.skill.text().is_empty() {
        ok("Skill", "empty".to_owned(), "The run starts from no skill.")
    } else {
        let detail = skill_warnings
            .first()
            .map_or_else(String::new, |first| format!("line {}: {}", first.line, first.message));
        Check {
            label: "Skill".to_owned(),
            state: if skill_warnings.is_empty() { CheckState::Ok } else { CheckState::Warning },
            figure: format!("about {} tokens", inputs.skill.estimated_tokens()),
            detail,
        }
    };
    check.checks.push(skill);
    check.checks.extend(describe_prompts(config, inputs));
    let splits = &inputs.data.splits;
    check.checks.push(describe_splits(splits));
    for warning in &inputs.data.warnings {
        check.warnings.push(problem("env.split_dir", warning.clone()));
    }
}

/// Which prompts are the user's; nothing where all are the program's.
fn describe_prompts(config: &RunConfig, inputs: &Inputs) -> Option<Check> {
    let folder = &config.optimizer.prompts_dir;
    if folder.is_empty() {
        return None;
    }
    let used = inputs.prompts.used(config);
    let own: Vec<&str> = used
        .iter()
        .filter(|prompt| prompt.origin == PromptOrigin::User)
        .map(|prompt| prompt.name.as_str())
        .collect();
    if own.is_empty() {
        let detail =
            format!("{folder} holds no prompt that this run uses; see `skillopt prompts list`");
        let (label, figure) = ("Prompts".to_owned(), "none of your own".to_owned());
        return Some(Check { label, state: CheckState::Warning, figure, detail });
    }
    let figure = format!("{} of {} your own", own.len(), used.len());
    Some(ok("Prompts", figure, &own.join(", ")))
}

fn describe_splits(splits: &Splits) -> Check {
    let (n_train, n_selection, n_test) =
        (splits.train().len(), splits.selection().len(), splits.test().len());
    let figure = format!("{n_train} train, {n_selection} val, {n_test} test");
    if n_selection < FEW_SELECTION_TASKS {
        let detail = format!(
            "{n_selection} selection tasks are few: one task more or less moves the score by much; \
             use {FEW_SELECTION_TASKS} or more"
        );
        return Check { label: "Data".to_owned(), state: CheckState::Warning, figure, detail };
    }
    ok("Data", figure, "No task is in two splits.")
}

fn forecast(config: &RunConfig, inputs: &Inputs, known: &Known) -> Result<Forecast, ConfigProblem> {
    let Inputs { skill, data, prompts } = inputs;
    let splits = &data.splits;
    let n = |len: usize| u32::try_from(len).unwrap_or(u32::MAX);
    let (n_train, n_selection, n_test) =
        (n(splits.train().len()), n(splits.selection().len()), n(splits.test().len()));
    let plan_problem = |err: PlanError| {
        let path = match err {
            PlanError::TrainSize { .. } => "train.train_size",
            PlanError::NoSelection => "env.split_dir",
            PlanError::TooLong => "train.num_epochs",
        };
        problem(path, err.to_string())
    };
    let shape = plan(config, n_train, n_selection, n_test).map_err(plan_problem)?;
    let input = ForecastInput { config, splits, skill, prompts, known };
    let estimate =
        skillopt_engine::forecast::forecast(input, &data.benchmark).map_err(plan_problem)?;
    Ok(Forecast {
        n_train,
        n_selection,
        n_test,
        steps_per_epoch: shape.steps_per_epoch,
        total_steps: shape.total_steps,
        target_calls_max: shape.target_calls_max,
        optimizer_calls_max: shape.optimizer_calls_max,
        estimate,
    })
}

fn ok(label: &str, figure: String, detail: &str) -> Check {
    Check { label: label.to_owned(), state: CheckState::Ok, figure, detail: detail.to_owned() }
}
