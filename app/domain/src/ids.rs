//! Identifiers as newtypes. They are made in adapters (clock and randomness) and only checked here.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Why a text is no identifier of the wanted kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a valid {kind}: expected {expected}")]
pub struct BadId {
    /// What was expected, such as `run id`.
    pub kind: &'static str,
    /// The grammar in words.
    pub expected: &'static str,
}

macro_rules! uuid_id {
    ($name:ident, $kind:literal, $doc:literal) => {
        #[doc = $doc]
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        #[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(value_type = String))]
        pub struct $name(String);

        impl $name {
            /// Parses a lower-case hyphenated UUID (36 characters).
            ///
            /// # Errors
            /// [`BadId`] for anything else, so that no id can ever be a path.
            pub fn parse(text: &str) -> Result<Self, BadId> {
                if is_uuid(text) {
                    Ok(Self(text.to_owned()))
                } else {
                    Err(BadId { kind: $kind, expected: "a lower-case UUID of 36 characters" })
                }
            }

            /// The UUID text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }

            /// The last eight digits: enough to tell runs apart on a screen.
            #[must_use]
            pub fn short(&self) -> &str {
                &self.0[28..]
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
        impl TryFrom<String> for $name {
            type Error = BadId;
            fn try_from(text: String) -> Result<Self, BadId> {
                Self::parse(&text)
            }
        }
        impl From<$name> for String {
            fn from(id: $name) -> Self {
                id.0
            }
        }
    };
}

uuid_id!(RunId, "run id", "One training run.");
uuid_id!(NightId, "night id", "One night of SkillOpt-Sleep, as this machine ran it.");
uuid_id!(ScheduleId, "schedule id", "A night every day, by the clock of the server.");
uuid_id!(AdoptionId, "adoption id", "One write of a skill version into a live file.");

fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => matches!(byte, b'0'..=b'9' | b'a'..=b'f'),
        })
}

/// The id that a dataset gives to a task. Any text: it is data, and never a path
/// (see [`crate::file_name::safe_file_name`]).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(value_type = String))]
pub struct TaskId(pub String);

impl TaskId {
    /// The id as the dataset spells it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<&str> for TaskId {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("0190a0c2-7b1e-7c33-8f00-0123456789ab", true)]
    #[case("../../etc/passwd", false)]
    #[case("0190A0C2-7B1E-7C33-8F00-0123456789AB", false)]
    #[case("0190a0c2_7b1e-7c33-8f00-0123456789ab", false)]
    #[case("", false)]
    fn c71_run_ids_have_one_grammar(#[case] text: &str, #[case] ok: bool) {
        assert_eq!(RunId::parse(text).is_ok(), ok);
    }
}
