//! A finished run with a long history, written through the store as an import would write it.

use anyhow::Context;
use skillopt_domain::config::resolve;
use skillopt_domain::edit::{Edit, EditOp, EditReport, EditStatus, apply_in_order};
use skillopt_domain::epoch::{EpochAction, SlowUpdate};
use skillopt_domain::event::{EventKind, Measured, RunPlan, StageCost, StepSummary};
use skillopt_domain::hash::Sha256Hex;
use skillopt_domain::ids::RunId;
use skillopt_domain::import::ImportOrigin;
use skillopt_domain::outcome::{
    Outcome, OutcomeCounts, RolloutPurpose, RolloutSet, Sample, TaskOutcome,
};
use skillopt_domain::run::{RunStatus, Stage};
use skillopt_domain::score::{GateMetric, MeanScore, Score, TaskScore};
use skillopt_domain::skill::SkillDoc;
use skillopt_domain::spend::{Spend, SpendByRole};
use skillopt_domain::verdict::{Action, Verdict};
use skillopt_store::{ImportedEvent, ImportedRun, ImportedSet, NewRun, Store};
use std::path::Path;

/// Steps of the run.
pub(crate) const STEPS: u32 = 10_000;
/// The one step whose candidate stands out.
pub(crate) const SPIKE: u32 = 7_777;
/// Its score; all others lie far below.
pub(crate) const SPIKE_SCORE: f64 = 0.985;
/// Every so many steps one is kept.
const KEPT_EVERY: u32 = 12;
const STEPS_PER_EPOCH: u32 = 500;
const TASKS: u32 = 4;
const ID: &str = "0190a0c2-7b1e-7c33-8f00-00000000a110";

/// Writes the run into a data directory.
pub(crate) async fn write(data_dir: &Path) -> anyhow::Result<RunId> {
    let store = Store::open(data_dir).await?;
    let id = RunId::parse(ID).context("the id of the run")?;
    store.import_run(&Writer::default().run(&id)?).await?;
    Ok(id)
}

/// What the steps leave behind.
#[derive(Default)]
struct Writer {
    text: String,
    version: u32,
    best: f64,
    skills: Vec<String>,
    sets: Vec<ImportedSet>,
    events: Vec<ImportedEvent>,
    spend: SpendByRole,
}

impl Writer {
    fn run(mut self, id: &RunId) -> anyhow::Result<ImportedRun> {
        self.text = "# Skill\n\n- Read the question.\n- Answer in one word.\n".to_owned();
        self.best = 0.3;
        self.start();
        for step in 1..=STEPS {
            self.step(step);
            if step % STEPS_PER_EPOCH == 0 && step > STEPS_PER_EPOCH {
                self.end_epoch(step / STEPS_PER_EPOCH, step);
            }
        }
        let done = EventKind::Status { status: RunStatus::Done, detail: None };
        self.tell("status/done".to_owned(), done);
        Ok(ImportedRun {
            run: NewRun {
                id: id.clone(),
                name: "ten thousand steps".to_owned(),
                config: resolve(&[]).map_err(|problems| anyhow::anyhow!("{problems:?}"))?,
                out_root: "long".to_owned(),
                actor: "local".to_owned(),
                fresh: None,
                created_at_ms: 1_700_000_000_000,
                lease: None,
            },
            origin: ImportOrigin {
                folder: "long".to_owned(),
                system: "a test".to_owned(),
                imported_at_ms: 1_700_000_000_000,
                why_not_resumable: "a history without a run".to_owned(),
                findings: Vec::new(),
                n_findings_more: 0,
            },
            skills: self.skills,
            sets: self.sets,
            events: self.events,
            spend: self.spend,
            active_ms: 1,
        })
    }

    fn tell(&mut self, key: String, kind: EventKind) {
        let at_ms = 1_700_000_000_000 + u64::try_from(self.events.len()).unwrap_or(0);
        self.events.push(ImportedEvent { key, at_ms, kind });
    }

    fn start(&mut self) {
        self.skills.push(self.text.clone());
        let initial = Sha256Hex::of(&self.text);
        let running = EventKind::Status { status: RunStatus::Running, detail: None };
        self.tell("status/running".to_owned(), running);
        self.tell(
            "planned".to_owned(),
            EventKind::Planned(RunPlan {
                benchmark: "searchqa".to_owned(),
                n_train: 100,
                n_selection: TASKS,
                n_test: TASKS,
                epochs: STEPS / STEPS_PER_EPOCH,
                steps_per_epoch: STEPS_PER_EPOCH,
                total_steps: STEPS,
                data: Sha256Hex::of("data"),
                initial_skill: initial.clone(),
                initial_tokens: 20,
                target_model: "target".to_owned(),
                optimizer_model: "optimizer".to_owned(),
                target_simulated: true,
                optimizer_simulated: true,
                seed: 42,
                forecast: None,
            }),
        );
        let set = self.measure(&initial, 0);
        let measured = Measured {
            skill: initial,
            score: mean(0.3),
            gate_score: Some(0.3),
            counts: OutcomeCounts::default(),
            set,
            cost: None,
        };
        self.tell("baseline".to_owned(), EventKind::Baseline(measured));
    }

    /// Three edits, of which two apply; every twelfth candidate is kept.
    fn step(&mut self, step: u32) {
        let words = format!("- Rule {step}: check the {step}th word before you answer.");
        let mut edits = vec![
            Edit::new(EditOp::Append, None, Some(&words)),
            Edit::new(EditOp::Replace, Some("no such line"), Some("- Nothing.")),
            Edit::new(
                EditOp::InsertAfter,
                Some("- Read the question."),
                Some(&format!("- Note {step}.")),
            ),
        ];
        if let Some(old) = self.text.lines().filter(|line| line.starts_with("- Rule")).nth(40) {
            // The text stays of one size.
            edits.push(Edit::new(EditOp::Delete, Some(old), None));
            edits.push(Edit::new(
                EditOp::Delete,
                self.text.lines().find(|line| line.starts_with("- Note")),
                None,
            ));
        }
        let (doc, edits) = apply_in_order(&SkillDoc::parse(self.text.clone()), &edits, 9);
        let is_kept = step.is_multiple_of(KEPT_EVERY);
        let score = match step {
            SPIKE => SPIKE_SCORE,
            _ if is_kept => self.best + 0.0005,
            _ => 0.25 + f64::from(step % 10) / 1000.0,
        };
        let (candidate, before) = (doc.sha(), self.best);
        // Attempts of the others are left out: their number is no matter here, and writing them takes long.
        let set = if is_kept || step == SPIKE {
            self.measure(&candidate, step)
        } else {
            format!("selection/{candidate}")
        };
        let action = if is_kept { Action::AcceptNewBest } else { Action::Reject };
        self.tell_update(step, edits, &doc, &set, (action, before, score));
        if is_kept {
            self.best = score;
            self.text = doc.text().to_owned();
            self.version += 1;
            self.skills.push(self.text.clone());
        }
        self.finish(step, action, score, candidate);
    }

    fn tell_update(
        &mut self,
        step: u32,
        edits: Vec<EditReport>,
        doc: &SkillDoc,
        set: &str,
        (action, before, score): (Action, f64, f64),
    ) {
        debug_assert!(edits.iter().any(|edit| edit.status == EditStatus::Applied));
        let counts = OutcomeCounts { passed: 4, failed: 6, ..OutcomeCounts::default() };
        let rolled = EventKind::RolledOut { step, score: mean(0.4), counts, sets: Vec::new() };
        if action.is_accepted() {
            self.tell(format!("step/{step}/rolled_out"), rolled);
        }
        let updated = EventKind::Updated {
            step,
            edits,
            candidate: doc.sha(),
            candidate_chars: 900,
            candidate_tokens: 200,
        };
        self.tell(format!("step/{step}/updated"), updated);
        let verdict = Verdict {
            action,
            metric: GateMetric::Hard,
            mixed_weight: 0.5,
            current: mean(before),
            candidate: mean(score),
            current_score: Some(before),
            candidate_score: Some(score),
            n_not_compared: 0,
            changes: Vec::new(),
            changes_unknown: false,
            reused: false,
            reason: format!("{before:.3} → {score:.3} on {TASKS} tasks"),
        };
        let gated = EventKind::Gated { step, verdict, set: set.to_owned() };
        self.tell(format!("step/{step}/gated"), gated);
    }

    fn finish(&mut self, step: u32, action: Action, score: f64, candidate: Sha256Hex) {
        let call =
            Spend { calls: 6, prompt_tokens: 600, completion_tokens: 60, ..Spend::default() };
        let spend = SpendByRole { target: call, optimizer: Spend::default() };
        let stages: Vec<StageCost> =
            Stage::ALL.map(|stage| StageCost { stage, wall_ms: 40, spend }).to_vec();
        let mut all = SpendByRole::default();
        for stage in &stages {
            all += stage.spend;
        }
        self.spend += all;
        let summary = StepSummary {
            step,
            epoch: (step - 1) / STEPS_PER_EPOCH + 1,
            action,
            rollout: mean(0.4),
            candidate_score: Some(score),
            current_score: Some(self.best),
            current_n: Some(TASKS),
            best_score: Some(self.best),
            best_n: Some(TASKS),
            n_selection: Some(TASKS),
            n_fixed: Some(1),
            n_broke: Some(0),
            edit_budget: 4,
            n_applied: 2,
            n_not_applied: 1,
            skill: Sha256Hex::of(&self.text),
            candidate: Some(candidate),
            version: self.version,
            skill_tokens: 200,
            n_errors: 0,
            n_attempts: 16,
            spend: all,
            stages,
            reason: format!("{score:.3} on {TASKS} tasks"),
        };
        self.tell(format!("step/{step}/finished"), EventKind::StepFinished(summary));
    }

    /// Guidance that loses at the gate.
    fn end_epoch(&mut self, epoch: u32, step: u32) {
        let update = SlowUpdate {
            epoch,
            step,
            action: EpochAction::Reject,
            content: format!("Look twice at what epoch {epoch} got wrong."),
            reasoning: "Some tasks fail again and again.".to_owned(),
            candidate: None,
            verdict: None,
            set: None,
            version: self.version,
            current_score: Some(self.best),
            current_n: Some(TASKS),
            skill_tokens: 200,
            wall_ms: 1,
            spend: SpendByRole::default(),
            reason: "no better".to_owned(),
        };
        self.tell(format!("epoch/{epoch}/slow"), EventKind::SlowUpdated(update));
    }

    /// The outcomes of a skill; which tasks pass changes from step to step.
    fn measure(&mut self, skill: &Sha256Hex, step: u32) -> String {
        let key = format!("selection/{skill}");
        let set = RolloutSet {
            key: key.clone(),
            purpose: RolloutPurpose::Selection,
            step,
            skill: skill.clone(),
            sample: Sample { seed: 42, epoch: 0, repeat: 0, fresh: None },
            outcomes: (0..TASKS).map(|task| outcome(task, step)).collect(),
        };
        let conversations = vec![Vec::new(); set.outcomes.len()];
        self.sets.push(ImportedSet { set, conversations });
        key
    }
}

fn outcome(task: u32, step: u32) -> TaskOutcome {
    let passes = (step / (task + 2)).is_multiple_of(2);
    let score = if passes { Score::ONE } else { Score::ZERO };
    TaskOutcome {
        task: format!("val_{task}").as_str().into(),
        title: format!("What is the answer to question {task}?"),
        task_type: "qa".to_owned(),
        outcome: Outcome::Scored {
            score: TaskScore { hard: score, soft: score },
            predicted: "an answer".to_owned(),
            fail_reason: if passes { String::new() } else { "another answer".to_owned() },
            truncated: false,
        },
        call: None,
        cached: false,
    }
}

fn mean(hard: f64) -> Option<MeanScore> {
    Some(MeanScore { hard, soft: hard, n: TASKS })
}
