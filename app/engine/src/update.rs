//! Stage 5: a candidate is made. Edits are applied in order until the budget is used up; suggestions are worked
//! in by a writer; of whole texts the first usable one is taken.

use crate::buffer::StepBuffer;
use crate::proposal::{Proposal, SkillText};
use crate::select::Selection;
use skillopt_domain::config::UpdateMode;
use skillopt_domain::edit::{Edit, EditReport, EditStatus, apply_in_order, rewrite};
use skillopt_domain::proposal::{AppendixReport, RewriteReport};
use skillopt_domain::python;
use skillopt_domain::skill::SkillDoc;

/// The candidate and what became of everything that was proposed.
#[derive(Clone, Debug)]
pub(crate) struct Updated {
    pub(crate) candidate: SkillDoc,
    pub(crate) reports: Vec<EditReport>,
    /// In modes that write a whole text.
    pub(crate) rewrite: Option<RewriteReport>,
    /// With notes on lapses.
    pub(crate) appendix: Option<AppendixReport>,
}

impl Updated {
    /// Nothing changed so far.
    pub(crate) fn unchanged(skill: &SkillDoc) -> Self {
        Self { candidate: skill.clone(), reports: Vec::new(), rewrite: None, appendix: None }
    }

    /// Items that are in the candidate.
    pub(crate) fn n_applied(&self) -> u32 {
        let written = self.rewrite.as_ref().filter(|report| report.status == EditStatus::Applied);
        self.count(|status| status == EditStatus::Applied)
            + written.map_or(0, |report| u32::try_from(report.proposals.len()).unwrap_or(u32::MAX))
    }

    /// Items that were tried in vain; those over budget were not tried.
    pub(crate) fn n_not_applied(&self) -> u32 {
        let lost = self.rewrite.as_ref().filter(|report| report.status != EditStatus::Applied);
        self.count(|status| !matches!(status, EditStatus::Applied | EditStatus::OverBudget))
            + lost.map_or(0, |report| u32::try_from(report.proposals.len()).unwrap_or(u32::MAX))
    }

    fn count(&self, wanted: impl Fn(EditStatus) -> bool) -> u32 {
        let n = self.reports.iter().filter(|report| wanted(report.status)).count();
        u32::try_from(n).unwrap_or(u32::MAX)
    }
}

/// Applies up to the budget's number of edits. Pure.
pub(crate) fn apply_edits(
    skill: &SkillDoc,
    selection: Selection,
    buffer: &StepBuffer,
    is_python: bool,
) -> Updated {
    let edits: Vec<Edit> =
        selection.ordered.iter().filter_map(|item| item.edit().cloned()).collect();
    let (candidate, mut reports) = match is_python {
        true => python::apply_edits(skill, &edits),
        false => apply_in_order(skill, &edits, selection.budget),
    };
    reports.extend(selection.unusable);
    buffer.flag_repeats(&mut reports);
    Updated { candidate, reports, ..Updated::unchanged(skill) }
}

/// Takes the first whole text that may take the skill's place, the best supported side first. Pure.
pub(crate) fn take_text(skill: &SkillDoc, items: &[Proposal]) -> Updated {
    let texts: Vec<&SkillText> = items
        .iter()
        .filter_map(|item| match item {
            Proposal::Text(text) => Some(text),
            Proposal::Edit(_) | Proposal::Suggestion(_) => None,
        })
        .collect();
    let mut report = no_text("no whole text was proposed");
    for text in texts {
        report = RewriteReport {
            change_summary: text.change_summary.clone(),
            proposals: Proposal::Text(text.clone()).note().into_iter().collect(),
            ..report
        };
        match rewrite(skill, &text.new_skill) {
            Ok(written) => {
                report.status = EditStatus::Applied;
                report.detail = restored_words(written.restored);
                report.restored = written.restored;
                let rewrite = Some(report);
                return Updated { candidate: written.doc, rewrite, ..Updated::unchanged(skill) };
            }
            Err(refusal) => {
                report.status = refusal.status;
                report.detail = refusal.detail;
            }
        }
    }
    Updated { rewrite: Some(report), ..Updated::unchanged(skill) }
}

/// Takes the first whole text that says anything, as the Python system does. Pure.
pub(crate) fn take_text_as_python(skill: &SkillDoc, items: &[Proposal]) -> Updated {
    let mut updated = Updated::unchanged(skill);
    let mut report = no_text("no whole text was proposed");
    // All of them count as chosen, whichever is taken.
    report.proposals = items.iter().filter_map(Proposal::note).collect();
    let taken = items.iter().find_map(|item| match item {
        Proposal::Text(text) => Some((text, python::whole_text(&text.new_skill)?)),
        Proposal::Edit(_) | Proposal::Suggestion(_) => None,
    });
    if let Some((text, doc)) = taken {
        updated.candidate = doc;
        report.status = EditStatus::Applied;
        report.detail = String::new();
        report.change_summary.clone_from(&text.change_summary);
    }
    updated.rewrite = Some(report);
    updated
}

/// The report of a text that did not come.
pub(crate) fn no_text(detail: &str) -> RewriteReport {
    RewriteReport {
        status: EditStatus::Empty,
        detail: detail.to_owned(),
        change_summary: Vec::new(),
        restored: false,
        proposals: Vec::new(),
    }
}

pub(crate) fn restored_words(restored: bool) -> String {
    if restored { "protected text was put back as it had been".to_owned() } else { String::new() }
}

/// The candidate's text is that of the skill because no usable text came.
pub(crate) fn is_without_text(updated: &Updated, mode: UpdateMode) -> bool {
    mode != UpdateMode::Patch
        && updated.rewrite.as_ref().is_some_and(|report| report.status != EditStatus::Applied)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(new_skill: &str) -> Proposal {
        Proposal::Text(SkillText { new_skill: new_skill.to_owned(), ..SkillText::default() })
    }

    #[test]
    fn c25_a_text_that_loses_most_of_the_skill_gives_way_to_the_next_one() {
        let rules: String = (0..12).map(|n| format!("- Rule {n} says something.\n")).collect();
        let skill = SkillDoc::parse(format!("# Skill\n\n{rules}"));
        let longer = format!("{}- One more.\n", skill.text());
        let updated = take_text(&skill, &[text("# Skill\n\n- One rule.\n"), text(&longer)]);
        assert_eq!(updated.candidate.text(), longer);
        let updated = take_text(&skill, &[text("# Skill\n\n- One rule.\n")]);
        assert_eq!(updated.candidate.text(), skill.text());
        assert!(is_without_text(&updated, UpdateMode::FullRewriteMinibatch));
        assert!(updated.rewrite.expect("a report").detail.contains("shrink"));
    }

    #[test]
    fn without_any_text_the_skill_stays_and_the_report_says_so() {
        let updated = take_text(&SkillDoc::parse("# Skill\n"), &[]);
        assert_eq!((updated.n_applied(), updated.n_not_applied()), (0, 0));
        assert!(is_without_text(&updated, UpdateMode::FullRewriteMinibatch));
    }
}
