//! The benchmark as a run sees it: data from disk, prompt, grading.

use super::*;
use crate::DataError;
use rstest::rstest;
use skillopt_domain::config::{SearchQaEnv, SplitMode};
use skillopt_domain::outcome::OutcomeKind;
use skillopt_engine::ports::Speaker;
use skillopt_engine::splits::SplitName;
use std::path::Path;
use tempfile::TempDir;

fn env() -> SearchQaEnv {
    SearchQaEnv {
        name: "searchqa".to_owned(),
        skill_init: String::new(),
        split_mode: SplitMode::SplitDir,
        split_dir: String::new(),
        data_path: String::new(),
        split_ratio: [2, 1, 7],
        split_seed: 42,
        split_output_dir: String::new(),
        limit: 0,
        workers: 1,
        out_root: String::new(),
    }
}

fn item(id: &str) -> String {
    format!(
        r#"{{"id":"{id}","question":"What is {id}?","context":"[DOC] {id} is {id}.","answers":["{id}"],"extra":1}}"#
    )
}

fn list(ids: &[&str]) -> String {
    format!("[{}]", ids.iter().map(|id| item(id)).collect::<Vec<_>>().join(","))
}

fn split_folder(train: &str, selection: &str, test: &str) -> (TempDir, SearchQaEnv) {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [("train", train), ("val", selection), ("test", test)] {
        std::fs::create_dir(folder.path().join(name)).unwrap();
        std::fs::write(folder.path().join(name).join("items.json"), text).unwrap();
    }
    let env = SearchQaEnv { split_dir: text_of(folder.path()), ..env() };
    (folder, env)
}

fn data_file(name: &str, text: &str) -> (TempDir, SearchQaEnv) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    let env = SearchQaEnv { split_mode: SplitMode::Ratio, data_path: text_of(&path), ..env() };
    (folder, env)
}

fn text_of(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

fn ids(loaded: &Loaded, name: SplitName) -> Vec<&str> {
    loaded.splits.of(name).iter().map(|task| task.id.as_str()).collect()
}

fn refused(env: &SearchQaEnv) -> DataError {
    preview(env).expect_err("refused")
}

#[test]
fn a_split_folder_keeps_the_order_of_its_files() {
    let (_folder, env) = split_folder(&list(&["b", "a"]), &list(&["c"]), &list(&["d"]));
    let loaded = preview(&env).unwrap();
    assert_eq!(ids(&loaded, SplitName::Train), ["b", "a"]);
    assert_eq!(ids(&loaded, SplitName::Selection), ["c"]);
    assert_eq!(ids(&loaded, SplitName::Test), ["d"]);
    assert_eq!(loaded.benchmark.len(), 4);
    assert!(loaded.warnings.is_empty(), "{:?}", loaded.warnings);
}

#[test]
fn the_first_json_file_by_name_is_read_and_the_others_are_told() {
    let (folder, env) = split_folder(&list(&["b"]), &list(&["c"]), &list(&["d"]));
    std::fs::write(folder.path().join("train/first.json"), list(&["a"])).unwrap();
    std::fs::write(folder.path().join("train/a.jsonl"), item("z")).unwrap();
    let loaded = preview(&env).unwrap();
    assert_eq!(ids(&loaded, SplitName::Train), ["a"]);
    assert_eq!(loaded.warnings.len(), 2, "{:?}", loaded.warnings);
}

#[test]
fn the_limit_keeps_the_first_tasks_of_each_split() {
    let (_folder, env) = split_folder(&list(&["a", "b"]), &list(&["c", "d"]), &list(&["e", "f"]));
    let loaded = preview(&SearchQaEnv { limit: 1, ..env }).unwrap();
    assert_eq!(ids(&loaded, SplitName::Train), ["a"]);
    assert_eq!(loaded.benchmark.len(), 3);
}

#[test]
fn c53_an_empty_validation_file_is_allowed_and_warned_about() {
    let (_folder, env) = split_folder(&list(&["a"]), "[]", "[]");
    let loaded = preview(&env).unwrap();
    assert!(loaded.warnings[0].contains("nothing can be verified"), "{:?}", loaded.warnings);
}

#[test]
fn c53_the_same_question_in_other_spelling_is_the_same_task() {
    let again = item("a").replace("\"id\":\"a\"", "\"id\":\"x\"").replace("What is", "WHAT  is");
    let (_folder, env) = split_folder(&list(&["a"]), &format!("[{again}]"), "[]");
    assert!(matches!(refused(&env), DataError::Splits(_)));
}

#[test]
fn a_missing_folder_is_named() {
    let (folder, env) = split_folder(&list(&["a"]), "[]", "[]");
    std::fs::remove_dir_all(folder.path().join("val")).unwrap();
    assert!(refused(&env).to_string().contains("has no folder `val`"));
}

#[rstest]
#[case::missing(r#"{"id":"x","question":"q","context":"c"}"#, "answers", "is missing")]
#[case::null(
    r#"{"id":"x","question":null,"context":"c","answers":["a"]}"#,
    "question",
    "found null"
)]
#[case::number_for_text(
    r#"{"id":7,"question":"q","context":"c","answers":["a"]}"#,
    "id",
    "found a number"
)]
#[case::number_in_list(
    r#"{"id":"x","question":"q","context":"c","answers":["a",3]}"#,
    "answers[1]",
    "found a number"
)]
#[case::text_for_list(
    r#"{"id":"x","question":"q","context":"c","answers":"a"}"#,
    "answers",
    "expected a list of texts, found text"
)]
#[case::object(
    r#"{"id":"x","question":{"en":"q"},"context":"c","answers":["a"]}"#,
    "question",
    "found an object"
)]
#[case::empty_list(
    r#"{"id":"x","question":"q","context":"c","answers":[]}"#,
    "answers",
    "is an empty list"
)]
#[case::blank(r#"{"id":"x","question":" ","context":"c","answers":["a"]}"#, "question", "is empty")]
#[case::task_type(
    r#"{"id":"x","question":"q","context":"c","answers":["a"],"task_type":1}"#,
    "task_type",
    "found a number"
)]
#[case::no_object("[1]", "", "expected an object, found a list")]
fn c93_a_bad_row_is_named_with_field_and_problem(
    #[case] row: &str,
    #[case] field: &str,
    #[case] problem: &str,
) {
    let (_folder, env) = split_folder(&format!("[{},{row}]", item("a")), "[]", "[]");
    let err = refused(&env);
    let [found] = err.rows() else { panic!("one problem: {err}") };
    assert!(found.file.ends_with("items.json"));
    assert_eq!((found.row, found.field.as_str()), (2, field));
    assert!(found.problem.contains(problem), "{found}");
}

#[test]
fn c93_one_bad_row_in_ten_thousand_is_found_and_nothing_is_skipped() {
    let mut lines: Vec<String> = (0..10_000).map(|number| item(&format!("i{number}"))).collect();
    lines[7_654] = r#"{"id":"i7654","question":"q","context":"c"}"#.to_owned();
    let (_folder, env) = data_file("all.jsonl", &lines.join("\n"));
    let err = refused(&env);
    assert_eq!(err.rows().len(), 1);
    let message = err.to_string();
    assert!(message.contains("all.jsonl, row 7655, field `answers`: is missing"), "{message}");
}

#[test]
fn c93_all_bad_rows_of_all_files_are_in_one_table() {
    let bad = r#"[{"id":"x"},{"id":"y"},{"id":"z"}]"#;
    let (_folder, env) = split_folder(bad, bad, &list(&["a"]));
    let err = refused(&env);
    assert_eq!(err.rows().len(), 18);
    assert!(err.to_string().ends_with("and 13 more problems"), "{err}");
}

#[test]
fn an_id_that_occurs_again_is_told_with_both_places() {
    let (_folder, env) = split_folder(&list(&["a"]), &list(&["b", "a"]), "[]");
    let message = refused(&env).to_string();
    assert!(message.contains("row 2, field `id`: `a` is the id of"), "{message}");
}

fn hundred() -> String {
    let ids: Vec<String> = (0..100).map(|number| format!("i{number}")).collect();
    list(&ids.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn a_ratio_split_is_written_as_a_split_folder_that_loads_the_same() {
    let (_data, env) = data_file("all.json", &hundred());
    let out = tempfile::tempdir().unwrap();
    let made = load(&env, out.path()).unwrap();
    let folder = made.split_dir.clone().unwrap();
    assert_eq!(folder, out.path().join("searchqa_2-1-7_seed42"));
    let manifest = std::fs::read_to_string(folder.join("split_manifest.json")).unwrap();
    assert!(manifest.contains(r#""split_ratio": "2:1:7""#), "{manifest}");
    let items = std::fs::read_to_string(folder.join("val/items.json")).unwrap();
    assert!(items.contains("\"extra\": 1"), "fields that we do not know are kept");

    let by_folder =
        SearchQaEnv { split_mode: SplitMode::SplitDir, split_dir: text_of(&folder), ..env };
    let again = preview(&by_folder).unwrap();
    assert_eq!(again.splits, made.splits);
    let lengths = [SplitName::Train, SplitName::Selection, SplitName::Test]
        .map(|name| again.splits.of(name).len());
    assert_eq!(lengths, [20, 10, 70]);
}

#[test]
fn a_ratio_split_is_the_same_every_time_and_another_with_another_seed() {
    let (_data, env) = data_file("all.json", &hundred());
    let out = tempfile::tempdir().unwrap();
    let first = load(&env, out.path()).unwrap();
    let second = load(&env, out.path()).unwrap();
    assert_eq!(first.splits, second.splits);
    let other = preview(&SearchQaEnv { split_seed: 43, ..env }).unwrap();
    assert_ne!(first.splits, other.splits);
}

#[test]
fn a_split_of_other_data_is_never_overwritten() {
    let (data, env) = data_file("all.json", &hundred());
    let out = tempfile::tempdir().unwrap();
    load(&env, out.path()).unwrap();
    std::fs::write(data.path().join("all.json"), list(&["a", "b", "c"])).unwrap();
    assert!(matches!(load(&env, out.path()), Err(DataError::OtherSplit { .. })));
}

#[test]
fn a_folder_for_a_ratio_split_must_hold_exactly_one_data_file() {
    let (data, env) = data_file("all.json", &hundred());
    let by_folder = SearchQaEnv { data_path: text_of(data.path()), ..env };
    assert!(preview(&by_folder).is_ok());
    std::fs::write(data.path().join("more.jsonl"), "").unwrap();
    assert!(refused(&by_folder).to_string().contains("all.json, more.jsonl"));
    std::fs::remove_file(data.path().join("more.jsonl")).unwrap();
    std::fs::remove_file(data.path().join("all.json")).unwrap();
    assert!(matches!(refused(&by_folder), DataError::NoFile { .. }));
}

fn one_task() -> (SearchQa, Task) {
    let (_folder, env) = split_folder(&list(&["oak"]), "[]", "[]");
    let loaded = preview(&env).unwrap();
    (loaded.benchmark, loaded.splits.train()[0].clone())
}

#[test]
fn the_skill_stands_in_a_marked_section_of_the_system_message() {
    let (benchmark, task) = one_task();
    let messages = benchmark.prompt(&task, "- Be brief. {skill_section} {benchmark}\n");
    assert_eq!(messages.len(), 2);
    assert_eq!(messages[0].role, Speaker::System);
    let marked = "<skill>\n- Be brief. {skill_section} {benchmark}\n</skill>";
    assert!(messages[0].content.contains(marked), "{}", messages[0].content);
    assert!(messages[0].content.contains("[skillopt searchqa/1]"));
    let user = "<passages>\n[DOC] oak is oak.\n</passages>\n\nQuestion: What is oak?";
    assert_eq!(messages[1].content, user);
}

#[test]
fn an_empty_skill_has_no_section() {
    let (benchmark, task) = one_task();
    let system = &benchmark.prompt(&task, " \n")[0].content;
    assert!(!system.contains("## Skill") && !system.contains('{'), "{system}");
}

#[rstest]
#[case::fits("[DOC] one [DOC] two", 19, "[DOC] one [DOC] two")]
#[case::border("[DOC] one [DOC] two", 18, "[DOC] one")]
#[case::exactly_at_a_border("[DOC] one [DOC] two", 10, "[DOC] one")]
#[case::first_too_long("[DOC] one [DOC] two", 7, "[DOC] o")]
#[case::no_passages("just text", 4, "just")]
#[case::counts_characters("[DOC] é [DOC] ü", 8, "[DOC] é")]
fn a_long_context_ends_at_a_passage(
    #[case] context: &str,
    #[case] limit: usize,
    #[case] cut: &str,
) {
    assert_eq!(prompt::cut_context(context, limit), cut);
}

#[test]
fn a_right_and_a_wrong_reply_are_graded() {
    let (benchmark, task) = one_task();
    let right = benchmark.grade(&task, "It says so. <answer>The Oak.</answer>", false);
    assert_eq!(right.outcome.kind(), OutcomeKind::Passed);
    let wrong = benchmark.grade(&task, "<answer>b</answer>", true);
    let Outcome::Scored { fail_reason, truncated, .. } = wrong.outcome else { panic!("scored") };
    assert_eq!(fail_reason, "EM=0: predicted 'b' expected 'oak'");
    assert!(truncated);
    assert_eq!(wrong.evaluation_note, "expected: oak; predicted: b; exact match 0, F1 0.00");
}

#[test]
fn the_sample_data_loads_without_a_warning() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/searchqa_sample");
    let loaded = preview(&SearchQaEnv { split_dir: text_of(&root), ..env() }).unwrap();
    assert_eq!(loaded.benchmark.len(), 168);
    assert_eq!(loaded.splits.selection().len(), 56);
    assert!(loaded.warnings.is_empty(), "{:?}", loaded.warnings);
}
