//! The static dashboard.

use super::{Answer, World, get};
use axum::http::header;
use rstest::rstest;
use std::fs;

const PAGE: &str = "<!doctype html><title>SkillOpt</title>";
const SCRIPT: &str = "skillopt-0123456789abcdef.js";

async fn built() -> (World, tempfile::TempDir) {
    let dist = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(dist.path().join(name), text).unwrap();
    write("index.html", PAGE);
    write(SCRIPT, "console.log(1)");
    write(&format!("{SCRIPT}.br"), "compressed");
    write("run_curves-0123456789abcdef.wasm", "\0asm");
    write("favicon.svg", "<svg/>");
    let world = World::with(&[], Some(dist.path().to_owned())).await;
    (world, dist)
}

async fn ask(world: &World, path: &str, name: header::HeaderName, value: &str) -> Answer {
    let mut request = get(path);
    request.headers_mut().insert(name, value.parse().unwrap());
    world.answer(request).await
}

#[rstest]
#[case("/")]
#[case("/runs")]
#[case("/runs/0190a0c2-7b1e-7c33-8f00-0123456789ab/curves")]
#[case("/index.html")]
#[tokio::test]
async fn every_page_address_gets_the_page_uncached(#[case] path: &str) {
    let (world, _dist) = built().await;
    let answer = world.get(path).await;
    assert_eq!((answer.status.as_u16(), answer.body.as_slice()), (200, PAGE.as_bytes()));
    assert_eq!(answer.header("cache-control"), "no-cache");
    assert_eq!(answer.header("content-type"), "text/html; charset=utf-8");
    let etag = answer.header("etag").to_owned();
    let again = ask(&world, path, header::IF_NONE_MATCH, &etag).await;
    assert_eq!((again.status.as_u16(), again.body.len()), (304, 0));
    assert_eq!(again.header("etag"), etag);
}

#[rstest]
#[case(SCRIPT, "text/javascript; charset=utf-8", "public, max-age=31536000, immutable")]
#[case(
    "run_curves-0123456789abcdef.wasm",
    "application/wasm",
    "public, max-age=31536000, immutable"
)]
#[case("favicon.svg", "image/svg+xml", "no-cache")]
#[tokio::test]
async fn files_have_their_type_and_their_time(
    #[case] name: &str,
    #[case] kind: &str,
    #[case] cache: &str,
) {
    let (world, _dist) = built().await;
    let answer = world.get(&format!("/{name}")).await;
    assert_eq!(answer.status, 200);
    assert_eq!((answer.header("content-type"), answer.header("cache-control")), (kind, cache));
    assert_eq!(answer.header("vary"), "accept-encoding");
    assert_eq!(answer.header("content-encoding"), "");
}

#[tokio::test]
async fn compressed_files_go_to_those_who_accept_them() {
    let (world, _dist) = built().await;
    let path = format!("/{SCRIPT}");
    let answer = ask(&world, &path, header::ACCEPT_ENCODING, "gzip, br").await;
    assert_eq!(answer.body, b"compressed");
    assert_eq!(answer.header("content-encoding"), "br");
    assert_eq!(answer.header("content-type"), "text/javascript; charset=utf-8");
    let plain = world.get(&path).await;
    assert_ne!(plain.header("etag"), answer.header("etag"), "each form has its own tag");
}

#[rstest]
#[case("/gone-0123456789abcdef.js")]
#[case("/gone-0123456789abcdef.wasm")]
#[case("/gone.css")]
#[case("/../server/Cargo.toml")]
#[case("/%2e%2e/Cargo.toml")]
#[tokio::test]
async fn a_missing_file_is_404_and_never_the_page(#[case] path: &str) {
    let (world, _dist) = built().await;
    assert_eq!(world.get(path).await.status, 404);
}

#[tokio::test]
async fn without_a_dashboard_the_page_says_how_to_build_it() {
    let world = World::new().await;
    let answer = world.get("/").await;
    assert_eq!(answer.status, 503);
    assert!(String::from_utf8_lossy(&answer.body).contains("make run"));
}
