//! Prompts of the user's own: files in the folder that `optimizer.prompts_dir` names. What they hold is checked by
//! the engine.

use super::plain_file::read_plain;
use skillopt_benchmarks::searchqa;
use skillopt_domain::config::{ConfigProblem, Origin, Place, UpdateMode};
use skillopt_engine::prompts::{
    BenchmarkPrompt, PromptProblem, PromptSet, UserPrompt, find_prompt,
};
use std::fs::DirEntry;
use std::path::Path;

const KEY: &str = "optimizer.prompts_dir";
/// The one folder within the folder.
const PARTS: &str = "parts";
/// Longest file that is read; the engine allows less, and says so.
const MOST_BYTES: u64 = 100 * 1024;
/// Problems that are told, so that a folder of something else does not fill the screen.
const MOST_PROBLEMS: usize = 20;

/// What a prompt is for; `None` for a name that neither the engine nor a benchmark knows.
pub(crate) fn purpose_of(name: &str) -> Option<&'static str> {
    let of_benchmark = searchqa::PROMPTS.iter().find(|prompt| prompt.name == name);
    find_prompt(name).map(|spec| spec.purpose).or(of_benchmark.map(|prompt| prompt.purpose))
}

/// The prompts of a run in one update mode. An empty path is none of one's own.
pub(crate) fn prompt_set(
    folder: &str,
    benchmark: &'static [BenchmarkPrompt],
    modes: &[UpdateMode],
) -> Result<PromptSet, Vec<ConfigProblem>> {
    let mut found = Found::default();
    if !folder.is_empty() {
        found.read_folder(Path::new(folder), "").map_err(|message| vec![problem(None, message)])?;
    }
    let set = match PromptSet::new(benchmark, &found.prompts, modes) {
        Ok(set) => set,
        Err(problems) => {
            found.problems.extend(problems);
            PromptSet::default()
        }
    };
    if found.problems.is_empty() {
        return Ok(set);
    }
    let n_more = found.problems.len().saturating_sub(MOST_PROBLEMS);
    let mut problems: Vec<ConfigProblem> =
        found.problems.into_iter().take(MOST_PROBLEMS).map(config_problem).collect();
    if n_more > 0 {
        let message = format!("{n_more} more problems; is {folder} a folder of prompts?");
        problems.push(problem(None, message));
    }
    Err(problems)
}

fn config_problem(problem_of_file: PromptProblem) -> ConfigProblem {
    let PromptProblem { file, line, message } = problem_of_file;
    problem(Some(Place { origin: Origin::File, name: file, line }), message)
}

fn problem(place: Option<Place>, message: String) -> ConfigProblem {
    ConfigProblem { path: KEY.to_owned(), place, message }
}

#[derive(Debug, Default)]
struct Found {
    prompts: Vec<UserPrompt>,
    problems: Vec<PromptProblem>,
}

impl Found {
    /// Reads all files of a folder in the order of their names; `below` stands before the names.
    fn read_folder(&mut self, folder: &Path, below: &str) -> Result<(), String> {
        let failed = |err: std::io::Error| format!("cannot read {}: {err}", folder.display());
        let entries = std::fs::read_dir(folder).map_err(failed)?;
        let mut entries: Vec<DirEntry> = entries.collect::<Result<_, _>>().map_err(failed)?;
        entries.sort_by_key(DirEntry::file_name);
        for entry in entries {
            let path = entry.path();
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with('.') {
                continue;
            }
            if path.is_dir() && below.is_empty() && name == PARTS {
                self.read_folder(&path, "parts/")?;
            } else if path.is_dir() {
                self.complain(
                    &path,
                    "prompts stand in the folder itself, their parts in parts/; move this away",
                );
            } else {
                match name.strip_suffix(".md") {
                    Some(name) => self.read_file(&path, format!("{below}{name}")),
                    None => {
                        self.complain(&path, "prompts end in .md; rename this, or move it away");
                    }
                }
            }
        }
        Ok(())
    }

    fn read_file(&mut self, path: &Path, name: String) {
        // What has no name of ours is not even opened.
        let text = if find_prompt(&name).is_some() { read(path) } else { Ok(String::new()) };
        match text {
            Ok(text) => {
                let file = path.display().to_string();
                self.prompts.push(UserPrompt { name, file, text });
            }
            Err(message) => self.complain(path, &message),
        }
    }

    fn complain(&mut self, path: &Path, message: &str) {
        let file = path.display().to_string();
        self.problems.push(PromptProblem { file, line: None, message: message.to_owned() });
    }
}

/// The text without the mark that some editors put before it. Line ends become those of the program's own prompts.
fn read(path: &Path) -> Result<String, String> {
    let bytes = read_plain(path, MOST_BYTES).map_err(|err| format!("cannot be read: {err}"))?;
    let text = String::from_utf8(bytes).map_err(|err| {
        let line = err.as_bytes()[..err.utf8_error().valid_up_to()]
            .iter()
            .filter(|byte| **byte == b'\n')
            .count()
            + 1;
        format!("is no UTF-8 text (line {line})")
    })?;
    Ok(text.trim_start_matches('\u{feff}').replace("\r\n", "\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use skillopt_domain::prompt::PromptOrigin;

    const RANKING: &str = "Choose {{ max_items }}. Reply with JSON {\"selected_indices\": []}.";

    fn folder(files: &[(&str, &[u8])]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, bytes) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, bytes).unwrap();
        }
        folder
    }

    fn set(folder: &tempfile::TempDir) -> Result<PromptSet, Vec<ConfigProblem>> {
        prompt_set(&folder.path().display().to_string(), &[], &[UpdateMode::Patch])
    }

    #[test]
    fn files_are_prompts_by_their_names_and_hidden_ones_are_nothing() {
        let folder = folder(&[
            ("ranking.md", format!("\u{feff}{RANKING}\r\n").as_bytes()),
            ("parts/lapses.md", b"Tell them apart."),
            (".git/config", b"x"),
            (".notes.txt", b"x"),
        ]);
        let set = set(&folder).expect("sound");
        assert_eq!(set.text("ranking"), Some(format!("{RANKING}\n").as_str()));
        assert_eq!(set.text("parts/lapses"), Some("Tell them apart."));
        assert_ne!(set, PromptSet::default());
    }

    #[test]
    fn no_folder_is_the_programs_prompts_and_a_missing_one_is_an_error() {
        assert_eq!(prompt_set("", &[], &[UpdateMode::Patch]), Ok(PromptSet::default()));
        let problems =
            prompt_set("/no/such/folder", &[], &[UpdateMode::Patch]).expect_err("missing");
        assert!(
            problems[0].to_string().contains("optimizer.prompts_dir: cannot read /no/such/folder")
        );
    }

    #[test]
    fn each_problem_names_its_file_and_line() {
        let folder = folder(&[
            ("ranking.md", b"a\n{{ max_item }} \"selected_indices\" JSON"),
            ("rangking.md", b"x"),
            ("merge_final.txt", b"x"),
            ("old/ranking.md", b"x"),
            ("rewrite.md", b"a\n\xff\"new_skill\" JSON"),
        ]);
        let problems = set(&folder).expect_err("refused");
        let lines: Vec<String> = problems
            .iter()
            .map(|one| one.to_string().replace(&folder.path().display().to_string(), "D"))
            .collect();
        let has = |start: &str| lines.iter().any(|line| line.starts_with(start));
        let text = lines.join("\n");
        assert!(
            has("D/ranking.md:2: optimizer.prompts_dir: there is no placeholder {{ max_item }}"),
            "{text}"
        );
        assert!(
            has(
                "D/ranking.md:2: optimizer.prompts_dir: the placeholder {{ max_items }} is missing"
            ),
            "{text}"
        );
        assert!(has("D/rangking.md: optimizer.prompts_dir: there is no prompt rangking"), "{text}");
        assert!(has("D/merge_final.txt: optimizer.prompts_dir: prompts end in .md"), "{text}");
        assert!(has("D/old: optimizer.prompts_dir: prompts stand in the folder itself"), "{text}");
        assert!(has("D/rewrite.md: optimizer.prompts_dir: is no UTF-8 text (line 2)"), "{text}");
        assert_eq!(lines.len(), 6, "{text}");
    }

    #[test]
    fn a_folder_of_something_else_is_told_in_few_lines() {
        let names: Vec<String> = (0..50).map(|n| format!("file_{n}.md")).collect();
        let files: Vec<(&str, &[u8])> =
            names.iter().map(|name| (name.as_str(), &b"x"[..])).collect();
        let problems = set(&folder(&files)).expect_err("refused");
        assert_eq!(problems.len(), MOST_PROBLEMS + 1);
        assert!(problems[MOST_PROBLEMS].message.starts_with("30 more problems"));
    }

    #[test]
    fn what_is_used_says_where_it_came_from() {
        let folder = folder(&[("ranking.md", RANKING.as_bytes())]);
        let yaml = "model: {backend: mock}\nenv: {split_dir: d}";
        let resolved = crate::config::from_yaml_text("a.yaml", yaml).expect("loads");
        let config = crate::config::run_config(&resolved).expect("complete");
        let benchmark = searchqa::PROMPTS;
        let path = folder.path().display().to_string();
        let used = prompt_set(&path, benchmark, &[UpdateMode::Patch]).expect("sound").used(&config);
        let origin = |name: &str| used.iter().find(|one| one.name == name).map(|one| one.origin);
        assert_eq!(origin("ranking"), Some(PromptOrigin::User));
        assert_eq!(origin("analyst_failure"), Some(PromptOrigin::Default));
        assert_eq!(origin("target"), Some(PromptOrigin::Benchmark));
        assert_eq!(origin("rewrite"), None);
    }
}
