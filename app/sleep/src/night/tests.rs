//! Nights as a whole, against real folders: with the simulation, and with models that are scripted.

mod failures;
mod handoff;
mod keys;
mod logged;
mod outages;
mod privacy;
mod stages;
mod waiting;

use super::*;
use crate::adopt::Places;
use crate::backend::SleepModels;
use crate::config::{Override, Sources, load};
use crate::handoff::Handoff;
use crate::harvest::testing::NOW;
use crate::harvest::{HarvestOptions, Homes, Source};
use crate::prompts::Prompts;
use crate::task::{ReferenceKind, Split, TaskRecord};
use async_trait::async_trait;
use serde_json::{Value, json};
use skillopt_domain::config::Limits;
use skillopt_domain::outcome::Sample;
use skillopt_engine::ctx::RunControl;
use skillopt_engine::meter::{Meter, Prior};
use skillopt_engine::ports::{
    Billed, ChatReply, ChatRequest, Model, ModelError, ModelErrorKind, Purpose, WorstCase,
};
use skillopt_engine::testing::{MemoryLedger, TickingClock, reply};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use tokio_util::sync::CancellationToken;

const RULE: &str = "Close every letter with kind regards.";

/// A person's machine.
struct World {
    dir: tempfile::TempDir,
    clock: Arc<dyn Clock>,
    flags: Vec<(&'static str, Value)>,
    tasks: Option<Vec<TaskRecord>>,
    handoff: Option<Handoff>,
    is_dry: bool,
}

impl World {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        for folder in ["project", "temp", "home/.claude/projects/-p"] {
            fs::create_dir_all(dir.path().join(folder)).unwrap();
        }
        let clock: Arc<dyn Clock> = Arc::new(TickingClock::default());
        Self { dir, clock, flags: Vec::new(), tasks: None, handoff: None, is_dry: false }
    }

    fn with(mut self, key: &'static str, value: Value) -> Self {
        self.flags.push((key, value));
        self
    }

    fn given(mut self, tasks: Vec<TaskRecord>) -> Self {
        self.tasks = Some(tasks);
        self
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(name)
    }

    fn project(&self) -> String {
        self.plan().config.invoked_project.display().to_string()
    }

    fn skill(&self) -> PathBuf {
        self.plan().config.managed_skill_path()
    }

    /// A session in which a person asked these things.
    fn session(&self, id: &str, asked: &[&str]) {
        let record = |(at, text): (usize, &&str)| {
            let record = json!({
                "type": "user", "uuid": format!("{id}{at}"), "timestamp": "2026-01-10T11:00:00Z",
                "cwd": self.path("project"), "sessionId": id, "isSidechain": false,
                "message": {"role": "user", "content": text},
            });
            format!("{record}\n")
        };
        let text: String = asked.iter().enumerate().map(record).collect();
        fs::write(self.path(&format!("home/.claude/projects/-p/{id}.jsonl")), text).unwrap();
    }

    fn plan(&self) -> NightPlan {
        let flag = |(key, value): (&str, Value)| Override {
            flag: format!("--set {key}"),
            key: key.to_owned(),
            value,
        };
        let known = ("evolve_memory", json!(false));
        let overrides = [known].into_iter().chain(self.flags.clone()).map(flag).collect();
        let sources =
            Sources { home: self.path("home"), cwd: self.path("project"), file: None, overrides };
        let config = load(&sources).unwrap();
        let harvest = HarvestOptions {
            sources: vec![Source::Claude],
            homes: Homes { claude: Some(self.path("home/.claude")), ..Homes::default() },
            project: self.path("project").display().to_string(),
            ..HarvestOptions::new(NOW)
        };
        NightPlan {
            places: Places {
                temp_dir: self.path("temp"),
                allowed: vec![self.path("project"), self.path("home")],
            },
            skill_roots: vec![self.path("home/.claude/skills")],
            is_dry: self.is_dry,
            tasks: match &self.tasks {
                Some(tasks) => TaskSource::Given(tasks.clone()),
                None => TaskSource::Harvest(Box::new(harvest)),
            },
            prompts: Prompts::default(),
            actor: "ann".to_owned(),
            handoff: self.handoff.clone(),
            config,
        }
    }

    async fn run(&self, answerers: Answerers) -> Result<NightResult, NightFailure> {
        let (_control, ctx) = RunControl::new();
        self.run_on(answerers, &ctx).await
    }

    async fn run_on(
        &self,
        answerers: Answerers,
        ctx: &RunCtx,
    ) -> Result<NightResult, NightFailure> {
        run_night(&self.plan(), answerers, &Arc::default(), &self.clock, ctx).await
    }

    fn capped(&self, model: Arc<dyn Model>, max_calls: Option<u64>) -> Answerers {
        let limits = Limits {
            max_calls,
            max_tokens: None,
            max_cost_usd_micros: None,
            max_ms: None,
            error_share: 0.25,
        };
        Answerers::Models {
            models: SleepModels { target: Arc::clone(&model), optimizer: model, judge: None },
            ledger: Arc::new(MemoryLedger::default()),
            flights: Arc::default(),
            meter: Box::new(Meter::new(limits, Prior::default(), Arc::clone(&self.clock))),
            fresh: None,
        }
    }

    fn models(&self, model: &Arc<Voice>) -> Answerers {
        self.capped(Arc::clone(model) as _, None)
    }

    fn nights(&self) -> Vec<crate::stage::Night> {
        crate::stage::nights(&self.path("project")).unwrap()
    }

    fn state_file(&self) -> PathBuf {
        self.path("home/.skillopt-sleep/state.json")
    }

    fn left_nothing(&self) {
        assert!(self.nights().is_empty(), "{:?}", self.nights());
        assert!(!self.state_file().exists());
    }
}

type Script = dyn Fn(&ChatRequest) -> Result<ChatReply, ModelError> + Send + Sync;

/// A model that counts as a real one.
struct Voice {
    script: Box<Script>,
    seen: Mutex<Vec<ChatRequest>>,
    hangs: bool,
}

impl std::fmt::Debug for Voice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Voice")
    }
}

impl Voice {
    fn new(
        script: impl Fn(&ChatRequest) -> Result<ChatReply, ModelError> + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Self { script: Box::new(script), seen: Mutex::default(), hangs: false })
    }

    /// Prompts of one purpose.
    fn asked(&self, purpose: Purpose) -> Vec<String> {
        let seen = self.seen.lock().unwrap();
        let wanted = seen.iter().filter(|request| request.purpose == purpose);
        wanted.map(|request| request.messages[0].content.clone()).collect()
    }

    fn n_calls(&self) -> u64 {
        u64::try_from(self.seen.lock().unwrap().len()).unwrap()
    }
}

#[async_trait]
impl Model for Voice {
    fn identity(&self) -> Value {
        json!({"kind": "voice"})
    }

    fn name(&self) -> &'static str {
        "voice"
    }

    fn is_simulated(&self) -> bool {
        false
    }

    fn worst_case(&self, _: &ChatRequest) -> WorstCase {
        WorstCase { calls: 1, tokens: 100, cost_usd_micros: Some(100) }
    }

    async fn chat(
        &self,
        request: &ChatRequest,
        _: &Sample,
        cancel: &CancellationToken,
    ) -> Result<ChatReply, ModelError> {
        if self.hangs {
            cancel.cancelled().await;
            return Err(error(ModelErrorKind::Cancelled));
        }
        self.seen.lock().unwrap().push(request.clone());
        (self.script)(request)
    }
}

fn error(kind: ModelErrorKind) -> ModelError {
    ModelError { kind, message: "told so".to_owned(), attempts: 1, billed: Billed::default() }
}

/// Finds a task in everything that was asked, learns the rule when it is asked to reflect, and follows it when it stands
/// in the skill.
fn answer(request: &ChatRequest) -> String {
    let first = &request.messages[0].content;
    match request.purpose {
        Purpose::Mine => {
            let asked = first.lines().filter_map(|line| line.strip_prefix("| (")?.split_once(") "));
            let checks = json!([{"op": "contains", "arg": "kind regards"}]);
            let task = |(_, intent): (&str, &str)| json!({"intent": intent, "checks": checks});
            Value::Array(asked.map(task).collect()).to_string()
        }
        Purpose::Reflect => json!({"edits": [{"op": "add", "content": RULE}]}).to_string(),
        _ if first.contains(RULE) => "A letter. Kind regards".to_owned(),
        _ => "A letter.".to_owned(),
    }
}

fn willing() -> Arc<Voice> {
    Voice::new(|request| Ok(reply(&answer(request))))
}

fn letter(id: &str, split: Split) -> TaskRecord {
    TaskRecord {
        id: id.into(),
        intent: format!("write the letter {id}"),
        reference_kind: ReferenceKind::Rule,
        judge: json!({"kind": "rule", "checks": [{"op": "contains", "arg": "kind regards"}]}),
        split,
        ..TaskRecord::default()
    }
}

fn letters() -> Vec<TaskRecord> {
    vec![letter("a", Split::Train), letter("b", Split::Val), letter("c", Split::Val)]
}

/// For the simulation, which gets better at it.
fn exact(id: &str, split: Split) -> TaskRecord {
    TaskRecord {
        reference_kind: ReferenceKind::Exact,
        reference: "one long reference".into(),
        judge: Value::Null,
        tags: vec![crate::backend::rule_tag("json-only")],
        ..letter(id, split)
    }
}

fn exacts() -> Vec<TaskRecord> {
    vec![exact("a", Split::Train), exact("b", Split::Val), exact("c", Split::Val)]
}

#[tokio::test]
async fn a_night_lays_its_proposal_aside_and_remembers_it() {
    let world = World::new().given(exacts());
    let result = world.run(Answerers::Mock).await.unwrap();
    assert!(result.report.accepted, "{}", result.report.decision);
    assert_eq!((result.state_failure.as_str(), result.adopted.len()), ("", 0));
    let nights = world.nights();
    assert_eq!(nights.len(), 1);
    assert_eq!(nights[0].report.as_ref(), Some(&result.report));
    let state = StateFile::new(&world.path("home/.skillopt-sleep")).read().unwrap();
    let project = world.project();
    assert_eq!(state.history_of(&project).len(), 1);
    assert_eq!(state.archive().len(), 3);
    assert!(!world.skill().exists(), "nothing live changes");
}

#[tokio::test]
async fn a_night_without_tasks_leaves_a_row_and_no_folder() {
    let world = World::new();
    let result = world.run(Answerers::Mock).await.unwrap();
    assert_eq!((result.staging, result.tasks.len()), (None, 0));
    assert!(result.report.notes[0].starts_with("nothing to harvest"), "{:?}", result.report.notes);
    assert_eq!(result.report.cost_usd_micros, Some(0), "nothing was called");
    assert!(world.nights().is_empty() && world.state_file().exists());
}

#[tokio::test]
async fn a_dry_run_keeps_nothing() {
    let mut world = World::new().given(exacts());
    world.is_dry = true;
    let result = world.run(Answerers::Mock).await.unwrap();
    assert!(result.report.accepted && result.staging.is_none());
    world.left_nothing();
}

#[tokio::test]
async fn what_nothing_speaks_against_is_adopted_at_once_where_the_config_says_so() {
    let world = World::new().with("auto_adopt", json!(true)).given(exacts());
    let result = world.run(Answerers::Mock).await.unwrap();
    assert_eq!((result.adopted.len(), result.not_adopted.as_str()), (1, ""));
    let sentence = crate::backend::sentence_of("json-only").unwrap();
    assert!(fs::read_to_string(world.skill()).unwrap().contains(sentence));
    let text = fs::read_to_string(result.staging.unwrap().join("report.md")).unwrap();
    assert!(!text.contains("Nothing that is live has changed"), "{text}");
}

#[tokio::test]
async fn what_no_gate_has_seen_is_never_adopted_at_once() {
    let world = World::new()
        .with("auto_adopt", json!(true))
        .with("gate_mode", json!("off"))
        .given(exacts());
    let result = world.run(Answerers::Mock).await.unwrap();
    assert_eq!(json!(result.report.gate_action), "greedy_applied");
    assert!(result.report.accepted && result.adopted.is_empty());
    assert!(result.not_adopted.starts_with("the gate is off"), "{}", result.not_adopted);
    assert!(!world.skill().exists(), "nothing live changes");
    let note = format!("not adopted at once: {}", result.not_adopted);
    assert!(result.report.notes.contains(&note), "{:?}", result.report.notes);
    let nights = world.nights();
    let rows = &nights[0].manifest.as_ref().unwrap().rows;
    assert_eq!(rows.len(), 1, "a person may still adopt it");
}

#[tokio::test]
async fn f36_an_adoption_at_once_that_fails_keeps_the_night_and_its_row() {
    let world = World::new().with("auto_adopt", json!(true)).given(exacts());
    let mut plan = world.plan();
    plan.places.allowed = vec![world.path("temp")];
    let (_control, ctx) = RunControl::new();
    let result =
        run_night(&plan, Answerers::Mock, &Arc::default(), &world.clock, &ctx).await.unwrap();
    assert!(result.adopted.is_empty() && !world.skill().exists());
    assert!(result.not_adopted.contains("outside of the folders"), "{}", result.not_adopted);
    assert_eq!(result.state_failure, "");
    let dir = result.staging.unwrap();
    let state = StateFile::new(&world.path("home/.skillopt-sleep")).read().unwrap();
    let rows: Vec<(u32, bool, PathBuf)> = state
        .history_of(&world.project())
        .iter()
        .map(|row| (row.night, row.accepted, PathBuf::from(&row.staging)))
        .collect();
    assert_eq!(rows, [(1, true, dir.clone())]);
    assert_eq!(world.nights()[0].manifest.as_ref().unwrap().rows.len(), 1, "it waits for a person");
    let next = world.run(Answerers::Mock).await.unwrap();
    assert_eq!(next.report.night, 2, "the number is not given twice");
}

#[tokio::test]
async fn an_edit_that_quotes_a_check_waits_for_a_person_whatever_the_config_says() {
    let world = World::new().with("auto_adopt", json!(true)).given(letters());
    let result = world.run(world.models(&willing())).await.unwrap();
    assert!(result.report.accepted && result.adopted.is_empty());
    assert!(result.not_adopted.contains("the text of a check"), "{}", result.not_adopted);
    assert!(!world.skill().exists());
}

#[tokio::test]
async fn the_cost_of_a_night_is_that_of_all_its_calls() {
    let world = World::new().with("multi_skill_fanout", json!(true));
    for name in ["one", "two", "three", "four"] {
        world.session(name, &[&format!("Write a letter to {name}")]);
    }
    let voice = willing();
    let result = world.run(world.models(&voice)).await.unwrap();
    assert_eq!(voice.asked(Purpose::Mine).len(), 4);
    let spent = (result.report.tokens_used, result.report.cost_usd_micros);
    assert_eq!(spent, (20 * voice.n_calls(), Some(20 * voice.n_calls())));
}

#[tokio::test]
async fn skills_of_their_own_cost_as_well() {
    let world = World::new().with("multi_skill_fanout", json!(true));
    let skill = world.path("home/.claude/skills/letters/SKILL.md");
    fs::create_dir_all(skill.parent().unwrap()).unwrap();
    fs::write(&skill, "---\nname: letters\ndescription: Letters.\n---\n# Letters\n").unwrap();
    let hinted = |task: TaskRecord| TaskRecord { skill_hint: "letters".into(), ..task };
    let world = world.given(letters().into_iter().map(hinted).collect());
    let voice = willing();
    let result = world.run(world.models(&voice)).await.unwrap();
    assert_eq!(result.staged_skills, ["letters"], "{:?}", result.report.skill_groups);
    assert_eq!(result.report.tokens_used, 20 * voice.n_calls());
}

#[tokio::test]
async fn another_model_than_the_night_before_is_told() {
    let mut world = World::new().given(exacts());
    let first = world.run(Answerers::Mock).await.unwrap();
    world = world.with("model", json!("another"));
    let second = world.run(Answerers::Mock).await.unwrap();
    let tells = |result: &NightResult| {
        result.report.notes.iter().any(|note| note.contains("learned text may not hold"))
    };
    assert_eq!((tells(&first), tells(&second)), (false, true));
}

#[tokio::test]
async fn f44_what_is_older_than_the_config_keeps_goes_and_tonight_stays() {
    let world =
        World::new().with("keep_nights", json!(0)).with("keep_days", json!(0)).given(exacts());
    let log = world.path("home/.skillopt-sleep/evidence/dryrun-20260101-000000.jsonl");
    fs::create_dir_all(log.parent().unwrap()).unwrap();
    fs::write(&log, "{}\n").unwrap();
    let first = world.run(Answerers::Mock).await.unwrap().staging.unwrap();
    assert!(first.exists() && !log.exists());
    let second = world.run(Answerers::Mock).await.unwrap().staging.unwrap();
    assert!(!first.exists() && second.exists());
}
