//! Which models there are to be called: those of a new run, of the latest runs, and the simulated ones. Makes no call.

use super::Hosting;
use super::inputs::problem;
use crate::config::{
    BadConfig, EnvFile, Keyring, RoleKey, Sources, changed, flag, load, run_config, withheld_key,
    without_foreign,
};
use serde_json::Value;
use skillopt_domain::api::{ModelUse, Models, RunQuery, WireField};
use skillopt_domain::config::{Resolved, RunConfig, Setting};
use skillopt_domain::ids::RunId;
use skillopt_domain::spend::Role;
use skillopt_store::StoreFailure;

/// So many of the latest runs are looked at.
const LATEST_RUNS: u32 = 20;
const NEW_RUNS: &str = "new";
const SIMULATED: &str = "simulated";

/// A config that says which models there are.
struct Source {
    /// `new`, `simulated` or a run's id.
    id: String,
    run: Option<RunId>,
    words: String,
    config: Result<RunConfig, BadConfig>,
}

impl Hosting {
    /// The models that runs use, each once a role, those of new runs first.
    ///
    /// # Errors
    /// [`StoreFailure`] when the runs cannot be read.
    pub async fn models(&self) -> Result<Models, StoreFailure> {
        let mut uses: Vec<ModelUse> = Vec::new();
        for source in self.sources().await? {
            for role in Role::ALL {
                let one = self.model_use(&source, role);
                match uses.iter_mut().find(|known| is_same(known, &one)) {
                    Some(known) => {
                        known.n_runs += one.n_runs;
                        if known.run.is_none() && known.id.starts_with(NEW_RUNS) {
                            known.run = one.run;
                        }
                    }
                    None => uses.push(one),
                }
            }
        }
        Ok(Models { uses, notes: self.key_notes(), backends: self.backends() })
    }

    /// The config and the role that the id of a [`ModelUse`] names; `None` for one that names none.
    ///
    /// # Errors
    /// [`StoreFailure`] when the run cannot be read.
    pub(super) async fn model_of(
        &self,
        id: &str,
    ) -> Result<Option<(Result<RunConfig, BadConfig>, Role)>, StoreFailure> {
        let Some((source, role)) = id.rsplit_once('.') else { return Ok(None) };
        let Some(role) = Role::ALL.into_iter().find(|known| known.as_str() == role) else {
            return Ok(None);
        };
        let config = match source {
            NEW_RUNS => self.new_runs(),
            SIMULATED => self.simulated(),
            run => match RunId::parse(run) {
                Ok(run) => self.models_config(&self.store().run_row(&run).await?.config),
                Err(_) => return Ok(None),
            },
        };
        Ok(Some((config, role)))
    }

    async fn sources(&self) -> Result<Vec<Source>, StoreFailure> {
        let source = |id: &str, words: &str, config| Source {
            id: id.to_owned(),
            run: None,
            words: words.to_owned(),
            config,
        };
        let mut all = vec![source(NEW_RUNS, "new runs, by the environment", self.new_runs())];
        let query = RunQuery { limit: Some(LATEST_RUNS), ..RunQuery::default() };
        for summary in self.store().list_runs(&query).await?.items {
            let row = self.store().run_row(&summary.id).await?;
            all.push(Source {
                id: row.id.to_string(),
                run: Some(row.id),
                words: row.name,
                config: self.models_config(&row.config),
            });
        }
        all.push(source(SIMULATED, "the sample run", self.simulated()));
        Ok(all)
    }

    fn new_runs(&self) -> Result<RunConfig, BadConfig> {
        let resolved = load(Sources { file: None, env: self.environment(), flags: &[] })?;
        self.models_config(&resolved)
    }

    fn simulated(&self) -> Result<RunConfig, BadConfig> {
        let flags = [flag("model.backend", "", "mock")];
        let resolved = load(Sources { file: None, env: self.environment(), flags: &flags })?;
        self.models_config(&resolved)
    }

    /// The typed config as far as models go: which data a run has does not matter here.
    pub(crate) fn models_config(&self, resolved: &Resolved) -> Result<RunConfig, BadConfig> {
        let set = |path: &str, value: &str| -> Setting { flag(path, "", value) };
        let some_data = [set("env.split_mode", "split_dir"), set("env.split_dir", ".")];
        let (own, _) = without_foreign(resolved);
        run_config(&changed(&own, &some_data)?)
    }

    fn model_use(&self, source: &Source, role: Role) -> ModelUse {
        let mut one = ModelUse {
            id: format!("{}.{role}", source.id),
            role: role.to_string(),
            backend: String::new(),
            model: String::new(),
            base_url: String::new(),
            is_simulated: false,
            run: source.run.clone(),
            used_by: source.words.clone(),
            n_runs: u32::from(source.run.is_some()),
            key: String::new(),
            key_place: String::new(),
            wire: Vec::new(),
            problem: String::new(),
            last_test: None,
        };
        let config = match &source.config {
            Ok(config) => config,
            Err(bad) => {
                one.problem = words_of(bad, role);
                return one;
            }
        };
        let settings = config.role(role);
        settings.backend.as_str().clone_into(&mut one.backend);
        one.model.clone_from(&settings.model);
        one.is_simulated = settings.is_simulated();
        match self.model_to_describe(config, role) {
            Ok(model) => {
                one.wire = wire_fields(&model.identity());
                one.last_test = self.last_test(&model.identity(), role);
                one.base_url.clone_from(&settings.base_url);
            }
            // An address that is refused may hold what should not be shown.
            Err(refused) => one.problem = refused.message,
        }
        match self.role_key(config, role) {
            Ok(Some(RoleKey { variable, place })) => {
                (one.key, one.key_place) = (variable, place.to_string());
            }
            Ok(None) if one.is_simulated => "needs no key".clone_into(&mut one.key_place),
            Ok(None) if settings.provider.azure_auth.may_use_token() => {
                "a token of Azure".clone_into(&mut one.key_place);
            }
            Ok(None) => {
                let withheld = withheld_key(self.environment(), role);
                one.key_place = withheld.unwrap_or_else(|| "no key is sent".to_owned());
            }
            Err(refused) => one.key_place = refused.message,
        }
        one
    }

    /// Places that may hold keys and were not read.
    fn key_notes(&self) -> Vec<String> {
        let env = self.environment();
        let of_file = |file: &EnvFile| {
            Some(format!("{} was not read: {}", file.path().display(), file.refused()?))
        };
        let files = env.files().iter().filter_map(of_file);
        let keyring = env.keyring().and_then(Keyring::fault).map(str::to_owned);
        files.chain(keyring).collect()
    }
}

fn is_same(one: &ModelUse, other: &ModelUse) -> bool {
    let key = |of: &ModelUse| {
        (
            of.role.clone(),
            of.backend.clone(),
            of.model.clone(),
            of.base_url.clone(),
            of.wire.clone(),
        )
    };
    key(one) == key(other) && one.problem == other.problem
}

/// What is wrong with the model of a role; the other role's faults are told with that one.
fn words_of(BadConfig(problems): &BadConfig, role: Role) -> String {
    let of_role: Vec<String> = problems
        .iter()
        .filter(|one| {
            let is_other = Role::ALL
                .into_iter()
                .any(|other| other != role && one.path.contains(&format!("model.{other}")));
            !is_other
        })
        .map(ToString::to_string)
        .collect();
    match of_role.is_empty() {
        true => problem("", "the config of the other role has problems".to_owned()).to_string(),
        false => of_role.join("; "),
    }
}

/// The identity of a model, a row a field.
pub(crate) fn wire_fields(identity: &Value) -> Vec<WireField> {
    let fields = identity.as_object().into_iter().flatten();
    fields
        .map(|(name, value)| WireField {
            name: name.clone(),
            value: match value {
                Value::Null => String::new(),
                Value::Object(fields) if fields.is_empty() => String::new(),
                Value::String(text) => text.clone(),
                other => other.to_string(),
            },
        })
        .collect()
}
