//! What a harvest read, source by source: how much, what it skipped and left out, and why.

use super::icon::Icon;
use crate::components::dynamic::CollectAny;
use crate::fmt;
use leptos::prelude::*;
use skillopt_domain::api::{ReasonCount, SourceItem};

#[component]
pub(crate) fn SourcesTable(sources: Vec<SourceItem>) -> impl IntoView {
    view! {
        <div class="panel scroll-x" tabindex="0" role="region" aria-label="Sources">
            <table class="table">
                <thead><tr>
                    <th scope="col">"Source"</th>
                    <th scope="col" data-num>"Files"</th>
                    <th scope="col" data-num>"Sessions"</th>
                    <th scope="col" data-num>"Kept"</th>
                    <th scope="col">"Lines skipped, and why"</th>
                    <th scope="col">"Sessions left out, and why"</th>
                    <th scope="col">"Secrets masked"</th>
                </tr></thead>
                <tbody>{sources.into_iter().map(row).collect_any()}</tbody>
            </table>
        </div>
    }
}

fn row(source: SourceItem) -> AnyView {
    let (status, icon) = source_look(&source);
    let name = source_name(&source.source).to_owned();
    let words = Some(source.words).filter(|words| !words.is_empty());
    let root = Some(source.root).filter(|root| !root.is_empty());
    view! {
        <tr>
            <td class="table__wrap">
                <span class="status" data-status=status><Icon name=icon/>{name}</span>
                {root.map(|root| view! { <div class="mono small muted path">{root}</div> }.into_any())}
                {words.map(|words| view! { <div class="small second">{words}</div> }.into_any())}
            </td>
            <td data-num>{fmt::count(source.n_files)}</td>
            <td data-num>{fmt::count(source.n_sessions)}</td>
            <td data-num class="medium">{fmt::count(source.n_kept)}</td>
            <td class="table__wrap second">{reasons(&source.skipped)}</td>
            <td class="table__wrap second">{reasons(&source.dropped)}</td>
            <td class="table__wrap second">{reasons(&source.masked)}</td>
        </tr>
    }
    .into_any()
}

/// The name that an agent goes by.
pub(crate) fn source_name(word: &str) -> &str {
    match word {
        "claude" => "Claude Code",
        "codex" => "Codex",
        "copilot" => "Copilot in VS Code",
        "copilot_cli" => "Copilot CLI",
        "cursor" => "Cursor",
        "pi" => "Pi",
        "opencode" => "OpenCode",
        "devin" => "Devin",
        other => other,
    }
}

/// Nothing read is no alarm; something skipped deserves a look.
fn source_look(source: &SourceItem) -> (&'static str, &'static str) {
    if source.n_sessions == 0 && source.skipped.is_empty() {
        ("idle", "noimp")
    } else if source.skipped.is_empty() {
        ("done", "accepted")
    } else {
        ("warning", "warning")
    }
}

/// `143 own calls, 8 torn lines`, or that there were none.
fn reasons(counts: &[ReasonCount]) -> String {
    if counts.is_empty() {
        return "none".to_owned();
    }
    let one = |count: &ReasonCount| format!("{} {}", fmt::count(count.n), count.reason);
    counts.iter().map(one).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_skipped_is_told_with_its_reason() {
        let count = |n, reason: &str| ReasonCount { reason: reason.into(), n };
        assert_eq!(
            reasons(&[count(143, "own calls"), count(8, "torn lines")]),
            "143 own calls, 8 torn lines"
        );
        assert_eq!(reasons(&[]), "none");
    }

    #[test]
    fn a_source_that_is_not_there_is_no_alarm_and_a_torn_one_is_no_success() {
        assert_eq!(source_look(&SourceItem::default()).0, "idle");
        let read = SourceItem { n_sessions: 3, ..SourceItem::default() };
        assert_eq!(source_look(&read).0, "done");
        let torn = ReasonCount { reason: "torn line".into(), n: 1 };
        assert_eq!(source_look(&SourceItem { skipped: vec![torn], ..read }).0, "warning");
    }
}
