//! Where a run came from: a folder, or another run; and why one cannot go on as it is.

use super::state::RunState;
use crate::components::differences::DifferenceList;
use crate::components::dynamic::CollectAny;
use crate::components::icon::Icon;
use crate::fmt;
use leptos::prelude::*;
use skillopt_domain::config::ConfigDifference;
use skillopt_domain::import::{Finding, ImportOrigin};
use skillopt_domain::origin::{OriginKind, RunOrigin};

/// Where the run came from, as far as it came from somewhere.
#[component]
pub(super) fn Origin(run: RunState) -> impl IntoView {
    let imported = run.imported.get_value().map(|origin| view! { <Imported origin/> }.into_any());
    let made = run.origin.get_value().map(|origin| view! { <MadeFrom run origin/> }.into_any());
    view! { {imported} {made} }
}

/// What differs for a run that cannot go on.
#[derive(Clone, Copy)]
pub(crate) struct ForkNeeded {
    pub(super) run: RunState,
    pub(super) differences: StoredValue<Vec<ConfigDifference>>,
}

/// Where an imported run came from, why it has no Resume, and what its folder did not tell.
#[component]
fn Imported(origin: ImportOrigin) -> impl IntoView {
    let findings = Findings { findings: origin.findings, n_more: origin.n_findings_more };
    view! {
        <div class="callout" data-status="idle">
            <Icon name="folder"/>
            <div>
                <span class="callout__title">{format!("Imported from {}.", origin.system)}</span>
                " "
                <span class="callout__text">
                    <code>{origin.folder}</code>
                    {format!(" {}.", fmt::capital(&origin.why_not_resumable))}
                </span>
                {findings.view()}
            </div>
        </div>
    }
}

/// What an import left out or changed on the way.
struct Findings {
    findings: Vec<Finding>,
    n_more: u64,
}

impl Findings {
    fn view(self) -> Option<AnyView> {
        let n = u64::try_from(self.findings.len()).unwrap_or_default() + self.n_more;
        if n == 0 {
            return None;
        }
        let items = self.findings.into_iter().map(|one| view! { <li>{one.to_string()}</li> });
        let more = (self.n_more > 0).then(|| view! { <li>{fmt::plural(self.n_more, "more of the kind", "more of the kind")}</li> }.into_any());
        Some(view! {
            <details>
                <summary class="link">{fmt::plural(n, "thing was left out or changed", "things were left out or changed")}</summary>
                <ul class="small second">{items.collect_any()}{more}</ul>
            </details>
        }
        .into_any())
    }
}

/// The run from which this one was made, and what differed.
#[component]
fn MadeFrom(run: RunState, origin: RunOrigin) -> impl IntoView {
    let href = format!("/runs/{}", origin.run);
    let version = origin.version.filter(|_| origin.kind == OriginKind::Fork);
    let head = match origin.kind {
        OriginKind::Rerun => "Re-run of ",
        OriginKind::Fork => "Forked from ",
    };
    let n = u64::try_from(origin.differences.len()).unwrap_or_default();
    let differences = if n == 0 {
        view! { <span class="callout__text">" Nothing differed at the start."</span> }.into_any()
    } else {
        view! {
            <details>
                <summary class="link">{fmt::plural(n, "difference at the start", "differences at the start")}</summary>
                <DifferenceList differences=origin.differences/>
            </details>
        }
        .into_any()
    };
    let compare = format!("/compare?runs={},{}", origin.run, run.id());
    view! {
        <div class="callout" data-status="idle">
            <Icon name="fork"/>
            <div>
                <span class="callout__title">
                    {head}<a class="link" href=href>{origin.name}</a>
                    {version.map(|version| format!(" at v{version}"))}"."
                </span>
                {differences}
            </div>
            <a class="button" data-size="sm" href=compare><Icon name="compare"/>"Compare"</a>
        </div>
    }
}

/// The run cannot go on with what differs now; a fork can.
#[component]
pub(super) fn NeedsFork(run: RunState, differences: Vec<ConfigDifference>) -> impl IntoView {
    let href = format!("/launch?fork={}", run.id());
    view! {
        <div class="callout" data-status="warning" role="alert">
            <Icon name="warning"/>
            <div>
                <span class="callout__title">"What this run was made with has changed."</span>
                " "
                <span class="callout__text">
                    "It cannot go on as one run: its results would rest on two things. A fork starts with what is there now."
                </span>
                <DifferenceList differences/>
            </div>
            <a class="button" href=href><Icon name="fork"/>"Fork"</a>
        </div>
    }
}
