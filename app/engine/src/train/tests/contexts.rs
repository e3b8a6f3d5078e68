//! Long trajectories: what one optimizer call may read, in a whole run.

use super::*;
use crate::ports::{Benchmark, Graded, Message, Task};
use skillopt_domain::event::ReflectionSummary;

/// A benchmark whose task `train-3` comes with a book.
#[derive(Debug)]
struct Bookish;

const BOOK: usize = 200_000;

impl Benchmark for Bookish {
    fn name(&self) -> &'static str {
        "bookish"
    }

    fn prompt(&self, task: &Task, skill: &str) -> Vec<Message> {
        let mut messages = WordBenchmark.prompt(task, skill);
        if task.id.as_str() == "train-3" {
            for part in ["first", "second", "third"] {
                messages.insert(1, Message::user(format!("{part} {}", "page ".repeat(BOOK / 5))));
            }
        }
        messages
    }

    fn grade(&self, task: &Task, reply: &str, truncated: bool) -> Graded {
        WordBenchmark.grade(task, reply, truncated)
    }
}

/// As [`target_reply`], whatever stands between skill and task.
fn reads_the_end(request: &ChatRequest) -> Result<ChatReply, ModelError> {
    let ends = [request.messages.first(), request.messages.last()];
    let messages = ends.into_iter().flatten().cloned().collect();
    target_reply(&ChatRequest { messages, ..request.clone() })
}

fn changes(tokens: &'static str) -> [(&'static str, &'static str); 3] {
    [
        ("model.optimizer_max_context_tokens", tokens),
        ("train.batch_size", "8"),
        ("gradient.minibatch_size", "8"),
    ]
}

async fn trained(tokens: &'static str) -> (World, Arc<MemoryJournal>) {
    let world = World::with(reads_the_end, optimizer_reply);
    let journal = Arc::new(MemoryJournal::default());
    run(&world, tokens, journal.clone()).await.expect("done");
    (world, journal)
}

async fn run(
    world: &World,
    tokens: &'static str,
    journal: Arc<MemoryJournal>,
) -> Result<TrainReport, TrainFailure> {
    let ports = Ports { benchmark: Arc::new(Bookish), ..world.ports(journal) };
    let (_control, ctx) = RunControl::new();
    train(&ctx, &input(&changes(tokens)), &ports).await
}

fn reflections(journal: &MemoryJournal) -> Vec<ReflectionSummary> {
    let events = journal.events().into_iter();
    let summaries = events.filter_map(|event| match event.kind {
        EventKind::Reflected { reflection, .. } => Some(reflection),
        _ => None,
    });
    summaries.collect()
}

/// The first step's questions about failed tasks.
fn first_questions(world: &World) -> Vec<String> {
    let is_first = |request: &ChatRequest| {
        request.purpose == Purpose::AnalystFailure && request.phase == "step_0001"
    };
    let seen = world.optimizer.seen().into_iter().filter(is_first);
    seen.map(|request| request.messages[1].content.clone()).collect()
}

#[tokio::test]
async fn a_minibatch_that_does_not_fit_is_split_and_every_task_is_read() {
    let (world, journal) = trained("3000").await;
    let first = &reflections(&journal)[0];
    assert_eq!(first.n_split, 1);
    assert!(first.n_failure_minibatches > 1, "{first:?}");
    assert!(first.lost.is_empty(), "{first:?}");
    let questions = first_questions(&world);
    assert_eq!(questions.len(), usize::try_from(first.n_failure_minibatches).expect("few"));
    for task in 0..8 {
        let holding = questions.iter().filter(|text| text.contains(&format!("id train-{task}\n")));
        assert_eq!(holding.count(), 1, "train-{task} is read once");
    }
    for request in world.optimizer.seen() {
        let letters: usize = request.messages.iter().map(|one| one.content.chars().count()).sum();
        // Tags and marks of ours are ASCII, so that letters are quarters of tokens.
        assert!(letters <= 3000 * 4 + 200, "{letters} letters in {}", request.phase);
    }
    assert!(world.folder.file("steps/step_0001/patches/minibatch_fail_001.json").is_some());
}

#[tokio::test]
async fn with_room_for_all_nothing_is_split_and_nothing_is_said() {
    let (world, journal) = trained("100000").await;
    let first = &reflections(&journal)[0];
    assert_eq!((first.n_split, first.n_cut, first.n_failure_minibatches), (0, 0, 1));
    assert_eq!(first_questions(&world).len(), 1);
    let text = serde_json::to_string(first).expect("JSON");
    assert!(!text.contains("n_split") && !text.contains("n_cut"), "{text}");
}

#[tokio::test]
async fn less_room_than_skill_and_prompt_take_is_warned_of_and_still_nothing_is_dropped() {
    let (world, journal) = trained("1000").await;
    let warnings = RunView::of(&journal.events()).warnings;
    let about: Vec<&String> = warnings
        .iter()
        .filter(|one| one.contains("optimizer_max_context_tokens is 1000"))
        .collect();
    assert_eq!(about.len(), 1, "{warnings:?}");
    let first = &reflections(&journal)[0];
    assert!(first.n_cut >= 1 && first.lost.is_empty(), "{first:?}");
    let questions = first_questions(&world).join("\n");
    assert!((0..8).all(|task| questions.contains(&format!("id train-{task}\n"))));
    assert!(questions.contains("left out …]"));
}

#[tokio::test]
async fn a_run_that_splits_resumes_to_the_same_bytes_and_pays_nothing_twice() {
    let (whole, _) = trained("3000").await;
    for die_at in ["step/0001/reflected", "step/0002/rolled_out", "step/0002/finished"] {
        let world = World::with(reads_the_end, optimizer_reply);
        let dying = Arc::new(MemoryJournal::dying_at(die_at));
        run(&world, "3000", dying.clone()).await.expect_err("killed");
        run(&world, "3000", Arc::new(dying.reborn())).await.expect("resumed");
        assert_eq!(world.history(), whole.history(), "{die_at}");
        assert_eq!(world.requests().len(), whole.requests().len(), "{die_at}");
    }
}

#[tokio::test]
async fn the_comparison_between_epochs_keeps_to_the_room_too() {
    let between = [
        ("optimizer.use_slow_update", "true"),
        ("optimizer.use_meta_skill", "true"),
        ("model.optimizer_max_context_tokens", "2500"),
        ("train.num_epochs", "3"),
    ];
    let world = World::with(reads_the_end, optimizer::able);
    let ports = Ports { benchmark: Arc::new(Bookish), ..world.ports(Arc::default()) };
    let (_control, ctx) = RunControl::new();
    train(&ctx, &input(&between), &ports).await.expect("done");
    let purposes = [Purpose::SlowUpdate, Purpose::MetaSkill];
    let seen: Vec<ChatRequest> = world.optimizer.seen();
    let questions = seen.iter().filter(|request| purposes.contains(&request.purpose));
    for question in questions.clone() {
        let letters: usize = question.messages.iter().map(|one| one.content.chars().count()).sum();
        assert!(letters <= 2500 * 4 + 200, "{letters} letters");
        assert!(question.messages[1].content.contains("no room in this call") || letters < 9000);
    }
    assert!(questions.clone().any(|one| one.messages[1].content.contains("id train-3\n")));
    let of = |purpose| questions.clone().filter(|one| one.purpose == purpose).count();
    assert_eq!((of(Purpose::SlowUpdate), of(Purpose::MetaSkill)), (2, 1));
}
