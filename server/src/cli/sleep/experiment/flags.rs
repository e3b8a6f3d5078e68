//! Flags of nights that mean nothing in an experiment. They are refused: who gives one expects it to do something.

use super::Refused;
use crate::cli::sleep::args::CommonArgs;

/// What the flags were given to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GivenTo {
    /// A persona or benchmark folders.
    Experiment,
    /// A plan.
    Sweep,
    /// The table of rows that are there.
    Scorecard,
}

/// A flag, and whether it was given.
type Flag = (&'static str, bool);

/// Refuses the first flag that would not be looked at.
pub(super) fn check_flags(common: &CommonArgs, given_to: GivenTo) -> Result<(), Refused> {
    let Flags { who, how, nights } = Flags::of(common);
    let not_here = "an experiment has tasks of its own; it harvests nothing and adopts nothing";
    let in_cells = "who works in a sweep stands in the cells of its plan";
    let only_reads = "a scorecard only reads the rows of a sweep";
    let groups = match given_to {
        GivenTo::Experiment => vec![(nights, not_here)],
        GivenTo::Sweep => vec![(who, in_cells), (nights, not_here)],
        GivenTo::Scorecard => vec![(who, only_reads), (how, only_reads), (nights, only_reads)],
    };
    for (flags, why) in groups {
        if let Some((flag, _)) = flags.iter().find(|(_, is_given)| *is_given) {
            let message = format!("{flag}: {why}; leave it out");
            return Err(Refused { word: "bad_config", message });
        }
    }
    Ok(())
}

/// The common flags by what they are about.
struct Flags {
    /// Who answers.
    who: Vec<Flag>,
    /// How answers are made and judged.
    how: Vec<Flag>,
    /// What a night reads, writes and remembers.
    nights: Vec<Flag>,
}

impl Flags {
    fn of(common: &CommonArgs) -> Self {
        // All are named, so that a new flag has to be put into a group.
        let CommonArgs {
            project,
            scope,
            backend,
            model,
            codex_path,
            cursor_path,
            pi_path,
            opencode_path,
            opencode_tool_replay,
            claude_home,
            codex_home,
            cursor_home,
            pi_home,
            source,
            vscode_workspace_storage,
            copilot_cli_session_store,
            opencode_db,
            lookback_hours,
            edit_budget,
            max_sessions,
            max_tasks,
            target_skill_path,
            skill_roots,
            tasks_file,
            progress,
            auto_adopt,
            preferences,
            json: _,
            config,
            settings,
            cfg_options,
        } = common;
        let who = vec![("--backend", backend.is_some()), ("--model", model.is_some())];
        let how = vec![
            ("--codex-path", codex_path.is_some()),
            ("--cursor-path", cursor_path.is_some()),
            ("--pi-path", pi_path.is_some()),
            ("--opencode-path", opencode_path.is_some()),
            ("--opencode-tool-replay", *opencode_tool_replay),
            // The user's own prompts lie beside it.
            ("--claude-home", claude_home.is_some()),
            ("--edit-budget", *edit_budget > 0),
            ("--progress", *progress),
            ("--preferences", preferences.is_some()),
            ("--config", config.is_some()),
            ("--set", !settings.is_empty()),
            ("--cfg-options", !cfg_options.is_empty()),
        ];
        let nights = vec![
            ("--project", project.is_some()),
            ("--scope", scope.is_some()),
            ("--codex-home", codex_home.is_some()),
            ("--cursor-home", cursor_home.is_some()),
            ("--pi-home", pi_home.is_some()),
            ("--source", source.is_some()),
            ("--vscode-workspace-storage", vscode_workspace_storage.is_some()),
            ("--copilot-cli-session-store", copilot_cli_session_store.is_some()),
            ("--opencode-db", opencode_db.is_some()),
            ("--lookback-hours", lookback_hours.is_some()),
            ("--max-sessions", *max_sessions > 0),
            ("--max-tasks", *max_tasks > 0),
            ("--target-skill-path", target_skill_path.is_some()),
            ("--skill-root", !skill_roots.is_empty()),
            ("--tasks-file", tasks_file.is_some()),
            ("--auto-adopt", *auto_adopt),
        ];
        Self { who, how, nights }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use GivenTo::{Experiment, Scorecard, Sweep};

    fn refused(common: &CommonArgs, given_to: GivenTo) -> Option<String> {
        check_flags(common, given_to).err().map(|refused| refused.message)
    }

    #[test]
    fn a_flag_without_effect_is_refused_by_its_name() {
        let none = CommonArgs { json: true, ..CommonArgs::default() };
        let tasks = CommonArgs { tasks_file: Some("t.json".into()), ..CommonArgs::default() };
        let adopts = CommonArgs { auto_adopt: true, ..CommonArgs::default() };
        let asks = CommonArgs { backend: Some("claude".into()), ..CommonArgs::default() };
        let tells = CommonArgs { progress: true, edit_budget: 2, ..CommonArgs::default() };
        for given_to in [Experiment, Sweep, Scorecard] {
            assert_eq!(refused(&none, given_to), None);
            for (common, flag) in [(&tasks, "--tasks-file: "), (&adopts, "--auto-adopt: ")] {
                let told = refused(common, given_to).expect("it is refused");
                assert!(told.starts_with(flag), "{told}");
            }
        }
        assert_eq!((refused(&asks, Experiment), refused(&tells, Experiment)), (None, None));
        assert_eq!(refused(&tells, Sweep), None);
        assert!(refused(&asks, Sweep).is_some_and(|told| told.contains("cells of its plan")));
        assert!(refused(&asks, Scorecard).is_some() && refused(&tells, Scorecard).is_some());
    }
}
