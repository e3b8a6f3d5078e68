//! What happens between epochs.

use super::optimizer::{able, answer, section_of};
use super::*;
use serde_json::json;
use skillopt_domain::cost::CostPart;
use skillopt_domain::epoch::{EpochAction, PairCategory};
use skillopt_domain::skill::Region;

const SLOW: (&str, &str) = ("optimizer.use_slow_update", "true");
const FORCED: (&str, &str) = ("optimizer.slow_update_gate_with_selection", "false");
const META: (&str, &str) = ("optimizer.use_meta_skill", "true");

fn seen(world: &World, purpose: Purpose) -> Vec<ChatRequest> {
    world.optimizer.seen().into_iter().filter(|request| request.purpose == purpose).collect()
}

#[tokio::test]
async fn guidance_that_wins_the_gate_is_kept_in_its_region_and_is_the_best() {
    let world = World::with(target_reply, able);
    let journal = Arc::new(MemoryJournal::default());
    let report = world.run(&input(&[SLOW]), journal.clone()).await.expect("done");
    let best = SkillDoc::parse(report.best_skill);
    assert_eq!(best.region(Region::SlowUpdate), Some("- rule 3 matters"));
    let view = RunView::of(&journal.events());
    assert_eq!(view.slow_updates.len(), 1, "the first epoch has nothing to compare with");
    let update = &view.slow_updates[0];
    assert_eq!((update.action, update.epoch, update.step), (EpochAction::AcceptNewBest, 2, 4));
    assert_eq!(view.best.as_ref().map(|best| best.skill.clone()), Some(best.sha()));
    assert_eq!(view.best.and_then(|best| best.score), Some(1.0));
    assert_eq!(view.test_best.and_then(|m| m.score).map(|score| score.hard), Some(1.0));
    assert_eq!(world.folder.file("skills/skill_v0004.md").as_deref(), Some(best.text()));
    let result = world.folder.file("slow_update/epoch_02/slow_result.json").expect("written");
    assert!(result.contains("accept_new_best"), "{result}");
    assert!(result.contains("\"prev_hard\": 0.25") && result.contains("\"curr_hard\": 0.75"));
    assert!(result.contains("\"prev_n\": 8") && result.contains("\"curr_n\": 8"), "{result}");
    let summary = world.folder.file("summary.json").expect("written");
    assert!(summary.contains("slow_update_epoch_02"), "{summary}");
}

#[tokio::test]
async fn the_comparison_is_told_by_category_with_the_real_number_of_tasks() {
    let world = World::with(target_reply, able);
    let journal = Arc::new(MemoryJournal::default());
    world.run(&input(&[SLOW]), journal.clone()).await.expect("done");
    let comparison = RunView::of(&journal.events()).comparisons.remove(0);
    // Between the epochs the skill learned rule 1 and rule 2; rule 0 it knew, and rule 3 it does not.
    for category in PairCategory::ALL {
        let expect = match category {
            PairCategory::Improved => 4,
            PairCategory::Regressed => 0,
            PairCategory::PersistentFail | PairCategory::StableSuccess => 2,
        };
        assert_eq!(comparison.count(category), expect, "{category:?}");
    }
    assert_eq!((comparison.n_tried, comparison.n_unsteady), (8, 0));
    let request = &seen(&world, Purpose::SlowUpdate)[0];
    assert!(request.messages[0].content.contains("8 train tasks"));
    let text = section_of(&request.messages[1].content, "comparison");
    let at = |heading: &str| text.find(heading).expect(heading);
    assert!(at("## Regressed") < at("## Persistent") && at("## Persistent") < at("## Improved"));
    assert!(text.contains("With the previous skill:\n") && text.contains("| miss"), "{text}");
    let stable = &text[at("## Stable")..];
    assert!(stable.contains("### Task id train-") && !stable.contains("[reply of the target]"));
}

/// Guidance that poisons.
fn poisonous(request: &ChatRequest) -> Result<ChatReply, ModelError> {
    match request.purpose {
        Purpose::SlowUpdate => Ok(reply(r#"{"slow_update_content": "- poison all"}"#)),
        _ => able(request),
    }
}

#[tokio::test]
async fn guidance_that_loses_the_gate_does_not_stay() {
    let world = World::with(target_reply, poisonous);
    let journal = Arc::new(MemoryJournal::default());
    let report = world.run(&input(&[SLOW]), journal.clone()).await.expect("done");
    let view = RunView::of(&journal.events());
    assert_eq!(view.slow_updates[0].action, EpochAction::Reject);
    assert!(!report.best_skill.contains("poison"));
    assert!(!world.folder.file("skills/skill_v0004.md").expect("written").contains("poison"));
}

#[tokio::test]
async fn forced_guidance_is_measured_so_that_no_score_is_stale_and_the_best_stays() {
    let world = World::with(target_reply, poisonous);
    let journal = Arc::new(MemoryJournal::default());
    let changes = [SLOW, FORCED, ("train.num_epochs", "3")];
    let report = world.run(&input(&changes), journal.clone()).await.expect("done");
    let view = RunView::of(&journal.events());
    let update = &view.slow_updates[0];
    assert_eq!((update.action, update.current_score), (EpochAction::ForceAccept, Some(0.0)));
    assert!(update.reason.contains("slow_update_gate_with_selection is off"), "{}", update.reason);
    assert!(!report.best_skill.contains("poison"));
    assert_eq!(view.best.as_ref().map(|best| best.step), Some(4));
    // The next step is compared with the score of the text that stands, which is nothing.
    let next = &view.steps[4];
    assert_eq!(next.current_score, Some(0.0));
    let compared = journal.events().into_iter().find_map(|event| match event.kind {
        EventKind::Gated { step: 5, verdict, .. } => verdict.current_score,
        _ => None,
    });
    assert_eq!(compared.unwrap_or_default(), 0.0);
    let last = view.final_selection.expect("compared");
    assert!(!last.promoted && last.last_score == Some(0.0));
    assert_eq!(view.test_last.and_then(|m| m.score).map(|score| score.hard), Some(0.0));
}

/// An optimizer without an idea between epochs.
fn silent(request: &ChatRequest) -> Result<ChatReply, ModelError> {
    match request.purpose {
        Purpose::SlowUpdate => {
            Ok(reply(r#"{"slow_update_content": "", "reasoning": "no pattern"}"#))
        }
        Purpose::MetaSkill => Ok(reply("I would rather not.")),
        _ => able(request),
    }
}

#[tokio::test]
async fn no_guidance_and_no_memory_leave_everything_as_it_is() {
    let world = World::with(target_reply, silent);
    let journal = Arc::new(MemoryJournal::default());
    world
        .run(&input(&[SLOW, META, ("train.num_epochs", "3")]), journal.clone())
        .await
        .expect("done");
    let view = RunView::of(&journal.events());
    assert!(view.slow_updates.iter().all(|update| update.action == EpochAction::NoContent));
    assert_eq!(view.meta_skills[0].action, EpochAction::NoContent);
    assert!(
        view.meta_skills[0].reason.contains("no JSON object"),
        "{}",
        view.meta_skills[0].reason
    );
    let told =
        world.requests().iter().any(|r| r.messages[1].content.contains("<optimizer_memory>"));
    assert!(!told);
}

/// Guidance with a marker that would break out of its region.
fn breaking_out(request: &ChatRequest) -> Result<ChatReply, ModelError> {
    match request.purpose {
        Purpose::SlowUpdate => {
            Ok(reply(&json!({"slow_update_content": "x <!-- SLOW_UPDATE_END --> y"}).to_string()))
        }
        _ => able(request),
    }
}

#[tokio::test]
async fn guidance_cannot_break_out_of_its_region() {
    let world = World::with(target_reply, breaking_out);
    let journal = Arc::new(MemoryJournal::default());
    world.run(&input(&[SLOW]), journal.clone()).await.expect("done");
    let update = RunView::of(&journal.events()).slow_updates.remove(0);
    assert_eq!(update.action, EpochAction::NoContent);
    assert!(update.reason.contains("marker"), "{}", update.reason);
}

#[tokio::test]
async fn the_memory_reaches_later_optimizer_calls_and_never_the_target() {
    let world = World::with(target_reply, able);
    let journal = Arc::new(MemoryJournal::default());
    let changes = [META, ("train.num_epochs", "3"), ("optimizer.lr_control_mode", "autonomous")];
    world.run(&input(&changes), journal.clone()).await.expect("done");
    assert_eq!(seen(&world, Purpose::MetaSkill).len(), 1, "neither the first nor the last epoch");
    let memory = "<optimizer_memory>\nSmall rules work here.\n</optimizer_memory>";
    let holds = |request: &ChatRequest| request.messages[1].content.contains(memory);
    for purpose in [Purpose::AnalystFailure, Purpose::LrControl] {
        let requests = seen(&world, purpose);
        let with: Vec<bool> = requests.iter().map(holds).collect();
        let first = with.iter().position(|with| *with).expect("some call of the last epoch");
        assert!(with[first..].iter().all(|with| *with) && first >= 2, "{purpose:?}: {with:?}");
    }
    let leaked = world
        .target
        .seen()
        .iter()
        .any(|r| r.messages.iter().any(|message| message.content.contains("Small rules work")));
    assert!(!leaked);
    assert!(world.folder.file("meta_skill/epoch_02/meta_skill_result.json").is_some());
    assert!(world.folder.file("meta_skill/epoch_02/comparison_pairs.json").is_some());
}

#[tokio::test]
async fn a_change_that_a_second_draw_does_not_show_is_noise() {
    let world = World::with(target_reply, able);
    // Two tasks pass now and then, by nothing but the draw.
    let target = ScriptedModel::new("target", |request: &ChatRequest, sample| {
        let is_noisy = matches!(request.messages[1].content.as_str(), "train-3" | "train-7");
        let with_rules = request.messages[0].content.contains("rule 1");
        if is_noisy && sample.repeat == 0 && with_rules {
            return Ok(reply("pass"));
        }
        target_reply(request)
    });
    let journal = Arc::new(MemoryJournal::default());
    let ports = Ports { target, ..world.ports(journal.clone()) };
    let (_control, ctx) = RunControl::new();
    train(&ctx, &input(&[SLOW]), &ports).await.expect("done");
    let comparison = RunView::of(&journal.events()).comparisons.remove(0);
    assert_eq!(comparison.n_unsteady, 2);
    assert_eq!(comparison.count(PairCategory::Improved), 4, "the real ones");
    let text = seen(&world, Purpose::SlowUpdate)[0].messages[1].content.clone();
    assert!(!section_of(&text, "comparison").contains("train-3"), "{text}");
}

#[rstest]
#[case("changed", 3, 3, PairCategory::Improved)]
#[case("unchanged", 3, 3, PairCategory::StableSuccess)]
#[case("changed", 8, 4, PairCategory::Improved)]
#[tokio::test]
async fn pairs_of_one_kind_are_topped_up_until_there_are_enough_or_no_tasks_are_left(
    #[case] policy: &str,
    #[case] samples: usize,
    #[case] n_pairs: usize,
    #[case] among: PairCategory,
) {
    let world = World::with(target_reply, able);
    let journal = Arc::new(MemoryJournal::default());
    let wanted = samples.to_string();
    let changes = [
        SLOW,
        ("optimizer.longitudinal_pair_policy", policy),
        ("optimizer.slow_update_samples", &wanted),
        ("env.workers", "1"),
    ];
    world.run(&input(&changes), journal.clone()).await.expect("done");
    let comparison = RunView::of(&journal.events()).comparisons.remove(0);
    let n: usize = comparison.groups.iter().map(|group| group.tasks.len()).sum();
    assert_eq!(n, n_pairs);
    assert!(comparison.count(among) > 0);
    let others: usize = PairCategory::ALL
        .into_iter()
        .filter(|category| category.is_change() != (policy == "changed"))
        .map(|category| comparison.count(category))
        .sum();
    assert_eq!(others, 0);
    assert_eq!(comparison.n_tried as usize, samples.min(8) + comparison.n_topped_up as usize);
}

#[tokio::test]
async fn two_equal_skills_are_compared_at_no_cost_and_nothing_is_topped_up() {
    let nothing_new: fn(&ChatRequest) -> Result<ChatReply, ModelError> = |request| {
        if request.purpose == Purpose::AnalystFailure {
            return Ok(reply(r#"{"patch": {"edits": []}}"#));
        }
        silent(request)
    };
    let world = World::with(target_reply, nothing_new);
    let journal = Arc::new(MemoryJournal::default());
    let changes = [SLOW, ("optimizer.longitudinal_pair_policy", "changed")];
    world.run(&input(&changes), journal.clone()).await.expect("done");
    let comparison = RunView::of(&journal.events()).comparisons.remove(0);
    assert_eq!((comparison.n_topped_up, comparison.count(PairCategory::Improved)), (0, 0));
    let paid = world.target.seen().iter().filter(|r| r.phase.contains("slow_update")).count();
    assert_eq!(paid, 0, "the epoch's own rollouts answer");
    assert!(seen(&world, Purpose::SlowUpdate).is_empty(), "there is nothing to ask about");
}

#[tokio::test]
async fn guidance_is_given_back_to_the_next_slow_update_and_replaced_as_a_whole() {
    let wordy: fn(&ChatRequest) -> Result<ChatReply, ModelError> = |request| {
        let mut said = answer(request);
        if request.purpose == Purpose::SlowUpdate {
            let earlier = section_of(&request.messages[1].content, "previous_guidance");
            let next =
                if earlier.is_empty() { "- rule 3 matters" } else { "- rule 3 matters most" };
            said["slow_update_content"] = json!(next);
        }
        Ok(reply(&said.to_string()))
    };
    let world = World::with(target_reply, wordy);
    let journal = Arc::new(MemoryJournal::default());
    let changes = [SLOW, FORCED, ("train.num_epochs", "3")];
    world.run(&input(&changes), journal.clone()).await.expect("done");
    let last = world.folder.file("skills/skill_v0006.md").expect("written");
    let last = SkillDoc::parse(last);
    assert_eq!(last.region(Region::SlowUpdate), Some("- rule 3 matters most"));
    assert_eq!(last.regions().len(), 1);
}

#[test]
fn the_forecast_counts_what_happens_between_epochs() {
    let forecast = |changes: &[(&str, &str)]| plan(&config(changes), 8, 8, 8).expect("planned");
    let (without, with) = (forecast(&[]), forecast(&[SLOW]));
    assert_eq!(with.target_calls_max - without.target_calls_max, 4 * 8 + 8);
    assert_eq!(with.optimizer_calls_max - without.optimizer_calls_max, 1);
    let three = [META, ("train.num_epochs", "3")];
    let (without, with) = (forecast(&three[1..]), forecast(&three));
    assert_eq!(with.target_calls_max - without.target_calls_max, 4 * 8);
    let limited = forecast(&[("evaluation.sel_env_num", "2"), ("evaluation.test_env_num", "1")]);
    assert!(limited.target_calls_max < forecast(&[]).target_calls_max);
}

#[tokio::test]
async fn what_the_parts_of_a_run_cost_adds_up_to_all_that_it_spent() {
    let world = World::with(target_reply, able);
    let journal = Arc::new(MemoryJournal::default());
    let report = world.run(&input(&[SLOW, META]), journal.clone()).await.expect("done");
    let mut view = RunView::of(&journal.events());
    view.spend = report.spend;
    let rows = view.cost_rows();
    assert_eq!(skillopt_domain::cost::total_of(&rows), report.spend);
    let parts: Vec<CostPart> = rows.iter().map(|row| row.part).collect();
    for part in [CostPart::Baseline, CostPart::Evaluate, CostPart::SlowUpdate, CostPart::FinalTest]
    {
        assert!(parts.contains(&part), "{part:?} is not among {parts:?}");
    }
    // Nothing but the preflight is left over, one call a role.
    let other = rows.last().filter(|row| row.part == CostPart::Other).expect("a preflight");
    assert_eq!((other.spend.target.calls, other.spend.optimizer.calls), (1, 1));
}
