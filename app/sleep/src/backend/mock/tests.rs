use super::*;
use crate::backend::{Draw, Phase, Shown};
use rstest::rstest;
use skillopt_domain::night::edit::Target;

fn task(tags: &[&str], reference: &str) -> TaskRecord {
    TaskRecord {
        id: "t".into(),
        tags: tags.iter().map(|key| rule_tag(key)).collect(),
        reference: reference.into(),
        reference_kind: ReferenceKind::Exact,
        ..TaskRecord::default()
    }
}

fn docs(keys: &[&str]) -> String {
    keys.iter().filter_map(|key| sentence_of(key)).collect::<Vec<_>>().join("\n")
}

#[rstest]
#[case(&["wrap-answer"], "arXiv:2401.00001", &["wrap-answer"], "<answer>arXiv:2401.00001</answer>")]
#[case(&["arxiv-id"], "arXiv:2401.00001", &["arxiv-id"], "arXiv:2401.00001")]
#[case(&["arxiv-id", "wrap-answer"], "abcdef", &["arxiv-id"], "approximately abcd (format not applied)")]
#[case(&[], "abcdef", &[], "approximately abcd (format not applied)")]
#[case(&["json-only"], "abc", &[], "approximately unknown (format not applied)")]
#[case(&["json-only"], "", &["json-only"], NO_REFERENCE)]
#[case(&["__harmful__", "json-only"], "abc", &["json-only"], HARMFUL_ANSWER)]
#[case(&["no-such-rule"], "abcdef", &[], "approximately abcd (format not applied)")]
fn an_answer_follows_the_rules_that_stand_in_the_documents(
    #[case] tags: &[&str],
    #[case] reference: &str,
    #[case] known: &[&str],
    #[case] expect: &str,
) {
    let (skill, task) = (docs(known), task(tags, reference));
    assert_eq!(answer(&task, &Docs { skill: &skill, memory: "" }), expect);
    assert_eq!(answer(&task, &Docs { skill: "", memory: &skill }), expect, "memory counts as well");
}

#[rstest]
#[case("Use search first.", true)]
#[case("you MUST search", true)]
#[case("run ./search", true)]
#[case("search is fine", false)]
fn a_tool_counts_as_called_where_the_documents_say_so(#[case] skill: &str, #[case] called: bool) {
    let tools = [ToolName::parse("search").expect("a name")];
    assert_eq!(!tools_named(&tools, &Docs { skill, memory: "" }).is_empty(), called);
}

#[rstest]
#[case(ReferenceKind::Rubric, "one two three four five", "one two three four", 1.0, 0.8)]
#[case(ReferenceKind::Rubric, "alpha beta", "alpha", 0.0, 0.5)]
#[case(ReferenceKind::None, "", "x", 1.0, 1.0)]
fn the_judge_is_the_share_of_words_or_the_outcome(
    #[case] kind: ReferenceKind,
    #[case] reference: &str,
    #[case] response: &str,
    #[case] hard: f64,
    #[case] soft: f64,
) {
    let task = TaskRecord {
        reference_kind: kind,
        reference: reference.into(),
        outcome: TaskOutcome::Success,
        ..TaskRecord::default()
    };
    let score = judge(&task, response);
    assert!((score.hard.get() - hard).abs() < 1e-12 && (score.soft.get() - soft).abs() < 1e-12);
}

#[tokio::test]
async fn it_proposes_missing_rules_once_and_within_the_budget() {
    let tasks = [task(&["wrap-answer", "arxiv-id"], "a"), task(&["arxiv-id", "units-si"], "a")];
    let shown = Shown { wanted: String::new(), got: String::new(), why: String::new() };
    let failures: Vec<_> = tasks.iter().map(|task| (task, shown.clone())).collect();
    let skill = docs(&["wrap-answer"]);
    let reflection = |budget| Reflection {
        target: Target::Memory,
        docs: Docs { skill: &skill, memory: "" },
        budget,
        material: Material::Failures(&failures),
        passed: &[],
        criteria: &[],
        preferences: "",
        guard: "",
        rejected: &[],
        draw: Draw::first(Phase::Reflect),
    };
    let both = Mock.reflect(&reflection(4)).await.expect("edits");
    let texts: Vec<_> = both.edits.iter().map(|edit| edit.content.as_str()).collect();
    assert_eq!(texts, [docs(&["arxiv-id"]), docs(&["units-si"])]);
    assert!(both.edits.iter().all(|edit| edit.target == Target::Memory));
    let one = Mock.reflect(&reflection(1)).await.expect("edits");
    assert_eq!((one.edits.len(), one.n_dropped), (1, 1));
}
