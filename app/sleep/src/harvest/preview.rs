//! What would leave this machine: the words of each session as they would be sent. Everything here is redacted already.

use crate::digest::SessionDigest;
use serde::{Deserialize, Serialize};

/// One session as a model would see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionPreview {
    /// Whose session, and which.
    pub session: String,
    /// The project.
    pub project: String,
    /// The person's words.
    pub prompts: Vec<String>,
    /// The agent's last words.
    pub finals: Vec<String>,
    /// Places where a secret was masked.
    pub masked: usize,
    /// Characters in all.
    pub chars: usize,
}

/// The words of each session, in the order of the digests.
pub fn preview(digests: &[SessionDigest]) -> Vec<SessionPreview> {
    digests.iter().map(one).collect()
}

fn one(digest: &SessionDigest) -> SessionPreview {
    let texts = || digest.user_prompts.iter().chain(&digest.assistant_finals);
    let source = digest.source.map(|source| format!("{source}:")).unwrap_or_default();
    SessionPreview {
        session: format!("{source}{}", digest.session_id),
        project: digest.project.clone(),
        prompts: digest.user_prompts.clone(),
        finals: digest.assistant_finals.clone(),
        masked: texts().map(|text| text.matches("[REDACTED").count()).sum(),
        chars: texts().map(|text| text.chars().count()).sum(),
    }
}
