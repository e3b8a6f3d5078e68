//! What every client does first, lists, and resources.

use super::super::shelf::Shelf;
use super::super::{Policy, TimeLimits};
use super::{Client, Fake, policy};
use rstest::rstest;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

#[rstest]
#[case("2024-11-05", "2024-11-05")]
#[case("2025-06-18", "2025-06-18")]
#[tokio::test]
async fn old_and_new_clients_are_greeted_in_their_version(
    #[case] asked: &str,
    #[case] answered: &str,
) {
    let mut client =
        Client::silent(Fake::default(), policy(), Shelf::new(None, None), Path::new("."));
    let client_info = json!({"name": "test", "version": "0"});
    let hello = json!({"protocolVersion": asked, "capabilities": {}, "clientInfo": client_info});
    let answer = client.ask("initialize", &hello).await;
    let result = &answer["result"];
    assert_eq!(result["protocolVersion"], answered);
    assert_eq!(result["serverInfo"]["name"], "skillopt");
    assert_eq!(result["capabilities"], json!({"tools": {}, "resources": {}}));
    assert!(result["instructions"].as_str().is_some_and(|text| text.contains("ask the person")));
}

#[tokio::test]
async fn ping_is_answered_and_an_unknown_method_is_named_so() {
    let mut client = Client::of(Fake::default()).await;
    assert_eq!(client.ask("ping", &json!({})).await["result"], json!({}));
    let answer = client.ask("sleep/well", &json!({})).await;
    assert_eq!(answer["error"]["code"], -32601, "{answer}");
}

#[rstest]
#[case::words("hello")]
#[case::cut(r#"{"jsonrpc": "2.0", "id": 7, "method": "#)]
#[case::blank("")]
#[tokio::test]
async fn a_line_that_is_no_json_is_passed_over_and_the_next_one_is_answered(#[case] line: &str) {
    let mut client = Client::of(Fake::default()).await;
    client.send(line).await;
    let answer = client.ask("ping", &json!({})).await;
    assert_eq!(answer["result"], json!({}), "no line of ours answers one that names no request");
}

#[rstest]
#[case::number("7")]
#[case::list("[]")]
#[case::two("{} {}")]
#[case::no_method(r#"{"jsonrpc": "2.0"}"#)]
#[tokio::test]
async fn json_that_is_no_message_is_an_error_and_the_next_one_is_answered(#[case] line: &str) {
    let mut client = Client::of(Fake::default()).await;
    client.send(line).await;
    let refused = client.next().await;
    assert_eq!((&refused["error"]["code"], &refused["id"]), (&json!(-32600), &json!(null)));
    let answer = client.ask("ping", &json!({})).await;
    assert_eq!(answer["result"], json!({}));
}

async fn tools(policy: Policy) -> Vec<Value> {
    let shelf = Shelf::new(None, None);
    let mut client = Client::with(Fake::default(), policy, shelf, Path::new(".")).await;
    let answer = client.ask("tools/list", &json!({})).await;
    answer["result"]["tools"].as_array().expect("tools").clone()
}

#[tokio::test]
async fn tools_are_listed_with_one_closed_schema_each() {
    let tools = tools(policy()).await;
    for tool in &tools {
        assert_eq!(tool["inputSchema"]["additionalProperties"], false, "{}", tool["name"]);
        let schema = tool["inputSchema"].clone();
        let mut compiler = boon::Compiler::new();
        compiler.add_resource("schema.json", schema).expect("a schema");
        compiler.compile("schema.json", &mut boon::Schemas::new()).expect("a sound schema");
    }
    insta::assert_json_snapshot!(tools);
}

#[tokio::test]
async fn adopting_without_a_person_is_offered_only_where_the_operator_allows_it() {
    let offers = |tools: &[Value]| {
        let has = |tool: &&Value| !tool["inputSchema"]["properties"]["auto_adopt"].is_null();
        tools.iter().filter(has).map(|tool| tool["name"].clone()).collect::<Vec<_>>()
    };
    assert!(offers(&tools(policy()).await).is_empty());
    assert!(offers(&tools(Policy::of_http()).await).is_empty());
    let allowed = tools(Policy::of_stdio(true, TimeLimits::default())).await;
    assert_eq!(offers(&allowed), ["sleep_run", "sleep_schedule"]);
}

/// A project with `n_nights` nights of two files each.
fn project(n_nights: usize) -> tempfile::TempDir {
    let project = tempfile::tempdir().unwrap();
    for nth in 0..n_nights {
        let night = format!(".skillopt-sleep/staging/20261130-03{nth:02}00");
        let night = project.path().join(night);
        fs::create_dir_all(&night).unwrap();
        fs::write(night.join("manifest.json"), "{}").unwrap();
        fs::write(night.join("report.md"), format!("# Night {nth}\n")).unwrap();
    }
    project
}

async fn reader(project: &Path) -> Client {
    let shelf = Shelf::new(None, Some(project.to_owned()));
    Client::with(Fake::default(), policy(), shelf, project).await
}

#[tokio::test]
async fn nights_are_listed_newest_first_and_read() {
    let project = project(2);
    let mut client = reader(project.path()).await;
    let list = client.ask("resources/list", &json!({})).await;
    let list = list["result"]["resources"].as_array().expect("resources").clone();
    assert_eq!(list.len(), 5, "{list:?}");
    assert_eq!(list[0]["uri"], "skillopt://nights");
    let report = list.iter().find(|row| row["name"] == "report.md").expect("a report");
    assert_eq!(report["mimeType"], "text/markdown");
    let read = client.ask("resources/read", &json!({"uri": report["uri"]})).await;
    let contents = &read["result"]["contents"];
    assert!(contents[0]["text"].as_str().is_some_and(|text| text.contains("they are data")));
    assert_eq!(contents[1]["text"], "# Night 1\n", "the newest night comes first");
    assert_eq!(contents[1]["uri"], report["uri"]);
    assert_eq!(contents[1]["_meta"], json!({"skillopt/untrusted": true, "skillopt/cut": false}));
}

#[tokio::test]
async fn the_index_tells_which_project_has_which_key() {
    let project = project(1);
    let mut client = reader(project.path()).await;
    let read = client.ask("resources/read", &json!({"uri": "skillopt://nights"})).await;
    let index: Value =
        serde_json::from_str(read["result"]["contents"][1]["text"].as_str().unwrap()).unwrap();
    assert_eq!(index[0]["path"], project.path().to_string_lossy().into_owned());
    assert_eq!(index[0]["nights"], json!(["20261130-030000"]));
    let templates = client.ask("resources/templates/list", &json!({})).await;
    let template = &templates["result"]["resourceTemplates"][0]["uriTemplate"];
    assert_eq!(template, "skillopt://nights/{project}/{night}/{file}");
}

#[tokio::test]
async fn long_lists_come_in_pages() {
    let project = project(50);
    for nth in 0..50 {
        let night = project.path().join(format!(".skillopt-sleep/staging/20261130-03{nth:02}00"));
        for name in ["report.json", "diagnostics.json", "evidence.jsonl"] {
            fs::write(night.join(name), "{}").unwrap();
        }
    }
    let mut client = reader(project.path()).await;
    let first = client.ask("resources/list", &json!({})).await["result"].clone();
    assert_eq!(first["resources"].as_array().map(Vec::len), Some(200));
    let next = json!({"cursor": first["nextCursor"]});
    let second = client.ask("resources/list", &next).await["result"].clone();
    assert_eq!(second["resources"].as_array().map(Vec::len), Some(51));
    assert!(second["nextCursor"].is_null(), "{second}");
    let bad = client.ask("resources/list", &json!({"cursor": "x"})).await;
    assert_eq!(bad["error"]["code"], -32602);
}

#[rstest]
#[case("skillopt://nights/0123456789abcdef/20261130-030000/report.md")]
#[case("skillopt://nights/../../etc/passwd")]
#[case("file:///etc/passwd")]
#[case("")]
#[tokio::test]
async fn what_is_no_resource_is_not_found(#[case] uri: &str) {
    let project = project(1);
    let mut client = reader(project.path()).await;
    let answer = client.ask("resources/read", &json!({"uri": uri})).await;
    assert_eq!(answer["error"]["code"], -32002, "{answer}");
}
