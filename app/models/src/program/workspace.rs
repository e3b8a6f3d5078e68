//! A task as files: the skill where agents look for skills, the task beside it, and the prompt that points at both.

use super::folder::Folder;
use skillopt_engine::ports::Workspace;
use std::io;

/// The skill's folder below a folder of skills.
const SKILL_NAME: &str = "skillopt-target";
/// Where every agent finds the skill; the prompt names this copy.
const COMMON_SKILLS: &str = ".agents/skills";
const TASK: &str = "task.md";
const FRONT_MATTER: &str = "---\nname: skillopt-target\ndescription: How to do the task in task.md. Read it before you start.\n---\n\n";

/// Writes skill and task; `skills` is where this agent looks for skills of its own accord. Gives the prompt.
pub(super) fn lay_out(
    folder: &Folder,
    workspace: &Workspace,
    skills: &[&str],
) -> io::Result<String> {
    folder.place(TASK, task_text(workspace).as_bytes())?;
    let skill = workspace.skill.as_str();
    if skill.trim().is_empty() {
        return Ok(prompt(None));
    }
    let text = match skill.trim_start_matches('\u{feff}').starts_with("---") {
        true => skill.to_owned(),
        false => format!("{FRONT_MATTER}{skill}"),
    };
    for place in [COMMON_SKILLS].iter().chain(skills) {
        folder.place(&format!("{place}/{SKILL_NAME}/SKILL.md"), text.as_bytes())?;
    }
    Ok(prompt(Some(&format!("{COMMON_SKILLS}/{SKILL_NAME}/SKILL.md"))))
}

fn task_text(workspace: &Workspace) -> String {
    match workspace.instructions.trim() {
        "" => format!("{}\n", workspace.task),
        instructions => format!("{instructions}\n\n{}\n", workspace.task),
    }
}

fn prompt(skill: Option<&str>) -> String {
    let read = match skill {
        Some(path) => format!(
            "Read the file {path} in this folder first: it says how to do tasks of this kind. Read it as a file, with \
             the tool that reads files. Then read the file {TASK}, and do the task that stands there as the skill says."
        ),
        None => format!("Read the file {TASK} in this folder, and do the task that stands there."),
    };
    format!(
        "{read}\nWork in this folder only, and change no file. Everything that you need stands in it; look nothing up \
         elsewhere.\nYour last message is your answer: give it in the form that {TASK} asks for, and say nothing after it."
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workspace(skill: &str) -> Workspace {
        let (task, instructions) = ("Add 1 and 1.".to_owned(), "Answer in tags.".to_owned());
        Workspace { skill: skill.to_owned(), task, instructions }
    }

    #[test]
    fn skill_and_task_are_files_and_the_prompt_names_both() {
        let folder = Folder::new().unwrap();
        let prompt = lay_out(&folder, &workspace("# Sums\n"), &[".claude/skills"]).unwrap();
        let read = |path: &str| std::fs::read_to_string(folder.work().join(path)).unwrap();
        let skill = read(".agents/skills/skillopt-target/SKILL.md");
        assert!(skill.starts_with("---\nname: skillopt-target\n") && skill.ends_with("# Sums\n"));
        assert_eq!(read(".claude/skills/skillopt-target/SKILL.md"), skill);
        assert_eq!(read("task.md"), "Answer in tags.\n\nAdd 1 and 1.\n");
        assert!(prompt.contains(".agents/skills/skillopt-target/SKILL.md"));
        assert!(prompt.contains("task.md") && !prompt.contains("Add 1"));
    }

    #[test]
    fn a_skill_with_its_own_front_matter_keeps_every_byte_and_an_empty_one_is_no_file() {
        let folder = Folder::new().unwrap();
        let own = "---\nname: sums\n---\r\nBody\r\n";
        lay_out(&folder, &workspace(own), &[]).unwrap();
        let path = folder.work().join(".agents/skills/skillopt-target/SKILL.md");
        assert_eq!(std::fs::read_to_string(path).unwrap(), own);

        let folder = Folder::new().unwrap();
        let prompt = lay_out(&folder, &workspace(" \n"), &[]).unwrap();
        assert!(!folder.work().join(".agents").exists() && !prompt.contains("SKILL.md"));
    }
}
