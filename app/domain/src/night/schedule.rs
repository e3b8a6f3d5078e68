//! What becomes of a night that is due.

use serde::{Deserialize, Serialize};

/// What became of a night that was due. Stored and shown by the same word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum ScheduleOutcomeKind {
    /// The night was begun.
    Begun,
    /// A server took it on and has not begun it: it does so now, or it ended before.
    Claimed,
    /// No server ran at the time, and a later night stood in for it.
    Missed,
    /// The clock of the machine had been ahead and was set back.
    ClockSetBack,
    /// Another night still worked on the project.
    Busy,
    /// The night could not begin.
    Failed,
}

impl ScheduleOutcomeKind {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Begun, Self::Claimed, Self::Missed, Self::ClockSetBack, Self::Busy, Self::Failed];

    /// The word for storage.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Begun => "begun",
            Self::Claimed => "claimed",
            Self::Missed => "missed",
            Self::ClockSetBack => "clock_set_back",
            Self::Busy => "busy",
            Self::Failed => "failed",
        }
    }

    /// Reads the word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_in_the_store_is_that_on_the_wire() {
        for kind in ScheduleOutcomeKind::ALL {
            let wire = serde_json::to_value(kind).expect("is a word");
            assert_eq!(wire, kind.as_str());
            assert_eq!(ScheduleOutcomeKind::parse(kind.as_str()), Some(kind));
        }
        assert_eq!(ScheduleOutcomeKind::parse("late"), None);
    }
}
