//! New runs from other runs: the config with changes, the initial skill from a version, and the list of what differs.

use super::inputs::{problem, read_skill, short, with_absolute_paths};
use super::prompt_change::prompt_difference;
use super::{HostError, Hosting};
use crate::config::{BadConfig, changed, flag, without_foreign};
use skillopt_domain::api::ConfigCheck;
use skillopt_domain::config::{
    ChangeEffect, ConfigDifference, Contents, DATA, Resolved, SKILL, Sameness, Setting, Value,
    differences, needs_fork,
};
use skillopt_domain::event::RunPlan;
use skillopt_domain::hash::Sha256Hex;
use skillopt_domain::ids::RunId;
use skillopt_domain::origin::{OriginKind, RunOrigin};
use skillopt_store::RunRow;

const SKILL_KEY: &str = "env.skill_init";

/// What is asked for.
#[derive(Clone, Debug)]
pub struct DeriveRequest {
    /// The run to start from.
    pub from: RunId,
    /// The version of its skill; the one that it began with when `None`, unless the changes name another file.
    pub version: Option<u32>,
    /// Keys that change.
    pub changes: Vec<Setting>,
}

/// A run that could be made from another one.
#[derive(Clone, Debug)]
pub struct Derived {
    /// Its config.
    pub resolved: Resolved,
    /// Where it comes from.
    pub lineage: Lineage,
    /// What can be said before it starts, the differences included.
    pub check: ConfigCheck,
}

/// What a new run takes from another one besides its config.
#[derive(Clone, Debug)]
pub struct Lineage {
    /// Which run, and what differs.
    pub origin: RunOrigin,
    /// The initial skill, where the file that the config names does not hold it.
    pub skill: Option<String>,
    /// The word under which that run drew its answers.
    pub fresh: Option<String>,
}

/// The text that a derived run starts from.
struct Start {
    version: Option<u32>,
    sha: Option<Sha256Hex>,
    text: Option<String>,
}

impl Hosting {
    /// Works out a fork: config, initial skill, differences and checks. Makes no call, writes nothing.
    ///
    /// # Errors
    /// [`HostError::BadConfig`] for changes or a version that cannot be.
    pub async fn derive(&self, request: &DeriveRequest) -> Result<Derived, HostError> {
        let store = &self.shared.store;
        let source = store.run_row(&request.from).await?;
        let plan = store.view(&request.from).await?.plan;
        let is_imported = store.import_origin(&request.from).await?.is_some();
        let mut changes = vec![flag("env.out_root", "", "")];
        changes.extend_from_slice(&request.changes);
        let (stored, foreign) = without_foreign(&source.config);
        let resolved = with_absolute_paths(&changed(&stored, &changes)?);
        let start = self.start(&source, plan.as_ref(), request, &resolved).await?;
        let (mut check, seen) = self.check_with(&resolved, start.text.clone()).await;
        check.warnings.extend(foreign);
        let earlier = store.prompts(&source.id).await?;
        let data = seen.as_ref().map(|seen| &seen.data);
        let known_data = plan.as_ref().filter(|_| !is_imported).map(|plan| &plan.data);
        let contents = Contents {
            data: sameness(known_data, data),
            skill: sameness(plan.as_ref().map(|plan| &plan.initial_skill), start.sha.as_ref()),
        };
        let mut differences = differences(&source.config, &resolved, contents);
        differences.extend(skill_difference(plan.as_ref(), &start));
        if contents.data == Sameness::Other {
            differences.extend(known_data.zip(data).map(|(old, new)| other_tasks(old, new)));
        }
        differences.extend(seen.and_then(|seen| prompt_difference(&earlier, &seen.prompts)));
        check.differences.clone_from(&differences);
        let origin = RunOrigin {
            kind: OriginKind::Fork,
            run: source.id,
            name: source.name,
            version: start.version,
            skill: start.sha,
            differences,
        };
        let lineage = Lineage { origin, skill: start.text, fresh: source.fresh };
        Ok(Derived { resolved, lineage, check })
    }

    /// Works out a re-run: the same config, data and initial skill.
    ///
    /// # Errors
    /// [`HostError::NeedsFork`] when data or skill cannot be the same any more.
    pub async fn derive_rerun(&self, from: &RunId) -> Result<Derived, HostError> {
        let request = DeriveRequest { from: from.clone(), version: None, changes: Vec::new() };
        let mut derived = self.derive(&request).await?;
        let mut differences = derived.lineage.origin.differences.clone();
        if self.shared.store.import_origin(from).await?.is_some() {
            differences.push(ConfigDifference {
                path: DATA.to_owned(),
                before: None,
                after: None,
                effect: ChangeEffect::Results,
                why: "which tasks an imported run had is not known".to_owned(),
            });
        }
        if needs_fork(&differences) {
            return Err(HostError::NeedsFork { run: from.clone(), differences });
        }
        derived.lineage.origin.kind = OriginKind::Rerun;
        Ok(derived)
    }

    async fn start(
        &self,
        source: &RunRow,
        plan: Option<&RunPlan>,
        request: &DeriveRequest,
        resolved: &Resolved,
    ) -> Result<Start, HostError> {
        let store = &self.shared.store;
        // An imported run has its paths as they stood in its file.
        let is_named = request.changes.iter().any(|change| change.path == SKILL_KEY);
        let own = with_absolute_paths(&source.config);
        let is_changed = is_named && resolved.get(SKILL_KEY) != own.get(SKILL_KEY);
        let on_disk = || match resolved.get(SKILL_KEY) {
            Value::Text(path) => read_skill(path).ok(),
            _ => read_skill("").ok(),
        };
        let (version, sha) = match (request.version, plan) {
            (Some(_), _) if is_changed => {
                return Err(bad("choose either a version of the run or another file".to_owned()));
            }
            (Some(number), _) => {
                let versions = store.versions(&source.id).await?;
                let found = versions.iter().find(|version| version.version == number);
                let Some(found) = found else {
                    return Err(bad(no_version(number, versions.len())));
                };
                (number, found.skill.clone())
            }
            (None, Some(plan)) if !is_changed => (0, plan.initial_skill.clone()),
            (None, _) => {
                return Ok(Start {
                    version: None,
                    sha: on_disk().map(|doc| doc.sha()),
                    text: None,
                });
            }
        };
        if on_disk().is_some_and(|doc| doc.sha() == sha) {
            return Ok(Start { version: Some(version), sha: Some(sha), text: None });
        }
        match store.skill_text(&sha).await? {
            Some(text) => Ok(Start { version: Some(version), sha: Some(sha), text: Some(text) }),
            None => Err(bad(format!(
                "the text of v{version} is not in the store; name a file in {SKILL_KEY}"
            ))),
        }
    }
}

fn bad(message: String) -> HostError {
    BadConfig(vec![problem(SKILL_KEY, message)]).into()
}

fn no_version(number: u32, known: usize) -> String {
    match known {
        0 => format!("the run has no v{number}: it has no version yet"),
        1 => format!("the run has no v{number}; it has v0 only"),
        n => format!("the run has no v{number}; it has v0 to v{}", n - 1),
    }
}

fn sameness(old: Option<&Sha256Hex>, new: Option<&Sha256Hex>) -> Sameness {
    match (old, new) {
        (Some(old), Some(new)) if old == new => Sameness::Same,
        (Some(_), Some(_)) => Sameness::Other,
        _ => Sameness::Unknown,
    }
}

/// It starts from a version, and that is not the text that the other run started from.
fn skill_difference(plan: Option<&RunPlan>, start: &Start) -> Option<ConfigDifference> {
    let (plan, version, sha) = (plan?, start.version?, start.sha.as_ref()?);
    (plan.initial_skill != *sha).then(|| ConfigDifference {
        path: SKILL.to_owned(),
        before: Some(format!("v0, hash {}", short(&plan.initial_skill))),
        after: Some(format!("v{version}, hash {}", short(sha))),
        effect: ChangeEffect::Results,
        why: "it starts from another text".to_owned(),
    })
}

fn other_tasks(old: &Sha256Hex, new: &Sha256Hex) -> ConfigDifference {
    ConfigDifference {
        path: DATA.to_owned(),
        before: Some(format!("hash {}", short(old))),
        after: Some(format!("hash {}", short(new))),
        effect: ChangeEffect::Results,
        why: "the files hold other tasks than when that run began".to_owned(),
    }
}
