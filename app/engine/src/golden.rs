//! Shuffles, batches, budgets and hashes against vectors that `CPython` made (`tests/fixtures/golden/make.py`).

use crate::batches::{Batch, epoch_batches};
use crate::rng::PythonRandom;
use crate::schedule::edit_budget;
use serde::Deserialize;
use skillopt_domain::config::{RunConfig, Setting, Train, Value, resolve};
use skillopt_domain::hash::Sha256Hex;

const VECTORS: &str = include_str!("../../../tests/fixtures/golden/vectors.json");

#[derive(Deserialize)]
struct Vectors {
    shuffles: Vec<Shuffle>,
    epochs: Vec<Epoch>,
    schedules: Vec<Schedule>,
    skill_hashes: Vec<SkillHash>,
}

#[derive(Deserialize)]
struct Shuffle {
    n: usize,
    seed: u64,
    order: Vec<usize>,
}

#[derive(Deserialize)]
struct Epoch {
    n_train: usize,
    seed: u64,
    epoch: u32,
    batch_size: u32,
    accumulation: u32,
    batches: Vec<GoldenBatch>,
}

#[derive(Deserialize)]
struct GoldenBatch {
    seed: u64,
    tasks: Vec<usize>,
}

#[derive(Deserialize)]
struct Schedule {
    kind: String,
    high: u32,
    low: u32,
    total: u32,
    budgets: Vec<u32>,
}

#[derive(Deserialize)]
struct SkillHash {
    text: String,
    hash: String,
}

fn vectors() -> Vectors {
    serde_json::from_str(VECTORS).expect("the golden vectors")
}

#[test]
fn shuffles_of_many_seeds_and_sizes_equal_those_of_cpython() {
    let shuffles = vectors().shuffles;
    assert!(shuffles.len() >= 48);
    for shuffle in shuffles {
        let mut order: Vec<usize> = (0..shuffle.n).collect();
        PythonRandom::new(shuffle.seed).shuffle(&mut order);
        assert_eq!(order, shuffle.order, "seed {}, {} items", shuffle.seed, shuffle.n);
    }
}

#[test]
fn batches_of_three_seeds_equal_those_of_the_python_system() {
    let epochs = vectors().epochs;
    assert!(epochs.len() >= 45);
    for golden in epochs {
        let train = Train {
            num_epochs: golden.epoch,
            train_size: 0,
            batch_size: golden.batch_size,
            accumulation: golden.accumulation,
            seed: golden.seed,
        };
        let expect: Vec<Batch> = golden
            .batches
            .into_iter()
            .map(|batch| Batch { tasks: batch.tasks, seed: batch.seed })
            .collect();
        let batches = epoch_batches(&train, golden.epoch, golden.n_train);
        assert_eq!(batches, expect, "seed {}, epoch {}", golden.seed, golden.epoch);
    }
}

#[test]
fn budgets_equal_those_of_python_with_its_rounding() {
    let schedules = vectors().schedules;
    assert!(schedules.len() >= 90);
    for golden in schedules {
        let text = |path: &str, value: String| Setting {
            path: path.to_owned(),
            value: Value::Text(value),
            place: skillopt_domain::config::Place::flag("test"),
        };
        let settings = [
            text("model.backend", "mock".to_owned()),
            text("env.split_dir", "data".to_owned()),
            text("optimizer.lr_scheduler", golden.kind.clone()),
            text("optimizer.learning_rate", golden.high.to_string()),
            text("optimizer.min_learning_rate", golden.low.to_string()),
        ];
        let resolved = resolve(&settings).expect("accepted");
        let config = RunConfig::from_resolved(&resolved).expect("complete").optimizer;
        let steps = 1..=u32::try_from(golden.budgets.len()).expect("few");
        let budgets: Vec<u32> =
            steps.map(|step| edit_budget(&config, step, golden.total)).collect();
        let (kind, total) = (&golden.kind, golden.total);
        assert_eq!(budgets, golden.budgets, "{kind} {}->{} over {total}", golden.high, golden.low);
    }
}

#[test]
fn skill_hashes_equal_those_of_python_run_folders() {
    for golden in vectors().skill_hashes {
        assert_eq!(Sha256Hex::of(&golden.text).short(), golden.hash, "{:?}", golden.text);
    }
}
