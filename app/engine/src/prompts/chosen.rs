//! Which prompts a run may use: it depends on the modes that its config asks for.

use skillopt_domain::config::{AppendixSource, LrControl, RunConfig, SlowUpdateMode, UpdateMode};

/// Names of the registry that a run with this config may render.
pub(super) fn names_used(config: &RunConfig) -> Vec<&'static str> {
    let optimizer = &config.optimizer;
    let (notes, both_sides) = (optimizer.skill_aware(), !config.gradient.failure_only);
    let notes_from_success = notes.is_some_and(|notes| notes.source == AppendixSource::Both);
    let control = optimizer.budget_control();
    let by_mode = optimizer.update_mode == UpdateMode::RewriteFromSuggestions;
    // By the rules of the Python system a schedule ranks even where no budget is set.
    let in_python = config.is_python() && optimizer.update_mode != UpdateMode::FullRewriteMinibatch;
    let ranks = control != LrControl::None || in_python;
    let all = [
        ("analyst_failure", true),
        ("analyst_success", both_sides),
        ("merge_failure", true),
        ("merge_success", both_sides),
        ("merge_final", both_sides),
        ("ranking", ranks),
        ("lr_control", control == LrControl::Autonomous),
        ("rewrite", by_mode),
        ("slow_update", optimizer.slow_update != SlowUpdateMode::Off),
        ("meta_skill", optimizer.meta_skill),
        ("appendix", notes.is_some_and(|notes| notes.consolidate_above.is_some())),
        ("parts/rules", true),
        ("parts/contract", true),
        ("parts/lapses", notes.is_some()),
        ("parts/success_notes", both_sides && notes_from_success),
        ("parts/merge_rules", true),
        ("parts/merge_limits", true),
        ("parts/merged", true),
    ];
    all.into_iter().filter(|(_, is_used)| *is_used).map(|(name, _)| name).collect()
}
