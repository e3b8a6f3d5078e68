use super::super::UserPrompt;
use super::*;
use rstest::rstest;
use skillopt_domain::config::UpdateMode::{FullRewriteMinibatch, Patch, RewriteFromSuggestions};

const MODES: [UpdateMode; 3] = [Patch, RewriteFromSuggestions, FullRewriteMinibatch];

fn problems(name: &str, text: &str, modes: &[UpdateMode]) -> Vec<PromptProblem> {
    let file = format!("prompts/{name}.md");
    let prompt = UserPrompt { name: name.to_owned(), file, text: text.to_owned() };
    PromptSet::new(&[], &[prompt], modes).err().unwrap_or_default()
}

#[rstest]
#[case::unknown_name(
    "analyst",
    "x",
    None,
    "there is no prompt analyst; the prompts are analyst_failure"
)]
#[case::python_name("analyst_error_rewrite", "x", None, "here it is called analyst_failure")]
#[case::target("target", "x", None, "belongs to the benchmark")]
#[case::empty("ranking", " \n", None, "the file is empty")]
#[case::grammar("ranking", "a\nb\n{% if max_items %}\nc", Some(3), "cannot be read")]
#[case::unknown_placeholder(
    "ranking",
    "Choose {{ max_items }}.\n\nYou are {{ nam }}. JSON \"selected_indices\"",
    Some(3),
    "there is no placeholder {{ nam }} here; this prompt has mode, item, article, max_items"
)]
#[case::in_a_condition(
    "appendix",
    "JSON {\"appendix_notes\": []}\n{% if n_tasks %}x{% endif %}",
    Some(2),
    "there is no placeholder {{ n_tasks }} here; this prompt has none"
)]
#[case::missing_placeholder(
    "slow_update",
    "Compare.\nReply with JSON: {\"slow_update_content\": \"\"}\n",
    Some(2),
    "the placeholder {{ n_tasks }} is missing"
)]
#[case::no_field(
    "meta_skill",
    "{{ n_tasks }} tasks.\nReply with one JSON object {\"memory\": \"\"}",
    Some(2),
    "does not ask for \"meta_skill_content\""
)]
#[case::no_json("rewrite", "Write it anew, \"new_skill\".", Some(1), "does not ask for JSON")]
#[case::no_carrier(
    "analyst_failure",
    "{{ rules }}\n{{ contract }} as JSON, \"appendix_notes\"",
    Some(2),
    "does not ask for \"patch\""
)]
#[case::no_notes(
    "analyst_failure",
    "{{ rules }}\nJSON: {\"patch\": {{ contract }}}",
    Some(2),
    "does not ask for \"appendix_notes\""
)]
fn each_fault_is_named_with_file_and_line(
    #[case] name: &str,
    #[case] text: &str,
    #[case] line: Option<u32>,
    #[case] expect: &str,
) {
    let found = problems(name, text, &MODES);
    let [problem] = &found[..] else { panic!("one problem: {found:?}") };
    assert_eq!(
        (problem.file.as_str(), problem.line),
        (format!("prompts/{name}.md").as_str(), line)
    );
    assert!(problem.message.contains(expect), "{}", problem.message);
}

#[test]
fn a_contract_for_one_mode_will_do_for_runs_in_that_mode() {
    let text = "{\"edits\": [{\"op\": \"append\", \"content\": \"<text>\"}]}";
    assert_eq!(problems("parts/contract", text, &[Patch]), []);
    let found = problems("parts/contract", text, &MODES);
    assert!(found[0].message.contains("in the update mode rewrite_from_suggestions"), "{found:?}");
    assert!(found[0].message.contains("\"revise_suggestions\""), "{found:?}");
}

#[test]
fn a_huge_text_is_no_prompt() {
    let found = problems("appendix", &"JSON \"appendix_notes\" ".repeat(5000), &MODES);
    assert!(found[0].message.contains("too long"), "{found:?}");
}

#[test]
fn all_faults_of_all_files_are_told_at_once() {
    let text = "{{ foo }} {{ bar }}";
    let found = problems("slow_update", text, &MODES);
    assert_eq!(found.len(), 3, "{found:?}");
}
