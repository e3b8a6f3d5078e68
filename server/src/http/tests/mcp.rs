//! The Model Context Protocol over HTTP: served to programs of this machine, refused to pages of other sites.

use super::{Answer, World, get, post};
use axum::body::Body;
use axum::http::{Request, header};
use rstest::rstest;
use serde_json::{Value, json};

const VERSION: &str = "2025-06-18";

fn ask(method: &str, params: &Value) -> Request<Body> {
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let mut request = post("/mcp", &body);
    let accept = "application/json, text/event-stream";
    request.headers_mut().insert(header::ACCEPT, accept.parse().unwrap());
    request
}

fn initialize() -> Request<Body> {
    let client = json!({"name": "test", "version": "0"});
    let params = json!({"protocolVersion": VERSION, "capabilities": {}, "clientInfo": client});
    ask("initialize", &params)
}

/// The last message of an answer, which is JSON or a stream of events.
fn message(answer: &Answer) -> Value {
    let text = String::from_utf8_lossy(&answer.body);
    let events = text.lines().filter_map(|line| line.strip_prefix("data:"));
    let last = events.map(str::trim).rfind(|data| !data.is_empty());
    serde_json::from_str(last.unwrap_or(&text)).unwrap_or_else(|err| panic!("{err}: {text}"))
}

#[tokio::test]
async fn a_program_of_this_machine_is_served() {
    let world = World::new().await;
    let first = message(&world.answer(initialize()).await);
    assert_eq!(first["result"]["protocolVersion"], VERSION);
    assert_eq!(first["result"]["serverInfo"]["name"], "skillopt");
    let tools = message(&world.answer(ask("tools/list", &json!({}))).await);
    let tools = tools["result"]["tools"].as_array().expect("tools");
    let status = tools.iter().find(|tool| tool["name"] == "sleep_status").expect("a tool");
    assert_eq!(status["inputSchema"]["required"], json!(["project"]));
}

#[tokio::test]
async fn calls_name_their_project_by_an_absolute_path() {
    let world = World::new().await;
    for arguments in [json!({}), json!({"project": "here"})] {
        let params = json!({"name": "sleep_status", "arguments": arguments});
        let answer = message(&world.answer(ask("tools/call", &params)).await);
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
    }
}

#[tokio::test]
async fn nights_of_projects_are_listed() {
    let world = World::new().await;
    let answer = message(&world.answer(ask("resources/list", &json!({}))).await);
    assert_eq!(answer["result"]["resources"][0]["uri"], "skillopt://nights", "{answer}");
}

#[rstest]
#[case("host", "evil.example", 421)]
#[case("host", "127.0.0.1.evil.example", 421)]
#[case("origin", "http://evil.example", 403)]
#[case("origin", "http://127.0.0.1:3000", 403)]
#[case("origin", "null", 403)]
#[case("sec-fetch-site", "cross-site", 403)]
#[case("content-type", "text/plain", 415)]
#[case("origin", "http://127.0.0.1:7860", 200)]
#[case("host", "lab.example", 200)]
#[tokio::test]
async fn c70_pages_of_other_sites_reach_no_tool(
    #[case] name: &'static str,
    #[case] value: &str,
    #[case] status: u16,
) {
    let world = World::with(&["lab.example"], None).await;
    let mut request = initialize();
    request.headers_mut().insert(name, value.parse().unwrap());
    let answer = world.answer(request).await;
    assert_eq!(answer.status.as_u16(), status, "{}", String::from_utf8_lossy(&answer.body));
    assert!(answer.header("access-control-allow-origin").is_empty());
}

#[tokio::test]
async fn there_is_nothing_to_get() {
    let world = World::new().await;
    assert_eq!(world.answer(get("/mcp")).await.status, 405);
}
