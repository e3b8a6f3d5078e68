//! What the optimizer hands in: edits, suggestions or whole texts, with where they came from. The rest of the
//! engine treats them alike.

use crate::prompts::one_line;
use serde::Serialize;
use skillopt_domain::edit::{Edit, EditOp, SourceType};
use skillopt_domain::proposal::ProposalNote;
use std::fmt::Write;

/// One item of a patch.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub(crate) enum Proposal {
    /// In patch mode.
    Edit(Edit),
    /// When a writer works suggestions in.
    Suggestion(Suggestion),
    /// When minibatches bring whole texts.
    Text(SkillText),
}

/// What to change, in words.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Suggestion {
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) title: String,
    pub(crate) motivation: String,
    pub(crate) instruction: String,
    pub(crate) priority_hint: String,
    pub(crate) support_count: u32,
    pub(crate) source_type: SourceType,
    pub(crate) merge_level: u32,
}

/// A whole new text.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct SkillText {
    pub(crate) title: String,
    pub(crate) change_summary: Vec<String>,
    pub(crate) new_skill: String,
    pub(crate) support_count: u32,
    pub(crate) source_type: SourceType,
    pub(crate) merge_level: u32,
}

impl Proposal {
    pub(crate) fn edit(&self) -> Option<&Edit> {
        match self {
            Self::Edit(edit) => Some(edit),
            Self::Suggestion(_) | Self::Text(_) => None,
        }
    }

    pub(crate) fn support(&self) -> u32 {
        match self {
            Self::Edit(Edit { support_count, .. })
            | Self::Suggestion(Suggestion { support_count, .. })
            | Self::Text(SkillText { support_count, .. }) => *support_count,
        }
    }

    pub(crate) fn support_mut(&mut self) -> &mut u32 {
        match self {
            Self::Edit(Edit { support_count, .. })
            | Self::Suggestion(Suggestion { support_count, .. })
            | Self::Text(SkillText { support_count, .. }) => support_count,
        }
    }

    pub(crate) fn source_mut(&mut self) -> &mut SourceType {
        match self {
            Self::Edit(Edit { source_type, .. })
            | Self::Suggestion(Suggestion { source_type, .. })
            | Self::Text(SkillText { source_type, .. }) => source_type,
        }
    }

    pub(crate) fn level(&self) -> u32 {
        match self {
            Self::Edit(Edit { merge_level, .. })
            | Self::Suggestion(Suggestion { merge_level, .. })
            | Self::Text(SkillText { merge_level, .. }) => *merge_level,
        }
    }

    pub(crate) fn level_mut(&mut self) -> &mut u32 {
        match self {
            Self::Edit(Edit { merge_level, .. })
            | Self::Suggestion(Suggestion { merge_level, .. })
            | Self::Text(SkillText { merge_level, .. }) => merge_level,
        }
    }

    /// It says nothing that could be used.
    pub(crate) fn is_hollow(&self) -> bool {
        match self {
            Self::Edit(edit) => matches!(edit.op, EditOp::Unknown(_)),
            Self::Suggestion(suggestion) => suggestion.instruction.trim().is_empty(),
            Self::Text(text) => text.new_skill.trim().is_empty(),
        }
    }

    /// In a few words; `None` for an edit, which is shown as it is.
    pub(crate) fn note(&self) -> Option<ProposalNote> {
        match self {
            Self::Edit(_) => None,
            Self::Suggestion(suggestion) => Some(ProposalNote {
                kind: suggestion.kind.clone(),
                title: suggestion.title.clone(),
                detail: suggestion.instruction.clone(),
                source_type: suggestion.source_type,
                support_count: suggestion.support_count,
                merge_level: suggestion.merge_level,
            }),
            Self::Text(text) => Some(ProposalNote {
                kind: "skill".to_owned(),
                title: text.title.clone(),
                detail: text.change_summary.join("; "),
                source_type: text.source_type,
                support_count: text.support_count,
                merge_level: text.merge_level,
            }),
        }
    }
}

/// Edits and notes of a list: what events show of it.
pub(crate) fn shown(items: &[Proposal]) -> (Vec<Edit>, Vec<ProposalNote>) {
    (
        items.iter().filter_map(|item| item.edit().cloned()).collect(),
        items.iter().filter_map(Proposal::note).collect(),
    )
}

/// All items, one a line, numbered from 0: what ranking and budget calls read.
pub(crate) fn numbered(items: &[Proposal]) -> String {
    let mut list = String::new();
    for (at, item) in items.iter().enumerate() {
        let line = match item {
            Proposal::Edit(edit) => format!(
                "op={} target={} content={}",
                one_line(edit.op.as_str()),
                one_line(edit.target.as_deref().unwrap_or_default()),
                one_line(edit.content.as_deref().unwrap_or_default()),
            ),
            Proposal::Suggestion(suggestion) => format!(
                "type={} priority={} title={} instruction={}",
                one_line(&suggestion.kind),
                one_line(&suggestion.priority_hint),
                one_line(&suggestion.title),
                one_line(&suggestion.instruction),
            ),
            Proposal::Text(text) => format!(
                "title={} changes={}",
                one_line(&text.title),
                one_line(&text.change_summary.join("; "))
            ),
        };
        // Writing to a String cannot fail.
        let _ = writeln!(list, "[{at}] {line} support={}", item.support());
    }
    list
}
