//! Stage 5 in the mode with suggestions: a writer works the chosen ones into a whole text, which is checked before
//! it may be a candidate.

use crate::patch::{text, texts};
use crate::ports::Purpose;
use crate::prompts::{Prompt, PromptVars, push_section, section, system_message};
use crate::proposal::Proposal;
use crate::reply::{Parsed, ReplyError};
use crate::run::{Run, TrainError};
use crate::select::Selection;
use crate::structured::{Question, ask};
use crate::update::{Updated, no_text, restored_words};
use skillopt_domain::edit::{EditRefusal, EditStatus, Rewritten, rewrite};
use skillopt_domain::outcome::Sample;
use skillopt_domain::proposal::{ProposalNote, RewriteReport};
use skillopt_domain::python;
use skillopt_domain::run::{Phase, Stage};
use skillopt_domain::skill::SkillDoc;

/// What to write, and from what.
#[derive(Debug)]
pub(crate) struct WriteOrder<'a> {
    pub(crate) step: u32,
    pub(crate) skill: &'a SkillDoc,
    pub(crate) previous_steps: &'a str,
    pub(crate) sample: Sample,
}

struct Written {
    change_summary: Vec<String>,
    new_skill: String,
}

/// Works the first suggestions into the skill, as many as the budget allows. A text that is refused is asked for
/// once more with the reason.
pub(crate) async fn work_in(
    run: &Run<'_>,
    order: WriteOrder<'_>,
    selection: &Selection,
) -> Result<Updated, TrainError> {
    run.check_cancelled()?;
    let budget = usize::try_from(selection.budget).unwrap_or(usize::MAX);
    let most = if run.is_python() { usize::MAX } else { budget };
    let chosen = &selection.ordered[..selection.ordered.len().min(most)];
    let mut updated = Updated::unchanged(order.skill);
    if chosen.is_empty() {
        updated.rewrite = run.is_python().then(|| no_text("no suggestion was chosen"));
        return Ok(updated);
    }
    let ticker = run.tick(Phase::Step { step: order.step, stage: Stage::Update }, 1);
    let question = question(run, &order, chosen);
    let asked = ask(run, question, |parsed| {
        let written = read_text(&parsed)?;
        if run.is_python() {
            return Ok(written);
        }
        match rewrite(order.skill, &written.new_skill) {
            Ok(_) => Ok(written),
            Err(refusal) if refusal.status == EditStatus::Duplicate => Ok(written),
            Err(refusal) => Err(ReplyError::Shape(format!("`new_skill`: {}", refusal.detail))),
        }
    })
    .await?;
    let proposals: Vec<ProposalNote> = chosen.iter().filter_map(Proposal::note).collect();
    let report = match asked.or_reason(run).await? {
        Ok(written) => {
            let checked = match python::whole_text(&written.new_skill) {
                Some(doc) if run.is_python() => Ok(Rewritten { doc, restored: false }),
                _ => rewrite(order.skill, &written.new_skill),
            };
            report(written.change_summary, &mut updated, checked)
        }
        Err(reason) => no_text(&reason),
    };
    ticker.done(report.status != EditStatus::Applied);
    updated.rewrite = Some(RewriteReport { proposals, ..report });
    Ok(updated)
}

fn report(
    change_summary: Vec<String>,
    updated: &mut Updated,
    checked: Result<Rewritten, EditRefusal>,
) -> RewriteReport {
    match checked {
        Ok(written) => {
            updated.candidate = written.doc;
            RewriteReport {
                status: EditStatus::Applied,
                detail: restored_words(written.restored),
                restored: written.restored,
                change_summary,
                proposals: Vec::new(),
            }
        }
        Err(refusal) => RewriteReport {
            status: refusal.status,
            detail: refusal.detail,
            restored: false,
            change_summary,
            proposals: Vec::new(),
        },
    }
}

fn question(run: &Run<'_>, order: &WriteOrder<'_>, chosen: &[Proposal]) -> Question {
    let mut user = section("current_skill", order.skill.text());
    user.push('\n');
    let json = serde_json::to_string_pretty(chosen).unwrap_or_default();
    user.push_str(&section("suggestions", &json));
    push_section(&mut user, "previous_steps", order.previous_steps);
    let optimizer = &run.input.config.optimizer;
    let vars = PromptVars { mode: optimizer.update_mode, ..PromptVars::default() };
    Question {
        purpose: Purpose::Rewrite,
        phase: format!("step_{:04}", order.step),
        system: system_message(Prompt::Rewrite, vars),
        user,
        sample: order.sample.clone(),
        max_tokens: Some(optimizer.rewrite_max_tokens),
    }
}

fn read_text(parsed: &Parsed) -> Result<Written, ReplyError> {
    let new_skill = text(&parsed.object, "new_skill");
    if new_skill.trim().is_empty() {
        return Err(ReplyError::Shape("the object has no text `new_skill`".into()));
    }
    Ok(Written { change_summary: texts(&parsed.object, "change_summary"), new_skill })
}
