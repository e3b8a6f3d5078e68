//! What is kept of a harvested session. Text in it is redacted and clipped; it is data of strangers all the same.

use crate::harvest::Source;
use serde::{Deserialize, Serialize};

/// One session of an agent, as miners see it. The field names are those of the reference system's files. A session that
/// moved from one project to another is one digest a project, with the same `session_id`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionDigest {
    /// The agent's name of the session.
    pub session_id: String,
    /// Absolute path of the project that it worked in; empty when nothing tells.
    pub project: String,
    /// The git branch; empty when nothing tells.
    pub git_branch: String,
    /// When it began: RFC 3339 in UTC; empty when nothing tells.
    pub started_at: String,
    /// When it ended: RFC 3339 in UTC; empty when nothing tells.
    pub ended_at: String,
    /// What the person asked, in order.
    pub user_prompts: Vec<String>,
    /// The last answers of the agent, 5 at most.
    pub assistant_finals: Vec<String>,
    /// Names of tools that were used, each once.
    pub tools_used: Vec<String>,
    /// Names of skills that were used, each once.
    pub skills_used: Vec<String>,
    /// Files that were touched, 20 at most.
    pub files_touched: Vec<String>,
    /// `neg:<phrase>` and `pos:<phrase>`.
    pub feedback_signals: Vec<String>,
    /// Turns of the person.
    pub n_user_turns: u32,
    /// Turns of the agent.
    pub n_assistant_turns: u32,
    /// The file, or `<database>#<id>`.
    pub raw_path: String,
    /// Whose session it is; the reference system does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn the_fields_are_those_of_the_reference_system() {
        let fields = json!({
            "session_id": "s", "project": "/p", "git_branch": "", "started_at": "", "ended_at": "",
            "user_prompts": ["ask"], "assistant_finals": [], "tools_used": [], "skills_used": [],
            "files_touched": [], "feedback_signals": ["neg:no"], "n_user_turns": 1,
            "n_assistant_turns": 0, "raw_path": "",
        });
        let read: SessionDigest = serde_json::from_value(fields.clone()).expect("a digest");
        assert_eq!((read.session_id.as_str(), read.n_user_turns, read.source), ("s", 1, None));
        assert_eq!(serde_json::to_value(&read).expect("JSON"), fields);
        let ours = SessionDigest { source: Some(Source::Codex), ..read };
        let told = serde_json::to_value(&ours).expect("JSON");
        assert_eq!(told["source"], Value::from("codex"));
    }
}
