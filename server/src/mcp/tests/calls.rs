//! Calls of tools: what our program is asked, and what the client gets.

use super::super::shelf::Shelf;
use super::{Client, Fake, policy};
use serde_json::json;
use std::time::Duration;

#[tokio::test]
async fn a_call_is_a_command_and_its_output_is_the_result() {
    let mut client = Client::of(Fake::saying(0, "{\"night\": 4}\n")).await;
    let arguments = json!({"project": "/p", "backend": "mock", "max_tasks": 5, "progress": true});
    let answer = client.call("sleep_run", &arguments).await;
    let result = &answer["result"];
    let expect = json!({"status": "ok", "exit_code": 0, "output": {"night": 4}});
    assert_eq!(result["structuredContent"], expect);
    assert_eq!(result["isError"], false);
    assert_eq!(result["content"][0]["type"], "text");
    let expect = [
        "sleep",
        "run",
        "--project=/p",
        "--backend=mock",
        "--max-tasks=5",
        "--progress",
        "--set=auto_adopt=false",
        "--json",
    ];
    assert_eq!(client.fake.arguments(), [expect]);
}

#[tokio::test]
async fn a_failed_command_is_a_result_that_says_so_and_no_error_of_the_protocol() {
    let mut client = Client::of(Fake::saying(1, "{\"ok\": false}")).await;
    let answer = client.call("sleep_adopt", &json!({})).await;
    assert_eq!(answer["result"]["isError"], true);
    assert_eq!(answer["result"]["structuredContent"]["status"], "error");
    let mut client = Client::of(Fake::saying(3, "{}")).await;
    let answer = client.call("sleep_run", &json!({"backend": "handoff"})).await;
    assert_eq!(answer["result"]["isError"], false);
    assert_eq!(answer["result"]["structuredContent"]["status"], "handoff_pending");
}

#[tokio::test]
async fn an_unknown_tool_and_a_bad_argument_are_errors_and_start_nothing() {
    let mut client = Client::of(Fake::default()).await;
    for (tool, arguments) in [
        ("sleep_forever", json!({})),
        ("", json!({})),
        ("sleep_status", json!({"hour": 3})),
        ("sleep_status", json!({"project": 7})),
    ] {
        let answer = client.call(tool, &arguments).await;
        assert_eq!(answer["error"]["code"], -32602, "{tool}: {answer}");
    }
    let answer = client.ask("tools/call", &json!({"name": "sleep_status", "arguments": []})).await;
    assert!(answer["error"].is_object(), "{answer}");
    assert!(client.fake.arguments().is_empty());
}

#[tokio::test]
async fn arguments_may_be_left_out_altogether() {
    let mut client = Client::of(Fake::saying(0, "{}")).await;
    let answer = client.ask("tools/call", &json!({"name": "sleep_nights"})).await;
    assert_eq!(answer["result"]["structuredContent"]["status"], "ok", "{answer}");
    assert_eq!(client.fake.arguments(), [["sleep", "nights", "--json"]]);
}

#[tokio::test]
async fn configs_are_listed_without_a_command() {
    let project = tempfile::tempdir().unwrap();
    std::fs::create_dir(project.path().join("configs")).unwrap();
    std::fs::write(project.path().join("configs/a.yaml"), "").unwrap();
    let shelf = Shelf::new(None, None);
    let mut client = Client::with(Fake::default(), policy(), shelf, project.path()).await;
    let answer = client.call("skillopt_list_configs", &json!({})).await;
    let output = &answer["result"]["structuredContent"]["output"];
    assert_eq!(*output, json!({"configs": ["configs/a.yaml"]}), "{answer}");
    assert!(client.fake.arguments().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_client_that_cancels_ends_the_command() {
    let hour = Duration::from_secs(3600);
    let mut client = Client::of(Fake { takes: hour, ..Fake::saying(0, "{}") }).await;
    let id = client.begin("tools/call", &json!({"name": "sleep_run", "arguments": {}})).await;
    while client.fake.arguments().is_empty() {
        tokio::task::yield_now().await;
    }
    client.tell("notifications/cancelled", &json!({"requestId": id, "reason": "enough"})).await;
    // The clock stands still while anybody works, and runs an hour when nobody does.
    let ended = tokio::time::timeout(hour / 2, client.fake.cancelled.cancelled()).await;
    assert!(ended.is_ok(), "the command went on");
    assert_eq!(client.ask("ping", &json!({})).await["result"], json!({}));
    assert_eq!(client.fake.arguments().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_asks_for_signs_of_life_gets_them() {
    let fake = Fake { takes: Duration::from_secs(25), ..Fake::saying(0, "{}") };
    let mut client = Client::of(fake).await;
    let params = json!({"name": "sleep_run", "arguments": {}, "_meta": {"progressToken": "t"}});
    let id = client.begin("tools/call", &params).await;
    for seconds in [10.0, 20.0] {
        let sign = client.next().await;
        assert_eq!(sign["method"], "notifications/progress", "{sign}");
        assert_eq!(sign["params"]["progressToken"], "t");
        assert_eq!(sign["params"]["progress"].as_f64(), Some(seconds));
    }
    assert_eq!(client.next().await["id"], id);
}
