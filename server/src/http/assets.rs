//! The built dashboard: embedded in a release build, read from a folder in a debug build or with `--assets`.
//! Serves files only; it knows nothing of runs.

use super::problem::{ApiError, ApiResult};
use super::state::AppState;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use rust_embed::Embed;
use skillopt_domain::hash::Sha256Hex;
use std::borrow::Cow;
use std::path::PathBuf;

const INDEX: &str = "index.html";
const FOREVER: &str = "public, max-age=31536000, immutable";
/// Shown instead of the dashboard when the binary was built without it.
const NOT_BUILT: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>SkillOpt</title>\
    <h1>The dashboard is not built</h1>\
    <p>Run <code>make run</code> in the repository: it builds the dashboard and this server. \
    A folder that is built already is served with <code>skillopt serve --assets frontend/dist</code>.</p>\
    <p>The API works: <a href=\"/api/v1/openapi.json\">/api/v1/openapi.json</a>.</p></html>";

#[derive(Embed)]
#[folder = "../frontend/dist"]
struct Dist;

/// Where the files of the dashboard come from.
#[derive(Clone, Debug)]
pub enum Assets {
    /// The binary; in a debug build the folder that a release build would embed.
    Embedded,
    /// This folder.
    Folder(PathBuf),
}

impl Assets {
    /// A file by its path below the root, such as `skillopt-0123456789abcdef.js`.
    fn get(&self, name: &str) -> Option<Cow<'static, [u8]>> {
        if !is_plain(name) {
            return None;
        }
        match self {
            Self::Embedded => Dist::get(name).map(|file| file.data),
            Self::Folder(folder) => std::fs::read(folder.join(name)).ok().map(Cow::Owned),
        }
    }
}

/// Every component is an ordinary file name, so that no path leaves the folder.
fn is_plain(name: &str) -> bool {
    let is_plain_part = |part: &str| {
        !part.starts_with('.')
            && !part.is_empty()
            && part.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
    };
    name.split('/').all(is_plain_part)
}

/// Everything that is no API: a file, or the page for every address that the dashboard's router knows.
pub(crate) async fn asset(
    State(state): State<AppState>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
) -> ApiResult<Response> {
    if !matches!(method, Method::GET | Method::HEAD) {
        return Err(ApiError::WrongMethod);
    }
    let path = uri.path().trim_start_matches('/');
    if path == "api" || path.starts_with("api/") {
        return Err(ApiError::NotFound(format!("there is no /{path}")));
    }
    let is_page = path.is_empty() || extension(path).is_none();
    let name = if is_page { INDEX } else { path }.to_owned();
    // The folder of a debug build is read from the disk.
    let found = tokio::task::spawn_blocking(move || find(&state.assets, &name, &headers)).await;
    match found.map_err(ApiError::internal)? {
        Some(response) => Ok(response),
        None if is_page => Ok(not_built()),
        None => Ok(StatusCode::NOT_FOUND.into_response()),
    }
}

fn not_built() -> Response {
    let headers =
        [(header::CACHE_CONTROL, "no-store"), (header::CONTENT_TYPE, "text/html; charset=utf-8")];
    (StatusCode::SERVICE_UNAVAILABLE, headers, NOT_BUILT).into_response()
}

fn find(assets: &Assets, name: &str, asked: &HeaderMap) -> Option<Response> {
    let compressed = accepts_brotli(asked).then(|| assets.get(&format!("{name}.br"))).flatten();
    let is_compressed = compressed.is_some();
    let bytes = compressed.or_else(|| assets.get(name))?;
    let etag = format!("\"{}\"", Sha256Hex::of(&bytes).short());
    let is_known = asked.get(header::IF_NONE_MATCH).is_some_and(|known| {
        known.to_str().is_ok_and(|list| {
            list.split(',').any(|tag| tag.trim().trim_start_matches("W/") == etag)
        })
    });
    let mut response = if is_known {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        Body::from(bytes).into_response()
    };
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type(name)));
    let cache = if is_hashed(name) { FOREVER } else { "no-cache" };
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(cache));
    headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    headers.insert(header::ETAG, HeaderValue::from_str(&etag).ok()?);
    if is_compressed {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("br"));
    }
    Some(response)
}

fn accepts_brotli(headers: &HeaderMap) -> bool {
    let accepted = headers.get(header::ACCEPT_ENCODING).and_then(|value| value.to_str().ok());
    accepted.unwrap_or_default().split(',').any(|coding| {
        let mut parts = coding.split(';').map(str::trim);
        let refused = |weight: &str| matches!(weight, "q=0" | "q=0.0" | "q=0.00" | "q=0.000");
        parts.next() == Some("br") && !parts.any(refused)
    })
}

fn extension(path: &str) -> Option<&str> {
    let name = path.rsplit('/').next()?;
    name.rsplit_once('.').map(|(_, extension)| extension)
}

/// The build writes `name-<hex digits>.ext` for files whose bytes never change.
fn is_hashed(name: &str) -> bool {
    let file = name.rsplit('/').next().unwrap_or_default();
    let stem = file.split('.').next().unwrap_or_default();
    let hash = stem.rsplit_once('-').map_or("", |(_, hash)| hash);
    hash.len() >= 8 && hash.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

fn content_type(name: &str) -> &'static str {
    match extension(name) {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("wasm") => "application/wasm",
        Some("svg") => "image/svg+xml",
        Some("json") => "application/json",
        Some("png") => "image/png",
        Some("ico") => "image/x-icon",
        Some("woff2") => "font/woff2",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("skillopt-0123456789abcdef.js", true)]
    #[case("run_curves-0123456789abcdef.wasm", true)]
    #[case("style-89abcdef01234567.css", true)]
    #[case("index.html", false)]
    #[case("favicon.svg", false)]
    #[case("skillopt.js", false)]
    fn only_names_with_a_hash_are_immutable(#[case] name: &str, #[case] hashed: bool) {
        assert_eq!(is_hashed(name), hashed);
    }

    #[rstest]
    #[case("../Cargo.toml")]
    #[case("a/../../b.js")]
    #[case("a//b.js")]
    #[case(".env")]
    #[case("a\\b.js")]
    #[case("a%2fb.js")]
    #[case("nul\0.js")]
    fn c71_no_path_leaves_the_folder(#[case] name: &str) {
        assert!(Assets::Folder(PathBuf::from("/")).get(name).is_none());
    }

    #[rstest]
    #[case("gzip, deflate, br", true)]
    #[case("br;q=0.5", true)]
    #[case("br;q=0", false)]
    #[case("gzip", false)]
    #[case("", false)]
    fn brotli_is_sent_only_to_those_who_ask(#[case] accepted: &str, #[case] sent: bool) {
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_str(accepted).unwrap());
        assert_eq!(accepts_brotli(&headers), sent);
    }
}
