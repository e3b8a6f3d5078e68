//! A report without the secrets in its texts: errors of providers and words of models go into it. Documents are not
//! reports: what is proposed for them stays byte by byte. Pure.

use crate::redact::redact;
use skillopt_domain::night::edit::{EditRecord, GuidanceRecord};
use skillopt_domain::night::report::{GateTrial, SleepReport};

pub(super) fn clean(report: &mut SleepReport) {
    for text in
        [&mut report.no_edits_reason, &mut report.decision].into_iter().chain(&mut report.notes)
    {
        mask(text);
    }
    let edits = report.edits.iter_mut().chain(&mut report.rejected_edits);
    edits.chain(&mut report.unmatched_edits).for_each(clean_edit);
    report.guidance.iter_mut().for_each(clean_guidance);
    report.gate_trials.iter_mut().for_each(clean_trial);
    for group in &mut report.skill_groups {
        mask(&mut group.reason);
        group.edits.iter_mut().for_each(clean_edit);
        group.guidance.iter_mut().for_each(clean_guidance);
    }
}

fn clean_edit(edit: &mut EditRecord) {
    for text in [&mut edit.content, &mut edit.anchor, &mut edit.rationale] {
        mask(text);
    }
}

fn clean_guidance(guidance: &mut GuidanceRecord) {
    mask(&mut guidance.content);
    mask(&mut guidance.before);
}

fn clean_trial(trial: &mut GateTrial) {
    mask(&mut trial.words);
    trial.task_deltas.iter_mut().flat_map(|delta| &mut delta.tags).for_each(mask);
}

fn mask(text: &mut String) {
    *text = redact(text).text;
}
