//! Nights over models behind the ledger.

use super::super::*;
use super::task;
use crate::backend::{CallsAsker, Modelled, NightSample, SleepModels};
use crate::prompts::Prompts;
use crate::task::{ReferenceKind, Split};
use serde_json::json;
use skillopt_domain::config::Limits;
use skillopt_engine::calls::Flights;
use skillopt_engine::ctx::{RunControl, RunCtx};
use skillopt_engine::meter::{Meter, Prior};
use skillopt_engine::ports::{Ledger, Model, Purpose};
use skillopt_engine::testing::{MemoryLedger, ScriptedModel, TickingClock, reply};

const RULE: &str = "Close every letter with kind regards.";

fn letter(id: &str, split: Split) -> TaskRecord {
    let checks = json!({"kind": "rule", "checks": [{"op": "contains", "arg": "kind regards"}]});
    TaskRecord { reference_kind: ReferenceKind::Rule, judge: checks, ..task(id, split) }
}

/// Learns the rule when it is asked to reflect, and follows it when it stands in the skill.
fn model() -> Arc<ScriptedModel> {
    ScriptedModel::new("one model", |request, _| {
        let system = &request.messages[0].content;
        Ok(reply(&match request.purpose {
            Purpose::Reflect => json!({"edits": [{"op": "add", "content": RULE}]}).to_string(),
            _ if system.contains(RULE) => "A letter. Kind regards".to_owned(),
            _ => "A letter.".to_owned(),
        }))
    })
}

fn given(
    model: &Arc<ScriptedModel>,
    ledger: &Arc<MemoryLedger>,
    (ctx, max_calls, night): (&RunCtx, Option<u64>, u32),
) -> NightInput {
    let limits = Limits {
        max_calls,
        max_tokens: None,
        max_cost_usd_micros: None,
        max_ms: None,
        error_share: 0.1,
    };
    let one = Arc::clone(model) as Arc<dyn Model>;
    let models = SleepModels { target: Arc::clone(&one), optimizer: one, judge: None };
    let meter = Meter::new(limits, Prior::default(), Arc::new(TickingClock::default()));
    let evidence = Arc::new(Evidence::off());
    let (kept, flights) = (Arc::clone(ledger) as Arc<dyn Ledger>, Arc::new(Flights::default()));
    let sample = NightSample { seed: 42, night, fresh: None };
    let asker = CallsAsker::new(ctx, &models, (&kept, &flights), (meter, &evidence), sample);
    let backend = Modelled::new(Arc::new(asker), Prompts::default(), Arc::clone(&evidence));
    NightInput {
        tasks: vec![letter("a", Split::Train), letter("b", Split::Val), letter("c", Split::Val)],
        skill: "# Letters\n".into(),
        memory: String::new(),
        options: NightOptions { evolve_memory: false, workers: 2, ..NightOptions::default() },
        archive: Vec::new(),
        rejected_before: Vec::new(),
        backend: Arc::new(backend),
        evidence,
        events: Arc::new(Silent),
        ctx: ctx.clone(),
    }
}

#[tokio::test]
async fn a_night_learns_from_a_model_and_the_same_night_again_asks_nobody() {
    let (model, ledger) = (model(), Arc::new(MemoryLedger::default()));
    let (_control, ctx) = RunControl::new();
    let first = consolidate_night(given(&model, &ledger, (&ctx, None, 1))).await.expect("decided");
    assert!(first.accepted, "{}", first.reason);
    let n_calls = model.seen().len();
    // Two before, one to train, one to reflect, two for the trial, two for the end.
    assert_eq!((n_calls, first.spend.total().calls, first.spend.total().tokens()), (8, 8, 160));
    let again = consolidate_night(given(&model, &ledger, (&ctx, None, 1))).await.expect("decided");
    assert_eq!((again.spend.total().calls, again.spend.total().cached), (0, 8));
    assert_eq!(model.seen().len(), n_calls);
    assert_eq!((again.new_skill, again.gate_trials), (first.new_skill, first.gate_trials));
    consolidate_night(given(&model, &ledger, (&ctx, None, 2))).await.expect("decided");
    assert_eq!(model.seen().len(), 2 * n_calls, "f24: another night draws anew");
}

#[tokio::test]
async fn a_night_that_ran_into_its_budget_goes_on_where_it_stood() {
    let (model, ledger) = (model(), Arc::new(MemoryLedger::default()));
    let (_control, ctx) = RunControl::new();
    let error = consolidate_night(given(&model, &ledger, (&ctx, Some(5), 1))).await;
    assert!(matches!(error, Err(NightError::Backend(crate::backend::BackendError::Budget(_)))));
    assert_eq!(model.seen().len(), 5, "not one call more");
    let rest =
        consolidate_night(given(&model, &ledger, (&ctx, Some(5), 1))).await.expect("decided");
    assert!(rest.accepted);
    assert_eq!((rest.spend.total().calls, rest.spend.total().cached), (3, 5));
}

#[tokio::test]
async fn a_cancelled_night_makes_no_further_call() {
    let (model, ledger) = (model(), Arc::new(MemoryLedger::default()));
    let (control, ctx) = RunControl::new();
    control.cancel();
    let error = consolidate_night(given(&model, &ledger, (&ctx, None, 1))).await;
    assert_eq!(error, Err(NightError::Backend(crate::backend::BackendError::Cancelled)));
    assert!(model.seen().is_empty());
}

#[tokio::test]
async fn c59_no_check_of_a_task_reaches_the_optimizer() {
    let (model, ledger) = (model(), Arc::new(MemoryLedger::default()));
    let (_control, ctx) = RunControl::new();
    consolidate_night(given(&model, &ledger, (&ctx, None, 1))).await.expect("decided");
    let seen = model.seen();
    let asked = seen.iter().filter(|request| request.purpose == Purpose::Reflect);
    let texts: Vec<String> = asked
        .flat_map(|request| request.messages.iter().map(|message| message.content.to_lowercase()))
        .collect();
    assert_eq!(texts.len(), 2);
    assert!(texts.iter().all(|text| !text.contains("kind regards")), "{texts:?}");
    assert!(texts[1].contains("lacks something that it has to say"), "{}", texts[1]);
}
