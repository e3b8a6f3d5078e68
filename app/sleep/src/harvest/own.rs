//! Sessions that no person had: calls of ours, of the reference system, and of other plugins.

use skillopt_domain::own_call::FOLDER_PREFIX;

/// Headings of the reference system's prompts, in a session of one turn.
const REPLAY_HEADINGS: [&str; 8] = [
    "## CURRENT SKILL",
    "## FAILED TASKS",
    "## SUCCESSFUL TASKS",
    "## OUTPUT FORMAT",
    "## TASK\n",
    "## SKILL\n",
    "## Skill\n",
    "## REJECTED EDITS",
];

/// How the reference system begins a prompt to Cursor.
const SENTINEL: &str = "<skillopt_sleep_internal_replay_v1>";

/// Words of plugins that watch sessions from sessions of their own, and of our plugins' commands.
const PLUGIN_PROMPTS: [&str; 7] = [
    "a specialized observer tool for creating searchable memory",
    "<observed_from_primary_session>",
    "Hello memory agent, you are continuing to observe",
    "PROGRESS SUMMARY CHECKPOINT",
    "MEMORY PROCESSING START",
    "Run one SkillOpt-Sleep night",
    "skillopt-sleep run --project",
];

/// Whether the folder is one that we call programs in. Clients turn the separators of a path into `-`.
pub(crate) fn is_own_folder(path: &str) -> bool {
    path.contains(FOLDER_PREFIX)
}

/// Whether the agent's name is one that the reference system gives to its calls: `skillopt-sleep-<32 hex digits>`.
pub(crate) fn is_own_agent(name: &str) -> bool {
    name.strip_prefix("skillopt-sleep-")
        .is_some_and(|id| id.len() == 32 && id.bytes().all(|b| b.is_ascii_hexdigit()))
}

/// Whether a prompt begins as the reference system's calls of Cursor do.
pub(crate) fn has_sentinel(prompt: &str) -> bool {
    prompt.trim_start().starts_with(SENTINEL)
}

/// Whether the only prompt of a session is one of an engine. How fast the answer came says nothing.
pub(crate) fn is_replay(prompt: &str) -> bool {
    REPLAY_HEADINGS.iter().any(|heading| prompt.contains(heading))
}

/// Whether a session's first prompt is another plugin's. `markers`: the person's own.
pub(crate) fn is_plugin(prompt: &str, markers: &[String]) -> bool {
    PLUGIN_PROMPTS.iter().any(|marker| prompt.contains(marker))
        || markers.iter().any(|marker| !marker.is_empty() && prompt.contains(marker.as_str()))
}

#[cfg(test)]
mod tests {
    use super::{has_sentinel, is_own_agent, is_own_folder, is_plugin, is_replay};

    #[test]
    fn c06_calls_of_ours_and_of_the_reference_are_known() {
        assert!(is_own_folder("/tmp/skillopt-call-x1"));
        assert!(is_own_folder("-tmp-skillopt-call-x1"));
        assert!(is_own_agent("skillopt-sleep-0123456789abcdef0123456789abcdef"));
        assert!(!is_own_agent("skillopt-sleep-reviewer"));
        assert!(has_sentinel("<skillopt_sleep_internal_replay_v1>\ndo"));
        assert!(is_replay("## SKILL\nrules\n\n## TASK\nwork"));
    }

    #[test]
    fn f48_a_short_question_of_a_person_is_no_replay() {
        assert!(!is_replay("What is 2 + 2?"));
        assert!(!is_own_folder("/home/dev/skillopt"));
        assert!(!is_plugin("How do I observe a session?", &[]));
    }

    #[test]
    fn own_markers_name_other_plugins() {
        assert!(is_plugin("BOT: tidy up", &["BOT:".to_owned()]));
        assert!(!is_plugin("tidy up", &[String::new()]));
    }
}
