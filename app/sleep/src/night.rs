//! One night from the sessions to the proposal: what is done in which order, and what is kept of it. Each stage lives in
//! its own module; nothing is decided about edits here. Blocking work on files runs beside the calls.

mod gather;
mod keep;
mod options;
mod progress;

pub use progress::Watch;

use crate::adopt::{AdoptError, Adoption, Places, Receipt, Selection};
use crate::backend::{
    Asker, Backend, BackendError, CallsAsker, Mock, Modelled, NightSample, SleepModels,
};
use crate::config::{Config, GateMode};
use crate::consolidate::{
    GroupOutcome, NightError, NightInput, NightOutcome, consolidate_groups, consolidate_night,
    group_by_hint,
};
use crate::evidence::{Evidence, EvidenceOptions};
use crate::harvest::{Harvest, HarvestOptions};
use crate::lock::LockError;
use crate::prompts::Prompts;
use crate::redact::redact;
use crate::skills::{Resolution, resolve_skill};
use crate::stage::{
    Pinned, PublishError, Reserved, Role, SkillName, TargetError, TargetSpec, check_targets,
    lock_project, reserve,
};
use crate::state::{StateError, StateFile};
use crate::task::TaskRecord;
use gather::Gathered;
use serde_json::json;
use skillopt_domain::night::NightStage;
use skillopt_domain::night::report::SleepReport;
use skillopt_engine::calls::Flights;
use skillopt_engine::ctx::RunCtx;
use skillopt_engine::meter::Meter;
use skillopt_engine::ports::{Clock, Ledger};
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

/// What a night is to do.
#[derive(Clone, Debug)]
pub struct NightPlan {
    /// The config, checked. Its `invoked_project` is the project.
    pub config: Config,
    /// Keep nothing: no proposal, no state.
    pub is_dry: bool,
    /// Where tasks come from.
    pub tasks: TaskSource,
    /// The prompts.
    pub prompts: Prompts,
    /// Folders with skills, for nights that treat several.
    pub skill_roots: Vec<PathBuf>,
    /// What the machine gives to adoptions.
    pub places: Places,
    /// Who adopts when the config says so, for the record.
    pub actor: String,
}

/// Where the tasks of a night come from.
#[derive(Clone, Debug)]
pub enum TaskSource {
    /// Sessions of agents. `since` and what the last harvest knew are filled in by the night.
    Harvest(Box<HarvestOptions>),
    /// A file that a person has reviewed, or a benchmark.
    Given(Vec<TaskRecord>),
}

/// Who answers in a night.
#[derive(Debug)]
pub enum Answerers {
    /// The simulation.
    Mock,
    /// Models, behind ledger and meter.
    Models {
        /// Who they are.
        models: SleepModels,
        /// What was answered before.
        ledger: Arc<dyn Ledger>,
        /// What is being answered.
        flights: Arc<Flights>,
        /// Caps and counts.
        meter: Box<Meter>,
        /// A word that no earlier night used, to draw everything anew.
        fresh: Option<String>,
    },
    /// Somebody else, such as a person with files.
    Other(Arc<dyn Asker>),
}

/// What a night came to.
#[derive(Debug)]
pub struct NightResult {
    /// The report.
    pub report: SleepReport,
    /// The harvest; `None` when tasks were given.
    pub harvest: Option<Harvest>,
    /// The tasks with their splits.
    pub tasks: Vec<TaskRecord>,
    /// The night's folder; `None` for dry runs and nights without tasks.
    pub staging: Option<PathBuf>,
    /// Skills of their own with a proposal.
    pub staged_skills: Vec<String>,
    /// What was adopted at once.
    pub adopted: Vec<Receipt>,
    /// Why what could have been adopted at once was not; empty otherwise.
    pub not_adopted: String,
}

/// Why a night ended without a result. No live document changed, and no proposal is left behind.
#[derive(Debug, thiserror::Error)]
pub enum NightFailure {
    /// A live document could not be adopted into; no model was called.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// The night's own decision failed.
    #[error(transparent)]
    Night(#[from] NightError),
    /// Another night works on the project, whichever program runs it.
    #[error(transparent)]
    Busy(#[from] LockError),
    /// The state of nights cannot be used.
    #[error(transparent)]
    State(#[from] StateError),
    /// The proposal cannot be laid aside.
    #[error(transparent)]
    Publish(#[from] PublishError),
    /// The file system refused.
    #[error("cannot {action}: {reason}")]
    Io {
        /// What was tried.
        action: String,
        /// The words of the operating system.
        reason: std::io::Error,
    },
    /// A key of the config cannot be used.
    #[error("{0}")]
    Config(String),
}

impl NightFailure {
    /// Somebody has to answer prompts first.
    #[must_use]
    pub fn is_pending(&self) -> bool {
        matches!(self, Self::Night(NightError::Backend(BackendError::Pending)))
    }

    /// A person ended it.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        matches!(self, Self::Night(NightError::Backend(BackendError::Cancelled)))
    }

    /// What a person has to mend: a live document, the state, or the folder of the night.
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        matches!(
            self,
            Self::Target(_) | Self::Busy(_) | Self::State(_) | Self::Publish(_) | Self::Io { .. }
        )
    }

    /// A cap ended it.
    #[must_use]
    pub fn is_capped(&self) -> bool {
        matches!(self, Self::Night(NightError::Backend(BackendError::Budget(_))))
    }
}

/// Runs a night. The caller makes sure that no other one works on the project.
///
/// # Errors
/// [`NightFailure`]; nothing is kept then but what the ledger knows.
pub async fn run_night(
    plan: &NightPlan,
    answerers: Answerers,
    watch: &Arc<Watch>,
    clock: &Arc<dyn Clock>,
    ctx: &RunCtx,
) -> Result<NightResult, NightFailure> {
    // Held to the end; it goes with its process.
    let _lock = (!plan.is_dry).then(|| lock_project(&plan.config.invoked_project)).transpose()?;
    let state_file = StateFile::new(&plan.config.state_dir);
    let state = state_file.read()?;
    let project = plan.config.invoked_project.display().to_string();
    let number = state.clone().begin_night(&project);
    // Whatever an adoption would refuse is refused before a model is called.
    let documents = documents(plan)?;
    let place = Place::make(plan, clock.now_ms())?;
    let evidence = place.evidence(plan, clock)?;
    let backend = backend_of(answerers, plan, number, (&evidence, watch), ctx);
    let started_ms = clock.now_ms();
    evidence.record(
        "cycle",
        "start",
        json!({"night": number, "project": project, "config": plan.config}),
    );
    let work = Work { plan, state: &state, backend: &backend, evidence: &evidence, watch, ctx };
    let done = work.run(&documents, number, started_ms, clock).await;
    match done {
        Ok(finished) => keep::keep(plan, &state_file, place, finished, clock),
        Err(failure) => {
            place.give_up();
            Err(failure)
        }
    }
}

/// Both documents of a night, as they were read once.
struct Documents {
    skill: Pinned,
    memory: Option<Pinned>,
}

impl Documents {
    /// The skill's text. A skill that is not there yet begins with front matter, so that agents can find it.
    fn skill_text(&self, plan: &NightPlan) -> String {
        if !self.skill.text.is_empty() {
            return self.skill.text.clone();
        }
        let name = &plan.config.managed_skill_name;
        format!(
            "---\nname: {name}\ndescription: What was learned from this user's own sessions; read it before any task.\n\
             ---\n# {name}\n\nPreferences and procedures that sessions have shown.\n"
        )
    }

    fn memory_text(&self) -> &str {
        self.memory.as_ref().map_or("", |memory| &memory.text)
    }
}

fn documents(plan: &NightPlan) -> Result<Documents, TargetError> {
    let config = &plan.config;
    let mut specs =
        vec![TargetSpec { role: Role::ManagedSkill, path: config.managed_skill_path() }];
    if config.evolve_memory {
        specs.push(TargetSpec { role: Role::Memory, path: config.memory_path() });
    }
    let mut pinned = check_targets(&specs, &plan.skill_roots)?.into_iter();
    let skill = pinned.next().expect("one document is read for each that was named");
    Ok(Documents { skill, memory: pinned.next() })
}

/// Where a night keeps what it finds while it runs.
enum Place {
    Staging(Reserved),
    /// A dry run has a log of its own and nothing else.
    Log(PathBuf),
}

impl Place {
    fn make(plan: &NightPlan, at_ms: u64) -> Result<Self, NightFailure> {
        let project = &plan.config.invoked_project;
        let failed = |action: String| move |reason| NightFailure::Io { action, reason };
        if !plan.is_dry {
            let action = format!("make a folder for the night in {}", project.display());
            return reserve(project, at_ms).map(Self::Staging).map_err(failed(action));
        }
        let folder = plan.config.state_dir.join("evidence");
        let log = folder.join(format!("dryrun-{}.jsonl", crate::instant::stamp(at_ms)));
        if plan.config.evidence_log {
            let action = format!("make {}", folder.display());
            std::fs::create_dir_all(&folder).map_err(failed(action))?;
        }
        Ok(Self::Log(log))
    }

    fn evidence(
        &self,
        plan: &NightPlan,
        clock: &Arc<dyn Clock>,
    ) -> Result<Arc<Evidence>, NightFailure> {
        if !plan.config.evidence_log {
            return Ok(Arc::new(Evidence::off()));
        }
        let path = match self {
            Self::Staging(reserved) => reserved.dir().join("evidence.jsonl"),
            Self::Log(log) => log.clone(),
        };
        let sink = private_file(&path).map_err(|reason| NightFailure::Io {
            action: format!("write {}", path.display()),
            reason,
        })?;
        let options = EvidenceOptions {
            redact: Arc::new(|text| redact(text).text),
            max_chars: usize::try_from(plan.config.evidence_max_chars).unwrap_or(usize::MAX),
            clock: Arc::clone(clock),
        };
        Ok(Arc::new(Evidence::new(Box::new(sink), options)))
    }

    /// The night came to nothing. Best effort: a folder without manifest is no proposal.
    fn give_up(self) {
        if let Self::Staging(reserved) = self {
            let _ = reserved.give_up();
        }
    }
}

/// A new file that only its owner may read: it quotes sessions.
fn private_file(path: &std::path::Path) -> std::io::Result<impl Write + Send + 'static> {
    let mut options = std::fs::OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn backend_of(
    answerers: Answerers,
    plan: &NightPlan,
    night: u32,
    (evidence, watch): (&Arc<Evidence>, &Arc<Watch>),
    ctx: &RunCtx,
) -> Arc<dyn Backend> {
    let asker: Arc<dyn Asker> = match answerers {
        Answerers::Mock => return Arc::new(Mock),
        Answerers::Other(asker) => asker,
        Answerers::Models { models, ledger, flights, meter, fresh } => {
            let sample = NightSample { seed: plan.config.seed, night, fresh };
            let memory = (&ledger, &flights);
            Arc::new(CallsAsker::new(ctx, &models, memory, (*meter, evidence), sample))
        }
    };
    watch.spends(Arc::clone(&asker));
    Arc::new(Modelled::new(asker, plan.prompts.clone(), Arc::clone(evidence)))
}

/// The parts that all stages share.
struct Work<'a> {
    plan: &'a NightPlan,
    state: &'a crate::state::State,
    backend: &'a Arc<dyn Backend>,
    evidence: &'a Arc<Evidence>,
    watch: &'a Arc<Watch>,
    ctx: &'a RunCtx,
}

/// A night whose decision is made, before anything of it is kept.
struct Finished {
    number: u32,
    report: SleepReport,
    gathered: Gathered,
    /// `None` for a night without tasks.
    decided: Option<Decided>,
    evidence: Arc<Evidence>,
}

struct Decided {
    documents: DecidedDocuments,
    outcome: NightOutcome,
    groups: Vec<GroupOutcome>,
    /// The live bytes of skills of their own, by name.
    group_skills: Vec<Pinned>,
}

/// The managed pair, moved out of the night.
struct DecidedDocuments {
    skill: Pinned,
    memory: Option<Pinned>,
}

impl Work<'_> {
    async fn run(
        &self,
        documents: &Documents,
        number: u32,
        started_ms: u64,
        clock: &Arc<dyn Clock>,
    ) -> Result<Finished, NightFailure> {
        let gathered = self.gather(documents, clock).await?;
        let config = &self.plan.config;
        let mut report = SleepReport {
            night: number,
            project: config.invoked_project.display().to_string(),
            started_at: crate::instant::utc_text(started_ms),
            n_sessions: gathered.n_sessions,
            n_tasks: crate::replay::count(gathered.tasks.len()),
            gate_no_regression: config.gate_no_regression,
            notes: gathered.notes.clone(),
            ..SleepReport::default()
        };
        let decided = match gathered.tasks.is_empty() {
            true => {
                "no tasks were found".clone_into(&mut report.no_edits_reason);
                None
            }
            false => Some(self.decide(documents, &gathered, &mut report).await?),
        };
        report.ended_at = crate::instant::utc_text(clock.now_ms());
        let evidence = Arc::clone(self.evidence);
        Ok(Finished { number, report, gathered, decided, evidence })
    }

    async fn decide(
        &self,
        documents: &Documents,
        gathered: &Gathered,
        report: &mut SleepReport,
    ) -> Result<Decided, NightFailure> {
        let input = self.input(documents, gathered)?;
        let outcome = consolidate_night(input.clone()).await?;
        outcome.fill(report);
        let (groups, group_skills) = match self.plan.config.is_fanout() {
            true => self.fan_out(&input).await?,
            false => (Vec::new(), Vec::new()),
        };
        report.skill_groups = groups.iter().map(|group| group.report.clone()).collect();
        self.watch.stage(NightStage::Stage, "laying the proposal aside");
        let documents =
            DecidedDocuments { skill: documents.skill.clone(), memory: documents.memory.clone() };
        Ok(Decided { documents, outcome, groups, group_skills })
    }

    fn input(
        &self,
        documents: &Documents,
        gathered: &Gathered,
    ) -> Result<NightInput, NightFailure> {
        Ok(NightInput {
            tasks: gathered.tasks.clone(),
            skill: documents.skill_text(self.plan),
            memory: documents.memory_text().to_owned(),
            options: options::night_options(&self.plan.config),
            archive: self.state.archive(),
            rejected_before: keep::rejected_before(&self.plan.config.invoked_project),
            backend: Arc::clone(self.backend),
            evidence: Arc::clone(self.evidence),
            events: Arc::clone(self.watch) as _,
            ctx: self.ctx.clone(),
        })
    }

    async fn fan_out(
        &self,
        input: &NightInput,
    ) -> Result<(Vec<GroupOutcome>, Vec<Pinned>), NightFailure> {
        let groups = group_by_hint(&input.tasks);
        let pinned: Vec<(String, Result<Pinned, String>)> = groups
            .iter()
            .filter(|group| !group.skill_name.is_empty())
            .map(|group| (group.skill_name.clone(), self.skill_of(&group.skill_name)))
            .collect();
        let text = |name: &str| match pinned.iter().find(|(known, _)| known == name) {
            Some((_, Ok(pinned))) => Ok(pinned.text.clone()),
            Some((_, Err(reason))) => Err(reason.clone()),
            None => Err("the skill was not looked for".to_owned()),
        };
        let outcomes = consolidate_groups(input, &groups, text).await?;
        Ok((outcomes, pinned.into_iter().filter_map(|(_, pinned)| pinned.ok()).collect()))
    }

    /// A skill's live bytes, or why it is left alone.
    fn skill_of(&self, name: &str) -> Result<Pinned, String> {
        let roots = &self.plan.skill_roots;
        let path = match resolve_skill(name, roots) {
            Resolution::Found(found) => found.path,
            other => return Err(other.to_string()),
        };
        let role = Role::Skill(SkillName::parse(name).map_err(|err| err.to_string())?);
        let managed =
            TargetSpec { role: Role::ManagedSkill, path: self.plan.config.managed_skill_path() };
        // The managed skill's place is taken: no proposal of another name may lead there.
        let specs = [managed, TargetSpec { role, path }];
        let mut pinned = check_targets(&specs, roots).map_err(|err| err.to_string())?;
        pinned.pop().ok_or_else(|| "the skill was not read".to_owned())
    }
}

/// Edits have to win.
fn is_gated(config: &Config) -> bool {
    config.gate_mode == GateMode::On
}

/// Adopts the managed pair at once, if nothing speaks against it.
fn adopt_at_once(
    plan: &NightPlan,
    dir: &std::path::Path,
    at_ms: u64,
) -> Result<Vec<Receipt>, AdoptError> {
    let adoption = Adoption {
        selection: Selection::Managed,
        derived: Vec::new(),
        actor: plan.actor.clone(),
        at_ms,
    };
    crate::adopt::adopt(dir, &adoption, &plan.places)
}

#[cfg(test)]
mod tests;
