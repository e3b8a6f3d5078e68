//! Prompts of a run: on record, the same after a resume, and apart for target and optimizer.

use super::*;
use crate::ports::{Benchmark, Graded, Message, Task};
use crate::prompts::{BenchmarkPrompt, UserPrompt};
use skillopt_domain::config::UpdateMode;
use skillopt_domain::hash::Sha256Hex;
use skillopt_domain::prompt::{PromptOrigin, PromptUse};

fn with_own(input: TrainInput, name: &str, text: &str) -> TrainInput {
    let prompt = UserPrompt { name: name.into(), file: format!("{name}.md"), text: text.into() };
    let prompts = PromptSet::new(&[], &[prompt], &[UpdateMode::Patch]).expect("sound");
    TrainInput { prompts, ..input }
}

const OWN: &str =
    "MY OWN WORDS. {{ rules }}\nReply with JSON: {\"patch\": {{ contract }}}, \"appendix_notes\".";

fn own_input() -> TrainInput {
    with_own(input(&[]), "analyst_failure", OWN)
}

fn chosen(events: &[RunEvent]) -> Vec<PromptUse> {
    let chosen = events.iter().find_map(|event| match &event.kind {
        EventKind::PromptsChosen { prompts } => Some(prompts.clone()),
        _ => None,
    });
    chosen.expect("announced")
}

#[tokio::test]
async fn a_prompt_of_ones_own_is_asked_with_and_on_record() {
    let world = World::new();
    let journal = Arc::new(MemoryJournal::default());
    world.run(&own_input(), journal.clone()).await.expect("done");
    for request in world.optimizer.seen() {
        let is_own = request.messages[0].content.contains("MY OWN WORDS");
        assert_eq!(is_own, request.purpose == Purpose::AnalystFailure);
    }
    let prompts = chosen(&journal.events());
    let own = prompts.iter().find(|prompt| prompt.name == "analyst_failure").expect("used");
    assert_eq!((own.origin, &own.hash), (PromptOrigin::User, &Sha256Hex::of(OWN)));
    let others = prompts.iter().filter(|prompt| prompt.name != "analyst_failure");
    assert!(
        others.clone().count() > 5 && others.clone().all(|p| p.origin == PromptOrigin::Default)
    );
    for prompt in &prompts {
        let kept = journal.texts().iter().any(|text| Sha256Hex::of(text) == prompt.hash);
        assert!(kept, "the text of {} can be shown later", prompt.name);
    }
    let file = world.folder.file("prompts.json").expect("written");
    assert!(file.contains("MY OWN WORDS") && file.contains(own.hash.as_str()));
}

#[tokio::test]
async fn a_run_says_which_program_models_data_and_prompts_made_it() {
    let world = World::new();
    let journal = Arc::new(MemoryJournal::default());
    world.run(&input(&[]), journal.clone()).await.expect("done");
    let plan = RunView::of(&journal.events()).plan.expect("planned");
    assert_eq!(
        (plan.target_model.as_str(), plan.optimizer_model.as_str()),
        ("target", "optimizer")
    );
    assert!(plan.target_simulated && plan.seed == 42);
    let other = TrainInput {
        splits: Splits::try_new(
            WordBenchmark::tasks("other", 8),
            WordBenchmark::tasks("val", 8),
            WordBenchmark::tasks("test", 8),
        )
        .expect("disjoint"),
        ..input(&[])
    };
    let again = Arc::new(MemoryJournal::default());
    world.run(&other, again.clone()).await.expect("done");
    assert_ne!(RunView::of(&again.events()).plan.expect("planned").data, plan.data);
    let file = |name: &str| -> serde_json::Value {
        serde_json::from_str(&world.folder.file(name).expect("written")).expect("JSON")
    };
    let program = file("summary.json")["version"].as_str().expect("a version").to_owned();
    assert!(program.starts_with("skillopt-rust-"), "{program}");
    let record = file("prompts.json");
    assert_eq!(record["version"], program.as_str());
    for row in record["prompts"].as_array().expect("rows") {
        let text = row["text"].as_str().expect("text");
        assert_eq!(row["sha256"], Sha256Hex::of(text).as_str(), "{}", row["name"]);
    }
}

#[tokio::test]
async fn only_what_the_config_calls_for_is_on_record() {
    let names = async |changes: &[(&str, &str)]| {
        let journal = Arc::new(MemoryJournal::default());
        let world = World::with(target_reply, optimizer::able);
        world.run(&input(changes), journal.clone()).await.expect("done");
        let names = chosen(&journal.events()).into_iter().map(|prompt| prompt.name);
        names.collect::<Vec<_>>()
    };
    let plain = names(&[("gradient.failure_only", "true")]).await;
    assert_eq!(
        plain,
        [
            "analyst_failure",
            "merge_failure",
            "ranking",
            "parts/rules",
            "parts/contract",
            "parts/merge_rules",
            "parts/merge_limits",
            "parts/merged"
        ]
    );
    let rich = names(&[
        ("optimizer.skill_update_mode", "rewrite_from_suggestions"),
        ("optimizer.lr_control_mode", "autonomous"),
        ("optimizer.use_meta_skill", "true"),
        ("optimizer.use_skill_aware_reflection", "true"),
    ])
    .await;
    for name in
        ["analyst_success", "merge_final", "lr_control", "rewrite", "meta_skill", "parts/lapses"]
    {
        assert!(rich.iter().any(|known| known == name), "{name} is missing in {rich:?}");
    }
    assert!(!rich.iter().any(|known| known == "slow_update" || known == "appendix"));
}

#[tokio::test]
async fn a_resume_with_other_prompts_is_refused_before_any_call_and_says_which() {
    let world = World::new();
    let dying = Arc::new(MemoryJournal::dying_at("step/0002/rolled_out"));
    world.run(&own_input(), dying.clone()).await.expect_err("killed");
    let paid = world.requests().len();
    let changed = with_own(input(&[]), "analyst_failure", &OWN.replace("MY OWN", "OTHER"));
    for (input, source) in [(input(&[]), "the program"), (changed, "optimizer.prompts_dir")] {
        let failure = world.run(&input, Arc::new(dying.reborn())).await.expect_err("refused");
        let words = failure.to_string();
        assert!(matches!(failure.error, TrainError::PromptsChanged { .. }), "{words}");
        assert!(words.contains("analyst_failure was") && words.contains(source), "{words}");
        assert!(!words.contains("ranking"), "what did not change is not named: {words}");
    }
    assert_eq!(world.requests().len(), paid);
    world.run(&own_input(), Arc::new(dying.reborn())).await.expect("the same ones go on");
}

#[tokio::test]
async fn a_run_from_before_prompts_were_on_record_can_be_resumed() {
    let world = World::new();
    let dying = Arc::new(MemoryJournal::dying_at("step/0002/rolled_out"));
    world.run(&input(&[]), dying.clone()).await.expect_err("killed");
    let old = dying.reborn_without("prompts");
    assert!(old.events().iter().all(|event| event.key != "prompts"));
    world.run(&input(&[]), Arc::new(old)).await.expect("resumed");
}

/// A benchmark whose grader knows what the target must not.
#[derive(Debug)]
struct Secretive;

const GRADER: &str = "GRADER-ONLY";

impl Benchmark for Secretive {
    fn name(&self) -> &'static str {
        "secretive"
    }

    fn prompt(&self, task: &Task, skill: &str) -> Vec<Message> {
        WordBenchmark.prompt(task, skill)
    }

    fn prompts(&self) -> &'static [BenchmarkPrompt] {
        &[BenchmarkPrompt { name: "target", purpose: "Puts a task.", text: "{{ skill }}" }]
    }

    fn grade(&self, task: &Task, reply: &str, truncated: bool) -> Graded {
        let mut graded = WordBenchmark.grade(task, reply, truncated);
        if let skillopt_domain::outcome::Outcome::Scored { fail_reason, .. } = &mut graded.outcome {
            *fail_reason = format!("said {reply}, expected {GRADER}");
        }
        Graded { evaluation_note: format!("the answer is {GRADER}"), ..graded }
    }
}

/// How many requests to target and optimizer hold what the grader knows.
async fn leaks(changes: &[(&str, &str)]) -> (usize, usize) {
    let everything = [
        ("optimizer.use_slow_update", "true"),
        ("optimizer.use_meta_skill", "true"),
        ("optimizer.use_skill_aware_reflection", "true"),
    ];
    let world = World::with(target_reply, optimizer::able);
    let input = input(&[&everything, changes].concat());
    let ports = Ports { benchmark: Arc::new(Secretive), ..world.ports(Arc::default()) };
    let (_control, ctx) = RunControl::new();
    train(&ctx, &input, &ports).await.expect("done");
    let holding = |requests: Vec<ChatRequest>| {
        let holds = |request: &&ChatRequest| {
            request.messages.iter().any(|message| message.content.contains(GRADER))
        };
        requests.iter().filter(holds).count()
    };
    (holding(world.target.seen()), holding(world.optimizer.seen()))
}

#[tokio::test]
async fn what_the_grader_knows_never_reaches_the_target_and_the_optimizer_only_where_the_config_says_so()
 {
    let (target, optimizer) = leaks(&[]).await;
    assert_eq!(target, 0);
    assert!(optimizer > 0, "by default the optimizer learns what was expected, as in Python");
    assert_eq!(leaks(&[("gradient.use_eval_feedback", "false")]).await, (0, 0));
}

#[tokio::test]
async fn what_the_optimizer_is_told_never_reaches_the_target() {
    let world = World::with(target_reply, optimizer::able);
    world.run(&own_input(), Arc::default()).await.expect("done");
    for request in world.target.seen() {
        assert!(request.messages.iter().all(|message| !message.content.contains("MY OWN WORDS")));
        assert!(
            request.messages.iter().all(|message| !message.content.contains("[skillopt analyst"))
        );
    }
}
