//! New runs: their id, folder, `config.json` and row.

use super::claim::folder_error;
use super::inputs::with_absolute_paths;
use super::run_folder::write_now;
use super::{HostError, Hosting, Lineage, config_json};
use crate::config::run_config;
use skillopt_domain::config::{Place, Resolved, Value};
use skillopt_domain::ids::RunId;
use skillopt_domain::origin::{OriginKind, RunOrigin};
use skillopt_store::NewRun;
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Whether this process works on a new run at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeaseWish {
    /// It does: no other process may take the run up.
    Now,
    /// A queue decides.
    Later,
}

/// A run to be made.
#[derive(Clone, Debug)]
pub struct NewRunRequest {
    /// A name for people; made from benchmark and seed when empty.
    pub name: String,
    /// The checked config.
    pub resolved: Resolved,
    /// Draw anew, whatever the ledger holds.
    pub fresh: bool,
    /// The run folder; one under the data directory when `None`.
    pub out_root: Option<PathBuf>,
    /// Who wants it.
    pub actor: String,
    /// Whether it is taken up at once.
    pub lease: LeaseWish,
    /// The run that it starts from.
    pub lineage: Option<Lineage>,
}

/// The file of an initial skill that is no file elsewhere: a version of another run.
const SKILL_FILE: &str = "skill_init.md";

impl Hosting {
    /// Makes a run in the state `queued`: folder, `config.json` and row.
    ///
    /// # Errors
    /// [`HostError`] when the config is not complete, or folder or store cannot be written.
    pub async fn create(&self, request: NewRunRequest) -> Result<RunId, HostError> {
        let resolved = self.priced(&request.resolved).await;
        let config = run_config(&resolved)?;
        let id = new_run_id();
        let wanted = request.out_root.or_else(|| {
            Some(PathBuf::from(&config.env.out_root)).filter(|path| !path.as_os_str().is_empty())
        });
        let own = || self.shared.data_dir.join("runs").join(id.as_str());
        // Held until the row is written.
        let claim = self.claim(&wanted.clone().unwrap_or_else(own)).await?;
        let folder = claim.folder.clone();
        let (lineage, mut resolved) = (request.lineage, resolved);
        let skill = lineage.as_ref().and_then(|lineage| lineage.skill.clone());
        if let Some(lineage) = lineage.as_ref().filter(|_| skill.is_some()) {
            name_skill(&mut resolved, &folder.join(SKILL_FILE), lineage);
        }
        let config_json = config_json::first(&resolved, &config, wanted.as_deref(), &folder);
        let skill_file = folder.join(SKILL_FILE).display().to_string();
        let was_former = claim
            .former
            .as_ref()
            .is_some_and(|former| *former.config.get("env.skill_init") == Value::Text(skill_file));
        let old_skill = if was_former { OldSkill::Replace } else { OldSkill::Refuse };
        let root = folder.clone();
        let filling = tokio::task::spawn_blocking(move || {
            fill_folder(&root, &config_json, skill.as_deref(), old_skill)
        });
        filling.await.map_err(|err| folder_error(&folder, &err))??;
        let name = match (request.name.trim(), lineage.as_ref().map(|lineage| &lineage.origin)) {
            ("", None) => format!("{} seed {}", config.env.name, config.train.seed),
            ("", Some(RunOrigin { kind: OriginKind::Rerun, name, .. })) => format!("{name} again"),
            ("", Some(RunOrigin { kind: OriginKind::Fork, name, .. })) => format!("{name} fork"),
            (name, _) => name.to_owned(),
        };
        // Recorded answers repeat a run only under the word under which it drew them.
        let word = lineage.as_ref().and_then(|lineage| lineage.fresh.clone());
        let run = NewRun {
            fresh: if request.fresh { Some(id.to_string()) } else { word },
            id: id.clone(),
            name,
            config: with_absolute_paths(&resolved),
            out_root: folder.display().to_string(),
            actor: request.actor,
            created_at_ms: self.now_ms(),
            lease: (request.lease == LeaseWish::Now).then(|| self.lease_term()),
        };
        match &lineage {
            None => self.shared.store.create_run(&run).await?,
            Some(lineage) => self.shared.store.create_run_from(&run, &lineage.origin).await?,
        }
        Ok(id)
    }
}

/// Ids sort by time of creation.
fn new_run_id() -> RunId {
    let text = uuid::Uuid::now_v7().as_hyphenated().to_string();
    RunId::parse(&text).expect("a hyphenated UUID is a run id")
}

/// Names the text of another run's version as the initial skill.
fn name_skill(resolved: &mut Resolved, file: &Path, lineage: &Lineage) {
    let origin = &lineage.origin;
    let version = origin.version.unwrap_or_default();
    for row in resolved.values.iter_mut().filter(|row| row.path == "env.skill_init") {
        row.value = Value::Text(file.display().to_string());
        row.place = Place::flag(format!("v{version} of run {}", origin.run.short()));
    }
}

/// What becomes of an initial skill that is in the folder already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OldSkill {
    /// It is of the run that had the folder and did nothing with it.
    Replace,
    /// It is somebody else's.
    Refuse,
}

/// Writes the first files of a run.
fn fill_folder(
    folder: &Path,
    config_json: &str,
    skill: Option<&str>,
    old_skill: OldSkill,
) -> Result<(), HostError> {
    // First, so that nothing is written where it is refused.
    match (skill, old_skill) {
        (Some(skill), OldSkill::Refuse) => write_new(folder, SKILL_FILE, skill)?,
        (Some(skill), OldSkill::Replace) => write_now(&folder.join(SKILL_FILE), skill.as_bytes())
            .map_err(|err| folder_error(folder, &err))?,
        (None, _) => {}
    }
    write_now(&folder.join("config.json"), config_json.as_bytes())
        .map_err(|err| folder_error(folder, &err))
}

/// Writes a file that was not there before.
fn write_new(folder: &Path, name: &str, text: &str) -> Result<(), HostError> {
    let path = folder.join(name);
    let mut file = File::create_new(&path).map_err(|err| match err.kind() {
        ErrorKind::AlreadyExists => {
            folder_error(folder, &format!("it holds a {name} already; choose an empty folder"))
        }
        _ => folder_error(folder, &err),
    })?;
    file.write_all(text.as_bytes()).map_err(|err| {
        // Half a file would stand in the way of the next try.
        let _ = std::fs::remove_file(&path);
        folder_error(folder, &err)
    })
}
