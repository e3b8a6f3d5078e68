//! Writes run folders in the shape of the Python system: names and fields of its versions 0.1 and 0.2.

use serde_json::{Value, json};
use skillopt_domain::hash::Sha256Hex;
use std::fs;
use std::path::{Path, PathBuf};

pub(super) const INITIAL: &str = "# Skill\n\nAnswer.\n";
pub(super) const BETTER: &str = "# Skill\n\nAnswer.\n\nAnswer with the shortest phrase.\n";
pub(super) const WORSE: &str = "# Skill\n\nAnswer.\n\nShout.\n";

/// A version of the Python system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    V01,
    V02,
}

/// A folder under construction.
pub(super) struct PythonRun {
    dir: tempfile::TempDir,
    version: Version,
    history: Vec<Value>,
}

impl PythonRun {
    /// Config, initial skill and baseline (0.5 on two tasks).
    pub(super) fn started(version: Version) -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        let run = Self { dir, version, history: Vec::new() };
        run.json(
            "config.json",
            &json!({
                "env": "searchqa", "seed": 42, "num_epochs": 2, "steps_per_epoch": 2, "batch_size": 2,
                "accumulation": 1, "train_size": 4, "edit_budget": 4, "min_edit_budget": 2,
                "lr_scheduler": "cosine", "gate_metric": "hard", "use_slow_update": true,
                "target_model": "target-1", "optimizer_model": "optimizer-1",
                "target_backend": "openai_chat", "optimizer_backend": "openai_chat",
                "azure_openai_api_key": "sk-in-clear", "out_root": "/elsewhere/out",
            }),
        );
        run.text("skills/skill_v0000.md", INITIAL);
        run.rollout("selection_eval_baseline", &[("v1", 1.0, 1.0), ("v2", 0.0, 0.25)]);
        run
    }

    /// Four steps: a new best, a rejection, a skip, and an acceptance without news; then the end.
    pub(super) fn finished(version: Version) -> Self {
        let mut run = Self::started(version);
        run.accept(1);
        run.reject(2);
        run.skip(3);
        run.reject_from_cache(4);
        run.end();
        run
    }

    pub(super) fn path(&self) -> &Path {
        self.dir.path()
    }

    pub(super) fn file(&self, relative: &str) -> PathBuf {
        self.path().join(relative)
    }

    pub(super) fn text(&self, relative: &str, text: &str) {
        let path = self.file(relative);
        fs::create_dir_all(path.parent().expect("a parent")).expect("made");
        fs::write(path, text).expect("written");
    }

    pub(super) fn json(&self, relative: &str, value: &Value) {
        self.text(relative, &format!("{value:#}"));
    }

    /// Results and conversations; ids are path parts as they are, unless they lead elsewhere.
    pub(super) fn rollout(&self, dir: &str, rows: &[(&str, f64, f64)]) {
        let mut lines = String::new();
        for (id, hard, soft) in rows {
            let row = json!({
                "id": id, "hard": hard, "soft": soft, "n_turns": 1, "task_type": "qa",
                "fail_reason": if *hard > 0.0 { "" } else { "wrong answer: not it" },
                "question": format!("Question of {id}?"), "predicted_answer": "an answer",
            });
            lines.push_str(&format!("{row}\n"));
            if id.contains("..") {
                continue;
            }
            let place = format!("{dir}/predictions/{id}");
            self.text(&format!("{place}/target_system_prompt.txt"), "You answer.");
            self.json(
                &format!("{place}/conversation.json"),
                &json!([
                    {"role": "user", "content": format!("Question of {id}?")},
                    {"type": "message", "turn": 1, "content": "an answer"},
                    {"role": "system", "content": "[EVALUATION RESULT] looked at"},
                ]),
            );
        }
        self.text(&format!("{dir}/results.jsonl"), &lines);
    }

    fn proposals(&self, step: u32, content: &str, status: &str) {
        let dir = format!("steps/step_{step:04}");
        let edit = json!({"op": "append", "content": content, "support_count": 2, "source_type": "failure"});
        let minibatch = json!({
            "batch_size": "2 trajectories", "source_type": "failure",
            "failure_summary": [{"failure_type": "long", "count": 1, "description": "answers are long"}],
            "patch": {"reasoning": "because", "edits": [edit]},
        });
        self.json(&format!("{dir}/patches/minibatch_fail_000.json"), &minibatch);
        self.json(
            &format!("{dir}/merged_patch.json"),
            &json!({"reasoning": "merged", "edits": [edit]}),
        );
        self.json(
            &format!("{dir}/ranked_edits.json"),
            &json!({"reasoning": "kept [optimizer-ranked: selected 1/1 edits]", "edits": [edit]}),
        );
        if self.version == Version::V02 {
            let row = json!({"index": 1, "op": "append", "target": "", "content_preview": content, "status": status});
            self.json(&format!("{dir}/edit_apply_report.json"), &json!([row]));
        }
    }

    /// The fields that every evaluated step has.
    fn row(
        &self,
        step: u32,
        action: &str,
        candidate: &str,
        hard: f64,
        current: f64,
        best: f64,
    ) -> Value {
        let mut row = json!({
            "step": step, "epoch": (step - 1) / 2 + 1, "step_in_epoch": (step - 1) % 2,
            "timing": {"rollout_s": 1.5, "reflect_s": 0.5, "evaluate_s": 2.0},
            "tokens": {"rollout": {"calls": 4, "prompt_tokens": 40, "completion_tokens": 4},
                "analyst": {"calls": 1, "prompt_tokens": 100, "completion_tokens": 10}},
            "rollout_hard": 0.5, "rollout_soft": 0.5, "rollout_n": 2,
            "n_patches": 1, "n_failure_patches": 1, "n_success_patches": 0,
            "n_edits_merged": 1, "n_edits_ranked": 1, "edit_budget": 4,
            "candidate_hash": Sha256Hex::of(candidate).short(), "candidate_skill_len": candidate.chars().count(),
            "edit_apply_summary": {"total": 1, "applied": 1, "skipped": 0, "errors": 0},
            "selection_hard": hard, "selection_soft": hard, "action": action,
            "current_score": current, "best_score": best, "best_step": 1, "wall_time_s": 4.0,
        });
        if self.version == Version::V02 {
            row["gate_metric"] = json!("hard");
            row["candidate_gate_score"] = json!(hard);
            row["current_origin"] = json!("step_0001");
            row["best_origin"] = json!("step_0001");
        }
        row
    }

    pub(super) fn accept(&mut self, step: u32) {
        let dir = format!("steps/step_{step:04}");
        self.rollout(&format!("{dir}/rollout"), &[("t2", 0.0, 0.0), ("t1", 1.0, 1.0)]);
        self.proposals(step, "Answer with the shortest phrase.", "applied_append");
        self.text(&format!("{dir}/candidate_skill.md"), BETTER);
        self.rollout(&format!("{dir}/selection_eval"), &[("v2", 1.0, 1.0), ("v1", 1.0, 1.0)]);
        self.text("best_skill.md", BETTER);
        let row = self.row(step, "accept_new_best", BETTER, 1.0, 1.0, 1.0);
        self.finish(row, BETTER);
    }

    pub(super) fn reject(&mut self, step: u32) {
        let dir = format!("steps/step_{step:04}");
        self.rollout(&format!("{dir}/rollout"), &[("t3", 0.0, 0.0), ("t4", 1.0, 1.0)]);
        self.proposals(step, "Shout.", "applied_append");
        self.text(&format!("{dir}/candidate_skill.md"), WORSE);
        self.rollout(&format!("{dir}/selection_eval"), &[("v1", 1.0, 1.0), ("v2", 0.0, 0.0)]);
        let row = self.row(step, "reject", WORSE, 0.5, 1.0, 1.0);
        self.finish(row, BETTER);
    }

    /// The same candidate again: the cache answered, so that there is no evaluation.
    pub(super) fn reject_from_cache(&mut self, step: u32) {
        let dir = format!("steps/step_{step:04}");
        self.rollout(&format!("{dir}/rollout"), &[("t3", 0.0, 0.0), ("t4", 1.0, 1.0)]);
        self.proposals(step, "Shout.", "applied_append");
        self.text(&format!("{dir}/candidate_skill.md"), WORSE);
        let row = self.row(step, "reject", WORSE, 0.5, 1.0, 1.0);
        self.finish(row, BETTER);
    }

    pub(super) fn skip(&mut self, step: u32) {
        let dir = format!("steps/step_{step:04}");
        self.rollout(&format!("{dir}/rollout"), &[("t1", 1.0, 1.0), ("t2", 1.0, 1.0)]);
        let row = json!({
            "step": step, "epoch": (step - 1) / 2 + 1, "tokens": {}, "rollout_hard": 1.0, "rollout_soft": 1.0,
            "rollout_n": 2, "n_patches": 0, "action": "skip_no_patches", "current_score": 1.0,
            "best_score": 1.0, "best_step": 1, "wall_time_s": 1.0,
        });
        self.finish(row, BETTER);
    }

    /// Writes the record, the history and the state after a step.
    pub(super) fn finish(&mut self, row: Value, skill: &str) {
        let step = row["step"].as_u64().expect("a step");
        self.text(&format!("skills/skill_v{step:04}.md"), skill);
        self.json(&format!("steps/step_{step:04}/step_record.json"), &row);
        self.history.push(row);
        self.json("history.json", &Value::Array(self.history.clone()));
        self.json(
            "runtime_state.json",
            &json!({"last_completed_step": step, "current_score": 1.0}),
        );
    }

    /// A row put as it is, without its files.
    pub(super) fn set_row(&mut self, at: usize, change: impl FnOnce(&mut Value)) {
        change(&mut self.history[at]);
        self.json("history.json", &Value::Array(self.history.clone()));
    }

    pub(super) fn row_at(&self, at: usize) -> Value {
        self.history[at].clone()
    }

    /// Epoch ends, the test split and the summary.
    pub(super) fn end(&self) {
        self.json(
            "slow_update/epoch_01/slow_result.json",
            &json!({"action": "inject_placeholder", "epoch": 1}),
        );
        self.json(
            "slow_update/epoch_02/slow_result.json",
            &json!({"action": "force_accept", "slow_update_content": "Keep it short.", "reasoning": "r"}),
        );
        self.json(
            "meta_skill/epoch_02/meta_skill_result.json",
            &json!({"action": "write_meta_skill", "meta_skill_content": "Prefer small edits."}),
        );
        self.rollout("test_eval_baseline", &[("e1", 0.0, 0.0), ("e2", 1.0, 1.0)]);
        self.rollout("test_eval", &[("e1", 1.0, 1.0), ("e2", 1.0, 1.0)]);
        self.json(
            "summary.json",
            &json!({
                "version": "skillopt-0.1.0", "baseline_selection_hard": 0.5, "best_step": 1,
                "baseline_test_hard": 0.5, "baseline_test_soft": 0.5, "test_hard": 1.0, "test_soft": 1.0,
                "total_wall_time_s": 20.0,
                "token_summary": {"rollout": {"calls": 100, "prompt_tokens": 1000, "completion_tokens": 100},
                    "_total": {"calls": 9999}},
            }),
        );
    }
}
