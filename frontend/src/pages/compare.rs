//! Two to many runs beside each other: what may be compared, results, curves, config and skills. The URL names the
//! runs and all that is chosen.

mod config;
mod notes;
mod results;
mod skills;

use crate::api;
use crate::charts::overlay::{Over, Overlay};
use crate::charts::overlay_chart::OverlayChart;
use crate::components::dynamic::{CollectAny, nothing};
use crate::components::icon::Icon;
use crate::components::loaded::{Frame, loaded};
use crate::components::states::{Empty, SkeletonBlock, SkeletonRows};
use crate::fmt;
use crate::state::load::Load;
use crate::state::memo::Memo;
use crate::state::page::{self, Crumb};
use crate::state::query::{QueryValue, query_value};
use config::ConfigDifferences;
use leptos::prelude::*;
use notes::notes;
use results::{pairs_in_words, results};
use skillopt_domain::compare::{Compared, ComparedRun};
use skills::Skills;
use std::collections::BTreeSet;

/// What the address says, and how to change it.
#[derive(Clone, Copy)]
struct Chosen {
    /// Ids between commas.
    runs: QueryValue<String>,
    base: QueryValue<String>,
}

impl Chosen {
    fn without(self, id: &str) -> String {
        let runs = self.runs.get().unwrap_or_default();
        runs.split(',').filter(|one| *one != id).collect::<Vec<_>>().join(",")
    }
}

#[component]
pub(crate) fn ComparePage() -> impl IntoView {
    page::set(|| vec![Crumb::link("Runs", "/runs"), Crumb::here("Compare")]);
    let chosen = Chosen { runs: query_value("runs"), base: query_value("base") };
    let compared = Load::new(move || {
        let (runs, base) = (chosen.runs.get().unwrap_or_default(), chosen.base.get());
        async move { api::compare(&runs, base.as_deref()).await }
    });
    let frame = Frame::new("The runs could not be compared.")
        .loading(|| view! { <Loading/> }.into_any())
        .head(|| view! { <div class="page-head"><h1>"Compare"</h1></div> }.into_any());
    loaded(compared, frame, move |compared: &Compared| {
        if compared.runs.is_empty() {
            return view! { <NoRuns missing=compared.missing.clone()/> }.into_any();
        }
        view! { <Body compared=compared.clone() chosen/> }.into_any()
    })
}

#[component]
fn Loading() -> impl IntoView {
    view! {
        <div class="stack" data-gap="lg" aria-busy="true">
            <SkeletonBlock height="title"/>
            <SkeletonRows rows=4/>
            <SkeletonBlock height="chart"/>
        </div>
    }
}

#[component]
fn NoRuns(missing: Vec<String>) -> impl IntoView {
    let text = match missing.len() {
        0 => "Mark two or more runs in the table of runs, then press “Compare”.".to_owned(),
        1 => format!("There is no run {}. The address may have been mistyped.", missing[0]),
        n => format!("None of the {n} runs in the address is there."),
    };
    view! {
        <div class="page-head"><h1>"Compare"</h1></div>
        <Empty title="No runs to compare" text=text>
            <a class="button" data-variant="primary" href="/runs"><Icon name="runs"/>"Choose runs"</a>
        </Empty>
    }
}

#[component]
fn Body(compared: Compared, chosen: Chosen) -> impl IntoView {
    let n = u64::try_from(compared.runs.len()).unwrap_or_default();
    let title = format!("Compare {}", fmt::plural(n, "run", "runs"));
    let add = add_href(&compared.runs);
    let alone = (n == 1).then(|| {
        view! { <p class="second">"One run alone: add another one to see what differs."</p> }
            .into_any()
    });
    let note = metric_note(&compared.runs);
    let names = StoredValue::new(labels(&compared.runs));
    let runs = StoredValue::new(compared.runs);
    let over = query_value::<String>("over");
    let over_now =
        Memo::new(move || over.get().and_then(|word| Over::parse(&word)).unwrap_or(Over::Steps));
    let on_over = Callback::new(move |next: Over| {
        over.set((next != Over::Steps).then(|| next.word().to_owned()));
    });
    let overlay = Memo::new(move || {
        runs.with_value(|runs| {
            let curves: Vec<_> =
                names.get_value().into_iter().zip(runs.iter().map(|run| &run.curve)).collect();
            Overlay::of(&curves, over_now.get())
        })
    });
    let pairs = compared.pairs;
    let base = compared.base;
    let several = if n > 1 {
        view! {
            {pairs_in_words(runs, names, pairs.clone(), base.as_ref())}
            <ConfigDifferences keys=compared.keys names/>
            <Skills runs names/>
        }
        .into_any()
    } else {
        nothing()
    };
    view! {
        <div class="page-head">
            <div class="page-head__main"><h1>{title}</h1>{alone}</div>
            <div class="page-head__actions">
                <a class="button" href=add><Icon name="plus"/>"Add or remove runs"</a>
            </div>
        </div>
        {notes(compared.cautions, &compared.missing)}
        {results(runs, names, &pairs, base.as_ref(), chosen)}
        <section class="panel section" aria-labelledby="overlay-title">
            <OverlayChart overlay over=over_now on_over note/>
        </section>
        {several}
    }
}

/// The table of runs with these runs marked.
fn add_href(runs: &[ComparedRun]) -> String {
    let ids: Vec<&str> = runs.iter().map(|run| run.summary.id.as_str()).collect();
    format!("/runs?pick={}", ids.join(","))
}

/// Names that tell the runs apart: with the end of the id where two have one name.
fn labels(runs: &[ComparedRun]) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let twice: BTreeSet<&str> = runs
        .iter()
        .map(|run| run.summary.name.as_str())
        .filter(|name| !seen.insert(*name))
        .collect();
    let label = |run: &ComparedRun| match twice.contains(run.summary.name.as_str()) {
        true => format!("{} ({})", run.summary.name, run.summary.id.short()),
        false => run.summary.name.clone(),
    };
    runs.iter().map(label).collect()
}

/// Metric and size of the selection split, where all runs share them.
fn metric_note(runs: &[ComparedRun]) -> String {
    let metrics: BTreeSet<&str> = runs.iter().map(|run| run.metric.as_str()).collect();
    let sizes: BTreeSet<Option<u32>> = runs.iter().map(|run| run.summary.n_selection).collect();
    let metric = match metrics.len() {
        1 => metrics.first().copied().unwrap_or_default(),
        _ => "different metrics",
    };
    match sizes.first() {
        Some(Some(n)) if sizes.len() == 1 => format!("{metric}, selection split, n = {n}"),
        _ => format!("{metric}, selection split"),
    }
}

/// Heads of a table, one a run.
fn run_heads(names: &[String]) -> Vec<AnyView> {
    names.iter().map(|name| view! { <th scope="col">{name.clone()}</th> }).collect_any()
}
