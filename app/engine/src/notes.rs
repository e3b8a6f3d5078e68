//! Lapses of the target become reminders in the skill's appendix. They are part of the candidate, so that they are
//! measured and gated like every other change.

use crate::patch::read_notes;
use crate::ports::Purpose;
use crate::prompts::{Prompt, PromptVars, section, system_message};
use crate::reply::ReplyError;
use crate::run::{Run, TrainError};
use crate::structured::{Question, ask};
use skillopt_domain::appendix::{merged, notes, with_notes};
use skillopt_domain::config::SkillAware;
use skillopt_domain::outcome::Sample;
use skillopt_domain::proposal::AppendixReport;
use skillopt_domain::skill::SkillDoc;

/// Notes to take in.
#[derive(Debug)]
pub(crate) struct NotesOrder<'a> {
    pub(crate) step: u32,
    pub(crate) candidate: &'a SkillDoc,
    pub(crate) proposed: &'a [String],
    pub(crate) settings: SkillAware,
    pub(crate) sample: Sample,
}

/// The candidate with the notes of the step in its appendix, each once, condensed when there are too many. Without
/// new notes it stays as it is.
pub(crate) async fn take_in(
    run: &Run<'_>,
    order: NotesOrder<'_>,
) -> Result<(SkillDoc, AppendixReport), TrainError> {
    let own = notes(order.candidate);
    let all = merged(&own, order.proposed);
    let mut report = AppendixReport {
        proposed: merged(&[], order.proposed),
        n_added: count(all.len().saturating_sub(own.len())),
        notes: own,
        ..AppendixReport::default()
    };
    if report.n_added == 0 {
        return Ok((order.candidate.clone(), report));
    }
    let all = condensed(run, &order, all, &mut report).await?;
    match with_notes(order.candidate, &all) {
        Ok(candidate) => {
            report.notes = all;
            Ok((candidate, report))
        }
        Err(refusal) => {
            report.n_added = 0;
            report.n_condensed = 0;
            report.detail = refusal.to_string();
            Ok((order.candidate.clone(), report))
        }
    }
}

/// Fewer notes that say the same, when there are more than the config likes; the same notes when the reply is
/// of no use.
pub(crate) async fn condensed(
    run: &Run<'_>,
    order: &NotesOrder<'_>,
    all: Vec<String>,
    report: &mut AppendixReport,
) -> Result<Vec<String>, TrainError> {
    let limit = order.settings.consolidate_above;
    if limit.is_none_or(|limit| count(all.len()) <= limit) {
        return Ok(all);
    }
    let list: Vec<String> =
        (1..).zip(&all).map(|(number, note): (u32, _)| format!("{number}. {note}")).collect();
    let question = Question {
        purpose: Purpose::AppendixConsolidate,
        phase: format!("step_{:04}", order.step),
        system: system_message(Prompt::Appendix, PromptVars::default()),
        user: section("reminders", &list.join("\n")),
        sample: order.sample.clone(),
        max_tokens: None,
    };
    let most = all.len();
    let asked = ask(run, question, |parsed| {
        let fewer = merged(&[], &read_notes(&parsed.object));
        if fewer.is_empty() || fewer.len() >= most {
            return Err(ReplyError::Shape(format!(
                "`appendix_notes` must hold from 1 to {} reminders",
                most.saturating_sub(1)
            )));
        }
        Ok(fewer)
    })
    .await?;
    Ok(match asked.or_reason(run).await? {
        Ok(fewer) => {
            report.n_condensed = count(most.saturating_sub(fewer.len()));
            fewer
        }
        Err(reason) => {
            report.detail = format!("the notes were not condensed: {reason}");
            all
        }
    })
}

fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}
