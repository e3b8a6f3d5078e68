//! How an event is read back: its row, its tag and its data share one object. The words are those of its `Serialize`.

use super::{EventKind, Measured, RunEvent, RunPlan, StepSummary};
use crate::epoch::{Comparison, FinalSelection, MetaSkill, SlowUpdate};
use crate::json::{Fields, FromFields, JsonError, from_fields};
use crate::outage::Outage;
use crate::run::Phase;

from_fields!(RunEvent, EventKind);

impl FromFields for RunEvent {
    fn from_fields(fields: &mut Fields) -> Result<Self, JsonError> {
        Ok(Self {
            seq: fields.take("seq")?,
            at_ms: fields.take("at_ms")?,
            key: fields.take("key")?,
            kind: EventKind::from_fields(fields)?,
        })
    }
}

impl FromFields for EventKind {
    fn from_fields(fields: &mut Fields) -> Result<Self, JsonError> {
        Ok(match &*fields.take_tag("type")? {
            "status" => {
                Self::Status { status: fields.take("status")?, detail: fields.take("detail")? }
            }
            "planned" => Self::Planned(RunPlan::from_fields(fields)?),
            "prompts_chosen" => Self::PromptsChosen { prompts: fields.take("prompts")? },
            "preflight_passed" => Self::PreflightPassed {
                role: fields.take("role")?,
                latency_ms: fields.take("latency_ms")?,
            },
            "phase_started" => Self::PhaseStarted(Phase::from_fields(fields)?),
            "baseline" => Self::Baseline(Measured::from_fields(fields)?),
            "rolled_out" => Self::RolledOut {
                step: fields.take("step")?,
                score: fields.take("score")?,
                counts: fields.take("counts")?,
                sets: fields.take("sets")?,
            },
            "reflected" => Self::Reflected {
                step: fields.take("step")?,
                reflection: fields.take("reflection")?,
            },
            "aggregated" => Self::Aggregated {
                step: fields.take("step")?,
                n_edits_in: fields.take("n_edits_in")?,
                levels: fields.take("levels")?,
                n_fallbacks: fields.take("n_fallbacks")?,
                edits: fields.take("edits")?,
                proposals: fields.take_or_default("proposals")?,
            },
            "lr_decided" => {
                Self::LrDecided { step: fields.take("step")?, decision: fields.take("decision")? }
            }
            "selected" => Self::Selected {
                step: fields.take("step")?,
                budget: fields.take("budget")?,
                ranking: fields.take("ranking")?,
                edits: fields.take("edits")?,
                proposals: fields.take_or_default("proposals")?,
                control: fields.take_or_default("control")?,
            },
            "rewritten" => {
                Self::Rewritten { step: fields.take("step")?, report: fields.take("report")? }
            }
            "noted" => {
                Self::Noted { step: fields.take("step")?, appendix: fields.take("appendix")? }
            }
            "updated" => Self::Updated {
                step: fields.take("step")?,
                edits: fields.take("edits")?,
                candidate: fields.take("candidate")?,
                candidate_chars: fields.take("candidate_chars")?,
                candidate_tokens: fields.take("candidate_tokens")?,
            },
            "gated" => Self::Gated {
                step: fields.take("step")?,
                verdict: fields.take("verdict")?,
                set: fields.take("set")?,
            },
            "step_finished" => Self::StepFinished(StepSummary::from_fields(fields)?),
            "compared" => Self::Compared(Comparison::from_fields(fields)?),
            "slow_updated" => Self::SlowUpdated(SlowUpdate::from_fields(fields)?),
            "meta_skill_written" => Self::MetaSkillWritten(MetaSkill::from_fields(fields)?),
            "final_selected" => Self::FinalSelected(FinalSelection::from_fields(fields)?),
            "tested" => {
                Self::Tested { which: fields.take("which")?, measured: fields.take("measured")? }
            }
            "adapted" => {
                Self::Adapted { role: fields.take("role")?, change: fields.take("change")? }
            }
            "endpoint_down" => Self::EndpointDown(Outage::from_fields(fields)?),
            "endpoint_up" => endpoint_up(fields)?,
            "warning" => {
                Self::Warning { code: fields.take("code")?, message: fields.take("message")? }
            }
            other => return Err(JsonError::unknown_tag("type", other)),
        })
    }
}

fn endpoint_up(fields: &mut Fields) -> Result<EventKind, JsonError> {
    Ok(EventKind::EndpointUp {
        endpoint: fields.take("endpoint")?,
        model: fields.take("model")?,
        since_ms: fields.take("since_ms")?,
    })
}
