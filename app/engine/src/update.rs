//! Stage 5: edits are applied in order until the budget is used up.

use crate::buffer::StepBuffer;
use crate::select::Selection;
use skillopt_domain::edit::{EditReport, EditStatus, apply_in_order};
use skillopt_domain::skill::SkillDoc;

/// The candidate and what became of every edit.
#[derive(Clone, Debug)]
pub(crate) struct Updated {
    pub(crate) candidate: SkillDoc,
    pub(crate) reports: Vec<EditReport>,
}

impl Updated {
    pub(crate) fn n_applied(&self) -> u32 {
        self.count(|status| status == EditStatus::Applied)
    }

    /// Edits that were tried in vain; those over budget were not tried.
    pub(crate) fn n_not_applied(&self) -> u32 {
        self.count(|status| !matches!(status, EditStatus::Applied | EditStatus::OverBudget))
    }

    fn count(&self, wanted: impl Fn(EditStatus) -> bool) -> u32 {
        let n = self.reports.iter().filter(|report| wanted(report.status)).count();
        u32::try_from(n).unwrap_or(u32::MAX)
    }
}

/// Applies up to `budget` edits. Pure.
pub(crate) fn update(
    skill: &SkillDoc,
    selection: Selection,
    budget: u32,
    buffer: &StepBuffer,
) -> Updated {
    let (candidate, mut reports) = apply_in_order(skill, &selection.ordered, budget);
    reports.extend(selection.unusable);
    buffer.flag_repeats(&mut reports);
    Updated { candidate, reports }
}
