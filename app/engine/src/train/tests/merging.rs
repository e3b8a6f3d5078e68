//! Merging and ranking in a whole run: levels, both sides at once, and what happens to replies that cannot be used.

use super::optimizer::{able, section_of};
use super::*;
use crate::ports::{Model, WorstCase};
use serde_json::{Value, json};
use skillopt_domain::edit::Edit;
use skillopt_domain::event::Ranking;
use skillopt_domain::outcome::Sample;
use std::time::Duration;
use tokio::sync::Barrier;
use tokio_util::sync::CancellationToken;

/// Passes every second task.
fn every_second(request: &ChatRequest) -> Result<ChatReply, ModelError> {
    let number: u32 =
        request.messages[1].content.rsplit('-').next().and_then(|n| n.parse().ok()).unwrap_or(0);
    Ok(reply(if number.is_multiple_of(2) { "pass" } else { "miss" }))
}

fn never(_: &ChatRequest) -> Result<ChatReply, ModelError> {
    Ok(reply("miss"))
}

/// The id of the first trajectory of a question.
fn first_id(request: &ChatRequest) -> String {
    let user = &request.messages[1].content;
    let at = user.find("### Trajectory 1, id ").map_or(0, |at| at + 21);
    user[at..].split_whitespace().next().unwrap_or_default().to_owned()
}

/// One edit a minibatch, named after its first task.
fn one_each(request: &ChatRequest) -> ChatReply {
    let content = format!("- from {}", first_id(request));
    reply(
        &json!({"patch": {"reasoning": "r", "edits": [{"op": "append", "content": content}]}})
            .to_string(),
    )
}

fn is_analyst(request: &ChatRequest) -> bool {
    matches!(request.purpose, Purpose::AnalystFailure | Purpose::AnalystSuccess)
}

/// Merges are all that was proposed; support and level are made up.
fn boasting(request: &ChatRequest) -> Result<ChatReply, ModelError> {
    if is_analyst(request) {
        return Ok(one_each(request));
    }
    if !matches!(
        request.purpose,
        Purpose::MergeFailure | Purpose::MergeSuccess | Purpose::MergeFinal
    ) {
        return able(request);
    }
    let patches: Value =
        serde_json::from_str(section_of(&request.messages[1].content, "patches")).expect("JSON");
    let edits: Vec<Value> = patches
        .as_array()
        .into_iter()
        .flatten()
        .flat_map(|patch| patch["edits"].as_array().cloned().unwrap_or_default())
        .enumerate()
        .map(|(at, mut edit)| {
            edit["support_count"] = json!(if at == 0 { 99 } else { 0 });
            edit["merge_level"] = json!(7);
            edit["source_type"] = json!("success");
            edit
        })
        .collect();
    Ok(reply(&json!({"reasoning": "merged", "edits": edits}).to_string()))
}

fn unmergeable(request: &ChatRequest) -> Result<ChatReply, ModelError> {
    if is_analyst(request) { Ok(one_each(request)) } else { Ok(reply("no idea")) }
}

struct Aggregation {
    edits: Vec<Edit>,
    levels: u32,
    n_fallbacks: u32,
}

fn aggregation(journal: &MemoryJournal) -> Aggregation {
    let events = journal.events().into_iter();
    let mut all = events.filter_map(|event| match event.kind {
        EventKind::Aggregated { step: 1, edits, levels, n_fallbacks, .. } => {
            Some(Aggregation { edits, levels, n_fallbacks })
        }
        _ => None,
    });
    all.next().expect("aggregated")
}

/// One step over ten tasks in minibatches of two, merged by two.
fn in_pairs(changes: &[(&str, &str)]) -> TrainInput {
    let pairs = [
        ("train.num_epochs", "1"),
        ("train.batch_size", "10"),
        ("gradient.minibatch_size", "2"),
        ("gradient.merge_batch_size", "2"),
        ("optimizer.learning_rate", "20"),
    ];
    let splits = Splits::try_new(
        WordBenchmark::tasks("train", 10),
        WordBenchmark::tasks("val", 4),
        WordBenchmark::tasks("test", 4),
    );
    TrainInput { splits: splits.expect("disjoint"), ..input(&[&pairs, changes].concat()) }
}

fn count(world: &World, purpose: Purpose) -> usize {
    world.optimizer.seen().iter().filter(|request| request.purpose == purpose).count()
}

#[tokio::test]
async fn patches_are_merged_level_by_level_and_numbers_are_bounded_by_what_went_in() {
    let world = World::with(never, boasting);
    let journal = Arc::new(MemoryJournal::default());
    world.run(&in_pairs(&[]), journal.clone()).await.expect("done");
    let merged = aggregation(&journal);
    // Five patches: two calls and one that passes, one call and one that passes, one call.
    assert_eq!((merged.levels, merged.n_fallbacks), (3, 0));
    assert_eq!(count(&world, Purpose::MergeFailure), 4);
    assert_eq!((count(&world, Purpose::MergeSuccess), count(&world, Purpose::MergeFinal)), (0, 0));
    let levels: Vec<bool> = (1..=3)
        .map(|level| {
            let words = format!("merge level {level}.");
            world.optimizer.seen().iter().any(|r| r.messages[1].content.contains(&words))
        })
        .collect();
    assert_eq!(levels, [true; 3]);
    assert_eq!(merged.edits.len(), 5);
    // Each minibatch had two trajectories: no item can stand for more than all ten, nor for none.
    assert_eq!(merged.edits[0].support_count, 10);
    assert!(merged.edits[1..].iter().all(|edit| edit.support_count == 1), "{:?}", merged.edits);
    for edit in &merged.edits {
        assert_eq!(edit.merge_level, 3, "levels are counted and not believed");
        assert_eq!(edit.source_type, skillopt_domain::edit::SourceType::Failure);
    }
}

#[tokio::test]
async fn one_patch_needs_no_merge() {
    let world = World::with(never, boasting);
    let journal = Arc::new(MemoryJournal::default());
    world
        .run(&in_pairs(&[("gradient.minibatch_size", "10")]), journal.clone())
        .await
        .expect("done");
    let merged = aggregation(&journal);
    assert_eq!((merged.levels, merged.edits.len(), merged.edits[0].merge_level), (0, 1, 0));
    assert_eq!(merged.edits[0].support_count, 10, "the size of the minibatch");
}

#[tokio::test]
async fn what_cannot_be_merged_is_joined_in_order_failures_first_and_counted() {
    let world = World::with(every_second, unmergeable);
    let journal = Arc::new(MemoryJournal::default());
    world.run(&in_pairs(&[]), journal.clone()).await.expect("done");
    let merged = aggregation(&journal);
    // Five failures and five successes are three patches a side: two levels a side, and the final merge.
    assert_eq!((merged.levels, merged.n_fallbacks), (3, 5));
    assert_eq!(count(&world, Purpose::MergeFinal), 2, "each unreadable reply is asked for again");
    let asked = |purpose: Purpose| {
        let seen = world.optimizer.seen().into_iter();
        let asked = seen.filter(move |request| request.purpose == purpose);
        let mut files: Vec<String> =
            asked.map(|request| format!("- from {}", first_id(&request))).collect();
        files.sort();
        files
    };
    let contents: Vec<String> =
        merged.edits.iter().filter_map(|edit| edit.content.clone()).collect();
    let sorted = |contents: &[String]| {
        let mut contents = contents.to_vec();
        contents.sort();
        contents
    };
    assert_eq!(sorted(&contents[..3]), asked(Purpose::AnalystFailure));
    assert_eq!(sorted(&contents[3..]), asked(Purpose::AnalystSuccess));
    let patch = |word: &str, at: usize| {
        let path = format!("steps/step_0001/patches/minibatch_{word}_{at:03}.json");
        world.folder.file(&path).expect("written")
    };
    for at in 0..3 {
        assert!(patch("fail", at).contains(&contents[at]), "in the order of the minibatches");
        assert!(patch("succ", at).contains(&contents[3 + at]), "in the order of the minibatches");
    }
}

/// Answers merges of one side only when one of the other side is asked for too.
#[derive(Debug)]
struct Meeting(Barrier);

#[async_trait::async_trait]
impl Model for Meeting {
    fn identity(&self) -> Value {
        json!("meeting")
    }

    fn name(&self) -> &str {
        "meeting"
    }

    fn is_simulated(&self) -> bool {
        true
    }

    fn worst_case(&self, _: &ChatRequest) -> WorstCase {
        WorstCase::default()
    }

    async fn chat(
        &self,
        request: &ChatRequest,
        _: &Sample,
        _: &CancellationToken,
    ) -> Result<ChatReply, ModelError> {
        if matches!(request.purpose, Purpose::MergeFailure | Purpose::MergeSuccess) {
            self.0.wait().await;
        }
        boasting(request)
    }
}

#[tokio::test(start_paused = true)]
async fn both_sides_are_merged_at_once() {
    let world = World::with(every_second, able);
    let optimizer = Arc::new(Meeting(Barrier::new(2)));
    // Two patches a side: one merge each, which wait for each other.
    let input = in_pairs(&[("gradient.minibatch_size", "3")]);
    let ports = Ports { optimizer, ..world.ports(Arc::default()) };
    let (_control, ctx) = RunControl::new();
    let done = tokio::time::timeout(Duration::from_secs(3600), train(&ctx, &input, &ports)).await;
    done.expect("one side waits for the other in vain").expect("done");
}

/// Three edits from the merge, the first of which cannot apply; nothing that orders them.
fn unrankable(request: &ChatRequest) -> Result<ChatReply, ModelError> {
    match request.purpose {
        Purpose::Ranking => Ok(reply("as you like")),
        _ => rankable(request),
    }
}

/// The same, and the last one first.
fn rankable(request: &ChatRequest) -> Result<ChatReply, ModelError> {
    match request.purpose {
        Purpose::AnalystFailure => Ok(one_each(request)),
        Purpose::MergeFailure => Ok(reply(
            r#"{"reasoning": "r", "edits": [{"op": "replace", "target": "no such line", "content": "x"},
                {"op": "append", "content": "- first"}, {"op": "append", "content": "- second"}]}"#,
        )),
        Purpose::Ranking => Ok(reply(r#"{"reasoning": "r", "selected_indices": [1]}"#)),
        _ => able(request),
    }
}

#[rstest]
#[case::kept_order(unrankable, Ranking::FallbackOrder, "- first", "- second", 2)]
#[case::ranked(rankable, Ranking::ByOptimizer, "- second", "- first", 1)]
#[tokio::test]
async fn only_what_can_apply_is_ranked_and_without_a_ranking_the_order_of_the_merge_is_kept(
    #[case] optimizer: fn(&ChatRequest) -> Result<ChatReply, ModelError>,
    #[case] expect: Ranking,
    #[case] applied: &str,
    #[case] left: &str,
    #[case] n_calls: usize,
) {
    let world = World::with(never, optimizer);
    let journal = Arc::new(MemoryJournal::default());
    let budget = [
        ("optimizer.learning_rate", "1"),
        ("optimizer.min_learning_rate", "1"),
        ("gradient.minibatch_size", "5"),
    ];
    world.run(&in_pairs(&budget), journal.clone()).await.expect("done");
    let selected = journal.events().into_iter().find_map(|event| match event.kind {
        EventKind::Selected { ranking, edits, .. } => Some((ranking, edits)),
        _ => None,
    });
    let (ranking, edits) = selected.expect("selected");
    assert_eq!(ranking, expect);
    let contents: Vec<&str> = edits.iter().filter_map(|edit| edit.content.as_deref()).collect();
    assert_eq!(contents, [applied, left], "what is not chosen follows");
    let asked = world.optimizer.seen().into_iter().filter(|r| r.purpose == Purpose::Ranking);
    let asked: Vec<ChatRequest> = asked.collect();
    assert_eq!(asked.len(), n_calls);
    let pool = section_of(&asked[0].messages[1].content, "proposed_edits");
    assert!(pool.contains("[1] op=append") && !pool.contains("[2]"), "{pool}");
    let candidate = world.folder.file("steps/step_0001/candidate_skill.md").expect("written");
    assert!(candidate.contains(applied) && !candidate.contains(left), "{candidate}");
    let ranked = world.folder.file("steps/step_0001/ranked_edits.json").expect("written");
    assert!(ranked.contains(left), "the rest is in the record: {ranked}");
    let report = world.folder.file("steps/step_0001/edit_apply_report.json").expect("written");
    assert!(report.contains("skipped_over_budget"), "{report}");
    assert!(report.contains("skipped_replace_target_not_found"), "{report}");
}
