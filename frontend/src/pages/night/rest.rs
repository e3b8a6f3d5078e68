//! What else a night tells: skill by skill, edits that did not make it, and what was harvested.

use super::proposal::{edit_item, edit_list, guidance_list};
use super::state::NightState;
use super::words::group_look;
use crate::components::dynamic::{CollectAny, dynamic, nothing};
use crate::components::look::Look;
use crate::components::night_sources::SourcesTable;
use crate::components::numbers::{Delta, Score};
use crate::components::status::Status;
use crate::fmt;
use leptos::prelude::*;
use skillopt_domain::api::NightDetail;
use skillopt_domain::night::edit::{EditRecord, GuidanceRecord};
use skillopt_domain::night::report::{SkillGroupReport, SleepReport};

/// A line for each skill, when the night treated several.
#[component]
pub(super) fn SkillGroups(night: NightState) -> impl IntoView {
    let groups = night.memo(|detail| {
        detail.report.as_ref().map_or_else(Vec::new, |report| report.skill_groups.clone())
    });
    dynamic(move || {
        let groups = groups.get();
        if groups.is_empty() {
            return nothing();
        }
        view! {
            <section class="section" aria-labelledby="groups-title">
                <div class="section__head"><h2 id="groups-title">"Skills"</h2></div>
                <div class="panel scroll-x" tabindex="0" role="region" aria-label="Skills of this night">
                    <table class="table">
                        <thead><tr>
                            <th scope="col">"Skill"</th>
                            <th scope="col">"State"</th>
                            <th scope="col">"Verdict"</th>
                            <th scope="col" data-num>"Before"</th>
                            <th scope="col" data-num>"After"</th>
                            <th scope="col" data-num>"Change"</th>
                            <th scope="col" data-num>"Tasks"</th>
                            <th scope="col" data-num title="Edits that are part of the proposal">"Edits"</th>
                            <th scope="col" data-num title="Edits that the gate rejected">"Rejected"</th>
                            <th scope="col">"Why"</th>
                        </tr></thead>
                        <tbody>{groups.into_iter().map(group_row).collect_any()}</tbody>
                    </table>
                </div>
            </section>
        }
        .into_any()
    })
}

fn group_row(group: SkillGroupReport) -> AnyView {
    let verdict = group.gate_action.map_or_else(
        || view! { <span class="table__dim">{fmt::MISSING}</span> }.into_any(),
        |action| view! { <Status look=Look::from(action)/> }.into_any(),
    );
    let (before, after) = (group.baseline_score, group.candidate_score);
    view! {
        <tr>
            <td class="table__main">{group.skill_name}</td>
            <td><Status look=group_look(group.status)/></td>
            <td>{verdict}</td>
            <td data-num><Score value=before/></td>
            <td data-num class="medium"><Score value=after/></td>
            <td data-num><Delta before after/></td>
            <td data-num>{fmt::count(group.n_tasks.into())}</td>
            <td data-num>{fmt::count(group.n_applied_edits.into())}</td>
            <td data-num>{fmt::count(group.n_rejected_edits.into())}</td>
            <td class="table__wrap second">{group.reason}</td>
        </tr>
    }
    .into_any()
}

/// Edits that stand in no document above: those that the gate rejected, those that changed nothing, and all of a night
/// that keeps nothing.
#[derive(Clone, Default, PartialEq)]
struct Others {
    kept: Vec<EditRecord>,
    rejected: Vec<EditRecord>,
    unmatched: Vec<EditRecord>,
    /// With the skill of its own that each is for; empty for the documents of the night.
    guidance: Vec<(String, GuidanceRecord)>,
}

impl Others {
    fn of(detail: &NightDetail) -> Self {
        let Some(report) = &detail.report else { return Self::default() };
        let is_shown = !detail.proposals.is_empty();
        Self {
            kept: if is_shown { Vec::new() } else { report.edits.clone() },
            rejected: report.rejected_edits.clone(),
            unmatched: report.unmatched_edits.clone(),
            guidance: guidance(report)
                .filter(|(_, one)| !is_shown || !one.accepted)
                .map(|(skill, one)| (skill.to_owned(), one.clone()))
                .collect(),
        }
    }
}

/// What was tried for the documents of the night and for skills of their own.
fn guidance(report: &SleepReport) -> impl Iterator<Item = (&str, &GuidanceRecord)> {
    let of_groups = report.skill_groups.iter().filter_map(|group| {
        let guidance = group.guidance.as_ref()?;
        Some((group.skill_name.as_str(), guidance))
    });
    report.guidance.iter().map(|one| ("", one)).chain(of_groups)
}

#[component]
pub(super) fn OtherEdits(night: NightState) -> impl IntoView {
    let others = night.memo(Others::of);
    dynamic(move || {
        let others = others.get();
        if others == Others::default() {
            return nothing();
        }
        let list = |title, edits: &[EditRecord]| {
            edit_list(title, None, edits.iter().map(edit_item).collect())
        };
        view! {
            <section class="section" aria-labelledby="other-title">
                <div class="section__head">
                    <h2 id="other-title">"Other edits"</h2>
                    <span>"what was tried and is in no proposal"</span>
                </div>
                <div class="panel">
                    {list("Passed, but nothing of this night is kept", &others.kept)}
                    {list("Rejected by the gate", &others.rejected)}
                    {list("Matched nothing", &others.unmatched)}
                    {guidance_list(others.guidance.iter().map(|(skill, one)| (skill.as_str(), one)))}
                </div>
            </section>
        }
        .into_any()
    })
}

#[component]
pub(super) fn Sources(night: NightState) -> impl IntoView {
    let sources = night.memo(|detail| detail.sources.clone());
    dynamic(move || {
        let sources = sources.get();
        if sources.is_empty() {
            return nothing();
        }
        view! {
            <section class="section" aria-labelledby="sources-title">
                <div class="section__head"><h2 id="sources-title">"Sources"</h2></div>
                <SourcesTable sources/>
            </section>
        }
        .into_any()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::night::words::tests::{detail, report};
    use skillopt_domain::api::NightProposal;
    use skillopt_domain::night::NightStatus;
    use skillopt_domain::night::edit::Target;
    use skillopt_domain::night::report::GroupStatus;

    #[test]
    fn a_dry_run_shows_the_edits_that_it_does_not_keep() {
        let mut night = detail(NightStatus::Rehearsed);
        assert!(Others::of(&night) == Others::default());
        night.report = Some(report());
        let others = Others::of(&night);
        assert_eq!((others.kept.len(), others.rejected.len()), (1, 1));
    }

    #[test]
    fn guidance_stands_here_unless_it_is_part_of_a_document_above() {
        let mut night = detail(NightStatus::Rehearsed);
        let guidance = |accepted| GuidanceRecord {
            target: Target::Skill,
            content: "Keep it short.".into(),
            before: String::new(),
            accepted,
        };
        night.report = Some(SleepReport { guidance: Some(guidance(true)), ..report() });
        assert_eq!(Others::of(&night).guidance.len(), 1, "a dry run keeps no document");
        night.proposals = vec![NightProposal {
            key: "skill".into(),
            live_path: String::new(),
            before: String::new(),
            after: String::new(),
            edits: Vec::new(),
            guidance: Some(guidance(true)),
            risks: Vec::new(),
            needs: Vec::new(),
            whole: String::new(),
        }];
        assert!(Others::of(&night).guidance.is_empty());
        night.report = Some(SleepReport { guidance: Some(guidance(false)), ..report() });
        assert_eq!(Others::of(&night).guidance.len(), 1, "what lost is in no document");
    }

    #[test]
    fn guidance_that_lost_in_a_skill_of_its_own_stands_here() {
        let mut night = detail(NightStatus::Staged);
        let group = |name: &str, accepted| SkillGroupReport {
            skill_name: name.into(),
            status: GroupStatus::Consolidated,
            accepted,
            gate_action: None,
            baseline_score: None,
            candidate_score: None,
            n_tasks: 0,
            n_applied_edits: 0,
            n_rejected_edits: 0,
            reason: String::new(),
            edits: Vec::new(),
            guidance: Some(GuidanceRecord {
                target: Target::Skill,
                content: "Keep it short.".into(),
                before: String::new(),
                accepted,
            }),
        };
        let skill_groups = vec![group("letters", false), group("notes", true)];
        night.report = Some(SleepReport { skill_groups, ..report() });
        night.proposals = vec![NightProposal {
            key: "skill:notes".into(),
            live_path: String::new(),
            before: String::new(),
            after: String::new(),
            edits: Vec::new(),
            guidance: None,
            risks: Vec::new(),
            needs: Vec::new(),
            whole: String::new(),
        }];
        let shown = Others::of(&night).guidance;
        assert_eq!(shown.len(), 1, "what won is part of a document above");
        assert_eq!((shown[0].0.as_str(), shown[0].1.accepted), ("letters", false));
    }
}
