//! How calls of programs that we make ourselves are told from a person's sessions, so that nothing is ever learned from
//! our own questions.

/// The environment variable that every program gets that we call as a model. Its value names the call.
pub const VARIABLE: &str = "SKILLOPT_CALL";

/// How the name of the folder begins that such a program works in, and that its session files name.
pub const FOLDER_PREFIX: &str = "skillopt-call-";

/// How the text of a call begins that a night of Sleep makes, for agents that keep it as a session. The reference
/// system knows the same word.
pub const PROMPT_MARK: &str = "<skillopt_sleep_internal_replay_v1>";
