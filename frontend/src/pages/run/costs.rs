//! Where calls, tokens, money and time of the run went, by stage and role.

use super::parts::run_curves_fates;
use super::state::RunState;
use crate::components::cost_table::{CostRow, cost_table};
use crate::components::dynamic::{dynamic, nothing};
use crate::components::look::stage_look;
use crate::state::memo::Memo;
use leptos::prelude::*;
use skillopt_domain::cost::{CostPart, PartCost};
use skillopt_domain::event::StageCost;
use skillopt_domain::run::Stage;
use skillopt_domain::view::RunView;

/// The table of the whole run; nothing before something was spent.
pub(super) fn run_costs(run: RunState) -> AnyView {
    let rows = Memo::new(move || run.view.with(RunView::cost_rows));
    dynamic(move || {
        let rows: Vec<CostRow> = rows.with(|rows| rows.iter().map(part_row).collect());
        if rows.is_empty() {
            return nothing();
        }
        view! {
            <section class="section" data-space="tight" aria-labelledby="costs-title">
                <div class="section__head"><h2 id="costs-title">"Calls, tokens and time by stage"</h2></div>
                {cost_table(&rows)}
            </section>
            {run_curves_fates::show(run)}
        }
        .into_any()
    })
}

/// The stages of one step.
pub(super) fn step_costs(stages: &[StageCost]) -> AnyView {
    let row = |cost: &StageCost| CostRow {
        label: stage_look(cost.stage).0,
        about: "",
        wall_ms: Some(cost.wall_ms),
        spend: cost.spend,
    };
    cost_table(&stages.iter().map(row).collect::<Vec<_>>())
}

fn part_row(cost: &PartCost) -> CostRow {
    let (label, about) = part_words(cost.part);
    CostRow { label, about, wall_ms: cost.wall_ms, spend: cost.spend }
}

fn part_words(part: CostPart) -> (&'static str, &'static str) {
    let stage = |stage: Stage| (stage_look(stage).0, "");
    match part {
        CostPart::Baseline => ("Baseline", "The initial skill on the selection split"),
        CostPart::Rollout => stage(Stage::Rollout),
        CostPart::Reflect => stage(Stage::Reflect),
        CostPart::Aggregate => stage(Stage::Aggregate),
        CostPart::Select => stage(Stage::Select),
        CostPart::Update => stage(Stage::Update),
        CostPart::Evaluate => stage(Stage::Evaluate),
        CostPart::SlowUpdate => ("Slow update", "Two epochs compared, guidance written and gated"),
        CostPart::MetaSkill => ("Memory", "What the optimizer remembers from epoch to epoch"),
        CostPart::FinalTest => ("Final test", "Skills on the test split"),
        CostPart::Other => (
            "Other",
            "The preflight, a stage that is under way, and work that an interruption made void",
        ),
    }
}
