//! The prompts of a project that wait for a person, with the night that asked them.

use skillopt_domain::api::{HandoffPage, HandoffPrompt};
use skillopt_domain::night::NightStatus;
use skillopt_sleep::handoff::{AskedPrompt, Handoff, HandoffError, NightKind};
use skillopt_store::NightRow;

/// The handoff that is shown, and the other one of the project.
#[derive(Clone, Debug)]
pub(crate) struct Shown {
    pub(crate) kind: NightKind,
    pub(crate) handoff: Handoff,
    pub(crate) other: Handoff,
}

/// What waits. `rows` are the latest nights of the project, newest first. Blocks.
pub(crate) fn inbox_page(
    project: String,
    shown: &Shown,
    rows: &[NightRow],
) -> Result<HandoffPage, HandoffError> {
    let Shown { kind, handoff, other } = shown;
    let round = handoff.round()?;
    let prompts: Vec<HandoffPrompt> = round.prompts.into_iter().map(prompt_item).collect();
    let n_answered = prompts.iter().filter(|prompt| prompt.answer.is_some()).count();
    let running = rows.iter().find(|row| row.status == NightStatus::Running);
    // Files that cannot be read are told where they are shown.
    let asks = |_: &&NightRow| !other.asked().is_ok_and(|asked| asked.is_empty());
    Ok(HandoffPage {
        project,
        is_dry: *kind == NightKind::Dry,
        other: waiting(rows, kind.other()).filter(asks).map(|row| row.id.clone()),
        dir: handoff.dir().display().to_string(),
        asked_at_ms: round.asked_at_ms,
        night: waiting(rows, *kind).filter(|_| !prompts.is_empty()).map(|row| row.id.clone()),
        running: running.map(|row| row.id.clone()),
        n_answered: u32::try_from(n_answered).unwrap_or(u32::MAX),
        prompts,
    })
}

/// The night of a kind that waits: the latest one, unless a night behind it came to its end. Its row says that it waits
/// for good, also when another night took its answers. A dry run takes none of a night that is kept.
pub(crate) fn waiting(rows: &[NightRow], kind: NightKind) -> Option<&NightRow> {
    for row in rows {
        match row.status {
            NightStatus::Staged | NightStatus::Empty => return None,
            NightStatus::Rehearsed if kind == NightKind::Dry => return None,
            NightStatus::Pending if NightKind::of(row.is_dry) == kind => return Some(row),
            _ => {}
        }
    }
    None
}

/// Whose prompts are shown when nobody says whose: those of the night that began to wait last.
pub(crate) fn kind_shown(rows: &[NightRow]) -> NightKind {
    let waits = |row: &&NightRow| {
        let kind = NightKind::of(row.is_dry);
        waiting(rows, kind).is_some_and(|waiting| waiting.id == row.id)
    };
    NightKind::of(rows.iter().find(waits).is_some_and(|row| row.is_dry))
}

fn prompt_item(prompt: AskedPrompt) -> HandoffPrompt {
    let AskedPrompt { asked, answer } = prompt;
    let answer_sha = answer.as_ref().map_or("", |answer| answer.sha.as_str()).to_owned();
    HandoffPrompt {
        id: asked.id,
        wants_json: wants_json(&asked.purpose),
        purpose: asked.purpose,
        max_tokens: asked.max_tokens,
        prompt: asked.prompt,
        answer: answer.map(|answer| answer.text),
        answer_sha,
    }
}

/// Tasks are answered in plain text; everything else is read as JSON.
fn wants_json(purpose: &str) -> bool {
    matches!(purpose, "mine" | "reflect" | "contrast" | "judge" | "slow_update")
}
