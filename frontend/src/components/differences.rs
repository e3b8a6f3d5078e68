//! What differs between two configs, each with what it means: a list of key, values, effect and reason.

use super::dynamic::CollectAny;
use super::icon::Icon;
use crate::fmt;
use leptos::prelude::*;
use skillopt_domain::config::{ChangeEffect, ConfigDifference};

#[component]
pub(crate) fn DifferenceList(differences: Vec<ConfigDifference>) -> impl IntoView {
    let rows = differences.into_iter().map(row);
    view! { <ul class="differences">{rows.collect_any()}</ul> }
}

fn row(one: ConfigDifference) -> impl IntoView {
    let (status, icon, word) = effect_look(one.effect);
    let value = |value: Option<String>| value.unwrap_or_else(|| "not set".to_owned());
    view! {
        <li class="differences__item">
            <code class="differences__key">{one.path}</code>
            <span class="differences__values mono">
                {value(one.before)}<span aria-label="becomes">" → "</span><b>{value(one.after)}</b>
            </span>
            <span class="status" data-status=status><Icon name=icon/>{word}</span>
            <span class="differences__why">{fmt::capital(&one.why)}"."</span>
        </li>
    }
}

/// State, icon and word of an effect.
pub(crate) fn effect_look(effect: ChangeEffect) -> (&'static str, &'static str, &'static str) {
    match effect {
        ChangeEffect::Safe => ("done", "check", "safe"),
        ChangeEffect::Results => ("warning", "warning", "changes results"),
    }
}
