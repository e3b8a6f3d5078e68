//! Runs that were made from other runs: re-runs and forks, and what is asked for them.

use crate::config::ConfigDifference;
use crate::hash::Sha256Hex;
use crate::ids::RunId;
use crate::json::from_fields;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How a run came from another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum OriginKind {
    /// Same config, data and initial skill.
    Rerun,
    /// A start from the other run, with changes or from one of its versions.
    Fork,
}

impl OriginKind {
    /// The stable word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Rerun => "rerun",
            Self::Fork => "fork",
        }
    }

    /// The kind with this stable word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Rerun, Self::Fork].into_iter().find(|kind| kind.as_str() == word)
    }
}

/// Where a run came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RunOrigin {
    /// How.
    pub kind: OriginKind,
    /// The run that it was made from.
    pub run: RunId,
    /// Name of that run.
    pub name: String,
    /// The version of that run whose text is the initial skill; `None` when the config names another text.
    pub version: Option<u32>,
    /// The initial skill; `None` when it was not known at the start.
    pub skill: Option<Sha256Hex>,
    /// What differed from that run at the start.
    pub differences: Vec<ConfigDifference>,
}

from_fields! { RunOrigin { kind, run, name, version, skill, differences } }

impl RunOrigin {
    /// Such as `forked from sample-7 at v3`.
    #[must_use]
    pub fn words(&self) -> String {
        let head = match self.kind {
            OriginKind::Rerun => "re-run of",
            OriginKind::Fork => "forked from",
        };
        match self.version.filter(|_| self.kind == OriginKind::Fork) {
            Some(version) => format!("{head} {} at v{version}", self.name),
            None => format!("{head} {}", self.name),
        }
    }
}

/// The run from which a new one starts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LaunchOrigin {
    /// That run.
    pub run: RunId,
    /// The version of its skill to start from; when left out, the text that it started from itself, unless
    /// `env.skill_init` is changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u32>,
}

/// `POST /runs/{id}/rerun`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RerunRequest {
    /// A name for people; that of the run with a mark when empty.
    #[serde(default)]
    pub name: String,
    /// Draw anew, whatever the ledger holds. Else recorded answers repeat the run at no cost.
    #[serde(default)]
    pub fresh: bool,
}

/// `POST /runs/{id}/resume`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ResumeRequest {
    /// Keys that change, with their values as text; an empty text is the default. Only safe ones are taken.
    #[serde(default)]
    pub values: BTreeMap<String, String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_says_what_it_came_from() {
        let run = RunId::parse("01890000-0000-7000-8000-000000000007").expect("an id");
        let origin = |kind, version| RunOrigin {
            kind,
            run: run.clone(),
            name: "one".into(),
            version,
            skill: None,
            differences: Vec::new(),
        };
        assert_eq!(origin(OriginKind::Fork, Some(3)).words(), "forked from one at v3");
        assert_eq!(origin(OriginKind::Fork, None).words(), "forked from one");
        assert_eq!(origin(OriginKind::Rerun, Some(0)).words(), "re-run of one");
        for kind in [OriginKind::Rerun, OriginKind::Fork] {
            assert_eq!(OriginKind::parse(kind.as_str()), Some(kind));
        }
    }
}
