//! Who may talk to the server, and how it says no.

use super::{World, get, post};
use axum::body::Body;
use axum::http::{Method, Request, Uri, Version, header};
use rstest::rstest;
use serde_json::json;

const ROUTES: [&str; 6] =
    ["/", "/runs/some/curves", "/api/v1/about", "/api/v1/stream", "/api/v1/openapi.json", "/mcp"];

#[rstest]
#[case(Some("evil.example"))]
#[case(Some("evil.example:7860"))]
#[case(Some("127.0.0.1.evil.example"))]
#[case(Some("localhost.evil.example"))]
#[case(Some("localhost@evil.example"))]
#[case(Some(""))]
#[case(None)]
#[tokio::test]
async fn c69_foreign_hosts_are_refused_on_all_routes(#[case] host: Option<&str>) {
    let world = World::with(&["lab.example:8443"], None).await;
    for route in ROUTES {
        let mut request = get(route);
        request.headers_mut().remove(header::HOST);
        if let Some(host) = host {
            request.headers_mut().insert(header::HOST, host.parse().unwrap());
        }
        let problem = world.answer(request).await.is_problem(421, "wrong_host");
        let names_flag = problem["detail"].as_str().unwrap().contains("--allowed-host");
        assert_eq!(names_flag, host.is_some(), "{problem}");
    }
}

#[rstest]
#[case("127.0.0.1:7860")]
#[case("127.0.0.1")]
#[case("localhost:8080")]
#[case("LOCALHOST:7860")]
#[case("[::1]:7860")]
#[case("lab.example:8443")]
#[case("any-port.example:1")]
#[tokio::test]
async fn c69_loopback_and_configured_hosts_pass(#[case] host: &str) {
    let world = World::with(&["lab.example:8443", "any-port.example"], None).await;
    let mut request = get("/api/v1/about");
    request.headers_mut().insert(header::HOST, host.parse().unwrap());
    assert_eq!(world.answer(request).await.status, 200);
}

#[tokio::test]
async fn c69_a_configured_port_is_meant() {
    let world = World::with(&["lab.example:8443"], None).await;
    let mut request = get("/api/v1/about");
    request.headers_mut().insert(header::HOST, "lab.example:1".parse().unwrap());
    world.answer(request).await.is_problem(421, "wrong_host");
}

#[rstest]
#[case("http://127.0.0.1:7860/api/v1/about", None, 200)]
#[case("http://evil.example/api/v1/about", None, 421)]
#[case("http://evil.example/api/v1/about", Some("127.0.0.1:7860"), 421)]
#[case("http://127.0.0.1:7860/api/v1/about", Some("evil.example"), 421)]
#[tokio::test]
async fn c69_the_authority_of_http2_counts_as_a_host(
    #[case] uri: &str,
    #[case] host: Option<&str>,
    #[case] status: u16,
) {
    let world = World::new().await;
    let mut request = get("/");
    *request.version_mut() = Version::HTTP_2;
    *request.uri_mut() = uri.parse::<Uri>().unwrap();
    request.headers_mut().remove(header::HOST);
    if let Some(host) = host {
        request.headers_mut().insert(header::HOST, host.parse().unwrap());
    }
    assert_eq!(world.answer(request).await.status, status);
}

#[tokio::test]
async fn c69_two_hosts_are_refused_when_one_is_foreign() {
    let world = World::new().await;
    let mut request = get("/api/v1/about");
    request.headers_mut().append(header::HOST, "evil.example".parse().unwrap());
    world.answer(request).await.is_problem(421, "wrong_host");
}

#[rstest]
#[case("origin", "http://evil.example", 403)]
#[case("origin", "http://127.0.0.1:3000", 403)]
#[case("origin", "null", 403)]
#[case("origin", "", 403)]
#[case("sec-fetch-site", "cross-site", 403)]
#[case("sec-fetch-site", "same-site", 403)]
#[case("content-type", "text/plain", 415)]
#[case("content-type", "application/x-www-form-urlencoded", 415)]
#[case("content-type", "multipart/form-data; boundary=x", 415)]
#[case("content-type", "application/jsonp", 415)]
#[case("origin", "http://127.0.0.1:7860", 200)]
#[case("origin", "https://lab.example", 200)]
#[case("sec-fetch-site", "same-origin", 200)]
#[case("content-type", "application/json; charset=utf-8", 200)]
#[tokio::test]
async fn c70_writes_come_from_our_own_pages_or_from_programs(
    #[case] name: &'static str,
    #[case] value: &str,
    #[case] status: u16,
) {
    let world = World::with(&["lab.example"], None).await;
    for route in ["/api/v1/config/check", "/api/v1/config/export"] {
        let mut request = post(route, &json!({"values": {}}));
        request.headers_mut().insert(name, value.parse().unwrap());
        let answer = world.answer(request).await;
        if status == 200 {
            assert_eq!(answer.status, 200);
        } else {
            answer.is_problem(status, "forbidden");
        }
        assert!(answer.header("access-control-allow-origin").is_empty());
    }
}

#[tokio::test]
async fn c70_api_data_is_not_read_by_foreign_pages_but_links_to_the_page_work() {
    let world = World::new().await;
    for (route, status) in
        [("/api/v1/runs", 403), ("/api/v1/stream", 403), ("/mcp", 403), ("/", 503)]
    {
        let mut request = get(route);
        request.headers_mut().insert("sec-fetch-site", "cross-site".parse().unwrap());
        assert_eq!(world.answer(request).await.status, status, "{route}");
    }
}

#[tokio::test]
async fn c70_no_get_changes_anything() {
    let world = World::new().await;
    let actions = ["/runs/sample", "/preflight", "/config/check", "/adoptions/preview"];
    for action in actions {
        let answer = world.get(&format!("/api/v1{action}")).await;
        assert!(answer.status.is_client_error(), "{action}: {}", answer.status);
    }
    let document = world.get("/api/v1/openapi.json").await.json();
    for (path, item) in document["paths"].as_object().unwrap() {
        for verb in ["pause", "resume", "cancel", "revert", "sample", "preflight"] {
            assert!(!path.ends_with(verb) || item.get("get").is_none(), "{path}");
        }
    }
    assert_eq!(world.store.counts().await.unwrap().runs, 0);
}

#[tokio::test]
async fn c70_preflights_of_foreign_pages_get_no_permission() {
    let world = World::new().await;
    let request = Request::builder()
        .method(Method::OPTIONS)
        .uri("/api/v1/adoptions")
        .header(header::HOST, "127.0.0.1:7860")
        .header(header::ORIGIN, "http://evil.example")
        .header("access-control-request-method", "POST")
        .body(Body::empty())
        .unwrap();
    let answer = world.answer(request).await;
    answer.is_problem(403, "forbidden");
    assert!(answer.header("access-control-allow-origin").is_empty());
}

#[tokio::test]
async fn an_action_without_a_body_needs_no_content_type() {
    let world = World::new().await;
    let request = Request::post("/api/v1/runs/0190a0c2-7b1e-7c33-8f00-0123456789ab/pause")
        .header(header::HOST, "127.0.0.1:7860")
        .header(header::CONTENT_LENGTH, "0")
        .body(Body::empty())
        .unwrap();
    world.answer(request).await.is_problem(404, "not_found");
}

#[rstest]
#[case("..%2f..%2fetc%2fpasswd")]
#[case("%2e%2e")]
#[case("..%5c")]
#[case("%2fetc%2fpasswd")]
#[case("x%00")]
#[case("con")]
#[case("file:%2f%2f%2f")]
#[case("http:%2f%2f%2f%23%2f..%2f..")]
#[case("0190A0C2-7B1E-7C33-8F00-0123456789AB")]
#[case("0190a0c2-7b1e-7c33-8f00-0123456789ab%00")]
#[tokio::test]
async fn c71_ids_are_refused_by_grammar(#[case] id: &str) {
    let world = World::new().await;
    let long = "a".repeat(300);
    for id in [id, &long] {
        for tail in ["", "/events", "/stream", "/config", "/skills/x/raw", "/trajectories/1"] {
            let answer = world.get(&format!("/api/v1/runs/{id}{tail}")).await;
            answer.is_problem(400, "bad_request");
        }
        let answer = world.post(&format!("/api/v1/adoptions/{id}/revert"), &json!({})).await;
        answer.is_problem(400, "bad_request");
    }
}

#[rstest]
#[case("/api/v1/runs/a/../b")]
#[case("/api/v1/runs/../../etc/passwd")]
#[case("/api/v1/nothing")]
#[case("/api")]
#[tokio::test]
async fn c71_paths_that_are_no_route_are_not_found(#[case] path: &str) {
    let world = World::new().await;
    world.get(path).await.is_problem(404, "not_found");
}

#[tokio::test]
async fn errors_of_the_framework_are_problems_too() {
    let world = World::new().await;
    let wrong_method = world.post("/api/v1/about", &json!({})).await;
    wrong_method.is_problem(405, "bad_request");
    let bad_json = Request::post("/api/v1/config/check")
        .header(header::HOST, "127.0.0.1:7860")
        .header(header::CONTENT_TYPE, "application/json")
        .body(Body::from("{"))
        .unwrap();
    world.answer(bad_json).await.is_problem(400, "bad_request");
    world.post("/api/v1/config/check", &json!({"valeus": {}})).await.is_problem(400, "bad_request");
    world.get("/api/v1/runs?limit=many").await.is_problem(400, "bad_request");
    let large = json!({"yaml": "x".repeat(5 * 1024 * 1024)});
    world.post("/api/v1/config/import", &large).await.is_problem(413, "too_large");
}

#[tokio::test]
async fn a_fault_of_ours_shows_the_request_id_and_no_cause() {
    let world = World::new().await;
    world.store.close().await;
    let answer = world.get("/api/v1/runs").await;
    let problem = answer.is_problem(500, "internal");
    let detail = problem["detail"].as_str().unwrap();
    assert!(detail.contains(answer.header("x-request-id")), "{detail}");
    assert!(!detail.to_lowercase().contains("sql") && !detail.contains("pool"), "{detail}");
}

#[tokio::test]
async fn every_answer_is_hardened() {
    let world = World::new().await;
    for route in ["/", "/api/v1/about", "/api/v1/nothing", "/missing.js"] {
        let answer = world.get(route).await;
        let csp = answer.header("content-security-policy");
        assert!(csp.starts_with("default-src 'none'") && !csp.contains("unsafe-inline"), "{csp}");
        assert_eq!(answer.header("x-content-type-options"), "nosniff");
        assert_eq!(answer.header("referrer-policy"), "no-referrer");
        assert_eq!(answer.header("cross-origin-opener-policy"), "same-origin");
        assert_eq!(answer.header("cross-origin-resource-policy"), "same-origin");
    }
}
